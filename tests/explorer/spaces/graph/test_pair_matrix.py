"""Pair matrices: tiles, sums, shares and properties against plain dense algebra, and orders that are permutations."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.spaces.graph.drawing.pairs.matrix import KEPT_LEVEL, DensePairs, PairMatrix
from explorer.spaces.graph.drawing.pairs.orders import boundaries, fiedler_order, node_order, possible
from explorer.spaces.graph.drawing.pairs.pooling import pooled
from explorer.spaces.graph.drawing.pairs.sparse import EdgePattern, SparsePairs
from explorer.spaces.graph.drawing.values import Structure
from explorer.square.drawing.masks import bound_of


def scattered(n: int, edges: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return (H, n, n) with the values added where the edges point, one by one."""
    out = np.zeros((values.shape[1], n, n))
    for e, (j, i) in enumerate(edges.T):
        out[:, i, j] += values[e]
    return out


def blocks(a: np.ndarray, level: int, pool: str) -> np.ndarray:
    """Pool by the definition, block by block."""
    size, n = 2**level, len(a)
    side = -(-n // size)
    out = np.zeros((side, side))
    for i in range(side):
        for j in range(side):
            part = a[i * size : (i + 1) * size, j * size : (j + 1) * size]
            out[i, j] = part.mean() if pool == "mean" else part.ravel()[np.abs(part).argmax()]
    return out


@st.composite
def cases(draw: st.DrawFn) -> tuple[PairMatrix, np.ndarray]:
    """Draw a matrix of either kind, signed or not, in some order, and the same as a plain array in that order."""
    n, heads, seed = draw(st.integers(1, 21)), draw(st.integers(1, 3)), draw(st.integers(0, 2**31))
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    signed = draw(st.booleans())
    if draw(st.booleans()):
        listed = draw(st.integers(0, 60))
        edges = rng.integers(0, n, (2, listed))
        values = rng.standard_normal((listed, heads)) if signed else rng.random((listed, heads))
        dense = scattered(n, edges, values)
        matrix: PairMatrix = SparsePairs(EdgePattern(n, edges, order), values)
    else:
        dense = rng.standard_normal((heads, n, n)) if signed else rng.random((heads, n, n))
        matrix = DensePairs(dense, order)
    return matrix, dense[:, order][:, :, order]


@given(cases(), st.integers(0, 5), st.sampled_from(["max", "mean"]), st.integers(0, 2**31))
def test_a_tile_is_that_part_of_the_pooled_matrix(
    case: tuple[PairMatrix, np.ndarray], level: int, pool: str, seed: int
) -> None:
    matrix, dense = case
    rng = np.random.default_rng(seed)
    side = matrix.places(level)
    assert side == -(-matrix.n // 2**level)
    (a, b), (c, d) = np.sort(rng.integers(0, side + 1, (2, 2)), axis=1)
    for head in range(matrix.heads):
        whole = blocks(dense[head], level, pool)
        tile = matrix.tile(head, (a, b), (c, d), level, pool)
        assert tile.shape == (b - a, d - c)
        np.testing.assert_allclose(tile, whole[a:b, c:d], rtol=1e-9, atol=1e-12)


@given(cases(), st.floats(0, 2))
def test_sums_shares_and_properties_are_those_of_the_dense_matrix(
    case: tuple[PairMatrix, np.ndarray], threshold: float
) -> None:
    matrix, dense = case
    heads = range(matrix.heads)
    for head in heads:
        np.testing.assert_allclose(matrix.row_sums(head), dense[head].sum(1), atol=1e-9)
        np.testing.assert_allclose(matrix.column_sums(head), dense[head].sum(0), atol=1e-9)
        some = dense[head][dense[head] != 0]
        share = (np.abs(some) >= threshold).mean() if some.size else 1.0
        assert matrix.kept(head, threshold) == pytest.approx(share, abs=1e-9)
    found = matrix.properties(heads, threshold)
    assert found.near_zero == pytest.approx((np.abs(dense) <= threshold).mean(), abs=1e-9)
    norm = np.linalg.norm(dense)
    if norm:
        assert found.asymmetry == pytest.approx(np.linalg.norm(dense - dense.transpose(0, 2, 1)) / norm, abs=1e-9)
    else:
        assert found.asymmetry is None
    assert found.sums == pytest.approx((dense.sum(2).min(), dense.sum(2).max()), abs=1e-9)
    low, high, smallest = matrix.extremes()
    assert (low, high) == pytest.approx((min(0, dense.min()), max(0, dense.max())))
    assert not dense.any() or smallest == pytest.approx(np.abs(dense[dense != 0]).min())


def test_values_are_found_by_place() -> None:
    order = np.array([2, 0, 1])
    matrix = DensePairs(np.arange(9.0).reshape(3, 3), order)
    assert matrix.value(0, 0, 1) == 6.0  # node 2 receives from node 0
    sparse = SparsePairs(EdgePattern(3, np.array([[0], [2]]), order), np.array([5.0]))
    assert sparse.value(0, 0, 1) == 5.0 and sparse.value(0, 1, 0) == 0.0


def test_a_large_dense_matrix_is_pooled_piece_by_piece_and_rightly() -> None:
    n = 2500  # above DIRECT, and a multiple of no block
    rng = np.random.default_rng(0)
    values = rng.integers(0, 255, (1, n, n), np.uint8)
    order = rng.permutation(n)
    shown = values[0][np.ix_(order, order)].astype(np.float64)
    matrix = DensePairs(values, order)
    level = KEPT_LEVEL + 2
    side, steps = matrix.places(level), 0
    while not matrix.advance(0, (0, side), (0, side), level, "max"):
        steps += 1
    assert steps > 3, "nothing was left for a later turn"
    np.testing.assert_array_equal(matrix.tile(0, (0, side), (0, side), level), blocks(shown, level, "max"))
    mean = matrix.tile(0, (10, 30), (70, side), level, "mean")
    np.testing.assert_allclose(mean, blocks(shown, level, "mean")[10:30, 70:], rtol=1e-5)
    np.testing.assert_array_equal(matrix.tile(0, (40, 90), (2400, 2500)), shown[40:90, 2400:])


def test_half_precision_is_summed_in_full() -> None:
    matrix = DensePairs(np.full((1, 3000, 3000), 0.1, np.float16))
    assert matrix.row_sums(0)[7] == pytest.approx(3000 * float(np.float16(0.1)), rel=1e-6)
    assert matrix.tile(0, (0, 4), (0, 4), 4, "mean").max() == pytest.approx(0.1, rel=1e-3)


def test_a_sparse_matrix_of_many_nodes_stays_sparse() -> None:
    n, listed = 100_000, 200_000  # dense, this would be 40 GB
    rng = np.random.default_rng(0)
    edges = rng.integers(0, n, (2, listed))
    matrix = SparsePairs(EdgePattern(n, edges), np.ones((listed, 1), np.float32))
    level = 10
    side = matrix.places(level)
    whole = matrix.tile(0, (0, side), (0, side), level, "mean").astype(np.float64)
    sizes = np.diff(np.minimum(np.arange(side + 1) << level, n))
    assert (whole * np.outer(sizes, sizes)).sum() == pytest.approx(listed, rel=1e-5)
    assert matrix.tile(0, (0, side), (0, side), level).max() >= 1
    properties = matrix.properties(range(1), 0.0)
    assert properties.near_zero == pytest.approx(1 - len(matrix.pattern) / n**2, abs=1e-12)


def test_what_is_not_a_number_stays_visible_in_its_block() -> None:
    values = np.zeros((1, 8, 8))
    values[0, 3, 3] = np.nan
    tile = DensePairs(values).tile(0, (0, 2), (0, 2), 2)
    assert np.isnan(tile[0, 0]) and not np.isnan(tile[1, 1])
    assert DensePairs(values).range == (0.0, 0.0, 0.0)


def test_attention_and_symmetry_are_recognised() -> None:
    logits = np.random.default_rng(0).standard_normal((2, 9, 9))
    attention = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    assert DensePairs(attention).properties(range(2), 1e-6).stochastic
    adjacency = nx.to_numpy_array(nx.karate_club_graph(), weight=None)
    found = DensePairs(adjacency).properties(range(1), 0.0)
    assert found.asymmetry == 0.0 and not found.stochastic and found.sums == (1.0, 17.0)


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (4,)])
def test_what_is_not_square_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="pair field"):
        DensePairs(np.zeros(shape))


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 1], [0, 1, 3]])
def test_what_is_no_order_is_refused(order: list[int]) -> None:
    with pytest.raises(ValueError, match="each of them once"):
        DensePairs(np.zeros((3, 3)), np.array(order))
    with pytest.raises(ValueError, match="each of them once"):
        EdgePattern(3, np.zeros((2, 0), np.int64), np.array(order))


