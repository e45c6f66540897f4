"""The smallest eigenpairs of the normalised Laplacian of one connected graph, by whichever solver suits it.

The Laplacian's low end is the high end of H = D^-1/2 A D^-1/2. Three cases, measured on graphs of 100,000 nodes:

- small: all of it, dense;
- a graph with small separators (a grid, a street network, the neighbours of points in a plane) has an inverse with
  little fill but eigenvalues 1e-5 apart, on which Krylov methods crawl: factorise once, then invert;
- a random graph has an inverse that fills up (a dense n x n in the end) but a gap that a polynomial sees: Lanczos on a
  Chebyshev polynomial of H, which costs products with H alone and half the time of Lanczos on H itself, since the
  orthogonalisation, dearer than a product, is done once for each polynomial. (Zhou, Saad, Tiago and Chelikowsky,
  "Self-consistent-field calculations using Chebyshev-filtered subspace iteration", 2006.)
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.work.eigenspaces import Factors
from explorer.work.progress import step

Array = NDArray[np.float64]
Sparse = Any

DENSE = 1500  # nodes up to which the whole spectrum is computed
# entries between diagonal and band, over n^1.5, up to which a factorisation is tried: a grid has about 0.7, of random
# graphs even one of 5,000 nodes has 18. Factorising one of 20,000 took 30 s, and no other thread ran for 3.5.
PROFILE = 5.0
RESTARTS = 60  # of Lanczos; 15 are many, but where weights are 1e30 apart, eigenvalues lie too close to be told apart
LAST = 4000  # nodes up to which all is computed where Lanczos comes to no end; some 15 s and 400 MB
DEGREE = 12  # of the Chebyshev polynomial
SHIFT = 1e-5  # L + SHIFT is positive definite
TOLERANCE = 1e-6  # of Lanczos on the polynomial; its slope makes residuals |L u - lambda u| of 1e-8 of that


def dense_pairs(h: Sparse) -> tuple[Array, Array]:
    """Return all eigenvalues of I - H ascending, (n,), and eigenvectors (n, n)."""
    values, vectors = np.linalg.eigh(np.eye(h.shape[0]) - h.toarray())
    return values, vectors


def sparse_pairs(h: Sparse, k: int, seed: int = 0) -> tuple[Array, Array]:
    """Return the k < n / 3 smallest eigenvalues of I - H, (k,), and eigenvectors (n, k), of a connected graph.

    Memory is that of H, its factors where they are sparse, and about 2 k vectors; n x n only for at most 4000 nodes
    whose eigenvalues are too close for this.

    Raises:
        Cancelled: nobody waits any more.
        ValueError: the eigenvalues of more nodes are too close.
    """
    from scipy.sparse.linalg import ArpackNoConvergence

    try:
        return _krylov_pairs(h, k, seed)
    except ArpackNoConvergence:
        if h.shape[0] > LAST:
            raise ValueError(
                f"the weights of the edges of {h.shape[0]:,} nodes differ too much for eigenvectors to be told apart"
            ) from None
        values, vectors = dense_pairs(h)
        return values[:k], vectors[:, :k]


def _krylov_pairs(h: Sparse, k: int, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    start = rng.standard_normal(h.shape[0])
    make = _inverse if profile(h) <= PROFILE * h.shape[0] ** 1.5 else _polynomial
    operator = make(h, k, start)
    values, vectors = _ritz(h, operator.largest(k, start))
    # Krylov spaces of one vector hold one vector of an eigenspace; its others come from rounding alone, and not always.
    # What is left beside the space found so far is searched, until nothing better than its last vector is there.
    more = max(2, k // 8)
    while True:
        beside = operator.largest(more, rng.standard_normal(h.shape[0]), vectors)
        better, joint = _ritz(h, np.concatenate([vectors, beside], 1))
        settled = abs(values - better[:k]).max() <= 1e-9
        values, vectors = better[:k], joint[:, :k]
        if settled:
            return values, vectors


def profile(h: Sparse) -> float:
    """Return how many entries a factor inside the band of the reverse Cuthill-McKee order would have."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    order = reverse_cuthill_mckee(h, symmetric_mode=True)
    place = np.empty(h.shape[0], np.int64)
    place[order] = np.arange(len(order))
    filled = np.flatnonzero(np.diff(h.indptr))
    first = np.minimum.reduceat(place[h.indices], h.indptr[filled]) if len(filled) else np.zeros(0)
    return float(np.maximum(place[filled] - first, 0).sum())


