"""A Graph Nets block is torch_geometric's MetaLayer with the same perceptrons; what is told decides what is heard."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.nn import MetaLayer
from torch_geometric.utils import scatter

from explorer.declare.types.fields import INVARIANT
from explorer.spaces.graph.fields import EDGE, NODE
from models.graphs.message_passing.graph_nets import CARD, CONDITIONING, TOLD, GraphNetBlock, Modulated
from tests.models.graphs.relabelling import declared, double, random_graph

SIZES = (4, 3, 2)  # nodes, edges, globals


class EdgeModel(nn.Module):
    def __init__(self, mlp: nn.Module) -> None:
        super().__init__()
        self.mlp = mlp

    def forward(self, source: Tensor, target: Tensor, e: Tensor, u: Tensor, batch: Tensor) -> Tensor:
        return self.mlp(torch.cat([e, source, target, u[batch]], dim=1))


class NodeModel(nn.Module):
    def __init__(self, mlp: nn.Module) -> None:
        super().__init__()
        self.mlp = mlp

    def forward(self, x: Tensor, index: Tensor, e: Tensor, u: Tensor, batch: Tensor) -> Tensor:
        received = scatter(e, index[1], dim=0, dim_size=len(x), reduce="sum")
        return self.mlp(torch.cat([x, received, u[batch]], dim=1))


class GlobalModel(nn.Module):
    def __init__(self, mlp: nn.Module) -> None:
        super().__init__()
        self.mlp = mlp

    def forward(self, x: Tensor, index: Tensor, e: Tensor, u: Tensor, batch: Tensor) -> Tensor:
        edges = scatter(e, batch[index[0]], dim=0, dim_size=len(u), reduce="sum")
        return self.mlp(torch.cat([u, edges, scatter(x, batch, dim=0, dim_size=len(u), reduce="sum")], dim=1))


def arguments(graphs: int = 3) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    signals = random_graph(CARD, nodes=14, edges=30, graphs=graphs)
    nodes, edges, globals_ = SIZES
    u = torch.randn(graphs, globals_, dtype=torch.float64)
    return signals["x"][:, :nodes], signals["edge_index"], signals["edge_attr"][:, :edges], u, signals["batch"]


@torch.no_grad()
@pytest.mark.parametrize("conditioning", CONDITIONING)
def test_a_block_is_a_metalayer(conditioning: str) -> None:
    block = GraphNetBlock(SIZES, 5, conditioning).double()
    layer = MetaLayer(EdgeModel(block.edge_update), NodeModel(block.node_update), GlobalModel(block.global_update))
    given = arguments()
    for ours, theirs in zip(block(*given), layer(*given)):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)


@torch.no_grad()
def test_modulation_is_film() -> None:
    """gamma(c) * (W x + b) + beta(c), gamma around 1; without scale it is a concatenation."""
    layer, x, c = Modulated(3, 2, 4, NODE), torch.randn(6, 3), torch.randn(6, 2)
    gamma, beta = layer.told(c)[:, :4], layer.told(c)[:, 4:]
    torch.testing.assert_close(layer(torch.cat([x, c], dim=1)), (1 + gamma) * layer.own(x) + beta)
    layer.told.weight[:4], layer.told.bias[:4] = 0, 0
    concatenated = nn.Linear(5, 4)
    concatenated.weight.copy_(torch.cat([layer.own.weight, layer.told.weight[4:]], dim=1))
    concatenated.bias.copy_(layer.own.bias + layer.told.bias[4:])
    inputs = torch.cat([x, c], dim=1)
    torch.testing.assert_close(layer(inputs), concatenated(inputs))


def test_inputs_and_updates_are_layers() -> None:
    network = double(CARD)
    signals = random_graph(CARD, nodes=9, edges=20, graphs=2)
    found = declared(network, signals)
    fields = {"edge_input": EDGE, "node_input": NODE, "global_input": INVARIANT}
    for block in ("block1", "block2"):
        assert {name: found[f"{block}.{name}"][0] for name in fields} == fields
        for level in ("edge", "node", "global"):
            update = network.get_submodule(f"{block}.{level}_update")
            assert update(found[f"{block}.{level}_input"][1]).shape[0] == len(found[f"{block}.{level}_input"][1])


@torch.no_grad()
@pytest.mark.parametrize("told", range(len(TOLD)))
def test_far_nodes_are_heard_through_the_globals_alone(told: int) -> None:
    """Two parts without an edge between them: node 0 reaches node 4 only where nodes are told of globals."""
    index = torch.tensor([[0, 1, 3, 4], [1, 0, 4, 3]])
    x = torch.randn(5, 8, dtype=torch.float64)
    e, batch = torch.randn(4, 4, dtype=torch.float64), torch.zeros(5, dtype=torch.int64)
    other = x.clone()
    other[0] += 1
    network = double(CARD, {"told": told})
    last: list[Tensor] = []
    network.get_submodule("node_output").register_forward_hook(lambda _m, _a, y: last.append(y))
    edges: list[Tensor] = []
    network.get_submodule("block1.node_input").register_forward_hook(lambda _m, _a, y: edges.append(y))
    network(x, index, e, batch)
    network(other, index, e, batch)
    assert not torch.equal(last[0][1], last[1][1]) or "edges" not in TOLD[told]
    heard_after_one = not torch.equal(edges[0][4], edges[1][4])
    assert not heard_after_one  # the globals of the first block know nothing yet
    if TOLD[told] == "globals":
        assert not torch.equal(last[0][4], last[1][4])
    if TOLD[told] == "edges":
        # edges are always told of the globals, so that the second block hears it on its edges
        assert not torch.equal(last[0][4], last[1][4])
        assert torch.equal(last[0][2], last[1][2])  # and a node without edges never
    if TOLD[told] == "edges and globals":
        assert not torch.equal(last[0][2], last[1][2])
