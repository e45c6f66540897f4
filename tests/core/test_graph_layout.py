"""Layouts: as good as networkx's, alike for the same seed, and right for graphs that are hardly graphs."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path
from scipy.spatial import cKDTree, procrustes
from sklearn.metrics import adjusted_rand_score

from explorer import graph_layout
from explorer.graph_layout import communities, layout, layout_steps


def index_of(graph: nx.Graph) -> tuple[np.ndarray, int]:
    graph = nx.convert_node_labels_to_integers(graph)
    pairs = np.array(list(graph.edges()), np.int64).reshape(-1, 2)
    return np.concatenate([pairs, pairs[:, ::-1]]).T, graph.number_of_nodes()


def stress(graph: nx.Graph, places: np.ndarray) -> float:
    """Return the normalised stress of Gansner et al. (GD 2004): distances drawn against distances in the graph."""
    hops = shortest_path(nx.to_scipy_sparse_array(graph), unweighted=True)
    apart = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    weight = np.where(hops > 0, 1 / np.maximum(hops, 1) ** 2, 0)
    scale = (weight * hops * apart).sum() / (weight * apart**2).sum()
    return float((weight * (hops - scale * apart) ** 2).sum() / (weight * hops**2).sum())


@pytest.mark.parametrize("graph", [nx.karate_club_graph(), nx.les_miserables_graph(), nx.balanced_tree(2, 4)])
def test_a_small_graph_is_as_true_to_its_distances_as_networkx(graph: nx.Graph) -> None:
    theirs = nx.kamada_kawai_layout(graph, weight=None)
    mine = layout(*index_of(graph))
    assert stress(graph, mine) <= 1.15 * stress(graph, np.array([theirs[v] for v in graph]))


def test_a_large_grid_is_unfolded() -> None:
    graph = nx.grid_2d_graph(40, 40)
    assert graph.number_of_nodes() > graph_layout.SMALL
    true = np.array(list(graph.nodes()), float)
    assert procrustes(true, layout(*index_of(graph)))[2] < 0.03


def test_a_large_graph_is_as_true_to_its_distances_as_networkx() -> None:
    graph = nx.connected_watts_strogatz_graph(700, 6, 0.03, seed=1)
    theirs = nx.spring_layout(graph, seed=0, method="force")
    mine = layout(*index_of(graph))
    assert stress(graph, mine) <= stress(graph, np.array([theirs[v] for v in graph]))


def test_communities_stay_together() -> None:
    inner = [[0.05 if i == j else 0.001 for j in range(4)] for i in range(4)]
    graph = nx.stochastic_block_model([300] * 4, inner, seed=0)
    block = np.repeat(np.arange(4), 300)
    edges, n = index_of(graph)
    near = cKDTree(places := layout(edges, n)).query(places, k=6)[1][:, 1:]
    assert (block[near] == block[:, None]).mean() > 0.93
    assert adjusted_rand_score(block, communities(edges, n)) > 0.97


@pytest.mark.parametrize("graph", [nx.karate_club_graph(), nx.random_regular_graph(3, 900, seed=0)])
def test_the_seed_decides(graph: nx.Graph) -> None:
    edges, n = index_of(graph)
    first = layout(edges, n, seed=3)
    assert np.array_equal(first, layout(edges, n, seed=3))
    if n > graph_layout.SMALL:
        assert not np.array_equal(first, layout(edges, n, seed=4))


def test_copies_loops_and_directions_do_not_matter() -> None:
    edges, n = index_of(nx.karate_club_graph())
    odd = np.concatenate([edges[:, : edges.shape[1] // 2], edges[:, :20], [[0, 3], [0, 3]]], axis=1)
    assert np.allclose(layout(edges, n), layout(odd, n), atol=1e-5)


def test_parts_lie_side_by_side() -> None:
    parts = [nx.karate_club_graph(), nx.cycle_graph(12), nx.path_graph(5), nx.grid_2d_graph(25, 25), nx.empty_graph(7)]
    edges, n = index_of(nx.disjoint_union_all([nx.convert_node_labels_to_integers(p) for p in parts]))
    places, start = layout(edges, n), 0
    boxes = []
    for part in parts:
        mine = places[start : start + len(part)]
        start += len(part)
        boxes.append((mine.min(axis=0), mine.max(axis=0)))
    for i, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:i]:
            assert (high < other_low).any() or (low > other_high).any(), "two parts overlap"
    assert np.unique(places, axis=0).shape == places.shape


def test_places_of_the_data_are_kept() -> None:
    rng = np.random.default_rng(0)
    edges, given_ = np.array([[0, 1, 2], [1, 2, 3]]), rng.standard_normal((4, 2))
    scale = np.ptp(layout(edges, 4, positions=given_), axis=0) / np.ptp(given_, axis=0)
    assert scale[0] == pytest.approx(scale[1]), "the picture may be larger, but not distorted or turned"
    assert procrustes(given_, layout(edges, 4, positions=given_))[2] < 1e-10


def test_of_a_flat_cloud_in_space_the_plane_is_seen() -> None:
    rng = np.random.default_rng(1)
    flat = rng.standard_normal((30, 2)) * [3, 1]
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    places = layout(np.zeros((2, 0), np.int64), 30, positions=np.pad(flat, ((0, 0), (0, 1))) @ turn)
    assert procrustes(flat, places)[2] < 1e-10


def test_a_node_without_a_place_goes_to_its_neighbours() -> None:
    given_ = np.array([[0, 0], [2, 0], [np.nan, 0]], float)
    places = layout(np.array([[0, 1], [2, 2]]), 3, positions=given_)
    assert np.allclose(places[2], (places[0] + places[1]) / 2)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_nodes_alone_have_places_of_their_own(n: int) -> None:
    places = layout(np.zeros((2, 0), np.int64), n)
    assert places.shape == (n, 2) and places.dtype == np.float32
    assert len(np.unique(places, axis=0)) == n


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 30), st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29)), max_size=60))
def test_any_graph_has_finite_places(n: int, pairs: list[tuple[int, int]]) -> None:
    edges = np.array([(a % n, b % n) for a, b in pairs], np.int64).reshape(-1, 2).T
    places = layout(edges, n)
    assert places.shape == (n, 2) and np.isfinite(places).all()
    assert communities(edges, n).shape == (n,)


def test_the_grid_repels_as_the_pairs_do() -> None:
    rng = np.random.default_rng(0)
    places, mass = rng.standard_normal((3000, 2)), rng.random(3000) + 0.5
    apart = places[:, None] - places[None]
    square = (apart**2).sum(-1)
    np.fill_diagonal(square, np.inf)
    true = mass[:, None] * (mass[None, :, None] * apart / square[..., None]).sum(axis=1)
    found = graph_layout._mesh(places, mass)
    assert np.linalg.norm(found - true) / np.linalg.norm(true) < 0.1
    assert np.corrcoef(found.ravel(), true.ravel())[0, 1] > 0.995


def test_no_two_suns_are_neighbours_and_each_planet_has_one() -> None:
    graph = nx.barabasi_albert_graph(2000, 3, seed=0)
    matrix = graph_layout._adjacency(*index_of(graph))
    sun = graph_layout._suns(matrix, np.random.default_rng(0))
    count = int(sun.max()) + 1
    assert np.array_equal(np.unique(sun), np.arange(count)) and count < 1200
    for members in (np.flatnonzero(sun == k) for k in range(0, count, 40)):
        whole = graph.subgraph(members.tolist())
        assert max((d for _, d in whole.degree()), default=0) == len(members) - 1, "a sun is next to all its planets"


def test_rough_places_come_first_and_the_last_are_those_of_layout() -> None:
    edges, n = index_of(nx.random_regular_graph(3, 1500, seed=0))
    steps = list(layout_steps(edges, n))
    assert len(steps) > 3
    assert np.array_equal(steps[-1], layout(edges, n))
    assert all(one.shape == (n, 2) for one in steps)
