"""A fourth tour of the window, by the keyboard and at small sizes: what a newcomer met there."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from explorer.declare.elements import parse_chain
from explorer.state.state import State
from tests.widgets.parts.driving.view_driving import opened
from tests.widgets.parts.driving.windows import Open, activate, settle
from widgets.base.look import theme
from widgets.figures.export import drawn
from widgets.figures.style import Style
from widgets.views.charts.errors import ErrorsView
from widgets.views.stage import Stage
from widgets.window.lessons.targets import in_sight
from widgets.window.main_window import MainWindow

TURNED = parse_chain("rotate:90")


def ringed(window: MainWindow, held: QWidget) -> bool:
    """Say whether pixels in the colour of the ring lie along some edge of what has the keyboard."""
    picture, colour = window.grab().toImage(), QColor(theme.current().accent)
    corner = held.mapTo(window, QPoint(0, 0))
    rows, columns = range(corner.y() - 3, corner.y() + 4), range(corner.x() - 3, corner.x() + held.width() + 3)
    inside = [(x, y) for y in rows for x in columns if picture.valid(x, y)]
    rows = range(corner.y() - 3, corner.y() + held.height() + 3)
    inside += [(x, y) for y in rows for x in range(corner.x() - 3, corner.x() + 4) if picture.valid(x, y)]
    return sum(picture.pixelColor(x, y) == colour for x, y in inside) >= 10


def tabbed_through(qtbot: QtBot, window: MainWindow) -> list[QWidget]:
    """Press Tab until the keyboard is where it began; return what had it on the way."""
    stage = window.panes.named("stage")
    assert stage is not None
    stage.setFocus()
    activate(qtbot, window)
    way: list[QWidget] = []
    for _ in range(200):
        held = QApplication.focusWidget()
        assert held is not None
        qtbot.keyClick(held, Qt.Key.Key_Tab)
        held = QApplication.focusWidget()
        assert held is not None
        way.append(held)
        if held is stage or stage.isAncestorOf(held):
            return way
        assert window.focus_ring.around() is not None, f"nothing shows that {held} has the keyboard"
        assert ringed(window, held), f"the ring round {held} is hidden"
    raise AssertionError("Tab does not come back")


def test_tab_reaches_every_panel_shows_where_it_is_and_changes_nothing(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3", steps=TURNED, device="cpu"))
    window.show_view("errors")
    settle(qtbot, window, measured=True)
    qtbot.waitUntil(lambda: all(s.view is not None for s in window.panes.seats if s.isVisible()), timeout=30_000)
    before = window.controller.state
    way = tabbed_through(qtbot, window)
    settle(qtbot, window)
    assert window.controller.state == before
    errors, inspector = window.panes.named("errors"), window.panes.named("inspector")
    assert isinstance(errors, ErrorsView) and inspector is not None
    chart = errors.panels[0].layers
    assert chart in way, "the layers can be walked along by keys alone"
    names = [widget.accessibleName() or getattr(widget, "text", str)() for widget in way]
    order = [names.index(name) for name in ("Identity", "Inverse", "Random", "Chain of transforms")]
    assert order == sorted(order), "from above to below"


def test_a_number_that_is_typed_counts_and_the_same_number_with_return(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3", device="cpu"))
    inspector = window.panes.named("inspector")
    assert inspector is not None
    box = inspector.sections["translate"].controls["right"].spin  # type: ignore[attr-defined]
    activate(qtbot, window)
    box.setFocus()
    qtbot.keyClick(box, Qt.Key.Key_Tab)
    assert not window.controller.state.steps
    box.setFocus()
    box.selectAll()
    qtbot.keyClicks(box, "3")
    qtbot.keyClick(box, Qt.Key.Key_Tab)
    (step,) = window.controller.state.steps
    assert (step.name, step.values[0]) == ("translate", 3.0)


def test_two_read_outs_stand_apart_and_headings_keep_the_layer(qtbot: QtBot, open_window: Open) -> None:
    state = State(model="plain-cnn", compare="d4-cnn", layer="relu1", sample="digit-3", steps=TURNED, device="cpu")
    window = open_window(state)
    settle(qtbot, window, measured=True)
    frame = window.controller.frame
    assert frame is not None
    for width in (420, 500, 760):
        stage = opened(qtbot, Stage(), width, 380)
        stage.set_frame(frame)
        stage.grab()
        parts = [[i for i in row.readout.childItems() if i.isVisible()] for row in stage.rows]
        first, second = (_around([i.mapRectToScene(i.boundingRect()) for i in some]) for some in parts)
        assert first.bottom() <= second.top() + 1, (width, first, second)
        for row in stage.rows:
            assert row.heading.lines[0].startswith("relu1") and "…" not in row.heading.lines[0], width


def _around(rects: list[QRectF]) -> QRectF:
    found = QRectF()
    for rect in rects:
        found = found.united(rect)
    return found


def test_a_stage_in_a_column_is_as_large_as_the_column_and_nothing_is_cut(qtbot: QtBot, open_window: Open) -> None:
    state = State(model="plain-cnn", compare="d4-cnn", layer="relu1", sample="digit-3", steps=TURNED, device="cpu")
    window = open_window(state)
    settle(qtbot, window, measured=True)
    stage = window.panes.named("stage")
    assert isinstance(stage, Stage)
    stage.resize(900, 300)  # a flat one on the screen
    made = drawn(stage, ".png", "light", Style(width=85.0), 100)
    assert made.shortened == 0 and made.points == pytest.approx(8.0, rel=0.01)
    alone = drawn(stage, ".svg", "light", Style(width=85.0)).data.decode()
    assert "plain-cnn" in alone and "relu1" in alone


def test_nothing_is_exported_before_there_is_a_picture(
    qtbot: QtBot, open_window: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3", device="cpu"))
    monkeypatch.setattr(window.controller, "frame", None)
    window.menus.actions["export_view"].trigger()
    assert window.files.figure_page is None and "nothing to export" in window.infobar.text.text()


def test_a_message_about_one_file_goes_with_the_next(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3", device="cpu"))
    rows = "".join(f"{k},{k % 5}.5\n" for k in range(30))
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("t,a\n" + rows)
    window.files.open(str(tmp_path / "a.csv"))
    qtbot.waitUntil(lambda: "a.csv" in window.infobar.text.text(), timeout=30_000)
    qtbot.waitUntil(lambda: window.controller.state.sample.endswith("a.csv"), timeout=30_000)
    settle(qtbot, window)
    window.files.open(str(tmp_path / "b.csv"))
    assert window.infobar.isHidden()
    qtbot.waitUntil(lambda: window.controller.state.sample.endswith("b.csv"), timeout=30_000)
    settle(qtbot, window)


def test_choices_above_a_graph_keep_their_words_in_a_narrow_window(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="gat", sample="karate", device="cpu"))
    window.resize(1000, 700)
    settle(qtbot, window)
    graph = window.panes.named("graph")
    assert graph is not None
    qtbot.waitUntil(lambda: graph.width() < 560)
    words = {label.text(): label for label in graph.findChildren(QLabel) if label.isVisible()}
    assert {"Nodes", "Edges"} <= set(words)
    for word, box in (("Nodes", graph.colour), ("Edges", graph.edges)):  # type: ignore[attr-defined]
        level = abs(words[word].geometry().center().y() - box.geometry().center().y())
        assert level <= 2 and words[word].geometry().right() < box.geometry().left(), "in the line of what it is about"


def test_panels_share_the_size_that_was_asked_for(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3", device="cpu"))
    window.begin_with(1024, 700)
    errors = window.docks.docks["errors"]
    qtbot.waitUntil(lambda: window.height() == 700 and errors.height() <= 0.33 * 700)


@pytest.mark.parametrize("model", ["d4-cnn", "gat", "lstm"])
def test_the_panel_in_front_is_in_front_at_the_next_start(qtbot: QtBot, open_window: Open, model: str) -> None:
    window = open_window(State(model=model, device="cpu"))
    settle(qtbot, window)
    window.show_view("values")
    qtbot.waitUntil(lambda: "values" in in_sight(window))
    layout = window.docks.save()
    assert "values" in in_sight(window), "saving changes nothing"
    window.show_view("log")
    assert window.docks.restore(layout)
    qtbot.waitUntil(lambda: "values" in in_sight(window) and "log" not in in_sight(window))


def test_a_film_of_a_turn_is_offered_where_something_turns(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3", device="cpu"))
    window.menus.menus["File"].aboutToShow.emit()
    assert not window.menus.actions["export_turntable"].isVisible()
    window.controller.change({"model": "pointnet"})
    settle(qtbot, window)
    window.show_view("points")
    window.menus.menus["File"].aboutToShow.emit()
    assert window.menus.actions["export_turntable"].isVisible()


@pytest.mark.parametrize(("model", "name"), [("lstm", "reverse"), ("d4-cnn", "reflect")])
def test_what_no_slider_brings_into_the_chain_has_a_button(
    qtbot: QtBot, open_window: Open, model: str, name: str
) -> None:
    window = open_window(State(model=model, device="cpu"))
    inspector = window.panes.named("inspector")
    assert inspector is not None
    section = inspector.sections[name]  # type: ignore[attr-defined]
    inspector.area.ensureWidgetVisible(section)  # type: ignore[attr-defined]
    qtbot.waitUntil(section.clear.isVisible)
    assert section.clear.text() == "+"
    qtbot.mouseClick(section.clear, Qt.MouseButton.LeftButton)
    assert [step.name for step in window.controller.state.steps] == [name]
    settle(qtbot, window)
    qtbot.waitUntil(lambda: section.clear.text() == "×")
    qtbot.mouseClick(section.clear, Qt.MouseButton.LeftButton)
    assert not window.controller.state.steps
    settle(qtbot, window)
