"""Themes: a change of one costs as much as the widgets that there are, however deep they lie in each other."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QDockWidget,
    QLabel,
    QLineEdit,
    QMainWindow,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QTabWidget,
    QTextBrowser,
    QToolButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)
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
    assert inmost.times == 0, "no rule of the sheet is about it, and the sheet names colours by their roles"
    assert inmost.palette().windowText().color() == QColor(theme.DARK.text)


def furnished() -> QMainWindow:
    """Return a window with every kind of widget that the sheet has a rule for, and others in and beside them."""
    window = QMainWindow()
    tabs, area, inner, tree = QTabWidget(), QScrollArea(), QWidget(), QTreeWidget()
    column = QVBoxLayout(inner)
    box = QComboBox()
    box.addItems(["one", "two"])
    for part in (QPushButton("push"), QCheckBox("check"), QLineEdit("line"), QLabel("word"), box):
        column.addWidget(part)
    button = QToolButton()
    button.setText("tool")
    column.addWidget(button)
    area.setWidget(inner)
    tree.setHeaderLabels(["name", "value"])
    tree.addTopLevelItems([QTreeWidgetItem([f"row {k}", "1"]) for k in range(60)])
    tabs.addTab(area, "Area")
    tabs.addTab(QLabel("other"), "Other")
    window.setCentralWidget(tabs)
    for title, widget in (("Tree", tree), ("Text", QTextBrowser()), ("Plain", QPlainTextEdit("plain"))):
        dock = QDockWidget(title)
        dock.setWidget(widget)
        window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, dock)
    window.statusBar().addWidget(QLabel("ready"))
    window.resize(700, 600)
    return window


@pytest.mark.parametrize("order", [("dark",), ("dark", "light"), ("dark", "light", "dark")])
def test_a_change_of_theme_looks_like_a_start_with_it(qtbot: QtBot, order: tuple[str, ...]) -> None:
    window = furnished()
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    before = window.grab().toImage()
    for name in order:
        theme.use(name)
        QApplication.processEvents()
    changed = window.grab().toImage()
    app.setStyleSheet("")
    theme.use(order[-1])
    QApplication.processEvents()
    assert changed == window.grab().toImage()
    assert (changed == before) == (order[-1] == "light")
