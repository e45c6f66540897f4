"""The canvas of meshes in real windows: what is drawn where, what hands do, and that nothing of it is left."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shiboken6
from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.widgets.parts.driving.mouse import double_click, move
from tests.widgets.parts.frames.sample_meshes import make_frames, make_looks, make_sphere, make_torus
from widgets.base.look import theme
from widgets.spaces.mesh.drawing import camera, glyphs
from widgets.spaces.mesh.drawing.board import Cell
from widgets.spaces.mesh.drawing.canvas import STEP, TURN, MeshCanvas
from widgets.spaces.mesh.drawing.coarse import ACROSS, MANY, stand_in
from widgets.spaces.mesh.drawing.look import Glyphs, Marks, MeshLook, Slice, Text, blank
from widgets.spaces.mesh.drawing.look import Path as Polyline
from widgets.spaces.mesh.drawing.pictures import FIRST, FULL
from widgets.window.automation.recording import as_array

ROOT = Path(__file__).resolve().parents[4]
LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton
PLAIN, ALT, SHIFT, CTRL = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.AltModifier,
                           Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier)  # fmt: skip


@pytest.fixture(autouse=True)
def in_light() -> Any:
    theme.use("light")
    yield
    theme.use("light")


def shown(qtbot: Any, *looks: MeshLook, size: tuple[int, int] = (760, 420)) -> MeshCanvas:
    canvas = MeshCanvas()
    qtbot.addWidget(canvas)
    canvas.resize(*size)
    canvas.show_looks(looks)
    canvas.show()
    qtbot.waitExposed(canvas)
    painted(canvas)
    return canvas


def painted(canvas: MeshCanvas) -> np.ndarray:
    """Return the pixels (height, width, 3) at rest."""
    canvas.grab()
    canvas.settle()
    return as_array(canvas.grab().toImage()).astype(int)


def colour_at(pixels: np.ndarray, spot: QPointF) -> np.ndarray:
    return pixels[round(spot.y()), round(spot.x())]


def inside(canvas: MeshCanvas, pixels: np.ndarray, panel: int) -> np.ndarray:
    """Return the pixels of one panel without its border."""
    box = canvas.cells()[panel].toRect().adjusted(2, 2, -2, -2)
    return pixels[box.top() : box.bottom(), box.left() : box.right()]


def drag(canvas: MeshCanvas, start: QPoint, *stops: QPoint, keys: Any = PLAIN, button: Any = LEFT) -> None:
    QTest.mousePress(canvas, button, keys, start)
    for stop in stops:
        move(canvas, stop, button, keys)
    QTest.mouseRelease(canvas, button, keys, stops[-1])


def wheel(canvas: MeshCanvas, at: QPointF, notches: float, keys: Any = PLAIN) -> None:
    turn, phase = QPoint(0, round(120 * notches)), Qt.ScrollPhase.NoScrollPhase
    where = QPointF(canvas.mapToGlobal(at))
    event = QWheelEvent(at, where, QPoint(), turn, Qt.MouseButton.NoButton, keys, phase, False)
    QApplication.sendEvent(canvas, event)


def facing(canvas: MeshCanvas, look: MeshLook, least: float = 0.3) -> np.ndarray:
    """Return the vertices of a sphere about 0 that look to the eye, by the angle between normal and way."""
    way = canvas.eye.position - look.vertices
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    return np.flatnonzero((way * look.vertices).sum(1) > least)


def ball(times: int = 2, **more: Any) -> MeshLook:
    return MeshLook(*make_sphere(times), **more)


# what is drawn ----------------------------------------------------------------------------------------------------
def test_vertices_have_their_colours_where_they_are_projected(qtbot: Any) -> None:
    vertices, faces = make_sphere(3)
    rng = np.random.default_rng(0)
    colours = ((vertices @ rng.standard_normal((3, 3)) / 3 + 1) * 120).clip(0, 255).astype(np.uint8)
    looks = [MeshLook(vertices, faces, colours=c, shading="none") for c in (colours, 255 - colours)]
    canvas = shown(qtbot, *looks)
    pixels = painted(canvas)
    for panel, look in enumerate(looks):
        front = facing(canvas, look)
        assert len(front) > 150
        found = np.array([colour_at(pixels, canvas.vertex_at(v, panel)) for v in front])
        assert np.abs(found - look.colours[front]).max() <= 4
        other = looks[1 - panel].colours[front].astype(int)
        assert np.abs(found - other).max() > 50, "the test would see colours of the other panel"


@pytest.mark.parametrize("name", ["light", "dark"])
def test_scalars_are_coloured_by_the_table_and_nan_is_grey(qtbot: Any, name: str) -> None:
    theme.use(name)
    vertices, faces = make_sphere(3)
    values = 2 * vertices[:, 0]
    values[vertices[:, 1] > 0.5] = np.nan
    look = MeshLook(vertices, faces, scalars=values, shading="none")
    canvas = shown(qtbot, look)
    pixels, table = painted(canvas), theme.signed_map().astype(int)
    assert look.scale == (-np.nanmax(np.abs(values)), np.nanmax(np.abs(values)))
    grey = [int(theme.current().muted[k : k + 2], 16) for k in (1, 3, 5)]
    known = lost = 0
    for v in facing(canvas, look):
        found = colour_at(pixels, canvas.vertex_at(v))
        if np.isnan(values[v]) and vertices[v, 1] > 0.7:
            assert np.abs(found - grey).max() <= 3
            lost += 1
        elif vertices[v, 1] < 0.3:
            wanted = table[round((values[v] / look.scale[1] + 1) / 2 * 511)]
            assert np.abs(found - wanted[:3]).max() <= 8
            known += 1
    assert known > 50 and lost > 5


def test_light_leaves_a_colour_what_it_is_where_the_surface_faces_the_eye(qtbot: Any) -> None:
    look = ball(3, colours=np.full((642, 3), (200, 90, 40), np.uint8))
    canvas = shown(qtbot, look)
    pixels = painted(canvas)
    front = facing(canvas, look, 0.97)
    found = np.array([colour_at(pixels, canvas.vertex_at(v)) for v in front])
    assert np.abs(found - (200, 90, 40)).max() < 30
    share = found / found.sum(1, keepdims=True)
    assert np.abs(share - np.array((200, 90, 40)) / 330).max() < 0.02


def test_other_scalars_change_the_picture_in_the_arrays_that_are_there(qtbot: Any) -> None:
    vertices, faces = make_sphere(3)
    canvas = shown(qtbot, MeshLook(vertices, faces, scalars=vertices[:, 0]))
    from widgets.spaces.mesh.drawing.actors import NORMALS, VALUES

    before, scene = painted(canvas), canvas.pictures.scene
    assert scene is not None
    surface = scene.panels[0].surface
    actor, memory = surface.actor, surface.mesh[VALUES].ctypes.data

    def changed() -> tuple[int, int]:
        return surface.mesh.points.VTKObject.GetMTime(), surface.mesh[NORMALS].VTKObject.GetMTime()

    points, normals = changed()
    canvas.show_looks([MeshLook(vertices, faces, scalars=vertices[:, 1])])
    after = painted(canvas)
    assert np.abs(before - after).max() > 100
    assert scene.panels[0].surface.actor is actor and surface.mesh[VALUES].ctypes.data == memory
    assert changed() == (points, normals), "places are uploaded anew"
    canvas.show_looks([MeshLook(vertices * [1, 0.5, 1], faces, scalars=vertices[:, 1])])
    assert np.abs(painted(canvas) - after).max() > 100
    assert scene.panels[0].surface.actor is actor and changed()[0] > points


def test_looks_of_all_kinds_are_shown_in_both_themes(qtbot: Any) -> None:
    canvas = shown(qtbot, *make_looks(), size=(1200, 420))
    light = painted(canvas)
    theme.use("dark")
    dark = painted(canvas)
    for panel in range(4):
        box = canvas.cells()[panel]
        corner = box.topLeft() + QPointF(6, 6)
        assert "#{:02x}{:02x}{:02x}".format(*colour_at(light, corner)) == theme.LIGHT.raised
        assert "#{:02x}{:02x}{:02x}".format(*colour_at(dark, corner)) == theme.DARK.raised
        assert len(np.unique(inside(canvas, dark, panel).reshape(-1, 3), axis=0)) > 100


def test_glyphs_and_marks_have_their_ink_and_go_behind_the_surface(qtbot: Any) -> None:
    vertices, faces = make_sphere(3)
    white = np.full((len(vertices), 3), 255, np.uint8)
    bare = MeshLook(vertices, faces, colours=white, shading="none")
    canvas = shown(qtbot, bare)
    front, back = canvas.eye.axes[2], -canvas.eye.axes[2]

    def ink(at: np.ndarray) -> int:
        one = Glyphs(at[None] - 0.2 * canvas.eye.axes[0], 0.4 * canvas.eye.axes[:1], (255, 0, 255), at[None], 0.03)
        canvas.show_looks([MeshLook(vertices, faces, colours=white, shading="none", glyphs=(one,))])
        pixels = inside(canvas, painted(canvas), 0)
        return int(((pixels[..., 2] > 200) & (pixels[..., 1] < 120)).sum())

    assert ink(front) > 40 and ink(back) == 0
    edge, face = tuple(faces[5, :2]), 5
    canvas.look_from(vertices[faces[5]].mean(0))
    for marks in (Marks(edges=(edge,), ink=(0, 200, 0)), Marks(faces=(face,), ink=(0, 200, 0)),
                  Marks(vertices=(int(edge[0]),), ink=(0, 200, 0))):  # fmt: skip
        canvas.show_looks([MeshLook(vertices, faces, colours=white, shading="none", marks=marks)])
        pixels = inside(canvas, painted(canvas), 0)
        assert ((pixels[..., 1] > 150) & (pixels[..., 0] < 90)).sum() > 30, marks


def test_no_mark_hides_a_glyph_that_is_above(qtbot: Any) -> None:
    vertices, faces = make_sphere(3)
    white = np.full((len(vertices), 3), 255, np.uint8)
    canvas = shown(qtbot, MeshLook(vertices, faces, colours=white, shading="none"))
    at, way = canvas.eye.axes[2] - 0.2 * canvas.eye.axes[0], 0.4 * canvas.eye.axes[0]
    line = np.array([at, at + way]) * 1.02

    def ink(above: bool) -> int:
        one = Glyphs(at[None], way[None], (255, 0, 255), canvas.eye.axes[2:], 0.02, above=above)
        marks = Marks(paths=(Polyline(line, (0, 200, 0)),))
        canvas.show_looks([MeshLook(vertices, faces, colours=white, shading="none", glyphs=(one,), marks=marks)])
        pixels = inside(canvas, painted(canvas), 0)
        return int(((pixels[..., 2] > 200) & (pixels[..., 1] < 120)).sum())

    assert ink(True) > 40 > 4 * ink(False)


def test_a_label_is_written_only_where_its_point_is_seen(qtbot: Any) -> None:
    look = ball(3)
    canvas = shown(qtbot, look)
    empty = painted(canvas)
    near, far = (int((look.vertices @ (sign * canvas.eye.axes[2])).argmax()) for sign in (1, -1))

    def written(vertex: int) -> bool:
        text = Text(look.vertices[vertex], "here")
        canvas.show_looks([MeshLook(look.vertices, look.faces, texts=(text,))])
        return bool(np.abs(painted(canvas) - empty).max() > 20)

    assert written(near) and not written(far)
    closer = canvas.eye.zoomed(8.0, look.vertices[near])
    assert canvas.pictures.seen(0, look.vertices[near], closer)
    assert not canvas.pictures.seen(0, look.vertices[near], closer.zoomed(8.0, look.vertices[far])), "behind the eye"
    canvas.set_slice(Slice(tuple(canvas.eye.axes[2]), 0.5))
    assert not canvas.pictures.seen(0, look.vertices[near], canvas.eye), "what is cut away is not labelled"
    canvas.set_slice(Slice(tuple(canvas.eye.axes[2]), -0.5))
    assert canvas.pictures.seen(0, look.vertices[far], canvas.eye)


def test_a_slice_takes_away_what_lies_beyond_it(qtbot: Any) -> None:
    look = ball(3, colours=np.full((642, 3), (250, 0, 0), np.uint8), shading="none")
    canvas = shown(qtbot, look, size=(420, 420))

    def red() -> np.ndarray:
        pixels = painted(canvas)
        return (pixels[..., 0] > 240) & (pixels[..., 1] < 20)

    canvas.look_from(np.array([0.0, 0.0, 1.0]))
    whole, middle = red(), canvas.cells()[0].center().x()
    low, high = canvas.slice_span((1.0, 0.0, 0.0))
    assert -1 <= low < -0.95 and 0.95 < high <= 1
    canvas.set_slice(Slice((1.0, 0.0, 0.0), 0.0))
    half = red()
    columns = np.arange(whole.shape[1])
    assert not half[:, columns > middle + 2].any()
    assert (half == whole)[:, columns < middle - 2].all()
    canvas.set_slice(Slice((1.0, 0.0, 0.0), high + 0.1))
    assert (red() == whole).all()


def test_what_cannot_be_shown_says_so(qtbot: Any) -> None:
    canvas = shown(qtbot, ball(), blank("This element has no action here", "ρ′(g)F(x)"))
    pixels = painted(canvas)
    assert len(np.unique(inside(canvas, pixels, 1).reshape(-1, 3), axis=0)) > 5, "no words"
    canvas.message = "The layer is not on vertices"
    assert np.abs(painted(canvas) - pixels).max() > 100
    assert canvas.under(QPointF(canvas.cells()[1].center())) is None
    empty = shown(qtbot)
    assert empty.pictures.scene is None, "without a mesh pyvista is not needed"


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"vertices": np.zeros((3, 2))}, "vertices"),
        ({"faces": np.array([[0, 1, 12]])}, "not there"),
        ({"scalars": np.zeros(5)}, "scalars"),
        ({"colours": np.zeros((12, 4), np.uint8)}, "colours"),
        ({"shading": "shiny"}, "shiny"),
    ],
)
def test_a_wrong_look_is_refused_in_one_sentence(given: dict[str, Any], complaint: str) -> None:
    vertices, faces = make_sphere(0)
    with pytest.raises(ValueError, match=complaint):
        MeshLook(**{"vertices": vertices, "faces": faces, **given})


# pointing ---------------------------------------------------------------------------------------------------------
def test_a_click_picks_the_vertex_that_is_there_and_never_one_behind(qtbot: Any) -> None:
    look = ball(2)
    canvas = shown(qtbot, look, look)
    picks: list[tuple[int, str, int]] = []
    canvas.picked.connect(lambda *told: picks.append(told))
    front = facing(canvas, look, 0.45)[::5]
    for panel in range(2):
        picks.clear()
        for v in front:
            QTest.mouseClick(canvas, LEFT, PLAIN, canvas.vertex_at(v, panel).toPoint())
        assert picks == [(panel, "vertex", v) for v in front]
    picks.clear()
    behind = np.setdiff1d(np.arange(len(look.vertices)), facing(canvas, look, -0.45))[::5]
    for v in behind:
        QTest.mouseClick(canvas, LEFT, PLAIN, canvas.vertex_at(v).toPoint())
    before = set(facing(canvas, look, 0.0))
    assert len(picks) == len(behind) > 5 and all(v in before for _, _, v in picks)


def test_rays_hit_what_brute_force_finds(qtbot: Any) -> None:
    vertices, faces = make_torus(24, 12)
    canvas = shown(qtbot, MeshLook(vertices, faces))
    rng = np.random.default_rng(1)
    for cut in (None, Slice((0.3, 1.0, 0.2), 0.05)):
        canvas.set_slice(cut)
        hits = 0
        for _ in range(150):
            start, end = rng.standard_normal((2, 3)) * [[3], [0.5]]
            end = end + (end - start)
            found, wanted = canvas.pictures.cast(0, start, end), first_hit(vertices, faces, start, end, cut)
            assert (found is None) == (wanted is None)
            if found is not None and wanted is not None:
                hits += 1
                face, point = wanted
                assert np.linalg.norm(found.point - point) < 1e-4 and found.face == face
                corners = faces[face]
                assert found.vertex == corners[np.linalg.norm(vertices[corners] - point, axis=1).argmin()]
        assert 30 < hits < 150


def first_hit(vertices: Any, faces: Any, start: Any, end: Any, cut: Slice | None) -> tuple[int, Any] | None:
    """Return the first face on the way and the point, by solving for every face (Möller and Trumbore)."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    way = end - start
    matrix = np.stack([b - a, c - a, np.broadcast_to(-way, a.shape)], 2)
    u, v, t = np.linalg.solve(matrix, (start - a)[..., None])[..., 0].T
    ok = (u >= 0) & (v >= 0) & (u + v <= 1) & (t >= 0) & (t <= 1)
    points = start + t[:, None] * way
    if cut is not None:
        ok &= points @ np.array(cut.normal) <= cut.offset
    if not ok.any():
        return None
    face = int(np.where(ok, t, np.inf).argmin())
    return face, points[face]