def test_pooling_level_zero_changes_nothing() -> None:
    a = np.random.default_rng(0).random((5, 5))
    assert pooled(a, 0, "max") is a


# orders -----------------------------------------------------------------------------------------------------------
def structure_of(graph: nx.Graph, **more: object) -> Structure:
    pairs = [(u, v) for u, v in graph.edges] + [(v, u) for u, v in graph.edges if u != v]
    edges = np.array(sorted(pairs), np.int64).reshape(-1, 2).T
    return Structure(graph.number_of_nodes(), edges, "test", **more)  # type: ignore[arg-type]


def test_the_spectral_order_cuts_two_cliques_apart_and_unrolls_a_path() -> None:
    rng = np.random.default_rng(0)
    shuffled = rng.permutation(12)
    path = nx.relabel_nodes(nx.path_graph(12), dict(enumerate(shuffled.tolist())))
    found = node_order("spectral", structure_of(path)).tolist()
    assert found in (shuffled.tolist(), shuffled[::-1].tolist())
    bell = nx.barbell_graph(6, 0)
    found = fiedler_order(12, structure_of(bell).edges)
    assert {frozenset(found[:6].tolist()), frozenset(found[6:].tolist())} == {
        frozenset(range(6)),
        frozenset(range(6, 12)),
    }


