"""Row N10: GraphRNN's likelihood is the one written out, samples are like the data, and the order matters."""

from __future__ import annotations

import itertools
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from models.graphs.generation import graph_rnn
from models.graphs.generation.graph_rnn import (
    BEFORE,
    GraphRNN,
    breadth_first,
    by_order,
    clusterings,
    degrees,
    discrepancy,
    graphs,
    judged,
    rows_of,
    swapped,
    two_communities,
)

WEIGHTS = Path(__file__).resolve().parents[4] / "resources" / "weights" / "graph-rnn.safetensors"


def network(order: str = "breadth first") -> GraphRNN:
    made = GraphRNN(order)
    made.load_state_dict(load_file(WEIGHTS))
    return made.eval()


def edge_index(adjacent: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.argwhere(adjacent).T.copy())


@torch.no_grad()
def test_the_likelihood_is_that_of_one_edge_after_the_other() -> None:
    """Each step by hand with GRUCell's equations, one edge at a time, in double precision."""
    ours = network("as numbered").double()
    adjacent = two_communities(np.random.default_rng(4))[:7, :7]
    rows = rows_of(adjacent)

    def cell(rnn: torch.nn.GRU, x: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        w, v, b, c = (getattr(rnn, n) for n in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"))
        (ir, iz, inn), (hr, hz, hn) = (w @ x + b).chunk(3), (v @ h + c).chunk(3)
        r, z = torch.sigmoid(ir + hr), torch.sigmoid(iz + hz)
        return (1 - z) * torch.tanh(inn + r * hn) + z * h

    state, told = torch.zeros(graph_rnn.NODE_STATE).double(), torch.ones(BEFORE).double()
    total = 0.0
    for i in range(len(rows) + 1):
        row = torch.tensor(rows[i] if i < len(rows) else np.zeros(BEFORE)).double()
        state = cell(ours.node_rnn, told, state)
        inner, last = ours.start(state), torch.ones(1).double()
        for j in range(min(i, BEFORE)):
            inner = cell(ours.edge_rnn, last, inner)
            p = torch.sigmoid(ours.edge(inner))[0]
            total += float(torch.log(p if row[j] else 1 - p))
            last = row[j : j + 1]
        told = row
    x = torch.ones(len(adjacent), 1, dtype=torch.float64)
    assert float(ours(x, edge_index(adjacent))) == pytest.approx(total, rel=1e-10)


@torch.no_grad()
def test_likelihoods_of_all_graphs_of_three_nodes_come_to_one() -> None:
    """With the ends: 1 = Σ over S of graphs of up to three nodes + p(more). The row of zeros ends a graph."""
    ours = network("as numbered").double()
    total = 0.0
    # a row of zeros ends a graph, so every node but the first is joined to one before it
    for count in (1, 2, 3):
        for bits in itertools.product((0, 1), repeat=count * (count - 1) // 2):
            adjacent = np.zeros((count, count), bool)
            adjacent[np.tril_indices(count, -1)] = bits
            adjacent |= adjacent.T
            if all(adjacent[i, :i].any() for i in range(1, count)):
                rows = torch.tensor(rows_of(adjacent))[None].double()
                total += float(torch.exp(ours.nats(rows, torch.tensor([count])).sum()))
    # what is left are graphs of four and more: the same sum without the last end
    more = 0.0
    for bits in itertools.product((0, 1), repeat=3):
        adjacent = np.zeros((3, 3), bool)
        adjacent[np.tril_indices(3, -1)] = bits
        adjacent |= adjacent.T
        if all(adjacent[i, :i].any() for i in range(1, 3)):
            nats = ours.nats(torch.tensor(rows_of(adjacent))[None].double(), torch.tensor([3]))[0]
            more += float(torch.exp(nats[:-1].sum()) * (1 - torch.exp(nats[-1])))
    assert total + more == pytest.approx(1.0, abs=1e-9)


def test_breadth_first_is_networkxs() -> None:
    graph = nx.karate_club_graph()
    adjacent = nx.to_numpy_array(graph, weight=None).astype(bool)
    found = breadth_first(adjacent)
    assert found.tolist() == [0, *(b for _, b in nx.bfs_edges(graph, 0, sort_neighbors=sorted))]
    parts = np.zeros((5, 5), bool)
    parts[3, 4] = parts[4, 3] = True
    assert sorted(breadth_first(parts).tolist()) == [0, 1, 2, 3, 4]


@torch.no_grad()
@pytest.mark.slow
def test_samples_are_like_the_data_and_better_than_graphs_of_the_same_degrees() -> None:
    found = judged(network())
    for name, value in graph_rnn.FIGURES.items():
        assert found[name] == pytest.approx(value, abs=max(0.01, 0.1 * abs(value))), name
    assert found["clustering"] < 0.5 * found["same_degrees_clustering"]
    assert found["any_spread"] > 1.0


@torch.no_grad()
def test_the_likelihood_depends_on_the_order_and_codes_of_no_two_orders_agree() -> None:
    adjacent = graphs(1, 1)[0]
    order = np.random.default_rng(0).permutation(len(adjacent))
    x = torch.ones(len(adjacent), 1)
    for name in ("as numbered", "breadth first"):
        one, other = (float(network(name)(x, edge_index(a))) for a in (adjacent, adjacent[np.ix_(order, order)]))
        assert abs(one - other) > 0.1, name
    assert by_order(network(), adjacent, "breadth first", 20, 0).std() > 0.1


def test_drawn_graphs_are_graphs_and_the_same_for_a_seed() -> None:
    one, again, other = (network().drawn(6, seed) for seed in (3, 3, 4))
    assert all(np.array_equal(a, b) for a, b in zip(one, again))
    assert not all(a.shape == b.shape and np.array_equal(a, b) for a, b in zip(one, other))
    for adjacent in one:
        assert np.array_equal(adjacent, adjacent.T) and not adjacent.diagonal().any()


def test_discrepancies_are_none_of_a_set_to_itself_and_grow() -> None:
    some = graphs(30, 1)
    assert discrepancy(some, some, degrees) == pytest.approx(0.0, abs=1e-12)
    chance = np.random.default_rng(0)
    same_degrees = [swapped(g, chance) for g in some]
    assert all(np.array_equal(a.sum(1), b.sum(1)) for a, b in zip(some, same_degrees))
    assert discrepancy(same_degrees, some, degrees) == pytest.approx(0.0, abs=1e-12)
    assert discrepancy(same_degrees, some, clusterings) > 0.05
    sparse = [np.triu(chance.random((16, 16)) < 0.1, 1) for _ in range(30)]
    assert discrepancy([s | s.T for s in sparse], some, degrees) > 0.2


def test_clustering_and_degrees_are_networkxs() -> None:
    adjacent = graphs(1, 5)[0]
    graph = nx.from_numpy_array(adjacent)
    wanted = np.histogram(list(nx.clustering(graph).values()), 10, (0.0, 1.0))[0] / len(adjacent)
    assert np.allclose(clusterings(adjacent), wanted)
    assert np.allclose(
        degrees(adjacent)[: len(nx.degree_histogram(graph))], np.array(nx.degree_histogram(graph)) / len(adjacent)
    )
