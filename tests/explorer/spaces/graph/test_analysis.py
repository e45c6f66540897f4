"""Analyses of graphs against closed forms, dense algebra and other people's code."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.spaces.graph.analysis import eigensolver
from explorer.spaces.graph.analysis.distance import hop_distances, jacobian_by_distance, median_by_distance
from explorer.spaces.graph.analysis.energy import bonds, dirichlet, layer_energies, relative_energy
from explorer.spaces.graph.analysis.fourier import (
    energy_per_level,
    filter_response,
    fourier,
    levels,
    mean_rayleigh,
    rayleigh,
)
from explorer.spaces.graph.analysis.influence import influence
from explorer.spaces.graph.analysis.laplacian import laplacian, normalised_adjacency
from explorer.spaces.graph.analysis.refinement import distinguishes, history
from explorer.spaces.graph.analysis.spectrum import eigenpairs, make_spectrum
from explorer.work.progress import Cancelled, listening

LAW = 1e-9


def edges_of(graph: nx.Graph) -> np.ndarray:
    """Return (2, E), both directions of an undirected edge, self-loops once."""
    listed = [(u, v) for u, v in graph.edges()]
    if not graph.is_directed():
        listed += [(v, u) for u, v in graph.edges() if u != v]
    return np.array(listed, dtype=np.int64).reshape(-1, 2).T


def pair_of(one: nx.Graph, two: nx.Graph) -> tuple[np.ndarray, np.ndarray]:
    whole = nx.disjoint_union(nx.convert_node_labels_to_integers(one), nx.convert_node_labels_to_integers(two))
    return edges_of(whole), np.repeat([0, 1], [len(one), len(two)])


@st.composite
def random_graphs(draw) -> tuple[np.ndarray, int, np.ndarray]:
    """Any listed edges, repeated ones, loops, isolated nodes and one-way edges among them, with weights."""
    n = draw(st.integers(1, 12))
    count = draw(st.integers(0, 30))
    ends = st.integers(0, n - 1)
    edges = np.array([[draw(ends), draw(ends)] for _ in range(count)], dtype=np.int64).reshape(-1, 2).T
    weights = np.array([draw(st.floats(0.1, 5.0)) for _ in range(count)])
    return edges, n, weights


def dense_laplacian(edges: np.ndarray, n: int, weights: np.ndarray) -> np.ndarray:
    """The definition, entry by entry."""
    a = np.zeros((n, n))
    for (u, v), w in zip(edges.T, weights):
        a[u, v] += w / 2
        a[v, u] += w / 2
    d = a.sum(1)
    made = np.zeros((n, n))
    for u in range(n):
        for v in range(n):
            made[u, v] = (float(u == v) - a[u, v] / np.sqrt(d[u] * d[v])) if d[u] > 0 and d[v] > 0 else 0.0
    return made


# closed forms -------------------------------------------------------------------------------------------------
def path(n):
    return nx.path_graph(n), 1 - np.cos(np.pi * np.arange(n) / (n - 1))


def cycle(n):
    return nx.cycle_graph(n), 1 - np.cos(2 * np.pi * np.arange(n) / n)


def complete(n):
    return nx.complete_graph(n), np.r_[0, np.full(n - 1, n / (n - 1))]


def star(n):
    return nx.star_graph(n - 1), np.r_[0, np.ones(n - 2), 2]


def torus(n):
    one = np.cos(2 * np.pi * np.arange(n) / n)
    return nx.grid_2d_graph(n, n, periodic=True), (1 - (one[:, None] + one) / 2).ravel()


def hypercube(n):
    from math import comb

    return nx.hypercube_graph(n), np.repeat(2 * np.arange(n + 1) / n, [comb(n, k) for k in range(n + 1)])


@pytest.mark.parametrize("make, n", [(path, 9), (cycle, 10), (cycle, 7), (complete, 6), (star, 8), (torus, 5),
                                     (hypercube, 4)])  # fmt: skip
def test_closed_forms(make, n):
    graph, expected = make(n)
    graph = nx.convert_node_labels_to_integers(graph)
    values, vectors = eigenpairs(edges_of(graph), len(graph))
    np.testing.assert_allclose(values, np.sort(expected), atol=1e-12)
    dense = laplacian(edges_of(graph), len(graph)).toarray()
    np.testing.assert_allclose(dense @ vectors, vectors * values, atol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(graph)), atol=1e-12)


INVERTED = [(path, 1700), (cycle, 1700), (star, 1700), (torus, 40), (hypercube, 11)]
FILTERED = [(star, 1700), (torus, 40), (hypercube, 11)]  # gaps of 1e-6 are what the factorisation is for


@pytest.mark.parametrize(
    "make, n, solver", [(*one, "inverted") for one in INVERTED] + [(*one, "filtered") for one in FILTERED]
)
def test_closed_forms_by_the_sparse_solvers(make, n, solver, monkeypatch):
    monkeypatch.setattr(eigensolver, "PROFILE", np.inf if solver == "inverted" else -1.0)
    graph, expected = make(n)
    graph = nx.convert_node_labels_to_integers(graph)
    edges = edges_of(graph)
    k = 12
    values, vectors = eigenpairs(edges, len(graph), k)
    np.testing.assert_allclose(values, np.sort(expected)[:k], atol=1e-9)
    residual = laplacian(edges, len(graph)) @ vectors - vectors * values
    assert np.linalg.norm(residual, axis=0).max() < 1e-7
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(k), atol=1e-9)


def test_a_grid_is_the_product_of_paths_for_the_plain_laplacian_and_networkx_agrees_for_ours():
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(6, 7))
    expected = np.linalg.eigvalsh(nx.normalized_laplacian_matrix(graph).toarray())
    np.testing.assert_allclose(eigenpairs(edges_of(graph), 42)[0], expected, atol=1e-12)


@pytest.mark.slow
def test_a_random_graph_of_many_parts_has_the_spectrum_of_the_dense_matrix():
    rng = np.random.default_rng(0)
    big = rng.integers(0, 1600, (2, 6000))
    small = 1600 + rng.integers(0, 40, (2, 60))  # some parts, and isolated nodes
    both = np.concatenate([big, small], 1)
    edges = np.concatenate([both, both[::-1]], 1)
    n = 1660
    values, vectors = eigenpairs(edges, n, 60)
    dense = laplacian(edges, n).toarray()
    np.testing.assert_allclose(values, np.linalg.eigvalsh(dense)[:60], atol=1e-8)
    assert np.linalg.norm(dense @ vectors - vectors * values, axis=0).max() < 1e-7
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(60), atol=1e-8)


def test_only_a_graph_with_small_separators_is_factorised(monkeypatch: pytest.MonkeyPatch):
    random = edges_of(nx.gnm_random_graph(2000, 8000, seed=1))
    grid = edges_of(nx.convert_node_labels_to_integers(nx.grid_2d_graph(45, 45)))

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("factorised")

    monkeypatch.setattr("scipy.sparse.linalg.splu", refused)
    assert len(eigenpairs(random, 2000, 4)[0]) == 4
    with pytest.raises(AssertionError, match="factorised"):
        eigenpairs(grid, 2025, 4)


@pytest.mark.parametrize("solver", ["inverted", "polynomial"])
def test_nobody_waits_for_eigenvectors_that_nobody_wants(monkeypatch: pytest.MonkeyPatch, solver: str):
    monkeypatch.setattr(eigensolver, "PROFILE", np.inf if solver == "inverted" else -1.0)
    heard = []

    def enough(text: str, share: float) -> None:
        heard.append(text)
        if len(heard) == 5:
            raise Cancelled

    edges = edges_of(nx.gnm_random_graph(2000, 8000, seed=1))
    with listening(enough), pytest.raises(Cancelled):
        eigenpairs(edges, 2000, 32)
    assert len(heard) == 5 and heard[0].startswith("Eigenvectors of")


def test_many_isolated_nodes_and_too_many_eigenvectors():
    values, vectors = eigenpairs(np.zeros((2, 0), np.int64), 5000, 8)
    assert (values == 0).all() and np.array_equal(vectors.T @ vectors, np.eye(8))
    ring = edges_of(nx.cycle_graph(1600))
    with pytest.raises(ValueError, match="too many"):
        eigenpairs(ring, 1600, 1600)


# conventions --------------------------------------------------------------------------------------------------
@given(random_graphs())
@settings(max_examples=60, deadline=None)
def test_the_laplacian_is_its_definition(given_graph):
    edges, n, weights = given_graph
    dense = dense_laplacian(edges, n, weights)
    np.testing.assert_allclose(laplacian(edges, n, weights).toarray(), dense, atol=1e-12)
    values, _ = eigenpairs(edges, n, None, weights)
    assert values.min() >= 0 and values.max() <= 2
    alone = nx.Graph()
    alone.add_nodes_from(range(n))
    alone.add_edges_from(edges.T.tolist())
    assert int((values < 1e-9).sum()) == nx.number_connected_components(alone)


@given(random_graphs(), st.integers(0, 2**31))
@settings(max_examples=60, deadline=None)
def test_the_energy_is_the_quadratic_form(given_graph, seed):
    edges, n, weights = given_graph
    x = np.random.default_rng(seed).standard_normal((n, 3))
    expected = float(np.trace(x.T @ dense_laplacian(edges, n, weights) @ x))
    on = bonds(edges, n, weights)
    assert dirichlet(x, on) == pytest.approx(expected, abs=LAW)
    assert relative_energy(x, on) == pytest.approx(expected / (x**2).sum(), abs=LAW)
    order = np.random.default_rng(seed).permutation(n)
    moved = np.empty_like(x)
    moved[order] = x
    assert relative_energy(moved, bonds(order[edges], n, weights)) == pytest.approx(expected / (x**2).sum(), abs=LAW)


def test_scaled_constants_have_no_energy_down_to_where_a_difference_of_sums_would_drown():
    edges = edges_of(nx.karate_club_graph())
    degree = np.bincount(edges[0])
    flat = np.sqrt(degree)[:, None] * np.array([1.0, -2.0])
    assert relative_energy(flat, bonds(edges, 34)) < 1e-30
    bent = flat + 1e-10 * np.random.default_rng(0).standard_normal(flat.shape)
    assert 1e-24 < relative_energy(bent, bonds(edges, 34)) < 1e-20
    assert relative_energy(np.ones((34, 1)), bonds(edges, 34)) > 0.01
    augmented = np.sqrt(degree + 1.0)[:, None]
    assert relative_energy(augmented, bonds(edges, 34, self_loops=True)) < 1e-30


def test_energies_of_layers_fall_under_repeated_smoothing_and_odd_fields_are_nan():
    edges = edges_of(nx.karate_club_graph())
    x = np.random.default_rng(0).standard_normal((34, 4))
    lazy = (np.eye(34) + normalised_adjacency(edges, 34).toarray()) / 2
    layers = {"x": x, "one": lazy @ x, "two": lazy @ lazy @ x, "nothing": np.zeros((34, 4)), "bad": x * np.nan}
    found = layer_energies(layers, edges)
    assert list(found) == list(layers)
    assert found["x"] > found["one"] > found["two"] > 0
    assert np.isnan(found["nothing"]) and np.isnan(found["bad"])
    assert layer_energies({}, edges) == {}
    with pytest.raises(ValueError, match="same number of rows"):
        layer_energies({"x": x, "y": x[:5]}, edges)


def test_energy_of_values_too_small_and_too_large_to_be_squared():
    on = bonds(edges_of(nx.path_graph(3)), 3)
    x = np.array([[1.0], [0.0], [2.0]])
    for scale in (1e-200, 1.0, 1e200):
        assert relative_energy(scale * x, on) == pytest.approx(relative_energy(x, on), rel=1e-12)


@pytest.mark.parametrize(
    "edges, weights, said",
    [
        (np.zeros((3, 2), int), None, "must be"),
        (np.array([[0], [9]]), None, "ends at node 9"),
        (np.array([[0], [1]]), np.ones(2), "2 weights for 1"),
        (np.array([[0], [1]]), np.array([-1.0]), "not negative"),
        (np.array([[0], [1]]), np.array([np.nan]), "finite"),
    ],
)
def test_bad_graphs_are_refused(edges, weights, said):
    with pytest.raises(ValueError, match=said):
        eigenpairs(edges, 3, None, weights)


# the Fourier transform ----------------------------------------------------------------------------------------
def test_a_polynomial_filter_has_its_polynomial_as_response():
    edges = edges_of(nx.karate_club_graph())
    x = np.random.default_rng(0).standard_normal((34, 3))
    dense = laplacian(edges, 34).toarray()
    h = x - 0.7 * dense @ x + 0.1 * dense @ dense @ x
    spectrum = make_spectrum(edges, 34, x, h)
    assert not spectrum.partial and spectrum.vectors.shape == (34, 34)
    lam = spectrum.eigenvalues
    np.testing.assert_allclose(
        filter_response(spectrum.x, spectrum.layer), np.abs(1 - 0.7 * lam + 0.1 * lam**2), atol=LAW
    )
    np.testing.assert_allclose(spectrum.vectors @ spectrum.x, x, atol=LAW)  # Parseval, and back
    expected = np.einsum("nc,nm,mc->c", x, dense, x) / (x**2).sum(0)
    np.testing.assert_allclose(rayleigh(lam, spectrum.x), expected, atol=LAW)
    assert mean_rayleigh(lam, spectrum.x) == pytest.approx(relative_energy(x, bonds(edges, 34)), abs=LAW)


def test_levels_do_not_depend_on_the_basis_of_an_eigenspace():
    edges = edges_of(nx.cycle_graph(8))
    values, vectors = eigenpairs(edges, 8)
    level = levels(values)
    assert level.tolist() == [0, 1, 1, 2, 2, 3, 3, 4]
    x = np.random.default_rng(0).standard_normal((8, 2))
    c, s = np.cos(0.7), np.sin(0.7)
    turned = vectors.copy()
    turned[:, 1:3] = vectors[:, 1:3] @ np.array([[c, -s], [s, c]])
    one, two = (energy_per_level(fourier(v, x), level) for v in (vectors, turned))
    np.testing.assert_allclose(one, two, atol=LAW)
    assert one.sum() == pytest.approx((x**2).sum())


def test_no_response_where_the_input_has_no_such_frequency():
    x_hat = np.array([[1.0], [0.0], [2.0]])
    response = filter_response(x_hat, np.array([[3.0], [1.0], [1.0]]))
    assert response[0] == 3.0 and np.isnan(response[1]) and response[2] == 0.5
    assert np.isnan(filter_response(np.zeros((2, 0)), np.zeros((2, 0)))).all()


def test_a_large_graph_is_partial_and_an_empty_one_is_a_spectrum():
    edges = edges_of(nx.cycle_graph(1600))
    spectrum = make_spectrum(edges, 1600, np.ones((1600, 1), np.float32), None, most=5)
    assert spectrum.partial and spectrum.layer is None and spectrum.vectors.shape == (1600, 5)
    assert abs(spectrum.x[0, 0]) == pytest.approx(40.0)
    empty = make_spectrum(np.zeros((2, 0), np.int64), 0, np.zeros((0, 3)), None)
    assert empty.eigenvalues.shape == (0,) and not empty.partial
    with pytest.raises(ValueError):
        spectrum.eigenvalues[0] = 1.0  # read-only


# distance and influence ---------------------------------------------------------------------------------------
@given(random_graphs())
@settings(max_examples=60, deadline=None)
def test_hops_are_those_of_networkx(given_graph):
    edges, n, _ = given_graph
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges.T.tolist())
    for node in range(n):
        expected = nx.single_source_shortest_path_length(graph.reverse(), node)
        assert hop_distances(edges, n, node).tolist() == [expected.get(j, -1) for j in range(n)]


def propagation(graph: nx.Graph) -> np.ndarray:
    """GCN's D^-1/2 (A + I) D^-1/2."""
    a = nx.to_numpy_array(graph, nodelist=sorted(graph)) + np.eye(len(graph))
    root = 1 / np.sqrt(a.sum(1))
    return a * root[:, None] * root


