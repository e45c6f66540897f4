"""The meshes of a panel as pyvista draws them, each made once and rewritten in place: a surface, glyphs, marks.

pyvista takes a moment to import: this file is imported when the first mesh is drawn.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyvista as pv
from numpy.typing import NDArray

from widgets.base.look import theme
from widgets.spaces.mesh.drawing.coarse import MANY, stand_in
from widgets.spaces.mesh.drawing.glyphs import HEAD, WIDTH, cones, segments, vertex_normals
from widgets.spaces.mesh.drawing.inks import ink_of, mixed, rgb, scale_table
from widgets.spaces.mesh.drawing.look import Glyphs, Ink, Marks, MeshLook, Slice

Array = NDArray[Any]
LINE = 1.5  # width of glyphs, in pixels of the screen
MARK_LINE = 3.5
CARRIED_LINE = 2.0  # of glyphs above marks
HALO = 3.0  # pixels that the ground of a mark is wider
DEPTHS = 65_000  # steps in which VTK counts offsets of depth
AMBIENT = 0.5  # of the light; a face turned to the eye has its colour exactly
SIDES = 10  # of the cone that is an arrow's head
NORMALS, VALUES, COLOURS = "normals", "values", "colours"


def name_of(ink: Ink) -> str:
    return ink_of(ink).name()


def place(mesh: pv.PolyData, points: Array) -> None:
    """Write the points of a mesh; their memory stays the same as long as their number does."""
    if mesh.n_points != len(points):
        mesh.clear_data()
        mesh.points = np.array(points, np.float32)
        return
    there: Any = mesh.points  # pyvista's types know no slices
    there[...] = points
    mesh.points = there  # says that they are others


def write(data: pv.DataSetAttributes, name: str, values: Array) -> None:
    """Write values (n,) or (n, k) under a name; their memory stays the same as long as their shape does."""
    there: Any = data[name] if name in data else None
    if there is not None and there.shape == values.shape:
        there[...] = values
    elif len(values):
        data[name] = np.array(values)


class Drawn:
    """A mesh, and the actor that draws it."""

    def __init__(self, mesh: pv.PolyData | None = None) -> None:
        self.mesh = pv.PolyData() if mesh is None else mesh
        self.mapper = pv.DataSetMapper(self.mesh)
        self.actor = pv.Actor(mapper=self.mapper)

    def cut(self, at: Slice | None) -> None:
        """Take away what lies beyond a plane."""
        self.mapper.RemoveAllClippingPlanes()
        if at is not None:
            normal = np.array(at.normal)
            self.mapper.AddClippingPlane(pv.generate_plane(-normal, normal * at.offset / (normal @ normal)))


class Surface(Drawn):
    """The faces of a mesh, with colours at its vertices or on its faces."""

    def __init__(self) -> None:
        super().__init__()
        self.look: MeshLook | None = None
        self.table = pv.LookupTable()
        self.mapper.lookup_table = self.table
        self._dressed: tuple[object, ...] = ()
        self._few: pv.PolyData | None = None  # the stand-in while many faces move, between the same vertices
        self._few_of: Array | None = None
        self._few_at = 0

    def show(self, look: MeshLook, wireframe: bool) -> None:
        """Upload what differs from the look before."""
        before = self.look
        moved = before is None or before.vertices is not look.vertices
        joined = before is None or before.faces is not look.faces
        self.look = look
        if moved:
            place(self.mesh, look.vertices)
        if joined:
            self.mesh.cell_data.clear()
            self.mesh.faces = pv.CellArray.from_regular_cells(look.faces)
        if moved or joined:
            write(self.mesh.point_data, NORMALS, vertex_normals(look.vertices, look.faces).astype(np.float32))
            self.mesh.point_data.active_normals_name = NORMALS if len(look.vertices) else None
        self._colour(look)
        self._dress(look, wireframe)

    def coarsen(self, coarse: bool) -> None:
        """Draw the stand-in, where there is one, or all faces; of those that cover each other too often, some."""
        look = self.look
        thin = look is not None and look.shown is not None
        if look is None or not (thin or (coarse and len(look.faces) >= MANY and not look.on_faces)):
            self._draw(self.mesh)
            return
        if self._few is None or self._few_of is not look.faces:
            self._few = pv.PolyData()
            self._few.SetPoints(self.mesh.GetPoints())
            faces = look.faces[look.shown] if thin else look.few
            faces = stand_in(look.vertices, look.faces) if faces is None else faces
            self._few.faces = pv.CellArray.from_regular_cells(faces)
            self._few_of = look.faces
        if self._few_at != self.mesh.GetMTime():
            self._few.GetPointData().ShallowCopy(self.mesh.GetPointData())
            if thin:
                self._take_cells(self._few, look.shown)
            self._few_at = self.mesh.GetMTime()
        self._draw(self._few)

    def _take_cells(self, few: pv.PolyData, numbers: Array | None) -> None:
        """Give some of the faces their colours or values."""
        all_of = self.mesh.cell_data
        for name in all_of:
            write(few.cell_data, name, np.asarray(all_of[name])[numbers])
        few.cell_data.active_scalars_name = all_of.active_scalars_name

    def _draw(self, mesh: pv.PolyData) -> None:
        if self.mapper.dataset is not mesh:
            self.mapper.dataset = mesh

    def _colour(self, look: MeshLook) -> None:
        mapper, mesh = self.mapper, self.mesh
        at, other = (mesh.cell_data, mesh.point_data) if look.on_faces else (mesh.point_data, mesh.cell_data)
        other.active_scalars_name = None
        mapper.scalar_visibility = look.colours is not None or look.scalars is not None
        mapper.scalar_map_mode = "cell" if look.on_faces else "point"
        # a value between two vertices takes its colour from the table, not a mixture of two colours
        mapper.interpolate_before_map = look.scalars is not None and not look.on_faces
        if look.colours is not None:
            write(at, COLOURS, look.colours)
            mapper.color_mode = "direct"
        elif look.scalars is not None:
            # infinite values are as little a place on the scale as those that are no number
            write(at, VALUES, np.where(np.isfinite(look.scalars), look.scalars, np.nan).astype(np.float32))
            mapper.color_mode = "map"
            self.table.nan_color = name_of("muted")
            self.table.scalar_range = mapper.scalar_range = look.scale
            self.table.values = scale_table(look)
        name = COLOURS if look.colours is not None else VALUES if look.scalars is not None else None
        at.active_scalars_name = name if name is not None and name in at else None

    def _dress(self, look: MeshLook, wireframe: bool) -> None:
        wanted = (look.shading, wireframe, theme.current().name)
        if wanted == self._dressed:
            return
        self._dressed = wanted
        prop = self.actor.prop
        prop.color = mixed("muted", "plot", 0.5)
        prop.ambient, prop.diffuse, prop.specular = AMBIENT, 1 - AMBIENT, 0.0
        prop.lighting = look.shading != "none"
        prop.interpolation = "Flat" if look.shading == "flat" else "Phong"
        prop.show_edges, prop.edge_color, prop.edge_opacity = wireframe, name_of("text"), 0.35


class Above(Drawn):
    """Lines and faces of one colour each, in front of the surface that they lie on."""

    def __init__(self, width: float, forward: float, mesh: pv.PolyData | None = None) -> None:
        super().__init__(mesh)
        self.width, self.forward = width, forward  # pixels of the screen
        self.mapper.color_mode = "direct"
        self.mapper.resolve = "polygon_offset"
        self.actor.prop.lighting = False

    def sharpen(self, ratio: float, step: float) -> None:
        """Draw lines for so many pixels to one of the screen; one pixel of depth is `step` in the depth buffer."""
        self.actor.prop.line_width = self.width * ratio
        # in steps, as each makes a new shader
        units = -DEPTHS * 2.0 ** round(np.log2(max(self.forward * ratio * step, 1e-9)))
        self.mapper.SetRelativeCoincidentTopologyLineOffsetParameters(-1.0, units)
        self.mapper.SetRelativeCoincidentTopologyPolygonOffsetParameters(-1.0, units)


class Lines(Above):
    """The segments of all sets of glyphs in one piece, and the cones at the tips of arrows."""

    def __init__(self, width: float, forward: float) -> None:
        super().__init__(width, forward)
        self.heads = Above(width, forward)
        self.heads.actor.prop.lighting = True
        self.heads.actor.prop.interpolation = "Flat"
        self.heads.actor.prop.ambient, self.heads.actor.prop.diffuse = 0.6, 0.5
        self._cone = pv.Cone(center=(0.5, 0, 0), direction=(1, 0, 0), height=1.0, radius=WIDTH / HEAD, resolution=SIDES)
        self._cone.clear_data()
        self._sets: tuple[Glyphs, ...] = ()
        self._inks: Array = np.zeros((0, 3), np.uint8)
        self._owners: tuple[Array, Array] = np.zeros(0, np.int64), np.zeros(0, np.int64)

    def show(self, sets: tuple[Glyphs, ...]) -> None:
        inks = np.array([rgb(one.ink) for one in sets], np.uint8).reshape(-1, 3)
        moved = len(sets) != len(self._sets) or any(a is not b for a, b in zip(sets, self._sets))
        if moved:
            self._place(sets)
        if moved or not np.array_equal(inks, self._inks):
            for mesh, owner in zip((self.mesh, self.heads.mesh), self._owners):
                write(mesh.point_data, COLOURS, inks[owner])
                mesh.point_data.active_scalars_name = COLOURS if len(owner) else None
        self._sets, self._inks = sets, inks

    def _place(self, sets: tuple[Glyphs, ...]) -> None:
        bases, ways, heads = cones(sets)
        ends, owner = segments(sets, len(heads) > 0)
        others = self.mesh.n_points != len(ends)
        place(self.mesh, ends)
        if others:
            pairs: Array = np.arange(len(ends)).reshape(-1, 2)
            self.mesh.lines = pv.CellArray.from_regular_cells(pairs)
        if len(bases):
            at = pv.PolyData(bases)
            at["ways"], at["lengths"] = ways, np.linalg.norm(ways, axis=1)
            made = at.glyph(orient="ways", scale="lengths", geom=self._cone)
            made.clear_data()
            self.heads.mesh.copy_from(made)
        self._owners = owner, np.repeat(heads, self._cone.n_points)
        self.actor.visibility, self.heads.actor.visibility = bool(len(owner)), bool(len(bases))


class Pointed(Above):
    """Marked edges, faces and polylines in a halo. They are few, and made anew when they change."""

    def __init__(self) -> None:
        super().__init__(MARK_LINE, MARK_LINE + HALO)
        self.mapper.scalar_map_mode = "cell"
        self.halo = Above(MARK_LINE + HALO, MARK_LINE, self.mesh)
        self.halo.mapper.scalar_visibility = False
        self._kept: tuple[object, ...] = ()

    def show(self, marks: Marks, look: MeshLook) -> None:
        kept = (marks, look.vertices, look.faces, theme.current().name)
        if len(kept) == len(self._kept) and all(a is b for a, b in zip(kept, self._kept)):
            return
        self._kept = kept
        vertices, faces = look.vertices, look.faces
        chains = [(vertices[list(pair)], marks.ink) for pair in marks.edges]
        for path in marks.paths:
            chains.append((np.concatenate([path.points, path.points[:1]]) if path.closed else path.points, path.ink))
        corners = vertices[faces[list(marks.faces)]].reshape(-1, 3)
        groups = [*(points for points, _ in chains), corners]
        starts = np.cumsum([0, *(len(points) for points in groups)])
        inks = [ink for _, ink in chains] + [marks.ink] * len(marks.faces)
        self.halo.actor.prop.color = name_of("plot")
        self.actor.visibility = self.halo.actor.visibility = bool(inks)
        self.mesh.clear_data()
        self.mesh.points = np.concatenate(groups).astype(np.float32)
        self.mesh.lines = _cells([np.arange(a, b) for a, b in pairwise(starts[:-1])])
        self.mesh.faces = _cells(list(np.arange(starts[-2], starts[-1]).reshape(-1, 3)))
        write(self.mesh.cell_data, COLOURS, np.array([rgb(ink) for ink in inks], np.uint8).reshape(-1, 3))
        self.mesh.cell_data.active_scalars_name = COLOURS if inks else None


def _cells(groups: list[Array]) -> pv.CellArray:
    offsets = np.cumsum([0, *(len(group) for group in groups)])
    return pv.CellArray.from_arrays(offsets, np.concatenate([np.zeros(0, np.int64), *groups]))


class PanelActors:
    """The actors that draw one look."""

    def __init__(self) -> None:
        self.surface, self.pointed = Surface(), Pointed()
        self.lines = Lines(LINE, LINE)
        self.above = Lines(CARRIED_LINE, MARK_LINE + 2 * HALO)
        self._over: tuple[Above, ...] = (
            self.lines, self.lines.heads, self.pointed.halo, self.pointed, self.above, self.above.heads
        )  # fmt: skip

    @property
    def drawn(self) -> tuple[Drawn, ...]:
        return (self.surface, *self._over)

    def show(self, look: MeshLook, wireframe: bool) -> None:
        self.surface.show(look, wireframe)
        self.lines.show(tuple(one for one in look.glyphs if not one.above))
        self.above.show(tuple(one for one in look.glyphs if one.above))
        self.pointed.show(look.marks, look)

    def sharpen(self, ratio: float, coarse: bool, step: float) -> None:
        """Draw lines as wide as they are on the screen, for pictures of so many pixels to one of it.

        What lies on a surface is brought forward by about its width, `step` in the depth buffer for each pixel.
        """
        self.surface.coarsen(coarse)
        self.surface.actor.prop.line_width = ratio
        for one in self._over:
            one.sharpen(ratio, step)
