"""Histograms, forgetting times and phase portraits: the numbers drawn are those of the gates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF

from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import Step
from explorer.spaces.sequence.drawing.values import Settling
from explorer.state.state import State
from models.sequences.recurrent.chrono import CARD as CHRONO
from models.sequences.recurrent.chrono import LONGEST as LONGEST_DEPENDENCY
from tests.widgets.parts.driving.plot_mouse import PlotMouse
from tests.widgets.parts.driving.view_driving import gather, objects, odd_frames, opened
from tests.widgets.parts.frames.time_parts import shift_part, time_frame
from widgets.base.controls.param_control import ParamControl
from widgets.base.look import theme
from widgets.figures.export import export_view
from widgets.figures.numbers import export_numbers
from widgets.spaces.sequence.charts.gate_statistics import LONGEST, count, forgetting, keeps, timed
from widgets.spaces.sequence.charts.phase_chart import principal, thinned
from widgets.spaces.sequence.views.gates import GatesView
from widgets.spaces.sequence.views.phase import PhaseView

MOVED = (Step("translate", (0.0, 0.0, 0.0)),)


@pytest.fixture
def gates(qtbot):
    return opened(qtbot, GatesView(), 1280, 240)


@pytest.fixture
def phase(qtbot):
    return opened(qtbot, PhaseView(), 700, 420)


def give(view, *parts, **changes):
    frame = time_frame(*parts, **changes)
    view.set_state(frame.state)
    view.set_frame(frame)
    return frame


@pytest.mark.parametrize("name", odd_frames())
def test_frames_without_a_sequence_say_what_to_do(gates, phase, name):
    for view, chart in ((gates, gates.histograms), (phase, phase.chart)):
        view.set_frame(odd_frames()[name])
        view.grab()
        assert chart.message and view.numbers() == {} and view.caption() == ""


def test_a_histogram_is_numpys(gates):
    part = shift_part(by=5)
    give(gates, part, steps=MOVED)
    one = gates.histograms.counted[1]
    assert one.name == "lstm.forget_gate" and one.gate
    values = part.gates["lstm.forget_gate"]
    np.testing.assert_allclose(one.share, np.histogram(values, 60, (0, 1))[0] / values.size)
    assert one.open == pytest.approx((values > 0.9).mean()) and one.share.sum() == pytest.approx(1)
    np.testing.assert_allclose(one.moved.sum(), 1)
    plot = gates.histograms.plots[1]
    np.testing.assert_allclose(plot.bars.rectangles()[:, 3], one.share, err_msg="the bars are what was counted")
    np.testing.assert_allclose(plot.outline.getData()[1], one.moved)
    assert plot.mean.value() == one.mean and "forget gate" in plot.header.parts[0][0]


def test_states_are_counted_about_zero_and_gaps_left_out():
    values = np.random.default_rng(0).standard_normal((500, 3)) * 2
    values[3] = np.nan
    one = count("cell", values)
    assert not one.gate and one.edges[0] == -one.edges[-1] and one.share.sum() == pytest.approx(1)
    assert one.mean == pytest.approx(np.nanmean(values))
    assert count("cell", np.full((4, 2), np.nan)).share.sum() == 0


def test_forgetting_times_follow_the_chrono_rule():
    # a forget gate of bias log(T - 1) alone is sigmoid(log(T - 1)) = 1 - 1/T: it forgets in T steps
    known = np.array([50.0, 2.0, 10.0, 400.0])
    f = 1 / (1 + np.exp(-np.log(known - 1)))
    found = forgetting("forget_gate", np.tile(f, (100, 1)), remembers=True)
    np.testing.assert_allclose(found.times, np.sort(known), rtol=1e-9)
    assert found.order.tolist() == [1, 2, 0, 3]
    other = forgetting("leaky.gate", np.tile(1 - f, (100, 1)), remembers=False)
    np.testing.assert_allclose(other.times, np.sort(known), rtol=1e-9)
    assert forgetting("f", np.ones((5, 1)), True).times[0] == LONGEST


def test_forget_gates_come_first_and_states_are_no_gates():
    part = shift_part(50, 4)
    names = list(timed(part.gates))
    assert keeps("gru.update") and not keeps("leaky.gate") and not keeps("lstm.input_gate")
    assert names[0] == "lstm.forget_gate" and "lstm.cell" not in names and "lstm.output_gate" not in names


def test_the_spectrum_is_of_the_gate_chosen(gates):
    part = shift_part()
    give(gates, part)
    found = gates.times.found[0][0]
    gamma = 1 - part.gates["lstm.forget_gate"].astype(float)
    np.testing.assert_allclose(found.times, np.sort(1 / gamma.mean(0)), rtol=1e-5)
    gates.law.setCurrentIndex(1)
    gates.law.activated.emit(1)
    np.testing.assert_allclose(
        gates.times.found[0][0].times, np.sort(1 / part.gates["lstm.forget_gate"].astype(float).mean(0)), rtol=1e-5
    )
    gates.gate.setCurrentIndex(gates.gate.findData("lstm.input_gate"))
    gates.gate.activated.emit(1)
    assert gates.law.currentData() == "replaces" and "input_gate" in gates.times.found[0][0].name


def test_a_unit_is_read_out_and_picked(gates):
    give(gates, shift_part())
    chart, said, wishes = gates.times, [], gather(gates)
    gates.hovered.connect(said.append)
    found, mouse = chart.found[0][0], PlotMouse(chart)
    mouse.click(mouse.middle(4))
    assert f"unit {found.order[4]}" in said[-1]
    assert wishes[-1].changes == {"channel": int(found.order[4])}
    x, y = chart.models[0].line.getData()
    np.testing.assert_allclose(10**y, found.times, err_msg="in decades")
    assert chart.at(x[0], y[0]).y() > chart.at(x[-1], y[-1]).y()
    for side, drawn in (("low", chart.models[0].low), ("high", chart.models[0].high)):
        top = chart.box.whole[1][1]
        np.testing.assert_allclose(10 ** drawn.getData()[1], np.clip(getattr(found, side), 1, 10**top))
    assert chart.length.value() == pytest.approx(np.log10(200)) and chart.length.label.format == "200 steps of x"


def test_a_click_on_a_histogram_selects_its_layer(gates):
    give(gates, shift_part())
    wishes = gather(gates)
    mouse = PlotMouse(gates.histograms.plots[2])
    mouse.click(mouse.middle(0.5))
    assert wishes[-1].changes["layer"] == "lstm.output_gate"


def test_a_network_without_gates_has_no_times(gates):
    part = shift_part()
    give(gates, replace(part, gates={"h": part.values}, moved_gates={}), layer="h")
    assert "no forgetting time" in gates.times.message and gates.histograms.message == ""


# the phase portrait ---------------------------------------------------------------------------------------------
def test_principal_axes_are_those_of_the_singular_values():
    values = np.random.default_rng(0).standard_normal((300, 5)) * (5, 1, 3, 0.5, 0.1)
    mean, axes, share = principal(values)
    _, s, vt = np.linalg.svd(values - values.mean(0), full_matrices=False)
    np.testing.assert_allclose(np.abs(axes), np.abs(vt[:2]), atol=1e-9)
    np.testing.assert_allclose(share, (s**2 / (s**2).sum())[:2])
    np.testing.assert_allclose(mean, values.mean(0))
    assert principal(values[:, :1])[1].shape == (2, 1)


def test_a_long_path_is_thinned_and_keeps_its_end():
    kept = thinned(np.zeros((100_001, 2)))
    assert len(kept) <= 4001 and kept[0] == 0 and kept[-1] == 100_000


def test_both_sides_are_in_the_same_plane(phase):
    part = shift_part(by=5)
    give(phase, part, steps=MOVED)
    assert [path.title for path in phase.chart.paths] == ["F(x)", "F(ρ(g)x)"]
    mean, axes, _ = principal(part.values)
    np.testing.assert_allclose(phase.chart.paths[0].points, (part.values - mean) @ axes.T, atol=1e-5)
    np.testing.assert_allclose(phase.chart.paths[1].points, (part.moved - mean) @ axes.T, atol=1e-5)
    for trail, path in zip(phase.chart.trails, phase.chart.paths, strict=True):
        drawn = [np.stack(piece.getData(), axis=1) for piece in trail.pieces]
        np.testing.assert_array_equal(np.concatenate([drawn[0], *(one[1:] for one in drawn[1:])]), path.points)
        np.testing.assert_array_equal(np.stack(trail.ends.getData(), axis=1), path.points[[0, -1]])


def test_units_can_be_chosen(phase):
    part = shift_part()
    give(phase, part)
    for box, unit in ((phase.across, 3), (phase.up, 7)):
        box.setCurrentIndex(box.findData(unit))
        box.activated.emit(box.currentIndex())
    assert phase.chart.labels == ("unit 3", "unit 7") and len(phase.chart.paths) == 1
    np.testing.assert_allclose(phase.chart.paths[0].points, part.values[:, [3, 7]])


def test_a_click_on_a_point_selects_its_step_and_hovering_tells_the_others(phase):
    give(phase, shift_part(by=5), steps=MOVED)
    chart, wishes, heard, said = phase.chart, gather(phase), [], []
    phase.pointer.moved.connect(heard.append)
    phase.hovered.connect(said.append)
    mouse, point = PlotMouse(chart), QPointF(*chart.paths[0].points[120])
    path, i = chart.nearest(point)
    step = chart.step_of(path, i)
    mouse.move(chart.at(point.x(), point.y()))
    assert abs(step - 120) <= 1 and "principal axis 1" in said[-1] and abs(heard[-1] - 120) <= 2
    trail = chart.trails[0]
    assert trail.hot.isVisible() and not trail.chosen.isVisible()
    np.testing.assert_allclose([trail.hot.pos().x(), trail.hot.pos().y()], chart.paths[0].points[heard[-1]])
    mouse.click(chart.at(point.x(), point.y()))
    assert abs(wishes[-1].changes["node"] - 120) <= 2


def test_a_zoom_stays_while_g_is_dragged_and_a_unit_is_never_stretched_much(phase):
    give(phase, shift_part(by=5), steps=MOVED)
    chart = phase.chart
    unit, mouse = chart.pixels(), PlotMouse(chart)
    assert 1 / 3.001 <= unit.x() / unit.y() <= 3.001
    mouse.wheel(chart.plotted.center(), 3)
    seen = chart.box.viewRect()
    assert chart.box.zoomed and seen.height() < chart.box.whole[1][1] - chart.box.whole[1][0]
    give(phase, shift_part(by=9), steps=MOVED)
    after = chart.box.viewRect()
    assert [after.left(), after.top()] == pytest.approx([seen.left(), seen.top()], abs=0.05 * seen.width())
    mouse.double_click(chart.plotted.center())
    assert not chart.box.zoomed


def settling(units: int, converged: bool = True, contraction: float = 0.5) -> Settling:
    orbit = np.cumsum(0.5 ** np.arange(12))[:, None] * np.linspace(0, 1, units)
    return Settling(("lstm.hidden", "lstm"), orbit.astype(np.float32), contraction, converged)


def test_the_way_to_the_fixed_point_is_drawn_with_its_contraction_and_has_no_steps_of_x(phase):
    part = replace(shift_part(units=6), settlings=(settling(6),))
    give(phase, part)
    chart, wishes = phase.chart, gather(phase)
    path = chart.paths[-1]
    assert path.title == "R(0, ·) from 0" and "contraction: × 0.5 a step, 11 iterations" in path.detail
    mean, axes, _ = principal(part.values)
    np.testing.assert_allclose(path.points, (part.settlings[0].orbit - mean) @ axes.T, atol=1e-5)
    assert chart.step_of(path, 3) is None and path not in chart.in_time()
    far, mouse = path.points[-1], PlotMouse(chart)
    mouse.click(chart.at(*far))
    if chart.nearest(QPointF(*far))[0] is path:
        assert not wishes
    assert "R(0, ·) from 0" in phase.numbers()


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (settling(6, contraction=0.999892), "contraction: × 0.99989 a step"),
        (settling(6, contraction=1.0), "no contraction: × 1 a step"),
        (settling(6, False, 1.3), "no fixed point found"),
    ],
)
def test_how_a_state_settles_is_said_as_far_as_it_is_known(phase, one, words):
    give(phase, replace(shift_part(units=6), settlings=(one,)))
    assert words in phase.chart.paths[-1].detail


def test_a_layer_that_is_no_state_has_no_way_to_a_fixed_point(phase):
    give(phase, replace(shift_part(units=6, layer="lstm.cell"), settlings=(settling(6),)), layer="lstm.cell")
    assert [path.side for path in phase.chart.paths] == ["before"]


@pytest.mark.parametrize("steps", [1, 2])
def test_short_paths_and_gaps(phase, gates, steps):
    part = shift_part(steps, 3)
    values = np.full_like(part.values, np.nan)
    for view in (phase, gates):
        give(view, part)
        view.grab()
        give(view, replace(part, values=values))
        view.grab()


@pytest.mark.slow
def test_exports_themes_and_frames(phase, gates, tmp_path):
    for view in (phase, gates):
        give(view, shift_part(by=5), shift_part(by=5, layer="lstm.cell"), steps=MOVED, node=20)
        view.grab()
        before = objects(view)
        give(view, shift_part(by=6), shift_part(by=6, layer="lstm.cell"), steps=MOVED, node=20)
        view.grab()
        assert objects(view) == before
        for kind in ("png", "svg", "pdf"):
            export_view(view, tmp_path / f"v.{kind}")
            assert (tmp_path / f"v.{kind}").stat().st_size > 2000
        export_numbers(view, tmp_path / "v.npz")
        assert np.load(tmp_path / "v.npz").files and "wave" in view.caption()
        light = view.grab().toImage()
        theme.use("dark")
        view.apply_theme()
        assert view.grab().toImage() != light
        theme.use("light")


def test_the_longest_dependency_has_a_slider_over_all_of_its_range_and_the_spectrum_follows(qtbot, gates):
    control = ParamControl(LONGEST_DEPENDENCY)
    qtbot.addWidget(control)
    found, sent = [], []
    control.changed.connect(lambda value, done: sent.append(value))
    engine = LocalEngine({CHRONO.name: CHRONO})
    for share in (0.25, 0.5, 1.0):
        control.slider.setValue(round(share * control.slider.maximum()))
        state = State(CHRONO.name, sample="sine", params=(("longest", sent[-1]),), device="cpu")
        gates.set_frame(engine.answer(state, lambda: False))
        (times, _, _) = gates.times.found[0]
        found.append(float(times.times.max()))
    assert sent == pytest.approx([15.2, 77.5, 2000.0], rel=0.02)
    assert all(0.6 * t < f < 1.1 * t for t, f in zip(sent, found, strict=True)), (sent, found)
