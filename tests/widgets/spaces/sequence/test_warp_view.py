"""The curve that bends time: handles in a real window, what they ask for, and what the curve and the picture show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from scipy.interpolate import PchipInterpolator

from explorer.declare.elements import Step, chain_text, parse_chain
from explorer.state.state import History, State
from tests.widgets.parts.driving.plot_mouse import PlotMouse
from tests.widgets.parts.driving.view_driving import gather, odd_frames, opened
from tests.widgets.parts.frames.time_parts import shift_part, time_frame
from widgets.base.look import theme
from widgets.base.view import Wish
from widgets.spaces.sequence.charts.bending import Curve
from widgets.spaces.sequence.charts.slope_chart import thinned
from widgets.spaces.sequence.views.warp import NO_GATE, NONE, WarpView, follows

STEPS = 101
PLAIN = Qt.KeyboardModifier.NoModifier


@pytest.fixture(autouse=True)
def in_light() -> Iterator[None]:
    theme.use("light")
    yield
    theme.use("light")


class Bench:
    """A view whose wishes are granted as the controller grants them."""

    def __init__(self, view: WarpView, part: Any) -> None:
        self.view, self.part = view, part
        self.mouse = PlotMouse(view.chart.bend)
        self.history = History(State(sample="wave"))
        view.wished.connect(self.grant)
        self.show()

    def grant(self, wish: Wish) -> None:
        self.history.change(replace(self.history.state, **wish.changes), wish.tag or None)
        if wish.done:
            self.history.end_gesture()
        self.show()

    def show(self) -> None:
        state = self.history.state
        frame = time_frame(self.part, steps=state.steps, channel=state.channel)
        self.view.set_state(state)
        self.view.set_frame(frame)
        QApplication.processEvents()

    @property
    def text(self) -> str:
        return chain_text(self.history.state.steps)

    def start(self, text: str) -> None:
        self.history.change(replace(self.history.state, steps=parse_chain(text)))
        self.show()

    def handle(self, index: int) -> QPointF:
        found = next(h for h in self.view.chart.bend.handles() if h.index == index)
        return self.point(found.t, found.tau)

    def point(self, t: float, tau: float) -> QPointF:
        """Return the pixel of (t, tau) in the upper plot."""
        place = self.view.chart.bend.place(t, tau)
        return self.view.chart.bend.at(place.x(), place.y())

    def drag(self, start: QPointF, *stops: QPointF, keys: Qt.KeyboardModifier = PLAIN) -> None:
        self.mouse.drag(start, *stops, keys=keys)


@pytest.fixture
def bench(qtbot: QtBot) -> Bench:
    view = opened(qtbot, WarpView(), 900, 640)
    assert isinstance(view, WarpView)
    return Bench(view, shift_part(STEPS))


@pytest.mark.slow
@pytest.mark.parametrize("name", odd_frames())
def test_frames_without_a_sequence_say_what_to_do(qtbot: QtBot, name: str) -> None:
    view = opened(qtbot, WarpView(), 700, 500)
    view.set_frame(odd_frames()[name])
    view.grab()
    assert isinstance(view, WarpView) and view.chart.message
    assert view.numbers() == {} and view.caption() == ""
    frame = odd_frames()[name]
    assert (view.chart.message == NONE) == (frame is not None and bool(frame.squares))


def test_dragging_the_handle_on_the_diagonal_puts_a_warp_into_the_chain(bench: Bench) -> None:
    assert bench.text == "" and [h.index for h in bench.view.chart.bend.handles()] == [0, 1, 2]
    wishes = gather(bench.view)
    middle = bench.handle(1)
    up = bench.point(50, 60)
    bench.drag(middle, QPointF(middle.x(), (middle.y() + up.y()) / 2), up)
    (step,) = bench.history.state.steps
    assert step.name == "warp" and step.values[1] == pytest.approx(0.1, abs=0.005) and not any(step.values[2:])
    assert len(wishes) > 1 and wishes[-1].done and not wishes[0].done
    assert bench.view.chart.curve.tau(50.0) == pytest.approx(60, abs=0.5)
    bench.history.undo()
    bench.show()
    assert bench.text == "", "a whole drag is one step of the history"
    assert not bench.history.can_undo


def test_the_curve_in_the_picture_goes_through_the_handle_and_its_slope_is_below(bench: Bench) -> None:
    bench.start("warp:0,0.2,0")
    chart = bench.view.chart
    upper, lower, t = chart.bend.grab().toImage(), chart.slopes.grab().toImage(), theme.current()
    accent = QColor(t.accent)

    def near(at: QPointF, ink: QColor, far: int = 60, picture: QImage = upper) -> bool:
        found = [
            picture.pixelColor(round(at.x()) + i, round(at.y()) + j) for i in (-1, 0, 1) for j in (-2, -1, 0, 1, 2)
        ]
        return any(
            abs(c.red() - ink.red()) + abs(c.green() - ink.green()) + abs(c.blue() - ink.blue()) < far for c in found
        )

    spline = PchipInterpolator([0, 25, 50, 75, 100], [0, 25, 70, 75, 100])  # the handles by hand
    for step in (12, 37, 50, 60, 90):
        assert near(bench.point(step, float(spline(step))), accent), step
    assert not near(bench.point(50, 50), accent), "the diagonal is another line"
    slopes = np.diff(spline(np.arange(101.0)))
    for step in (10, 40, 60):
        place = chart.slopes.at(step + 1.0, float(slopes[step]))
        assert near(place, QColor(t.muted), 160, lower), step
    np.testing.assert_allclose(bench.view.numbers()["dtau/dt"], slopes, atol=1e-9)


def test_a_drag_stops_where_time_would_run_backwards(bench: Bench) -> None:
    bench.start("warp:0.2,0,0")
    at = bench.handle(1)
    bench.drag(at, bench.point(50, 20))
    assert bench.history.state.steps[0].values[1] == pytest.approx(-0.05, abs=1e-6), "level with the handle before it"
    assert (bench.view.chart.curve.slope() >= -1e-9).all()


def test_near_the_diagonal_a_handle_falls_onto_it_unless_alt_is_held(bench: Bench) -> None:
    bench.start("warp:0.1,0,0")
    beside = bench.point(25, 25.6)
    bench.drag(bench.handle(0), beside, keys=Qt.KeyboardModifier.AltModifier)
    assert bench.history.state.steps[0].values[0] == pytest.approx(0.006, abs=0.003)
    bench.drag(bench.handle(0), bench.point(25, 40), beside)
    assert bench.history.state.steps[0].values[0] == 0.0


def test_a_double_click_adds_a_handle_that_goes_anywhere_and_a_right_click_takes_it_away(bench: Bench) -> None:
    bench.start("warp:0,0.1,0")
    chart = bench.view.chart
    before = chart.curve.tau(np.arange(101.0))
    bench.mouse.double_click(bench.point(60, float(chart.curve.tau(60.0))))
    values = bench.history.state.steps[0].values
    assert values[3] == pytest.approx(0.6, abs=0.005)
    after = chart.curve.tau(np.arange(101.0))
    np.testing.assert_allclose(after, before, atol=0.5, err_msg="a further handle lies on the curve")
    assert after[60] == pytest.approx(before[60], abs=0.05) and np.diff(after).min() >= 0
    bench.drag(bench.handle(4), bench.point(65, 72))
    values = bench.history.state.steps[0].values
    assert values[3:5] == pytest.approx((0.65, 0.07), abs=0.006)
    bench.mouse.move(bench.handle(4))
    bench.mouse.press(bench.handle(4), button=Qt.MouseButton.RightButton)
    bench.mouse.release(bench.handle(4))
    assert bench.text == "warp:0,0.1"


def test_seven_handles_are_the_most(bench: Bench) -> None:
    bench.start("warp:0,0.1,0,0.1,0,0.35,0,0.6,0,0.9,0")
    said: list[str] = []
    bench.view.hovered.connect(said.append)
    chart, text = bench.view.chart, bench.text
    assert len(chart.bend.handles()) == 7
    bench.mouse.double_click(bench.point(42, float(chart.curve.tau(42.0))))
    assert bench.text == text and any("seven" in words for words in said)


def test_keys_go_from_handle_to_handle_move_one_and_take_it_away(bench: Bench) -> None:
    chart = bench.view.chart.bend
    bench.view.chart.setFocus()
    QTest.keyClick(chart, Qt.Key.Key_Tab)
    QTest.keyClick(chart, Qt.Key.Key_Tab)
    assert chart.focused == 1
    for _ in range(3):
        QTest.keyPress(chart, Qt.Key.Key_Up)
    QTest.keyRelease(chart, Qt.Key.Key_Up)
    assert bench.text == "warp:0,0.03"
    QTest.keyClick(chart, Qt.Key.Key_Down)
    assert bench.text == "warp:0,0.02"
    bench.history.undo()
    assert bench.text == "warp:0,0.03"
    bench.history.undo()
    assert bench.text == "", "three presses without letting go are one step"
    bench.history.redo()
    bench.show()
    QTest.keyClick(chart, Qt.Key.Key_Delete)
    assert bench.text == "warp:0"


def test_an_end_rescales_and_the_curve_shifts_where_the_chain_has_these(bench: Bench) -> None:
    bench.start("rescale:1+shift:0")
    chart = bench.view.chart
    end = next(h for h in chart.bend.handles() if h.index == -2)
    bench.drag(bench.point(end.t, end.tau), bench.point(100, 50))
    assert bench.history.state.steps[0].values[0] == pytest.approx(0.5, abs=0.01)
    assert chart.curve.tau(0.0) == pytest.approx(0, abs=1e-3), "the other end has stayed"
    start = bench.point(40, float(chart.curve.tau(40.0)))
    bench.drag(start, QPointF(bench.point(50, 0).x(), start.y()))
    assert bench.history.state.steps[1].values[0] == 10
    first = next(h for h in chart.bend.handles() if h.index == -1)
    last = float(chart.curve.tau(100.0))
    bench.drag(bench.point(first.t, first.tau), bench.point(0, 20))
    assert float(chart.curve.tau(0.0)) == pytest.approx(20, abs=0.5)
    assert float(chart.curve.tau(100.0)) == pytest.approx(last, abs=0.1)


def test_without_a_shift_the_curve_stays_and_says_why(bench: Bench) -> None:
    said: list[str] = []
    bench.view.hovered.connect(said.append)
    bench.drag(bench.point(40, 40), bench.point(60, 40))
    assert bench.text == "" and any("shift" in words for words in said)


def test_the_gate_stands_in_the_same_axis_and_of_a_plain_network_it_is_said_that_there_is_none(bench: Bench) -> None:
    bench.start("warp:0,0.2,0")
    slope = np.r_[1.0, bench.view.chart.curve.slope()]
    gate = np.repeat(0.2 * slope[:, None], 3, 1).astype(np.float32)
    gate[:, 2] *= 2
    rest = np.full((STEPS, 3), 0.2, np.float32) * [1, 1, 2]
    part = replace(bench.part, gates={"rnn.gate": rest}, moved_gates={"rnn.gate": gate}, values=rest, moved=gate)
    bench.part = part
    bench.history.change(replace(bench.history.state, channel=2))
    bench.show()
    chart = bench.view.chart
    assert [line.title for line in chart.lines] == ["mean gate", "unit 2"]
    for line in chart.lines:
        np.testing.assert_allclose(line.values, slope, rtol=1e-5)
    for curve in chart.slopes.curves[:2]:
        at, drawn = curve.getData()
        np.testing.assert_allclose(drawn, slope, rtol=1e-5)
        np.testing.assert_allclose(at, np.arange(STEPS) + 0.5)
    edges, drawn = chart.slopes.slope.getData()
    np.testing.assert_allclose(drawn, slope[1:], rtol=1e-9)
    np.testing.assert_allclose(edges, np.arange(STEPS) + 0.5)
    assert chart.follows == "correlation with dτ/dt: 1" and chart.follows in bench.view.caption()
    bench.view.relative.setChecked(False)
    np.testing.assert_allclose(chart.lines[1].values, 0.4 * slope, rtol=1e-5)
    bench.part = replace(part, gates={"rnn.hidden": rest - 0.5}, moved_gates={"rnn.hidden": gate - 0.5})
    bench.show()
    assert not chart.lines and chart.note == NO_GATE and NO_GATE in bench.view.caption()
    assert all(not len(curve.getData()[0]) for curve in chart.slopes.curves)
    assert any(text == NO_GATE for text, _, _ in chart.slopes.header.parts)


def test_true_times_lie_where_they_are(bench: Bench) -> None:
    times = np.r_[np.arange(50.0), 100 + np.arange(51.0)].astype(np.float32)
    bench.part = shift_part(STEPS, times=times)
    bench.show()
    x = [bench.point(k, 0).x() for k in (10, 20, 49, 50, 60)]
    wanted = times[[10, 20, 49, 50, 60]]
    np.testing.assert_allclose(np.diff(x) / np.diff(wanted), (x[-1] - x[0]) / float(wanted[-1] - wanted[0]), rtol=1e-6)
    assert bench.point(10, 60).y() == pytest.approx(bench.point(90, 60).y())


@given(
    st.sampled_from(["", "warp:0.1,-0.1", "shift:7+warp:0,0.1,0,0.6,0.1", "warp:0,0.1+reverse", "rescale:2+warp:0.2"]),
    st.integers(0, 2), st.floats(-20, 120), st.floats(-20, 120),
)  # fmt: skip
def test_wherever_a_handle_is_dragged_time_runs_one_way_and_the_values_are_admissible(
    text: str, index: int, t: float, tau: float
) -> None:
    asked = Curve(parse_chain(text), STEPS).dragged(index, t, tau)
    bent = Curve(asked, STEPS)
    way = -1 if "reverse" in text else 1
    assert (way * bent.slope() >= -1e-6).all()
    assert parse_chain(chain_text(asked)) == asked, "what is asked for can be written as a command"
    assert isinstance(asked[0], Step)


def test_following_is_a_correlation_over_what_is_compared() -> None:
    slope = np.array([1.0, 2.0, 1.0, 0.5, 1.0])
    gate = np.r_[9.0, 0.3 * slope]
    assert follows(gate, slope, None) == pytest.approx(1.0)
    gate[3] = 7.0
    known = np.array([True, True, True, False, True, True])
    assert follows(gate, slope, known) == pytest.approx(1.0)
    assert follows(gate, np.ones(5), None) is None and follows(gate[:3], slope, None) is None


def test_a_click_without_a_drag_asks_for_nothing(bench: Bench) -> None:
    wishes = gather(bench.view)
    bench.mouse.click(bench.handle(1))
    assert not wishes


def test_a_long_recording_is_drawn_from_means_of_neighbours() -> None:
    values = np.arange(100_000.0)
    edges, level = thinned(values, 500)
    assert len(level) == 500 and edges[0] == 0 and edges[-1] == 100_000
    np.testing.assert_allclose(level, (edges[:-1] + edges[1:] - 1) / 2)
    edges, level = thinned(values[:7], 500)
    assert np.array_equal(edges, np.arange(8)) and np.array_equal(level, values[:7])


def test_both_plots_have_one_axis_of_time_and_mark_the_step_under_the_mouse(bench: Bench) -> None:
    bench.start("warp:0,0.2,0")
    chart, heard = bench.view.chart, list[object]()
    bench.view.pointer.moved.connect(heard.append)
    bench.mouse.move(bench.point(50, 90))
    assert (
        heard[-1] == 70 and chart.slopes.hair.isVisible() and chart.slopes.hair.value() == pytest.approx(50.5, abs=0.2)
    )
    x, y = chart.bend.cross.getData()
    assert x[1] == pytest.approx(50.5, abs=0.2) and y[1] == pytest.approx(70.5, abs=0.3)
    bench.mouse.wheel(bench.point(50, 90), 4)
    upper, lower = chart.bend.box.viewRange()[0], chart.slopes.box.viewRange()[0]
    assert chart.bend.box.zoomed and upper == pytest.approx(lower)
    assert chart.bend.at(50.5, 0).x() == pytest.approx(chart.slopes.at(50.5, 0).x(), abs=1)
    bench.start("warp:0,0.1,0")
    assert chart.bend.box.viewRange()[0] == pytest.approx(upper), "a zoom stays while the curve is bent"
    bench.view.resize(500, 300)
    bench.show()
    assert chart.bend.box.whole[0] == pytest.approx(chart.slopes.box.whole[0])
    assert chart.bend.box.viewRange()[0] == pytest.approx(chart.slopes.box.viewRange()[0])
