"""Hints of many layers in few sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

SAMPLING = "sampling"  # kind of a hint: a size is no multiple of a stride
FEW = 3  # layers that are named where a hint is about more, and hints that are told in short


class Hint(str):
    """A sentence about a likely cause, and of what kind that is: who has more to say of one knows it by that."""

    kind: str

    def __new__(cls, text: str, kind: str) -> Hint:
        """Make the sentence, of a kind."""
        hint = super().__new__(cls, text)
        hint.kind = kind
        return hint

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        """Return what it is made of again in another process."""
        return str(self), self.kind


def of_kind(hints: Iterable[str], kind: str) -> list[str]:
    """Return the hints of a kind."""
    return [hint for hint in hints if isinstance(hint, Hint) and hint.kind == kind]


def grouped(hints: Iterable[str], order: Sequence[str] = (), *, unnamed: Sequence[str] = ()) -> list[str]:
    """Return hints, "layer: what could be the reason", each once with the first of the layers that it is about.

    Args:
        order: layers whose hints come first.
        unnamed: where a hint is about these and no others it does without their names.
    """
    layers: dict[str, list[str]] = {}
    rank = {name: k for k, name in enumerate(order)}
    parts = [hint.partition(": ") for hint in hints]
    for name, colon, text in sorted(parts, key=lambda part: rank.get(part[0], len(rank))):
        layers.setdefault(text if colon else name, []).extend([name] if colon else [])
    return [_of(names, text) if names and names != list(unnamed) else text for text, names in layers.items()]


def in_short(hints: Iterable[str], order: Sequence[str] = ()) -> list[str]:
    """Return the first hints, each once with the layers that it is about, and how many more there are."""
    told = grouped(hints, order)
    return told[:FEW] + ([f"and {len(told) - FEW} more"] if len(told) > FEW else [])


def _of(names: Sequence[str], text: str) -> str:
    """Return a hint with the layers that it is about."""
    several = len(names) > 1 and text.startswith("its ")
    return f"{first(names, FEW)}: {f'their {text[4:]}' if several else text}"


def first(names: Sequence[str], most: int) -> str:
    """Return "a, b, c and 7 more" of many names; one more than `most` is named as well."""
    return ", ".join(names) if len(names) <= most + 1 else f"{', '.join(names[:most])} and {len(names) - most} more"
