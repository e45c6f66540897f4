"""The three things VTK draws of a panel, each made once and rewritten in place: a surface, lines, marks.

VTK takes a moment to import: this file is imported when the first mesh is drawn.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import (
    vtkDataArray,
    vtkFloatArray,
    vtkIdTypeArray,
    vtkLookupTable,
    vtkPoints,
    vtkUnsignedCharArray,
)
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkDataSetAttributes, vtkPlaneCollection, vtkPolyData
from vtkmodules.vtkRenderingCore import vtkActor, vtkMapper, vtkPolyDataMapper

from widgets.base import theme
from widgets.mesh.drawing.coarse import MANY, stand_in
from widgets.mesh.drawing.glyphs import segments, vertex_normals
from widgets.mesh.drawing.look import Glyphs, Ink, Marks, MeshLook

Array = NDArray[Any]
LINE = 1.5  # width of glyphs, in pixels of the screen
MARK_LINE = 3.5
CARRIED_LINE = 2.0  # of glyphs above marks
HALO = 3.0  # pixels that the ground of a mark is wider
DEPTHS = 65_000  # steps in which VTK counts offsets of depth
AMBIENT = 0.5  # of the light; a face turned to the eye has its colour exactly


def rgb(ink: Ink) -> tuple[int, int, int]:
    """Return red, green and blue of an ink, the theme's where it is a role."""
    if not isinstance(ink, str):
        return ink
    found = QColor(getattr(theme.current(), ink))
    return found.red(), found.green(), found.blue()


def share(ink: Ink) -> tuple[float, float, float]:
    """Return an ink as VTK wants it, from 0 to 1."""
    red, green, blue = rgb(ink)
    return red / 255, green / 255, blue / 255


def mixed(first: Ink, second: Ink, part: float) -> tuple[int, int, int]:
    """Return `part` of the first ink on the second."""
    a, b = np.array(rgb(first)), np.array(rgb(second))
    red, green, blue = (int(v) for v in np.round(part * a + (1 - part) * b))
    return red, green, blue


def scale_table(look: MeshLook) -> Array:
    """Return the colours (N, 4) uint8 of a look's scale: its own, or those of the theme."""
    if look.table is None:
        return theme.signed_map() if look.scale[0] < 0 else theme.error_map()
    if look.table.shape[1] == 4:
        return look.table
    return np.concatenate([look.table, np.full((len(look.table), 1), 255, np.uint8)], 1)


def fill(array: vtkDataArray, values: Array) -> None:
    """Write values (n,) or (n, k) into an array of VTK; its memory stays the same as long as their number does."""
    wide = 1 if values.ndim == 1 else values.shape[1]
    if array.GetNumberOfTuples() != len(values) or array.GetNumberOfComponents() != wide:
        array.SetNumberOfComponents(wide)
        array.SetNumberOfTuples(len(values))
    if len(values):
        vtk_to_numpy(array)[...] = values
    array.Modified()


def bring_forward(mapper: vtkMapper, depth: float) -> None:
    """Have the depth buffer (0 to 1) take something for nearer by so much; in steps, as each makes a new shader."""
    units = -DEPTHS * 2.0 ** round(np.log2(max(depth, 1e-9)))
    mapper.SetRelativeCoincidentTopologyLineOffsetParameters(-1.0, units)
    mapper.SetRelativeCoincidentTopologyPolygonOffsetParameters(-1.0, units)


def _made(data: vtkPolyData) -> tuple[vtkPolyDataMapper, vtkActor]:
    mapper, actor = vtkPolyDataMapper(), vtkActor()
    mapper.SetInputData(data)
    actor.SetMapper(mapper)
    return mapper, actor


