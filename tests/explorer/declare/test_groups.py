"""Finite groups: the axioms, the regular representation as a homomorphism, names."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.declare.groups import MIRROR, FiniteGroup, cyclic, dihedral, group, rotation_matrix

NAMES = [f"{kind}{n}" for kind in "CD" for n in range(1, 9)]
each_group = pytest.mark.parametrize("name", NAMES)
names = st.sampled_from(NAMES)
numbers = st.integers(0, 15)  # taken modulo the order


def regular(g: FiniteGroup, h: int) -> np.ndarray:
    """Return the matrix of the left-regular representation, from its definition rho(h) delta_k = delta_hk."""
    matrix = np.zeros((g.order, g.order))
    for k in g.elements():
        matrix[g.compose(h, k), k] = 1
    return matrix


@each_group
def test_order_labels_and_identity(name: str) -> None:
    g = group(name)
    n = int(name[1:])
    assert len(g) == g.order == (n if name[0] == "C" else 2 * n)
    assert len(set(g.labels)) == g.order
    assert np.array_equal(g.matrices[0], np.eye(2))
    assert all(g.compose(0, h) == h == g.compose(h, 0) for h in g.elements())
    assert list(g.elements()) == list(range(g.order))


@each_group
def test_the_table_is_the_product_of_the_matrices(name: str) -> None:
    g = group(name)
    for h in g.elements():
        for k in g.elements():
            product = g.matrices[h] @ g.matrices[k]
            assert np.allclose(g.matrices[g.compose(h, k)], product, atol=1e-12)
    table = np.array([[g.compose(h, k) for k in g.elements()] for h in g.elements()])
    # a Latin square: closure and cancellation
    assert np.array_equal(np.sort(table, axis=0), np.arange(g.order)[:, None].repeat(g.order, 1))
    assert np.array_equal(np.sort(table, axis=1), np.arange(g.order).repeat(g.order).reshape(g.order, -1).T)


@given(names, numbers, numbers, numbers)
def test_associativity_and_inverses(name: str, a: int, b: int, c: int) -> None:
    g = group(name)
    a, b, c = (v % g.order for v in (a, b, c))
    assert g.compose(g.compose(a, b), c) == g.compose(a, g.compose(b, c))
    assert g.compose(a, g.inverse(a)) == 0 == g.compose(g.inverse(a), a)
    assert g.inverse(g.compose(a, b)) == g.compose(g.inverse(b), g.inverse(a))


@given(names, numbers, numbers)
def test_the_regular_representation_is_a_homomorphism(name: str, a: int, b: int) -> None:
    g = group(name)
    a, b = a % g.order, b % g.order
    f = np.random.default_rng(a + 16 * b).normal(size=g.order)
    p, q = g.regular_permutation(a), g.regular_permutation(b)
    assert np.array_equal(f[q][p], f[g.regular_permutation(g.compose(a, b))])  # rho(a) rho(b) = rho(ab)
    assert np.array_equal(f[p], regular(g, a) @ f)


def test_acting_from_the_wrong_side_would_be_noticed() -> None:
    g = group("D4")
    wrong = [np.array([g.compose(k, g.inverse(h)) for k in g.elements()]) for h in g.elements()]  # f[k h^-1]
    f = np.arange(8.0)
    pairs = [(a, b) for a in g.elements() for b in g.elements()]
    assert any(not np.array_equal(f[wrong[b]][wrong[a]], f[wrong[g.compose(a, b)]]) for a, b in pairs)


@pytest.mark.parametrize("n", range(1, 9))
def test_dihedral_elements_are_a_rotation_after_mirrors(n: int) -> None:
    g = dihedral(n)
    for m in (0, 1):
        for r in range(n):
            matrix = rotation_matrix(360 * r / n) @ np.linalg.matrix_power(MIRROR, m)
            assert g.find(matrix) == m * n + r
    assert np.array_equal(g.matrices[:n], cyclic(n).matrices)


def test_quarter_turns_are_exact_and_counter_clockwise() -> None:
    assert rotation_matrix(90).tolist() == [[0, -1], [1, 0]]  # x goes to y
    assert all(rotation_matrix(90 * k).tolist() == rotation_matrix(90 * k - 360).tolist() for k in range(4))
    for name in ("C4", "D4", "C8", "D8", "C12"):
        g = group(name)
        quarter = g.matrices[[h for h in g.elements() if np.allclose(g.matrices[h] % 1, 0)]]
        assert np.array_equal(quarter, np.round(quarter))


def test_what_is_not_in_the_group_is_not_found() -> None:
    assert group("C4").find(rotation_matrix(45)) is None
    assert group("C4").find(MIRROR) is None
    assert group("D4").find(MIRROR) == 4
    assert group("C8").find(rotation_matrix(45) + 1e-12) == 1


def test_matrices_that_are_no_group_are_refused() -> None:
    turns = np.stack([rotation_matrix(a) for a in (0.0, 90.0, 180.0)])
    with pytest.raises(ValueError, match="the matrices of C3x are not closed under products"):
        FiniteGroup("C3x", turns, ("a", "b", "c"))


@each_group
def test_a_group_is_one_value_also_after_pickling(name: str) -> None:
    g = group(name)
    copy = pickle.loads(pickle.dumps(g))
    assert copy is g and hash(copy) == hash(g)
    assert g == (cyclic if name[0] == "C" else dihedral)(int(name[1:]))
    assert g != group("C16") and g != name


@pytest.mark.parametrize(
    "name", ["", "C", "D", "C0", "C65", "D128", "c4", "C04", "C-4", "C4 ", "E4", "C²", "C٤", "CC", "4"]
)
def test_unknown_names_are_refused_in_one_sentence(name: str) -> None:
    with pytest.raises(ValueError, match=r"^unknown group '.*'; known are C1\.\.C64 and D1\.\.D64$"):
        group(name)


def test_random_elements_come_from_the_group_and_repeat_with_the_seed() -> None:
    g = group("D3")
    drawn = [g.random(np.random.default_rng(5)) for _ in range(2)]
    assert drawn[0] == drawn[1]
    rng = np.random.default_rng(0)
    assert {g.random(rng) for _ in range(100)} == set(g.elements())
