"""Line graphs are networkx's and torch_geometric's; the layers are GCNConv on them."""

from __future__ import annotations

import networkx as nx
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv
from torch_geometric.transforms import LineGraph

from models.graphs.structure.line_graph import CARD, JOINED, LineLayer, line_graph, touching_graph, unordered
from tests.models.graphs.relabelling import double

GRAPHS = {
    "karate": nx.karate_club_graph(),
    "star": nx.star_graph(6),
    "path": nx.path_graph(5),
    "random": nx.gnp_random_graph(9, 0.4, seed=1),
}


def both_directions(graph: nx.Graph) -> Tensor:
    return torch.tensor(list(nx.to_directed(graph).edges), dtype=torch.int64).reshape(-1, 2).T


def pairs(columns: Tensor) -> set[tuple[int, int]]:
    return {(int(a), int(b)) for a, b in columns.T}


@pytest.mark.parametrize("name", GRAPHS)
def test_the_directed_line_graph_is_networkxs(name: str) -> None:
    digraph = nx.gnp_random_graph(9, 0.3, seed=2, directed=True) if name == "random" else GRAPHS[name].to_directed()
    digraph.add_edge(0, 0)
    index = torch.tensor(list(digraph.edges)).T
    number = {edge: k for k, edge in enumerate(digraph.edges)}
    expected = {(number[e], number[f]) for e, f in nx.line_graph(digraph).edges}
    found = line_graph(index)
    assert pairs(found) == expected and found.shape[1] == len(expected)


@pytest.mark.parametrize("name", GRAPHS)
def test_the_undirected_line_graph_is_networkxs(name: str) -> None:
    ends, which = unordered(both_directions(GRAPHS[name]))
    assert torch.equal(torch.bincount(which), torch.full((ends.shape[1],), 2))
    number = {(int(a), int(b)): k for k, (a, b) in enumerate(ends.T)}
    named = [(number[min(e), max(e)], number[min(f), max(f)]) for e, f in nx.line_graph(GRAPHS[name]).edges]
    found = touching_graph(ends)
    assert pairs(found) == {(a, b) for e, f in named for a, b in ((e, f), (f, e))}


@pytest.mark.parametrize("name", GRAPHS)
def test_both_are_torch_geometrics(name: str) -> None:
    index = both_directions(GRAPHS[name])
    index = index[:, torch.argsort(index[0] * 100 + index[1])]  # LineGraph numbers the edges in this order
    data = Data(edge_index=index, num_nodes=GRAPHS[name].number_of_nodes())
    assert pairs(line_graph(index)) == pairs(LineGraph(force_directed=True)(data.clone()).edge_index)
    assert pairs(touching_graph(unordered(index)[0])) == pairs(LineGraph()(data.clone()).edge_index)


def listed(seed: int, nodes: int, edges: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return values of the edges, edge_index and x of a multigraph with self-loops."""
    rng = torch.Generator().manual_seed(seed)
    index = torch.randint(nodes, (2, edges), generator=rng)
    return torch.randn(edges, 3, generator=rng, dtype=torch.float64), index, torch.zeros(nodes, 1).double()


def gcn(layer: LineLayer) -> GCNConv:
    conv = GCNConv(3, 4).double()
    conv.lin.weight.data.copy_(layer.transformed.weight)
    conv.bias.data.copy_(layer.bias)
    return conv


@torch.no_grad()
@given(seed=st.integers(0, 10**6), nodes=st.integers(1, 8), edges=st.integers(1, 25))
def test_the_directed_layer_is_gcnconv_on_the_line_graph(seed: int, nodes: int, edges: int) -> None:
    values, index, x = listed(seed, nodes, edges)
    layer = LineLayer(3, 4, JOINED[1]).double()
    layer.bias.normal_()
    expected = gcn(layer)(values, line_graph(index))
    torch.testing.assert_close(layer(values, index, x), expected, rtol=1e-10, atol=1e-10)


@torch.no_grad()
@given(seed=st.integers(0, 10**6), nodes=st.integers(1, 8), edges=st.integers(1, 25))
def test_the_undirected_layer_is_gcnconv_on_the_line_graph(seed: int, nodes: int, edges: int) -> None:
    """Through networkx: an edge's value is the mean of its listings, and its answer is that of all of them."""
    values, index, x = listed(seed, nodes, edges)
    layer = LineLayer(3, 4, JOINED[0]).double()
    layer.bias.normal_()
    names = [(min(a, b), max(a, b)) for a, b in index.T.tolist()]
    number = {name: k for k, name in enumerate(dict.fromkeys(names))}
    which = torch.tensor([number[name] for name in names])
    means = torch.stack([values[which == k].mean(0) for k in range(len(number))])
    line = nx.Graph()
    line.add_nodes_from(number.values())
    line.add_edges_from((number[e], number[f]) for e in number for f in number if e != f and set(e) & set(f))
    columns = both_directions(line)
    expected = gcn(layer)(means, columns)[which]
    torch.testing.assert_close(layer(values, index, x), expected, rtol=1e-10, atol=1e-10)


@torch.no_grad()
def test_without_direction_both_listings_answer_alike() -> None:
    index = both_directions(nx.karate_club_graph())
    x = torch.randn(34, 6, dtype=torch.float64)
    opposite = [index.T.tolist().index([b, a]) for a, b in index.T.tolist()]
    for joined, alike in ((0, True), (1, False)):
        y = double(CARD, {"joined": joined})(x, index)
        assert y.shape == (156, 1)
        assert torch.allclose(y, y[opposite], rtol=1e-12, atol=1e-12) is alike


@pytest.mark.slow
def test_a_hub_costs_no_more_than_its_edges() -> None:
    """The line graph of this star has 4e10 edges: it is never made."""
    leaves = torch.arange(1, 200_001)
    index = torch.stack([leaves, torch.zeros_like(leaves)])
    both = torch.cat([index, index.flip(0)], dim=1)
    y = LineLayer(1, 1, JOINED[0])(torch.ones(400_000, 1), both, torch.zeros(200_001, 1))
    assert torch.isfinite(y).all() and y.shape == (400_000, 1)
