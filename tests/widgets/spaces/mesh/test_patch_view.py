"""The Patch view in real windows: the unrolled patch, the responses round the circle and the kernels are true ones."""

from __future__ import annotations

import gc
import re
import weakref
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFont, QFontMetricsF
from PySide6.QtWidgets import QApplication

from explorer.spaces.mesh.drawing.values import MeshPart
from explorer.square.frame import Frame
from tests.widgets.parts.driving.plot_mouse import PlotMouse
from tests.widgets.parts.driving.view_driving import gather, objects, odd_frames, opened
from tests.widgets.parts.frames.mesh_frames import mesh_frame
from widgets.base.look import theme
from widgets.base.pointer import Pointers
from widgets.base.view import Wish
from widgets.figures.export import export_view
from widgets.figures.numbers import export_numbers
from widgets.spaces.mesh.charts.kernel_chart import KernelChart, Label, arranged, label
from widgets.spaces.mesh.charts.patch_geometry import angle_of, around, edges_in, faces_near, frame_map, plane, raster
from widgets.spaces.mesh.looks import colours_of
from widgets.spaces.mesh.views.patch import PatchView, kernel_layer
from widgets.spaces.mesh.views.surface import SurfaceView
from widgets.window.automation.recording import as_array

NODE = 100
ROTATIONS = {"layer": "conv1.rotations", "node": NODE}


def beside(qtbot: Any, view: PatchView) -> SurfaceView:
    """Open a surface that points together with the patch, as in one window."""
    surface = opened(qtbot, SurfaceView(), 720, 360)
    Pointers(surface).link("vertex", surface.pointer, view.pointer)
    return surface


@pytest.fixture(autouse=True)
def in_light() -> Any:
    theme.use("light")
    yield
    theme.use("light")


@pytest.fixture
def view(qtbot: Any) -> PatchView:
    made = opened(qtbot, PatchView(), 1280, 240)
    assert isinstance(made, PatchView)
    return made


def give(view: Any, frame: Frame) -> MeshPart:
    view.set_state(frame.state)
    view.set_frame(frame)
    view.grab()
    part = frame.squares[0].of(MeshPart)
    assert part is not None
    return part


# the patch --------------------------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize("name", odd_frames())
def test_frames_without_a_mesh_say_what_to_do(view: PatchView, name: str) -> None:
    view.set_frame(odd_frames()[name])
    view.grab()
    assert view.patch.message and not view.patch.looks and view.rose.isHidden()
    assert view.numbers() == {} and view.caption() == ""


def test_without_a_vertex_one_is_asked_for_and_kernels_are_there(view: PatchView) -> None:
    give(view, mesh_frame())
    assert "Click a vertex" in view.patch.message and view.rose.isHidden() and view.kernels.kernels
    give(view, mesh_frame(node=NODE, refined=False))
    assert not view.patch.message or str(NODE) in view.patch.message
    view.set_state(replace(view.state, node=7))  # chosen just now: the frame is still about another one
    assert "vertex 7" in view.patch.message and not view.patch.looks


@pytest.mark.parametrize("degrees", [40, 300])
def test_a_turned_frame_turns_the_patch_the_other_way(view: PatchView, degrees: int) -> None:
    give(view, mesh_frame(node=NODE))
    assert len(view.patch.looks) == 1
    part = give(view, mesh_frame(chain=f"gauge:{degrees},{NODE}", node=NODE))
    one, other = view.patch.looks
    angle = np.radians(degrees)
    back = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    np.testing.assert_allclose(other.places, one.places @ back.T, atol=1e-5)
    assert angle_of(frame_map(part, NODE)) % (2 * np.pi) == pytest.approx(float(part.turn[NODE]), abs=1e-5)
    assert other.title == f"ρ(g)x · turned {degrees}°"
    assert angle_of(frame_map(part, NODE + 1)) == pytest.approx(0, abs=1e-5)