@dataclass(frozen=True, slots=True)
class _Operator:
    """A function of H whose largest eigenvalues belong to the Laplacian's smallest."""

    size: int
    apply: Callable[[Array], Array]
    tolerance: float
    basis: Callable[[int], int | None]

    def largest(self, k: int, start: Array, without: Array | None = None) -> Array:
        """Return k eigenvectors of the largest eigenvalues, (n, k), orthogonal to the columns of `without`."""
        from scipy.sparse.linalg import LinearOperator, eigsh

        def matvec(x: Array) -> Array:
            # on a random graph there are minutes of these: whoever asks for something else must not wait for them
            step(f"Eigenvectors of {self.size:,} nodes", math.nan)
            x = x.reshape(-1)
            if without is None:
                return self.apply(x)
            y = self.apply(x - without @ (without.T @ x))
            return np.asarray(y - without @ (without.T @ y))

        operator = LinearOperator((self.size, self.size), matvec=matvec, dtype=np.float64)
        return np.asarray(
            eigsh(operator, k, which="LA", maxiter=RESTARTS, tol=self.tolerance, ncv=self.basis(k), v0=start)[1]
        )


def _inverse(h: Sparse, k: int, start: Array) -> _Operator:
    import scipy.sparse as sp

    n = h.shape[0]
    shifted = ((1 + SHIFT) * sp.identity(n) - h).tocsc()
    # positive definite: no pivoting, so that the order of least fill is kept
    return _Operator(n, Factors(shifted).solve, 1e-12, lambda k: None)


def _polynomial(h: Sparse, k: int, start: Array) -> _Operator:
    import scipy.sparse as sp
    import torch  # a step of the recurrence takes two thirds of the time that it does with scipy

    n = h.shape[0]
    top = _bound(h, k, start)
    centre, half = (top - 1) / 2, (top + 1) / 2  # H's eigenvalues in [-1, top] are damped, those above grow
    twice = ((h - centre * sp.identity(n)) * (2 / half)).tocsr()
    starts, columns, entries = map(torch.from_numpy, (twice.indptr, twice.indices, twice.data))
    with warnings.catch_warnings():  # torch says once that this layout may still change
        warnings.simplefilter("ignore")
        matrix = torch.sparse_csr_tensor(starts, columns, entries, (n, n), check_invariants=False)

    def polynomial(x: Array) -> Array:
        """Apply the Chebyshev polynomial of H mapped from [-1, top] to [-1, 1], by its recurrence."""
        before = torch.from_numpy(np.ascontiguousarray(x))
        now = torch.mv(matrix, before).mul_(0.5)
        for _ in range(DEGREE - 1):
            before, now = now, torch.addmv(before, matrix, now, beta=-1)
        return np.asarray(now.numpy())

    return _Operator(n, polynomial, TOLERANCE, lambda k: min(n, max(2 * k + 1, 40)))


def _bound(h: Sparse, k: int, start: Array) -> float:
    """Return a number below the k-th largest eigenvalue of H: a Ritz value of a few Lanczos steps (interlacing)."""
    from scipy.linalg import eigh_tridiagonal

    steps = min(h.shape[0] - 1, 3 * k + 20)
    diagonal, beside = np.zeros(steps), np.zeros(steps)
    q, before, b = start / np.linalg.norm(start), np.zeros_like(start), 0.0
    done = steps
    for m in range(steps):
        z = h @ q - b * before
        diagonal[m] = q @ z
        z -= diagonal[m] * q
        b = beside[m] = float(np.linalg.norm(z))
        if b < 1e-12:  # the start lies in an invariant space: what was found is exact
            done = m + 1
            break
        before, q = q, z / b
    ritz = eigh_tridiagonal(diagonal[:done], beside[: done - 1], eigvals_only=True)
    # without reorthogonalisation converged values come twice: take one further down, which is still a lower bound
    # H has trace 0 or more, so that for k < n / 3 its k-th largest eigenvalue is above -1/2
    return float(min(max(ritz[max(0, done - 1 - k - k // 2)], -0.5), 0.999))


def _ritz(h: Sparse, vectors: Array) -> tuple[Array, Array]:
    """Return eigenvalues of I - H and orthonormal eigenvectors in the space of `vectors` (Rayleigh and Ritz)."""
    basis, _ = np.linalg.qr(vectors)
    values, turn = np.linalg.eigh(basis.T @ (basis - h @ basis))
    return values, basis @ turn
