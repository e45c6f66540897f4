"""Symmetries of sequences: delays with padding or round the end, reading backwards, the other strand of DNA."""

from __future__ import annotations

from explorer.declare.elements import Element
from explorer.declare.symmetries import Situation, Symmetry
from explorer.declare.telling.counting import number_of
from explorer.spaces.sequence.elements.time_map import TimeMap


def _shifts(name: str, situation: Situation) -> list[tuple[str, Element]]:
    steps, apart = situation.size[0], situation.spacing
    # behind a stride only whole numbers of its steps delay what it gives
    apart = apart if 2 * apart <= steps else 1
    far = max(1, steps // (2 * apart))
    drawn = [apart * s for s in (1, 2, *map(int, situation.rng.integers(1, far + 1, max(1, situation.count - 2))))]
    boundary = "circular" if name == "circular-shift" else "zero"
    return [
        (f"+{number_of(s, 'step')}", TimeMap(shift=float(s), boundary=boundary))
        for s in dict.fromkeys(drawn)
        if s < steps
    ]


def _backwards(name: str, situation: Situation) -> list[tuple[str, Element]]:
    return [(name, TimeMap(backwards=True, complement=name == "reverse-complement"))]


SYMMETRY = (
    Symmetry(
        "shift", "whole delays with zero padding", ("sequence",), r"shift", _shifts, trials=(("shift", "Delays"),),
        nearby=("circular-shift",),
    ),
    Symmetry(
        "circular-shift", "whole delays that bring the end round to the front", ("sequence",), r"circular-shift",
        _shifts, trials=(("circular-shift", "Delays round the end"),),
    ),
    Symmetry(
        "reversal", "reading backwards", ("sequence",), r"reversal", _backwards,
        trials=(("reversal", "Reading backwards"),),
    ),
    Symmetry(
        "reverse-complement", "the other strand of DNA", ("sequence",), r"reverse-complement", _backwards,
        trials=(("reverse-complement", "The other strand of DNA"),),
    ),
)  # fmt: skip
