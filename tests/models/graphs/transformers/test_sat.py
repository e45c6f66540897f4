"""Row N8: structure-aware attention against explicit subgraphs, torch_geometric's layers and the paper's formula."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
import torch
from torch import Tensor, nn

from explorer.spaces.graph.fields import NODE
from models.graphs.transformers.sat import (
    CARD,
    EXTRACTORS,
    SATLayer,
    Structure,
    StructureAwareAttention,
    build,
    convolve,
    edges_within,
    reach,
)
from tests.models.graphs.relabelling import Signals, declared, double, errors, random_graph

N, C, HEADS = 11, 12, 3


def directed(seed: int) -> tuple[nx.MultiDiGraph, Tensor]:
    """Return a random multigraph with loops, parallel edges and an isolated node, and its edges."""
    edges = random_graph(CARD, nodes=N, edges=20, seed=seed)["edge_index"]
    made = nx.MultiDiGraph()
    made.add_nodes_from(range(N))
    made.add_edges_from(edges.T.tolist())
    return made, edges


@pytest.fixture
def x() -> Tensor:
    return torch.randn(N, C, dtype=torch.float64)


def pyg_gnn(structure: Structure, h: Tensor, edges: Tensor) -> Tensor:
    """Run torch_geometric's convolutions with the same weights."""
    from torch_geometric.nn import GCNConv

    for layer in structure.convolutions:
        assert isinstance(layer, nn.Linear)
        conv = GCNConv(C, C).double()
        conv.lin.weight, conv.bias = layer.weight, layer.bias
        h = conv(h, edges).relu()
    return h


def by_hand(structure: Structure, x: Tensor, graph: nx.MultiDiGraph, hops: int) -> Tensor:
    """Return k-subgraph phi from one subgraph after another, as networkx cuts them out."""
    rows = []
    for u in range(N):
        near = nx.single_source_shortest_path_length(graph.reverse(), u, cutoff=hops)
        members = sorted(near)
        inner = [(members.index(a), members.index(b)) for a, b, _ in graph.subgraph(members).edges]
        edges = torch.tensor(inner, dtype=torch.int64).reshape(-1, 2).T
        rows.append(pyg_gnn(structure, x[members], edges).sum(0))
    return torch.stack(rows)


@torch.no_grad()
@pytest.mark.parametrize("seed", range(4))
def test_a_convolution_is_torch_geometrics(seed: int, x: Tensor) -> None:
    from torch_geometric.nn import GCNConv

    _, edges = directed(seed)
    conv = GCNConv(C, C).double()
    nn.init.normal_(conv.bias)
    torch.testing.assert_close(convolve(x, edges, conv.lin.weight, conv.bias), conv(x, edges), rtol=0, atol=1e-12)


