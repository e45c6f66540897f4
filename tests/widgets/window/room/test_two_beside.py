"""Two networks side by side in a small window: names beside names, nothing cut, nothing in three lines."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from explorer.declare.elements import parse_chain
from explorer.state.state import State
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, settle
from widgets.base.controls.measure_table import MeasureTable
from widgets.spaces.sequence.views.gates import GatesView
from widgets.views.stage import Stage
from widgets.window.main_window import MainWindow

PAIR = State("d4-cnn", compare="plain-cnn", sample="digit-3", device="cpu")


def small(qtbot: QtBot, open_window: Open, state: State) -> MainWindow:
    window = open_window(state)
    window.resize(1024, 700)
    settle(qtbot, window, measured=True)
    return window


def test_both_networks_are_named_in_one_way(qtbot: QtBot, open_window: Open) -> None:
    window = small(qtbot, open_window, PAIR)
    stage = window.panes.named("stage")
    assert isinstance(stage, Stage)
    stage.canvas.grab()  # what is painted is what fitted
    heads, headings = ([of(row).lines for row in stage.rows] for of in (lambda r: r.readout.head, lambda r: r.heading))
    assert heads == [["d4-cnn"], ["plain-cnn"]], "one title has no room: both are named in brief"
    assert headings in ([["lift · d4-cnn"], ["conv1 · plain-cnn"]], [["lift"], ["conv1"]])
    assert not any("…" in line for row in stage.rows for one in row.captions.values() for line in one.lines)


def test_what_is_not_tested_is_said_in_two_lines(qtbot: QtBot, open_window: Open) -> None:
    window = small(qtbot, open_window, PAIR)
    inspector = window.panes.named("inspector")
    assert inspector is not None
    table = inspector.findChild(MeasureTable)
    assert table is not None
    window.controller.reset()
    qtbot.waitUntil(lambda: all("nothing" in head.text() for head in table.heads), timeout=LONGEST_MS)
    for head in table.heads:
        assert head.text() == "nothing\nto test"
        assert max(head.fontMetrics().horizontalAdvance(line) for line in head.text().split("\n")) <= head.width()


@pytest.mark.slow
def test_gates_of_two_networks_have_whole_names(qtbot: QtBot, open_window: Open) -> None:
    window = small(qtbot, open_window, State("gru", compare="lstm", steps=parse_chain("shift:5"), device="cpu"))
    window.show_view("gates")
    gates = window.panes.named("gates")
    assert isinstance(gates, GatesView)
    qtbot.waitUntil(lambda: bool(gates.histograms.counted), timeout=LONGEST_MS)
    settle(qtbot, window)
    for plot in (*gates.histograms.plots, gates.times):
        for (text, _, _), shown in zip(plot.header.parts, plot.header.shown(), strict=True):
            assert shown == text, f"{text!r} is cut"
    grown = gates.histograms
    for wide, first, inks in ((700, "reset", 2), (200, "reset · gru", 1)):
        grown.resize(wide, grown.height())
        assert grown.plots[0].header.parts[0][0] == first
        # colours tell apart what names have no room for
        assert len({plot.header.parts[0][1] for plot in grown.plots if not plot.own}) == inks