def linear_run(matrix: np.ndarray, k: int):
    hat = torch.from_numpy(np.linalg.matrix_power(matrix, k))
    return lambda x: {"h": hat @ x}


@pytest.mark.parametrize("k", [1, 3])
def test_the_influence_of_a_linear_network_is_a_row_of_its_matrix(k):
    hat = propagation(nx.karate_club_graph())
    x = torch.randn(34, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    found = influence(linear_run(hat, k), (x,), "h", 5)
    np.testing.assert_allclose(found, np.linalg.matrix_power(hat, k)[5], atol=1e-12)
    hops = hop_distances(edges_of(nx.karate_club_graph()), 34, 5)
    assert (found[hops > k] == 0).all() and (found[(hops >= 0) & (hops <= k)] > 0).all()


def test_channels_add_up_sampled_ones_stand_for_all_and_no_gradient_is_asked_of_the_caller():
    hat = torch.from_numpy(propagation(nx.path_graph(4)))
    x = torch.ones(4, 2, dtype=torch.float64)
    weight = torch.tensor([[1.0, -2.0, 3.0], [0.5, 0.0, -1.0]], dtype=torch.float64)
    with torch.inference_mode():
        found = influence(lambda v: {"h": hat @ v @ weight}, (x,), "h", 1)
    np.testing.assert_allclose(found, 7.5 * hat[1].numpy(), atol=1e-12)
    wide = torch.ones(2, 80, dtype=torch.float64)
    sampled = influence(lambda v: {"h": hat @ v @ wide}, (x,), "h", 1, most=8)
    np.testing.assert_allclose(sampled, 160 * hat[1].numpy(), atol=1e-9)
    assert not x.requires_grad


def test_influence_of_what_is_no_node_field_is_refused():
    x = torch.ones(4, 1)
    with pytest.raises(ValueError, match="has not run 'g'"):
        influence(lambda v: {"h": v}, (x,), "g", 0)
    with pytest.raises(ValueError, match="no field on 4 nodes"):
        influence(lambda v: {"h": v.sum(0, keepdim=True)}, (x,), "h", 0)
    with pytest.raises(ValueError, match="no node 4"):
        influence(lambda v: {"h": v}, (x,), "h", 4)
    assert (influence(lambda v: {"h": torch.ones(4, 2)}, (x,), "h", 0) == 0).all()


def test_a_bottleneck_squashes_what_a_grid_lets_through():
    barbell = nx.barbell_graph(8, 1)  # two cliques of eight, a node between them
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(5, 5))
    k, means = 4, {}
    for name, graph, node in (("barbell", barbell, 0), ("grid", grid, 0)):
        x = torch.zeros(len(graph), 1, dtype=torch.float64)
        found = influence(linear_run(propagation(graph), k), (x,), "h", node)
        means[name] = jacobian_by_distance(found, hop_distances(edges_of(graph), len(graph), node))
    assert means["barbell"][4] > 0 and means["grid"][4] > 0
    assert means["barbell"][4] < 0.05 * means["grid"][4]


