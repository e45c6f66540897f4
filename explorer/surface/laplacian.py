"""The cotangent Laplacian of a mesh, its spectrum, and signatures that follow from it.

(L f)_i = Σ_j w_ij (f_i − f_j) with w_ij = (cot α_ij + cot β_ij) / 2, and M = diag(mass): M⁻¹ L is −Δ.
Pinkall & Polthier, "Computing discrete minimal surfaces and their conjugates", 1993.
"""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.progress import step
from explorer.surface.topology import Halfedges, SurfaceError, preceding

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Sparse = Any

DENSE = 400  # vertices up to which the whole spectrum is computed
SHIFT = 1e-8  # in units of the smallest eigenvalues' size, 1 / area: L + shift M can be factorised
SOLVES = 2.55  # solves that an eigenpair takes, for the share that is done


def vertex_mass(vertices: Array, halfedges: Halfedges) -> Array:
    """Return a third of the area of the faces around each vertex, (V,)."""
    corners = vertices[halfedges.faces]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
    return np.asarray(np.bincount(halfedges.tail, np.repeat(area, 3) / 3, minlength=halfedges.count), np.float64)


def cotan_weights(corner: Array, halfedges: Halfedges) -> Array:
    """Return w_ij = (cot α + cot β) / 2 of each listed edge, (E,), one term at a boundary."""
    h = np.arange(len(corner))
    half = 0.5 / np.tan(corner[preceding(h)])  # the angle opposite of a halfedge
    one = np.zeros(halfedges.edges.shape[1])
    one[halfedges.column] = half
    return one + one[halfedges.reverse]


def stiffness(cotan: Array, halfedges: Halfedges) -> Sparse:
    """Return L, CSC (V, V), positive semidefinite."""
    import scipy.sparse as sp

    source, target = halfedges.edges
    n = halfedges.count
    diagonal = np.bincount(target, cotan, minlength=n)
    rows, columns = np.concatenate([target, np.arange(n)]), np.concatenate([source, np.arange(n)])
    return sp.csc_matrix((np.concatenate([-cotan, diagonal]), (rows, columns)), shape=(n, n))


class Factors:
    """The factors of a symmetric positive definite matrix, (V, V).

    Args:
        order: which unknown is eliminated at each step, as `dissection.nested_dissection` says.
    """

    def __init__(self, matrix: Sparse, order: Index) -> None:
        from scipy.sparse.linalg import splu

        self.order = order
        ordered = matrix.tocsr()[order].tocsc()[:, order]
        # positive definite: no pivoting
        options = {"SymmetricMode": True}
        self._lu: Any = splu(ordered, permc_spec="NATURAL", diag_pivot_thresh=0.0, options=options)

    def solve(self, right: NDArray[Any]) -> NDArray[Any]:
        """Return x with A x = right, (V,) or (V, k)."""
        found = np.empty_like(right)
        found[self.order] = self._lu.solve(right[self.order])
        return found


def eigenpairs(laplacian: Sparse, mass: Array, k: int, order: Index, seed: int = 0) -> tuple[Array, Array]:
    """Return the k smallest λ of L u = λ M u, (k,), and u, (V, k), with uᵀ M u = 1; the largest entry is positive.

    Args:
        order: in which the unknowns are eliminated.

    Raises:
        SurfaceError: fewer than one, or more than there are vertices.
    """
    import scipy.sparse as sp
    from scipy.linalg import eigh
    from scipy.sparse.linalg import LinearOperator, eigsh

    n = len(mass)
    if not 1 <= k <= n:
        raise SurfaceError(f"a surface of {n} vertices has 1 to {n} eigenvectors, not {k}")
    root = np.sqrt(mass)
    symmetric = sp.diags(1 / root) @ laplacian @ sp.diags(1 / root)
    if n <= DENSE or k > n // 3:
        values, vectors = eigh(symmetric.toarray(), subset_by_index=(0, k - 1))
    else:
        shift = SHIFT / mass.sum()
        factors = Factors(symmetric + shift * sp.identity(n), order)
        solves = count()

        def solve(right: Array) -> Array:
            step(f"Eigenvectors of {n:,} vertices", min(0.99, next(solves) / (SOLVES * k)))
            return factors.solve(right)

        inverse = LinearOperator((n, n), matvec=solve, dtype=np.float64)
        start = np.random.default_rng(seed).standard_normal(n)
        values, vectors = eigsh(symmetric, k, sigma=-shift, which="LM", OPinv=inverse, v0=start)
        order = np.argsort(values)
        values, vectors = values[order], vectors[:, order]
    vectors = vectors / root[:, None]
    peak = np.take_along_axis(vectors, np.abs(vectors).argmax(0)[None], 0)
    return np.maximum(values, 0.0), vectors * np.where(peak < 0, -1.0, 1.0)


def heat_kernel_signature(values: Array, vectors: Array, area: float, times: Array) -> Array:
    """Return Σ_l exp(−λ_l t A / 4π) u_l(v)² A, (V, T): scaling the mesh by s makes A s², λ s⁻², u² s⁻², so nothing.

    Sun, Ovsjanikov, Guibas, "A concise and provably informative multi-scale signature based on heat diffusion", 2009.
    """
    decay = np.exp(-np.outer(values, times.reshape(-1)) * area / (4 * np.pi))
    return np.asarray(vectors**2 @ decay * area)
