"""Messages and attention on edges of torch_geometric's convolutions are read off on the edges that were given."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

import equiscope
from explorer.declare.inputs import Inputs
from explorer.network.tracing.capture import capture
from explorer.network.tracing.trace import trace

gnn = pytest.importorskip("torch_geometric.nn")

NODES = 6
EDGES = torch.tensor([[0, 1, 2, 3, 4, 5, 2, 0, 3], [1, 2, 3, 4, 5, 0, 2, 3, 3]])  # with two loops


def given(edges: Tensor = EDGES) -> Inputs:
    x = torch.randn(NODES, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    found: Inputs = equiscope.graph(x, edges)
    return found


class Holder(nn.Module):
    def __init__(self, conv: Any) -> None:
        super().__init__()
        self.conv = conv

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        answer: Tensor = self.conv(x, edge_index)
        return answer


@pytest.mark.parametrize("kind", ["GATConv", "GATv2Conv", "TransformerConv"])
def test_attention_is_what_the_convolution_tells_itself(kind: str) -> None:
    torch.manual_seed(0)
    model = Holder(getattr(gnn, kind)(4, 3, heads=2)).double().eval()
    x = given()
    with torch.no_grad():
        traced = trace(model, x)
        names = [n.name for n in traced.layers]
        values, _ = capture(model, x, names)
        _, (edges, told) = model.conv(x.x, EDGES, return_attention_weights=True)
    wanted = {(int(a), int(b)): row for a, b, row in zip(*edges, told, strict=True)}
    layer = traced["conv.attention"]
    assert str(layer.field) == "edge scalar" and layer.kind == "Attention"
    for k, (a, b) in enumerate(EDGES.t().tolist()):
        assert (values["conv.attention"][k] - wanted[a, b]).abs().max() < 1e-12
    if kind != "TransformerConv":  # these two add a loop to each node
        assert str(traced["conv.attention_of_loops"].field) == "node scalar"
        loops = values["conv.attention_of_loops"]
        free = [n for n in range(NODES) if (n, n) not in EDGES.t().tolist()]
        assert len(loops) == NODES
        for n in free:
            assert (loops[n] - wanted[n, n]).abs().max() < 1e-12


def test_messages_are_what_is_summed() -> None:
    torch.manual_seed(0)
    model = Holder(gnn.SAGEConv(4, 3, aggr="add", root_weight=False, bias=False)).double().eval()
    x = given()
    with torch.no_grad():
        traced = trace(model, x)
        values, _ = capture(model, x, ["conv.message", "conv"])
    assert str(traced["conv.message"].field) == "edge scalar" and traced["conv.message"].kind == "Messages"
    summed = torch.zeros(NODES, 4, dtype=torch.float64).index_add_(0, EDGES[1], values["conv.message"])
    assert (model.conv.lin_l(summed) - values["conv"]).abs().max() < 1e-12


@pytest.mark.filterwarnings("ignore")  # sparse tensors of torch are in beta
def test_the_way_that_sends_no_messages_is_left_for_the_capture_alone() -> None:
    torch.manual_seed(0)
    conv = gnn.GCNConv(4, 3).double().eval()
    adjacency = torch.sparse_coo_tensor(
        EDGES.flip(0), torch.ones(EDGES.shape[1]).double(), (NODES, NODES)
    ).to_sparse_csr()

    class Fused(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = conv

        def forward(self, x: Tensor) -> Tensor:
            answer: Tensor = self.conv(x, adjacency)
            return answer

    model, x = Fused(), given().x
    with torch.no_grad():
        plain = model(x)
        values, _ = capture(model, x, ["conv.message", "output"])
    assert conv.fuse
    assert (plain - values["output"]).abs().max() < 1e-12
    assert len(values["conv.message"]) >= EDGES.shape[1]


def test_edges_that_are_dropped_and_added_are_told_apart() -> None:
    """GCN puts loops at the end; the messages of listed edges stay where the edges are listed, twins included."""
    edges = torch.tensor([[0, 1, 1, 2, 3], [1, 2, 2, 3, 0]])
    torch.manual_seed(0)
    model = Holder(gnn.GCNConv(4, 3, bias=False)).double().eval()
    x = given(edges)
    with torch.no_grad():
        traced = trace(model, x)
        values, _ = capture(model, x, ["conv.message", "conv.message_of_loops", "conv"])
    summed = values["conv.message_of_loops"].clone().index_add_(0, edges[1], values["conv.message"])
    assert (summed - values["conv"]).abs().max() < 1e-12
    assert traced["conv.message"].shape == (5, 3)
