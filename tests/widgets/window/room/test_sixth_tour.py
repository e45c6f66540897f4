"""A sixth tour of the whole window: menus of charts, and the ring round what has the keyboard."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QSettings, Qt, QTimer
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QApplication, QListWidget, QMenu, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import parse_chain
from explorer.square.frame import Frame
from explorer.state.state import State
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, activate, settle
from widgets.base.controls.dialog import Dialog
from widgets.base.look import theme
from widgets.base.text import glossary
from widgets.charts.scene.box import Box
from widgets.charts.scene.sheet import Sheet
from widgets.figures.export import drawn
from widgets.figures.style import Style
from widgets.spaces.graph.views.spectrum import SpectrumView
from widgets.spaces.pairs.controls import PairControls
from widgets.spaces.sequence.views.steps import StepsView
from widgets.views.matrix import MatrixView
from widgets.views.stage import Stage
from widgets.window import app
from widgets.window.main_window import MainWindow


@pytest.fixture
def notation() -> Iterator[None]:
    yield
    glossary.use(False)


class Painted(QObject):
    """Counts how many rows of pixels of a widget are painted."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QPaintEvent):
            self.rows += event.region().boundingRect().height()
        return False


@pytest.fixture
def page(qtbot: QtBot) -> Iterator[Dialog]:
    theme.use("light")  # as every start does: a style sheet can make Qt paint all of a view that is scrolled
    made = Dialog()
    rows = QListWidget()
    rows.addItems([f"row {k}" for k in range(400)])
    column = QVBoxLayout(made)
    column.addWidget(QPushButton("before"))
    column.addWidget(rows)
    made.resize(300, 500)
    with qtbot.waitExposed(made):
        made.show()
    yield made
    made.close()
    made.deleteLater()


def test_a_list_with_the_ring_scrolls_by_the_rows_that_come_in(qtbot: QtBot, page: Dialog) -> None:
    rows, button = page.findChild(QListWidget), page.findChild(QPushButton)
    assert rows is not None and button is not None
    activate(qtbot, page)
    button.setFocus()
    qtbot.waitUntil(button.hasFocus)
    qtbot.keyClick(button, Qt.Key.Key_Tab)
    qtbot.waitUntil(lambda: page.focus_ring.around() is rows)
    (ring,) = [one for one in page.children() if isinstance(one, QWidget) and not one.mask().isEmpty()]
    corner = rows.mapTo(page, QPoint(0, 0)) - ring.pos()
    assert not ring.mask().intersects(rows.viewport().rect().translated(corner + rows.viewport().pos()))
    qtbot.wait(0)
    page.repaint()
    painted = Painted()
    rows.viewport().installEventFilter(painted)
    bar = rows.verticalScrollBar()
    rows.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
    QApplication.processEvents()
    painted.rows = 0
    bar.setValue(bar.value() + 20)
    qtbot.waitUntil(lambda: painted.rows > 0)
    assert painted.rows < rows.viewport().height() / 2, "the rows that were there are moved, not painted"


def test_no_ring_where_no_key_was_pressed(qtbot: QtBot, open_window: Open) -> None:
    """Qt hands the focus on where what has it is hidden, in the way that it does for Tab."""
    window = open_window(State())
    activate(qtbot, window)
    settle(qtbot, window)
    window.menus.asked.emit("greeting")
    button = next(one for one in window.findChildren(QPushButton) if one.text() == "Turn it" and one.isVisible())
    button.setFocus()
    qtbot.waitUntil(button.hasFocus)
    window.greeting.card.hide()
    qtbot.waitUntil(lambda: not button.hasFocus())
    assert window.focus_ring.around() is None


def test_every_chart_has_a_menu_of_the_program_and_none_of_pyqtgraph(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State())
    settle(qtbot, window, measured=True)
    tried = 0
    for name in ("errors", "orbit", "output", "values", "matrix"):
        window.show_view(name)
        settle(qtbot, window)
        view = window.panes.named(name)
        assert view is not None
        for sheet in view.findChildren(Sheet):
            boxes = [item for item in sheet.scene().items() if isinstance(item, Box) and item.isVisible()]
            if not sheet.isVisible() or sheet.message or not boxes:
                continue
            at = sheet.mapFromScene(boxes[0].sceneBoundingRect().center())
            qtbot.mouseMove(sheet.viewport(), at)
            qtbot.mouseClick(sheet.viewport(), Qt.MouseButton.RightButton, pos=at)
            menus = [one for one in QApplication.topLevelWidgets() if isinstance(one, QMenu) and one.isVisible()]
            texts = [action.text().replace("&", "") for one in menus for action in one.actions() if action.text()]
            assert texts == ["Show the whole range", "Export view…", "About this panel"], (name, texts)
            menus[0].close()
            tried += 1
    assert tried >= 5