def test_means_and_medians_by_distance():
    values, hops = np.array([5.0, 1.0, 3.0, 8.0, 9.0]), np.array([0, 1, 1, 3, -1])
    np.testing.assert_array_equal(jacobian_by_distance(values, hops), [5, 2, np.nan, 8])
    np.testing.assert_array_equal(median_by_distance(np.r_[values, 100.0], np.r_[hops, 1]), [5, 3, np.nan, 8])


# colour refinement --------------------------------------------------------------------------------------------
def domino() -> tuple[nx.Graph, nx.Graph]:
    ladder = nx.ladder_graph(3)
    triangles = nx.disjoint_union(nx.complete_graph(3), nx.complete_graph(3))
    triangles.add_edge(2, 3)
    return ladder, triangles


def rook_and_shrikhande() -> tuple[nx.Graph, nx.Graph]:
    rook = nx.line_graph(nx.complete_bipartite_graph(4, 4))
    shrikhande = nx.Graph()
    for a in range(4):
        for b in range(4):
            for da, db in ((0, 1), (1, 0), (1, 1)):
                shrikhande.add_edge(4 * a + b, 4 * ((a + da) % 4) + (b + db) % 4)
    return rook, shrikhande


def decalin_and_bicyclopentyl() -> tuple[nx.Graph, nx.Graph]:
    decalin = nx.cycle_graph(10)
    decalin.add_edge(0, 5)
    two = nx.disjoint_union(nx.cycle_graph(5), nx.cycle_graph(5))
    two.add_edge(0, 5)
    return decalin, two


