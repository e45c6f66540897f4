"""Hold a surface without its frames: one set of positions and faces, each quantity computed once, on demand."""

from __future__ import annotations

import time
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.mesh.surface import curvature, laplacian
from explorer.spaces.mesh.surface.connection import Connection, connection, wrapped
from explorer.spaces.mesh.surface.curvature import Field
from explorer.spaces.mesh.surface.dissection import nested_dissection
from explorer.spaces.mesh.surface.log_map import LogMap
from explorer.spaces.mesh.surface.topology import Halfedges, SurfaceError
from explorer.spaces.mesh.surface.trace import Triangles, triangles
from explorer.work.files import disk_cache as cache

Array = NDArray[np.float64]
Index = NDArray[np.int64]
SOLVER = 5500  # bytes of a solver of potpourri3d for each vertex, as measured for 600 to 10,000 of them
FAR = 1e4  # extents of a surface from 0, beyond which what is computed of it is computed beside it
TRACED = 4  # kinds of patches whose lines are kept


class Shape:
    """Positions (V, 3) and halfedges, as `topology.checked` returns them, with all that follows; read-only."""

    def __init__(self, vertices: Array, halfedges: Halfedges) -> None:
        self.vertices = vertices
        self.halfedges = halfedges
        self._fields: dict[str, Field] = {}
        self._pairs: tuple[Array, Array] = np.zeros(0), np.zeros((len(vertices), 0))
        self._asked = 0  # of the pairs; a few more may be there
        # of patches (radii, directions, radius): the turn of the frames, halfedges and weights, as traced last
        self.traced: dict[tuple[int, int, float], tuple[Array, NDArray[np.int32], Array]] = {}

    @cached_property
    def key(self) -> str:
        """The hash of positions and faces."""
        return cache.content_key(self.vertices, self.halfedges.faces)

    @cached_property
    def connection(self) -> Connection:
        """Frames, log maps of neighbours and transport in the gauge "edge"."""
        return connection(self.vertices, self.halfedges)

    @cached_property
    def triangles(self) -> Triangles:
        """The faces laid flat, for tracing."""
        return triangles(self.halfedges, self.connection)

    @cached_property
    def mass(self) -> Array:
        """A third of the area around each vertex, (V,)."""
        return _fixed(laplacian.vertex_mass(self.vertices, self.halfedges))

    @cached_property
    def cotan(self) -> Array:
        """The weights of the Laplacian, (E,)."""
        return _fixed(laplacian.cotan_weights(self.connection.corner, self.halfedges))

    @cached_property
    def laplacian(self) -> Any:
        """L, CSC (V, V)."""
        return laplacian.stiffness(self.cotan, self.halfedges)

    @cached_property
    def elimination(self) -> Index:
        """Return the order in which the unknowns of a system on this mesh are eliminated, (V,)."""
        return nested_dissection(self.vertices, self.halfedges.edges)

    # Gauges.

    def _field(self, gauge: str) -> Field:
        if gauge not in self._fields:
            self._fields[gauge] = self._computed_field(gauge)
        return self._fields[gauge]

    def _computed_field(self, gauge: str) -> Field:
        if gauge == "principal":
            area = float(self.mass.sum())
            field = curvature.principal_field(self.vertices, self.halfedges, self.connection, area)
        elif gauge == "gradient":
            field = curvature.gradient_field(
                self.halfedges, self.connection, self.laplacian, self.mass, self.elimination
            )
        else:
            field = curvature.edge_field(self.halfedges.count)
        _fixed(field.turn), _fixed(field.ambiguity)
        return field

    def rule_turn(self, gauge: str) -> Array:
        """Return by what the frames of a gauge are turned against "edge", (V,)."""
        return self._field(gauge).turn

    def rule_ambiguity(self, gauge: str) -> Array:
        """Return how undetermined a gauge is, (V,) in [0, 1]."""
        return self._field(gauge).ambiguity

    def rule_singularities(self, gauge: str) -> list[tuple[int, float]]:
        """Return the faces in which the field of a gauge has no direction, with its index."""
        return curvature.singularities(self.halfedges, self.connection, self._field(gauge))

    # Spectrum.

    def spectrum(self, k: int) -> tuple[Array, Array]:
        """Return the k smallest eigenpairs; kept, here and on disk, for as many and for fewer."""
        if k < 1:
            raise SurfaceError(f"a spectrum has one eigenvector or more, not {k}")
        if (parts := self.halfedges.parts) > k:
            raise SurfaceError(f"it is in {parts} parts, which {k} eigenvectors do not tell apart; join or remove some")
        if self._asked < k:
            key = cache.content_key(self.key, "spectrum by rule", k)
            found = cache.load(key)
            values, vectors = found.get("values"), found.get("vectors")
            if values is None or vectors is None or vectors.shape != (self.halfedges.count, max(k, len(values))):
                start = time.perf_counter()
                values, vectors = laplacian.eigenpairs(self.laplacian, self.mass, k, self.elimination)
                cache.store(key, {"values": values, "vectors": vectors}, time.perf_counter() - start)
            self._pairs, self._asked = (_fixed(values), _fixed(vectors)), k
        return self._pairs[0][:k], self._pairs[1][:, :k]

    def heat_kernel_signature(self, times: Array, k: int) -> Array:
        """Return the signature at given times, (V, T).

        Of a surface of more parts than eigenvectors, all have the eigenvalue 0: they are taken together, as any k of
        them would be chance, and say how much of the surface a vertex's part is.
        """
        k = min(k, self.halfedges.count)
        if self.halfedges.parts > k:
            own = np.bincount(self.halfedges.components, self.mass)[self.halfedges.components]
            return np.repeat(self.mass.sum() / own[:, None], times.size, 1)
        values, vectors = self.spectrum(k)
        left_out = self._pairs[0][k : k + 1]
        beyond = float(left_out[0]) if len(left_out) else np.inf
        return laplacian.heat_kernel_signature(values, vectors, float(self.mass.sum()), times, beyond)

    # Solvers, each made when it is first asked for.

    @cached_property
    def _log_map(self) -> LogMap:
        return LogMap(self.halfedges, self.connection, self.cotan, self.mass, self.laplacian, self.elimination)

    @cached_property
    def _heat(self) -> Any:
        import potpourri3d

        return potpourri3d.MeshHeatMethodDistanceSolver(np.array(self.vertices), np.array(self.halfedges.faces))

    @cached_property
    def frame(self) -> tuple[Array, float]:
        """A place (3,) and a unit: lengths that libraries think small or large are neither, seen from there.

        The place is 0 and the unit a power of two, so that nothing is rounded, unless the surface lies far away.
        """
        low, high = self.vertices.min(0), self.vertices.max(0)
        extent = float((high - low).max())
        far = np.abs(low).max() > FAR * extent
        return (low if far else np.zeros(3)), float(2.0 ** np.round(np.log2(extent)))

    @cached_property
    def framed(self) -> Array:
        """The positions seen from the frame, (V, 3)."""
        origin, unit = self.frame
        return _fixed((self.vertices - origin) / unit)

    @cached_property
    def _flips(self) -> Any:
        import potpourri3d

        return potpourri3d.EdgeFlipGeodesicSolver(np.array(self.framed), np.array(self.halfedges.faces))

    @property
    def foreign_bytes(self) -> int:
        """About the bytes of the solvers of potpourri3d."""
        return SOLVER * self.halfedges.count * len({"_heat", "_flips"} & vars(self).keys())

    def vertex(self, vertex: int) -> int:
        """Return the number of a vertex; raise SurfaceError if there is none of that number."""
        if not 0 <= vertex < self.halfedges.count:
            raise SurfaceError(f"there is no vertex {vertex}: they go from 0 to {self.halfedges.count - 1}")
        return int(vertex)

    def _apart(self, vertex: int) -> NDArray[np.bool_]:
        return np.asarray(self.halfedges.components != self.halfedges.components[vertex])

    def log_map(self, vertex: int, turn: float) -> Array:
        """Return (r, θ) of all vertices, (V, 2), in the frame that is turned by `turn` against "edge"."""
        where = self._log_map(self.vertex(vertex))
        found = np.stack([np.abs(where), wrapped(np.angle(where) - turn)], 1)
        found[vertex] = 0.0
        found[self._apart(vertex)] = np.nan
        return _fixed(found)

    def distance(self, vertex: int) -> Array:
        """Return the distance of all vertices, (V,)."""
        found = np.array(self._heat.compute_distance(self.vertex(vertex)), np.float64)
        found[self._apart(vertex)] = np.inf
        return _fixed(found)

    def injectivity_radius(self, vertex: int) -> float:
        """Return the distance of the first face that the log map turns over."""
        r, angle = self.log_map(vertex, 0.0).T
        x, y = (r * np.cos(angle))[self.halfedges.faces], (r * np.sin(angle))[self.halfedges.faces]
        area = (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (x[:, 2] - x[:, 0]) * (y[:, 1] - y[:, 0])
        over = (area <= 0) & ~(self.halfedges.faces == vertex).any(1)
        # not r: where many shortest lines meet, as at the antipode of a sphere, the log map averages them
        distance = self.distance(vertex)
        near = distance[self.halfedges.faces].min(1)
        return float(near[over].min() if over.any() else distance[np.isfinite(distance)].max())

    def path(self, a: int, b: int) -> Array:
        """Return the corners of a geodesic by flipping edges, (n, 3)."""
        a, b = self.vertex(a), self.vertex(b)
        if self._apart(a)[b]:
            raise SurfaceError(f"vertices {a} and {b} lie on parts that are not connected")
        if a == b:
            return _fixed(np.array(self.vertices[[a]]))
        origin, unit = self.frame
        return _fixed(np.array(self._flips.find_geodesic_path(a, b), np.float64) * unit + origin)


def _fixed(values: Array) -> Array:
    values.flags.writeable = False
    return values
