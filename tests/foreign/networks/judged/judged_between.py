"""Edges between two sets of nodes, each renumbered by itself."""

from __future__ import annotations

from functools import partial

import torch

from tests.foreign.case import Given, drawn
from tests.foreign.networks.judged.pairs import pairs

P = "permutation"


def two(here, there, weights=False, wide=0, **more):
    generator = torch.Generator().manual_seed(3)
    ends = torch.stack([torch.randint(n, (20,), generator=generator) for n in (9, 7)])
    beside = (drawn(20, wide, seed=2) if wide else drawn(20, seed=2).abs(),) if weights else ()
    acts = ("nodes", "others", "between", *(["edges"] if weights else []))
    return Given((drawn(9, here), drawn(7, there, seed=1), ends, *beside), acts, **more)


CASES = (
    *pairs(
        "between", "Recommender", partial(two, 5, 3), P, ("nodes", "others"),
        {1: "first", 2: "middle", 3: "last"}, "karate",
    ),
    *pairs("between", "Affinity", partial(two, 4, 6), P, ("edges",), {1: "first"}, "glycine"),
    *pairs(
        "between", "Programme", partial(two, 3, 2, True), P, ("fixed",), {1: "first", 3: "last"}, "karate",
    ),
    *pairs("between", "Purchases", partial(two, 4, 6, True, 3), P, ("others",), {2: "middle"}, "karate"),
    *pairs("between", "Towards", partial(two, 4, 6), P, ("others",), {2: "middle"}, "karate"),
    *pairs("between", "AsPair", partial(two, 4, 6, form="pair"), P, ("others",), {3: "last"}, "glycine"),
)  # fmt: skip
