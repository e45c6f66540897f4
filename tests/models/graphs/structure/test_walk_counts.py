"""Powers of A: numpy's, walks listed by hand, and what the diagonal says of degrees and triangles."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
import torch
from torch import Tensor

from models.graphs.structure.walk_counts import CARD
from tests.models.graphs.relabelling import declared, double, random_graph


def counted(network: torch.nn.Module, index: Tensor, nodes: int) -> dict[str, Tensor]:
    signals = {"x": torch.zeros(nodes, 0, dtype=torch.float64), "edge_index": index}
    return {name: value for name, (_, value) in declared(network, signals).items()}


@pytest.mark.parametrize("graph", [nx.karate_club_graph(), nx.gnp_random_graph(12, 0.3, seed=3, directed=True)])
def test_the_powers_are_those_of_networkx_matrix(graph: nx.Graph) -> None:
    index = torch.tensor(list(nx.to_directed(graph).edges)).T
    found = counted(double(CARD, {"length": 8}), index, len(graph))
    matrix = nx.to_numpy_array(graph, weight=None).T.astype(np.int64)  # networkx has rows as sources
    for k in range(1, 9):
        power = np.linalg.matrix_power(matrix, k)
        assert np.array_equal(found[f"walks{k}"][0].numpy(), power)
        assert np.array_equal(found["closed_walks"][:, k - 1].numpy(), power.diagonal())


def test_entries_count_walks_one_by_one() -> None:
    """On a multigraph with self-loops, every sequence of three edges that fit is followed."""
    index = random_graph(CARD, nodes=5, edges=9)["edge_index"]
    expected = np.zeros((5, 5))
    for walk in itertools.product(index.T.tolist(), repeat=3):
        if walk[0][1] == walk[1][0] and walk[1][1] == walk[2][0]:
            expected[walk[2][1], walk[0][0]] += 1
    assert expected.sum() > 0
    found = counted(double(CARD, {"length": 3}), index, 5)["walks3"][0]
    assert np.array_equal(found.numpy(), expected)


def test_the_diagonal_counts_edges_and_triangles() -> None:
    graph = nx.karate_club_graph()
    index = torch.tensor(list(nx.to_directed(graph).edges)).T
    closed = double(CARD)(torch.zeros(34, 0, dtype=torch.float64), index)
    assert closed[:, 0].tolist() == [0] * 34
    assert closed[:, 1].tolist() == [d for _, d in graph.degree()]
    assert (closed[:, 2] / 2).tolist() == list(nx.triangles(graph).values())


def test_single_precision_counts_the_club_exactly() -> None:
    index = torch.tensor(list(nx.to_directed(nx.karate_club_graph()).edges)).T
    network = CARD.build(length=8)
    single, twice = (network(torch.zeros(34, 0, dtype=dtype), index) for dtype in (torch.float32, torch.float64))
    assert torch.equal(single.double(), twice)