def test_the_frame_map_is_the_turn_at_every_vertex_however_they_are_numbered() -> None:
    part = mesh_frame(chain="rotate3d:10,20,30+random-gauge:5,0+permute:2").squares[0].of(MeshPart)
    found = [angle_of(frame_map(part, v)) for v in range(0, 642, 13)]
    apart = np.array(found) - part.turn[::13]
    np.testing.assert_allclose((apart + np.pi) % (2 * np.pi) - np.pi, 0, atol=1e-4)
    mirrored = mesh_frame(chain="mirror3d:x").squares[0].of(MeshPart)
    assert {round(float(np.linalg.det(frame_map(mirrored, v)))) for v in range(0, 642, 50)} == {-1}


def test_the_plane_is_the_log_map_and_the_networks_patch_lies_on_its_rings(view: PatchView) -> None:
    part = give(view, mesh_frame("geodesic-cnn", **ROTATIONS))
    patch, look = part.patch, view.patch.looks[0]
    rings, rays = patch.points.shape[:2]
    assert (look.rings, look.rays) == (rings, rays) == (3, 12) and look.reach == patch.reach
    # traced geodesics end where the log map, which is solved for, says that they do
    assert patch.reach < patch.injectivity
    for ring in range(rings):
        for ray in range(rays):
            away = np.linalg.norm(part.shape.vertices - patch.points[ring, ray], axis=1)
            near = np.argsort(away)[:3]
            shares = 1 / np.maximum(away[near], 1e-9)
            spot = (look.places[near] * shares[:, None]).sum(0) / shares.sum()
            r, angle = patch.reach * (ring + 1) / rings, 2 * np.pi * ray / rays
            assert np.linalg.norm(spot - r * np.array([np.cos(angle), np.sin(angle)])) < 0.35 * patch.reach / rings


def test_colours_are_those_of_the_surface_on_both_sides(view: PatchView, qtbot: Any) -> None:
    surface = beside(qtbot, view)
    frame = mesh_frame(chain=f"permute:3+gauge:40,{NODE}", node=NODE)
    part = give(view, frame)
    give(surface, frame)
    one, other = view.patch.looks
    np.testing.assert_array_equal(one.colours, colours_of(surface.canvas.looks[0]))
    np.testing.assert_array_equal(other.colours, colours_of(surface.canvas.looks[1])[part.order])
    surface.feature.setCurrentIndex(surface.feature.findData(2))
    surface.feature.activated.emit(0)
    np.testing.assert_array_equal(view.patch.looks[0].colours, colours_of(surface.canvas.looks[0]))
    assert not np.array_equal(view.patch.looks[0].colours, one.colours)


def test_vertices_have_their_colours_where_they_are_drawn(view: PatchView) -> None:
    give(view, mesh_frame(node=NODE))
    panel = view.patch.panels[0]
    pixels = as_array(panel.grab().toImage()).astype(int)
    look, radius = view.patch.looks[0], panel.shown
    assert panel.pixels().x() == pytest.approx(panel.pixels().y(), rel=0.01)
    seen = 0
    for v in range(len(look.places)):
        spot, away = panel.at(*look.places[v]), np.hypot(*look.places[v])
        if 0.5 * radius < away < 0.95 * radius:
            box = pixels[round(spot.y()) - 1 : round(spot.y()) + 2, round(spot.x()) - 1 : round(spot.x()) + 2]
            assert np.abs(box - look.colours[v]).max(2).min() < 60  # edges are drawn over it
            seen += 1
    assert seen > 10


