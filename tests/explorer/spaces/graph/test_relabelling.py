"""Elements of graphs and sets act as permutations do, on every field that lies on a graph."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from explorer.declare.elements import Element, NoAction, chain_element, inverse_steps, parse_chain, transforms
from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import PAIR, FieldType
from explorer.spaces.graph.elements.relabelling import GraphMap
from explorer.spaces.graph.fields import EDGE, EDGE_INDEX, GRAPH, NODE, NODE_INPUT, NodeIndex, Nodes
from explorer.spaces.graph.network.inference import GraphInference
from explorer.spaces.mesh.network.inference import MeshInference

EXACT = ["permute:3", "permute:3,back", "swap:1,4", "move:0,5", "move:5,2", "scale:2", "permute:7+swap:0,2+move:3,1"]
LOSSY = ["drop-edges:0.4,1", "drop-nodes:0.3,2"]


def test_every_transform_of_graphs_and_sets_is_tried() -> None:
    """Try graphs alone; test_transforms.py holds elements on grids to their laws."""
    tried = {step.name: step for text in (*EXACT, *LOSSY) for step in parse_chain(text)}
    relational = {t.name: t for t in transforms().values() if {"graph", "set"} & set(t.domains)}
    assert set(tried) == set(relational)
    assert {parse_chain(text)[0].name for text in LOSSY} == {n for n, t in relational.items() if t.inverse is None}
    assert not any(chain_element(parse_chain(text)).identity for text in (*EXACT, *LOSSY))


def graph(nodes: int = 7, seed: int = 0) -> Inputs:
    g = nx.gnp_random_graph(nodes, 0.5, seed=seed, directed=True)
    edges = torch.tensor(list(g.edges), dtype=torch.int64).reshape(-1, 2).t().contiguous()
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(nodes, 3, generator=generator, dtype=torch.float64)
    weights = torch.rand(edges.shape[1], generator=generator, dtype=torch.float64)
    return Inputs((x, edges, weights), (NODE_INPUT, EDGE_INDEX, EDGE), ("x", "edge_index", "edge_weight"))


def adjacency(inputs: Inputs) -> Tensor:
    a = torch.zeros(len(inputs.x), len(inputs.x), dtype=torch.float64)
    a[inputs.values[1][1], inputs.values[1][0]] = inputs.values[2]
    return a


def values(inputs: Inputs) -> list[tuple[Tensor, FieldType]]:
    n, e = len(inputs.x), inputs.values[1].shape[1]
    generator = torch.Generator().manual_seed(1)
    pairs = torch.randn(2, n, n, generator=generator, dtype=torch.float64)
    heads = torch.randn(e, 2, 3, generator=generator, dtype=torch.float64)
    whole = torch.randn(2, 5, generator=generator, dtype=torch.float64)
    own = list(zip(inputs.values, inputs.fields, strict=True))
    return [*own, (inputs.x, NODE), (heads, EDGE), (pairs, PAIR), (whole, GRAPH)]


def bound(text: str, inputs: Inputs) -> Element:
    return chain_element(parse_chain(text)).on(inputs)


@pytest.mark.parametrize("text", EXACT)
def test_the_inverse_brings_everything_back(text: str) -> None:
    inputs = graph()
    g = bound(text, inputs)
    back = bound("+".join(map(str, inverse_steps(parse_chain(text)))), inputs.moved(g))
    for value, field in values(inputs):
        for inverse in (g.inverse(), back):
            returned = inverse.act(g.act(value, field), field)
            assert torch.equal(returned, value) or float((returned - value).abs().max()) < 1e-15, field


@pytest.mark.parametrize("first", EXACT)
@pytest.mark.parametrize("second", EXACT)
def test_one_after_the_other_is_the_product(first: str, second: str) -> None:
    inputs = graph()
    g, product = bound(first, inputs), bound(f"{first}+{second}", inputs)
    h = bound(second, inputs.moved(g))
    for value, field in values(inputs):
        assert torch.allclose(h.act(g.act(value, field), field), product.act(value, field), rtol=1e-15), field


@pytest.mark.parametrize(
    "text",
    [
        "",
        "permute:0",
        "swap:3,3",
        "scale:1",
        "drop-edges:0,5",
        "permute:3+permute:3,back",
        "move:2,2",
        "drop-nodes:0,3",
    ],
)
def test_what_does_nothing_is_the_identity(text: str) -> None:
    element = chain_element(parse_chain(text))
    assert element.identity and element.on(graph()).identity
    for value, field in values(graph()):
        assert torch.equal(element.on(graph()).act(value, field), value)


@pytest.mark.parametrize("text", [t for t in EXACT if "scale" not in t])
def test_a_graph_stays_the_same_graph(text: str) -> None:
    """P A P^T of the matrix is the matrix of the renumbered edges: two ways that share no code."""
    inputs = graph()
    g = bound(text, inputs)
    moved = inputs.moved(g)
    assert isinstance(g, GraphMap)
    p = torch.zeros(7, 7, dtype=torch.float64)
    p[torch.from_numpy(g.order), torch.arange(7)] = 1
    assert torch.equal(adjacency(moved), p @ adjacency(inputs) @ p.T)
    assert torch.equal(moved.x, p @ inputs.x)
    assert torch.equal(g.act(adjacency(inputs)[None], PAIR)[0], adjacency(moved))


def test_a_swap_and_a_move_are_what_they_say() -> None:
    x = torch.arange(5.0)[:, None]
    assert chain_element(parse_chain("swap:1,3")).act(x, NODE).flatten().tolist() == [0, 3, 2, 1, 4]
    assert chain_element(parse_chain("move:1,3")).act(x, NODE).flatten().tolist() == [0, 2, 3, 1, 4]
    # a node that is not there is the last one
    assert chain_element(parse_chain("swap:0,99")).act(x, NODE).flatten().tolist() == [4, 1, 2, 3, 0]


def test_scaling_touches_what_is_measured_alone() -> None:
    g = bound("scale:3", graph())
    x = torch.ones(7, 2)
    assert torch.equal(g.act(x, NODE_INPUT), 3 * x) and torch.equal(g.act(x, NODE), x)


@pytest.mark.parametrize("text", LOSSY)
def test_leaving_out_is_a_restriction(text: str) -> None:
    inputs = graph(12)
    g = bound(text, inputs)
    moved = inputs.moved(g)
    assert isinstance(g, GraphMap) and not g.bijective and not g.exact(NODE, tuple(inputs.x.shape))
    assert torch.equal(moved.x, inputs.x[torch.from_numpy(g.nodes)])
    kept = set(zip(*inputs.values[1][:, torch.from_numpy(g.edges)].tolist(), strict=True))
    now = {(int(g.nodes[i]), int(g.nodes[j])) for i, j in moved.values[1].t().tolist()}
    assert now == kept and len(kept) < inputs.values[1].shape[1]
    with pytest.raises(NoAction):
        g.inverse()
    with pytest.raises(NoAction, match="no inverse"):
        inverse_steps(parse_chain(text))


def test_more_is_left_out_of_what_was_left_out_before() -> None:
    inputs = graph(30)
    few, many = (bound(f"drop-edges:{share},4", inputs) for share in (0.2, 0.6))
    assert isinstance(few, GraphMap) and isinstance(many, GraphMap)
    assert set(many.edges) < set(few.edges)
    # once more with the same share and seed on what is left is another draw, but nothing is left of all
    none = bound("drop-edges:1", inputs)
    assert isinstance(none, GraphMap) and len(none.edges) == 0


def test_both_directions_of_an_edge_are_left_out_together() -> None:
    there = np.array(list(nx.karate_club_graph().edges)).T
    both = torch.from_numpy(np.concatenate([there, there[::-1]], 1))
    inputs = Inputs((torch.ones(34, 1), both), (NODE_INPUT, EDGE_INDEX), ("x", "edge_index"))
    left = inputs.moved(bound("drop-edges:0.5,3", inputs)).values[1].t().tolist()
    assert {(i, j) for i, j in left} == {(j, i) for i, j in left} and 40 < len(left) < 116


@given(st.integers(0, 9), st.lists(st.sampled_from([*EXACT, *LOSSY]), max_size=4), st.integers(0, 5))
def test_any_chain_on_any_graph(nodes: int, texts: list[str], seed: int) -> None:
    inputs = graph(nodes, seed)
    g = bound("+".join(texts), inputs)
    moved = inputs.moved(g)
    n, e = len(moved.x), moved.values[1].shape[1]
    assert len(moved.values[2]) == e and (e == 0 or int(moved.values[1].max()) < n)
    if isinstance(g, GraphMap):
        assert (g.order >= 0).sum() == n and (g.edge_order >= 0).sum() == e


def test_a_set_has_nodes_alone() -> None:
    x = torch.randn(6, 2, dtype=torch.float64)
    inputs = Inputs((x,), (NODE_INPUT,))
    moved = inputs.moved(bound("permute:5", inputs))
    assert sorted(moved.x.tolist()) == sorted(x.tolist()) and not torch.equal(moved.x, x)
    assert len(inputs.moved(bound("drop-nodes:1", inputs)).x) == 1  # an empty set is nothing to look at


NEIGHBOURS = FieldType(Nodes(), NodeIndex())  # (nodes, k): which nodes each one hears


def test_a_table_of_neighbours_is_renumbered_with_its_nodes() -> None:
    table = torch.tensor([[1, 2], [2, 3], [3, 0], [0, 1]])
    order = np.array([2, 0, 3, 1])
    moved = GraphMap(order, np.arange(0)).act(table, NEIGHBOURS)
    # node order[k] of x stands at k, and so do those that it hears
    assert [{int(order[j]) for j in row} for row in moved.tolist()] == [set(table[k].tolist()) for k in order]


@pytest.mark.parametrize("inference", [GraphInference, MeshInference])
def test_no_network_is_tried_with_numbers_of_a_node_that_is_gone(inference: type[GraphInference]) -> None:
    x, ring = torch.rand(6, 2), torch.arange(6)
    table = torch.stack([ring.roll(1), ring.roll(-1)], 1)
    given = Inputs((x, table), (NODE_INPUT, NEIGHBOURS), ("x", "neighbours"))
    assert inference(given).resized(given) is None
    # a number that says "none" from the start is no number of a node
    alone = Inputs((x, torch.full((6, 2), -1)), (NODE_INPUT, NEIGHBOURS), ("x", "neighbours"))
    fewer = inference(alone).resized(alone)
    assert fewer is not None and len(fewer.x) == 5
