"""GIN is torch_geometric's GINConv with the same weights, sees multisets, and is as blind as 1-WL."""

from __future__ import annotations

import networkx as nx
import pytest
import torch
from torch import Tensor, nn
from torch_geometric.nn import GINConv, global_add_pool

from models.graphs.message_passing.gin import CARD, GIN, GINLayer
from models.layers.graph.aggregation import READOUTS
from tests.models.graphs.relabelling import double, random_graph


@torch.no_grad()
@pytest.mark.parametrize(("dtype", "close"), [(torch.float32, 1e-6), (torch.float64, 1e-12)])
def test_equal_to_ginconv(dtype: torch.dtype, close: float) -> None:
    signals = random_graph(CARD)
    layer = GINLayer(8, 5).to(dtype)
    layer.combined.eps.fill_(0.3)
    conv = GINConv(nn.Sequential(nn.Linear(8, 5), nn.ReLU(), nn.Linear(5, 5)), train_eps=True).to(dtype)
    conv.nn.load_state_dict(layer.mlp.state_dict())
    conv.eps.copy_(layer.combined.eps)
    x, index = signals["x"].to(dtype), signals["edge_index"]
    torch.testing.assert_close(layer(x, index), conv(x, index), rtol=close, atol=close)


@torch.no_grad()
def test_the_network_is_its_layers_and_readouts() -> None:
    signals = random_graph(CARD, nodes=14, graphs=3)
    network = GIN().double()
    x, read = signals["x"], [global_add_pool(signals["x"], signals["batch"])]
    for layer in network.layers:
        assert isinstance(layer, GINLayer)
        x = GINConv(layer.mlp, eps=float(layer.combined.eps))(x, signals["edge_index"]).relu()
        read.append(global_add_pool(x, signals["batch"]))
    expected = network.head(torch.cat(read, dim=1))
    torch.testing.assert_close(network(*signals.values()), expected, rtol=1e-12, atol=1e-12)


def directed(graph: nx.Graph) -> Tensor:
    return torch.tensor([(a, b) for a, b in nx.to_directed(graph).edges]).T


@torch.no_grad()
@pytest.mark.parametrize("readout", range(len(READOUTS)))
def test_a_hexagon_is_two_triangles(readout: int) -> None:
    graphs = nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3)), nx.star_graph(5)
    for graph in graphs:
        nx.set_node_attributes(graph, "", "colour")
    colours = [nx.weisfeiler_lehman_graph_hash(graph, node_attr="colour") for graph in graphs]
    assert colours[0] == colours[1] != colours[2]
    x, batch = torch.ones(6, 8, dtype=torch.float64), torch.zeros(6, dtype=torch.int64)
    network = double(CARD, {"readout": readout})
    one, two, other = (network(x, directed(graph), batch) for graph in graphs)
    torch.testing.assert_close(one, two, rtol=1e-12, atol=1e-12)
    assert float((one - other).abs()) > 1e-3


def test_eps_is_learned() -> None:
    signals = random_graph(CARD)
    network = double(CARD)
    network(*signals.values()).sum().backward()
    slopes = [layer.combined.eps.grad for layer in network.layers]
    assert all(slope is not None and float(slope.abs()) > 1e-6 for slope in slopes)
