"""Steps of lessons mean one thing: the control of that transform, the choice in that view."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from explorer.state.lessons.tasks import Task
from explorer.state.state import State
from tests.widgets.parts.driving.windows import Open, settle
from widgets.base.controls.param_control import ParamControl
from widgets.spaces.grid.views.ladder import LadderView
from widgets.views.choosing.gallery import GalleryView
from widgets.views.equation import EquationView
from widgets.views.inspector import Section
from widgets.views.layer_tree.layers import LayersView
from widgets.views.matrix import MatrixView
from widgets.window.lessons.course import LESSONS
from widgets.window.lessons.targets import bring, in_sight, place_of, scroll_to
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


def test_a_choice_in_a_view_is_noticed_and_opening_the_view_is_not_enough(qtbot: QtBot, open_window: Open) -> None:
    """The step "In the Matrix tab choose β" was ticked with the tab, and the strip told nothing more of β."""
    window = open_window(State("d4-cnn", sample="digit-3", device="cpu"))
    window.controller.open_session(str(next(LESSONS.glob("09-*.json"))))
    settle(qtbot, window)
    guide = window.files.guide
    qtbot.waitUntil(lambda: guide.wanted is None)
    window.show_view("matrix")
    view = window.panes.named("matrix")
    assert isinstance(view, MatrixView)
    qtbot.waitUntil(view.choice.isVisible)
    settle(qtbot, window)
    assert not guide.walk.done[2]
    qtbot.keyClick(view.choice, Qt.Key.Key_Down)
    assert view.choice.currentText().startswith("β")
    qtbot.waitUntil(lambda: guide.walk.done[2])
    window.controller.open_session(str(next(LESSONS.glob("06-*.json"))))
    settle(qtbot, window)
    assert view.choice.currentText().startswith("local Delta"), "what was chosen in another lesson is forgotten"
    view.choice.setCurrentIndex(1)
    window.controller.open_session(str(next(LESSONS.glob("04-*.json"))))
    settle(qtbot, window)
    window.show_view("matrix")
    qtbot.waitUntil(lambda: view.choice.currentText().startswith("shift-invariant"))


def test_the_page_of_a_network_does_not_answer_a_riddle(qtbot: QtBot, open_window: Open) -> None:
    """The notes of "Planted fault: a filter" name the layer, beside a lesson that asks for it."""
    window = open_window(State("d4-cnn", sample="digit-3", device="cpu"))
    window.show_view("equation")
    window.controller.open_session(str(next(LESSONS.glob("23-*.json"))))
    settle(qtbot, window)
    guide, page = window.files.guide, window.panes.named("equation")
    assert isinstance(page, EquationView)
    qtbot.waitUntil(lambda: "One filter is not symmetric" in page.page.toPlainText())
    qtbot.waitUntil(lambda: "behind Reveal" in page.page.toPlainText())
    assert "planted fault" not in page.page.toPlainText() and "build_filter" not in page.page.toPlainText()
    guide.reveal(3)
    qtbot.waitUntil(lambda: "planted fault: layer conv2" in page.page.toPlainText())


def test_leaving_the_page_of_a_lesson_does_not_move_the_stage(qtbot: QtBot, open_window: Open) -> None:
    """The step stood above the stage, so that tabs moved with each step, under the hand that was to click them."""
    window = open_window(State("d4-cnn", sample="digit-3", device="cpu"))
    window.controller.open_session(str(next(LESSONS.glob("20-*.json"))))
    settle(qtbot, window)
    guide = window.files.guide
    qtbot.waitUntil(lambda: guide.wanted is None and not guide.strip.isVisible())

    def stage() -> QRect:
        return rect(window, window.panes.tabBar())

    before = stage()
    for name in ("layers", "gallery"):
        window.show_view(name)
        qtbot.waitUntil(guide.strip.isVisible)
        seat = next(seat for seat in window.panes.seats if seat.spec.name == name)
        qtbot.waitUntil(lambda: rect(window, guide.strip).top() >= rect(window, seat).bottom())  # noqa: B023
        assert guide.strip.width() <= seat.width() and guide.strip.height() < window.height() // 2
        assert stage() == before, name
    guide.panel.hide()
    qtbot.waitUntil(guide.strip.isVisible)
    assert stage() == before


def test_a_step_is_ticked_by_a_tab_within_a_view(qtbot: QtBot, open_window: Open) -> None:
    """Ask for a tab, in the panel that the lesson itself names, point at it, and see that it was chosen."""
    window = open_window(State())

    def begin(number: str) -> None:
        window.controller.open_session(str(next(LESSONS.glob(f"{number}-*.json"))))
        settle(qtbot, window)
        qtbot.waitUntil(lambda: window.files.guide.wanted is None)

    begin("96")
    guide = window.files.guide
    ladder = window.panes.named("ladder")
    assert isinstance(ladder, LadderView)
    qtbot.waitUntil(lambda: "ladder" in in_sight(window))
    tabs = ladder.tabs.tabBar()
    qtbot.waitUntil(lambda: place_of(window, guide.walk.tasks[0]).size() == tabs.tabRect(1).size())
    assert not any(guide.walk.done)
    qtbot.mouseClick(tabs, Qt.MouseButton.LeftButton, pos=tabs.tabRect(1).center())
    qtbot.waitUntil(lambda: guide.walk.done == [True, False, False, False])
    qtbot.mouseClick(tabs, Qt.MouseButton.LeftButton, pos=tabs.tabRect(3).center())
    qtbot.waitUntil(lambda: guide.walk.done == [True, False, False, True])
    begin("97")
    assert ladder.tabs.currentIndex() == 0, "a lesson begins as it is written"


def test_a_row_that_a_step_names_is_brought_into_sight_and_framed(qtbot: QtBot, open_window: Open) -> None:
    """*Show me* opened the Gallery at the network in use, and the one to choose stood two hundred rows away."""
    window = open_window(State("d4-cnn", sample="digit-3", device="cpu"))
    settle(qtbot, window)
    gallery, layers = window.panes.named("gallery"), window.panes.named("layers")
    assert isinstance(gallery, GalleryView) and isinstance(layers, LayersView)
    title = gallery.models.named("lieconv-drawn").title
    gallery.search.setText("no such network")
    named = Task(f"Choose *{title}*.", ({"model": "lieconv-drawn"},))
    bring(window, named)
    item = next(i for i in gallery.models.findItems(title, Qt.MatchFlag.MatchContains) if not i.isHidden())
    framed = place_of(window, named)
    assert framed is not None and framed.height() < 200
    seen = gallery.models.visualItemRect(item).center()
    assert framed.contains(gallery.models.viewport().mapTo(window, seen))
    layer = Task("Select *lift*.", ({"layer": ["conv2", "lift*", "lift"]},))
    bring(window, layer)
    framed = place_of(window, layer)
    row = layers.tree.visualRect(layers.model.index_of("lift"))
    assert framed is not None and framed.top() == layers.tree.viewport().mapTo(window, row.topLeft()).y()
    riddle = Task("Select the guilty layer.", ({"layer": "lift"},))
    bring(window, riddle)
    seat = next(seat for seat in window.panes.seats if seat.spec.name == "layers")
    assert place_of(window, riddle) == rect(window, seat), "what no text names is not given away"
