"""Row S2: encodings are torch_geometric's, obey the permutation law where mathematics lets them, are Fourier modes."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from explorer.work.eigenspaces import DENSE
from models.layers.graph.positions import (
    ENCODINGS,
    LaplacianPositions,
    NoPositions,
    RandomWalkPositions,
    SinusoidalPositions,
    determined,
    eigenvectors,
    fourier_basis,
    laplacian_vectors,
    ring,
    sinusoids,
    with_fixed_signs,
)
from models.layers.graph.structure import normalised_laplacian, random_walk
from tests.models.graphs.relabelling import Signals, relabelled
from tests.processors.other_processor import pretend

K = 8


def edges_of(graph: nx.Graph) -> np.ndarray:
    pairs = np.array(graph.edges).T
    return np.concatenate([pairs, pairs[::-1]], axis=1)


def one(graph: nx.Graph) -> Signals:
    n = graph.number_of_nodes()
    return {
        "x": torch.ones(n, 1, dtype=torch.float64),
        "edge_index": torch.tensor(edges_of(graph)),
        "batch": torch.zeros(n, dtype=torch.int64),
    }


def connected(nodes: int, seed: int) -> nx.Graph:
    """Return a random graph on a ring, which keeps it in one piece."""
    return nx.compose(nx.cycle_graph(nodes), nx.gnp_random_graph(nodes, 0.25, seed=seed))


def permute(graph: Signals, seed: int) -> tuple[Signals, torch.Tensor]:
    """Number the nodes anew; also return which node of old each new one is."""
    rng = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(graph["x"]), generator=rng)
    listed = torch.randperm(graph["edge_index"].shape[1], generator=rng)
    return relabelled(graph, order, listed), torch.argsort(order)


def encode(module: NoPositions, graph: Signals) -> torch.Tensor:
    return module(graph["x"], graph["edge_index"], graph["batch"])


def data(edges: np.ndarray, nodes: int):  # type: ignore[no-untyped-def]
    from torch_geometric.data import Data

    return Data(edge_index=torch.tensor(edges), num_nodes=nodes)


@pytest.mark.parametrize("directed", [False, True])
def test_random_walks_are_torch_geometrics(directed: bool) -> None:
    from torch_geometric.transforms import AddRandomWalkPE

    g = nx.gnp_random_graph(15, 0.2, seed=1, directed=directed)
    graph = one(g) if not directed else one(g) | {"edge_index": torch.tensor(list(g.edges)).T}
    theirs = AddRandomWalkPE(K)(data(graph["edge_index"].numpy(), 15)).random_walk_pe
    ours = encode(RandomWalkPositions(K), graph)
    torch.testing.assert_close(ours.float(), theirs, rtol=0, atol=1e-6)


@pytest.mark.parametrize("steps", [1, 4, 7])
def test_random_walks_are_diagonals_of_powers(steps: int) -> None:
    g = nx.karate_club_graph()
    a = nx.to_numpy_array(g, weight=None)
    walk = a / a.sum(1, keepdims=True)
    expected = np.stack([np.diag(np.linalg.matrix_power(walk, k)) for k in range(1, steps + 1)], axis=1)
    np.testing.assert_allclose(random_walk(edges_of(g), len(g), steps), expected, rtol=0, atol=1e-14)


def test_a_walk_from_nowhere_never_returns() -> None:
    back = random_walk(np.array([[0, 1], [1, 0]]), 3, 4)
    np.testing.assert_array_equal(back, [[0, 1, 0, 1], [0, 1, 0, 1], [0, 0, 0, 0]])


@pytest.mark.parametrize(
    "graph", [nx.karate_club_graph(), nx.les_miserables_graph(), nx.barabasi_albert_graph(DENSE + 50, 3, seed=1)]
)
def test_laplacian_eigenvectors_are_torch_geometrics_up_to_sign(graph: nx.Graph) -> None:
    from torch_geometric.transforms import AddLaplacianEigenvectorPE

    graph = nx.convert_node_labels_to_integers(graph)
    edges, n, k = edges_of(graph), len(graph), 4
    theirs = AddLaplacianEigenvectorPE(k, is_undirected=True)(data(edges, n)).laplacian_eigenvector_pe.numpy()
    ours = laplacian_vectors(edges, n, k)
    alone = np.diff(eigenvectors(edges, n, k + 2)[0])
    assert (alone > 1e-4).all()  # simple eigenvalues, so that the comparison is one of vectors
    cosines = np.abs((ours * theirs).sum(0))
    np.testing.assert_allclose(cosines, 1, rtol=0, atol=1e-5)  # theirs are float32


def test_the_laplacian_is_networkx_and_forgets_loops_and_directions() -> None:
    g = nx.karate_club_graph()
    edges = edges_of(g)
    expected = nx.normalized_laplacian_matrix(g, weight=None).toarray()
    np.testing.assert_allclose(normalised_laplacian(edges, len(g)).toarray(), expected, rtol=0, atol=1e-14)
    looped = np.concatenate([edges, [[3, 4], [3, 4]]], axis=1)
    np.testing.assert_allclose(normalised_laplacian(looped, len(g)).toarray(), expected, rtol=0, atol=1e-14)
    half = edges[:, : edges.shape[1] // 2]  # every edge once
    np.testing.assert_allclose(normalised_laplacian(half, len(g)).toarray(), expected, rtol=0, atol=1e-14)


def test_sparse_and_dense_solvers_agree() -> None:
    n = DENSE + 60
    edges = edges_of(nx.barabasi_albert_graph(n, 2, seed=3))
    values, vectors = np.linalg.eigh(normalised_laplacian(edges, n).toarray())
    np.testing.assert_allclose(eigenvectors(edges, n, K)[0], values[:K], rtol=0, atol=1e-10)
    dense = with_fixed_signs(edges, n, vectors[:, 1:K])
    np.testing.assert_allclose(laplacian_vectors(edges, n, K - 1), dense, rtol=0, atol=1e-9)


@given(st.integers(0, 1000), st.integers(0, 1000))
@pytest.mark.slow
def test_encodings_obey_the_permutation_law_where_the_graph_determines_them(seed: int, order: int) -> None:
    graph = one(connected(11, seed))
    moved, old = permute(graph, order)
    fixed = determined(graph["edge_index"].numpy(), 11, K)
    for module, columns in ((RandomWalkPositions(K), np.ones(K, bool)), (LaplacianPositions(K), fixed)):
        before, after = encode(module, graph)[old], encode(module, moved)
        assert (after - before).abs()[:, torch.tensor(columns)].max().item() < 1e-9


def test_random_graphs_mostly_determine_their_eigenvectors() -> None:
    shares = [determined(edges_of(connected(11, s)), 11, K).mean() for s in range(20)]
    assert np.mean(shares) > 0.9


def test_a_repeated_eigenvalue_leaves_its_vectors_to_chance() -> None:
    n = 9
    assert not determined(ring(n), n, 6).any()  # frequencies of a ring come in pairs
    graph = one(nx.cycle_graph(n))
    moved, old = permute(graph, 5)
    module = LaplacianPositions(6)
    before, after = encode(module, graph)[old], encode(module, moved)
    assert (after - before).abs().max() > 1e-2
    for pair in (slice(0, 2), slice(2, 4), slice(4, 6)):  # but the spaces they span are the graph's
        torch.testing.assert_close(
            after[:, pair] @ after[:, pair].T, before[:, pair] @ before[:, pair].T, rtol=0, atol=1e-12
        )


def test_a_symmetry_that_turns_a_vector_into_its_negative_leaves_its_sign_open() -> None:
    path = edges_of(nx.path_graph(6))
    np.testing.assert_array_equal(determined(path, 6, 5), [False, True, False, True, False])
    vectors = laplacian_vectors(path, 6, 5)
    np.testing.assert_allclose(vectors[::-1, 0], -vectors[:, 0], atol=1e-12)  # the mirror image is the negative


def test_the_sign_rule_does_not_look_at_the_sign() -> None:
    g = nx.karate_club_graph()
    edges, n = edges_of(g), len(g)
    vectors = eigenvectors(edges, n, K)[1][:, 1:]
    flips = np.array([1, -1, -1, 1, -1, 1, -1.0])
    np.testing.assert_array_equal(with_fixed_signs(edges, n, vectors * flips), with_fixed_signs(edges, n, vectors))


def test_laplacian_encodings_of_a_batch_are_those_of_its_graphs() -> None:
    graph = one(nx.disjoint_union(connected(10, 1), connected(10, 2)))
    graph["batch"][10:] = 1
    both = encode(LaplacianPositions(5), graph)
    for g in range(2):
        own = graph["edge_index"][:, graph["edge_index"][0] // 10 == g] - 10 * g
        np.testing.assert_allclose(both[10 * g : 10 * g + 10], laplacian_vectors(own.numpy(), 10, 5), atol=1e-12)


@pytest.mark.parametrize("nodes", [0, 1, 2, 3])
@pytest.mark.parametrize("name", list(ENCODINGS))
def test_small_graphs_have_encodings_of_the_usual_width(name: str, nodes: int) -> None:
    x = torch.ones(nodes, 2)
    edges = torch.tensor([[0, 1], [1, 0]]) if nodes > 1 else torch.zeros(2, 0, dtype=torch.int64)
    found = ENCODINGS[name](K)(x, edges, torch.zeros(nodes, dtype=torch.int64))
    assert found.shape == (nodes, K) and found.dtype == x.dtype and torch.isfinite(found).all()


@pytest.mark.parametrize("nodes", [3, 8, 9, 32])
def test_the_fourier_basis_diagonalises_the_laplacian_of_a_ring(nodes: int) -> None:
    values, basis = fourier_basis(nodes)
    assert basis.shape == (nodes, nodes)
    np.testing.assert_allclose(basis.T @ basis, np.eye(nodes), rtol=0, atol=1e-12)
    laplacian = normalised_laplacian(ring(nodes), nodes).toarray()
    np.testing.assert_allclose(laplacian @ basis, basis * values, rtol=0, atol=1e-12)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(laplacian), rtol=0, atol=1e-12)
    for k in range(nodes // 2 + 1):  # and the columns of a frequency span what numpy's own transform does
        wave = np.fft.ifft(np.eye(nodes)[k])
        own = basis[:, np.isclose(values, 1 - math.cos(2 * math.pi * k / nodes))]
        np.testing.assert_allclose(own @ (own.T @ wave), wave, rtol=0, atol=1e-12)


def test_laplacian_encodings_on_a_ring_are_sinusoids_of_the_position() -> None:
    nodes, frequencies = 17, 2 * np.pi * np.arange(1, 4) / 17
    waves = sinusoids(np.arange(nodes), frequencies) / math.sqrt(nodes / 2)
    vectors = laplacian_vectors(ring(nodes), nodes, 6)
    for pair in (slice(0, 2), slice(2, 4), slice(4, 6)):
        np.testing.assert_allclose(
            vectors[:, pair] @ vectors[:, pair].T, waves[:, pair] @ waves[:, pair].T, rtol=0, atol=1e-11
        )


def test_sinusoids_are_vaswanis_and_depend_on_the_order() -> None:
    graph = one(connected(7, 0))
    found = encode(SinusoidalPositions(K), graph)
    for u in range(7):
        for i in range(K // 2):
            angle = u / 10000 ** (2 * i / K)
            assert found[u, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-12)
            assert found[u, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-12)
    moved, old = permute(graph, 1)
    assert not torch.allclose(encode(SinusoidalPositions(K), moved), found[old], atol=0.1)


def test_results_are_remembered_and_cannot_be_spoilt() -> None:
    edges = ring(12)
    assert random_walk(edges, 12, 3) is random_walk(edges.copy(), 12, 3)
    assert random_walk(edges, 12, 3) is not random_walk(edges, 13, 3)
    with pytest.raises(ValueError, match="read-only"):
        random_walk(edges, 12, 3)[0, 0] = 1.0


@pytest.mark.parametrize(
    "graph",
    [nx.cycle_graph(10), nx.karate_club_graph(), nx.balanced_tree(3, 3), nx.grid_2d_graph(5, 5), nx.path_graph(7)],
)
def test_encodings_are_the_same_on_every_processor(graph: nx.Graph) -> None:
    edges, n = edges_of(nx.convert_node_labels_to_integers(graph)), len(graph)
    made = laplacian_vectors.__wrapped__  # not remembered
    expected, free = made(edges, n, K), determined(edges, n, K)
    for seed in range(1, 5):
        with pytest.MonkeyPatch.context() as patch:
            pretend(patch, seed)
            np.testing.assert_allclose(made(edges, n, K), expected, rtol=0, atol=1e-10)
            np.testing.assert_array_equal(determined.__wrapped__(edges, n, K), free)


def test_an_eigenspace_that_is_cut_is_made_whole_first() -> None:
    edges, n = edges_of(nx.convert_node_labels_to_integers(nx.hypercube_graph(9))), 512
    few, many = laplacian_vectors(edges, n, 4), laplacian_vectors(edges, n, 9)  # the second eigenvalue is there 9 times
    np.testing.assert_allclose(few, many[:, :4], rtol=0, atol=1e-9)
    assert not determined(edges, n, 4).any()


@pytest.mark.slow
def test_an_eigenspace_too_large_to_be_found_is_left_zero() -> None:
    pairs = np.arange(3000).reshape(-1, 2).T
    edges = np.concatenate([pairs, pairs[::-1]], axis=1)  # 1500 parts, and so 0 as many times
    assert not laplacian_vectors(edges, 3000, 4).any() and not determined(edges, 3000, 4).any()