class Surface:
    """The faces of a mesh, with colours at its vertices or on its faces."""

    def __init__(self) -> None:
        self.look: MeshLook | None = None
        self.data = vtkPolyData()
        self.points, self.normals, self.scalars = vtkFloatArray(), vtkFloatArray(), vtkFloatArray()
        self.colours = vtkUnsignedCharArray()
        self.table = vtkLookupTable()
        places = vtkPoints()
        self.points.SetNumberOfComponents(3)
        places.SetData(self.points)
        self.data.SetPoints(places)
        self.places = places
        self.mapper, self.actor = _made(self.data)
        self.mapper.SetLookupTable(self.table)
        self.mapper.SetUseLookupTableScalarRange(False)
        self._dressed: tuple[object, ...] = ()
        self.few = vtkPolyData()  # the stand-in while a mesh of many faces moves, between the same vertices
        self._few_of: Array | None = None
        self._few_at = 0

    def show(self, look: MeshLook, wireframe: bool) -> None:
        """Upload what differs from the look before."""
        before = self.look
        moved = before is None or before.vertices is not look.vertices
        joined = before is None or before.faces is not look.faces
        self.look = look
        if moved:
            fill(self.points, look.vertices)
            self.places.Modified()
        if joined:
            cells, corners = vtkCellArray(), vtkIdTypeArray()
            fill(corners, look.faces.ravel())
            cells.SetData(3, corners)
            self.data.SetPolys(cells)
        if moved or joined:
            fill(self.normals, vertex_normals(look.vertices, look.faces))
            self.data.GetPointData().SetNormals(self.normals)
            self.data.Modified()
        self._colour(look)
        self._dress(look, wireframe)

    def coarsen(self, coarse: bool) -> None:
        """Draw the stand-in, where there is one, or all faces."""
        look = self.look
        if look is None or not coarse or len(look.faces) < MANY or look.on_faces:
            self.mapper.SetInputData(self.data)
            return
        if self._few_of is not look.faces:
            cells, corners = vtkCellArray(), vtkIdTypeArray()
            fill(corners, stand_in(look.vertices, look.faces).ravel())
            cells.SetData(3, corners)
            self.few.SetPoints(self.places)
            self.few.SetPolys(cells)
            self._few_of = look.faces
        if self._few_at != self.data.GetMTime():
            self.few.GetPointData().ShallowCopy(self.data.GetPointData())
            self._few_at = self.data.GetMTime()
        self.mapper.SetInputData(self.few)

    def _colour(self, look: MeshLook) -> None:
        at: vtkDataSetAttributes = self.data.GetCellData() if look.on_faces else self.data.GetPointData()
        other: vtkDataSetAttributes = self.data.GetPointData() if look.on_faces else self.data.GetCellData()
        other.SetScalars(None)
        self.mapper.SetScalarVisibility(look.colours is not None or look.scalars is not None)
        if look.on_faces:
            self.mapper.SetScalarModeToUseCellData()
        else:
            self.mapper.SetScalarModeToUsePointData()
        if look.colours is not None:
            fill(self.colours, look.colours)
            at.SetScalars(self.colours)
            self.mapper.SetColorModeToDirectScalars()
            self.mapper.SetInterpolateScalarsBeforeMapping(False)
        elif look.scalars is not None:
            # infinite values are as little a place on the scale as those that are no number
            fill(self.scalars, np.where(np.isfinite(look.scalars), look.scalars, np.nan))
            at.SetScalars(self.scalars)
            self.mapper.SetColorModeToMapScalars()
            # a value between two vertices takes its colour from the table, not a mixture of two colours
            self.mapper.SetInterpolateScalarsBeforeMapping(not look.on_faces)
            colours = scale_table(look)
            self.table.SetNanColor(*share("muted"), 1.0)
            if self.table.GetNumberOfTableValues() != len(colours):
                self.table.SetNumberOfTableValues(len(colours))
            self.table.SetTableRange(*look.scale)
            self.mapper.SetScalarRange(*look.scale)
            vtk_to_numpy(self.table.GetTable())[...] = colours
            # a table that a value was put into is not filled with a rainbow again
            self.table.SetTableValue(0, *(colours[0] / 255))
        else:
            at.SetScalars(None)

    def _dress(self, look: MeshLook, wireframe: bool) -> None:
        wanted = (look.shading, wireframe, theme.current().name)
        if wanted == self._dressed:
            return
        self._dressed = wanted
        prop = self.actor.GetProperty()
        prop.SetColor(*share(mixed("muted", "plot", 0.5)))
        prop.SetAmbient(AMBIENT)
        prop.SetDiffuse(1 - AMBIENT)
        prop.SetSpecular(0.0)
        prop.SetLighting(look.shading != "none")
        if look.shading == "flat":
            prop.SetInterpolationToFlat()
        else:
            prop.SetInterpolationToPhong()
        prop.SetEdgeVisibility(wireframe)
        prop.SetEdgeColor(*share("text"))
        prop.SetEdgeOpacity(0.35)


class _Drawn:
    """Lines and polygons of one colour each, as one actor in front of the surface that they lie on."""

    def __init__(self) -> None:
        self.data = vtkPolyData()
        self.points, self.colours = vtkFloatArray(), vtkUnsignedCharArray()
        self.points.SetNumberOfComponents(3)
        self.places = vtkPoints()
        self.places.SetData(self.points)
        self.data.SetPoints(self.places)
        self.mapper, self.actor = self._before()
        self.mapper.SetColorModeToDirectScalars()

    def _before(self) -> tuple[vtkPolyDataMapper, vtkActor]:
        mapper, actor = _made(self.data)
        mapper.SetResolveCoincidentTopologyToPolygonOffset()
        actor.GetProperty().SetLighting(False)
        return mapper, actor

    def _place(self, points: Array) -> None:
        fill(self.points, points)
        self.places.Modified()


