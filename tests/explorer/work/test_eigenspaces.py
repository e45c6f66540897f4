"""Eigenvectors by a rule: no processor's choice is left in them, and none is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import block_diag, csr_array, diags

from explorer.data.finding import find_sample
from explorer.spaces.graph.analysis.laplacian import laplacian
from explorer.spaces.graph.analysis.spectrum import eigenpairs, low_pairs
from explorer.spaces.graph.drawing.layout import springs as graph_layout
from explorer.spaces.graph.drawing.layout.axes import axes_of_spread, upright
from explorer.spaces.graph.drawing.layout.springs import layout
from explorer.spaces.graph.drawing.pairs.orders import fiedler_order
from explorer.spaces.graph.samples.point_clouds import nearest
from explorer.spaces.mesh.elements.reshaping import bent
from explorer.spaces.mesh.surface import Surface
from explorer.work import eigenspaces
from explorer.work.eigenspaces import (
    DENSE,
    Factors,
    basis_by_rule,
    by_rule,
    first_largest,
    levels,
    lowest,
    ranks,
    signed,
)
from tests.processors.other_processor import pretend, turned

Array = NDArray[np.float64]


def edges_of(graph: nx.Graph) -> NDArray[np.int64]:
    pairs = np.array(nx.convert_node_labels_to_integers(graph).edges).T
    return np.concatenate([pairs, pairs[::-1]], axis=1)


def dense(graph: nx.Graph) -> tuple[Array, Array]:
    values, vectors = np.linalg.eigh(laplacian(edges_of(graph), len(graph)).toarray())
    return values, vectors


TORUS = nx.grid_2d_graph(6, 6, periodic=True)
SYMMETRIC = [nx.cycle_graph(9), nx.star_graph(7), nx.complete_graph(8), nx.balanced_tree(2, 4), TORUS, nx.path_graph(8)]


# The rule.


@pytest.mark.parametrize("graph", SYMMETRIC)
@pytest.mark.parametrize("seed", range(3))
def test_any_basis_of_an_eigenspace_gives_the_same_one(graph: nx.Graph, seed: int) -> None:
    values, vectors = dense(graph)
    chosen = by_rule(values, vectors, 2.0)
    np.testing.assert_allclose(by_rule(values, turned(values, vectors, seed), 2.0), chosen, atol=1e-12)
    np.testing.assert_allclose(chosen.T @ chosen, np.eye(len(graph)), atol=1e-12)
    whole = laplacian(edges_of(graph), len(graph)).toarray()
    np.testing.assert_allclose(whole @ chosen, chosen * values, atol=1e-12)


def test_on_a_ring_the_rule_chooses_waves_that_begin_at_the_first_node() -> None:
    n, values, vectors = 12, *dense(nx.cycle_graph(12))
    chosen = by_rule(values, vectors, 2.0)
    wave = 2 * np.pi * np.arange(n) / n
    np.testing.assert_allclose(chosen[:, 1], np.cos(wave) * np.sqrt(2 / n), atol=1e-12)
    np.testing.assert_allclose(chosen[:, 2], np.sin(wave) * np.sqrt(2 / n), atol=1e-12)


def test_the_rule_follows_a_space_that_is_turned_a_little() -> None:
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((50, 4)))[0]
    near = np.linalg.qr(basis + 1e-9 * np.random.default_rng(1).standard_normal((50, 4)))[0]
    assert np.abs(basis_by_rule(near) - basis_by_rule(basis)).max() < 1e-7


def test_entries_that_rounding_alone_tells_apart_are_equally_large() -> None:
    vectors = np.array([[0.5, 0.1], [-0.5, -0.7], [0.5, 0.7]])
    for seed in range(5):
        noisy = vectors + 1e-15 * np.random.default_rng(seed).standard_normal(vectors.shape)
        assert first_largest(noisy).tolist() == [0, 1]
        np.testing.assert_allclose(signed(-noisy), vectors * [1, -1], atol=1e-12)
    assert signed(np.zeros((3, 0))).shape == (3, 0) and signed(np.zeros((0, 0))).shape == (0, 0)
    np.testing.assert_array_equal(signed(np.zeros((3, 2))), np.zeros((3, 2)))


def test_values_cluster_and_keep_their_places() -> None:
    assert ranks(np.array([2.0, 1.0, 2.0 + 1e-12, 0.0]), 1e-9).tolist() == [2, 1, 2, 0]
    assert ranks(np.zeros(0), 1e-9).tolist() == []
    # the slow waves of a long path are no level, close to 0 and to each other as they are
    assert len(set(levels(1 - np.cos(np.pi * np.arange(9) / 100_000), 2.0).tolist())) == 9


# None is missing.


def shapes_of(name: str) -> Surface:
    signals = find_sample(name).signals
    return Surface(np.asarray(signals["position"].values, np.float64), np.asarray(signals["faces"].values))


@pytest.mark.parametrize("lost", [1, 2, 5])
def test_what_a_solver_loses_of_an_eigenspace_is_found(lost: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = nx.convert_node_labels_to_integers(nx.hypercube_graph(9))  # spaces of 1, 9, 36, ... vectors
    matrix, search, first = laplacian(edges_of(graph), 512), eigenspaces.Lanczos.search, True
    assert len(graph) > DENSE

    def forgetful(self: eigenspaces.Lanczos, k: int) -> None:
        nonlocal first
        search(self, k + lost if first else k)
        if first:  # the first vector is that of 0, the nine come after it
            self.found, self.inverses = (np.delete(v, np.s_[1 : 1 + lost], -1) for v in (self.found, self.inverses))
        first = False

    monkeypatch.setattr(eigenspaces.Lanczos, "search", forgetful)
    found = lowest(matrix, 10 - lost, 0.01, Factors)
    expected = np.repeat([0, 2 / 9, 4 / 9], [1, 9, 36])
    np.testing.assert_allclose(found.values, expected[: len(found.values)], atol=1e-10)
    assert found.whole >= 10 - lost and not first


@pytest.mark.parametrize("k", [1, 4, 10, 11, 30])
def test_the_last_eigenspace_is_whole(k: int) -> None:
    graph = nx.convert_node_labels_to_integers(nx.hypercube_graph(9))
    found = lowest(laplacian(edges_of(graph), 512), k, 0.01, Factors)
    assert k <= found.whole and found.whole in (1, 10, 46, 512) and len(found.values) >= found.whole
    vectors = dense(graph)[1]
    ours, theirs = found.vectors[:, : found.whole], vectors[:, : found.whole]
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-9)


def test_a_space_too_large_to_be_whole_says_so() -> None:
    pair = csr_array(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    found = lowest(block_diag([pair] * 400), 10, 0.01, Factors)  # 0 and 2, 400 times each
    assert found.whole == 0 and len(found.values) >= 10 and np.abs(found.values).max() < 1e-9


def test_factors_count_what_lies_below() -> None:
    matrix, order = laplacian(edges_of(nx.grid_2d_graph(9, 11)), 99), np.random.default_rng(0).permutation(99)
    values = np.linalg.eigvalsh(matrix.toarray())
    for shift in (0.01, 0.333, 0.777, 1.4142):
        moved = matrix - shift * csr_array(np.eye(99))
        for factors in (Factors(moved), Factors(moved, order)):
            assert factors.negative() == (values < shift).sum()
            np.testing.assert_allclose(moved @ factors.solve(np.arange(99.0)), np.arange(99.0), atol=1e-8)


# What follows.


def signature(surface: Surface, k: int) -> Array:
    return surface.heat_kernel_signature([0.005, 0.05, 0.5], k)


@pytest.mark.parametrize("name", ["mesh-torus", "mesh-sphere-small"])
@pytest.mark.slow
def test_heat_kernel_signatures_hang_on_no_choice_of_eigenvectors(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cut = {"mesh-torus": (98, 99, 100), "mesh-sphere-small": (97, 98, 99)}[name]  # some within an eigenspace
    expected = [signature(shapes_of(name), k) for k in cut]
    ours = eigenspaces.by_rule
    monkeypatch.setattr(eigenspaces, "by_rule", lambda values, u, size: turned(values, ours(values, u, size), 5))
    for k, signatures in zip(cut, expected, strict=True):
        np.testing.assert_allclose(signature(shapes_of(name), k), signatures, rtol=1e-9)


@pytest.mark.slow
def test_heat_kernel_signatures_change_little_where_the_surface_does() -> None:
    surface = shapes_of("mesh-torus")
    before = signature(surface, 100)  # the 100th and the 101st eigenvalue are one
    for degrees, most in ((1e-6, 1e-6), (0.01, 1e-3)):
        after = signature(Surface(bent(surface.vertices, degrees), surface.faces), 100)
        assert np.abs(after / before - 1).max() < most


@pytest.mark.parametrize("gauge", ["principal", "gradient"])
@pytest.mark.parametrize("name", ["mesh-torus", "mesh-sphere-small", "sheet", "cone"])
def test_gauges_of_symmetric_surfaces_do_not_follow_rounding(name: str, gauge: str) -> None:
    surface = shapes_of(name)
    rng = np.random.default_rng(0)
    nudged = surface.vertices * (1 + 2e-16 * rng.integers(-1, 2, surface.vertices.shape))
    turns = [Surface(v, surface.faces, gauge).shape.rule_turn(gauge) for v in (surface.vertices, nudged)]
    assert np.abs(np.exp(1j * turns[0]) - np.exp(1j * turns[1])).max() < 1e-5


def same_for_every_processor(made: Callable[[], Array], atol: float = 1e-9) -> None:
    found = []
    for seed in range(4):
        with pytest.MonkeyPatch.context() as patch:
            pretend(patch, seed)
            found.append(np.asarray(made()))
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=0, atol=atol)


@pytest.mark.parametrize("graph", SYMMETRIC)
def test_spectra_and_spectral_orders_are_the_same_everywhere(graph: nx.Graph) -> None:
    edges, n = edges_of(graph), len(graph)
    same_for_every_processor(lambda: eigenpairs(edges, n)[1])
    same_for_every_processor(lambda: eigenpairs(edges, n, 3)[1])
    same_for_every_processor(lambda: fiedler_order(n, edges))


@pytest.mark.slow
def test_a_large_graph_has_whole_eigenspaces_or_those_of_its_first_parts() -> None:
    cube = edges_of(nx.hypercube_graph(11))
    values, vectors = low_pairs(cube, 2048, 64)  # spaces of 1, 11, 55 vectors
    assert values.shape == (12,) and vectors.shape == (2048, 12)
    same_for_every_processor(lambda: low_pairs(cube, 2048, 64)[1], 1e-7)
    ring = edges_of(nx.cycle_graph(40))
    many = np.concatenate([ring + 40 * k for k in range(50)], axis=1)
    values, vectors = low_pairs(many, 2000, 8)
    assert len(values) == 8 and (values < 1e-9).all()
    assert [np.flatnonzero(v).tolist() for v in vectors.T] == [list(range(40 * k, 40 * k + 40)) for k in range(8)]


# Pictures.


def test_places_that_spread_alike_are_turned_by_their_nodes() -> None:
    angle = 2 * np.pi * np.arange(16) / 16
    ring = np.stack([np.cos(angle), np.sin(angle)], 1)
    cube = np.stack(np.meshgrid([-1.0, 1], [-1.0, 1], [-1.0, 1]), -1).reshape(-1, 3)
    same_for_every_processor(lambda: upright(ring))
    same_for_every_processor(lambda: axes_of_spread(cube))
    noise = 1e-14 * np.random.default_rng(0).standard_normal(ring.shape)
    np.testing.assert_allclose(upright(ring + noise), upright(ring), atol=1e-9)
    assert np.abs(upright(ring)[0] - [1, 0]).max() < 1e-9
    np.testing.assert_allclose(axes_of_spread(cube), np.eye(3), atol=1e-9)
    long = np.random.default_rng(1).standard_normal((40, 2)) * [1, 5]
    spread = upright(long).var(0)
    assert spread[0] > 5 * spread[1]


@pytest.mark.parametrize("name", ["ring-16", "wl-rook", "knn-torus", "tree"])
def test_layouts_are_the_same_everywhere(name: str) -> None:
    sample = find_sample(name)
    edges, nodes = np.asarray(sample.signals["edge_index"].values), len(sample.x.values)
    places = sample.signals["position"].values if "position" in sample.signals else None
    same_for_every_processor(lambda: layout(edges, nodes, positions=places), 1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("graph", [nx.les_miserables_graph(), nx.random_labeled_tree(3000, seed=1)])
def test_the_last_digits_do_not_grow_into_another_layout(graph: nx.Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    edges, nodes = edges_of(graph), len(graph)
    expected, chance = layout(edges, nodes), np.random.default_rng(0)

    def noisy(function: Callable[..., Array]) -> Callable[..., Array]:
        def other(*values: Array) -> Array:
            found = function(*values)
            return found * (1 + 1e-15 * chance.standard_normal(found.shape))

        return other

    graph_layout.springs.cache_clear()
    monkeypatch.setattr(graph_layout, "push_by_grid", noisy(graph_layout.push_by_grid))
    monkeypatch.setattr(np, "cos", noisy(np.cos))
    np.testing.assert_allclose(layout(edges, nodes), expected, rtol=0, atol=1e-4)
    graph_layout.springs.cache_clear()


def test_neighbours_at_equal_distance_are_taken_by_number() -> None:
    grid = np.stack(np.meshgrid(np.arange(6), np.arange(6)), -1).reshape(-1, 2) / 7
    expected = nearest(grid, 3)
    for seed in range(5):
        noise = 1e-15 * np.random.default_rng(seed).standard_normal(grid.shape)
        np.testing.assert_array_equal(nearest(grid + noise, 3), expected)


# A shift inside the spectrum.


def bumpy() -> tuple[csr_array, float]:
    """Return the symmetric Laplacian of a surface without symmetries, and its area."""
    signals = find_sample("body").signals
    surface = Surface(np.asarray(signals["position"].values, np.float64), np.asarray(signals["faces"].values))
    root = diags(1 / np.sqrt(surface.mass))
    return csr_array(root @ surface.shape.laplacian @ root), float(surface.mass.sum())


@pytest.mark.parametrize("off", [1e-3, 0.3, 1.0, 3.0, 1e3])
def test_a_guess_of_the_largest_eigenvalue_changes_nothing_but_the_work(off: float) -> None:
    matrix, area = bumpy()
    solves: list[int] = []
    with_guess: list[int] = []
    expected = lowest(matrix, 60, 1 / area, Factors, solves.append)
    found = lowest(matrix, 60, 1 / area, Factors, with_guess.append, guess=off * expected.values[59])
    np.testing.assert_allclose(found.values, expected.values, atol=1e-9 * expected.values[-1])
    np.testing.assert_allclose(found.vectors[:, :60], expected.vectors[:, :60], atol=1e-7)
    assert found.whole == expected.whole
    if off == 1.0:
        assert len(with_guess) < 0.85 * len(solves)


@pytest.mark.parametrize("k", [10, 30, 46])
def test_an_eigenspace_that_a_block_does_not_hold_is_whole_with_a_guess_too(k: int) -> None:
    graph = nx.convert_node_labels_to_integers(nx.hypercube_graph(9))  # spaces of 1, 9, 36, 84, ... vectors
    found = lowest(laplacian(edges_of(graph), 512), k, 0.01, Factors, guess=0.5)
    expected = np.repeat([0, 2 / 9, 4 / 9, 6 / 9], [1, 9, 36, 84])
    np.testing.assert_allclose(found.values[: found.whole], expected[: found.whole], atol=1e-10)
    assert k <= found.whole


# What falls into parts.


@pytest.mark.parametrize("guess", [0.0, 0.3])
def test_parts_have_the_eigenvectors_of_the_whole(guess: float) -> None:
    parts = [
        nx.grid_2d_graph(23, 19),
        nx.cycle_graph(40),
        nx.grid_2d_graph(30, 41),
        nx.cycle_graph(40),
        nx.path_graph(1),
    ]
    graph = nx.convert_node_labels_to_integers(
        nx.disjoint_union_all([nx.convert_node_labels_to_integers(p) for p in parts])
    )
    n = len(graph)
    mixed = np.random.default_rng(0).permutation(n)
    matrix = csr_array(laplacian(edges_of(graph), n))[mixed][:, mixed]
    order = np.random.default_rng(1).permutation(n)
    found = lowest(matrix, 30, 0.01, Factors, guess=guess, order=order)
    values, vectors = np.linalg.eigh(matrix.toarray())
    assert found.whole >= 30 and (found.values[:5] < 1e-9).all() and found.values[5] > 1e-6
    np.testing.assert_allclose(found.values[: found.whole], values[: found.whole], atol=1e-9)
    ours, theirs = found.vectors[:, : found.whole], by_rule(values, vectors, 2.0)[:, : found.whole]
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-7)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_no_search_in_the_whole_looks_for_a_vector_of_each_part() -> None:
    ring = laplacian(edges_of(nx.cycle_graph(500)), 500)
    sizes: set[int] = set()

    def factor(matrix: Any, order: NDArray[np.int64] | None) -> Factors:
        sizes.add(matrix.shape[0])
        return Factors(matrix, order)

    found = lowest(csr_array(block_diag([ring] * 6)), 8, 0.01, factor)
    assert (found.values[:6] < 1e-9).all() and found.values[6] > 1e-6
    assert sizes == {500}  # one of 40 parts took minutes
