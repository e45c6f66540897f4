"""The part of a frame for points: where they are, what lies on them; frozen values and arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.points.drawing.routes import Route, Routed
from explorer.spaces.points.drawing.spectrum import Curve, Degreed, Spectrum, spectrum
from explorer.spaces.points.fields import Irreps, irreps

Array = NDArray[np.floating]
Index = NDArray[np.int64]
MOST_TICKS, MOST_EDGES = 2000, 2000  # lengths that are marked, and edges whose angles are


@dataclass(frozen=True, slots=True, eq=False)
class Lifted:
    """Logarithms between lifted points (i, a) and (j, b): tables (K, K, N, N) at [a, b, i, j].

    turn: angles of their logarithm in radians; shift: its lengths; distance: alpha turn + (1 - alpha) shift, and a
    point sees another one where that is at most `reach`.
    """

    turn: Array
    shift: Array
    distance: Array
    alpha: float
    reach: float

    @property
    def lifts(self) -> int:
        """Return how many frames a point has."""
        return len(self.distance)


@dataclass(frozen=True, slots=True, eq=False)
class PointsPart(Routed, Degreed):
    """The data that views of points draw, beside the images of the Square.

    Attributes:
        position: (N, 3) of x, one object for an epoch. moved: those of rho(g) x, in the numbering of rho(g) x.
        order: (N,) point i of x is point order[i] of rho(g) x.
        numbers: (N,) atomic numbers, 0 for what is no atom. bonds: (2, B), each pair once.
        bond_kinds: (B,) 1 to 3 for single to triple and 4 for aromatic ones; single where nobody has told.
        edges: (2, E) of the network.
        names: of the points, or (). charge: (N,) of each, or None.
        kind: where the selected layer's values sit: "particle", "edge" or "invariant".
        rep: of the layer: "scalar", "coordinates" or "irreps", with `irreps`.
        x, x_rep: (N, C) the input, as `rep`.
        vectors: {name: (N, 3)} at the points of x, such as velocities and forces; vectors_after: those of rho(g) x, in
            the numbering of x. corners: (8, 3) of the cell of a crystal, or None; corners_after: where g takes them.
        values, answer, expected, difference: F(x), F(rho(g) x), rho'(g) F(x) and their difference; (N, C), (E, C) or
            (1, C); the last two None where there is no action. `answer` and later ones in the numbering of rho(g) x.
        back: the answer as the inverse of g takes it back, in the numbering of x; None unless it is asked for.
        edge_order: (E,) where each edge of x has gone.
        curves: {layer: functions that it shows}, of distances and of angles.
        links: (2, L) pairs from, to, of the numbers of x that a layer with a number for each pair joins most, of F(x);
            answer_links: the same of F(rho(g) x), in the numbering of x.
        target: (N, 3) where the points will be, where that is known.
        routes: {product: its paths, with what they carry of x}.
        lifted: what lifted points of x are to each other, where the network lifts any; lifted_after: those of rho(g) x,
            in the numbering of rho(g) x.
        harmonics: {degree: (corners of `ball(fineness(N))`, 2 l + 1)} for the degrees of the layer from 2 on.
    """

    data: ClassVar[str] = "points"

    position: Array
    moved: Array
    order: Index
    numbers: Index
    bonds: Index
    edges: Index
    kind: str
    rep: str
    x: Array
    values: Array
    answer: Array
    expected: Array | None
    difference: Array | None
    back: Array | None = None
    x_rep: str = "scalar"
    x_irreps: Irreps | None = None
    irreps: Irreps | None = None
    charge: Array | None = None
    vectors: Mapping[str, Array] = field(default_factory=dict)
    vectors_after: Mapping[str, Array] = field(default_factory=dict)
    corners: Array | None = None
    corners_after: Array | None = None
    target: Array | None = None
    links: Index | None = None
    answer_links: Index | None = None
    edge_order: Index = field(default_factory=lambda: np.zeros(0, np.int64))
    bond_kinds: Index = field(default_factory=lambda: np.zeros(0, np.int64))
    names: tuple[str, ...] = ()
    curves: Mapping[str, Curve] = field(default_factory=dict)
    routes: Mapping[str, tuple[Route, ...]] = field(default_factory=dict)
    lifted: Lifted | None = None
    lifted_after: Lifted | None = None
    harmonics: Mapping[int, Array] = field(default_factory=dict)

    def spectrum_at(self, place: int | None) -> Spectrum | None:
        rep = irreps("1x1o") if self.rep == "coordinates" else self.irreps
        values, answer = np.asarray(self.values), np.asarray(self.answer)
        if rep is None or values.shape[1] % rep.size or values.shape != answer.shape:
            return None
        if self.kind == "particle":
            answer = answer[self.order]
            if self.rep == "coordinates":  # seen from their middle, as a shift moves places
                values, answer = values - values.mean(0), answer - answer.mean(0)
            if place is not None and self._is_point(place):
                values, answer = values[[place]], answer[[place]]
        elif self.kind == "edge" and len(self.edge_order) == len(answer):
            answer = answer[self.edge_order]
        return spectrum(rep, values, answer)

    def _is_point(self, place: int) -> bool:
        return self.kind == "particle" and place < len(self.position)

    def called(self, place: int | None) -> str:
        if place is None or not self._is_point(place):
            return ""
        return self.names[place] if place < len(self.names) else f"point {place}"

    def marks(self, curve: Curve) -> Array:
        return self._angles() if curve.quantity == "angle" else self._lengths()

    def _lengths(self) -> Array:
        """Return the lengths of the network's edges in x, each once."""
        if not self.edges.size:
            return np.zeros(0)
        apart = self.position[self.edges[0]] - self.position[self.edges[1]]
        return np.unique(np.linalg.norm(apart, axis=1).round(3))[:MOST_TICKS]

    def _angles(self) -> Array:
        """Return the angles in degrees at j of edges k → j → i of x, each once; none of very many edges."""
        source, target = self.edges
        if not 0 < len(source) <= MOST_EDGES:
            return np.zeros(0)
        inward, outward = np.nonzero((target[:, None] == source[None]) & (source[:, None] != target[None]))
        one = self.position[source[outward]] - self.position[target[outward]]
        other = self.position[source[inward]] - self.position[target[outward]]
        cross = np.linalg.norm(np.cross(one, other), axis=1)
        return np.asarray(np.unique(np.degrees(np.arctan2(cross, (one * other).sum(1))).round(1)))
