"""A frame without its verdicts: what a lesson asks for is not told by another panel."""

from __future__ import annotations

from dataclasses import replace

from explorer.square.frame import Frame, Square
from widgets.base.text.words import WITHHELD


def without_verdicts(frame: Frame) -> Frame:
    """Return the frame with all its errors, and no word on which layer is to blame."""
    return replace(frame, squares=tuple(_quiet(square) for square in frame.squares))


def _quiet(square: Square) -> Square:
    measures, before = (
        {name: replace(one, verdict=WITHHELD) for name, one in some.items()}
        for some in (square.measures, square.before)
    )
    return replace(square, verdict=WITHHELD, guilty=(), hints=(), measures=measures, before=before)
