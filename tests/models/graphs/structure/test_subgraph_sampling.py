"""Samplers against networkx and against the distributions that they are made for."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from models.graphs.structure.subgraph_sampling import CARD, Index, k_hop, metropolis_walk, random_walk
from tests.models.graphs.relabelling import declared, double

CLUB = nx.karate_club_graph()
WALKS = {"random": random_walk, "metropolis": metropolis_walk}


def listed(graph: nx.Graph) -> Index:
    return np.array(list(nx.to_directed(graph).edges), np.int64).reshape(-1, 2).T


def frequencies(name: str, steps: int, seed: int = 0) -> np.ndarray:
    walk = WALKS[name](listed(CLUB), 34, 0, steps, np.random.default_rng(seed))
    return np.bincount(walk, minlength=34) / (steps + 1)


@given(seed=st.integers(0, 10**6), hops=st.integers(0, 4), start=st.integers(0, 11))
def test_k_hop_is_the_ego_graph(seed: int, hops: int, start: int) -> None:
    graph = nx.gnp_random_graph(12, 0.15, seed=seed)
    expected = set(nx.ego_graph(graph, start, radius=hops))
    assert set(np.flatnonzero(k_hop(listed(graph), 12, np.array([start]), hops))) == expected
    both = expected | set(nx.ego_graph(graph, 0, radius=hops))
    assert set(np.flatnonzero(k_hop(listed(graph), 12, np.array([start, 0]), hops))) == both


@given(seed=st.integers(0, 10**6), start=st.integers(0, 11), name=st.sampled_from(sorted(WALKS)))
def test_walks_follow_edges_and_repeat(seed: int, start: int, name: str) -> None:
    graph = nx.gnp_random_graph(12, 0.2, seed=seed)
    first, second = (WALKS[name](listed(graph), 12, start, 50, np.random.default_rng(seed)) for _ in range(2))
    assert np.array_equal(first, second) and len(first) == 51 and first[0] == start
    for here, there in pairwise(first):
        stays = name == "metropolis" or graph.degree(int(here)) == 0
        assert graph.has_edge(int(here), int(there)) or (stays and here == there)


def transition(name: str) -> np.ndarray:
    """Return the matrix of the chain from its definition, rows the present node."""
    adjacency = nx.to_numpy_array(CLUB, weight=None)
    d = adjacency.sum(1)
    if name == "random":
        return adjacency / d[:, None]
    matrix = adjacency * np.minimum(1 / d[:, None], 1 / d[None, :])
    return matrix + np.diag(1 - matrix.sum(1))


@pytest.mark.parametrize("name", WALKS)
def test_steps_are_drawn_with_the_chains_probabilities(name: str) -> None:
    """From the hub of the club, 20,000 single steps; each count within 5 standard deviations of its mean."""
    index, chance = listed(CLUB), np.random.default_rng(5)
    n = 20_000
    ends = [int(WALKS[name](index, 34, 33, 1, chance)[1]) for _ in range(n)]
    p = transition(name)[33]
    counts = np.bincount(ends, minlength=34)
    assert (counts[p == 0] == 0).all()
    assert (np.abs(counts - n * p) <= 5 * np.sqrt(n * p * (1 - p)) + 1e-9).all()


@pytest.mark.parametrize("name", WALKS)
def test_long_walks_reach_the_stationary_distribution(name: str) -> None:
    """pi = degree / 2|E| for the random walk and 1 / N for the Metropolis walk, and not the other way round."""
    d = np.array([degree for _, degree in CLUB.degree()], float)
    by_degree, uniform = d / d.sum(), np.full(34, 1 / 34)
    own, other = (by_degree, uniform) if name == "random" else (uniform, by_degree)
    np.testing.assert_allclose(own @ transition(name), own, atol=1e-15)
    found = frequencies(name, 400_000)
    assert np.abs(found / own - 1).max() < 0.12
    assert np.abs(found - own).sum() / 2 < 0.012
    assert np.abs(found - other).sum() / 2 > 0.2


def test_the_layers_are_the_samplers() -> None:
    network = double(CARD, {"start": 16, "hops": 2, "steps": 9, "seed": 3})
    signals = {"x": torch.zeros(34, 0, dtype=torch.float64), "edge_index": torch.tensor(listed(CLUB))}
    found = {name: value for name, (_, value) in declared(network, signals).items()}
    assert set(torch.nonzero(found["k_hop"][:, 0])[:, 0].tolist()) == set(nx.ego_graph(CLUB, 16, radius=2))
    for layer, name in (("random_walk", "random"), ("metropolis", "metropolis")):
        walk = WALKS[name](listed(CLUB), 34, 16, 9, np.random.default_rng(3))
        assert set(torch.nonzero(found[layer][:, 0])[:, 0].tolist()) == set(walk.tolist())
        assert float(found[f"{layer}_visits"].sum()) == pytest.approx(1)
        kept = set(walk.tolist())
        inside = [a in kept and b in kept for a, b in listed(CLUB).T.tolist()]
        assert found[f"{layer}_edges"][:, 0].bool().tolist() == inside
        assert network.get_submodule(layer).marks and network.get_submodule("k_hop").marks


def test_another_seed_is_another_walk() -> None:
    x, index = torch.zeros(34, 0), torch.tensor(listed(CLUB))
    assert not torch.equal(double(CARD)(x, index), double(CARD, {"seed": 1})(x, index))
    assert torch.equal(double(CARD)(x, index), double(CARD)(x, index))
