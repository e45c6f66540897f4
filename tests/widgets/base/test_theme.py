"""Themes: a change of one costs as much as the widgets that there are, however deep they lie in each other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from widgets.base.look import theme

DEEP = 12


class Counted(QLabel):
    """Counts how often it is dressed anew."""

    times = 0

    def changeEvent(self, event: QEvent) -> None:
        self.times += event.type() == QEvent.Type.StyleChange
        super().changeEvent(event)


@pytest.fixture(autouse=True)
def light() -> Iterator[None]:
    theme.use("light")
    yield
    theme.use("light")


def test_a_widget_is_not_dressed_once_for_each_that_it_lies_in(qtbot: QtBot) -> None:
    """The window stood still for a second or two: Qt replaces a style sheet by going down from each widget."""
    outer = within = QWidget()
    qtbot.addWidget(outer)
    for _ in range(DEEP):
        column = QVBoxLayout(within)
        within = QWidget()
        column.addWidget(within)
    inmost = Counted("x", within)
    outer.show()
    inmost.times = 0
    theme.use("dark")
    assert inmost.times <= 2, "once without a style sheet, once with the new one"
    assert inmost.palette().windowText().color() == QColor(theme.DARK.text)
