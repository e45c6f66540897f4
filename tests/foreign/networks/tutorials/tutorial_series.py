"""Series: dilated and long convolutions, scans of state spaces, local attention, gates, both ways and both strands."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from tests.foreign.case import Given, drawn
from tests.foreign.networks.on_sequences.sequences import series
from tests.foreign.networks.tutorials.twins import twins


def dna():
    import torch

    letters = drawn(30, 4).argmax(1)
    return Given((torch.nn.functional.one_hot(letters, 4).float().t()[None],), ("strands@2",), layout="NCT")


def of(layout, channels, steps=64):
    return partial(series, layout, steps=steps, channels=channels)


def halved():
    return replace(series("NCT", steps=64), step=2)


theirs = partial(twins, "series")
T0, T1, T2 = (("steps@0",), ("steps@1",), ("steps@2",))
CASES = (
    *theirs("wavenet", {"wavenet_cum": "blocks.1.norm"}, of("NCT", 1), "shift", T2, inside=9),
    *theirs("mamba", {"mamba_ramp": "ssm"}, of("NTC", 3), "shift", T1),
    *theirs("hyena", {"hyena_wrap": "long"}, of("NTC", 2), "shift", T1),
    *theirs("local_decoder", {"local_decoder_pe": "ln2"}, of("NTC", 4), "shift", T1, inside=7),
    *theirs("gru", {"gru_h0": "gru"}, of("NTC", 3), "shift", T1),
    *theirs("qrnn", {"qrnn_cut": "out"}, of("TNC", 3), "shift", T0),
    *theirs("ema", {"ema_debias": "output[1]"}, of("NCT", 2), "shift", (*T2, *T2)),
    *theirs("tied", {"tied_off": "head"}, of("NTC", 3), "reversal", T1),
    *theirs("palindrome", {"palindrome_stride": "b"}, of("NCT", 2), "reversal", ("fixed",)),
    *theirs("unet1d", {"unet1d_align": "up"}, halved, "circular-shift", T2),
    # an exchange of letters that is no complement is one all the same: which code is wrong nobody can tell
    *theirs("rc", {"rc_wrong": ""}, dna, "reverse-complement", ("fixed",)),
)