class Lines(_Drawn):
    """The segments of all sets of glyphs, in one piece."""

    def __init__(self) -> None:
        super().__init__()
        self._sets: tuple[Glyphs, ...] = ()
        self._inks: Array = np.zeros((0, 3), np.uint8)
        self._owner: Array = np.zeros(0, np.int64)
        self.data.GetPointData().SetScalars(self.colours)

    def show(self, sets: tuple[Glyphs, ...]) -> None:
        moved = len(sets) != len(self._sets) or any(a is not b for a, b in zip(sets, self._sets))
        inks = np.array([rgb(one.ink) for one in sets], np.uint8).reshape(-1, 3)
        if moved:
            ends, self._owner = segments(sets)
            count = self.points.GetNumberOfTuples()
            self._place(ends)
            if count != len(ends):
                cells, corners = vtkCellArray(), vtkIdTypeArray()
                fill(corners, np.arange(len(ends)))
                cells.SetData(2, corners)
                self.data.SetLines(cells)
        if moved or not np.array_equal(inks, self._inks):
            fill(self.colours, inks[self._owner])
            self.data.Modified()
        self._sets, self._inks = sets, inks
        self.actor.SetVisibility(bool(len(self._owner)))


class Pointed(_Drawn):
    """Marked edges, faces and polylines in a halo. They are few, and made anew when they change."""

    def __init__(self) -> None:
        super().__init__()
        self.halo_mapper, self.halo = self._before()
        self.halo_mapper.SetScalarVisibility(False)
        self.mapper.SetScalarModeToUseCellData()
        self.data.GetCellData().SetScalars(self.colours)
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
        self._place(np.concatenate(groups))
        self.data.SetLines(_cells([np.arange(a, b) for a, b in pairwise(starts[:-1])]))
        self.data.SetPolys(_cells(list(np.arange(starts[-2], starts[-1]).reshape(-1, 3))))
        inks = [ink for _, ink in chains] + [marks.ink] * len(marks.faces)
        fill(self.colours, np.array([rgb(ink) for ink in inks], np.uint8).reshape(-1, 3))
        self.data.Modified()
        self.halo.GetProperty().SetColor(*share("plot"))
        for actor in (self.actor, self.halo):
            actor.SetVisibility(bool(inks))


def _cells(groups: list[Array]) -> vtkCellArray:
    offsets, corners, cells = vtkIdTypeArray(), vtkIdTypeArray(), vtkCellArray()
    fill(offsets, np.cumsum([0, *(len(group) for group in groups)]))
    fill(corners, np.concatenate([np.zeros(0, np.int64), *groups]))
    cells.SetData(offsets, corners)
    return cells


class PanelActors:
    """All that is drawn of one look."""

    def __init__(self) -> None:
        self.surface, self.lines, self.pointed, self.above = Surface(), Lines(), Pointed(), Lines()
        self.actors = (
            self.surface.actor, self.lines.actor, self.pointed.halo, self.pointed.actor, self.above.actor
        )  # fmt: skip

    def show(self, look: MeshLook, wireframe: bool) -> None:
        self.surface.show(look, wireframe)
        self.lines.show(tuple(one for one in look.glyphs if not one.above))
        self.above.show(tuple(one for one in look.glyphs if one.above))
        self.pointed.show(look.marks, look)

    def cut(self, planes: vtkPlaneCollection) -> None:
        for actor in self.actors:
            actor.GetMapper().SetClippingPlanes(planes)

    def sharpen(self, ratio: float, coarse: bool, step: float) -> None:
        """Draw lines as wide as they are on the screen, for pictures of so many pixels to one of it.

        What lies on a surface is brought forward by about its width, `step` in the depth buffer for each pixel.
        """
        self.surface.coarsen(coarse)
        self.surface.actor.GetProperty().SetLineWidth(ratio)
        for actor, width in zip(self.actors[1:], (LINE, MARK_LINE + HALO, MARK_LINE, CARRIED_LINE)):
            actor.GetProperty().SetLineWidth(width * ratio)
        for actor, pixels in zip(self.actors[1:], (LINE, MARK_LINE, MARK_LINE + HALO, MARK_LINE + 2 * HALO)):
            bring_forward(actor.GetMapper(), pixels * ratio * step)
