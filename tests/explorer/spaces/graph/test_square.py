"""Graphs through the whole core: fields inferred, laws held or broken, the guilty layer named."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from torch import Tensor, nn

from explorer.declare.types.fields import INVARIANT, PAIR
from explorer.equivariance.check import check_equivariance
from explorer.network.tracing.trace import trace
from explorer.spaces.graph.fields import EDGE, NODE
from explorer.spaces.graph.network.inputs import graph_inputs


def club(seed: int = 0) -> tuple[Tensor, Tensor]:
    there = torch.tensor(list(nx.karate_club_graph().edges)).t()
    x = torch.randn(34, 5, generator=torch.Generator().manual_seed(seed))
    return x, torch.cat([there, there.flip(0)], 1)


class Named(nn.Identity):
    def __init__(self, field: Any) -> None:
        super().__init__()
        self.out_field = field


class Layer(nn.Module):
    """Mean over neighbours, with its messages, an attention-like matrix and a readout on the way."""

    def __init__(self, width: int, fault: str = "") -> None:
        super().__init__()
        self.fault = fault
        self.psi = nn.Linear(width, width)
        self.messages, self.scores = Named(EDGE), Named(PAIR)
        self.update = nn.Linear(width, width)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        m = self.messages(self.psi(x)[edge_index[0]])
        if self.fault == "cap":
            edge_index, m = edge_index[:, :100], m[:100]
        total = torch.zeros_like(x).index_add(0, edge_index[1], m)
        weights = self.scores((x @ x.t()).softmax(1)[None])[0]
        if self.fault == "number":
            total = total + torch.linspace(0, 1, len(x), dtype=x.dtype)[:, None]
        return self.update(torch.relu(total + weights @ x))


class Net(nn.Module):
    def __init__(self, fault: str = "", at: int = 1) -> None:
        super().__init__()
        self.first = nn.Linear(5, 8)
        self.layers = nn.ModuleList(Layer(8, fault if k == at else "") for k in range(3))
        self.readout = nn.Linear(8, 2)
        self.pooled = Named(INVARIANT)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = self.first(x)
        for layer in self.layers:
            x = layer(x, edge_index)
        return self.readout(self.pooled(x.mean(0, keepdim=True)))


def test_fields_follow_the_places() -> None:
    found = trace(Net(), graph_inputs(club()), declared=True)
    texts = {layer.name: str(layer.field) for layer in found.layers}
    assert texts["first"] == texts["layers.0"] == texts["layers.2.update"] == "node scalar"
    assert texts["layers.1.messages"] == "edge scalar" and texts["layers.1.scores"] == "pair scalar"
    assert texts["pooled"] == texts["readout"] == "graph scalar"
    assert found["layers.1"].alone and found["layers.1.update"].alone


def test_a_network_that_ignores_the_numbers_obeys() -> None:
    report = check_equivariance(Net(), club(), "permutation")
    assert report.verdict == "holds"
    assert all(row.cumulative_max is not None and row.cumulative_max < 1e-9 for row in report.layers)
    assert report["readout"].chance > 1e-3


@pytest.mark.parametrize("fault", ["cap", "number"])
@pytest.mark.parametrize("at", [0, 1, 2])
def test_the_layer_that_looks_at_the_numbers_is_named(fault: str, at: int) -> None:
    report = check_equivariance(Net(fault, at), club(), "permutation", declared=True)
    assert report.verdict == "broken"
    assert [g for g in report.guilty if g.startswith("layers.")] == [f"layers.{at}"], report.guilty


def test_several_graphs_are_measured_one_by_one() -> None:
    graphs = [graph_inputs(club(seed)) for seed in range(3)]
    report = check_equivariance(Net(), graphs, "permutation")
    assert report.verdict == "holds" and report.samples == 3


def test_a_group_of_images_is_no_group_of_graphs() -> None:
    with pytest.raises(ValueError, match="acts on a grid"):
        check_equivariance(Net(), club(), "D4")
    with pytest.raises(ValueError, match="acts on a graph or set"):
        check_equivariance(nn.Conv2d(1, 1, 3), (1, 1, 9, 9), "permutation")


@pytest.mark.parametrize("edges", [np.zeros((2, 0), np.int64), np.array([[0, 0], [0, 0]])])
def test_one_node_and_no_edges(edges: np.ndarray) -> None:
    x = torch.randn(1, 5)
    report = check_equivariance(Net(), (x, torch.from_numpy(edges)), "permutation")
    assert report.verdict == "no law" and any("take a larger one" in note for note in report.warnings)


def test_torch_geometric_as_it_is() -> None:
    from torch_geometric.nn import GATConv, GCNConv

    class Theirs(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.one, self.two = GCNConv(5, 8), GATConv(8, 2, heads=2)

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return self.two(self.one(x, edge_index).relu(), edge_index)

    report = check_equivariance(Theirs(), club(), "permutation")
    assert report.verdict == "holds" and str(report["two"].field) == str(NODE)
    assert report["one"].local is not None and report["one"].local < 1e-12
