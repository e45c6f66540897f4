"""Eigenvectors by a rule, and none left out: the same ones whatever processor, library or number of threads.

An eigenvector is determined up to its sign and, where an eigenvalue repeats, up to a rotation of the eigenspace. Which
one a solver returns is decided by rounding, and so by the processor. Here values that differ by rounding alone are one
eigenvalue, and what follows is made of the projection onto the whole eigenspace, which no choice enters:

- the places are weighed, the earlier ones a little more; the place that the space reaches farthest comes first. Its
  projection is the first vector, what the next such place has beside that the second one, and so on (QR with pivoting);
- the first of the entries that are largest in size is positive.

The rule looks at the order of the places: where a graph or a surface has symmetries, no rule can do without.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.work.memory import Resident

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Sparse = Any

SAME = 1e-8  # share of an eigenvalue: those that are closer are one; what rounding parts is nearer than 1e-12
NOISE = 1e-12  # of the size of the matrix, for eigenvalues near 0
TIED = 1e-6  # entries of a vector that differ by less of their size are equally large
SPARE = 4  # eigenpairs beyond those asked for, so that the last eigenspace is whole: few have more than five vectors
MOST_SPARE = 64
DENSE = 400  # places up to which the whole spectrum is computed
BLOCK = 8  # vectors of a block
SETTLED = 1e-13  # residual of an eigenvector of the inverse, as a share of its eigenvalue
GONE = 1e-13  # of what a column was: if less is left beside the basis, it is rounding
LOST = 1e-2  # of what a column was: if less is left, the rounding in it counts once it is made as long
ROUNDS = 1000  # blocks after which what was found has to do
INSIDE = 0.75  # share of the guessed eigenvalue that the shift is moved to
FEWEST = 0.5  # share of the eigenvalues that must lie below it
TRIES = 3  # factorisations until that is so
EXACT = 1e-12  # residual of a solve: without pivoting, factors of an indefinite matrix may be worse
PATIENCE = 8  # solves for each eigenvector, after which the shift is moved outside again
EVERYWHERE = slice(None)
EPS = float(np.finfo(np.float64).eps)


def ranks(values: Array, absolute: float, relative: float = 0.0) -> Index:
    """Return how many clusters of values lie below that of each, (n,): neighbours within the tolerances share one."""
    order = np.argsort(values, kind="stable")
    ascending, found = values[order], np.zeros(len(values), np.int64)
    found[order[1:]] = np.cumsum(np.diff(ascending) > absolute + relative * np.abs(ascending[1:]))
    return found


def levels(values: Array, size: float) -> Index:
    """Return the number of its eigenspace for each of some eigenvalues, (k,), of a matrix of that size (largest λ)."""
    return ranks(values, NOISE * size, SAME)


def first_largest(values: Array) -> Index:
    """Return the place of the entry largest in size of each column, (k,): the first of those that tie."""
    size = np.abs(values)
    return np.asarray((size >= (1 - TIED) * size.max(0, initial=0.0)).argmax(0))


def signed(vectors: Array) -> Array:
    """Return the columns of (n, k) with the first of their largest entries positive."""
    if not vectors.size:
        return vectors
    peak = vectors[first_largest(vectors), np.arange(vectors.shape[1])]
    return vectors * np.where(peak < 0, -1.0, 1.0)


def basis_by_rule(vectors: Array) -> Array:
    """Return the basis that the rule chooses of the space of orthonormal columns (n, m); any basis of it gives it."""
    from scipy.linalg import qr

    n = len(vectors)
    # of weights that fall by e no two places have a ratio that a symmetric space could have by itself
    weighed = vectors * np.exp(-np.arange(n) / n)[:, None]
    turn = qr(weighed.T, mode="economic", pivoting=True)[0]
    return np.asarray(vectors @ turn)


def by_rule(values: Array, vectors: Array, size: float) -> Array:
    """Return the vectors (n, k) of ascending eigenvalues (k,), a basis by the rule in each eigenspace.

    An eigenspace of which a part alone is given has a basis of that part.

    Args:
        size: about the largest eigenvalue that the matrix has.
    """
    found = vectors.copy()
    ends = np.flatnonzero(np.diff(levels(values, size), prepend=-1, append=-1))
    for first, end in pairwise(ends.tolist()):
        if end - first > 1:
            found[:, first:end] = basis_by_rule(vectors[:, first:end])
    return signed(found)


class Factors:
    """The factors of a sparse symmetric matrix, (n, n), that needs no pivoting, as positive definite ones do.

    Args:
        order: which unknown is eliminated at each step; None leaves it to SuperLU (minimum degree).
    """

    def __init__(self, matrix: Sparse, order: Index | None = None) -> None:
        from scipy.sparse.linalg import splu

        self.order = order
        ordered = matrix.tocsc() if order is None else matrix.tocsr()[order].tocsc()[:, order]
        how = "MMD_AT_PLUS_A" if order is None else "NATURAL"
        # positive definite: no pivoting
        options = {"SymmetricMode": True}
        # it must be freed where it was made
        self._lu = Resident(lambda: splu(ordered, permc_spec=how, diag_pivot_thresh=0.0, options=options))
        self._given = int(ordered.nnz), int(ordered.dtype.itemsize)

    @property
    def foreign_bytes(self) -> int:
        """The bytes that SuperLU holds: at the start 30 numbers of U and 7.5 of L for each of the matrix, and places.

        It asks for more where that is too little, and gives nothing back.
        """
        given, size = self._given
        return max(self.entries, round(37.5 * given)) * (size + 4)

    @property
    def entries(self) -> int:
        """Return how many numbers both factors hold: what they take in memory and in each solve."""
        return self._lu.use(lambda lu: int(lu.nnz))

    def solve(self, right: NDArray[Any]) -> NDArray[Any]:
        """Return x with A x = right, (n,) or (n, k)."""
        if self.order is None:
            return self._lu.use(lambda lu: np.asarray(lu.solve(right)))
        found = np.empty_like(right)
        ordered = right[self.order]
        found[self.order] = self._lu.use(lambda lu: np.asarray(lu.solve(ordered)))
        return found

    def negative(self) -> int | None:
        """Return how many eigenvalues are below 0, as many as pivots (Sylvester's law of inertia).

        None where a row had to be exchanged after all.
        """
        if not self._lu.use(lambda lu: np.array_equal(lu.perm_r, lu.perm_c)):
            return None
        return self._lu.use(lambda lu: int((lu.U.diagonal() < 0).sum()))


@dataclass(frozen=True, slots=True)
class Lowest:
    """The smallest eigenvalues, ascending, (k,), and orthonormal vectors by the rule, (n, k).

    Attributes:
        whole: how many of them, from the first on, belong to eigenspaces of which no vector is missing.
    """

    values: Array
    vectors: Array
    whole: int


def lowest(
    matrix: Sparse,
    k: int,
    shift: float,
    factor: Callable[[Sparse, Index | None], Factors],
    told: Callable[[int], None] = lambda solves: None,
    seed: int = 0,
    guess: float = 0.0,
    order: Index | None = None,
) -> Lowest:
    """Return k or a few more of the smallest eigenpairs of a sparse positive semidefinite matrix, (n, n).

    So many more that the last of the k lies in a whole eigenspace, unless that has more than MOST_SPARE vectors beyond.
    A matrix that falls into parts has the eigenvectors of its parts: 0 repeats as often as there are parts, and a
    search in the whole would look for all of these at once.

    Args:
        shift: what is added to the diagonal so that the matrix can be factorised, small against what is sought.
        told: called before each solve with the number of those before.
        guess: about the largest of those eigenvalues where that is known; with a shift near to it fewer solves do.
        order: in which the unknowns are eliminated.
    """
    from scipy.sparse.csgraph import connected_components

    n = matrix.shape[0]
    parts, label = connected_components(matrix, directed=False) if n > DENSE else (1, np.zeros(n, np.int64))
    if parts == 1:
        return _of_one(matrix, k, shift, lambda shifted: factor(shifted, order), told, seed, guess)
    by_part = np.argsort(label, kind="stable")
    ends = np.searchsorted(label[by_part], np.arange(parts + 1))
    ordered, rank = matrix.tocsr()[by_part].tocsc()[:, by_part], None
    if order is not None:
        rank = np.empty(n, np.int64)
        rank[order] = np.arange(n)
        rank = rank[by_part]

    def found(a: int, b: int, wanted: int) -> Lowest:
        """Find the smallest eigenpairs of the part of rows a to b."""
        if b - a == 1:  # of many single places a search would take long
            return Lowest(np.array([ordered[a, a]]), np.ones((1, 1)), 1)
        inner = None if rank is None else np.argsort(rank[a:b])
        return _of_one(ordered[a:b, a:b], wanted, shift, lambda shifted: factor(shifted, inner), told, seed, guess)

    size = float(abs(matrix).sum(axis=0).max())
    pairs = list(pairwise(ends.tolist()))
    wanted = [min(b - a, -(-k * (b - a) // n) + SPARE) for a, b in pairs]
    each = [found(a, b, many) for (a, b), many in zip(pairs, wanted)]
    while True:
        values = np.sort(np.concatenate([one.values[: one.whole] for one in each]))
        last = values[k - 1] if len(values) >= k else np.inf
        # whose next eigenvalue may be among them
        short = [
            i for i, ((a, b), one) in enumerate(zip(pairs, each))
            if one.whole < b - a and one.values[one.whole - 1] <= last * (1 + SAME) + NOISE * size
        ]  # fmt: skip
        if not short:
            break
        for i in short:
            a, b = pairs[i]
            wanted[i] = min(b - a, 2 * max(wanted[i], each[i].whole))
            each[i] = found(a, b, wanted[i])
    return _joined([(by_part[a:b], one) for (a, b), one in zip(pairs, each)], k, size, n)


def _joined(parts: list[tuple[Index, Lowest]], k: int, size: float, n: int) -> Lowest:
    """Return k or a few more of the smallest eigenpairs of n places, from those of each part and its places."""
    values = np.concatenate([one.values[: one.whole] for _, one in parts])
    part = np.repeat(np.arange(len(parts)), [one.whole for _, one in parts])
    column = np.concatenate([np.arange(one.whole) for _, one in parts])
    order = np.argsort(values, kind="stable")
    level = levels(values[order], size)
    most = int(np.searchsorted(level, level[min(k, n) - 1], "right"))  # of whole eigenspaces
    whole, kept = most, min(most, k + 4 * MOST_SPARE)
    if kept < most:
        whole = int(np.searchsorted(level, level[min(k, n) - 1]))
    vectors = np.zeros((n, kept))
    for at, number in enumerate(order[:kept].tolist()):
        places, one = parts[part[number]]
        vectors[places, at] = one.vectors[:, column[number]]
    found = values[order[:kept]]
    return Lowest(found, by_rule(found, vectors, size), whole)


def _of_one(
    matrix: Sparse,
    k: int,
    shift: float,
    factor: Callable[[Sparse], Factors],
    told: Callable[[int], None],
    seed: int,
    guess: float,
) -> Lowest:
    """Return what `lowest` does, of a matrix that is taken for one part."""
    n, spare, seen = matrix.shape[0], SPARE, Lanczos(matrix, shift, factor, told, seed)
    while True:
        wanted = min(n, k + spare)
        if n <= DENSE or wanted > n // 3:
            values, vectors = np.linalg.eigh(matrix.toarray())
            return Lowest(values, by_rule(values, vectors, seen.size), n)
        if guess > 0:
            seen.move_inside(guess, wanted)
            guess = 0.0
        values, vectors = seen.lowest(wanted)
        whole = seen.before_last(values)
        if whole >= k or spare > MOST_SPARE:
            return Lowest(values, by_rule(values, vectors, seen.size), whole)
        spare *= 4


class Lanczos:
    """Block Lanczos on the inverse of matrix + shift, restarted with the Ritz vectors that are wanted.

    A block of random vectors holds as many vectors of each eigenspace as there are in the block. Of larger ones some
    may be missed, or come in by rounding alone, on one processor and not on another: so they are counted, and what is
    missing is searched for from another random block. Golub, Underwood, "The block Lanczos method for computing
    eigenvalues", 1977; Wu, Simon, "Thick-restart Lanczos method for large symmetric eigenvalue problems", 2000.
    """

    def __init__(
        self, matrix: Sparse, shift: float, factor: Callable[[Sparse], Factors], told: Callable[[int], None], seed: int
    ) -> None:
        self._outside = shift
        self._matrix, self._shift, self._factor, self._told = matrix, shift, factor, told
        self._factors: Factors | None = None
        self._rng = np.random.default_rng(seed)
        self._solves = 0
        self._below = 0  # eigenvalues below -shift, whose inverses are negative
        self.found = np.zeros((matrix.shape[0], 0))  # eigenvectors
        self.inverses = np.zeros(0)  # and eigenvalues of the inverse, the largest first
        self.size = float(abs(matrix).sum(axis=0).max())  # no eigenvalue is larger (Gershgorin)

    def move_inside(self, guess: float, k: int) -> None:
        """Shift to where most of the k smallest eigenvalues lie below, if the factors allow it.

        Far from both ends the inverses of those that are wanted stand out more: Ericsson, Ruhe, "The spectral
        transformation Lanczos method", 1980. How many are below is counted, so that none is left out.
        """
        for _ in range(TRIES):
            try:
                factors = self._factor(self._shifted(-INSIDE * guess))
            except RuntimeError:  # exactly singular: the shift is an eigenvalue
                guess *= 0.97
                continue
            below = factors.negative()
            if below is None:
                return
            if FEWEST * k <= below <= k:
                trial = self._rng.standard_normal((len(self.found), 1))
                solved = factors.solve(trial)
                off = np.linalg.norm(self._matrix @ solved - INSIDE * guess * solved - trial)
                if off <= EXACT * self.size * np.linalg.norm(solved):
                    self._shift, self._below, self._factors = -INSIDE * guess, below, factors
                    return
            guess *= k / max(below, 1)

    def lowest(self, k: int) -> tuple[Array, Array]:
        """Return the k smallest eigenvalues ascending, (k,), and orthonormal vectors, (n, k)."""
        if not self._below:
            self.search(k)
        elif not self.search(k, PATIENCE * k // BLOCK):
            self._shift, self._below, self._factors = self._outside, 0, None
            self.found, self.inverses = np.zeros((len(self.found), 0)), np.zeros(0)
            self.search(k)
        while self._missing(before := self._values()):
            self.search(k)
            if (before - self._values() <= NOISE * self.size + SAME * before).all():
                break  # nothing better is there, whatever the count says
        return self._values(), self.found

    def before_last(self, values: Array) -> int:
        """Return how many of the eigenvalues are below the last level."""
        level = levels(values, self.size)
        return int((level < level[-1]).sum())

    def _values(self) -> Array:
        return 1 / self.inverses - self._shift

    def _shifted(self, shift: float) -> Sparse:
        from scipy.sparse import identity

        return (self._matrix + shift * identity(self._matrix.shape[0])).tocsc()

    def _inverse(self, block: Array) -> Array:
        if self._factors is None:
            self._factors = self._factor(self._shifted(self._shift))
        self._told(self._solves)
        self._solves += block.shape[1]
        return self._factors.solve(block)

    def _in_order(self, ritz: Array) -> Index:
        """Return where the eigenvalues of the matrix that ascending ones of the inverse stand for lie, ascending."""
        return np.roll(np.arange(len(ritz))[::-1], min(self._below, len(ritz)))

    def search(self, k: int, rounds: int = ROUNDS) -> bool:
        """Find k eigenvectors of the smallest eigenvalues, beginning with those that are there already.

        Returns:
            whether they have settled in so many rounds.
        """
        n, most = len(self.found), max(2 * k, k + 6 * BLOCK) + BLOCK
        basis, projected = np.empty((n, most + BLOCK), order="F"), np.zeros((most + BLOCK, most + BLOCK))
        used = self.found.shape[1]
        # with one more than was known before, none that is sought can hide beside what was known
        settled = max(k, used + 1) if used else k
        basis[:, :used], projected[:used, :used] = self.found, np.diag(self.inverses)
        begun = used
        block, _ = self._independent(np.zeros((n, BLOCK)), basis[:, :used], 1.0)
        for left_over in reversed(range(rounds)):
            mine = slice(used, used + BLOCK)
            basis[:, mine] = block
            used += BLOCK
            image = self._inverse(block)
            size = float(np.linalg.norm(image, axis=0).max())
            # the inverse of a block lies along the last two blocks and what is new; after a restart along all
            near = slice(max(begun, used - 2 * BLOCK), used) if used - BLOCK > begun else slice(0, used)
            along = _without(image, basis[:, :used], near)
            projected[:used, mine], projected[mine, :used] = along, along.T
            block, left = self._independent(image, basis[:, :used], size)
            if used >= settled + BLOCK:
                ritz, turn = np.linalg.eigh(projected[:used, :used])
                order = self._in_order(ritz)
                ritz, turn = ritz[order], turn[:, order]
                residual, reach = np.linalg.norm(left @ turn[mine, :settled], axis=0), np.abs(ritz)
                done = bool((residual <= SETTLED * reach[:settled] + 10 * EPS * reach.max()).all())
                if done or not left_over:
                    kept = k
                elif used + BLOCK > most:
                    kept = (k + most) // 2 // BLOCK * BLOCK
                else:
                    continue
                self.found, self.inverses = basis[:, :used] @ turn[:, :kept], ritz[:kept].copy()
                if done or not left_over:
                    return done
                used = begun = kept
                basis[:, :used], projected[:used, :used] = self.found, np.diag(self.inverses)
        return False

    def _independent(self, vectors: Array, basis: Array, size: float) -> tuple[Array, Array]:
        """Return orthonormal columns (n, b) beside the basis and r (b, b), vectors = columns @ r up to what is nothing.

        Columns that are nothing but rounding are replaced by random ones.

        Args:
            vectors: (n, b), without what lies along the basis (n, m).
            size: the largest norm of the vectors before that was taken away: rounding is a share of it.
        """
        columns, r = np.linalg.qr(vectors)
        left = np.abs(np.diag(r))
        gone = left <= GONE * size
        if left.min() > LOST * size:
            return columns, r
        # a column of which little was left is not beside the basis any more, now that it is as long as the others
        columns[:, gone], r[gone] = self._rng.standard_normal((len(columns), int(gone.sum()))), 0.0
        _without(columns, basis)
        again, turn = np.linalg.qr(columns)
        return again, turn @ r

    def _missing(self, values: Array) -> bool:
        """Return whether an eigenvalue below the last level was not found."""
        last = self.before_last(values)
        if not last:
            return False
        # as near to it as the factors tell apart
        below = values[last] - min(1e-6 * values[last], (values[last] - values[last - 1]) / 2)
        self._factors = None  # two at a time are too many for a large matrix, and these are seldom wanted again
        counted = self._factor(self._shifted(-below)).negative()
        return counted is not None and counted > last


def _without(vectors: Array, basis: Array, near: slice = EVERYWHERE) -> Array:
    """Take from the vectors (n, b), in place, what lies along an orthonormal basis (n, m), and return it, (m, b).

    Args:
        near: the columns along which they lie but for rounding.
    """
    first = basis[:, near].T @ vectors
    vectors -= basis[:, near] @ first
    along = basis.T @ vectors  # once leaves rounding of the whole in what is left
    vectors -= basis @ along
    along[near] += first
    return np.asarray(along)
