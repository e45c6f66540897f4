"""Row N8: Graphormer against the numbers of transformers 4.49, and every term of its logits against its definition."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch
from torch import Tensor

from explorer.declare.types.fields import INVARIANT, PAIR
from explorer.spaces.graph.fields import NODE
from models.graphs.transformers.graphormer import (
    CARD,
    FARTHEST,
    MOST_DEGREE,
    PATH,
    Centrality,
    EdgeBias,
    Graphormer,
    GraphormerLayer,
    SpatialBias,
    build,
)
from models.layers.graph.structure import shortest_paths
from tests.models.graphs.relabelling import Signals, declared, double, errors, random_graph

ORACLE = Path(__file__).resolve().parents[2] / "data" / "graphormer.npz"


def load_oracle() -> tuple[Graphormer, dict[str, Tensor]]:
    """Return our network with the weights of transformers' and the arrays of the file, in float64."""
    arrays = {name: torch.tensor(value) for name, value in np.load(ORACLE).items()}
    theirs = {k.removeprefix("w.graph_encoder."): v.double() for k, v in arrays.items() if k.startswith("w.")}
    ours = Graphormer(channels=4, edge_channels=3, width=16, heads=2).double()
    features, bias = "graph_node_feature.", "graph_attn_bias."
    table = theirs[bias + "edge_encoder.weight"][1:]  # kinds of edges; what a kind is embedded as is a one-hot times it
    mixing = theirs[bias + "edge_dis_encoder.weight"].view(-1, 2, 2)
    with torch.no_grad():
        ours.embed.weight.copy_(theirs[features + "atom_encoder.weight"][1:5].T)
        ours.embed.bias.zero_()
        ours.centrality.incoming.copy_(theirs[features + "in_degree_encoder.weight"][1 : MOST_DEGREE + 2])
        ours.centrality.outgoing.copy_(theirs[features + "out_degree_encoder.weight"][1 : MOST_DEGREE + 2])
        ours.token.copy_(theirs[features + "graph_token.weight"])
        ours.token_bias.copy_(theirs[bias + "graph_token_virtual_distance.weight"])
        ours.spatial_bias.bias.copy_(theirs[bias + "spatial_pos_encoder.weight"][1 : FARTHEST + 3])
        ours.edge_bias.weight.copy_((table[:3] @ mixing[:PATH]).transpose(1, 2))
    names = {
        "norm1": "self_attn_layer_norm", "query": "self_attn.q_proj", "key": "self_attn.k_proj",
        "value": "self_attn.v_proj", "out": "self_attn.out_proj", "norm2": "final_layer_norm", "linear1": "fc1",
        "linear2": "fc2",
    }  # fmt: skip
    for k, layer in enumerate(ours.layers):
        for name, their_name in names.items():
            prefix = f"layers.{k}.{their_name}."
            layer.get_submodule(name).load_state_dict({p: theirs[prefix + p] for p in ("weight", "bias")})
    return ours, arrays


@torch.no_grad()
def test_the_numbers_are_transformers() -> None:
    """On a tree, where every shortest path is the only one; in float64 with the weights of transformers 4.49."""
    net, arrays = load_oracle()
    x = torch.nn.functional.one_hot(arrays["node_kind"] - 1, 4).double()
    edge_attr = torch.nn.functional.one_hot(arrays["edge_kind"] - 1, 3).double()
    seen = {}
    for name, module in net.named_modules():
        module.register_forward_hook(lambda _m, _a, out, name=name: seen.update({name: out}))
    net(x, arrays["edge_index"], edge_attr, torch.zeros(len(x), dtype=torch.int64))
    bias = arrays["bias"]  # (heads, 1 + N, 1 + N), the virtual node first
    torch.testing.assert_close(seen["spatial_bias"] + seen["edge_bias"], bias[:, 1:, 1:], rtol=0, atol=1e-12)
    torch.testing.assert_close(seen["virtual_bias"].expand(8, 2).T, bias[:, 1:, 0], rtol=0, atol=1e-12)
    state, virtual = seen["layers.1"]
    torch.testing.assert_close(state, arrays["states"][1:], rtol=0, atol=1e-9)
    torch.testing.assert_close(virtual, arrays["states"][:1], rtol=0, atol=1e-9)


