"""The hand on time in the whole program, with real networks: a drag changes the state, and undo is one step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from scipy.interpolate import PchipInterpolator

from explorer.declare.elements import chain_text, parse_chain
from explorer.spaces.sequence.drawing.values import TimePart
from explorer.state.state import State
from tests.widgets.parts.driving.plot_mouse import PlotMouse
from tests.widgets.parts.driving.view_driving import click
from tests.widgets.parts.driving.windows import Open, settle
from widgets.spaces.sequence.views.gradient import GradientView
from widgets.spaces.sequence.views.timeline import TimelineView
from widgets.spaces.sequence.views.warp import NO_GATE, WarpView
from widgets.window.main_window import MainWindow


def view_of(window: MainWindow, kind: type[Any], name: str) -> Any:
    window.show_view(name)
    return next(view for _, view in window.panes.views if isinstance(view, kind))


@pytest.mark.slow
def test_a_drag_on_the_curve_warps_the_sequence_and_is_undone_as_one(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="gated-rnn", sample="sine"))
    view: WarpView = view_of(window, WarpView, "warp")
    chart = view.chart
    settle(qtbot, window)
    qtbot.waitUntil(lambda: chart.curve.count == 128, timeout=5_000)
    found, mouse = next(h for h in chart.bend.handles() if h.index == 1), PlotMouse(chart.bend)
    start, end = (mouse.at_data(*chart.bend.place(found.t, tau).toTuple()) for tau in (found.tau, found.tau + 20))
    mouse.drag(start, QPointF(start.x(), (start.y() + end.y()) / 2), end)
    settle(qtbot, window)
    (step,) = window.controller.state.steps
    assert step.name == "warp" and step.values[1] == pytest.approx(20 / 127, abs=0.01)
    assert not any(step.values[:1] + step.values[2:])
    frame = window.controller.frame
    assert frame is not None and frame.squares[0].of(TimePart) is not None
    part = frame.squares[0].of(TimePart)
    tau = PchipInterpolator([0, 31.75, 63.5, 95.25, 127], [0, 31.75, 63.5 + 127 * step.values[1], 95.25, 127])(
        np.arange(128)
    )
    wanted = np.interp(tau, np.arange(128), part.x[:, 0])
    np.testing.assert_allclose(part.gx[:, 0], wanted, atol=1e-5, err_msg="x′(t) = x(τ(t)) by hand")
    assert chart.lines, "a gated network has a gate to show"
    window.controller.undo()
    assert window.controller.state.steps == () and not window.controller.can_undo
    settle(qtbot, window)
    window.controller.redo()
    assert chain_text(window.controller.state.steps).startswith("warp:0,0.1")
    window.controller.set_model("simple-rnn")
    settle(qtbot, window)
    qtbot.waitUntil(lambda: not chart.lines, timeout=5_000)
    assert chart.note == NO_GATE


@pytest.mark.slow
def test_truncation_reaches_the_worker_and_comes_back_as_a_second_line(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="simple-rnn", sample="sine", layer="recurrent", node=70))
    view: GradientView = view_of(window, GradientView, "gradient")
    qtbot.waitUntil(lambda: bool(view.chart.found), timeout=20_000)
    assert view.chart.found[0].cut is None
    view.every.setFocus()
    view.every.selectAll()
    QTest.keyClicks(view.every, "32")
    QTest.keyClick(view.every, Qt.Key.Key_Return)
    assert window.controller.state.truncate == 32
    qtbot.waitUntil(lambda: bool(view.chart.found) and view.chart.found[0].cut is not None, timeout=20_000)
    one = view.chart.found[0]
    assert one.cut is not None and not one.cut[:64].any() and np.allclose(one.cut[64:71], one.whole[64:71], rtol=1e-4)
    assert "--truncate 32" in window.controller.state.command()
    window.controller.undo()
    assert window.controller.state.truncate is None


@pytest.mark.slow
def test_words_are_clicked_and_coloured_by_real_gates_and_real_attention(qtbot: QtBot, open_window: Open) -> None:
    state = State(model="lstm", sample="alice-words", layer="recurrent.forget_gate", steps=parse_chain("shift:0"))
    window = open_window(state)
    view: TimelineView = view_of(window, TimelineView, "timeline")
    qtbot.waitUntil(lambda: view.text.isVisible() and len(view.text.cells) > 20, timeout=5_000)
    assert view.canvas.shown.tint_name == "forget gate, mean of 16 units"
    box = next(box for box, step in view.text.cells if step == 6)
    click(view.text, box.center().x(), box.center().y())
    assert window.controller.state.node == 6
    window.controller.change({"model": "transformer", "sample": "alice-characters", "layer": ATTENTION})
    settle(qtbot, window)
    qtbot.waitUntil(lambda: view.canvas.shown.tint_name.startswith("what each step receives"), timeout=5_000)
    box = next(box for box, step in view.text.cells if step == 12)
    click(view.text, box.center().x(), box.center().y())
    settle(qtbot, window)
    qtbot.waitUntil(lambda: view.canvas.shown.tint_name == "attention of step 12, mean of 2 heads", timeout=5_000)
    part = view.parts()[0][1]
    np.testing.assert_allclose(view.canvas.shown.tint["before"], part.values.mean(0)[12], rtol=1e-6)
    np.testing.assert_allclose(part.values[:, 12].sum(-1), 1, rtol=1e-5, err_msg="a row of attention sums to one")


ATTENTION = "stacks.encoder.0.self_attention.attention"