def test_a_triangle_is_filled_evenly_and_one_turned_over_is_left_out() -> None:
    spots, faces = np.array([[0.0, 0.0], [16.0, 0.0], [0.0, 16.0]]), np.array([[0, 1, 2]])
    picture = raster(spots, faces, np.array([[0, 0, 0], [160, 0, 0], [0, 160, 0]], np.uint8), 16)
    y, x = np.mgrid[:16, :16] + 0.5
    inside = x + y < 15
    np.testing.assert_allclose(picture[inside][:, :2], np.stack([10 * x, 10 * y], -1)[inside], atol=1)
    assert (picture[x + y > 18][:, 3] == 0).all() and (picture[inside][:, 3] == 255).all()
    places = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [np.nan, 0.0], [9.0, 0.0], [9.0, 1.0]])
    faces = np.array([[0, 1, 2], [0, 2, 1], [0, 1, 3], [4, 5, 1]])
    assert faces_near(places, faces, 2.0).tolist() == [[0, 1, 2]]


def test_edges_are_drawn_once_and_end_at_the_rim() -> None:
    places = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 0.5], [5.0, 5.0], [5.0, 6.0]])
    found = edges_in(places, np.array([[0, 1, 2], [0, 2, 1], [1, 3, 4]]), 1.0)
    ends = {tuple(sorted(map(tuple, np.round(pair, 6).tolist()))) for pair in found}
    assert len(found) == 3 and ((0.0, 0.0), (1.0, 0.0)) in ends and ((0.0, 0.0), (0.0, 0.5)) in ends
    assert np.linalg.norm(found, axis=2).max() == pytest.approx(1)


def test_pointing_and_clicking_a_vertex(view: PatchView, qtbot: Any) -> None:
    surface = beside(qtbot, view)
    frame = mesh_frame(chain="permute:3", node=NODE)
    part = give(view, frame)
    give(surface, frame)
    surface.canvas.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
    wishes, words = gather(view), []
    view.hovered.connect(words.append)
    near = int(np.argsort(part.patch.polar[:, 0])[3])
    for panel, look in zip(view.patch.panels, view.patch.looks):
        mouse = PlotMouse(panel)
        mouse.move(QPointF(1, 1))
        mouse.move(mouse.at_data(*look.places[near]))
        assert view.patch.hot == near and surface.canvas.hot == (0, near)
        for other, seen in zip(view.patch.panels, view.patch.looks):
            np.testing.assert_allclose(np.ravel(other.rings[1].getData()), seen.places[near])
        assert f"vertex {near} at" in words[-1] and "θ" in words[-1]
    assert surface.canvas.number_in(1, near, 0) == part.order[near]
    mouse.click(mouse.at_data(*look.places[near]))
    assert wishes == [Wish({"node": near, "other": None})]
    view.pointer.moved.emit(None)
    assert view.patch.hot is None


def test_the_wheel_zooms_both_sides(view: PatchView) -> None:
    give(view, mesh_frame(chain=f"gauge:40,{NODE}", node=NODE))
    before, mouse = view.patch.shown(), PlotMouse(view.patch.panels[1])
    for _ in range(2):
        mouse.wheel(mouse.plot.plotted.center(), 1)
    assert view.patch.shown() == pytest.approx(before / 1.44)
    for panel in view.patch.panels:
        assert panel.shown == pytest.approx(before / 1.44) and panel.disc.radius == pytest.approx(before / 1.44)
    mouse.double_click(mouse.plot.plotted.center())
    assert [view.patch.shown(), *(panel.shown for panel in view.patch.panels)] == pytest.approx(3 * [before])


# responses --------------------------------------------------------------------------------------------------------
def test_a_turned_frame_shifts_the_responses_round_the_circle(view: PatchView) -> None:
    part = give(view, mesh_frame("geodesic-cnn", chain=f"gauge:60,{NODE}", **ROTATIONS))
    rose = view.rose.rose
    assert rose.before.sampled and rose.before.values.shape == (8, 12)
    np.testing.assert_array_equal(rose.before.values, part.values[NODE].reshape(8, 12))
    size = np.abs(rose.before.values).max()
    np.testing.assert_allclose(rose.after.values, np.roll(rose.before.values, -2, 1), atol=1e-4 * size)
    before, after = view.rose.winners()
    assert after == (before - 2) % 12
    assert f"strongest at {30 * before}°, after at {30 * after}°" in view.caption()
    for curve, found in zip(view.rose.curves, (rose.before, rose.after)):
        r = np.hypot(*curve.getData())
        np.testing.assert_allclose(r[:12], view.rose.radii(found.values[rose.channel]))
        assert r[0] == r[12] and r.max() <= 1
    # the strongest response itself is what the network keeps
    assert rose.after.values.max() == pytest.approx(rose.before.values.max(), rel=1e-5)


