"""Slices, isosurfaces and orientations of volumes, in the whole window: clicks, sliders, undo and exports."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from explorer.declare.elements import parse_chain
from explorer.spaces.points.elements.isometry import rotation
from explorer.spaces.volume.cube import cube_group
from explorer.spaces.volume.drawing.values import VolumePart
from explorer.spaces.volume.elements.cube_map import CubeMap, linear
from explorer.spaces.volume.elements.volume_turn import volume_turn
from explorer.spaces.volume.fields import VOLUME
from explorer.square.frame import BACK
from explorer.state.state import State
from tests.widgets.parts.driving.windows import Open, activate, settle
from tests.widgets.parts.frames.points_frames import points_frame
from widgets.base.view import Wish
from widgets.figures.export import export_view
from widgets.figures.numbers import export_numbers
from widgets.spaces.mesh.drawing.look import MeshLook
from widgets.spaces.volume.canvas import SurfaceCanvas
from widgets.spaces.volume.cursor import Panel, panels
from widgets.spaces.volume.slice_grid import SliceGrid
from widgets.spaces.volume.surface import isosurface
from widgets.spaces.volume.views.isosurface import IsosurfaceView
from widgets.spaces.volume.views.orientations import OrientationsView
from widgets.spaces.volume.views.slices import SlicesView

FIRST = State(model="oh-vectors", sample="corner-3d", steps=parse_chain("cube:xyz120"), layer="relu1")


def part_of(sides: tuple[int, int, int], element: CubeMap, spacing: float = 1.0, stride: int = 1) -> VolumePart:
    x = np.arange(np.prod(sides), dtype=np.float32).reshape(sides)
    gx = np.arange(np.prod(sides), dtype=np.float32).reshape(element.turned_sides(sides))
    return VolumePart(x, gx, None, None, None, None, 0, 0, spacing, (element,), sides, strides=(stride, 1, 1))


@pytest.mark.parametrize("label", ["z90", "mirror-x", "inverted-xyz120"])
def test_a_click_leads_back_to_the_voxel_that_is_marked(label: str) -> None:
    group = cube_group("Oh")
    element = CubeMap(linear(group.matrices[group.labels.index(label)]), (1.0, 0.0, 2.0))
    part = part_of((5, 6, 7), element)
    for name, values in (("x", part.x), ("ρ(g)x", part.gx)):
        panel = Panel(name, values, part)
        for place in ((0, 0, 0), (4, 2, 6), (1, 5, 3)):
            assert [which for which, _, _ in panel.mark(place)] == [0, 1, 2]
            for which, row, column in panel.mark(place):
                assert panel.clicked(which, row, column, place) == place
            at = panel.at(place)
            assert at is not None
            for k, (_, row, column) in enumerate(panel.mark(place)):
                assert panel.slices(place)[k, row, column] == values[at]


def test_letters_at_the_ends_of_axes_turn_with_the_volume() -> None:
    group = cube_group("Oh")
    known = ("L", "R", "P", "A", "I", "S")
    for label, ends in {
        "z90": ("A", "P", "L", "R", "I", "S"),  # what was at the right is at the top
        "mirror-x": ("R", "L", "P", "A", "I", "S"),
        group.labels[0]: known,
    }.items():
        matrix = group.matrices[group.labels.index(label)]
        part = replace(part_of((5, 5, 5), CubeMap(linear(matrix))), ends=known)
        assert part.ends_of_gx() == ends
        x0, x1, y0, y1, z0, z1 = ends
        assert Panel("ρ(g)x", part.gx, part).ends() == ((x0, x1, y1, y0), (x0, x1, z1, z0), (y1, y0, z1, z0))
        assert Panel("x", part.x, part).ends()[0] == ("L", "R", "A", "P")
    oblique = replace(part, maps=(volume_turn(rotation(np.array([30.0, 0.0, 0.0]))),))
    assert oblique.ends_of_gx() == () and Panel("ρ(g)x", part.gx, oblique).ends() == ()


def test_a_voxel_that_is_cut_off_has_no_place() -> None:
    part = part_of((5, 5, 5), CubeMap(shift=(3.0, 0.0, 0.0), boundary="zero"))
    panel = Panel("ρ(g)x", part.gx, part)
    assert panel.at((2, 2, 4)) is None and panel.mark((2, 2, 4)) == ()
    assert panel.at((2, 2, 0)) == (2, 2, 3) and panel.voxel((2, 2, 0)) is None


def test_coarse_grids_are_cut_at_the_same_point() -> None:
    part = part_of((9, 9, 9), CubeMap())
    panel = Panel("F(x)", np.zeros((5, 5, 5), np.float32), part, 2.0)
    assert [panel.at((k, 4, 4)) for k in (0, 4, 8)] == [(0, 2, 2), (2, 2, 2), (4, 2, 2)]
    assert panel.voxel((4, 2, 2)) == (8, 4, 4)


def test_channels_are_called_after_their_degrees_and_the_first_that_says_something_is_shown() -> None:
    frame = points_frame("steerable-cnn-3d", "cube:z90", "gate1", "corner-3d")
    part = frame.squares[0].of(VolumePart)
    assert part is not None and part.values is not None and np.ptp(part.values) > 0
    named = [part.name_of(k) for k in (0, 6, 8, 18, 27)]
    assert named == ["channel 0 · 0e", "channel 6 · 1o 1/3", "channel 8 · 1o 3/3", "channel 18 · 2e 1/5",
                     "channel 27 · 2e 5/5"]  # fmt: skip


@pytest.fixture
def slices(open_window: Open) -> tuple[object, SlicesView]:
    window = open_window(FIRST)
    view = window.panes.named("slices")
    assert isinstance(view, SlicesView) and window.panes.front() is view, "what was made for volumes is in front"
    return window, view


@pytest.mark.slow
def test_the_square_is_in_the_window(qtbot: QtBot, slices: tuple[object, SlicesView], tmp_path: Path) -> None:
    _, view = slices
    found = view.numbers()
    assert list(found) == ["x", "ρ(g)x", "F(x)", "F(ρ(g)x)", "ρ′(g)F(x)", "difference"]
    assert np.abs(found["difference"]).max() < 1e-5 < np.abs(found["F(x)"]).max()
    group = cube_group("Oh")
    turn = CubeMap(linear(group.matrices[group.labels.index("xyz120")]))
    places = np.argwhere(np.ones((25, 25, 25)))
    there = turn.carried(places, (25, 25, 25))
    np.testing.assert_array_equal(found["ρ(g)x"][tuple(there.T)], found["x"][tuple(places.T)])
    # a click in one panel moves the voxel of all
    heard: list[object] = []
    view.pointer.moved.connect(heard.append)
    panel = view.panels[1]
    view.grids[1].picked.emit(0, 3, 4)
    assert view.place == panel.voxel((12, 3, 4)) and heard == [int(np.ravel_multi_index(view.place, (25,) * 3))]
    assert [s.value() for s in view.sliders] == list(view.place)
    view.sliders[2].setValue(7)
    assert view.place[2] == 7
    for ending in ("svg", "pdf", "png"):
        export_view(view, tmp_path / f"a.{ending}")
        assert (tmp_path / f"a.{ending}").stat().st_size > 4000
    export_numbers(view, tmp_path / "a.npz")
    assert np.load(tmp_path / "a.npz").files
    assert "cube:xyz120" in view.caption() and "layer relu1" in view.caption()


def test_a_smaller_volume_is_cut_in_its_own_middle(qtbot: QtBot) -> None:
    view = SlicesView()
    qtbot.addWidget(view)
    view.show()
    for model, sample, middle in (("steerable-cnn-3d", "corner-3d", (12, 12, 12)), ("tetris-plain", "", (6, 6, 6))):
        frame = points_frame(model, "cube:z90", "", sample)
        view.set_state(frame.state)
        view.set_frame(frame)
        view.settle()
        assert view.place == middle, "a corner, where there is nothing"


@pytest.mark.slow
def test_another_channel_and_undo(qtbot: QtBot, slices: tuple[object, SlicesView]) -> None:
    window, view = slices
    controller = window.controller  # type: ignore[attr-defined]
    before = view.numbers()["F(x)"].copy()
    view.channel.activated.emit(7)
    qtbot.waitUntil(lambda: controller.state.channel == 7)
    settle(qtbot, window)  # type: ignore[arg-type]
    assert view.channel.currentText() == f"field 0, {cube_group('Oh').labels[7]}"
    assert not np.array_equal(view.numbers()["F(x)"], before)
    controller.undo()
    settle(qtbot, window)  # type: ignore[arg-type]
    np.testing.assert_array_equal(view.numbers()["F(x)"], before)


@pytest.mark.slow
def test_two_models_stand_beside_each_other(qtbot: QtBot, slices: tuple[object, SlicesView]) -> None:
    window, view = slices
    window.controller.grant(Wish(changes={"compare": "plain-cnn-3d", "layer": "lift"}))  # type: ignore[attr-defined]
    settle(qtbot, window)  # type: ignore[arg-type]
    names = list(view.numbers())
    assert len(names) == 6 and names[2].startswith("F(ρ(g)x) · Vectors") and names[5] == "difference · Plain 3D CNN"
    assert np.abs(view.numbers()[names[3]]).max() < 1e-5 < np.abs(view.numbers()[names[5]]).max()
    for answer in (2, 4):  # each network on a scale of its own
        assert view.levels[answer] == view.levels[answer + 1]
        assert view.levels[answer][1] >= np.abs(view.numbers()[names[answer]]).max() > 0
    assert view.levels[2] != view.levels[4]


@pytest.mark.slow
def test_u_takes_answers_back_beside_those_of_x(qtbot: QtBot, slices: tuple[object, SlicesView]) -> None:
    window, view = slices
    activate(qtbot, window)  # type: ignore[arg-type]
    qtbot.keyClick(view, Qt.Key.Key_U)
    settle(qtbot, window)  # type: ignore[arg-type]
    found = view.numbers()
    assert list(found) == ["x", "ρ(g)x", "F(x)", BACK, "ρ′(g)F(x)", "difference"]
    np.testing.assert_allclose(found[BACK], found["F(x)"], atol=1e-5)
    assert view.panels[3].at((1, 2, 3)) == view.panels[2].at((1, 2, 3)), "its voxels are those of x"
    window.show_view("isosurface")  # type: ignore[attr-defined]
    solid = window.panes.front()  # type: ignore[attr-defined]
    assert isinstance(solid, IsosurfaceView)
    qtbot.waitUntil(lambda: list(solid.numbers()) == ["x", "ρ(g)x", "F(x)", BACK], timeout=20_000)
    window.controller.undo()  # type: ignore[attr-defined]
    settle(qtbot, window)  # type: ignore[arg-type]
    qtbot.waitUntil(lambda: "F(ρ(g)x)" in solid.numbers(), timeout=20_000)


@pytest.mark.slow
def test_an_answer_for_the_whole_volume_offers_no_channel(qtbot: QtBot, slices: tuple[object, SlicesView]) -> None:
    window, view = slices
    assert view.channel.isVisible()
    window.controller.grant(Wish(changes={"model": "oh-cnn", "layer": "mean"}))  # type: ignore[attr-defined]
    settle(qtbot, window)  # type: ignore[arg-type]
    assert not view.channel.isVisible() and view.sliders[0].isVisible()


@pytest.mark.slow
def test_orientations_permute(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(FIRST)
    window.show_view("orientations")
    view = window.panes.front()
    assert isinstance(view, OrientationsView)
    found, group = view.numbers(), cube_group("Oh")
    g = group.labels.index("xyz120")
    assert found["order"].tolist() == [group.compose(g, h) for h in range(48)]
    turn = CubeMap(linear(group.matrices[g]))
    places = np.argwhere(np.ones((25, 25, 25)))
    moved_to = tuple(turn.carried(places, (25, 25, 25)).T)
    for h in (0, 11, 40):
        moved = found["F(ρ(g)x)"][group.compose(g, h)]
        np.testing.assert_allclose(moved[moved_to], found["F(x)"][h][tuple(places.T)], atol=1e-6)
    view.rows[0].before.pointed.emit((5, 0, 0))
    assert (
        f"Orientation {group.labels[5]} of field 0 goes to {group.labels[group.compose(g, 5)]}."
        == view.rows[0].words.text()
    )
    view.rows[0].after.picked.emit(group.compose(g, 9), 0, 0)
    qtbot.waitUntil(lambda: window.controller.state.channel == 9)
    settle(qtbot, window)
    window.controller.grant(Wish(changes={"layer": "vectors"}))
    settle(qtbot, window)
    assert "has no orientations" in view.pages.label.text() and view.numbers() == {}


@pytest.mark.slow
def test_orientations_of_two_networks_are_below_each_other(qtbot: QtBot, open_window: Open) -> None:
    state = replace(FIRST, model="oh-cnn", compare="o-cnn", layer="lift", steps=parse_chain("cube:x180"))
    window = open_window(state)
    window.show_view("orientations")
    view = window.panes.front()
    assert isinstance(view, OrientationsView)
    window.grab()
    assert [len(row.before.item.values) for row in view.rows if row.isVisible()] == [48, 24]  # type: ignore[arg-type]
    found, group = view.numbers(), cube_group("O")
    g = group.labels.index("x180")
    assert found["o-cnn/order"].tolist() == [group.compose(g, h) for h in range(24)]
    assert "Oh in field 0" in view.caption() and "O in field 0" in view.caption()
    view.rows[1].before.pointed.emit((5, 0, 0))
    said = [row.words.text() for row in view.rows]
    assert "(O): orientation" in said[1] and f"orientation {group.labels[5]} of" in said[1]
    assert "(O_h): orientation identity of" in said[0], "each has orientations of its own"


@pytest.mark.slow
def test_surfaces_are_drawn(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    window = open_window(FIRST)
    window.show_view("isosurface")
    view = window.panes.front()
    assert isinstance(view, IsosurfaceView)
    view.settle()
    assert [look.title for look in view.canvas.looks] == ["x", "ρ(g)x", "ρ′(g)F(x)", "F(ρ(g)x)"]
    before = [len(look.faces) for look in view.canvas.looks]
    assert all(before) and before[0] == before[1], "a turned surface has as many triangles"
    view.level.setValue(700)
    assert [len(look.faces) for look in view.canvas.looks] != before
    export_view(view, tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 4000 and "70%" in view.caption()


def test_a_ball_is_a_closed_surface_with_its_faces_outwards() -> None:
    axis = np.arange(21) - 10.0
    away = np.sqrt(axis[:, None, None] ** 2 + axis[:, None] ** 2 + axis**2)
    points, faces = isosurface((10 - away).astype(np.float32), 3.0)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 7.0, atol=0.1)
    a, b, c = (points[faces[:, k]] for k in range(3))
    assert float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6 == pytest.approx(4 / 3 * np.pi * 7**3, rel=0.02)
    assert len(isosurface(np.zeros((5, 5, 5), np.float32), 1.0)[1]) == 0


@pytest.mark.filterwarnings("error")
def test_a_surface_has_places_whatever_the_values_are() -> None:
    axis = np.arange(21) - 10.0
    ball = 10 - np.sqrt(axis[:, None, None] ** 2 + axis[:, None] ** 2 + axis**2)
    points, faces = isosurface(ball, 3.0)
    for unit in (1e-30, 1e30, 1e300):
        there, joined = isosurface(unit * ball, 3.0 * unit)
        np.testing.assert_array_equal(joined, faces)
        np.testing.assert_allclose(there, points, atol=1e-3)
    assert len(isosurface(unit * ball, np.inf)[1]) == len(isosurface(np.full((4, 4, 4), np.nan), 0.0)[1]) == 0
    inside = ball.copy()
    inside[10, 10, 10], inside[0, 0, 0] = np.inf, np.nan
    np.testing.assert_array_equal(isosurface(inside, 3.0)[1], faces)


def test_alt_and_drag_turn_the_volume_and_let_go_near_the_cube(qtbot: QtBot) -> None:
    view = IsosurfaceView()
    qtbot.addWidget(view)
    heard: list[Wish] = []
    view.wished.connect(heard.append)

    def let_go(chain: str) -> list[Wish]:
        heard.clear()
        view.set_state(replace(FIRST, steps=parse_chain(chain)))
        view.canvas.let_go.emit()
        return heard

    view.set_state(replace(FIRST, steps=parse_chain("rotate-volume:30,20,10")))
    before, further = rotation(np.array([30.0, 20.0, 10.0])), rotation(np.array([0.0, 7.0, -4.0]))
    view.canvas.turned.emit(further)
    (wish,) = heard
    assert wish.step is not None and wish.step[0] == wish.tag == "rotate-volume"
    assert np.abs(rotation(np.array(wish.step[1])) - further @ before).max() < 1e-3
    # near a rotation of the cube it becomes that one, else it stays where it is
    near, done = let_go("rotate-volume:1,86,2")
    assert near.step == ("rotate-volume", (0.0, 90.0, 0.0)) and done.done
    near, done = let_go("rotate-volume:2,-1,3")
    assert near.step == ("rotate-volume", (0.0, 0.0, 0.0)) and done.done
    for far in ("rotate-volume:0,80,0", "rotate-volume:0,90,0", "cube:z90"):
        (done,) = let_go(far)
        assert done.done and done.step is None


def test_a_voxel_is_shown_on_the_surfaces_of_all_panels(qtbot: QtBot) -> None:
    group = cube_group("Oh")
    turn = CubeMap(linear(group.matrices[group.labels.index("z90")]))
    x = np.zeros((9, 9, 9), np.float32)
    x[3:6, 2:4, 5:8] = 1.0  # slices, rows, columns: a block away from the middle
    gx = turn.act(torch.from_numpy(x)[None, None], VOLUME)[0, 0].numpy()
    part = VolumePart(x, gx, None, None, None, None, 0, 0, 1.0, (turn,), (9, 9, 9))
    canvas = SurfaceCanvas()
    qtbot.addWidget(canvas)
    canvas.panels = panels(part, False)
    canvas.show_looks([MeshLook(*isosurface(panel.values, 0.5), panel.name) for panel in canvas.panels])
    before, after = (look.vertices for look in canvas.looks)
    corner = int((before @ [1.0, 1.0, 1.0]).argmax())
    assert np.abs(np.array(canvas.voxel_at(0, corner)) - (5, 2, 7)).max() <= 1, "half way to the next voxel"
    other = canvas.number_in(1, corner, 0)
    there = np.array(group.matrices[group.labels.index("z90")]) @ before[corner]
    assert np.linalg.norm(after[other] - there) < 1.0 and canvas.number_in(0, other, 1) >= 0
    assert canvas.number_in(0, corner) == canvas.number_in(0, corner, 0) == corner
    canvas.panels = panels(replace(part, gx=np.roll(gx, -3, 0)), False)
    canvas.show_looks([MeshLook(*isosurface(panel.values, 0.5), panel.name) for panel in canvas.panels])
    assert canvas.number_in(1, corner, 0) == -1, "the surface is elsewhere"


def test_no_volume_and_another_space(qtbot: QtBot) -> None:
    for kind in (SlicesView, OrientationsView, IsosurfaceView):
        view = kind()
        qtbot.addWidget(view)
        view.set_frame(None)
        assert view.numbers() == {} and view.caption() == ""


def test_the_identity_shows_no_square() -> None:
    part = part_of((5, 5, 5), CubeMap())
    assert [p.name for p in panels(part, True)] == ["x"] and [p.name for p in panels(part, False)] == ["x", "ρ(g)x"]


def test_ticks_point_at_the_marked_voxel_and_cover_nothing_else(qtbot: QtBot) -> None:
    grid = SliceGrid()
    qtbot.addWidget(grid)
    grid.resize(700, 300)
    with qtbot.waitExposed(grid):
        grid.show()
    grid.set_values(np.zeros((3, 25, 25), np.float32), -1, 1, "signed", 3, ("z", "y", "x"))
    grid.arrange()
    before = pixels(grid)
    grid.set_marks(((1, 5, 20),))
    changed = (pixels(grid) != before).any(-1)
    assert changed.any()
    rows, columns = np.nonzero(changed)
    at, first = (grid.item.mapRectToScene(grid.item.rect_of(place)) for place in ((1, 5, 20), (1, 0, 0)))
    level, upright = np.abs(rows - at.center().y()) < 8, np.abs(columns - at.center().x()) < 8
    assert (level | upright).all(), "on the row or the column of the voxel"
    assert columns.min() >= first.left() - 3, "only in the slice that is marked"
    assert (columns[level & ~upright] < first.left() + 10).any(), "a tick at the left border"
    assert (rows[upright & ~level] > at.center().y() + 20).any(), "a tick at the lower border"


def pixels(grid: SliceGrid) -> NDArray[np.uint8]:
    image = grid.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    return np.array(image.constBits()).reshape(image.height(), image.width(), 4).copy()


@pytest.mark.slow
def test_slices_and_orientations_use_their_room(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="oh-cnn", steps=parse_chain("cube:z90"), device="cpu"))
    window.resize(1600, 1000)
    window.menus.actions["show_slices"].trigger()
    slices = window.panes.front()
    assert isinstance(slices, SlicesView)
    window.grab()
    heights = [grid.height() for grid in slices.grids if grid.isVisible()]
    assert len(heights) == 6 and max(heights) - min(heights) <= 1, "panels of one size"
    window.menus.actions["show_orientations"].trigger()
    view = window.panes.front()
    assert isinstance(view, OrientationsView)
    window.grab()
    for size in ((1600, 1000), (1000, 1000), (1600, 700)):
        window.resize(*size)
        window.grab()
        tiles = view.rows[0].before
        values, frame, box = tiles.item.values, tiles.item.frame(), tiles.viewport().rect()
        assert values is not None and len(values) == 48
        assert max(frame.width() / box.width(), frame.height() / box.height()) > 0.7, size


@pytest.mark.slow
def test_two_models_are_shown_beside_each_other(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(
        State(model="oh-cnn", compare="plain-cnn-3d", steps=parse_chain("cube:z90"), device="cpu")
    )  # fmt: skip
    window.menus.actions["show_isosurface"].trigger()
    view = window.panes.front()
    assert isinstance(view, IsosurfaceView)
    view.settle()
    titles = [look.title for look in view.canvas.looks]
    first, second = (square.title for square, _ in view.parts())
    assert titles == [f"{name} · {title}" for title in (first, second) for name in ("ρ′(g)F(x)", "F(ρ(g)x)")]
    numbers = view.numbers()
    assert list(numbers) == titles
    assert (
        np.abs(numbers[titles[0]] - numbers[titles[1]]).max()
        < 1e-4
        < np.abs(numbers[titles[2]] - numbers[titles[3]]).max()
    )
