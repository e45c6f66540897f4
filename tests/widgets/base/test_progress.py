"""A bar of progress leaves nothing of what has moved away elsewhere in the window."""

from __future__ import annotations

import ast
from pathlib import Path

from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QGraphicsRectItem, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

import widgets
from widgets.base.controls.progress import Progress
from widgets.charts.scene.sheet import Sheet

OLD, NEW = (150, 120), (40, 30)  # the middles of an item before and after


def test_nothing_stays_of_an_item_that_moved_before_progress_was_told(qtbot: QtBot) -> None:
    window, sheet, bar = QWidget(), Sheet(), Progress()
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    column.setContentsMargins(0, 0, 0, 0)
    column.addWidget(sheet)
    column.addWidget(bar)
    window.resize(200, 180)
    item = QGraphicsRectItem(-10, -10, 20, 20)
    item.setBrush(QColor("red"))
    item.setPos(*OLD)
    sheet.addItem(item)
    with qtbot.waitExposed(window):
        window.show()

    def on_screen() -> QImage:
        return window.screen().grabWindow(window.winId()).toImage()

    qtbot.waitUntil(lambda: on_screen().pixelColor(*OLD).name() == "#ff0000")
    item.setPos(*NEW)
    sheet.viewport().update(0, 0, 60, 60)  # a part, which the bar would have painted at once
    bar.setRange(0, 10)
    bar.setValue(5)
    qtbot.waitUntil(lambda: on_screen().pixelColor(*NEW).name() == "#ff0000")
    qtbot.waitUntil(lambda: on_screen().pixelColor(*OLD).name() != "#ff0000")


def test_a_bar_shows_what_it_was_told(qtbot: QtBot) -> None:
    bar = Progress()
    qtbot.addWidget(bar)
    bar.resize(100, 12)
    bar.setRange(0, 10)
    with qtbot.waitExposed(bar):
        bar.show()
    empty = bar.grab().toImage()
    bar.setValue(10)
    assert bar.value() == 10 and bar.grab().toImage() != empty


def test_no_bar_that_is_told_something_paints_itself_at_once() -> None:
    own = Path(widgets.__file__).parent / "base/controls/progress.py"
    for path in Path(widgets.__file__).parent.rglob("*.py"):
        calls = [n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Call)]
        made = [n for n in calls if isinstance(n.func, ast.Name) and n.func.id == "QProgressBar"]
        assert not made or path == own, f"{path} makes a QProgressBar, which paints the whole window at once"
