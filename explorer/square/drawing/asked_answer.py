"""Say whose the numbers at a network's end are: the space answers that, and each number is one of them otherwise."""

from __future__ import annotations

from explorer.declare.space import kinds
from explorer.square.drawing.answer import Answer, labels_of
from explorer.square.frame import Square
from explorer.square.space import space_of_kind


def answer_of(square: Square, place: int | None) -> Answer:
    """Return the labels of the outputs of a square, and whose they are when `place` is the selected one."""
    found = space_of_kind(square.domain).answer(square, place) if square.domain in kinds() else None
    return found or Answer(labels_of(square))