def test_the_spectral_order_sorts_by_networkx_fiedler_vector() -> None:
    graph = nx.karate_club_graph()
    found = node_order("spectral", structure_of(graph))
    vector = nx.fiedler_vector(graph, weight=None, method="tracemin_lu", tol=1e-12)[found]
    steps = np.diff(vector)
    assert (steps >= -1e-6).all() or (steps <= 1e-6).all()


@given(st.integers(0, 30), st.integers(0, 40), st.sampled_from(["given", "degree", "cluster", "spectral", "name"]))
def test_an_order_names_every_node_once(n: int, listed: int, kind: str) -> None:
    rng = np.random.default_rng(n + 100 * listed)
    edges = rng.integers(0, n, (2, listed)) if n else np.zeros((2, 0), np.int64)
    names = tuple(f"node {i}" for i in rng.permutation(n))
    structure = Structure(n, edges, "test", names=names, classes=rng.integers(-1, 3, n))
    assert np.array_equal(np.sort(node_order(kind, structure)), np.arange(n))


def test_orders_by_degree_cluster_and_name() -> None:
    edges = np.array([[0, 1, 2, 3, 3, 3], [3, 3, 3, 0, 1, 2]])
    names = ("node 10", "Node 2", "node 1", "b")
    structure = Structure(4, edges, "star", names=names, classes=np.array([1, -1, 0, 1]))
    assert node_order("degree", structure).tolist() == [3, 0, 1, 2]
    by_class = node_order("cluster", structure)
    assert by_class.tolist() == [2, 3, 0, 1]
    assert structure.classes is not None
    assert boundaries(structure.classes, by_class).tolist() == [1, 3]
    assert node_order("name", structure).tolist() == [3, 2, 1, 0]