def test_a_file_of_another_kind_at_the_start_is_refused_and_the_model_is_shown(
    qapp: QApplication, tmp_path: Path, start: Callable[[], LocalEngine]
) -> None:
    table = tmp_path / "weather.csv"
    rows = [f"2025-01-{1 + day:02d},{day % 17}.5,{40 + day % 30}" for day in range(28)]
    table.write_text("\n".join(["date,temperature,humidity", *rows]), encoding="utf-8")
    seen: list[tuple[str, str]] = []

    def ready(window: MainWindow) -> None:
        def look(frame: Frame) -> None:
            seen.append((frame.state.sample, window.infobar.text.text()))
            window.close()

        window.controller.frame_ready.connect(look)
        QTimer.singleShot(60_000, window.close)

    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    state = State(model="gcn", sample=str(table), device="cpu")
    try:
        assert app.run_window(start, state, on_ready=ready, settings=settings) == 0
    finally:
        gc.disable()
    sample, said = seen[0]  # the measures come later
    assert sample == "karate" and "takes a graph" in said and said.endswith(f"{sample} is shown."), said


def test_a_sequence_is_seen_on_the_stage_and_its_matrices_have_no_pixels(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="lstm", sample="sine", steps=parse_chain("shift:5"), device="cpu"))
    window.show_view("stage")
    settle(qtbot, window)
    stage, matrix = window.panes.named("stage"), window.panes.named("matrix")
    assert isinstance(stage, Stage) and isinstance(matrix, MatrixView)
    for panel in (stage.before, stage.after, *(stage.rows[0].panels.values())):
        if panel.values is not None:
            seen = panel.frame()
            assert seen.width() > 0.3 * seen.height(), "300 steps of one channel are no hairline"
            at = panel.place_at(seen.center())
            assert at is not None and at[2] < panel.values.shape[2]
    window.show_view("matrix")
    settle(qtbot, window)
    assert matrix.choice.count()
    assert {axis.what for axis in matrix.axes[0]} == {"input", "output"}, "64 rows are 16 units with four gates"


def test_equations_at_a_step_follow_plain_words(qtbot: QtBot, open_window: Open, notation: None) -> None:
    window = open_window(State(model="lstm", sample="sine", steps=parse_chain("shift:5"), node=60, device="cpu"))
    window.show_view("steps")
    settle(qtbot, window)
    steps = window.panes.named("steps")
    assert steps is not None

    def written() -> str:
        return drawn(steps, ".svg", style=Style(caption=False)).data.decode().partition("</desc>")[2]

    assert "ρ(g)x" in written()
    window.menus.actions["plain_words"].trigger()
    settle(qtbot, window)
    assert "ρ(g)x" not in written() and "moved input" in written()


def test_a_menu_of_a_family_does_not_say_its_row_again_at_each_model(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(device="cpu"))
    families = [m for m in window.menus.menus["Model"].findChildren(QMenu) if m.title().startswith("G7  ")]
    assert families
    for family in families:
        texts = [action.text() for action in family.actions()]
        assert texts and not [text for text in texts if "(G7" in text or ", G7" in text], texts


def test_a_narrow_figure_has_every_equation_and_no_scroll_bar(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="lstm", sample="sine", steps=parse_chain("shift:5"), node=60, device="cpu"))
    window.show_view("steps")
    settle(qtbot, window)
    steps = window.panes.named("steps")
    assert isinstance(steps, StepsView) and len(steps.cells()) > 5
    for width in (85.0, 120.0):
        made = ElementTree.fromstring(drawn(steps, ".svg", style=Style(width=width)).data)
        high = float(made.attrib["viewBox"].split()[3])
        text = "".join(made.itertext())
        assert text.count("unit 0") >= len(steps.cells()) - 1
        assert high > steps.canvas.full_height(float(made.attrib["viewBox"].split()[2])) > 300


def test_a_figure_does_not_say_what_a_click_would_show(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="gcn", sample="karate", steps=parse_chain("permute:1"), device="cpu"))
    window.show_view("spectrum")
    settle(qtbot, window)
    view = window.panes.named("spectrum")
    assert isinstance(view, SpectrumView)
    qtbot.waitUntil(lambda: not view.charts[0].message, timeout=LONGEST_MS)
    hint = view.vector.message
    assert hint.startswith("Click")
    for style in (Style(), Style(width=85.0)):
        text = "".join(ElementTree.fromstring(drawn(view, ".svg", style=style).data).itertext())
        assert "Click" not in text and "λ" in text
    assert view.vector.isVisible() and view.vector.message == hint, "on the screen it stays"


def test_choices_of_pairs_follow_plain_words(qtbot: QtBot, notation: None) -> None:
    controls = PairControls()
    qtbot.addWidget(controls)
    for plain, text in ((False, "adjacency of ρ(g) x"), (True, "adjacency of moved input")):
        glossary.use(plain)
        controls.fill(controls.beside, [("nothing", ""), ("adjacency of ρ(g) x", "moved")], "moved")
        assert controls.beside.currentText() == text and controls.beside.currentData() == "moved"