def test_shift_picks_an_edge_and_control_a_face(qtbot: Any) -> None:
    look = ball(1)
    canvas = shown(qtbot, look)
    face = int((look.vertices[look.faces].mean(1) @ canvas.eye.axes[2]).argmax())
    corners = [canvas.vertex_at(int(v)) for v in look.faces[face]]
    middle = sum(corners, QPointF()) / 3
    picks: list[tuple[int, str, int]] = []
    canvas.picked.connect(lambda *told: picks.append(told))
    QTest.mouseClick(canvas, LEFT, CTRL, middle.toPoint())
    side = (corners[1] + corners[2]) * 0.46 + corners[0] * 0.08
    QTest.mouseClick(canvas, LEFT, SHIFT, side.toPoint())
    QTest.mouseClick(canvas, LEFT, PLAIN, canvas.cells()[0].topLeft().toPoint() + QPoint(4, 4))
    assert picks == [(0, "face", face), (0, "edge", 3 * face + 1), (0, "", -1)]


def test_the_vertex_under_the_cursor_is_told_once(qtbot: Any) -> None:
    look = ball(2)
    canvas = shown(qtbot, look, look)
    plain = painted(canvas)
    told: list[tuple[int, int]] = []
    canvas.hovered.connect(lambda *pair: told.append(pair))
    v = int(facing(canvas, look, 0.9)[0])
    spot = canvas.vertex_at(v, 1).toPoint()
    for step in (QPoint(), QPoint(1, 0), QPoint(0, 1)):
        move(canvas, spot + step)
    assert told == [(1, v)]
    ringed = painted(canvas)
    for panel in range(2):
        assert np.abs(inside(canvas, ringed, panel) - inside(canvas, plain, panel)).max() > 60, "no ring in both"
    move(canvas, QPoint(1, 1))
    assert told[-1] == (-1, -1) and canvas.hot is None