ALIKE = {
    "hexagon": (nx.cycle_graph(6), nx.disjoint_union(nx.complete_graph(3), nx.complete_graph(3))),
    "domino": domino(),
    "decalin": decalin_and_bicyclopentyl(),
    "circulant": (nx.circulant_graph(41, [1, 2]), nx.circulant_graph(41, [1, 3])),
    "rook": rook_and_shrikhande(),
}


@pytest.mark.parametrize("name", ALIKE)
def test_famous_pairs_are_not_told_apart(name):
    one, two = ALIKE[name]
    assert not nx.is_isomorphic(one, two)
    verdict = distinguishes(*pair_of(one, two))
    assert not verdict.distinguished and verdict.round is None


def test_pairs_that_are_told_apart_say_after_which_round():
    path, spider = nx.path_graph(5), nx.star_graph(4)
    assert distinguishes(*pair_of(path, spider)).round == 1
    assert distinguishes(*pair_of(nx.cycle_graph(5), nx.cycle_graph(6))).round == 0
    caterpillar = nx.path_graph(6)
    caterpillar.add_edge(1, 6)
    other = nx.path_graph(6)
    other.add_edge(2, 6)  # the same degrees, so that one round is not enough
    assert distinguishes(*pair_of(caterpillar, other)).round == 2
    edges, batch = pair_of(*ALIKE["hexagon"])
    assert distinguishes(edges, batch, np.arange(12.0)[:, None]).round == 0
    with pytest.raises(ValueError, match="two graphs"):
        distinguishes(edges, np.zeros(12, int))


