"""Layouts: as good as networkx's, alike for the same seed, and right for graphs that are hardly graphs."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path
from scipy.spatial import cKDTree, procrustes
from sklearn.metrics import adjusted_rand_score

from explorer.spaces.graph.drawing.layout import springs as graph_layout
from explorer.spaces.graph.drawing.layout.packing import disc
from explorer.spaces.graph.drawing.layout.springs import communities, layout, layout_steps


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


@pytest.mark.parametrize(
    "graph",
    [nx.star_graph(120), nx.random_powerlaw_tree(200, seed=3, tries=10_000), nx.gnp_random_graph(500, 0.01, seed=0),
     nx.complete_graph(60), nx.barabasi_albert_graph(300, 2, seed=1)],
)  # fmt: skip
def test_no_node_of_a_small_graph_lies_on_another(graph: nx.Graph) -> None:
    places = layout(*index_of(graph))
    room = np.sqrt(np.ptp(places, axis=0).prod() / len(places))
    nearest = cKDTree(places).query(places, k=2)[0][:, 1].min()
    assert nearest > 0.44 * room, "two discs of the usual size fit side by side"


def test_a_large_grid_is_unfolded() -> None:
    graph = nx.grid_2d_graph(40, 40)
    assert graph.number_of_nodes() > graph_layout.SMALL
    true = np.array(list(graph.nodes()), float)
    assert procrustes(true, layout(*index_of(graph)))[2] < 0.03


@pytest.mark.slow
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


@pytest.mark.parametrize("axes", [2, 3])
@pytest.mark.parametrize("exponent", [-1060, -1000, -200, 200, 1000, 1022])
def test_places_of_the_data_are_kept_in_any_unit(axes: int, exponent: int) -> None:
    """Squares of 1e300 are no numbers, of which LAPACK says that eigenvalues do not converge."""
    rng = np.random.default_rng(0)
    there = np.round(rng.uniform(-1, 1, (9, axes)), 2)
    there[4] = np.nan
    there[5] = np.inf
    edges = np.array([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6]])
    # what is smaller than the least normal number has lost digits
    least = 1e-3 if exponent < -1022 else 1e-6
    assert np.allclose(
        layout(edges, 9, positions=np.ldexp(there, exponent)), layout(edges, 9, positions=there), atol=least
    )


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


def joined(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    return np.stack([np.r_[start, end], np.r_[end, start]]).astype(np.int64)


def drawn_by_chance(n: int, pairs: int, seed: int = 0) -> tuple[np.ndarray, int]:
    return joined(*np.random.default_rng(seed).integers(0, n, (2, pairs))), n


LONG = {"ten thousand parts", "five edges a node, 100000"}


def extremes() -> dict[str, tuple[np.ndarray, int]]:
    star = {n: (joined(np.zeros(n - 1, int), np.arange(1, n)), n) for n in (500, 501, 10_000)}
    path = {n: (joined(np.arange(n - 1), np.arange(1, n)), n) for n in (500, 501, 10_000)}
    whole = {n: (joined(*np.triu_indices(n, 1)), n) for n in (500, 501)}
    across = np.indices((20, 800)).reshape(2, -1)
    rng_copies, n_copies = drawn_by_chance(600, 1500)
    thirds = np.arange(30_000)
    return {
        **{f"star of {n}": g for n, g in star.items()}, **{f"path of {n}": g for n, g in path.items()},
        **{f"complete graph of {n}": g for n, g in whole.items()},
        "complete bipartite": (joined(across[0], across[1] + 20), 820),
        "a hub beside a path": (np.concatenate([star[10_000][0], path[10_000][0]], 1), 10_000),
        "isolated nodes": (np.zeros((2, 0), np.int64), 100_000), "self-loops": (np.stack([np.arange(600)] * 2), 600),
        "copies": (np.repeat(rng_copies, 4, axis=1), n_copies),
        "ten thousand parts": (joined(thirds, thirds // 3 * 3 + (thirds + 1) % 3), 30_000),
        **{f"sparse, {n}": drawn_by_chance(n, n) for n in (500, 501, 5000)},
        **{f"dense, {n}": drawn_by_chance(n, 100 * n) for n in (500, 501, 5000)},
        "five edges a node, 100000": drawn_by_chance(100_000, 500_000),
    }  # fmt: skip


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow if n in LONG else ()) for n in extremes()])
@pytest.mark.slow
def test_extremes_have_finite_places_of_their_own(name: str) -> None:
    edges, n = extremes()[name]
    places = layout(edges, n, seconds=1.0)
    assert places.shape == (n, 2) and np.isfinite(places).all()
    assert len(np.unique(places, axis=0)) == n
    if n <= 5000:
        assert np.array_equal(places, layout(edges, n, seconds=1.0))


@settings(max_examples=25, deadline=None)
@given(st.integers(501, 900), st.sampled_from([0.5, 1, 3, 40]), st.integers(0, 3), st.integers(0, 2**32))
@pytest.mark.slow
def test_any_larger_graph_has_finite_places(n: int, degree: float, hubs: int, seed: int) -> None:
    edges, _ = drawn_by_chance(n, int(n * degree), seed)
    for hub in range(hubs):
        edges = np.concatenate([edges, joined(np.full(n, hub), np.arange(n))], axis=1)
    places = layout(edges, n, seconds=0.1)
    assert np.isfinite(places).all() and len(np.unique(places, axis=0)) == n


@pytest.mark.parametrize("with_places", [False, True])
def test_graphs_of_a_batch_stand_apart_in_their_order(with_places: bool) -> None:
    parts = [nx.cycle_graph(6), nx.disjoint_union(nx.complete_graph(3), nx.complete_graph(3)), nx.path_graph(9)]
    edges, n = index_of(nx.disjoint_union_all(parts))
    graph_of = np.repeat([0, 1, 2], [6, 6, 9])
    given_ = np.random.default_rng(0).standard_normal((n, 2)) if with_places else None
    places = layout(edges, n, positions=given_, graph_of=graph_of)
    boxes = [(places[graph_of == k].min(axis=0), places[graph_of == k].max(axis=0)) for k in range(3)]
    for (_, right), (left, _) in itertools.pairwise(boxes):
        assert right[0] < left[0], "from left to right"
    if given_ is not None:
        for k in range(3):
            assert procrustes(given_[graph_of == k], places[graph_of == k])[2] < 1e-9


def test_a_solid_cloud_stands_upright() -> None:
    rng = np.random.default_rng(0)
    cloud = rng.uniform(-1, 1, (300, 3)) * [4.0, 2.0, 1.0]  # lies on its largest side: what it stands on is told by z
    places = layout(np.zeros((2, 0), np.int64), 300, positions=cloud)
    assert np.corrcoef(places[:, 0], cloud[:, 2])[0, 1] == pytest.approx(0, abs=0.15)
    fit = np.linalg.lstsq(cloud, places[:, 1] - places[:, 1].mean(), rcond=None)[0]
    assert fit[2] > max(abs(fit[0]), abs(fit[1])), "up is up"


def test_a_disc_has_a_place_for_each_node() -> None:
    places = disc(2000)
    near = cKDTree(places).query(places, k=2)[0][:, 1]
    assert near.min() > 0.5 and near.max() < 1.3
    assert disc(0).shape == (0, 2)


@pytest.mark.slow
def test_the_grid_repels_as_the_pairs_do() -> None:
    rng = np.random.default_rng(0)
    places, mass = rng.standard_normal((3000, 2)), rng.random(3000) + 0.5
    apart = places[:, None] - places[None]
    square = (apart**2).sum(-1)
    np.fill_diagonal(square, np.inf)
    true = mass[:, None] * (mass[None, :, None] * apart / square[..., None]).sum(axis=1)
    found = graph_layout.push_by_grid(places, mass)
    assert np.linalg.norm(found - true) / np.linalg.norm(true) < 0.1
    assert np.corrcoef(found.ravel(), true.ravel())[0, 1] > 0.995


def test_no_two_suns_are_neighbours_and_each_planet_has_one() -> None:
    graph = nx.barabasi_albert_graph(2000, 3, seed=0)
    matrix = graph_layout.adjacency(*index_of(graph))
    sun = graph_layout.suns(matrix, np.random.default_rng(0))
    count = int(sun.max()) + 1
    assert np.array_equal(np.unique(sun), np.arange(count)) and count < 1200
    for members in (np.flatnonzero(sun == k) for k in range(0, count, 40)):
        whole = graph.subgraph(members.tolist())
        assert max((d for _, d in whole.degree()), default=0) == len(members) - 1, "a sun is next to all its planets"


@pytest.mark.slow
def test_rough_places_come_first_and_the_last_are_those_of_layout() -> None:
    edges, n = index_of(nx.random_regular_graph(3, 1500, seed=0))
    steps = list(layout_steps(edges, n))
    assert len(steps) > 3
    assert np.array_equal(steps[-1], layout(edges, n))
    assert all(one.shape == (n, 2) for one in steps)
