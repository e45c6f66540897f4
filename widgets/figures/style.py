"""The looks of a figure for a paper: its width, the size of its text, and what of the window is left out."""

from __future__ import annotations

from dataclasses import dataclass

WIDTHS = {"Single column, 85 mm": 85.0, "One and a half, 120 mm": 120.0, "Double column, 174 mm": 174.0}
POINTS = 8.0  # of text, as journals ask for
DPI = 600  # of a PNG for a paper


@dataclass(frozen=True, slots=True)
class Style:
    """The wishes for one figure; the defaults are those of the screen.

    Attributes:
        width: in mm, or None for that on the screen.
        points: the size of the smallest usual text, where there is a width.
        whole: widen the drawing, with smaller text, until no text in it is shortened.
        light: whether it is light whatever the window is.
        caption: whether what is shown stands below.
        badges: whether the verdict stands in it.
    """

    width: float | None = None
    points: float = POINTS
    whole: bool = False
    light: bool = True
    caption: bool = True
    badges: bool = True
