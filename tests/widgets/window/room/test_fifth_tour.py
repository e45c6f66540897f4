"""A fifth tour of the window: what is said of a start that cannot be as it was asked for; what a tab brings."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QDialog, QTabBar
from pytestqt.qtbot import QtBot

from explorer.declare.elements import parse_chain
from explorer.state.state import State
from tests.widgets.parts.driving.windows import Open, activate


def test_an_element_of_another_kind_is_said_to_be_left_out(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="pointnet", steps=parse_chain("rotate3d:0,0,40"), orbit="rotate3d", device="cpu"))
    qtbot.waitUntil(window.infobar.isVisible, timeout=30_000)
    said = window.infobar.text.text()
    assert said == "rotate3d acts on a mesh, and pointnet lives on a set: it is left out."
    assert not window.controller.state.steps


def test_of_two_things_that_cannot_be_both_are_said(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="gem-cnn", sample="karate", steps=parse_chain("rotate:90"), device="cpu"))
    qtbot.waitUntil(window.infobar.isVisible, timeout=30_000)
    said = window.infobar.text.text()
    assert "rotate acts on an image" in said and "'karate' lies on a graph" in said and "body is shown" in said


@pytest.mark.parametrize("panel", ["errors", "output"])
def test_a_click_on_a_tab_gives_its_panel_the_focus(panel: str, qtbot: QtBot, open_window: Open) -> None:
    """F1 and the export once meant the stage, whatever panel a person had brought to the front."""
    window = open_window(State(model="d4-cnn", sample="digit-3", device="cpu"))
    activate(qtbot, window)
    stage = window.panes.front()
    assert stage is not None
    stage.setFocus()
    assert window.panes.active() is stage
    title = next(seat.spec.title for seat in window.panes.seats if seat.spec.name == panel)
    bars = window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
    bar, at = next((b, k) for b in bars for k in range(b.count()) if b.isVisible() and b.tabText(k) == title)
    qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(at).center())
    qtbot.waitUntil(lambda: window.panes.active() is not stage)
    view = window.panes.active()
    assert view is not None and view.objectName() == panel and view.isVisible()
    assert window.focus_ring.around() is None, "a ring is for those who use keys"


def test_f1_is_about_the_panel_though_a_list_in_it_has_the_keys(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3", device="cpu"))
    window.show_view("inspector")
    activate(qtbot, window)
    view = window.panes.named("inspector")
    assert view is not None
    boxes = (*view.findChildren(QComboBox), *view.findChildren(QAbstractSpinBox))
    box = next(b for b in boxes if b.isVisible() and b.isEnabled())
    box.setFocus()
    qtbot.waitUntil(box.hasFocus)
    qtbot.keyClick(box, Qt.Key.Key_F1)
    assert any(p.windowTitle().startswith("Help: ") for p in window.findChildren(QDialog))
