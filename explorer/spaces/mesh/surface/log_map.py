"""The log map of a vertex by the affine heat method: where all others lie, seen from there.

The affine map A_i: x → ρ_i x + u_i from the plane at i to the plane at the source is carried along an edge as
ρ_i = ρ_j e^{iτ}, u_i = u_j + ρ_j p_ji, with τ the transport i → j and p_ji where i lies seen from j. Diffused for a
short time from (1, 0) at the source and divided by plain diffusion, u is the log map. That is two sparse solves for any
source, with the same factors, and exact, whatever the triangles, where the surface is flat.

Soliman & Sharp, "The affine heat method", 2025: the strategy AffineLocal of potpourri3d, but on a connection that keeps
the flat corners of a boundary flat, where potpourri3d's is off by a third of the distance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.mesh.surface.connection import Connection
from explorer.spaces.mesh.surface.topology import Halfedges
from explorer.work.eigenspaces import Factors

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Complex = NDArray[np.complex128]


class LogMap:
    """The factorised operators of one surface; a call is two solves.

    Args:
        cotan: (E,). mass: (V,). laplacian: their L, CSC (V, V). order: (V,) in which unknowns are eliminated.
    """

    def __init__(
        self, halfedges: Halfedges, connection: Connection, cotan: Array, mass: Array, laplacian: Any, order: Index
    ) -> None:
        import scipy.sparse as sp

        source, target = halfedges.edges
        n, each = halfedges.count, np.arange(halfedges.count)
        time = float(connection.radius.mean()) ** 2
        rows, columns = np.concatenate([target, each]), np.concatenate([source, each])
        diagonal = np.bincount(target, cotan, minlength=n)
        carried = -cotan * np.exp(1j * connection.transport[halfedges.reverse])
        turning = sp.csc_matrix((np.concatenate([carried, diagonal]), (rows, columns)), shape=(n, n))
        seen = connection.radius * np.exp(1j * connection.angle[halfedges.reverse])
        self._spread: Any = sp.csr_matrix((time * cotan * seen, (target, source)), shape=(n, n))
        self._turning: Any = Factors(sp.diags(mass) + time * turning, order)
        self._plain: Any = Factors(sp.diags(mass) + time * laplacian, order)

    def __call__(self, vertex: int) -> Complex:
        """Return where all vertices lie in the frame of one in the gauge "edge", (V,); nan where no heat arrives."""
        spot = np.zeros(self._spread.shape[0], np.complex128)
        spot[vertex] = 1.0
        right = self._spread @ self._turning.solve(spot)
        u, v, heat = self._plain.solve(np.stack([right.real, right.imag, spot.real], 1)).T
        arrived = heat != 0
        heat = np.where(arrived, heat, 1.0)
        return np.where(arrived, (u + 1j * v) / heat, np.nan)
