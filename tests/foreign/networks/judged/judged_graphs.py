"""Graphs with dense and listed edges, attributes of edges, several answers; of torch and of torch_geometric."""

from __future__ import annotations

from functools import partial

import torch

from tests.foreign.case import Given, drawn
from tests.foreign.networks.judged.pairs import pairs
from tests.foreign.networks.on_graphs.graphs import edges

FML = {1: "first", 2: "middle", 3: "last"}
FL = {1: "first", 3: "last"}
P = "permutation"


def listed(channels=4, attributes=0, **more):
    found = (drawn(9, channels), edges(9, 20), *((drawn(20, attributes, seed=1),) if attributes else ()))
    return Given(found, ("nodes", "index", "edges")[: len(found)], **more)


def dense(channels=5, batched=False):
    a = (drawn(9, 9, seed=1) > 0.3).float()
    a = ((a + a.t()) > 0).float().fill_diagonal_(0)
    x = drawn(9, channels)
    return Given((x[None], a[None]) if batched else (x, a), ("nodes@1" if batched else "nodes", "pairs"))


def atoms():
    return Given(
        (torch.tensor([6, 1, 1, 8, 7, 6, 1, 1, 6]), edges(9, 20)),
        ("nodes", "index"),
        form="data",
        names=("z", "edge_index"),
    )


CASES = (
    *pairs("relations", "DenseGCN", dense, P, ("nodes",), FML, "glycine"),
    *pairs("relations", "DenseBatch", partial(dense, 6, True), P, ("fixed",), {1: "first", 2: "middle"}, "glycine"),
    *pairs(
        "relations",
        "BiasedAttention",
        partial(dense, 4, True),
        P,
        ("nodes@1",),
        {1: "first", 2: "", 3: "last"},
        "glycine",
    ),
    *pairs("relations", "EdgeStates", partial(listed, 4, 5), P, ("nodes", "edges"), FML, "glycine"),
    *pairs("relations", "AsNamedTuple", listed, P, ("fixed", "nodes"), FML, "glycine"),
    *pairs("relations", "TopK", listed, P, ("fixed",), {1: "first", 2: ""}, "benzene", limit=1e-10),
    *pairs("relations", "Sorted", listed, P, ("fixed",), FL, "glycine"),
    *pairs("relations", "Labels", listed, P, ("nodes",), {1: "first"}, "", limit=1e-9),
    *pairs("relations", "Loops", listed, P, ("nodes",), {1: ""}, "glycine"),
    *pairs("relations", "Virtual", listed, P, ("nodes",), FML, "karate"),
    *pairs("relations", "Bond", atoms, P, ("fixed",), FL, "glycine"),
    *pairs("relations", "Laplacian", dense, P, ("nodes",), {1: ""}, "glycine"),
    *pairs("relations_pyg", "Gine", partial(listed, 5, 3), P, ("fixed",), {1: "first", 2: "middle"}, "glycine"),
    *pairs("relations_pyg", "Attention", partial(listed, 6), P, ("nodes",), {2: "middle", 3: "last"}, "karate"),
    *pairs(
        "relations_pyg",
        "EdgeNetwork",
        partial(listed, 6, 2, form="data", names=("x", "edge_index", "edge_attr")),
        P,
        ("fixed",),
        {3: "last"},
        "glycine",
    ),
    *pairs("relations_pyg", "Lists", partial(listed, 6), P, ("fixed", "fixed", "fixed"), {1: "", 2: ""}, "glycine"),
)
