"""Series with their lengths or a mask beside them, found by trial; and what a block hands on of a whole graph."""

from __future__ import annotations

from functools import partial

import torch

from tests.foreign.case import Given, drawn
from tests.foreign.networks.unseen.unseen import NODES, both, listed


def beside(name, other, value, channels, layout="NTC"):
    x = drawn(1, 40, channels)
    x = x if layout == "NTC" else x.transpose(1, 2).contiguous()
    return Given((x, value), (f"steps@{layout.index('T')}", "fixed"), form="mapping", names=(name, other))


LENGTH, MASK = torch.tensor([40]), torch.ones(1, 1, 40)
extents = partial(both, "extents")
CASES = (
    # packed steps; filters that a mask made of the length keeps within; attention with a mask of the steps
    *extents("PackedTagger", partial(beside, "x", "lengths", LENGTH, 4), "reversal", ("steps@1",), ""),
    *extents("LengthConv", partial(beside, "x", "x_lengths", LENGTH, 4, "NCT"), "shift", ("steps@2",), "", inside=6),
    *extents("MaskedEncoder", partial(beside, "src", "src_mask", MASK, 5), "reversal", ("steps@1",), ""),
    # whose fault no node and no edge of the block shows
    *extents("GraphNet", partial(listed, 4, 2), "permutation", NODES, "b2.fu"),
)
