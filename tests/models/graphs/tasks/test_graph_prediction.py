"""Readouts are torch_geometric's pools; a sum grows with the graph, mean and max do not."""

from __future__ import annotations

import pytest
import torch
from torch_geometric.nn import global_add_pool, global_max_pool, global_mean_pool

from models.graphs.tasks.graph_prediction import CARD
from models.layers.graph.aggregation import READOUTS
from tests.models.graphs.relabelling import declared, double, random_graph

POOLS = {"sum": global_add_pool, "mean": global_mean_pool, "max": global_max_pool}


@torch.no_grad()
@pytest.mark.parametrize("how", READOUTS)
def test_the_readout_is_a_global_pool(how: str) -> None:
    signals = random_graph(CARD, nodes=14, graphs=3)
    network = double(CARD, {"readout": READOUTS.index(how)})
    nodes = []
    network.get_submodule("relu2").register_forward_hook(lambda _m, _a, y: nodes.append(y))
    pooled = declared(network, signals)["readout"][1]
    torch.testing.assert_close(pooled, POOLS[how](nodes[0], signals["batch"]), rtol=1e-12, atol=1e-12)


@torch.no_grad()
def test_two_copies_of_a_graph_as_one() -> None:
    signals = random_graph(CARD)
    x, index, batch = signals.values()
    twice = {
        "x": torch.cat([x, x]),
        "edge_index": torch.cat([index, index + len(x)], dim=1),
        "batch": torch.cat([batch, batch]),
    }
    for k, how in enumerate(READOUTS):
        network = double(CARD, {"readout": k})
        one, two = (declared(network, s)["readout"][1] for s in (signals, twice))
        torch.testing.assert_close(two, (2 if how == "sum" else 1) * one, rtol=1e-12, atol=1e-12)
