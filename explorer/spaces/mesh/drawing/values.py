"""The part of a frame for meshes: the surface, the values on it, the patch of one vertex; frozen values and arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """A surface as it is drawn; arrays read-only.

    `vertices` (V, 3), `faces` (F, 3), `axes` (V, 2, 3) the frames in use, `edges` (2, E) listed edges (from, to). `key`
    names vertices and faces of x, for what is kept of them; a moved shape has none. `labels` (V,): known parts, or -1.
    """

    vertices: NDArray[np.float64]
    faces: NDArray[np.int64]
    axes: NDArray[np.float64]
    edges: NDArray[np.int64]
    key: str = ""
    labels: NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class GeodesicPatch:
    """The surface as one vertex sees it: the log map there, and the network's own patch.

    `polar` (V, 2) are r and theta of every vertex in the frame of `vertex` (NaN on other parts), exact up to
    `injectivity`, the radius where the surface begins to overlap itself. `points` (radii, directions, 3) are the places
    in space that the network's patch looks at, or None; `reach` is its radius. `turn` is by how much the frame of
    rho(g) x is turned against that of x, radians.
    """

    vertex: int
    polar: Array
    injectivity: float
    reach: float
    points: Array | None = None
    turn: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Transported:
    """A tangent vector carried along a way on the surface.

    `points` (n, 3) and `vectors` (n, 3) in space, from the start; `angle` is by how much the vector is turned at the
    end: against the frame of the last vertex on a path, against itself round a loop (the holonomy). `enclosed` is the
    Gaussian curvature inside of a loop, which the holonomy equals modulo 2 pi (Gauss-Bonnet); None on a path.
    """

    points: Array
    vectors: Array
    angle: float
    enclosed: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class MeshPart:
    """The data that views of meshes draw, beside the images of the Square.

    Attributes:
        shape: the surface of x; one object for an epoch. moved: that of rho(g) x, in its own numbering.
        order: (V,) vertex i of x is vertex order[i] of rho(g) x.
        turn: (V,) radians by which the frame of each vertex of x was turned.
        stretch: the largest relative change of an edge's length.
        kind: where the selected layer's values sit: "vertex", "edge" or "invariant".
        rep: "scalar", "tangent" or "regular"; `orders` are those of one block of a tangent field, `directions` the
            order of the group of a regular one.
        x, gx: the input, (V, C), before and after; `x_rep` says what they are, as `rep`.
        values, answer, expected, difference: F(x), F(rho(g) x), rho'(g) F(x) and their difference, (V, C), (E, C) or
            (1, C); the last two None where there is no action. `answer` and later ones in the numbering of rho(g) x.
        ambiguity: (V,) in [0, 1] how little a fixed gauge is determined; None where the gauge is free.
        singular: faces in which the direction that fixes the gauge has a singularity, with the index.
        gauge: the rule that chose the frames.
        kernels: {layer: (rows, radii, directions)} weight functions or basis kernels to draw, with `kernel_names`.
        patch, path, loop: at the selected vertex, in idle time.
    """

    data: ClassVar[str] = "mesh"

    shape: Shape
    moved: Shape
    order: NDArray[np.int64]
    turn: Array
    kind: str
    rep: str
    x: Array
    gx: Array
    values: Array
    answer: Array
    expected: Array | None
    difference: Array | None
    stretch: float = 0.0
    orders: tuple[int, ...] = ()
    directions: int = 0
    x_rep: str = "scalar"
    ambiguity: Array | None = None
    singular: tuple[tuple[int, float], ...] = ()
    gauge: str = "edge"
    kernels: Mapping[str, Array] = field(default_factory=dict)
    kernel_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    patch: GeodesicPatch | None = None
    path: Transported | None = None
    loop: Transported | None = None
