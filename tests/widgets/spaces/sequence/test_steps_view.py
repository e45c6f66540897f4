"""Equations at a step: the text that is drawn is the equation with the numbers of the step under the mouse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PySide6.QtGui import QColor

from explorer.declare.elements import Step
from explorer.declare.telling.equations import (
    Equation,
    Number,
    Value,
    at_step,
    barred,
    beside,
    fixed,
    logistic,
    softmax,
    tanh,
    weighed,
)
from explorer.square.drawing.equation_values import Working
from tests.widgets.parts.driving.mouse import Mouse, move
from tests.widgets.parts.driving.view_driving import gather, objects, odd_frames, opened
from tests.widgets.parts.frames.time_parts import lstm, shift_part, sigmoid, time_frame, token_part
from widgets.base.look import theme
from widgets.base.pointer import Pointers
from widgets.base.text.words import figure
from widgets.figures.export import export_view
from widgets.figures.numbers import export_numbers
from widgets.spaces.sequence.timeline.items.tiles import table
from widgets.spaces.sequence.views.steps import NO_EQUATIONS, StepsView
from widgets.spaces.sequence.views.timeline import TimelineView

MOVED = (Step("translate", (0.0, 0.0, 0.0)),)
C, H, O = at_step("lstm.cell", "c⁽ᵗ⁾"), at_step("lstm.hidden", "h⁽ᵗ⁾"), at_step("lstm.output_gate", "o⁽ᵗ⁾")
F, I, G = (
    at_step(f"lstm.{n}", s) for n, s in (("forget_gate", "f_t"), ("input_gate", "i_t"), ("cell_candidate", "g_t"))
)
OLD = beside("lstm.cell", "c⁽ᵗ⁻¹⁾", -1, fixed("zero"))
UNITS = 32


def with_equations(part: Any, *extra: Equation, **changes: Any) -> Any:
    """Return the part of the LSTM of `time_parts` with three of its equations."""
    equations = (Equation(C, I * G + F * OLD), Equation(H, O * tanh(C)), *extra)
    constants = {"zero": np.zeros(UNITS), "w": np.full((1, UNITS), 0.5), "b": np.array([-0.25])}
    working = Working(
        "", equations, constants, constants, dict(part.gates), dict(part.moved_gates), (("", "lstm.cell"),)
    )
    return replace(part, working=replace(working, **changes))


def attention_part() -> Any:
    """Return words with a masked attention of two heads, written backwards in rho(g) x."""
    rng = np.random.default_rng(3)
    part = token_part()
    n = part.steps
    logits = rng.standard_normal((2, n, n)).astype(np.float32)
    masked = np.where(np.arange(n) > np.arange(n)[:, None], np.float32(-1e9), logits)
    e = np.exp(masked - masked.max(-1, keepdims=True))
    attention = e / e.sum(-1, keepdims=True)
    value = rng.standard_normal((n, 8)).astype(np.float32)
    context = np.einsum("hts,shd->thd", attention, value.reshape(n, 2, 4)).reshape(n, 8)
    names = ("logits", "masked", "attention", "value", "context")
    values = dict(zip(names, (logits, masked, attention, value, context), strict=True))
    row, open_, share = at_step("logits", "e_tj"), at_step("masked", "m_tj"), at_step("attention", "a_tj")
    equations = (
        Equation(open_, barred(row, Number(-1e9)), "3 Mask"),
        Equation(share, softmax(open_), "4 Softmax"),
        Equation(at_step("context", "c_t"), weighed(share, Value("value", "v_j", every=True)), "5 Sum"),
    )
    back = {k: v[:, ::-1, ::-1].copy() if v.ndim == 3 else v[::-1].copy() for k, v in values.items()}
    working = Working("", equations, {}, {}, values, back, (("", "masked"),))
    return replace(part, order=np.arange(n, dtype=float)[::-1].copy(), values=attention, moved=back["attention"],
                   working=working, gates={"value": value, "context": context})  # fmt: skip


@pytest.fixture
def steps(qtbot):
    return opened(qtbot, StepsView(), 900, 500)


def give(view, *parts, layer="lstm.hidden", **changes):
    frame = time_frame(*parts, layer=layer, **changes)
    view.set_state(frame.state)
    view.set_frame(frame)
    view.grab()
    return frame


def line(value: float) -> str:
    return figure(float(value))


@pytest.mark.parametrize("name", odd_frames())
def test_frames_without_a_sequence_say_what_to_do(steps, name):
    steps.set_frame(odd_frames()[name])
    steps.grab()
    assert steps.canvas.message and steps.numbers() == {} and steps.caption() == ""


def test_a_network_without_equations_says_so(steps):
    give(steps, shift_part())
    assert steps.canvas.message == NO_EQUATIONS


def test_the_numbers_of_the_step_stand_in_the_equation(steps):
    part = with_equations(shift_part())
    give(steps, part, channel=4, node=100)
    i, g, f, c, o = (
        part.gates[f"lstm.{n}"] for n in ("input_gate", "cell_candidate", "forget_gate", "cell", "output_gate")
    )
    text = steps.canvas.text("lstm.hidden")
    assert text == f"{line(o[100, 4])} · tanh({line(c[100, 4])}) = {line(part.gates['lstm.hidden'][100, 4])}"
    assert steps.canvas.text("lstm.cell").endswith(f"= {line(c[100, 4])}")
    for step in (0, 60):
        steps.pointer.moved.emit(step)
        left, right = steps.canvas.text("lstm.cell").split(" = ")
        before = c[step - 1, 4] if step else 0.0
        assert right == line(c[step, 4]) and line(i[step, 4]) in left and line(f[step, 4]) in left
        terms = left.replace("−", "-").replace("·", "*")
        assert eval(terms) == pytest.approx(i[step, 4] * g[step, 4] + f[step, 4] * before, abs=5e-3)


def test_hovering_in_the_timeline_changes_the_numbers_and_asks_for_nothing(qtbot, steps):
    timeline = opened(qtbot, TimelineView(), 900, 500)
    pointers = Pointers()
    pointers.link("step", timeline.pointer, steps.pointer)
    part = with_equations(shift_part())
    give(steps, part)
    give(timeline, part)
    wishes, seen = gather(steps), steps.canvas.text("lstm.cell")
    slot = timeline.canvas.slots[-1]
    box = timeline.canvas.area(slot)
    box.setWidth(box.width() * 0.6)
    move(timeline.canvas.viewport(), box.center())
    assert steps.canvas.text("lstm.cell") != seen and not wishes
    step = steps.step()
    assert f"step {step}" in steps.where.text() and step != part.steps // 2
    assert steps.canvas.text("lstm.cell").endswith(line(part.gates["lstm.cell"][step, 0]))


def test_the_pinned_step_comes_back_when_the_mouse_leaves(steps):
    give(steps, with_equations(shift_part()), node=20)
    assert steps.step() == 20 and "pinned" in steps.where.text()
    steps.pointer.moved.emit(5)
    assert steps.step() == 5
    steps.pointer.moved.emit(None)
    assert steps.step() == 20


def test_without_a_pin_the_step_seen_last_stays(steps):
    give(steps, with_equations(shift_part()))
    steps.pointer.moved.emit(5)
    steps.pointer.moved.emit(None)
    assert steps.step() == 5


def test_a_click_on_a_name_selects_that_layer(steps):
    give(steps, with_equations(shift_part()))
    wishes = gather(steps)
    names = [s for s in steps.canvas.spots if s.layer == "lstm.forget_gate"]
    at = names[0].rect.center()
    Mouse(steps.canvas).click(at)
    assert wishes[-1].changes == {"layer": "lstm.forget_gate", "channel": None}


def test_the_cell_under_the_mouse_is_put_into_numbers_and_a_click_selects_it(steps):
    part = with_equations(shift_part())
    give(steps, part, node=80)
    said, wishes = [], gather(steps)
    steps.hovered.connect(said.append)
    strip = next(s for s in steps.canvas.spots if s.side and s.cell.key == "lstm.hidden")
    at = strip.rect.topLeft()
    at.setX(at.x() + strip.rect.width() * 9.5 / UNITS)
    at.setY(strip.rect.center().y())
    Mouse(steps.canvas).move(at)
    value = line(part.gates["lstm.hidden"][80, 9])
    assert "unit 9" in said[-1] and said[-1].endswith(f"= {value}")
    assert steps.canvas.text("lstm.hidden").endswith(f"= {value}")
    Mouse(steps.canvas).click(at)
    assert wishes[-1].changes == {"layer": "lstm.hidden", "channel": 9}


def test_both_sides_stand_beside_each_other_and_what_differs_is_marked(steps):
    steps.resize(1280, 500)
    part = with_equations(shift_part(by=5))
    give(steps, part, steps=MOVED, node=100)
    (cell,) = [c for c in steps.canvas.cells if c.key == "lstm.hidden"]
    there = part.moved_gates["lstm.hidden"][105]
    assert steps.canvas.text("lstm.hidden", "after").endswith(line(there[0]))
    assert "step 105 of ρ(g)x" in steps.where.text()
    wanted = np.abs(there - part.gates["lstm.hidden"][100]) > 1e-4 * cell.limit
    np.testing.assert_array_equal(cell.apart, wanted)
    assert wanted.any() == bool(cell.apart.any())
    (item,) = [one for one in steps.canvas.equations if one.cell is cell]
    after = item.strips["after"]
    units = (after.wrong.rectangles()[:, 0] - after.box.left()) / after.box.width() * UNITS
    np.testing.assert_allclose(units, np.flatnonzero(wanted), atol=1e-6)
    assert after.image.image.shape == (1, UNITS, 4) and not len(item.strips["before"].wrong.rectangles())
    steps.pointer.moved.emit(198)
    assert "cut off" in steps.where.text() and steps.canvas.cells[0].after is None


def test_the_same_network_on_the_same_steps_differs_nowhere(steps):
    part = shift_part()
    give(steps, with_equations(replace(part, moved_gates=part.gates)), steps=MOVED, node=10)
    assert not any(c.apart.any() for c in steps.canvas.cells)


def test_masked_logits_are_minus_infinity_and_grey(steps):
    part = attention_part()
    give(steps, part, layer="attention", node=3)
    strip = next(s for s in steps.canvas.spots if s.side and s.cell.key == "masked")
    for j, barred_one in ((2, False), (9, True)):
        at = strip.rect.topLeft()
        at.setX(at.x() + strip.rect.width() * (j + 0.5) / part.steps)
        at.setY(strip.rect.top() + 3)
        Mouse(steps.canvas).move(at)
        assert ("−∞" in steps.canvas.text("masked")) == barred_one
        image = steps.canvas.grab().toImage()
        grey = image.pixelColor(int(at.x()) + 2, int(at.y())).name() == theme.current().raised
        assert grey == barred_one


def test_a_row_over_steps_is_followed_to_where_they_are(steps):
    part = attention_part()
    give(steps, part, steps=MOVED, layer="attention", node=6)
    (cell,) = [c for c in steps.canvas.cells if c.key == "attention"]
    n = part.steps
    assert cell.after is not None and cell.there((0, 2), "after") == (0, n - 3)
    assert cell.back((0, n - 3), "after") == (0, 2)
    assert not cell.apart.any(), "written backwards, rows and columns alike: nothing is another value"
    values = part.working.moved["attention"]
    np.testing.assert_allclose(cell.after.shown, values[:, n - 7], rtol=1e-6)


def test_a_weighted_sum_names_its_largest_terms(steps):
    part = attention_part()
    give(steps, part, layer="attention", node=12)
    text = steps.canvas.text("context").split(" = ")[0].replace("−", "-").replace("·", "*")
    assert text.count("*") == 3 and eval(text) == pytest.approx(part.working.values["context"][12, 0], abs=0.02)


def test_headings_and_narrow_docks(steps):
    for width, height in ((260, 300), (420, 300), (1600, 200)):
        steps.resize(width, height)
        give(steps, attention_part(), layer="attention", node=3)
        assert [c.heading for c in steps.canvas.cells] == ["3 Mask", "4 Softmax", "5 Sum"]
        assert steps.canvas.height() >= steps.canvas.full_height(steps.canvas.width()) - 1
        assert {s.cell.key for s in steps.canvas.spots} >= {"masked", "attention", "context"}


def test_a_layer_that_was_not_sent_leaves_the_others(steps):
    give(steps, with_equations(shift_part(), Equation(at_step("big", "b"), at_step("bigger", "x"))))
    assert steps.canvas.cells[-1].lines == [] and steps.canvas.cells[0].lines


def test_a_block_is_chosen_by_one_of_its_layers(steps):
    part = with_equations(shift_part(), blocks=(("", "lstm.cell"), ("other", "lstm.hidden")))
    give(steps, part)
    wishes = gather(steps)
    assert steps.block.isVisible() and steps.block.currentText() == "whole network"
    steps.block.setCurrentIndex(1)
    steps.block.activated.emit(1)
    assert wishes[-1].changes == {"layer": "lstm.hidden", "channel": None}


def test_the_equation_of_the_selected_layer_is_brought_into_sight(steps, qtbot):
    steps.resize(300, 140)
    give(steps, attention_part(), layer="context", node=3)
    bar = steps.area.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.value() > 0)
    rect = steps.canvas.rect_of("context")
    assert bar.value() <= rect.center().y() <= bar.value() + steps.area.viewport().height()
    give(steps, attention_part(), layer="masked", node=3)
    qtbot.waitUntil(lambda: bar.value() <= steps.canvas.rect_of("masked").center().y())


def test_one_step_alone_and_values_that_are_no_numbers(steps):
    give(steps, with_equations(shift_part(1)))
    part = with_equations(shift_part(30))
    nan = {k: np.full_like(v, np.nan) for k, v in part.gates.items()}
    give(steps, with_equations(replace(part, gates=nan)))
    steps.grab()


def test_a_single_unit_has_the_colour_of_its_value(steps):
    part = shift_part(6, 1)
    cell = np.array([[0.9], [-0.9]] * 3, np.float32)
    gates, one = {**part.gates, "lstm.cell": cell}, {"zero": np.zeros(1)}
    given = with_equations(replace(part, gates=gates, moved_gates=gates), constants=one, moved_constants=one)
    give(steps, given, node=2)
    spot = next(s for s in steps.canvas.spots if s.side == "before" and s.cell.key == "lstm.cell")
    ink = steps.canvas.grab().toImage().pixelColor(spot.rect.center().toPoint())
    assert ink.name() == QColor(*table("signed")[252].tolist()).name()


def test_the_hand_made_lstm_is_one():
    """The sample obeys the gate equation that the view shows: what is tested above is no accident."""
    x = shift_part().x
    gates = lstm(x, UNITS)
    assert sigmoid(np.zeros(1))[0] == 0.5 and logistic(C).what == "logistic"
    found = gates["lstm.output_gate"] * np.tanh(gates["lstm.cell"])
    np.testing.assert_allclose(found, gates["lstm.hidden"], atol=1e-6)


def test_exports_themes_and_frames(steps, tmp_path):
    give(steps, with_equations(shift_part(by=5)), steps=MOVED, node=20)
    before = objects(steps)
    give(steps, with_equations(shift_part(by=6)), steps=MOVED, node=20)
    assert objects(steps) == before
    for kind in ("png", "svg", "pdf"):
        export_view(steps, tmp_path / f"v.{kind}")
        assert (tmp_path / f"v.{kind}").stat().st_size > 2000
    export_numbers(steps, tmp_path / "v.npz")
    found = np.load(tmp_path / "v.npz")
    np.testing.assert_allclose(found["lstm.cell"], found["lstm.cell right side"], atol=1e-6)
    assert "step 20" in steps.caption() and "wave" in steps.caption()
    light = steps.grab().toImage()
    theme.use("dark")
    steps.apply_theme()
    assert steps.grab().toImage() != light
    theme.use("light")
