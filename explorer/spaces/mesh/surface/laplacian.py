"""The cotangent Laplacian of a mesh, its spectrum, and signatures that follow from it.

(L f)_i = Σ_j w_ij (f_i − f_j) with w_ij = (cot α_ij + cot β_ij) / 2, and M = diag(mass): M⁻¹ L is −Δ.
Pinkall & Polthier, "Computing discrete minimal surfaces and their conjugates", 1993.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.mesh.surface.topology import Halfedges, SurfaceError, preceding
from explorer.work.eigenspaces import Factors, lowest, signed
from explorer.work.progress import step

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Sparse = Any

SHIFT = 1.0  # in units of 1 / area, about the smallest eigenvalue that is not 0: L + shift M is positive definite
SOLVES = 3.3  # solves that an eigenpair takes, for the share that is done
# share of an eigenvalue: far above rounding, and above what positions in single precision move an eigenvalue by; far
# below what parts the 100th from the 101st on average, 1e-2, so that few surfaces without symmetries notice
EDGE = 5e-4


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


def eigenpairs(laplacian: Sparse, mass: Array, k: int, order: Index, seed: int = 0) -> tuple[Array, Array]:
    """Return the smallest λ of L u = λ M u, (k,) or a few more, and u with uᵀ M u = 1, by the rule of `eigenspaces`.

    So many more that the last of the k lies in a whole eigenspace, which a surface with symmetries has many of.

    Args:
        order: in which the unknowns are eliminated.

    Raises:
        SurfaceError: fewer than one, or more than there are vertices.
    """
    import scipy.sparse as sp

    n = len(mass)
    if not 1 <= k <= n:
        raise SurfaceError(f"a surface of {n} vertices has 1 to {n} eigenvectors, not {k}")
    root = np.sqrt(mass)
    symmetric = sp.diags(1 / root) @ laplacian @ sp.diags(1 / root)

    def told(solves: int) -> None:
        step(f"Eigenvectors of {n:,} vertices", min(0.99, solves / (SOLVES * k)))

    # Weyl's law: a surface of area A has about λ A / 4π eigenvalues below λ
    weyl = 4 * np.pi * k / float(mass.sum())
    found = lowest(symmetric, k, SHIFT / mass.sum(), Factors, told, seed, weyl, order)
    return np.maximum(found.values, 0.0), signed(found.vectors / root[:, None])


def heat_kernel_signature(values: Array, vectors: Array, area: float, times: Array, beyond: float = np.inf) -> Array:
    """Return Σ_l w_l exp(−λ_l t A / 4π) u_l(v)² A, (V, T): scaling the mesh by s makes A s², λ s⁻², u² s⁻², so nothing.

    Where the sum ends within an eigenspace, which of its vectors are in it is chance, and a bend that splits the
    eigenvalue chooses others. So w is 1 for eigenvalues that lie well below the first one left out, and falls to 0 on
    the last EDGE of the way there: the signature follows from the surface alone, and changes little where that does.

    Args:
        beyond: the smallest eigenvalue that is left out; none by default.

    Sun, Ovsjanikov, Guibas, "A concise and provably informative multi-scale signature based on heat diffusion", 2009.
    """
    decay = np.exp(-np.outer(values, times.reshape(-1)) * area / (4 * np.pi))
    if np.isfinite(beyond):
        decay *= np.clip((beyond - values) / max(EDGE * beyond, 1e-300), 0.0, 1.0)[:, None]
    return np.asarray(vectors**2 @ decay * area)
