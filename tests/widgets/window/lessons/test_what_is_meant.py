"""Frames of lessons: the control of the transform that is meant, not one of the same name in another."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from explorer.state.lessons.tasks import Task
from explorer.state.state import State
from tests.widgets.parts.driving.windows import Open, settle
from widgets.base.controls.param_control import ParamControl
from widgets.views.inspector import Section
from widgets.window.lessons.targets import place_of, scroll_to
from widgets.window.main_window import MainWindow


def rect(window: MainWindow, widget: QWidget) -> QRect:
    return QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())


def test_a_control_of_the_transform_that_is_meant_is_framed(qtbot: QtBot, open_window: Open) -> None:
    """Shuffles, frames and noise all have a "seed": the first of them was framed."""
    window = open_window(State("gat", sample="karate", device="cpu"))
    settle(qtbot, window)
    window.show_view("inspector")
    inspector = window.panes.named("inspector")
    assert inspector is not None
    seeds = {c.of: c for c in inspector.findChildren(ParamControl) if c.param.name == "seed"}
    framed = 0
    for name, control in seeds.items():
        task = Task("Draw another.", ({"steps": {name: {"seed": {"changed": True}}}},))
        section = next(s for s in inspector.findChildren(Section) if s.isAncestorOf(control))
        scroll_to(window, task)
        if not section.isVisible():  # of meshes: there is nothing to point at but the panel
            seat = next(seat for seat in window.panes.seats if seat.spec.name == "inspector")
            assert place_of(window, task) == rect(window, seat)
            continue
        framed += 1
        folded = not control.isVisible()
        assert place_of(window, task) == rect(window, section if folded else control), name
        section.head.setChecked(True)
        qtbot.waitUntil(control.isVisible)
        scroll_to(window, task)
        qtbot.waitUntil(lambda: not control.visibleRegion().isEmpty())  # noqa: B023
        assert place_of(window, task) == rect(window, control), name
    assert framed > 1
