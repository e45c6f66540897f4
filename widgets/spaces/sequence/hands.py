"""Lay a sequence on the stage: a step is a row, its channels are columns."""

from __future__ import annotations

from widgets.stage.hands import Hands


class SequenceHands(Hands):
    """Hands on the steps of a sequence; the gestures that move it are those of the Timeline."""

    name = "sequence"
    rows = frozenset({"step"})
    kind_of_x = "step"


HANDS = SequenceHands