@pytest.mark.parametrize("hops", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_subgraphs_are_networkx(seed: int, hops: int) -> None:
    graph, edges = directed(seed)
    owner, member = reach(edges.numpy(), N, hops)
    within = edges_within(edges.numpy(), N, hops)
    for u in range(N):
        near = nx.single_source_shortest_path_length(graph.reverse(), u, cutoff=hops)
        assert sorted(near) == member[owner == u].tolist()
        own = within[:, owner[within[0]] == u]
        assert (owner[own[1]] == u).all()
        expected = sorted((a, b) for a, b, _ in graph.subgraph(near).edges)
        assert sorted(zip(member[own[0]].tolist(), member[own[1]].tolist())) == expected


@torch.no_grad()
@pytest.mark.parametrize("hops", [1, 2, 3])
@pytest.mark.parametrize("seed", range(2))
def test_the_extractors_are_their_definitions(seed: int, hops: int, x: Tensor) -> None:
    graph, edges = directed(seed)
    subtree = Structure(EXTRACTORS[0], C, hops).double()
    subgraph = Structure(EXTRACTORS[1], C, hops).double()
    torch.testing.assert_close(subtree(x, edges), pyg_gnn(subtree, x, edges), rtol=0, atol=1e-12)
    torch.testing.assert_close(subgraph(x, edges), by_hand(subgraph, x, graph, hops), rtol=0, atol=1e-12)
    subgraph.load_state_dict(subtree.state_dict())
    assert not torch.allclose(subgraph(x, edges), subtree(x, edges))


@torch.no_grad()
def test_attention_is_a_smoother_with_an_exponential_kernel(x: Tensor) -> None:
    attention = StructureAwareAttention(C, HEADS).double()
    phi, batch = torch.randn(N, C, dtype=torch.float64), torch.tensor([0] * 5 + [1] * 6)
    d = C // HEADS
    q, k, v = (m.view(N, HEADS, d) for m in (attention.query(phi), attention.key(phi), attention.value(x)))
    expected = torch.zeros(N, HEADS, d, dtype=torch.float64)
    for u in range(N):
        for head in range(HEADS):
            same = [w for w in range(N) if batch[w] == batch[u]]
            kernel = {w: math.exp(float(q[u, head] @ k[w, head]) / math.sqrt(d)) for w in same}
            for w in same:
                expected[u, head] += kernel[w] / sum(kernel.values()) * v[w, head]
    torch.testing.assert_close(attention(x, phi, batch), attention.out(expected.flatten(1)), rtol=0, atol=1e-12)


@torch.no_grad()
@pytest.mark.parametrize("extractor", EXTRACTORS)
def test_a_layer_is_the_dense_formula(extractor: str, x: Tensor) -> None:
    graph, edges = directed(7)
    layer = SATLayer(extractor, C, HEADS, 2).double()
    structure, batch = layer.structure, torch.zeros(N, dtype=torch.int64)
    phi = pyg_gnn(structure, x, edges) if extractor == "k-subtree" else by_hand(structure, x, graph, 2)
    degree = torch.tensor([graph.in_degree(u) for u in range(N)], dtype=torch.float64)
    h = layer.norm1(x + layer.self_attention(x, phi, batch) / (1 + degree).sqrt()[:, None])
    expected = layer.norm2(h + layer.linear2(layer.linear1(h).clamp(min=0)))
    torch.testing.assert_close(layer(x, edges, batch), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("extractor", range(len(EXTRACTORS)))
@pytest.mark.parametrize("seed", range(4))
def test_the_permutation_law_holds_at_every_layer(extractor: int, seed: int) -> None:
    drawn = random_graph(CARD, nodes=13, graphs=2, seed=seed, undirected=bool(seed % 2))
    found = errors(double(CARD, {"extractor": extractor}), drawn, NODE, seed)
    assert max(found.values()) < 1e-9, found
    taps = {"structure", "self_attention.logits", "self_attention.attention"}
    assert {f"layers.{k}.{tap}" for k in range(2) for tap in taps} <= found.keys()


@torch.no_grad()
@pytest.mark.parametrize("extractor", range(len(EXTRACTORS)))
def test_graphs_of_a_batch_do_not_see_each_other(extractor: int) -> None:
    graph: Signals = random_graph(CARD, nodes=14, graphs=2, seed=1)
    net, other = double(CARD, {"extractor": extractor}), graph["batch"] == 1
    changed = {**graph, "x": torch.where(other[:, None], graph["x"] + 1, graph["x"])}
    first, second = net(*graph.values()), net(*changed.values())
    torch.testing.assert_close(first[~other], second[~other], rtol=0, atol=1e-12)
    assert not torch.allclose(first[other], second[other])


def test_subgraphs_see_what_subtrees_do_not() -> None:
    """Two triangles against a hexagon: one message-passing class, but not the same surroundings."""
    triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    hexagon = [(i, (i + 1) % 6) for i in range(6)]
    ones, batch = torch.ones(6, 6, dtype=torch.float64), torch.zeros(6, dtype=torch.int64)
    alike = {}
    for k, extractor in enumerate(EXTRACTORS):
        phi = []
        for pairs in (triangles, hexagon):
            edges = torch.tensor(pairs + [(b, a) for a, b in pairs]).T
            graph = {"x": ones, "edge_index": edges, "batch": batch}
            phi.append(declared(double(CARD, {"extractor": k}), graph)["layers.0.structure"][1])
        alike[extractor] = torch.allclose(*phi, rtol=0, atol=1e-9)
    assert alike == {"k-subtree": True, "k-subgraph": False}


def test_one_set_of_weights_serves_both_extractors() -> None:
    subtree, subgraph = build(0), build(1)
    subgraph.load_state_dict(subtree.state_dict())
    assert sum(p.numel() for p in subtree.parameters()) <= 30_000


@pytest.mark.parametrize("extractor", range(len(EXTRACTORS)))
@pytest.mark.parametrize("nodes", [0, 1])
def test_an_empty_graph_and_a_single_node(extractor: int, nodes: int) -> None:
    edges, batch = torch.zeros(2, 0, dtype=torch.int64), torch.zeros(nodes, dtype=torch.int64)
    out = build(extractor)(torch.ones(nodes, 6), edges, batch)
    assert out.shape == (nodes, 4) and np.isfinite(out.detach().numpy()).all()