def test_distances_are_networkx() -> None:
    graph = nx.gnp_random_graph(15, 0.12, seed=3, directed=True)
    found = shortest_paths(np.array(graph.edges).T, 15)
    lengths = dict(nx.all_pairs_shortest_path_length(graph))
    for target in range(15):
        for source in range(15):
            assert found[target, source] == lengths[source].get(target, -1)
    assert (found == -1).any() and found.max() > 3


@torch.no_grad()
def test_edge_biases_are_means_over_all_shortest_paths() -> None:
    graph = nx.gnp_random_graph(10, 0.3, seed=1, directed=True)
    nx.add_path(graph, range(9, 17))  # some pairs are farther apart than PATH
    edges = torch.tensor(list(graph.edges)).T
    attr = torch.randn(edges.shape[1], 2, dtype=torch.float64)
    of = {edge: attr[k] for k, edge in enumerate(graph.edges)}
    term = EdgeBias(3, 2).double()
    found = term(edges, attr, torch.tensor(shortest_paths(edges.numpy(), 17)).double()[None])
    several = too_far = 0
    for source in range(17):
        for target in range(17):
            expected = torch.zeros(3, dtype=torch.float64)
            if source != target and nx.has_path(graph, source, target):
                paths = list(nx.all_shortest_paths(graph, source, target))
                several += len(paths) > 1
                too_far += len(paths[0]) - 1 > PATH
                if len(paths[0]) - 1 <= PATH:
                    for path in paths:
                        steps = [term.weight[k] @ of[edge] for k, edge in enumerate(pairwise(path))]
                        expected += torch.stack(steps).mean(0) / len(paths)
            torch.testing.assert_close(found[:, target, source], expected, rtol=0, atol=1e-12)
    assert several > 20 and too_far > 20


@torch.no_grad()
def test_the_other_terms_are_look_ups() -> None:
    edges = torch.tensor([[0, 1, 1, 2], [1, 2, 2, 2]])
    x = torch.zeros(4, 8, dtype=torch.float64)
    centrality = Centrality(8).double()
    expected = [(0, 1), (1, 2), (3, 1), (0, 0)]  # in- and out-degree, loops and parallel edges counted
    for row, (into, out) in zip(centrality(x, edges), expected):
        torch.testing.assert_close(row, centrality.incoming[into] + centrality.outgoing[out], rtol=0, atol=0)
    spatial = SpatialBias(2).double()
    distance = torch.tensor([[[0.0, 3.0, -1.0, FARTHEST, FARTHEST + 9.0]]], dtype=torch.float64)
    found = spatial(distance)
    for column, row in enumerate((0, 3, FARTHEST + 1, FARTHEST, FARTHEST)):
        torch.testing.assert_close(found[:, 0, column], spatial.bias[row], rtol=0, atol=0)
    hub = torch.stack([torch.arange(1, 60), torch.zeros(59, dtype=torch.int64)])
    assert torch.equal(
        centrality(torch.zeros(60, 8).double(), hub)[0], centrality.incoming[-1] + centrality.outgoing[0]
    )


