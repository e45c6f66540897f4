"""Content of a panel of the mesh canvas as plain values: a coloured surface, glyphs, marks and labels. Numpy only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Ink = str | tuple[int, int, int]  # a role of the theme ("accent", "second", ...), or red, green, blue
GROUND = "raised"  # role of what is behind a mesh: the maps have the colour "plot" at zero, which must be seen on it
MOST = 4  # panels
SHADINGS = ("smooth", "flat", "none")


@dataclass(frozen=True, slots=True, eq=False)
class Glyphs:
    """One set of glyphs: a segment, or an arrow, from each point along its direction.

    `points`, `directions` and `normals` are (n, 3) in the units of the mesh; a glyph is lifted along its normal by
    `lift`, so that the surface does not bury it. The head of an arrow is a cone; where arrows are many, it is two lines
    in the plane that the normal is upright on. With `tips` segments have cones too, while they are few. With `above` no
    mark hides them.
    """

    points: Array
    directions: Array
    ink: Ink = "accent"
    normals: Array | None = None
    lift: float = 0.0
    arrows: bool = False
    tips: bool = False
    above: bool = False

    def __post_init__(self) -> None:
        for name in ("points", "directions", "normals"):
            found = getattr(self, name)
            if found is not None and found.shape != (len(self.points), 3):
                raise ValueError(
                    f"The {name} of glyphs have the shape {found.shape}; ({len(self.points)}, 3) is meant."
                )


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """A polyline (n, 3) on a surface; `closed` joins its ends."""

    points: Array
    ink: Ink = "accent"
    closed: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """Marks on a mesh: vertices as spheres, edges as pairs of vertices, faces, and polylines."""

    vertices: tuple[int, ...] = ()
    edges: tuple[tuple[int, int], ...] = ()
    faces: tuple[int, ...] = ()
    paths: tuple[Path, ...] = ()
    ink: Ink = "accent"


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """Words at a point (3,) of a surface; not written where the surface hides the point."""

    point: Array
    words: str
    ink: Ink = "text"


@dataclass(frozen=True, slots=True)
class Slice:
    """A cut: what lies beyond the plane normal · x = offset is taken away."""

    normal: tuple[float, float, float]
    offset: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class MeshLook:
    """One picture of a mesh: vertices (V, 3), faces (F, 3) counter-clockwise from outside, and what is on them.

    Colours are either `colours`, uint8 (V, 3) or on faces (F, 3), or `scalars` (V,) or (F,) between `levels` in
    `table`, uint8 (N, 3 or 4); what is not finite is grey. Without levels the scale reaches the largest magnitude and
    is symmetric where a scalar is negative; without a table the theme's map for signed values, or for errors, is taken.
    `empty` is said in place of a mesh. `few` are the faces (G, 3) that are drawn while a large one turns, where its
    maker knows better ones than those that vertices of one place leave. `around` are further places (n, 3) that are in
    the picture when all is seen: ends of arrows, corners of a box. `shown` are the numbers of the faces that are drawn,
    where all of them would take too long.
    """

    vertices: Array
    faces: Array
    title: str = ""
    note: str = ""
    colours: Array | None = None
    scalars: Array | None = None
    levels: tuple[float, float] | None = None
    table: Array | None = None
    on_faces: bool = False
    bar: str = ""  # what the scalars are, said beside their scale
    shading: str = "smooth"  # or "flat", or "none": colours exactly as given
    wireframe: bool = False
    glyphs: tuple[Glyphs, ...] = ()
    marks: Marks = Marks()
    texts: tuple[Text, ...] = ()
    empty: str = ""
    few: Array | None = None
    around: Array | None = None
    shown: Array | None = None

    def __post_init__(self) -> None:
        if self.vertices.ndim != 2 or self.vertices.shape[1] != 3 or self.faces.ndim != 2 or self.faces.shape[1] != 3:
            raise ValueError(
                f"A mesh has vertices (V, 3) and faces (F, 3), not {self.vertices.shape} and {self.faces.shape}."
            )
        count = len(self.vertices)
        if self.faces.size and not 0 <= int(self.faces.min()) <= int(self.faces.max()) < count:
            raise ValueError(f"A face names a vertex that is not there: the {count} vertices are numbered from 0.")
        places = len(self.faces) if self.on_faces else count
        for name, found, shape in (
            ("colours", self.colours, (places, 3)),
            ("scalars", self.scalars, (places,)),
        ):
            if found is not None and found.shape != shape:
                raise ValueError(f"The {name} of a mesh have the shape {found.shape}; {shape} is meant.")
        if self.shading not in SHADINGS:
            raise ValueError(f"Shading is one of {', '.join(SHADINGS)}, not {self.shading!r}.")

    @property
    def scale(self) -> tuple[float, float]:
        """Return the lowest and the highest value of the colour scale, never the same twice."""
        if self.levels is not None:
            low, high = self.levels
            return (low, high) if high > low else (low, low + 1.0)
        known = self.scalars[np.isfinite(self.scalars)] if self.scalars is not None else np.zeros(0)
        most = float(np.abs(known).max(initial=0.0)) or 1.0
        return (-most, most) if known.size and float(known.min()) < 0 else (0.0, most)


def blank(words: str, title: str = "") -> MeshLook:
    """Return the look of a panel without a mesh, which says why."""
    return MeshLook(np.zeros((0, 3)), np.zeros((0, 3), np.int64), title, empty=words)