@given(random_graphs(), st.integers(0, 2**31))
@settings(max_examples=60, deadline=None)
def test_colours_are_canonical_and_agree_with_networkx(given_graph, seed):
    edges, n, _ = given_graph
    order = np.random.default_rng(seed).permutation(n)
    made, moved = history(edges, n), history(order[edges], n)
    assert len(made) == len(moved)
    for before, after in zip(made, moved):
        assert np.array_equal(after[order], before)
    # one round of networkx's hashes is one round of ours, on simple graphs
    simple = nx.Graph()
    simple.add_nodes_from(range(n))
    simple.add_edges_from((u, v) for u, v in edges.T.tolist() if u != v)
    ours = history(edges_of(simple), n)
    nx.set_node_attributes(simple, "node", "kind")
    hashes = nx.weisfeiler_lehman_subgraph_hashes(simple, node_attr="kind", iterations=len(ours), digest_size=16)
    theirs = [hashes[u][-1] for u in range(n)]
    same = {(a, b) for a, b in zip(ours[-1].tolist(), theirs)}
    assert len(same) == len(set(theirs)) == len(set(ours[-1].tolist()))


@pytest.mark.parametrize("unit", [5e-324, 1e-300, 1e300, 1.7e308])
@pytest.mark.filterwarnings("error")
def test_the_spectrum_does_not_depend_on_the_unit_of_the_weights(unit: float) -> None:
    edges = edges_of(nx.cycle_graph(9))
    weights = [np.full(edges.shape[1], k) for k in (np.float32(1.0), unit)]
    plain, other = (eigenpairs(edges, 9, 9, one)[0] for one in weights)
    np.testing.assert_allclose(other, plain, atol=1e-9)
