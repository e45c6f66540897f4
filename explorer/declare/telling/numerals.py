"""Numbers as they are set."""

from __future__ import annotations


def with_minus(text: str) -> str:
    """Return a written number with minus signs in place of hyphens: "−2.0e−7"."""
    return text.replace("-", "−")