def test_control_and_the_wheel_turn_the_selected_vertex_and_nothing_else(qtbot: Any) -> None:
    look = ball(2)
    canvas = shown(qtbot, look)
    turns: list[tuple[int, float]] = []
    canvas.wheel_on_vertex.connect(lambda *told: turns.append(told))
    v = int(facing(canvas, look, 0.9)[0])
    canvas.selected = v
    eye = canvas.eye
    wheel(canvas, canvas.vertex_at(v), 2, CTRL)
    wheel(canvas, canvas.vertex_at(v) + QPointF(3, 4), -0.5, CTRL)
    assert turns == [(v, 2.0), (v, -0.5)] and canvas.eye is eye
    wheel(canvas, canvas.vertex_at(v) + QPointF(60, 0), 1, CTRL)
    wheel(canvas, canvas.vertex_at(v), 1)
    assert len(turns) == 2 and canvas.eye.distance == pytest.approx(eye.distance / 1.2**2)


def test_the_wheel_goes_on_with_a_vertex_that_other_panels_take_away_while_the_mouse_rests(qtbot: Any) -> None:
    look = ball(2)
    canvas = shown(qtbot, look)
    turns: list[tuple[int, float]] = []
    canvas.wheel_on_vertex.connect(lambda *told: turns.append(told))
    v = int(facing(canvas, look, 0.9)[0])
    canvas.selected = v
    spot = canvas.vertex_at(v)
    wheel(canvas, spot, 1, CTRL)
    canvas.show_looks([look, look, look])
    painted(canvas)
    assert (canvas.vertex_at(v) - spot).manhattanLength() > 20, "it has gone"
    eye = canvas.eye
    wheel(canvas, spot, 1, CTRL)
    assert turns == [(v, 1.0)] * 2 and canvas.eye is eye
    wheel(canvas, spot + QPointF(30, 9), 1, CTRL)  # the mouse was moved: a zoom, here and from now on
    wheel(canvas, spot, 1, CTRL)
    assert len(turns) == 2 and canvas.eye is not eye


