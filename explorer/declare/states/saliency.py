"""Ways to ask which pixels an answer of a network depends on, as a state holds them: "occlusion" or "gradient:3"."""

from __future__ import annotations

from explorer.declare.registry import did_you_mean

METHODS = {
    "gradient": "Gradient",
    "x-gradient": "x · gradient",
    "smooth": "Smooth gradient",
    "occlusion": "Occlusion",
}


def parse_saliency(text: str) -> tuple[str, int | None]:
    """Return (method, entry of the answer); None for the largest one. Raise ValueError with one clear sentence."""
    method, colon, entry = text.partition(":")
    if method not in METHODS:
        raise ValueError(f"there is no saliency {method!r}, only {', '.join(METHODS)}{did_you_mean(method, METHODS)}")
    if colon and not (entry.isascii() and entry.isdigit() and len(entry) < 10):
        raise ValueError(f"saliency {text!r}: the entry of the answer is a number from 0 on, as in gradient:3")
    return method, int(entry) if colon else None


def saliency_text(method: str, entry: int | None) -> str:
    """Return what `parse_saliency` reads; "" for no method."""
    return method if not method or entry is None else f"{method}:{entry}"