@torch.no_grad()
def test_a_layer_is_its_formula_on_nodes_and_virtual_nodes_together() -> None:
    """The virtual nodes appended to the nodes, as one attention matrix with the pairs of other graphs masked."""
    torch.manual_seed(2)
    width, heads, batch = 8, 2, torch.tensor([0, 0, 1, 1, 1])
    layer = GraphormerLayer(width, heads).double()
    x, virtual = torch.randn(5, width).double(), torch.randn(2, width).double()
    spatial, edge = torch.randn(heads, 5, 5).double(), torch.randn(heads, 5, 5).double()
    virtual_bias = torch.randn(1, heads).double()
    found, found_virtual = layer(x, virtual, spatial, edge, virtual_bias, batch)

    state, graph = torch.cat([x, virtual]), torch.tensor([0, 0, 1, 1, 1, 0, 1])
    h = layer.norm1(state)
    z = []
    for k in range(heads):
        own = slice(4 * k, 4 * k + 4)
        bias = virtual_bias[0, k].expand(7, 7).clone()
        bias[:5, :5] = spatial[k] + edge[k]
        logits = layer.query(h)[:, own] @ layer.key(h)[:, own].T / math.sqrt(4) + bias
        logits[graph[:, None] != graph] = -math.inf
        z.append(logits.softmax(-1) @ layer.value(h)[:, own])
    state = state + layer.out(torch.cat(z, 1))
    state = state + layer.linear2(torch.nn.functional.gelu(layer.linear1(layer.norm2(state))))
    torch.testing.assert_close(found, state[:5], rtol=0, atol=1e-12)
    torch.testing.assert_close(found_virtual, state[5:], rtol=0, atol=1e-12)


@pytest.fixture
def graph() -> Signals:
    return random_graph(CARD, nodes=14, graphs=2, seed=1)


def test_every_term_of_the_logits_is_a_layer(graph: Signals) -> None:
    values = declared(double(CARD), graph)
    for k in range(2):
        logits = values[f"layers.{k}.content"][1] + values["spatial_bias"][1] + values["edge_bias"][1]
        torch.testing.assert_close(values[f"layers.{k}.logits"][1], logits, rtol=0, atol=1e-12)
        for name in ("content", "logits", "attention"):
            assert values[f"layers.{k}.{name}"][0] == PAIR
        attention, virtual = (values[f"layers.{k}.{name}"][1] for name in ("attention", "virtual_attention"))
        assert virtual.shape == (14, 4) and (virtual > 0).all()
        whole = attention.sum(-1).T + virtual
        torch.testing.assert_close(whole, torch.ones_like(whole), rtol=0, atol=1e-12)
    assert values["graph_state"][0] == INVARIANT and values["graph_state"][1].shape == (2, 32)


@pytest.mark.parametrize("seed", range(4))
def test_the_permutation_law_holds_at_every_layer(seed: int) -> None:
    both_ways = bool(seed % 2)
    drawn = random_graph(CARD, nodes=13, graphs=2, seed=seed, undirected=both_ways)
    found = errors(double(CARD, {"depth": 3}).requires_grad_(False), drawn, NODE, seed)
    assert max(found.values()) < 1e-9, found
    assert {"distance", "spatial_bias", "edge_bias", "virtual_bias", "layers.2.read_out", "graph_state"} <= found.keys()


@torch.no_grad()
def test_graphs_of_a_batch_do_not_see_each_other(graph: Signals) -> None:
    net, other = double(CARD), graph["batch"] == 1
    changed = {**graph, "x": torch.where(other[:, None], graph["x"] + 1, graph["x"])}
    first, second = net(*graph.values()), net(*changed.values())
    torch.testing.assert_close(first[~other], second[~other], rtol=0, atol=1e-12)
    assert not torch.allclose(first[other], second[other])


def test_edge_attributes_and_weights_can_be_learned(graph: Signals) -> None:
    net = double(CARD)
    graph["edge_attr"].requires_grad_()
    net(*graph.values()).square().sum().backward()
    assert graph["edge_attr"].grad is not None and graph["edge_attr"].grad.abs().sum() > 0
    unused = [name for name, p in net.named_parameters() if p.grad is None]
    assert not unused
    assert sum(p.numel() for p in build().parameters()) <= 30_000


@pytest.mark.parametrize("nodes", [0, 1])
def test_an_empty_graph_and_a_single_node(nodes: int) -> None:
    edges, batch = torch.zeros(2, 0, dtype=torch.int64), torch.zeros(nodes, dtype=torch.int64)
    out = build()(torch.ones(nodes, 6), edges, torch.zeros(0, 1), batch)
    assert out.shape == (nodes, 4) and torch.isfinite(out).all()
