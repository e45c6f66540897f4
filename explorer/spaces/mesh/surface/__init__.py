"""The intrinsic geometry of a triangle mesh: frames, log maps, parallel transport, patches, paths, loops, spectrum.

Vertices are seen counter-clockwise from outside. Both directions of each mesh edge are listed, from j = edges[0] to
i = edges[1], sorted by (i, j). (radius, angle) are the polar coordinates of j in the log map at i; a tangent vector
with coordinates v in frame j is R(transport) v in frame i. Turning the frames by φ makes angle − φ_i of an angle and
transport + φ_j − φ_i of a transport.

de Haan, Weiler, Cohen, Welling, "Gauge Equivariant Mesh CNNs", ICLR 2021; Bronstein, Bruna, Cohen, Veličković,
"Geometric Deep Learning", 2021, section 5.6. Tangent spaces are those of Knöppel, Crane, Pinkall, Schröder, "Globally
optimal direction fields", 2013, section 6: angles at a vertex are scaled so that they add up to 2π.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from explorer.spaces.mesh.surface.topology import SurfaceError, checked

if TYPE_CHECKING:
    from explorer.spaces.mesh.surface.shape import Shape
    from explorer.spaces.mesh.surface.transport import Carried, Loop

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Gauge = Literal["edge", "principal", "gradient", "given"]

GAUGES: tuple[Gauge, ...] = ("edge", "principal", "gradient")  # the rules that fix a frame from the surface alone


class Surface:
    """A triangle mesh with its intrinsic geometry; everything is computed once, on demand, and read-only.

    Args:
        vertices: (V, 3) positions. faces: (F, 3) numbers of vertices, counter-clockwise seen from outside.
        gauge: the rule of the first axis of each frame. "edge": along the first halfedge, which is that of the last
            listed face (at a boundary: along the boundary), as geometry-central has it; it depends on the list of
            faces. "principal": the direction of largest curvature, of its two signs the one in which the mean
            curvature grows. "gradient": up the gradient of the diffused Gaussian curvature, which is intrinsic.
            "given" only comes from `with_frames`.

    Raises:
        SurfaceError: no manifold, in one sentence with the number of the vertex, edge or face; no such gauge.
    """

    def __init__(self, vertices: ArrayLike, faces: ArrayLike, gauge: str = "edge") -> None:
        from explorer.spaces.mesh.surface.shape import Shape

        if gauge not in GAUGES:
            raise SurfaceError(f"there is no gauge {gauge!r}; choose one of {', '.join(GAUGES)}")
        self.shape = Shape(*checked(vertices, faces))
        self._gauge: str = gauge
        self._phi: Array | None = None  # on top of the rule

    def _with(self, shape: Shape, gauge: str, phi: Array | None) -> Surface:
        other = object.__new__(Surface)
        other.shape, other._gauge, other._phi = shape, gauge, phi
        return other

    # The mesh.

    @property
    def vertices(self) -> Array:
        """The positions, (V, 3)."""
        return self.shape.vertices

    @property
    def faces(self) -> Index:
        """The vertices of each face, (F, 3), counter-clockwise seen from outside."""
        return self.shape.halfedges.faces

    @property
    def gauge(self) -> str:
        """The rule that the frames follow: "edge", "principal", "gradient" or "given"."""
        return self._gauge

    @property
    def edges(self) -> Index:
        """Both directions of each mesh edge, (2, E): source and target, sorted by (target, source)."""
        return self.shape.halfedges.edges

    @property
    def boundary(self) -> NDArray[np.bool_]:
        """Return whether a vertex lies on the boundary, (V,)."""
        return self.shape.halfedges.boundary

    @property
    def components(self) -> Index:
        """The number of the connected part that each vertex belongs to, (V,), in the order of first vertices."""
        return self.shape.halfedges.components

    @cached_property
    def key(self) -> str:
        """A hash of positions, faces and frames, 32 hexadecimal digits: equal for equal content."""
        from explorer.work.files.disk_cache import content_key

        return content_key(self.shape.key, self._gauge, self._phi)

    # Frames, log maps, transport.

    @property
    def radius(self) -> Array:
        """The length of each edge, (E,): the distance of source and target."""
        return self.shape.connection.radius

    @cached_property
    def angle(self) -> Array:
        """The direction in which the source lies in the frame of the target, (E,) radians in (−π, π]."""
        from explorer.spaces.mesh.surface.connection import turned_angle

        return turned_angle(self.shape.connection.angle, self.edges, self.turn)

    @cached_property
    def transport(self) -> Array:
        """g_{j→i} in radians, (E,), in (−π, π]: v in frame j is R(g) v in frame i."""
        from explorer.spaces.mesh.surface.connection import turned_transport

        return turned_transport(self.shape.connection.transport, self.edges, self.turn)

    @cached_property
    def frames(self) -> Array:
        """The unit tangent vectors X_i and Y_i = n_i × X_i, (V, 2, 3)."""
        from explorer.spaces.mesh.surface.connection import turned_frames

        return turned_frames(self.shape.connection.frames, self.turn)

    @property
    def normals(self) -> Array:
        """Unit normals, (V, 3), pointing outwards: of the faces around, weighted by their angles."""
        return self.shape.connection.normals

    @cached_property
    def turn(self) -> Array:
        """By what the frames are turned against those of the gauge "edge", (V,) radians."""
        rule = self.shape.rule_turn(self._gauge)
        return rule if self._phi is None else _fixed(rule + self._phi)

    # Laplacian and curvature.

    @property
    def mass(self) -> Array:
        """A third of the area of the faces around each vertex, (V,)."""
        return self.shape.mass

    @property
    def cotan(self) -> Array:
        """w_ij = (cot α + cot β) / 2 on each listed edge, (E,): (L f)_i = Σ_j w_ij (f_i − f_j)."""
        return self.shape.cotan

    @property
    def angle_defect(self) -> Array:
        """2π, at a boundary π, minus the angles around each vertex, (V,): it adds up to 2πχ."""
        return self.shape.connection.angle_defect

    @property
    def ambiguity(self) -> Array:
        """Return how undetermined the gauge is at each vertex, (V,) in [0, 1]; 0 for "edge" and "given".

        "principal": the larger of 1 − |k1 − k2| / (|k1| + |k2|), 1 where the surface is a sphere or flat and no line is
        determined, and 1 − s / (s + (|k1| + |k2|) / √area) with s the growth of the mean curvature along the line, 1
        where neither of its two arrows is. "gradient": 1 − g / (g + m) with g the gradient's norm and m its median.
        """
        return self.shape.rule_ambiguity(self._gauge)

    @cached_property
    def singularities(self) -> list[tuple[int, float]]:
        """The faces in which the direction field that fixes the gauge has no direction, and its index there.

        Halves for the lines of "principal"; on a closed surface they add up to χ. None for "edge" and "given".
        """
        return self.shape.rule_singularities(self._gauge)

    def spectrum(self, k: int) -> tuple[Array, Array]:
        """Return the k smallest λ of L u = λ M u, (k,), and u with uᵀ M u = 1, (V, k).

        Where λ repeats, the vectors are those that a rule chooses of the eigenspace (`explorer.work.eigenspaces`).
        """
        return self.shape.spectrum(k)

    def heat_kernel_signature(self, times: ArrayLike, k: int = 100) -> Array:
        """Return Σ_l exp(−λ_l t) u_l(v)² A, (V, T), the same for a mesh of any scale.

        Times are in units of area / 4π (A / 4π is the square of the radius of a sphere of that area), and A, the area,
        takes the unit from u². Of the smallest `k` eigenpairs; those next to the first one left out count less, and not
        at all where it has the same λ, so that no choice of eigenvectors enters. Sun, Ovsjanikov, Guibas, 2009.
        """
        return self.shape.heat_kernel_signature(np.asarray(times, float), k)

    # Other frames, other positions.

    def turned(self, phi: ArrayLike) -> Surface:
        """Return the same surface with frames turned by phi, (V,) radians; everything else is shared."""
        more = np.broadcast_to(np.asarray(phi, float), (len(self.vertices),))
        return self._with(self.shape, self._gauge, _fixed(more if self._phi is None else self._phi + more))

    def with_frames(self, directions: ArrayLike) -> Surface:
        """Return the same surface with X_i along the tangent part of directions, (V, 3); raise SurfaceError."""
        from explorer.spaces.mesh.surface.connection import turn_towards

        turn = turn_towards(self.shape.connection, np.asarray(directions, float))
        return self._with(self.shape, "given", _fixed(turn))

    def with_gauge(self, gauge: str) -> Surface:
        """Return the same surface with frames by another rule; everything else is shared."""
        if gauge not in GAUGES:
            raise SurfaceError(f"there is no gauge {gauge!r}; choose one of {', '.join(GAUGES)}")
        return self._with(self.shape, gauge, None)

    def moved(self, vertices: ArrayLike) -> Surface:
        """Return the surface with the same faces, gauge and turns at other positions; raise SurfaceError."""
        from explorer.spaces.mesh.surface.shape import Shape

        return self._with(Shape(*checked(vertices, self.faces, self.shape.halfedges)), self._gauge, self._phi)

    # Seen from a vertex.

    def log_map(self, vertex: int) -> Array:
        """Return (r, θ) of each vertex in the frame of one, (V, 2); nan on other connected parts.

        The first call factorises, the others take some milliseconds at 10,000 vertices; affine heat method.
        """
        return self.shape.log_map(vertex, self.turn[vertex])

    def distance(self, vertex: int) -> Array:
        """Return the geodesic distance of each vertex to one, (V,), by the heat method; inf on other parts."""
        return self.shape.distance(vertex)

    def injectivity_radius(self, vertex: int) -> float:
        """Return an estimate: the distance of the first face that the log map of the vertex turns over.

        Up to there the log map is one to one, as far as the mesh can tell; the farthest vertex if there is none. It is
        rather too small, by about h log(4 r / h) with h the mean edge: diffusion rounds the fold off.
        """
        return self.shape.injectivity_radius(vertex)

    def patches(
        self,
        radii: int,
        directions: int,
        radius: float,
        cancelled: Callable[[], bool] | None = None,
        vertices: ArrayLike | None = None,
    ) -> Iterator[float | tuple[Index, Array]]:
        """Yield how much is done, in [0, 1], and at the end (index, weight), both (V, radii, directions, 3).

        From each vertex (or from those named) a straight line runs in the directions 2πd / directions of its frame;
        at the lengths radius (r + 1) / radii it lies in the face with these vertices at these barycentric weights.
        A line that leaves the surface ends at the boundary: what would be beyond has weight 0, so that a convolution
        reads nothing there, as with zero padding. Whole patches are kept on disk.

        Raises:
            Cancelled: nobody waits any more.
        """
        from explorer.spaces.mesh.surface.patches import patches

        chosen = None if vertices is None else np.asarray(vertices, np.int64)
        return patches(self.shape, self.turn, radii, directions, radius, cancelled, chosen)

    def patch_arrays(
        self, radii: int, directions: int, radius: float, vertices: ArrayLike | None = None
    ) -> tuple[Index, Array]:
        """Return what `patches` ends with: (index, weight), both (V, radii, directions, 3)."""
        *_, last = self.patches(radii, directions, radius, vertices=vertices)
        assert isinstance(last, tuple)
        return last

    def path(self, a: int, b: int) -> Array:
        """Return the corners of a geodesic from vertex a to vertex b, (n, 3); raise SurfaceError if there is none."""
        return self.shape.path(a, b)

    def carry(self, a: int, b: int, vector: ArrayLike) -> Carried:
        """Return a vector, (2,) in the frame of a, carried parallel along `path` to b, and how it arrives."""
        from explorer.spaces.mesh.surface.transport import carry

        return carry(self.shape, self.turn, a, b, np.asarray(vector, float))

    def loop(self, vertex: int, rings: int, vector: ArrayLike = (1.0, 0.0)) -> Loop:
        """Return the closed walk around what lies within `rings` edges, and how it turns a vector carried along it.

        Raises:
            SurfaceError: so many rings reach around the surface, or cover it.
        """
        from explorer.spaces.mesh.surface.transport import loop

        return loop(self.shape, self.turn, vertex, rings, np.asarray(vector, float))


def _fixed(values: Array) -> Array:
    """Return a read-only copy."""
    values = np.array(values, float)
    values.flags.writeable = False
    return values
