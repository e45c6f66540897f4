"""Graphs: layers of torch_geometric and of people's own, pooled, rewired, with edges that have attributes."""

from __future__ import annotations

from functools import partial

from tests.foreign.case import Given, drawn
from tests.foreign.networks.on_graphs.graphs import edges
from tests.foreign.networks.tutorials.twins import twins

NODES, FIXED = ("nodes",), ("fixed",)


def listed(attributes=0, nodes=11, **more):
    given = (drawn(nodes, 4), edges(nodes, 3 * nodes), drawn(3 * nodes, max(attributes, 1), seed=1))
    given = given if attributes else given[:2]
    return Given(given, ("nodes", "index", "edges")[: len(given)], **more)


def dense():
    a = (drawn(11, 11, seed=1) > 0.3).float()
    return Given((drawn(11, 4), ((a + a.t()) > 0).float().fill_diagonal_(0)), ("nodes", "pairs"))


def data():
    return listed(form="data", names=("x", "edge_index"))


first, second = (partial(twins, name, group="permutation") for name in ("graphs", "more_graphs"))
CASES = (
    *first("gin", {"gin_lean": "lin"}, listed, out=FIXED),
    *first("sage", {}, listed, out=NODES),
    *first("pna", {"pna_last": "out"}, listed, out=FIXED),
    *first("ecc", {"ecc_roll": "c2 c2.nn"}, partial(listed, 3), out=NODES),
    *first("virtual", {"virtual_first": "vn.0"}, listed, out=NODES),
    *first("line", {"line_cap": "msg"}, listed, out=NODES),
    *first("gat", {"gat_chunk": "out"}, listed, out=NODES),
    *first("sortpool", {"sortpool_ties": "conv"}, partial(listed, nodes=40), out=FIXED),
    *first("topk", {}, listed, out=FIXED, sample="glycine"),
    *first("heat", {"heat_raw": "enc"}, listed, out=NODES),
    *first("graphormer", {"graphormer_tri": "spd attn"}, dense, out=NODES),
    *first("edgeout", {"edgeout_rank": "output output[1]"}, listed, out=("nodes", "edges", "fixed")),
    *first("datanet", {"datanet_first": "lin"}, data, out=NODES),
    *second("diffpool", {"diffpool_modulo": "out"}, dense, out=FIXED),
    *second("ggnn", {"ggnn_seq": "seq"}, listed, out=NODES),
    *second("unhooked", {"hooked": "b"}, listed, out=NODES),
    *second("mp", {"mp_skew": "p2"}, listed, out=NODES),
)