def test_of_a_layer_of_many_channels_whole_fields_are_drawn(view: PatchView) -> None:
    part = give(view, mesh_frame("geodesic-cnn", layer="conv2.rotations", node=NODE))  # 192, of which 128 are drawn
    np.testing.assert_array_equal(view.rose.rose.before.values, part.values[NODE].reshape(10, 12))


def test_tangent_features_are_a_function_of_direction(view: PatchView) -> None:
    part = give(view, mesh_frame(chain=f"gauge:40,{NODE}", node=NODE))
    rose = view.rose.rose
    assert not rose.before.sampled and rose.before.values.shape[1] == 72
    size = np.abs(rose.before.values).max()
    np.testing.assert_allclose(rose.after.values, np.roll(rose.before.values, -8, 1), atol=1e-4 * size)
    # where it is largest the vector points to, as on the surface
    f0, re, im = part.values[NODE].reshape(-1, 3)[rose.channel]
    assert rose.before.values[rose.channel].max() == pytest.approx(f0 + np.hypot(re, im), rel=1e-2)
    way = np.arctan2(im, re) - view.rose.winners()[0] * 2 * np.pi / 72
    assert abs((way + np.pi) % (2 * np.pi) - np.pi) <= np.pi / 72 + 1e-6
    scalar = replace(part, rep="scalar", orders=())
    assert around(scalar, part.values[NODE]) is None


def test_scalars_name_the_layer_that_has_directions(view: PatchView) -> None:
    give(view, mesh_frame("geodesic-cnn", layer="conv1", node=NODE))
    wishes = gather(view)
    assert view.rose.rose is None and view.rose.link == "conv1.rotations"
    PlotMouse(view.rose).click(QPointF(view.rose.rect().center()))
    assert wishes == [Wish({"layer": "conv1.rotations"})]
    give(view, mesh_frame("monet-principal", layer="conv1", node=NODE))
    assert view.rose.rose is None and not view.rose.link and view.rose.message


def test_a_thin_line_picks_its_channel_here_and_on_the_surface(view: PatchView, qtbot: Any) -> None:
    surface = beside(qtbot, view)
    frame = mesh_frame("geodesic-cnn", **ROTATIONS)
    give(surface, frame)
    give(view, frame)
    rose, mouse = view.rose, PlotMouse(view.rose)
    radii, wanted = rose.radii(rose.rose.before.values), None
    for channel in range(8):
        for k in range(12):
            spot = radii[channel, k] * np.cos(k * np.pi / 6), radii[channel, k] * np.sin(k * np.pi / 6)
            if channel != rose.rose.channel and rose.nearest(QPointF(*spot)) == (channel, k):
                wanted = channel, k, spot
    assert wanted is not None
    assert np.isclose(rose.others.getData()[0], wanted[2][0]).any()  # its thin line goes through that spot
    here = mouse.at_data(*wanted[2])
    assert mouse.read(here).startswith(f"{30 * wanted[1]}°: F(x) ")
    mouse.click(here)
    assert rose.rose.channel == wanted[0] and surface.feature.currentData() == wanted[0]
    assert surface.canvas.looks[1].bar.startswith(f"{wanted[0]} ·")