# the eye ----------------------------------------------------------------------------------------------------------
def test_a_drag_turns_all_panels_alike(qtbot: Any) -> None:
    look = ball(2, scalars=make_sphere(2)[0][:, 0])
    canvas = shown(qtbot, look, look)
    before, eye = painted(canvas), canvas.eye

    def unlike(one: np.ndarray, other: np.ndarray) -> float:  # the rasteriser rounds a few pixels in another way
        return float(np.abs(one - other).mean())

    assert unlike(inside(canvas, before, 0), inside(canvas, before, 1)) < 0.01
    at = canvas.cells()[1].center().toPoint()
    drag(canvas, at, at + QPoint(40, 10), at + QPoint(90, 30))
    after = painted(canvas)
    assert unlike(inside(canvas, after, 0), inside(canvas, before, 0)) > 3
    assert unlike(inside(canvas, after, 0), inside(canvas, after, 1)) < 0.01
    assert canvas.eye.distance == eye.distance and (canvas.eye.focus == eye.focus).all()
    front = eye.focus + eye.axes[2]
    moved = canvas.eye.screen(front[None], 300, 300)[0]
    assert moved[0] > 160 and moved[1] > 150, "the surface follows the hand"


def test_the_eye_goes_over_the_poles_and_comes_back(qtbot: Any) -> None:
    eye = camera.fitted(np.zeros(3), 1.0)
    seen, count = [], 500
    for _ in range(count):
        eye = eye.orbited(0.0, 2 * np.pi / count)
        seen.append(eye.axes[2] @ camera.START[1])
        assert np.abs(eye.axes @ eye.axes.T - np.eye(3)).max() < 1e-12
    assert max(seen) > 0.999 and min(seen) < -0.999, "over both poles"
    assert np.abs(eye.axes - camera.START).max() < 1e-9
    assert np.linalg.det(eye.axes) == pytest.approx(1)


