"""A window of 1000 pixels: it can be that narrow with every kind of data, and nothing in it is cut to a letter."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QAbstractSpinBox, QComboBox, QTabBar, QWidget
from pytestqt.qtbot import QtBot

from explorer.state.state import State
from tests.widgets.parts.driving.windows import Open, settle


@pytest.mark.parametrize("model", ["d4-cnn", "gat", "lstm", "gem-cnn", "tensor-field-network"])
@pytest.mark.slow
def test_a_window_is_1000_pixels_wide_and_nothing_is_cut(qtbot: QtBot, open_window: Open, model: str) -> None:
    window = open_window(State(model=model))
    window.resize(1000, 700)
    qtbot.waitUntil(lambda: window.width() <= 1000)
    settle(qtbot, window)
    inspector = window.panes.named("inspector")
    assert inspector is not None
    qtbot.waitUntil(lambda: not cut(inspector))
    for tabs in window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly):
        assert tabs.elideMode() == Qt.TextElideMode.ElideNone


def cut(view: QWidget) -> list[QWidget]:
    """Return the controls of a view that its right border cuts, or that have less room than their text."""
    found = []
    for widget in view.findChildren(QWidget):
        if not isinstance(widget, QAbstractButton | QComboBox | QAbstractSpinBox) or not widget.isVisible():
            continue
        right = widget.mapTo(view, QPoint(widget.width(), 0)).x()
        narrow = isinstance(widget, QAbstractButton) and widget.width() < widget.minimumSizeHint().width() - 1
        if right > view.width() or narrow:
            found.append(widget)
    return found
