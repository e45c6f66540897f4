"""Networks of which no layer tells how far apart patches lie, or how many variables there are."""

from __future__ import annotations

from functools import partial

from tests.foreign.case import Given, drawn
from tests.foreign.networks.judged.pairs import pairs
from tests.foreign.networks.on_sequences.sequences import series


def pictures():
    return Given((drawn(2, 1, 16, 16),), ("grid",), step=4)


CASES = (
    *pairs("parts", "Unfolds", pictures, "translation", ("fixed",), {1: "first"}, "random:1x1x16x16"),
    *pairs(
        "parts", "Variables", partial(series, "NTC", channels=3), "shift", ("steps@1",), {3: "last"}, "random:40x3",
        inside=2,
    ),
)  # fmt: skip