@pytest.mark.parametrize("keys", [ALT, CTRL])
def test_turning_the_mesh_looks_as_going_round_it(qtbot: Any, keys: Qt.KeyboardModifier) -> None:
    """Alt, or Ctrl, and a drag turn the data: A (R p) seen by the eye as it was is p seen by the eye that orbits."""
    look = ball(2)
    canvas = shown(qtbot, look)
    turns: list[np.ndarray] = []
    canvas.turned.connect(turns.append)
    eye, at = canvas.eye, canvas.cells()[0].center().toPoint()
    drag(canvas, at, at + QPoint(30, 12), at + QPoint(60, -20), keys=keys)
    assert canvas.eye is eye and len(turns) == 2
    whole = turns[1] @ turns[0]
    assert np.abs(whole @ whole.T - np.eye(3)).max() < 1e-12 and np.linalg.det(whole) == pytest.approx(1)
    round_it = eye.orbited(TURN * 30, TURN * 12)
    first = look.vertices @ turns[0].T
    assert np.abs(eye.screen(first, 300, 300) - round_it.screen(look.vertices, 300, 300)).max() < 1e-9


def test_zoom_keeps_what_is_under_the_mouse_and_pan_takes_it_along(qtbot: Any) -> None:
    look = ball(3)
    canvas = shown(qtbot, look, size=(500, 420))
    at = canvas.cells()[0].center() + QPointF(60, -40)
    found = canvas.under(at)
    assert found is not None and found[1] is not None
    wheel(canvas, at, 3)
    box = canvas.cells()[0]
    x, y, _ = canvas.eye.screen(found[1].point[None], box.width(), box.height())[0]
    assert abs(x + box.x() - at.x()) < 0.5 and abs(y + box.y() - at.y()) < 0.5
    for button, keys in ((RIGHT, PLAIN), (LEFT, SHIFT)):
        focus = canvas.eye.focus
        drag(canvas, at.toPoint(), at.toPoint() + QPoint(25, 15), button=button, keys=keys)
        x, y, _ = canvas.eye.screen(focus[None], box.width(), box.height())[0]
        assert (x - box.width() / 2, y - box.height() / 2) == pytest.approx((25, 15))
    double_click(canvas, at.toPoint())
    fitted = camera.fitted(np.zeros(3), 1.0)
    assert canvas.eye.distance == pytest.approx(fitted.distance, rel=1e-3)
    assert np.abs(canvas.eye.focus).max() < 1e-9


def test_keys(qtbot: Any) -> None:
    canvas = shown(qtbot, ball(1))
    plain, eye = painted(canvas), canvas.eye
    QTest.keyClick(canvas, Qt.Key.Key_W)
    assert np.abs(painted(canvas) - plain).max() > 30, "no wireframe"
    QTest.keyClick(canvas, Qt.Key.Key_W)
    assert (painted(canvas) == plain).all()
    QTest.keyClick(canvas, Qt.Key.Key_Right)
    assert np.abs(canvas.eye.axes - eye.orbited(STEP, 0.0).axes).max() < 1e-12
    wheel(canvas, canvas.cells()[0].center(), -4)
    QTest.keyClick(canvas, Qt.Key.Key_F)
    assert canvas.eye.distance == pytest.approx(eye.distance)
    assert np.abs(canvas.eye.axes - eye.orbited(STEP, 0.0).axes).max() < 1e-12, "fitting is not turning"
    QTest.keyClick(canvas, Qt.Key.Key_Home)
    assert np.abs(canvas.eye.axes - eye.axes).max() < 1e-12


def test_the_eye_stays_while_the_mesh_is_turned_and_fits_another_one(qtbot: Any) -> None:
    vertices, faces = make_sphere(2)
    canvas = shown(qtbot, MeshLook(vertices, faces))
    eye = canvas.eye
    canvas.show_looks([MeshLook(vertices + np.array([0.3, 0, 0]), faces)])
    painted(canvas)
    assert canvas.eye is eye
    canvas.show_looks([MeshLook(*make_torus(20, 10))])
    painted(canvas)
    assert canvas.eye.radius == pytest.approx(1.38, rel=0.01)


def test_a_mesh_that_turns_out_of_sight_is_followed_and_comes_back(qtbot: Any) -> None:
    vertices, faces = make_sphere(2)
    body = vertices * [0.4, 1.0, 0.4] + [0, 1.0, 0]  # it stands on the origin, about which it is turned
    canvas = shown(qtbot, MeshLook(body, faces))
    first = canvas.eye
    canvas.show_looks([MeshLook(body * [1, -1, -1], faces)])
    painted(canvas)
    box = canvas.cells()[0]
    seen = canvas.eye.screen(body * [1, -1, -1], box.width(), box.height())[:, :2]
    assert (seen >= 0).all() and (seen <= [box.width(), box.height()]).all()
    canvas.show_looks([MeshLook(body, faces)])
    painted(canvas)
    assert np.allclose(canvas.eye.numbers, first.numbers)