def test_orders_that_are_not_possible_say_why_and_leave_the_order() -> None:
    plain = Structure(2000, np.zeros((2, 0), np.int64), "plain")
    for kind, word in (("cluster", "classes"), ("spectral", "1024"), ("name", "names")):
        assert word in possible(kind, plain)
        assert np.array_equal(node_order(kind, plain), np.arange(2000))
    assert possible("degree", plain) == possible("given", plain) == ""


# masks --------------------------------------------------------------------------------------------------------
FORMS = [-1e9, 1e9, -1e4, float(np.finfo(np.float32).min), -np.inf]


def logits(mask: float, n: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return logits (2, n, n) with a mask over the future, those without, and where it lies."""
    plain = np.random.default_rng(seed).standard_normal((2, n, n)).astype(np.float32)
    hidden = np.triu(np.ones((n, n), bool), 1) & np.ones((2, 1, 1), bool)
    return np.where(hidden, np.float32(mask), plain), plain, hidden


@pytest.mark.parametrize("mask", FORMS)
@pytest.mark.parametrize("added", [False, True])
def test_masks_are_told_from_values(mask: float, added: bool) -> None:
    values, plain, hidden = logits(mask)
    if added and abs(mask) < 1e38:
        values = np.where(hidden, np.float32(mask) + plain, plain)
    for matrix in (DensePairs(values), _on_edges(values)):
        assert np.array_equal(matrix.masked(values), hidden)
        low, high, smallest = matrix.range
        there = plain[~hidden]
        assert (low, high) == (there.min(), there.max()) and smallest == np.abs(there).min()
        zeroed = np.where(hidden, 0, plain).astype(np.float64)
        assert np.allclose(matrix.row_sums(1), zeroed[1].sum(1)) and np.allclose(
            matrix.column_sums(0), zeroed[0].sum(0)
        )
        told = matrix.properties(range(2), 1e-6)
        assert told.masked == pytest.approx(hidden.mean()) and told.near_zero < 0.01
        assert max(map(abs, told.sums)) < 100
        assert matrix.value(0, 0, 5) == values[0, 0, 5]  # the reader of a cell is told what is there
        for level, pool in ((1, "max"), (2, "mean"), (3, "max")):
            side = (0, matrix.places(level))
            tile = matrix.tile(0, side, side, level, pool)
            whole = matrix.masked(tile)
            assert whole[0, -1] and not whole.diagonal().any() and np.abs(tile[~whole]).max() < 10
            blocks = hidden[0].reshape(side[1], 1 << level, side[1], 1 << level)
            assert np.array_equal(whole, blocks.all((1, 3)))


def _on_edges(values: np.ndarray) -> SparsePairs:
    n = values.shape[-1]
    to, source = np.divmod(np.arange(n * n), n)
    return SparsePairs(EdgePattern(n, np.stack([source, to])), values.reshape(len(values), -1).T)


def test_masks_of_two_kinds_at_once() -> None:
    values, _, hidden = logits(-1e9)
    values[:, :, :3] += np.float32(-1e9)  # padding beside the future
    hidden[:, :, :3] = True
    assert np.array_equal(DensePairs(values).masked(values), hidden)


def test_what_is_no_mask() -> None:
    rng = np.random.default_rng(1)
    plain = rng.standard_normal((30, 30)).astype(np.float32)
    outlier = plain.copy()
    outlier[3, 4] = 1e6
    heavy = (rng.standard_cauchy((200, 200)) * 10).astype(np.float32)
    hard = np.eye(30, dtype=np.float32) + 1e-9 * plain  # a softmax that has made up its mind
    weights = np.where(plain > 0, np.float32(1e4), 0)
    zeros = np.zeros((4, 4), np.float32)
    for values in (plain, 1e5 * plain, outlier, heavy, hard, weights, np.exp(10 * plain), zeros):
        assert bound_of(values) == np.inf
        assert not DensePairs(values).masked(values).any()
    grown = plain.copy()
    grown[0] = np.inf  # too large for its type: no mask, and to be seen
    assert not DensePairs(grown).masked(grown).any()