# kernels ----------------------------------------------------------------------------------------------------------
def test_names_say_where_a_kernel_stands() -> None:
    assert label("1 → 2: frequency 3 [3,1]") == Label("1", "2", "frequency 3", "[3,1]")
    assert label("4 ← 0") == Label("0", "4")
    assert label("w3") is None


@pytest.mark.parametrize("width", [300, 660, 1400])
def test_the_basis_is_a_table_of_inputs_and_outputs(width: int, qapp: Any) -> None:
    frame = mesh_frame("gem-cnn-regular", layer="conv2")
    part = frame.squares[0].of(MeshPart)
    names = part.kernel_names["conv2"]
    assert part.kernels["conv2"].shape[:2] == (len(names), 1)
    layout = arranged(names, 1, width, QFont())
    assert len(layout.pictures) == len(names) and len(layout.cells) == 9
    heads = {text: box for box, text, kind in layout.words if kind == "head"}
    assert set(heads) == {"→ 0", "→ 1", "→ 2", "0 →", "1 →", "2 →"}
    for name, box in zip(names, layout.pictures, strict=True):
        row, column = heads[f"{label(name).source} →"], heads[f"→ {label(name).target}"]
        assert row.top() <= box.top() and box.bottom() <= row.bottom()
        assert column.left() <= box.left() and box.right() <= column.right()
    for k, box in enumerate(layout.pictures):
        assert not any(box.intersects(other) for other in layout.pictures[k + 1 :])
    lines = [text for _, text, kind in layout.words if kind == "line"]
    assert {"frequency 0", "frequency 1", "frequency 2", "frequency 3", "frequency 4"} == set(lines)


def test_the_name_of_a_line_has_room_beside_a_single_picture(qapp: Any) -> None:
    """The one kernel of an isotropic convolution stood under "freque"."""
    layout = arranged(("0 → 0: frequency 0",), 1, 300, QFont())
    (box,) = [box for box, _, kind in layout.words if kind == "line"]
    assert box.width() >= QFontMetricsF(QFont()).horizontalAdvance("frequency 0")
    assert layout.cells[0].contains(box)


def test_the_sign_and_the_size_of_a_curve_are_its_petals(qtbot: Any) -> None:
    chart = KernelChart()
    qtbot.addWidget(chart)
    theta = np.arange(48) * 2 * np.pi / 48
    chart.resize(300, 120)
    chart.show_kernels(np.cos(theta).astype(np.float32)[None, None], ("w0",))
    pixels = as_array(chart.grab().toImage()).astype(int)
    box = chart.arrangement().pictures[0]
    spots = [chart.at(box.center().x() + x * box.width(), box.center().y() + y * box.height())
             for x, y in ((0.2, 0), (-0.2, 0), (0, -0.2))]  # fmt: skip
    right, left, above = (pixels[round(spot.y()), round(spot.x())] for spot in spots)
    assert right[0] > right[2] + 20 and left[2] > left[0] + 20 and np.ptp(above) < 12
    mouse = PlotMouse(chart)
    said = mouse.read(mouse.at_data(box.center().x() + 0.4 * box.width(), box.center().y()))
    assert re.match(r"w0 · (0|1|359)°: 1$", said)  # the mouse is at a whole pixel
    negative, positive = (item.getData()[0] for item in chart.petals)
    assert np.nanmin(positive) >= box.center().x() - 1e-6 and np.nanmax(negative) <= box.center().x() + 1e-6


def test_a_filter_is_a_polar_picture(qtbot: Any) -> None:
    chart = KernelChart()
    qtbot.addWidget(chart)
    values = np.zeros((1, 2, 4), np.float32)
    values[0, 1, 1] = 1.0  # the outer ring, above
    values[0, 0, 2] = -1.0  # the inner ring, at the left
    chart.resize(200, 120)
    chart.show_kernels(values, ("w0",))
    pixels, box = as_array(chart.grab().toImage()).astype(int), chart.arrangement().pictures[0]

    def at(x: float, y: float) -> np.ndarray:
        spot = chart.at(box.center().x() + x * box.width() / 2, box.center().y() - y * box.height() / 2)
        return pixels[round(spot.y()), round(spot.x())]

    table = theme.signed_map()[:, :3].astype(int)
    np.testing.assert_allclose(at(0, 0.72), table[-1], atol=6)
    np.testing.assert_allclose(at(-0.25, 0), table[0], atol=6)
    np.testing.assert_allclose(at(0, 0.25), table[256], atol=6)
    np.testing.assert_allclose(at(0.72, 0), table[256], atol=6)