def test_words_beside_points_that_are_close_stand_on_other_sides(qapp: Any) -> None:
    cell = Cell()
    cell.setRect(QRectF(0, 0, 300, 200))
    points = [QPointF(100, 100), QPointF(106, 104), QPointF(112, 98)]
    cell.show_words([(at, f"H{k}", "text") for k, at in enumerate(points)])
    places = [spot.tag.path().boundingRect() for spot in cell.spots.shown]
    assert len(places) == 3
    assert not any(a.intersects(b) for k, a in enumerate(places) for b in places[:k])


def test_a_slow_mesh_is_drawn_less_sharply_while_it_moves(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    canvas = shown(qtbot, ball(3))
    painted(canvas)
    made, scene = [], canvas.pictures.scene
    assert scene is not None
    real = scene.image
    monkeypatch.setattr(scene, "image", lambda *given: made.append(given[3:5]) or real(*given))
    canvas.pictures.times = {FIRST: 200.0, FULL: 300.0}
    canvas.rest_ms = 30
    at = canvas.cells()[0].center().toPoint()
    drag(canvas, at, at + QPoint(20, 0))
    canvas.repaint()
    qtbot.waitUntil(lambda: made[-1:] == [FULL])
    assert made[0] == (0.5, True)
    made.clear()
    canvas.rest_ms = 60_000
    canvas.pictures.times = {FIRST: 70.0, FULL: 1e9}  # slow for once
    for k in range(12):
        drag(canvas, at, at + QPoint(20, k))
        canvas.repaint()
    assert FIRST in made and FULL not in made


def test_the_stand_in_of_many_faces_looks_like_them(qtbot: Any) -> None:
    vertices, faces = make_torus(500, 220)
    assert len(faces) > MANY
    few = stand_in(vertices, faces)
    assert 1000 < len(few) < len(faces) / 2
    cell, longest = np.ptp(vertices, axis=0).max() / ACROSS, np.ptp(vertices[faces], axis=1).max()
    assert np.ptp(vertices[few], axis=1).max() <= 2 * cell + longest, "a corner went farther than its cell"
    canvas = shown(qtbot, MeshLook(vertices, faces, scalars=vertices[:, 0] * vertices[:, 1]))
    box = canvas.cells()[0]
    whole, moving = (as_array(canvas.pictures.drawn(canvas.eye, box, 1.0, (1.0, k))).astype(int) for k in (False, True))
    again = as_array(canvas.pictures.drawn(canvas.eye, box, 1.0, (1.0, False))).astype(int)
    assert 0.0 < np.abs(whole - moving).mean() < 3.0 and (whole == again).all()
    other = MeshLook(vertices, faces, scalars=vertices[:, 2])
    canvas.show_looks([other])
    canvas.pictures.ready()
    changed = as_array(canvas.pictures.drawn(canvas.eye, box, 1.0, (1.0, True))).astype(int)
    assert np.abs(changed - moving).mean() > 10.0, "the stand-in keeps old values"
    red = np.tile(np.array([250, 0, 0], np.uint8), (len(vertices), 1))
    canvas.show_looks([MeshLook(vertices, faces, colours=red, shading="none")])
    canvas.pictures.ready()
    changed = as_array(canvas.pictures.drawn(canvas.eye, box, 1.0, (1.0, True)))
    assert (np.unique(changed.reshape(-1, 3), axis=0)[:, 1:].min(0) == 0).all(), "the stand-in keeps the scalars"


# files, and what is left ------------------------------------------------------------------------------------------
def test_pictures_have_the_size_that_is_asked_for(qtbot: Any) -> None:
    look = ball(3, colours=np.full((642, 3), (200, 90, 40), np.uint8), shading="none")
    canvas = shown(qtbot, look)
    eye = canvas.eye
    for ratio in (1.0, 2.0):
        picture = canvas.picture(QSize(400, 300), ratio)
        assert (picture.width(), picture.height(), picture.devicePixelRatio()) == (400 * ratio, 300 * ratio, ratio)
        pixels = as_array(picture)
        assert tuple(pixels[round(150 * ratio), round(200 * ratio)]) == (200, 90, 40)
    image = QImage(canvas.size() * 2, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(2)
    canvas.render(image)  # as a figure is written
    assert tuple(as_array(image)[image.height() // 2, image.width() // 2]) == (200, 90, 40)
    films = list(canvas.turntable(4, QSize(200, 200)))
    assert len(films) == 4 and canvas.eye is eye


def test_a_turntable_goes_once_round_the_upright_axis(qtbot: Any) -> None:
    vertices, faces = make_sphere(3)
    canvas = shown(qtbot, MeshLook(vertices, faces, scalars=vertices[:, 0]))
    canvas.look_from(np.array([0.0, 0.3, 1.0]))
    size = QSize(260, 260)
    films = [as_array(one).astype(int) for one in canvas.turntable(4, size)]
    assert (films[0] == as_array(canvas.picture(size, 1.0))).all()
    # about the y axis a half turn takes x to -x, and the picture of x to that of -x
    canvas.show_looks([MeshLook(vertices * [-1, 1, -1], faces, scalars=vertices[:, 0])])
    turned = as_array(canvas.picture(size, 1.0)).astype(int)
    box = canvas.cells(260, 260)[0].toRect().adjusted(2, 2, -2, -80)  # without the axes of space, which turn too
    rows, columns = slice(box.top(), box.bottom()), slice(box.left(), box.right())
    assert np.abs(films[2][rows, columns] - turned[rows, columns]).mean() < 1.0
    assert np.abs(films[0][rows, columns] - turned[rows, columns]).mean() > 10.0


@pytest.mark.slow
def test_twenty_canvases_come_and_go(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from widgets.spaces.mesh.drawing import pyvista_import
    from widgets.spaces.mesh.drawing.scene import MeshScene

    pyvista_import.wait()
    scenes, closed, real = [], [], MeshScene.close
    monkeypatch.setattr(MeshScene, "close", lambda scene: closed.append(real(scene)))
    handles, opened = Path("/proc/self/fd"), []
    for k in range(20):
        canvas = MeshCanvas()
        canvas.show_looks([ball(1), ball(1)])
        canvas.resize(300, 200)
        canvas.show()
        canvas.grab()
        assert canvas.pictures.scene is not None
        scenes.append(weakref.ref(canvas.pictures.scene))
        canvas.close()
        shiboken6.delete(canvas)
        assert len(closed) == k + 1, "the render window outlives the canvas"
        del canvas
        gc.collect()
        opened.append(len(list(handles.iterdir())) if handles.exists() else 0)
    assert not [ref for ref in scenes if ref() is not None]
    assert opened[-1] <= opened[5] + 1, "connections to the display stay open"


def test_without_opengl_the_panel_says_what_to_install(qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from widgets.spaces.mesh.drawing import scene as mesh_scene

    def fail() -> Any:
        raise mesh_scene.CannotDraw("Meshes need OpenGL, and none was found here.")

    monkeypatch.setattr(mesh_scene, "make_plotter", fail)
    canvas = shown(qtbot, ball())
    assert "OpenGL" in canvas.pictures.trouble
    assert len(np.unique(painted(canvas).reshape(-1, 3), axis=0)) > 3, "nothing is written"
    QTest.mouseClick(canvas, LEFT, PLAIN, canvas.cells()[0].center().toPoint())
    canvas.fit()


PROGRAM = """
import sys
from PySide6.QtWidgets import QApplication
app = QApplication(sys.argv[:1])
from tests.widgets.parts.frames.sample_meshes import make_sphere
from widgets.spaces.mesh.drawing.canvas import MeshCanvas
from widgets.spaces.mesh.drawing.look import MeshLook
assert not any(name.startswith(("vtk", "pyvista")) for name in sys.modules), "pyvista is imported before it is needed"
canvas = MeshCanvas()
canvas.show_looks([MeshLook(*make_sphere(2))])
canvas.show()
picture = canvas.picture(ratio=1.0)
print(canvas.pictures.trouble or picture.pixelColor(picture.rect().center()).name())
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="drawing without a display")
@pytest.mark.parametrize("drivers", [True, False])
def test_without_a_display_it_draws_or_says_why_not(drivers: bool) -> None:
    left_out = ("DISPLAY", "WAYLAND_DISPLAY", "__GLX_VENDOR_LIBRARY_NAME")
    environment = {k: v for k, v in os.environ.items() if k not in left_out} | {"QT_QPA_PLATFORM": "offscreen"}
    if not drivers:
        environment["__EGL_VENDOR_LIBRARY_DIRS"] = "/nonexistent"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    assert "bad X server" not in done.stderr
    assert done.stdout.startswith("#" if drivers else "Meshes need OpenGL"), done.stdout


# glyphs -----------------------------------------------------------------------------------------------------------
def test_chosen_points_lie_evenly_and_stay_with_their_key() -> None:
    vertices, faces = make_torus(60, 30)
    chosen = glyphs.spread(vertices, 300, faces)
    away = np.linalg.norm(vertices[:, None] - vertices[chosen], axis=2)
    apart = np.linalg.norm(vertices[chosen][:, None] - vertices[chosen], axis=2) + 9 * np.eye(300)
    # farthest points first: nothing is farther from the chosen ones than they are from each other
    assert away.min(1).max() <= apart.min() + 1e-6
    worst = np.random.default_rng(0).choice(len(vertices), 300, replace=False)
    assert np.linalg.norm(vertices[:, None] - vertices[worst], axis=2).min(1).max() > 1.3 * away.min(1).max()
    turned = vertices @ camera.rotation(np.array([0.0, 1.0, 0.0]), 0.3).T
    assert (glyphs.spread(turned, 300, faces) == chosen).all()
    many, faces = make_torus(200, 100)
    thin = glyphs.spread(many, 5000)
    assert 3500 < len(thin) <= 5000 and len(np.unique(thin)) == len(thin)
    assert np.bincount(thin // 5000, minlength=4).min() > 700, "a quarter of the torus is left out"
    assert (glyphs.spread(vertices, len(vertices)) == np.arange(len(vertices))).all()


def test_normals_and_frames_stand_upright_on_a_sphere() -> None:
    vertices, faces = make_sphere(3)
    assert np.abs((glyphs.vertex_normals(vertices, faces) * vertices).sum(1) - 1).max() < 1e-3
    x, y = glyphs.frame_glyphs(vertices, faces, make_frames(vertices, faces), 50)
    assert len(x.points) == 50 and np.abs((x.directions * y.directions).sum(1)).max() < 1e-9
    ends, owner = glyphs.segments((x, y))
    assert len(ends) == 200 and (np.bincount(owner) == 100).all()
    assert (np.linalg.norm(ends[0::2], axis=1) > 1.001).all(), "buried"


def test_few_tips_are_cones_and_many_arrows_have_lines_for_heads(qtbot: Any) -> None:
    points, normals = np.zeros((3, 3)), np.tile([0.0, 0.0, 1.0], (3, 1))
    ways = np.array([[2.0, 0, 0], [0, np.nan, 0], [0, 1, 0]])
    plain, arrows = Glyphs(points, ways), Glyphs(points, ways, normals=normals, lift=0.1, arrows=True)
    starts, along, owner = glyphs.cones([plain, arrows])
    assert owner.tolist() == [1, 1] and np.abs(along - glyphs.HEAD * ways[[0, 2]]).max() < 1e-6
    assert np.abs(starts + along - ways[[0, 2]] - [0, 0, 0.1]).max() < 1e-6, "a cone does not end at the tip"
    ends, _ = glyphs.segments([plain, arrows], solid=True)
    assert len(ends) == 8 and np.abs(ends[5::2] - starts).max() < 1e-6, "a shaft does not end where its cone begins"
    many = Glyphs(*(np.ones((glyphs.SOLID + 1, 3)),) * 2, arrows=True)
    assert not len(glyphs.cones([many])[2])
    vertices, faces = make_sphere(2)
    at, white = vertices[:6] * 1.05, np.full((len(vertices), 3), 255, np.uint8)
    one = Glyphs(at, 0.3 * np.roll(at, 1, axis=1), arrows=True)
    canvas = shown(qtbot, MeshLook(vertices, faces, colours=white, glyphs=(one,)))
    scene = canvas.pictures.scene
    assert scene is not None and scene.panels[0].lines.heads.mesh.n_points > 6 * 10
    tips = one.points + one.directions
    away = np.linalg.norm(np.asarray(scene.panels[0].lines.heads.mesh.points)[:, None] - tips, axis=2)
    assert away.min(0).max() < 1e-3, "no cone points to a tip"
    canvas.show_looks([MeshLook(vertices, faces, colours=white)])
    painted(canvas)
    assert not scene.panels[0].lines.heads.actor.visibility


def test_a_canvas_says_that_drawing_is_prepared_and_paints_when_it_is(
    qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from widgets.spaces.mesh.drawing import pyvista_import

    done: list[bool] = []
    monkeypatch.setattr(pyvista_import, "done", lambda: bool(done))
    canvas = MeshCanvas()
    qtbot.addWidget(canvas)
    canvas.show_looks([ball()])
    canvas.show()
    qtbot.waitExposed(canvas)
    canvas.repaint()
    assert canvas.pictures.scene is None and canvas.under(QPointF(canvas.cells()[0].center())) == (0, None)
    done.append(True)
    qtbot.waitUntil(lambda: canvas.pictures.scene is not None)


def test_an_arrow_has_a_head_in_the_tangent_plane_and_gaps_are_left_out() -> None:
    points, normals = np.zeros((3, 3)), np.tile([0.0, 0.0, 1.0], (3, 1))
    ways = np.array([[2.0, 0, 0], [0, np.nan, 0], [0, 1, 0]])
    ends, owner = glyphs.segments([Glyphs(points, ways, normals=normals, lift=0.1, arrows=True)])
    assert ends.shape == (12, 3) and (owner == 0).all()
    h, w = glyphs.HEAD * 2, glyphs.WIDTH * 2
    wanted = [[0, 0, 0.1], [2, 0, 0.1], [2, 0, 0.1], [2 - h, w, 0.1], [2, 0, 0.1], [2 - h, -w, 0.1]]
    assert np.abs(ends[:6] - wanted).max() < 1e-6


# Faces that cover each other too often.


def across(number: int) -> MeshLook:
    """Return the look of so many faces, each across the whole mesh."""
    rng = np.random.default_rng(0)
    corners = np.array([[-1, -1, 0], [1, -1, 0], [0, 1, 0]]) + 1e-3 * rng.normal(size=(number, 3, 3))
    faces = np.arange(3 * number).reshape(-1, 3)
    colours = np.tile(np.array([[200, 30, 40]], np.uint8), (number, 1))
    return MeshLook(corners.reshape(-1, 3), faces, "Stack", colours=colours, on_faces=True, shading="none")


def test_faces_across_the_whole_mesh_are_drawn_in_part_and_that_is_said(qtbot: Any) -> None:
    """20,000 of them held the window still for nine seconds of processor time, at each picture."""
    canvas = shown(qtbot, across(3000))
    look = canvas.looks[0]
    assert look.shown is not None and 20 < len(look.shown) < 500
    assert look.note == f"{len(look.shown)} of 3,000 faces drawn"
    painted(canvas)
    assert FULL not in canvas.pictures.times, "at rest it is not drawn larger"
    image = canvas.picture()
    assert image.pixelColor(image.width() // 2, image.height() // 2) == QColor(200, 30, 40)
    canvas.show_looks([replace(across(3000), faces=look.faces), replace(look, note="", shown=None)])
    assert all(one.shown is look.shown for one in canvas.looks), "they do not change while it moves"


def test_faces_of_a_folded_surface_are_all_drawn(qtbot: Any) -> None:
    canvas = shown(qtbot, across(3000))
    assert canvas.looks[0].shown is not None
    fine = np.random.default_rng(0).normal(size=(9000, 3))
    fine = np.repeat(fine[::3], 3, 0) + 0.05 * fine  # small faces anywhere
    canvas.show_looks([replace(across(3000), vertices=fine, faces=across(3000).faces)])
    assert canvas.looks[0].shown is None and canvas.looks[0].note == ""
