"""The Surface view in real windows, on frames of real networks: what is drawn, what hands ask for, what is left."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from scipy.spatial.transform import Rotation

from explorer.declare.elements import chain_text
from explorer.spaces.mesh.drawing.values import MeshPart
from explorer.square.frame import Frame
from tests.widgets.parts.driving.mouse import move
from tests.widgets.parts.driving.view_driving import gather, objects, odd_frames, opened
from tests.widgets.parts.frames.fake_engine import FakeEngine
from tests.widgets.parts.frames.mesh_frames import mesh_frame
from tests.widgets.parts.frames.sample_frames import make_frame
from widgets.base.look import theme
from widgets.base.pointer import Pointer, Pointers
from widgets.base.view import Wish
from widgets.charts.scene.labels import Line
from widgets.figures.numbers import export_numbers
from widgets.spaces.mesh.looks import answers, colours_of, feature, features, strongest
from widgets.spaces.mesh.views.surface import SurfaceView
from widgets.window.controller import Controller

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
PLAIN, ALT, SHIFT, CTRL = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.AltModifier,
                           Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier)  # fmt: skip


@pytest.fixture
def view(qtbot: Any) -> SurfaceView:
    made = opened(qtbot, SurfaceView(), 960, 480)
    assert isinstance(made, SurfaceView)
    return made


def give(view: SurfaceView, frame: Frame) -> MeshPart:
    view.set_state(frame.state)
    view.set_frame(frame)
    view.grab()
    part = frame.squares[0].of(MeshPart)
    assert part is not None
    return part


def in_front(view: SurfaceView, panel: int = 0, least: float = 0.8) -> np.ndarray:
    """Return vertices of the sphere, numbered as in a panel, that look at the eye."""
    at = view.canvas.looks[panel].vertices
    way = view.canvas.eye.position - at
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    normal = at - at.mean(0)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    return np.flatnonzero((way * normal).sum(1) > least)


def click(view: SurfaceView, vertex: int, panel: int = 0, keys: Any = PLAIN) -> None:
    spot = view.canvas.vertex_at(vertex, panel).toPoint()
    move(view.canvas, spot)
    QTest.mouseClick(view.canvas, LEFT, keys, spot)


def wheel(view: SurfaceView, at: QPointF, notches: float, keys: Any = PLAIN) -> None:
    where, phase = QPointF(view.canvas.mapToGlobal(at)), Qt.ScrollPhase.NoScrollPhase
    turn = QPoint(0, round(120 * notches))
    QApplication.sendEvent(view.canvas, QWheelEvent(at, where, QPoint(), turn, NONE, keys, phase, False))


# what is drawn ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", odd_frames())
def test_frames_without_a_mesh_say_what_to_do(view: SurfaceView, name: str) -> None:
    view.set_frame(odd_frames()[name])
    view.grab()
    assert view.canvas.message and not view.canvas.looks
    assert view.numbers() == {} and view.caption() == "" and view.words.text() == ""


def test_the_identity_has_two_panels_and_an_element_three(view: SurfaceView) -> None:
    give(view, mesh_frame())
    assert [look.title for look in view.canvas.looks] == ["x", "F(x) · act1"]
    part = give(view, mesh_frame(chain="gauge:40,7"))
    assert [look.title for look in view.canvas.looks] == ["F(x) · act1", "F(ρ(g)x)", "difference"]
    assert np.abs(part.difference).max() < 1e-4 * np.abs(part.values).max()


def test_a_turned_frame_moves_no_arrow_and_no_colour(view: SurfaceView) -> None:
    give(view, mesh_frame(chain="random-gauge:3,0"))
    before, after = view.canvas.looks[:2]
    np.testing.assert_allclose(colours_of(before).astype(int), colours_of(after), atol=2)
    assert len(before.glyphs) == len(after.glyphs) == 1
    size = np.abs(before.glyphs[0].directions).max()
    np.testing.assert_allclose(before.glyphs[0].directions, after.glyphs[0].directions, atol=1e-3 * size)


def test_the_numbers_of_a_network_that_is_not_equivariant_do_change(view: SurfaceView) -> None:
    give(view, mesh_frame("monet-principal", "random-gauge:3,0", layer="conv1"))
    difference, scale = view.canvas.looks[2].scalars, view.canvas.looks[0].scale[1]
    assert difference.max() > 0.03 * scale
    give(view, mesh_frame(chain="random-gauge:3,0"))
    assert view.canvas.looks[2].scalars.max() < 1e-4 * view.canvas.looks[0].scale[1]


def test_with_arrows_the_strongest_feature_is_a_vector(view: SurfaceView) -> None:
    part = give(view, mesh_frame())
    names = features(part, part.rep, part.values.shape[1])
    spread = [np.std(feature(part, part.rep, part.values, k).size) for k in range(len(names))]
    vectors = [k for k, name in enumerate(names) if name.endswith("vector")]
    assert strongest(part, part.rep, part.values, arrows=True) == max(vectors, key=lambda k: spread[k])
    assert strongest(part, part.rep, part.values) == int(np.argmax(spread))
    assert view.canvas.looks[1].bar.endswith("vector") and view.canvas.looks[1].glyphs
    view.arrows.setChecked(False)
    assert not view.canvas.looks[1].glyphs and view.canvas.looks[1].bar == names[int(np.argmax(spread))]


def test_rounding_looks_like_no_difference(view: SurfaceView) -> None:
    part = give(view, mesh_frame(chain="gauge:40,-1"))
    look = view.canvas.looks[2]
    most = np.linalg.norm(part.difference, axis=1).max()
    assert 0 < most and look.scalars.max() < 0.01 * look.scale[1] and look.note.startswith("at most")
    give(view, mesh_frame("monet-principal", "gauge:40,-1", layer="conv1"))
    look = view.canvas.looks[2]
    assert look.scale[1] == look.scalars.max() and not look.note


def test_boxes_choose_panels_colours_and_features(view: SurfaceView) -> None:
    part = give(view, mesh_frame(chain="gauge:40,7"))
    view.sides.setCurrentIndex(view.sides.findData("ρ′(g)F(x),F(ρ(g)x)"))
    view.sides.activated.emit(0)
    assert [look.title for look in view.canvas.looks] == ["ρ′(g)F(x)", "F(ρ(g)x)"]
    view.feature.setCurrentIndex(view.feature.findData(4))  # channel 2, order 0
    view.feature.activated.emit(0)
    assert view.canvas.looks[0].bar == "2 · scalar"
    np.testing.assert_array_equal(view.canvas.looks[1].scalars, part.answer[:, 6])
    gauge = view.colour.findData("gauge")
    assert not view.colour.model().item(gauge).isEnabled(), "the gauge of this network is free"
    give(view, mesh_frame("monet-principal", layer="conv1"))
    assert view.colour.model().item(gauge).isEnabled()
    view.sides.setCurrentIndex(0)
    view.colour.setCurrentIndex(gauge)
    view.colour.activated.emit(gauge)
    known = mesh_frame("monet-principal", layer="conv1").squares[0].of(MeshPart).ambiguity
    np.testing.assert_allclose(view.canvas.looks[1].scalars, known)
    give(view, mesh_frame("gem-cnn", layer="conv1"))
    assert view.colour.currentData() == "layer", "the box names what is drawn"
    give(view, mesh_frame("monet-principal", layer="conv1"))
    view.colour.setCurrentIndex(gauge)
    view.colour.activated.emit(gauge)
    view.forget_choices()
    assert view.colour.currentData() == "layer", "a lesson begins as it is written"


def test_classes_colour_the_answer_alone(view: SurfaceView) -> None:
    frame = mesh_frame(layer="classify")
    give(view, frame)
    assert answers(frame.squares[0]) and view.colour.currentData() == "answer"
    colours, labels = view.canvas.looks[1].colours, frame.squares[0].labels
    assert colours is not None and view.words.text().count("■") == len(labels)
    best = frame.squares[0].of(MeshPart).values.argmax(1)
    for k, name in enumerate(labels):
        rgb = tuple(map(int, colours[best == k][0])) if (best == k).any() else ()
        assert (
            f'rgb({", ".join(map(str, rgb))})">■</span> {name}' in view.words.text().replace("&nbsp;", " ") or not rgb
        )
    # as many channels as there are classes do not make an answer
    square = mesh_frame().squares[0]
    assert not answers(replace(square, labels=tuple(map(str, range(square.of(MeshPart).values.shape[1])))))
    give(view, mesh_frame())
    assert view.colour.currentData() == "layer" and view.canvas.looks[1].colours is None


def test_frames_are_drawn_as_two_sets_of_glyphs(view: SurfaceView) -> None:
    part = give(view, mesh_frame(chain="gauge:90,-1"))
    view.arrows.setChecked(False)
    view.frames.setChecked(True)
    (x, y), (moved, _) = view.canvas.looks[0].glyphs, view.canvas.looks[1].glyphs
    assert x.ink != y.ink and len(x.points) == len(y.points) > 100
    np.testing.assert_allclose((x.directions * y.directions).sum(1), 0, atol=1e-9)
    np.testing.assert_allclose(moved.directions, y.directions, atol=1e-6)  # a quarter turn: X' = Y
    ways = x.directions / np.linalg.norm(x.directions, axis=1, keepdims=True)
    near = np.array([np.abs(part.shape.vertices - p).sum(1).argmin() for p in x.points])
    np.testing.assert_allclose(ways, part.shape.axes[near, 0], atol=1e-9)


def test_as_many_arrows_are_drawn_as_are_asked_for(view: SurfaceView) -> None:
    part = give(view, mesh_frame(chain="gauge:90,-1"))
    counts = []
    for k in range(view.amount.count()):
        view.amount.setCurrentIndex(k)
        view.amount.activated.emit(k)
        counts.append(len(view.canvas.looks[0].glyphs[0].points))
    assert counts == sorted(counts) and counts[0] < counts[1] == 500 < counts[-1] == len(part.shape.vertices)


@pytest.mark.slow
def test_ambiguity_marks_the_singular_faces_of_x_with_indices_that_add_up_to_the_euler_number(
    view: SurfaceView,
) -> None:
    part = give(view, mesh_frame("monet-principal", chain="shake:0.001,1", layer="conv1", sample="bumpy-sphere"))
    assert not view.canvas.looks[0].texts and "indices" not in view.words.text()
    at = view.colour.findData("gauge")
    view.colour.setCurrentIndex(at)
    view.colour.activated.emit(at)
    look, moved = view.canvas.looks[:2]
    assert look.marks.faces == tuple(face for face, _ in part.singular)
    halves = {"+½": 0.5, "−½": -0.5, "+1": 1.0, "−1": -1.0}
    faces, vertices = part.shape.faces, part.shape.vertices
    edges = {tuple(sorted((int(f[k]), int(f[k - 1])))) for f in faces for k in range(3)}
    assert sum(halves[text.words] for text in look.texts) == len(vertices) - len(edges) + len(faces) == 2
    for text, face in zip(look.texts, look.marks.faces, strict=True):
        np.testing.assert_allclose(text.point, vertices[faces[face]].mean(0))
    assert not moved.texts and not moved.marks.faces, "those of another surface lie elsewhere"
    assert "add up to 2" in view.words.text() and f"{len(look.texts)} faces" in view.words.text()


def test_two_models_stand_side_by_side(view: SurfaceView) -> None:
    give(view, mesh_frame(chain="gauge:40,7", compare="monet-principal"))
    titles = [look.title for look in view.canvas.looks]
    assert len(titles) == 4 and [t.partition(" · ")[0] for t in titles] == ["F(ρ(g)x)", "difference"] * 2
    assert titles[0] != titles[2]
    found = view.numbers()
    assert {"gem-cnn/F(x)", "monet-principal/F(x)"} <= set(found)


def test_few_vertices_far_beyond_the_others_do_not_take_the_colours(view: SurfaceView) -> None:
    frame = mesh_frame("monet-principal", layer="conv1")
    part = frame.squares[0].of(MeshPart)
    values = part.values.copy()
    values[:3] *= 1e4
    changed = replace(part, values=values, answer=values)
    give(view, replace(frame, squares=(replace(frame.squares[0], part=changed),)))
    look = view.canvas.looks[1]
    assert look.scale[1] < 100 * np.abs(part.values).max() and "beyond" in look.note
    give(view, frame)
    assert "beyond" not in view.canvas.looks[1].note


# hands ------------------------------------------------------------------------------------------------------------
def test_a_click_selects_and_shift_says_where_to_carry(view: SurfaceView) -> None:
    give(view, mesh_frame())
    wishes = gather(view)
    near = in_front(view)
    first, second = int(near[0]), int(near[-1])
    click(view, first)
    assert wishes == [Wish({"node": first, "other": None})]
    view.set_state(replace(view.state, node=first))
    click(view, second, keys=SHIFT)
    assert wishes[1:] == [Wish({"other": second})]
    view.set_state(replace(view.state, node=first, other=second))
    view.set_frame(mesh_frame(node=first, other=second))
    assert "geodesic" in view.words.text() and "geodesic" in view.caption()
    path = mesh_frame(node=first, other=second).squares[0].of(MeshPart).path
    assert f"{np.degrees(path.angle):.1f}".replace("-", "−") in view.words.text()
    drawn = [len(p.points) for p in view.canvas.looks[0].marks.paths]
    assert len(path.points) in drawn
    QTest.mouseClick(view.canvas, LEFT, PLAIN, QPoint(18, 60))  # beside the mesh
    assert wishes[-1] == Wish({"node": None, "other": None})


def test_a_vertex_that_something_else_selects_is_brought_to_the_eye_and_a_click_leaves_the_eye(
    view: SurfaceView,
) -> None:
    part = give(view, mesh_frame())
    eye = view.canvas.eye
    near = int(in_front(view, least=0.9)[0])
    click(view, near)
    give(view, mesh_frame(node=near))
    assert view.canvas.eye is eye
    middle = part.shape.vertices.mean(0)
    far = int(((part.shape.vertices - middle) @ (middle - eye.position)).argmax())
    give(view, mesh_frame(node=far))
    assert view.canvas.pictures.seen(0, part.shape.vertices[far], view.canvas.eye)
    assert not view.canvas.pictures.seen(0, part.shape.vertices[far], eye)
    assert view.canvas.eye.axes[1, 1] > 0.5, "upright"
    turned = view.canvas.eye
    give(view, mesh_frame(chain="gauge:40,7", node=far))
    assert view.canvas.eye.axes is turned.axes


def test_the_words_of_a_loop_are_those_of_gauss_and_bonnet(view: SurfaceView) -> None:
    frame = mesh_frame(node=5)
    part = give(view, frame)
    turn = part.loop.angle - part.loop.enclosed
    assert abs((turn + np.pi) % (2 * np.pi) - np.pi) < 1e-6
    words = f"{np.degrees(part.loop.enclosed):.1f}°"
    assert view.words.text().count(words) == 2
    # while the frame still speaks of another vertex nothing is said
    view.set_state(replace(frame.state, node=9))
    assert view.words.text() == "" and not view.canvas.looks[0].marks.paths


def test_ctrl_and_the_wheel_turn_the_frame_with_one_entry_of_the_history(view: SurfaceView) -> None:
    controller = Controller(FakeEngine, replace(mesh_frame().state, node=None))
    view.wished.connect(controller.grant)
    controller.state_changed.connect(lambda old, new: view.set_state(new))
    give(view, mesh_frame())
    vertex = int(in_front(view, least=0.9)[0])
    click(view, vertex)
    assert controller.state.node == vertex
    spot = view.canvas.vertex_at(vertex)
    for notches in (1, 1, -3):
        wheel(view, spot, notches, CTRL)
    assert chain_text(controller.state.steps) == f"gauge:345,{vertex}"
    controller.undo()
    assert controller.state.steps == () and controller.state.node == vertex
    eye = view.canvas.eye
    wheel(view, QPointF(20, 60), 1, CTRL)  # elsewhere it is a zoom
    assert controller.state.steps == () and view.canvas.eye is not eye
    assert controller.close()


def test_alt_and_a_drag_turn_the_mesh_and_each_drag_is_one_entry(view: SurfaceView) -> None:
    controller = Controller(FakeEngine, mesh_frame().state)
    view.wished.connect(controller.grant)
    controller.state_changed.connect(lambda old, new: view.set_state(new))
    give(view, mesh_frame())
    eye, middle = view.canvas.eye, view.canvas.cells()[0].center().toPoint()
    turns = []
    for _ in range(2):
        QTest.mousePress(view.canvas, LEFT, ALT, middle)
        for k in range(1, 5):
            move(view.canvas, middle + QPoint(10 * k, 0), LEFT, ALT)
            view.show_frame(mesh_frame())  # an answer to an earlier state takes nothing back
        QTest.mouseRelease(view.canvas, LEFT, ALT, middle + QPoint(40, 0))
        step = controller.state.step("rotate3d")
        assert step is not None
        turns.append(np.linalg.norm(step.values))
    # 40 pixels of 0.009 radians about the eye's up
    np.testing.assert_allclose(turns, np.degrees([0.36, 0.72]), rtol=1e-2)
    way = np.array(controller.state.step("rotate3d").values) / turns[1]
    np.testing.assert_allclose(way, eye.axes[1], atol=2e-2)
    assert view.canvas.eye is eye
    # the engine turns it the same way: what faces the hand follows it to the right
    part = mesh_frame(chain=chain_text(controller.state.steps)).squares[0].of(MeshPart)
    turn = Rotation.from_rotvec(np.radians(controller.state.step("rotate3d").values))
    np.testing.assert_allclose(part.moved.vertices, part.shape.vertices @ turn.as_matrix().T, atol=1e-5)
    front = in_front(view, least=0.9)
    gone = [eye.screen(v[front], 400, 400)[:, 0] for v in (part.shape.vertices, part.moved.vertices)]
    assert (gone[1] - gone[0] > 20).all()
    controller.undo()
    np.testing.assert_allclose(np.linalg.norm(controller.state.step("rotate3d").values), turns[0], rtol=1e-3)
    controller.undo()
    assert controller.state.steps == ()
    assert controller.close()


def test_a_renumbered_mesh_has_the_same_vertex_selected_on_both_sides(view: SurfaceView) -> None:
    frame = mesh_frame(chain="permute:3")
    part = give(view, frame)
    wishes = gather(view)
    own = int(in_front(view)[3])
    there = int(part.order[own])
    assert own != there
    click(view, there, panel=1)
    assert wishes[-1] == Wish({"node": own, "other": None})
    view.set_state(replace(frame.state, node=own))
    assert [look.marks.vertices for look in view.canvas.looks] == [(own,), (there,), (there,)]
    for panel in range(3):
        np.testing.assert_allclose(
            view.canvas.vertex_at(view.canvas.number_in(panel, own), panel).toTuple(),
            (view.canvas.vertex_at(own, 0) + view.canvas.cells()[panel].topLeft()
             - view.canvas.cells()[0].topLeft()).toTuple(), atol=1e-6,
        )  # fmt: skip
    move(view.canvas, view.canvas.vertex_at(there, 1).toPoint())
    assert view.canvas.hot == (1, there) and view.canvas.number_in(0, there, 1) == own
    wheel(view, view.canvas.vertex_at(there, 1), 2, CTRL)
    assert wishes[-1].step == ("gauge", (30.0, float(there))), "after the permutation the vertex has the other number"


def test_the_vertex_under_the_mouse_is_told_and_followed(view: SurfaceView) -> None:
    give(view, mesh_frame())
    heard: list[Any] = []
    view.pointer.moved.connect(heard.append)
    vertex = int(in_front(view, least=0.9)[2])
    words: list[str] = []
    view.hovered.connect(words.append)
    move(view.canvas, view.canvas.vertex_at(vertex).toPoint())
    assert heard == [vertex] and words[-1].startswith(f"vertex {vertex} at")
    move(view.canvas, QPoint(18, 60))
    assert heard[-1] is None and words[-1] == ""
    view.canvas.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
    view.pointer.moved.emit(11)
    assert view.canvas.hot == (0, 11)
    view.pointer.moved.emit(None)
    assert view.canvas.hot is None


# files and what is left -------------------------------------------------------------------------------------------
def test_the_numbers_are_those_of_the_frame(view: SurfaceView, tmp_path: Any) -> None:
    frame = mesh_frame(chain="gauge:40,7", node=5)
    part = give(view, frame)
    found = view.numbers()
    for name, known in (("vertices", part.shape.vertices), ("F(x)", part.values), ("F(ρ(g)x)", part.answer),
                        ("turn", part.turn), ("log map", part.patch.polar)):  # fmt: skip
        np.testing.assert_array_equal(found[name], known)
    export_numbers(view, tmp_path / "surface.npz")
    assert set(np.load(tmp_path / "surface.npz").files) and "act1" in view.caption()


@pytest.mark.parametrize("name", ["light", "dark"])
def test_both_themes_and_nothing_is_made_anew_on_a_frame(view: SurfaceView, name: str) -> None:
    theme.use(name)
    view.apply_theme()
    give(view, mesh_frame(node=5))
    before = objects(view)
    for chain in ("gauge:20,5", "gauge:40,5", ""):
        give(view, mesh_frame(chain=chain, node=5))
    assert objects(view) == before
    view.set_frame(make_frame())
    assert view.canvas.message
    theme.use("light")


def test_a_closed_view_is_gone(qtbot: Any) -> None:
    view = SurfaceView()
    view.resize(640, 360)
    view.show()
    qtbot.waitExposed(view)
    view.set_frame(mesh_frame(node=5))
    view.grab()
    pointers, other = Pointers(), Pointer()
    pointers.link("vertex", view.pointer, other)
    gone = weakref.ref(view.canvas)
    view.close()
    view.deleteLater()
    QApplication.sendPostedEvents(None, 52)
    del view
    gc.collect()
    assert gone() is None
    other.moved.emit(3)  # nobody is there to hear it
    other.moved.emit(None)


def test_all_of_the_mesh_is_seen_in_panels_of_any_shape_and_words_do_not_widen_the_window(view: SurfaceView) -> None:
    frame = mesh_frame(sample="body", layer="classify")
    give(view, frame)
    for size in ((960, 480), (500, 640), (1200, 300)):
        view.resize(*size)
        view.grab()
        box, at = view.canvas.cells()[0], view.canvas.looks[0].vertices
        spots = view.canvas.eye.screen(at, box.width(), box.height())[:, :2]
        assert (spots > 0).all() and (spots < (box.width(), box.height())).all()
        share = np.ptp(spots, axis=0) / (box.width(), box.height())
        assert share.max() > 0.7, "and it is not far away"
    assert len(view.words.text()) > 300 and view.minimumSizeHint().width() < 800
    whole = view.canvas.eye
    wheel(view, view.canvas.cells()[0].center(), 6)
    hand = view.canvas.eye
    assert hand is not whole
    view.resize(900, 500)
    view.grab()
    assert view.canvas.eye is hand, "where a hand has put the eye it stays"


def test_what_stands_below_the_surface_stands_in_one_line(view: SurfaceView) -> None:
    give(view, mesh_frame(sample="body", layer="classify"))
    view.arrows.setChecked(True)
    view.resize(960, 480)
    view.grab()
    parts = [part for part in (view.arrows_at, view.amount, view.cut) if part.isVisible()]
    assert len(parts) == 3 and len({part.geometry().center().y() for part in parts}) == 1


def test_titles_of_two_models_are_written_small_before_they_are_cut(view: SurfaceView) -> None:
    """A title of two models was cut in the middle of both names at 1280 pixels, with room in smaller letters."""
    view.resize(672, 440)
    give(view, mesh_frame(chain="gauge:40,7", compare="monet-principal"))
    view.settle()
    lines = {item.text() for item in view.canvas.board.items() if isinstance(item, Line)}
    for look in view.canvas.looks:
        assert look.title in lines, (look.title, lines)