def test_kernels_follow_the_layer_and_can_be_chosen(view: PatchView) -> None:
    frame = mesh_frame(layer="act2")
    part = give(view, frame)
    assert view.layer.currentText() == "conv2" == kernel_layer(frame.squares[0], list(part.kernels))
    view.layer.setCurrentIndex(0)
    view.layer.activated.emit(0)
    assert view.kernels.kernels == part.kernel_names["conv1"]
    give(view, mesh_frame(chain="gauge:40,7", layer="act2"))
    assert view.layer.currentText() == "conv1", "what was chosen stays while the layer does"
    give(view, mesh_frame())
    assert view.layer.currentText() == "conv1"
    part = give(view, mesh_frame("monet-principal", layer="relu1"))
    assert view.kernels.kernels == part.kernel_names["conv1"] and part.kernels["conv1"].shape[1] > 1
    give(view, mesh_frame("mesh-chebnet", layer=""))
    assert view.layer.isHidden() and view.words.isVisible()


def test_of_two_models_one_is_chosen(view: PatchView) -> None:
    frame = mesh_frame(chain=f"gauge:40,{NODE}", node=NODE, compare="geodesic-cnn")
    give(view, frame)
    assert not view.model.isHidden() and view.patch.looks[0].rings == 0
    view.model.setCurrentIndex(1)
    view.model.activated.emit(1)
    assert view.patch.looks[0].rings == 3 and "←" in view.kernels.kernels[0]


# files and what is left -------------------------------------------------------------------------------------------
def test_numbers_caption_and_files(view: PatchView, tmp_path: Any) -> None:
    frame = mesh_frame("geodesic-cnn", chain=f"gauge:60,{NODE}", **ROTATIONS)
    part = give(view, frame)
    found = view.numbers()
    np.testing.assert_array_equal(found["log map (r, theta)"], part.patch.polar)
    np.testing.assert_allclose(found["places 0"], plane(part.patch.polar))
    np.testing.assert_array_equal(found["kernels conv1"], part.kernels["conv1"])
    assert f"vertex {NODE}" in view.caption() and "kernels of conv1" in view.caption()
    export_numbers(view, tmp_path / "patch.npz")
    export_view(view, tmp_path / "patch.svg")
    assert "frequency" not in (tmp_path / "patch.svg").read_text() and (tmp_path / "patch.svg").stat().st_size > 5000


@pytest.mark.parametrize("name", ["light", "dark"])
def test_both_themes_and_nothing_is_made_anew_on_a_frame(view: PatchView, name: str) -> None:
    theme.use(name)
    view.apply_theme()
    give(view, mesh_frame(node=NODE))
    before = objects(view)
    for chain in (f"gauge:20,{NODE}", f"gauge:40,{NODE}", "mirror3d:x", "permute:4", ""):
        give(view, mesh_frame(chain=chain, node=NODE))
    assert objects(view) == before


def test_a_closed_view_is_gone(qtbot: Any) -> None:
    view = PatchView()
    view.resize(900, 220)
    view.show()
    qtbot.waitExposed(view)
    view.set_frame(mesh_frame(node=NODE))
    view.grab()
    gone = weakref.ref(view.patch)
    view.close()
    view.deleteLater()
    QApplication.sendPostedEvents(None, 52)
    del view
    gc.collect()
    assert gone() is None
