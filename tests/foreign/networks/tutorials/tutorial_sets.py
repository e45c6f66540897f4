"""Sets and clouds: neighbours, sampling, attention to all, slots, experts, transport."""

from __future__ import annotations

from functools import partial

from tests.foreign.case import Given, drawn
from tests.foreign.networks.tutorials.twins import twins

MEMBERS, FIXED = ("nodes@1",), ("fixed",)


def members(channels, axis=1):
    return Given((drawn(1, 20, channels).movedim(1, axis),), (f"nodes@{axis}",))


theirs = partial(twins, "sets", group="permutation")
CASES = (
    *theirs("dgcnn", {}, partial(members, 3), out=FIXED),
    *theirs("pointnet2", {"pointnet2_first": "local.0 glob"}, partial(members, 3), out=FIXED),
    *theirs("settr", {"settr_drop": ""}, partial(members, 2), out=FIXED),
    *theirs("slot", {"slot_pos": "k v"}, partial(members, 4), out=FIXED),
    *theirs("moe", {"moe_cap": "experts.0.0 experts.1.0 experts.2.0 out"}, partial(members, 4), out=MEMBERS),
    *theirs("deepsets", {"deepsets_cum": "rho.0"}, partial(members, 3), out=FIXED),
    *theirs("tnet", {"tnet_stripe": "c2"}, partial(members, 3, 2), out=FIXED),
    *theirs(
        "encoder",
        {"encoder_pos": "enc.layers.0.self_attn"},
        partial(members, 4, 0),
        out=("nodes@0",),
    ),
    *theirs("sinkhorn", {"sinkhorn_cum": "o"}, partial(members, 3), out=FIXED),
)
