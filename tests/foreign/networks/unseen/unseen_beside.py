"""Networks on graphs with tables besides nodes and edges, found by trial or refused with what says them."""

from __future__ import annotations

from functools import partial

import torch

from tests.foreign.case import REFUSED, Case, Given, drawn
from tests.foreign.networks.on_graphs.graphs import edges
from tests.foreign.networks.unseen.unseen import FIXED, NODES, THEIRS, both
from tests.foreign.their_files import built

FILE = "beside_graphs"
OF = {
    "edge_index": (edges(9, 20), "index"),
    "batch": (torch.zeros(9, dtype=torch.int64), "nodes"),
    "edge_weight": (drawn(20, seed=1), "edges"),
    "edge_time": (drawn(20, seed=1), "edges"),
    "flow": (drawn(20, seed=1), "edges"),
    "depth": (drawn(9, seed=2), "nodes"),
    "eigvals": (drawn(5, seed=3), "fixed"),
    "whole": (drawn(1, 3, seed=3), "fixed"),
}


def given(**tables):
    """Return arguments by name: what has a width has rows for nodes, edges or the whole by the letter before it."""
    rows = {"N": (9, "nodes"), "E": (20, "edges"), "1": (1, "fixed")}
    found = {}
    for seed, (name, told) in enumerate(tables.items()):
        if told:
            count, act = rows[told[0]]
            found[name] = drawn(count, int(told[1:]), seed=seed), act
        else:
            found[name] = OF[name]
    return Given(tuple(v for v, _ in found.values()), tuple(a for _, a in found.values()), form="mapping",
                 names=tuple(found))  # fmt: skip


def beside(name, out, **tables):
    return both(FILE, name, partial(given, **tables), "permutation", out, "")


MANY = partial(given, x="N5", edge_index="", depth="", role="N3", flow="", whole="")
CASES: tuple[Case, ...] = (
    *beside("Meta", FIXED, x="N5", edge_index="", edge_attr="E3", u="14", batch=""),
    *beside("GPS", FIXED, x="N6", pe="N7", edge_index="", edge_attr="E3", batch=""),
    *beside("Encoded", NODES, x="N6", edge_index="", pe="N4"),
    *beside("Timed", NODES, x="N5", edge_index="", edge_time=""),
    *beside("Film", NODES, x="N6", edge_index="", u="15"),
    *beside("Conditioned", FIXED, x="N6", edge_index="", edge_attr="E3", cond="14"),
    *beside("Signs", NODES, x="N6", edge_index="", eigvecs="N5", eigvals=""),
    *beside("Walks", FIXED, x="N5", edge_index="", edge_attr="E2", rwse="N9", batch=""),
    *beside("Static", NODES, x="N4", edge_index="", edge_weight="", static="N3"),
    Case("four tables, from a file", partial(built, THEIRS, FILE, "Many", 0), MANY, "permutation", NODES, REFUSED,
         refusable=True, tells=r"beside=depth:Nx7,role:Nx7,flow:Nx7,whole:Nx7", hooks=False,
         door=f"{THEIRS / FILE}.py:Many"),
)  # fmt: skip
