"""The timeline in real windows: what is drawn where, and what hands on it ask for."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from explorer.declare.elements import Step
from tests.widgets.parts.driving.mouse import move
from tests.widgets.parts.driving.plot_mouse import PlotMouse
from tests.widgets.parts.driving.view_driving import click, gather, objects, odd_frames, opened
from tests.widgets.parts.frames.sample_frames import make_frame
from tests.widgets.parts.frames.time_parts import dna_part, shift_part, time_frame, token_part
from widgets.base.look import theme
from widgets.base.text.words import figure
from widgets.figures.export import export_view
from widgets.figures.numbers import export_numbers
from widgets.spaces.sequence.timeline.items.tiles import table
from widgets.spaces.sequence.timeline.rows import moved_names
from widgets.spaces.sequence.views.timeline import NONE, TimelineView
from widgets.spaces.sequence.words import step_text

MOVED = (Step("translate", (0.0, 0.0, 0.0)),)  # any element: the parts say themselves what it did


@pytest.fixture(autouse=True)
def in_light() -> Any:
    theme.use("light")
    yield
    theme.use("light")


@pytest.fixture
def view(qtbot):
    return opened(qtbot, TimelineView(), 1100, 700)


def give(view, *parts, **changes):
    frame = time_frame(*parts, **changes)
    view.set_state(frame.state)
    view.set_frame(frame)
    QApplication.processEvents()
    return frame


def point(view, key: str, step: int) -> QPointF:
    canvas = view.canvas
    return QPointF(canvas.axis.x_of(step + 0.5), canvas.area(canvas.slot(key)).center().y())


def wheel(view, at: QPointF, notches: float, keys=Qt.KeyboardModifier.NoModifier) -> None:
    PlotMouse(view.canvas).wheel(at, notches, keys)


@pytest.mark.slow
@pytest.mark.parametrize("name", odd_frames())
def test_frames_without_a_sequence_say_what_to_do(view, name):
    view.set_frame(odd_frames()[name])
    view.grab()
    assert view.canvas.message and not view.canvas.shown.rows
    assert view.numbers() == {} and view.caption() == ""


def test_rows_stand_in_the_order_input_gates_links_moved_difference(view):
    give(view, shift_part(by=5), steps=MOVED)
    names = [(slot.row.side, slot.row.kind, slot.row.name) for slot in view.canvas.slots]
    assert names[0] == ("before", "line", "x")
    assert [n for side, kind, n in names if kind == "heat" and side == "before"] == [
        "input gate", "forget gate", "output gate", "cell candidate", "cell", "hidden"
    ]  # fmt: skip
    link = next(i for i, n in enumerate(names) if n[1] == "link")
    assert names[link + 1] == ("after", "line", "ρ(g)x") and names[-1][0] == "difference"
    tops = [slot.top for slot in view.canvas.slots]
    assert tops == sorted(tops) and len(set(tops)) == len(tops)


def test_without_a_transform_there_is_one_side(view):
    give(view, shift_part())
    assert {slot.row.side for slot in view.canvas.slots} == {"before"}
    view.actions_["before"].setChecked(False)
    assert view.canvas.shown.rows == ()


def test_a_pixel_has_the_colour_of_its_value(view):
    gates = {"lstm.forget_gate": np.linspace(0, 1, 20 * 4, dtype=np.float32).reshape(20, 4)}
    part = shift_part(20, 4)
    give(view, replace(part, gates=gates, moved_gates={}, values=gates["lstm.forget_gate"]), layer="lstm.forget_gate")
    canvas = view.canvas
    box = canvas.area(canvas.slot("before/0/lstm.forget_gate"))
    picture = canvas.grab().toImage()
    for step, unit in ((0, 0), (7, 2), (19, 3)):
        x, y = canvas.axis.x_of(step + 0.5), box.top() + (unit + 0.5) / 4 * box.height()
        level = int(gates["lstm.forget_gate"][step, unit] * 252 + 0.5)
        assert picture.pixelColor(int(x), int(y)) == QColor(*table("gate")[level].tolist()), (step, unit)


def test_scales_gates_from_zero_to_one_and_states_symmetric(view):
    part = shift_part(by=3)
    give(view, part, steps=MOVED)
    rows = {slot.row.key: slot.row for slot in view.canvas.slots}
    assert rows["before/0/lstm.forget_gate"].scale == "gate" and rows["before/0/lstm.forget_gate"].limit == 1
    cell = rows["before/0/lstm.cell"]
    both = max(abs(part.gates["lstm.cell"]).max(), abs(part.moved_gates["lstm.cell"]).max())
    assert cell.scale == "signed" and cell.limit == pytest.approx(both)
    assert rows["after/0/lstm.cell"].limit == cell.limit


def test_a_click_selects_the_step_and_again_lets_it_go(view):
    give(view, shift_part(by=5), steps=MOVED)
    wishes = gather(view)
    at = point(view, "before/0/lstm.hidden", 60)
    click(view.canvas.viewport(), at.x(), at.y())
    assert wishes[-1].changes == {"node": 60, "other": None}
    give(view, shift_part(by=5), steps=MOVED, node=60)
    click(view.canvas.viewport(), at.x(), at.y())
    assert wishes[-1].changes == {"node": None, "other": None}


def test_a_click_on_the_moved_side_selects_where_the_step_came_from(view):
    give(view, shift_part(by=5), steps=MOVED)
    wishes, said = gather(view), []
    view.hovered.connect(said.append)
    at = point(view, "after/0/lstm.hidden", 60)
    click(view.canvas.viewport(), at.x(), at.y())
    assert wishes[-1].changes["node"] == 55
    at = point(view, "after/0/lstm.hidden", 2)
    click(view.canvas.viewport(), at.x(), at.y())
    assert len(wishes) == 1 and "padding" in said[-1]


def test_the_read_out_has_every_value_at_the_step(view):
    part = shift_part(by=5)
    give(view, part, steps=MOVED)
    said = []
    view.hovered.connect(said.append)
    canvas = view.canvas
    box = canvas.area(canvas.slot("before/0/lstm.hidden"))
    at = QPointF(canvas.axis.x_of(40.5), box.top() + box.height() * 3.5 / 32)
    move(canvas.viewport(), at)
    text = said[-1]
    assert text.startswith("step 40") and "hidden unit 3" in text
    value = f"{part.values[40, 3]:.3g}".replace("-", "−")
    assert f"hidden unit 3 = {value}" in text and "is at 45 in ρ(g)x" in text
    for name in ("forget gate", "cell candidate", "output gate"):
        assert name in text
    mean = f"{part.gates['lstm.forget_gate'][40].mean():.3g}"
    assert f"forget gate {mean}" in text


def test_columns_of_a_table_are_called_by_their_names(view):
    part = shift_part(by=5)
    names = ("temperature", "humidity")
    give(view, part, steps=MOVED)
    unnamed = view.canvas.grab().toImage().copy(0, 0, 150, 100)
    give(view, replace(part, channels=names), steps=MOVED)
    assert unnamed != view.canvas.grab().toImage().copy(0, 0, 150, 100)
    said = []
    view.hovered.connect(said.append)
    move(view.canvas.viewport(), point(view, "before/x", 40))
    first, second = (figure(float(value)) for value in part.x[40])
    assert f"x temperature {first}, humidity {second}" in said[-1]


def test_the_cursor_is_in_all_rows_at_the_matched_step(view):
    give(view, shift_part(by=50), steps=MOVED)
    canvas, heard = view.canvas, []
    view.pointer.moved.connect(heard.append)
    plain = canvas.grab().toImage()
    at = point(view, "before/0/lstm.cell", 30)
    move(canvas.viewport(), at)
    assert heard[-1] == 30
    marked = canvas.grab().toImage()
    for key, step in (("before/x", 30), ("before/0/lstm.input_gate", 30), ("after/x", 80), ("difference/0", 80)):
        box = canvas.area(canvas.slot(key))
        x = round(canvas.axis.x_of(step))
        strip = [(x + dx, int(box.center().y())) for dx in range(-1, 8)]
        assert any(plain.pixel(*one) != marked.pixel(*one) for one in strip), key


def test_another_view_moves_the_cursor(view):
    give(view, shift_part())
    view.pointer.moved.emit(12)
    assert view.canvas.hot == ("before", 12)
    view.pointer.moved.emit(None)
    assert view.canvas.hot is None


def test_dragging_the_input_shifts_by_whole_steps_from_where_it_was(view):
    frame = give(view, shift_part(by=5), steps=MOVED)
    wishes = gather(view)
    start = point(view, "before/x", 50)
    each = 1 / view.canvas.axis.per_pixel
    PlotMouse(view.canvas).drag(start, start + QPointF(10 * each, 0), start + QPointF(20 * each, 3))
    shifts = [w for w in wishes if w.step is not None]
    assert [w.step for w in shifts] == [("shift", (10.0, 0.0)), ("shift", (20.0, 0.0)), ("shift", (20.0, 0.0))]
    assert [w.done for w in shifts] == [False, False, True] and {w.tag for w in shifts} == {"shift"}
    view.set_state(replace(frame.state, steps=(Step("shift", (7.0, 1.0)),)))
    PlotMouse(view.canvas).drag(start, start + QPointF(-10 * each, 0))
    assert wishes[-1].step == ("shift", (-3.0, 1.0))


def test_the_wheel_zooms_about_the_mouse_and_a_drag_pans_all_rows(view):
    give(view, shift_part(1000), layer="lstm.hidden")
    canvas = view.canvas
    at = point(view, "before/0/lstm.cell", 400)
    wheel(view, at, 6)
    assert canvas.axis.zoomed and canvas.axis.step_at(at.x()) == 400
    low = canvas.axis.low
    PlotMouse(canvas).drag(at, at - QPointF(60, 0), at - QPointF(120, 0))
    assert canvas.axis.low == pytest.approx(low + 120 * canvas.axis.per_pixel, rel=1e-6)
    PlotMouse(canvas).double_click(at)
    assert not canvas.axis.zoomed


def test_the_wheel_over_the_names_brings_the_last_rows(view):
    give(view, shift_part(1000), layer="lstm.hidden")
    canvas = view.canvas
    view.resize(700, 260)
    QApplication.processEvents()
    assert canvas.bar.maximum() > 0 and canvas.bar.value() == 0
    wheel(view, QPointF(8, 60), -40)
    assert canvas.bar.value() == canvas.bar.maximum() and not canvas.axis.zoomed


@pytest.mark.parametrize(("x", "notches", "steps"), [(160, 3, 20), (500, 9, 1000), (1000, 25, 10**6)])
def test_zoom_keeps_the_step_under_the_mouse(view, x, notches, steps):
    part = shift_part(10, 2)
    one, order = np.zeros((steps, 2), np.float32), np.arange(steps, dtype=float)
    give(view, replace(part, steps=steps, x=one, gx=one, values=one, moved=one, difference=None, order=order, gates={},
                       moved_gates={}, known=None))  # fmt: skip
    canvas, at = view.canvas, QPointF(x, 60)
    before = canvas.axis.at(x)
    wheel(view, at, notches)
    axis = canvas.axis
    assert 0 <= axis.low < axis.high <= steps and axis.high - axis.low >= min(8, steps) - 1e-6
    if axis.low > 0 and axis.high < steps:
        assert axis.at(x) == pytest.approx(before, abs=1e-3 * (axis.high - axis.low))


def test_panning_stops_at_the_ends_by_the_rows_and_by_the_bar_below(view):
    give(view, shift_part(1000), layer="lstm.hidden")
    canvas, mouse = view.canvas, PlotMouse(view.canvas)
    at = point(view, "before/0/lstm.cell", 500)
    wheel(view, at, 6)
    low, wide = canvas.axis.low, canvas.axis.high - canvas.axis.low
    middle = point(view, "before/x", 500)
    mouse.drag(middle, middle + QPointF(50, 0), button=Qt.MouseButton.MiddleButton)
    assert canvas.axis.low == pytest.approx(low - 50 * canvas.axis.per_pixel), "from the input too"
    for far, end in ((5000, 0.0), (-5000, 1000 - wide)):
        mouse.drag(at, at + QPointF(far / 2, 0), at + QPointF(far, 0))
        assert canvas.axis.low == pytest.approx(end)
    bar = QPointF(canvas.axis.right - 20, canvas.height() - 5)
    mouse.drag(bar, bar - QPointF(94, 0))
    assert canvas.axis.low == pytest.approx(1000 - wide - 94 / (canvas.axis.right - canvas.axis.left) * 1000, rel=1e-6)


def test_a_step_out_of_sight_is_brought_into_it(view):
    give(view, shift_part(1000), node=500)
    wheel(view, point(view, "before/x", 500), 8)
    for step in (800, 20):
        view.canvas.show_step(step)
        axis = view.canvas.axis
        assert axis.first <= step <= axis.last - 1
        view.canvas.show_step(step)
        assert view.canvas.axis == axis


def test_ticks_are_whole_steps_in_sight(view):
    give(view, shift_part(1000))
    view.canvas.box.setXRange(200, 212, padding=0)
    foot = view.canvas.foot
    ((_, ticks),) = foot.tickValues(200, 212, 940)
    assert [int(word) for word in foot.tickStrings(ticks, 1, 1)] == list(range(200, 212))
    assert [v - 0.5 for v in ticks] == list(range(200, 212)), "in the middle of a step"
    far = foot.ticks(0, 1e6, 12)
    assert far[0] == 0.5 and len(set(np.diff(far))) == 1 and len(far) <= 12


def test_zoom_stays_when_the_next_frame_is_as_long(view):
    give(view, shift_part(300))
    wheel(view, point(view, "before/0/lstm.cell", 100), 5)
    axis = view.canvas.axis
    give(view, shift_part(300))
    assert view.canvas.axis == axis
    give(view, shift_part(301))
    assert not view.canvas.axis.zoomed and view.canvas.axis.steps == 301


def test_rows_fold_away_and_give_their_room_to_others(view):
    give(view, shift_part())
    canvas = view.canvas
    slot, other = canvas.slot("before/0/lstm.cell"), canvas.slot("before/0/lstm.hidden").height
    y = canvas.area(slot).top() + 8
    click(canvas.viewport(), 12, y)
    assert canvas.slot("before/0/lstm.cell").folded and canvas.slot("before/0/lstm.hidden").height >= other
    give(view, shift_part())
    assert canvas.slot("before/0/lstm.cell").folded
    click(canvas.viewport(), 12, canvas.area(canvas.slot("before/0/lstm.cell")).top() + 8)
    assert not canvas.slot("before/0/lstm.cell").folded


def test_a_click_on_a_name_selects_the_layer(view):
    give(view, shift_part())
    wishes = gather(view)
    click(view.canvas.viewport(), 60, view.canvas.area(view.canvas.slot("before/0/lstm.forget_gate")).top() + 8)
    assert wishes[-1].changes == {"layer": "lstm.forget_gate", "channel": None}


def test_rows_that_do_not_fit_are_scrolled_to(view):
    view.resize(700, 320)
    give(view, shift_part(by=5), steps=MOVED)
    canvas = view.canvas
    assert canvas.bar.isVisible() and canvas.bar.maximum() > 0
    before = canvas.area(canvas.slot("difference/0")).top()
    wheel(view, QPointF(400, 100), -5, Qt.KeyboardModifier.ShiftModifier)
    assert canvas.area(canvas.slot("difference/0")).top() < before


def test_rows_of_other_data_are_shown_from_the_first(view):
    """A lesson began below its input, where the rows of the lesson before had been scrolled to."""
    view.resize(700, 320)
    give(view, shift_part(by=5), steps=MOVED)
    view.canvas.bar.setValue(view.canvas.bar.maximum())
    give(view, shift_part(by=6), steps=MOVED)
    assert view.canvas.bar.value() > 0, "of the same data they stay"
    view.canvas.zoom(0.5)
    zoomed, scrolled = view.canvas.axis.first, view.canvas.bar.value()
    view.set_frame(None)  # as while a network with another parameter is made
    give(view, shift_part(by=6), steps=MOVED)
    assert view.canvas.bar.value() == scrolled and view.canvas.axis.first == zoomed > 0
    give(view, shift_part(by=5), steps=MOVED, sample="square")
    assert view.canvas.bar.value() == 0


def test_the_gradient_is_a_log_line_with_its_rate(view):
    g = np.where(np.arange(200) <= 150, 0.9 ** (150.0 - np.arange(200)), 0).astype(np.float32)
    give(view, shift_part(gradient=g), node=150)
    assert view.canvas.slot("gradient") is not None
    assert "changes by ×0.9 a step back" in step_text(view.canvas.shown, "before", 10)
    box, axis = view.canvas.area(view.canvas.slot("gradient")), view.canvas.axis
    picture = view.canvas.grab().toImage()

    def height(step: int) -> float:
        x, ground = int(axis.x_of(step + 0.5)), QColor(theme.current().plot)
        column = [picture.pixelColor(x, y) for y in range(int(box.top()) + 1, int(box.bottom()) - 3)]
        return next(i for i, c in enumerate(column) if abs(c.red() - ground.red()) > 60)

    # 0.9^50 is 2.3 decades of nine
    assert height(100) - height(149) == pytest.approx(49 * -np.log10(0.9) / 9 * (box.height() - 5), abs=2.5)


def test_no_row_moves_while_the_gradient_of_another_layer_is_computed(view):
    give(view, shift_part(gradient=np.ones(200, np.float32)), node=150)
    tops = {slot.row.key: slot.top for slot in view.canvas.slots}
    assert "gradient" in tops
    give(view, shift_part(), node=150)
    assert {slot.row.key: slot.top for slot in view.canvas.slots} == tops
    assert "gradient" in tops and "gradient" not in step_text(view.canvas.shown, "before", 10)
    view.grab()
    give(view, replace(shift_part(), missing="Too slow."), node=150)
    assert view.canvas.slot("gradient") is None  # nor will it come


def test_unknown_steps_are_hatched_on_the_moved_side_only(view):
    part = shift_part(by=60)
    give(view, part, steps=MOVED)
    canvas = view.canvas
    marked = canvas.grab().toImage()
    give(view, replace(part, known=np.ones(200, bool)), steps=MOVED)
    plain = canvas.grab().toImage()

    def changed(key: str, step: int) -> int:
        box, x = canvas.area(canvas.slot(key)), int(canvas.axis.x_of(step))
        spots = [(x + dx, y) for dx in range(12) for y in range(int(box.top()) + 1, int(box.bottom()) - 1)]
        return sum(marked.pixel(*s) != plain.pixel(*s) for s in spots)

    assert changed("after/0/lstm.output_gate", 20) > 20
    assert changed("after/0/lstm.output_gate", 100) == 0 and changed("before/0/lstm.output_gate", 20) == 0


def test_tokens_are_coloured_by_the_attention_of_the_selected_step(view):
    part = token_part()
    give(view, part, layer="attn", node=12)
    scene = view.canvas.shown
    np.testing.assert_allclose(scene.tint["before"], part.values.mean(0)[12])
    assert scene.tint_scale == ("positive", pytest.approx(float(part.values.mean(0)[12].max())))
    view.set_state(replace(view.state, channel=1))
    np.testing.assert_allclose(view.canvas.shown.tint["before"], part.values[1, 12])
    view.colour.setCurrentIndex(view.colour.findData("gate:lstm.forget_gate"))
    view.colour.activated.emit(view.colour.currentIndex())
    np.testing.assert_allclose(view.canvas.shown.tint["before"], part.gates["lstm.forget_gate"][:, 1])


def test_text_to_read_appears_when_the_cells_are_too_narrow(view):
    long = token_part("step")
    view.resize(1600, 700)
    give(view, long)
    assert view.text.isHidden()
    view.resize(520, 700)
    give(view, long)
    assert view.text.isVisible() and len(view.text.cells) == long.steps
    wishes = gather(view)
    box, step = view.text.cells[5]
    click(view.text, box.center().x(), box.center().y())
    assert step == 5 and wishes[-1].changes["node"] == 5


def test_the_letters_of_a_reverse_complement_are_complements(view):
    part = dna_part()
    other = {"A": "T", "C": "G", "G": "C", "T": "A", "N": "N"}
    assert moved_names(part) == tuple(other[name] for name in reversed(part.names))
    give(view, part, steps=MOVED)
    assert view.canvas.shown.there(0) == part.steps - 1 and view.canvas.shown.back(0) == part.steps - 1


def test_keys_walk_along_the_steps(view):
    give(view, shift_part(), node=10)
    wishes = gather(view)
    for key, node in ((Qt.Key.Key_Right, 11), (Qt.Key.Key_Left, 9), (Qt.Key.Key_Escape, None)):
        QTest.keyClick(view, key)
        assert wishes[-1].changes["node"] == node


@pytest.mark.parametrize("steps", [1, 2, 7])
def test_sequences_of_a_few_steps(view, steps):
    part = shift_part(steps, 3, by=1)
    give(view, part, steps=MOVED, node=0)
    view.grab()
    wheel(view, QPointF(500, 100), 3)
    move(view.canvas.viewport(), point(view, "before/x", 0))
    view.grab()
    assert view.canvas.hot == ("before", 0)


def test_gaps_and_odd_numbers_are_survived(view):
    part = shift_part(50, 4, by=2)
    x = part.x.copy()
    x[10:14], x[20] = np.nan, np.inf
    values = np.full_like(part.values, np.nan)
    give(view, replace(part, x=x, values=values, difference=None, gradient=np.zeros(50)), steps=MOVED, node=49)
    view.grab()
    move(view.canvas.viewport(), point(view, "before/x", 12))
    assert "not a number" in step_text(view.canvas.shown, "before", 12)


def test_irregular_times_are_told(view):
    times = np.cumsum(np.linspace(0.1, 2, 50))
    give(view, shift_part(50, 4, times=times))
    assert f"at {times[20]:.6g}" in step_text(view.canvas.shown, "before", 20)
    view.grab()


def test_two_models_share_the_input(view):
    give(view, shift_part(by=5), shift_part(by=5, layer="lstm.cell"), steps=MOVED)
    keys = [slot.row.key for slot in view.canvas.slots]
    assert keys.count("before/x") == 1 and "before/1/lstm.cell" in keys and "difference/1" in keys


def test_a_large_recording_is_built_beside_the_window(view, qtbot):
    part = shift_part(10, 4)
    values = np.random.default_rng(0).standard_normal((120_000, 64)).astype(np.float32)
    order = np.arange(120_000, dtype=float)
    x = values[:, :1].copy()
    give(view, replace(part, steps=120_000, x=x, gx=x, values=values, moved=values, difference=None, order=order,
                       gates={}, moved_gates={}, known=None))  # fmt: skip
    view.settle()
    qtbot.waitUntil(lambda: not view.building.running)
    row = view.canvas.slot("before/0/lstm.hidden").row
    assert row.pyramid.ready and row.limit == pytest.approx(float(abs(values).max()))
    view.close()


def test_frames_make_nothing_anew(view):
    give(view, shift_part(by=5), steps=MOVED)
    before = objects(view)
    give(view, shift_part(by=9), steps=MOVED)
    assert objects(view) == before


def test_exports(view, tmp_path):
    give(view, shift_part(by=5), steps=MOVED, node=60)
    for kind in ("png", "svg", "pdf"):
        export_view(view, tmp_path / f"t.{kind}")
        assert (tmp_path / f"t.{kind}").stat().st_size > 5000
    text = "".join(ET.parse(tmp_path / "t.svg").getroot().itertext())
    for words in ("forget gate", "cell candidate", "wave", "step 60 selected"):
        assert words in text
    # arrows that fold rows away are no part of a figure; a path of three points, 7 wide and 4 high
    paths = [e.get("d", "") for e in ET.parse(tmp_path / "t.svg").iter() if e.tag.endswith("path")]
    points = [[float(v) for v in re.findall(r"-?[\d.]+", d)] for d in paths]
    assert not [p for p in points if len(p) == 6 and p[4] - p[0] == 7 and p[1] == p[5]]
    export_numbers(view, tmp_path / "t.npz")
    found = np.load(tmp_path / "t.npz")
    np.testing.assert_array_equal(found["lstm.forget_gate"], shift_part(by=5).gates["lstm.forget_gate"])
    assert {"x", "ρ(g)x", "order", "F(x)", "difference"} <= set(found.files)


def test_another_theme_repaints(view):
    give(view, shift_part())
    light = view.canvas.grab().toImage()
    theme.use("dark")
    view.apply_theme()
    assert view.canvas.grab().toImage() != light


def test_a_model_without_a_sequence_after_one(view):
    give(view, shift_part())
    view.set_frame(make_frame())
    assert view.canvas.message == NONE and view.canvas.shown.rows == ()


def test_the_size_of_the_difference_is_that_of_what_is_compared(view):
    part = shift_part(by=5)
    difference = np.full_like(part.values, 7.0)
    difference[part.known] = 0
    difference[50, 3] = -2e-7
    give(view, replace(part, difference=difference), steps=MOVED)
    assert view.canvas.slot("difference/0").row.limit == pytest.approx(2e-7)
    assert "up to 2.0e−7" in view.canvas.slot("difference/0/head").row.name
    difference[50, 3] = 0
    give(view, replace(part, difference=difference.copy()), steps=MOVED)
    assert "0 wherever" in view.canvas.slot("difference/0/head").row.name


def test_names_are_shortened_only_where_the_window_has_no_room_for_them(view, tmp_path):
    """Names of more than about fourteen letters were cut in a window that was half empty."""
    part = shift_part()
    long = {f"lstm.gate_of_the_{k}th_recurrent_part": values for k, values in enumerate(part.gates.values())}
    give(view, replace(part, gates=long, moved_gates=long))

    def written() -> str:
        export_view(view, tmp_path / "names.svg")
        texts = ET.parse(tmp_path / "names.svg").getroot().iter("{http://www.w3.org/2000/svg}text")
        return " ".join(text.text or "" for text in texts)

    names = [slot.row.name for slot in view.canvas.slots if "recurrent" in slot.row.name]
    assert len(names) >= len(long)
    assert all(name in written() for name in names)
    view.resize(420, 700)
    QApplication.processEvents()
    assert "…" in written() and view.canvas.names.size().width() <= 0.3 * 420 + 1
