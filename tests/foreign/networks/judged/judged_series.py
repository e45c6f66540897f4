"""Series: causal convolutions, U-Nets, recurrent networks, attention to the past, both strands of DNA."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from tests.foreign.case import Given, drawn
from tests.foreign.networks.judged.pairs import pairs
from tests.foreign.networks.on_sequences.sequences import series

FML = {1: "first", 2: "middle", 3: "last"}
FL = {1: "first", 3: "last"}


def dna():
    import torch

    letters = drawn(30, 4).argmax(1)
    return Given((torch.nn.functional.one_hot(letters, 4).float().t()[None],), ("strands@2",), layout="NCT")


NCT, NTC, TNC = (partial(series, layout, channels=1) for layout in ("NCT", "NTC", "TNC"))
CASES = (
    *pairs("series", "TCN", NCT, "shift", ("steps@2",), FML, "sine", inside=13),
    *pairs("series", "TCNParametrized", NCT, "shift", ("steps@2",), FML, "sine", inside=13),
    *pairs("series", "WaveNet", NCT, "shift", ("steps@2",), {2: "middle", 3: "last"}, "sine", inside=9),
    *pairs("series", "UNet1d", lambda: replace(NCT(), step=2), "shift", ("steps@2",), FML, "sine", inside=8),
    *pairs("series", "GatedRecurrent", TNC, "shift", ("steps@0",), FL, "sine"),
    *pairs("series", "Palindromes", NTC, "reversal", ("steps@1",), FL, "sine"),
    *pairs("series", "Squeezed", NCT, "shift", ("steps@2",), FL, "sine"),
    *pairs("series", "CausalAttention", NTC, "shift", ("steps@1",), FL, "sine", inside=5),
    *pairs("series", "Lazy", NCT, "shift", ("steps@2",), FL, "sine", inside=2, refusable=True, tells="INPUT_LAYOUT"),
    *pairs("series", "Band", NCT, "shift", ("steps@2",), {3: "last"}, "sine", inside=9),
    # in the last fault only one strand is read as well: filters of one strand break the law by themselves
    *pairs(
        "series",
        "Strands",
        dna,
        "reverse-complement",
        ("fixed",),
        {1: "first", 3: "last conv conv#2 conv#3"},
        "dna-motif",
    ),
)
