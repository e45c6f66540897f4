"""Hold some lines of a source file as a view shows them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines of a file, one after the other.

    Attributes:
        title: what they are, such as "made in Net.__init__".
        file: where they are.
        first: number of the first line.
        text: the lines.
        marked: numbers of the lines that are about the layer itself.
    """

    title: str
    file: str
    first: int
    text: str
    marked: tuple[int, ...] = ()
