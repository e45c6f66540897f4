"""Lessons in the whole window: keys and clicks tick their steps, the next one is pointed at, the named view is open."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

import main
from explorer.state.lessons.tasks import read_tasks
from explorer.state.session import load_session, save_session
from explorer.state.state import State
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, activate, settle
from widgets.base import motion
from widgets.base.controls.param_control import ParamControl
from widgets.base.text.markdown import rich
from widgets.views.charts.errors import ErrorsView
from widgets.views.choosing.gallery import GalleryView
from widgets.views.choosing.model_card import MARGIN
from widgets.views.matrix import MatrixView
from widgets.window.lessons.course import LESSONS
from widgets.window.lessons.guide import Guide
from widgets.window.lessons.targets import WHERE, in_sight, place_of, view_of
from widgets.window.main_window import MainWindow
from widgets.window.room.finding import view_specs

PATHS = {path.stem[:2]: path for path in sorted(LESSONS.glob("*.json"))}
SHOWN_IN = {"grid": "stage", "graph": "graph", "set": "graph", "sequence": "timeline", "mesh": "surface"}


def begin(qtbot: QtBot, window: MainWindow, number: str) -> Guide:
    window.controller.open_session(str(PATHS[number]))
    settle(qtbot, window)
    guide = window.files.guide
    qtbot.waitUntil(lambda: guide.wanted is None)
    return guide


def ticked(qtbot: QtBot, guide: Guide, *marks: bool) -> None:
    qtbot.waitUntil(lambda: guide.walk.done == list(marks), timeout=20_000)


def press(qtbot: QtBot, widget: QWidget) -> None:
    assert widget.isVisible()
    qtbot.mouseClick(widget, Qt.MouseButton.LeftButton)


def click_tab(qtbot: QtBot, window: MainWindow, name: str) -> None:
    tabs = window.panes.tabBar()
    seat = next(seat for seat in window.panes.seats if seat.spec.name == name)
    rect = tabs.tabRect(window.panes.indexOf(seat))
    qtbot.mouseClick(tabs, Qt.MouseButton.LeftButton, pos=rect.center())


# what is asked of every lesson, without a window -------------------------------------------------------------


@pytest.mark.parametrize("number", PATHS)
def test_views_that_steps_mean_exist(number: str) -> None:
    known = {spec.name for spec in view_specs()}
    session = load_session(PATHS[number])
    assert not session.view or session.view in known
    for task in session.tasks:
        assert view_of(task) in {*known, ""}
        for pattern in task.patterns:
            asked = pattern.get("view", [])
            assert {asked} if isinstance(asked, str) else set(asked) <= known
        assert task.patterns or task.show or task.reveal, "a step that is looked at says where"


def test_the_views_where_the_state_is_changed_exist() -> None:
    assert set(WHERE.values()) <= {spec.name for spec in view_specs()}


@pytest.mark.parametrize("number", PATHS)
def test_steps_call_networks_what_menus_and_the_gallery_call_them(number: str) -> None:
    titles = {card.name: card.title for card in main.cards().values()}
    for task in load_session(PATHS[number]).tasks:
        fields = {*titles} & set(re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", task.do))
        choices = set() if "params" in str(task.patterns) else {name for name in fields if titles[name] != name}
        assert not choices, f"{choices} stand nowhere in the window: {task.do}"


# in the window -----------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_keys_and_clicks_tick_the_steps(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    guide = begin(qtbot, window, "18")
    ticked(qtbot, guide, False, False, False)
    assert guide.panel is not None and guide.panel.cards[0].mark.text() == "1"
    click_tab(qtbot, window, "filters")
    ticked(qtbot, guide, True, False, False)
    assert guide.panel.cards[0].mark.text() == "✓" and "done" in guide.panel.cards[0].accessibleName()
    press(qtbot, guide.panel.cards[1].show_button)  # "Show me" opens what is meant
    view = window.panes.named("matrix")
    assert isinstance(view, MatrixView)
    qtbot.waitUntil(view.choice.isVisible)
    assert place_of(window, guide.walk.tasks[1]) == QRect(view.choice.mapTo(window, QPoint(0, 0)), view.choice.size())
    qtbot.keyClick(view.choice, "c")  # conv2
    ticked(qtbot, guide, True, True, False)
    click_tab(qtbot, window, "stage")
    ticked(qtbot, guide, True, True, False)  # closed again is not undone
    window.show_view("equation")
    ticked(qtbot, guide, True, True, True)
    assert guide.course.progress() == (1, len(PATHS)) and guide.panel.place.text().endswith("1 done")


@pytest.mark.slow
def test_undo_takes_no_tick_away(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    guide = begin(qtbot, window, "17")
    front = window.panes.front()
    assert front is not None
    front.setFocus()
    activate(qtbot, window)
    qtbot.keyClick(front, Qt.Key.Key_BracketLeft)
    qtbot.keyClick(front, Qt.Key.Key_F)
    ticked(qtbot, guide, False, True, False)
    for _ in range(2):
        qtbot.keyClick(front, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    settle(qtbot, window)
    assert window.controller.state.steps == load_session(PATHS["17"]).state.steps
    ticked(qtbot, guide, False, True, False)


@pytest.mark.slow
def test_a_step_that_is_looked_at_is_ticked_by_hand(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    guide = begin(qtbot, window, "17")
    assert guide.panel is not None
    press(qtbot, guide.panel.cards[0].seen_button)
    ticked(qtbot, guide, True, False, False)
    assert not guide.panel.cards[0].seen_button.isVisible()


@pytest.mark.slow
def test_the_keyboard_goes_on_at_the_step_that_is_next(qtbot: QtBot, open_window: Open) -> None:
    """Its button went with the step, and the keyboard to the first tab of the window."""
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    guide = begin(qtbot, window, "17")
    assert guide.panel is not None
    activate(qtbot, window)
    button = guide.panel.cards[0].seen_button
    button.setFocus()
    qtbot.waitUntil(button.hasFocus)
    qtbot.keyClick(button, Qt.Key.Key_Space)
    ticked(qtbot, guide, True, False, False)
    held = QApplication.focusWidget()
    assert held is not None and guide.panel.cards[1].isAncestorOf(held)


@pytest.mark.slow
def test_the_answer_is_behind_reveal(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    guide = begin(qtbot, window, "23")
    assert guide.panel is not None
    card = guide.panel.cards[3]
    assert "conv2" in card.answer.text() and not card.answer.isVisible()
    assert "conv2" not in window.diagnosis.text.text() and not window.diagnosis.button.isVisible()
    settle(qtbot, window, measured=True)
    errors = window.panes.named("errors")
    assert isinstance(errors, ErrorsView)
    chart = errors.panels[0].layers

    def drawn() -> bool:  # of the lesson: the frame before it has figures of its own
        found = {column.name: column.measure for column in chart.columns}
        return len(found) > 3 and all(found.values()) and (one := found.get("conv2")) is not None and one.local != 0

    qtbot.waitUntil(drawn, timeout=20_000)
    by_name = {column.name: column for column in chart.columns}
    assert (local := by_name["conv2"].measure) is not None and (local.local or 0) > 0.1, "the figures are there"
    assert not any(column.guilty for column in chart.columns)
    assert not any("conv2" in text for text, _, _ in chart.header.parts)
    assert not window.layer_menu.guilty
    guide.panel.bring_card(3)
    press(qtbot, card.reveal_button)
    assert card.answer.isVisible() and guide.walk.done[3] and card.mark.text() == "✓"
    settle(qtbot, window, measured=True)
    qtbot.waitUntil(lambda: [c.name for c in chart.columns if c.guilty] == ["conv2"])
    assert window.layer_menu.guilty == "conv2"
    qtbot.waitUntil(lambda: "conv2" in window.diagnosis.text.toolTip())


@pytest.mark.slow
def test_the_second_riddle_of_a_lesson_is_not_given_away_either(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    guide = begin(qtbot, window, "23")
    assert guide.panel is not None
    guide.reveal(3)
    settle(qtbot, window, measured=True)
    qtbot.waitUntil(lambda: "conv2" in window.diagnosis.text.toolTip())
    window.controller.change({"model": "fault-padding"})
    settle(qtbot, window, measured=True)
    qtbot.waitUntil(lambda: bool(window.layer_menu.withheld))
    assert "pad2" not in window.diagnosis.text.toolTip() and not window.layer_menu.guilty
    guide.panel.bring_card(4)
    press(qtbot, guide.panel.cards[4].reveal_button)
    settle(qtbot, window, measured=True)
    qtbot.waitUntil(lambda: "pad2" in window.diagnosis.text.toolTip())


@pytest.mark.slow
def test_a_riddle_that_is_opened_last_keeps_its_reveal_in_sight(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    guide = begin(qtbot, window, "93")
    for k in range(3):
        guide.walk.tick(k)
    window.show_view("layers")  # the page of the lesson is behind
    window.controller.change({"model": "fault-degree-bias"})
    settle(qtbot, window, measured=True)
    ticked(qtbot, guide, *(True,) * 4)
    strip = guide.strip
    assert strip is not None
    qtbot.waitUntil(lambda: strip.isVisible() and strip.card.reveal_button.isVisible(), timeout=20_000)
    press(qtbot, strip.card.reveal_button)
    settle(qtbot, window, measured=True)
    qtbot.waitUntil(strip.finished.isVisible, timeout=20_000)
    assert "shift" in window.diagnosis.text.toolTip()


def test_a_lesson_begins_with_the_panel_that_its_steps_mean(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    window.show_view("output")
    begin(qtbot, window, "92")
    qtbot.waitUntil(lambda: "errors" in in_sight(window), timeout=20_000)


def test_leaving_a_riddle_gives_the_verdict_back(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    guide = begin(qtbot, window, "23")
    guide.leave()
    settle(qtbot, window, measured=True)
    qtbot.waitUntil(lambda: "conv2" in window.diagnosis.text.toolTip())
    assert guide.panel is not None and guide.panel.isHidden()


def test_a_sound_network_in_place_of_the_riddle_has_its_verdict(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    begin(qtbot, window, "92")
    settle(qtbot, window, measured=True)
    qtbot.waitUntil(lambda: bool(window.layer_menu.withheld))
    window.controller.change({"model": "symmetric-cnn-3d"})
    settle(qtbot, window, measured=True)
    qtbot.waitUntil(lambda: not window.layer_menu.withheld)
    assert "Reveal" not in window.diagnosis.text.text()
    window.controller.undo()
    settle(qtbot, window, measured=True)
    qtbot.waitUntil(lambda: bool(window.layer_menu.withheld))


@pytest.mark.slow
def test_rows_of_the_gallery_grow_with_their_pictures_beside_a_lesson(qtbot: QtBot, open_window: Open) -> None:
    """A lesson makes the panel wider: rows kept their height, and pictures and titles lay over each other."""
    window = open_window(State(model="gan-line"))
    window.show_view("gallery")
    gallery = window.panes.named("gallery")
    assert isinstance(gallery, GalleryView)
    cards = gallery.models
    shown = [cards.item(row) for row in range(cards.count()) if not cards.item(row).isHidden()]
    before = [cards.visualItemRect(item).height() for item in shown]
    begin(qtbot, window, "67")
    window.show_view("gallery")
    qtbot.waitUntil(cards.isVisible)
    wide = cards.itemDelegate().picture_size()
    assert wide[1] > min(before) - 2 * MARGIN, "pictures are larger than before"

    def apart() -> bool:
        places = [cards.visualItemRect(item) for item in shown[1:]]
        return all(one.bottom() < other.top() for one, other in pairwise(places))

    qtbot.waitUntil(apart)


@pytest.mark.slow
def test_a_question_about_something_else_keeps_no_verdict_back(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    guide = begin(qtbot, window, "67")
    assert any(task.reveal and not task.patterns for task in guide.walk.tasks), "it asks which of two gradients falls"
    settle(qtbot, window, measured=True)
    qtbot.waitUntil(lambda: window.diagnosis.text.toolTip().startswith("Holds"))
    assert not window.layer_menu.withheld


@pytest.mark.parametrize("number", ["57", "59", "74", "01", "27", "85", "95"])
@pytest.mark.slow
def test_the_named_view_is_open_when_a_lesson_begins(qtbot: QtBot, open_window: Open, number: str) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    window.show_view("matrix")
    window.show_view("log")
    guide = begin(qtbot, window, number)
    session = load_session(PATHS[number])
    info = window.controller.info
    assert info is not None
    middle = {spec.name for spec in view_specs() if spec.area == "center"}
    asked = {session.view} if session.view in middle else {session.view, SHOWN_IN[info.domain]} - {""}
    for name in asked:
        qtbot.waitUntil(lambda: name in in_sight(window), timeout=20_000)  # noqa: B023
    assert "matrix" not in in_sight(window)
    assert not any(guide.walk.done)


@pytest.mark.slow
def test_the_panel_that_a_text_speaks_of_is_in_sight_whatever_was(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State("plain-cnn", device="cpu"))
    window.show_view("log")
    assert "log" in in_sight(window) and "errors" not in in_sight(window)
    guide = begin(qtbot, window, "01")  # "Look at *Error per layer*"
    qtbot.waitUntil(lambda: "errors" in in_sight(window), timeout=20_000)
    assert not any(guide.walk.done)


def test_what_a_step_asks_to_open_is_left_to_the_person(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    window = open_window(State("plain-cnn", device="cpu"))
    window.show_view("log")
    text = (
        '{"equiscope": 1, "title": "t", "text": "Read *Output* and *Error along the orbit*.", "state": '
        '{"model": "plain-cnn"}, "tasks": [{"do": "Open *Output*.", "when": {"any": [{"view": "output"}]}}]}'
    )
    (tmp_path / "own.json").write_text(text)
    window.controller.open_session(str(tmp_path / "own.json"))
    settle(qtbot, window)
    qtbot.waitUntil(lambda: "orbit" in in_sight(window), timeout=20_000)
    assert not any(window.files.guide.walk.done)


def test_the_card_of_the_first_start_gives_way_to_a_lesson(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    window.greeting.greet()
    assert window.greeting_card.isVisible()
    begin(qtbot, window, "01")
    assert window.greeting_card.isHidden()
    window.greeting.greet()
    assert window.greeting_card.isVisible(), "it was not closed for good"


def test_the_way_to_the_next_lesson_and_back(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    guide = begin(qtbot, window, "01")
    assert guide.panel is not None and not guide.panel.previous.isEnabled()
    press(qtbot, guide.panel.next)
    settle(qtbot, window)
    assert "dense layer" in guide.panel.title.text().lower()
    press(qtbot, guide.panel.previous)
    settle(qtbot, window)
    assert "commuting square" in guide.panel.title.text().lower()
    assert guide.panel.place.text().startswith(f"Lesson 1 of {len(PATHS)}")


@pytest.mark.slow
def test_what_was_done_is_kept_until_one_begins_again(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    guide = begin(qtbot, window, "18")
    click_tab(qtbot, window, "filters")
    ticked(qtbot, guide, True, False, False)
    begin(qtbot, window, "17")
    begin(qtbot, window, "18")
    assert guide.walk.done == [True, False, False]
    guide.begin_again()
    settle(qtbot, window)
    ticked(qtbot, guide, False, False, False)


@pytest.mark.slow
def test_the_step_is_in_sight_while_the_page_is_behind(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    guide = begin(qtbot, window, "20")
    strip = guide.strip
    assert strip is not None
    qtbot.waitUntil(lambda: not strip.isVisible())
    window.show_view("layers")
    qtbot.waitUntil(strip.isVisible)
    assert "relu3" in strip.card.text.text()
    window.controller.change({"layer": "relu3"})
    qtbot.waitUntil(lambda: strip.card.parts.text() == "2 of 4")
    assert guide.panel is not None
    guide.panel.hide()  # the way back is by its tab, and without one by a button
    qtbot.waitUntil(strip.page_button.isVisible)
    press(qtbot, strip.page_button)
    qtbot.waitUntil(lambda: not strip.isVisible())


@pytest.mark.slow
def test_what_is_meant_pulses_and_stops(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    guide = begin(qtbot, window, "18")
    pulse = guide.pulse
    assert pulse is not None
    qtbot.waitUntil(lambda: pulse.running)
    place = place_of(window, guide.walk.tasks[0])
    tabs = window.panes.tabBar()
    assert place is not None and place.center().y() == tabs.mapTo(window, tabs.rect().center()).y()
    assert pulse.geometry().contains(place)
    qtbot.waitUntil(lambda: not pulse.running and not pulse.isVisible(), timeout=10_000)


@pytest.mark.slow
def test_a_menu_that_a_step_names_is_framed(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    guide = begin(qtbot, window, "43")
    step = next(k for k, task in enumerate(guide.walk.tasks) if "Model › Compare with" in task.do)
    guide.show_step(step)
    bar, pulse = window.menuBar(), guide.pulse
    menu = next(action for action in bar.actions() if action.text() == "&Model")
    assert pulse is not None
    qtbot.waitUntil(pulse.isVisible)
    at = bar.mapTo(window, bar.actionGeometry(menu).center())
    assert pulse.geometry().contains(at) and pulse.width() < 120, "the menu, not the panel of the models"


@pytest.mark.slow
def test_a_control_that_is_meant_is_framed(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    guide = begin(qtbot, window, "03")
    guide.show_step(0)  # the slider of the sharing
    view = window.panes.named("inspector")
    assert view is not None
    qtbot.waitUntil(lambda: (r := place_of(window, guide.walk.tasks[0])) is not None and r.height() < 60)


def test_where_the_named_view_is_seen_the_control_is_pointed_at(qtbot: QtBot, open_window: Open) -> None:
    """Two clicks on "Show me" framed *Matrix* twice, and what is to be moved was out of sight."""
    window = open_window(State(model="dense-to-conv", sample="letter-f"))
    guide = begin(qtbot, window, "05")
    step = guide.panel.cards[0]
    for _ in range(2):
        press(qtbot, step.show_button)
    inspector = window.panes.named("inspector")
    assert inspector is not None and "matrix" in in_sight(window)
    reach = next(c for c in inspector.findChildren(ParamControl) if c.param.name == "delta")
    qtbot.waitUntil(lambda: not reach.visibleRegion().isEmpty())
    task = guide.walk.tasks[0]
    qtbot.waitUntil(lambda: place_of(window, task) == QRect(reach.mapTo(window, QPoint(0, 0)), reach.size()))


def test_a_lesson_named_from_where_the_program_runs_is_a_lesson(
    qtbot: QtBot, open_window: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    monkeypatch.chdir(LESSONS.parent)
    window.controller.open_session(f"lessons/{PATHS['18'].name}")
    guide = window.files.guide
    qtbot.waitUntil(lambda: guide.panel.isVisible() and guide.panel.place.text() != "", timeout=LONGEST_MS)
    assert "18" in guide.panel.place.text() and guide.panel.previous.isVisible()
    assert window.files.session_path == "", "saving would write over the lesson"


def test_nothing_moves_where_motion_is_reduced(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    window.menus.actions["reduce_motion"].trigger()
    assert motion.reduced() and motion.kept(window.settings) and not window.isAnimated()
    guide = begin(qtbot, window, "18")
    pulse = guide.pulse
    assert pulse is not None
    qtbot.waitUntil(pulse.isVisible)
    assert not pulse.running
    window.greeting_card.chosen.emit("turn")
    assert window.controller.state.step("rotate") is not None
    assert not window.greeting.runs(), "it is there at once"
    window.menus.actions["reduce_motion"].trigger()
    assert not motion.reduced()


@pytest.mark.slow
def test_a_lesson_in_the_old_form_is_read_as_before(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    text = "Before.\n\n**Do this**\n\n1. Turn it.\n\n**Look at** that. ![x](file:///etc/passwd)\n"
    save_session(tmp_path / "old.json", State(sample="digit-7"), {"title": "Old", "text": text})
    window.controller.open_session(str(tmp_path / "old.json"))
    settle(qtbot, window)
    panel = window.files.guide.panel
    assert panel is not None and "Turn it." in panel.plain_text() and not panel.cards
    assert "passwd" not in panel.before.text()
    assert not panel.next.isVisible() and panel.place.text() == ""


def test_a_lesson_of_ones_own_is_noticed_too(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    tasks = read_tasks([{"do": "Take ![it](file:///etc/passwd) back.", "when": {"steps": False}}])
    start = State(sample="digit-7", steps=load_session(PATHS["17"]).state.steps)
    save_session(tmp_path / "mine.json", start, {"title": "Mine"}, tasks=tasks)
    window.controller.open_session(str(tmp_path / "mine.json"))
    settle(qtbot, window)
    window.controller.reset()
    ticked(qtbot, window.files.guide, True)
    assert "passwd" not in window.files.guide.panel.cards[0].text.text()  # type: ignore[union-attr]


@pytest.mark.slow
def test_a_window_of_1000_pixels_stays_that_wide_after_lessons(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    for number in ("74", "57", "23"):  # the surface is wide, and behind another tab it must not matter
        begin(qtbot, window, number)
    window.resize(1000, 700)
    qtbot.waitUntil(lambda: window.width() <= 1000)
    guide = window.files.guide
    assert guide.panel is not None
    guide.panel.raise_()
    page = guide.panel.page
    qtbot.waitUntil(lambda: page.width() <= guide.panel.area.viewport().width())  # type: ignore[union-attr]
    for card in guide.panel.cards:
        right = card.text.mapTo(guide.panel.area, QPoint(card.text.width(), 0)).x()
        assert right <= guide.panel.area.width()


def test_the_first_lesson_can_be_done_with_the_keyboard_alone(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    activate(qtbot, window)
    guide = begin(qtbot, window, "01")
    none = [False] * 4

    def keys(*pressed: Qt.Key, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        for key in pressed:
            widget = window.focusWidget()
            assert widget is not None
            qtbot.keyClick(widget, key, held)
            settle(qtbot, window)

    keys(Qt.Key.Key_Right)
    ticked(qtbot, guide, True, *none[1:])
    keys(Qt.Key.Key_BracketLeft)
    ticked(qtbot, guide, True, True, *none[2:])
    keys(Qt.Key.Key_0, Qt.Key.Key_Z, held=Qt.KeyboardModifier.ControlModifier)
    ticked(qtbot, guide, True, True, True, False)
    keys(Qt.Key.Key_PageDown)
    keys(Qt.Key.Key_Down, held=Qt.KeyboardModifier.ShiftModifier)
    ticked(qtbot, guide, True, True, True, True)


def test_a_long_name_of_a_layer_is_broken_in_its_card_and_code_is_not() -> None:
    """The end of "stacks.decoder.0.cross_attention.attention" was cut off."""
    name = "stacks.decoder.0.cross_attention.attention"
    words = rich(f"Select *{name}*, `{name}`.").split(", ")
    assert name not in words[0] and name in words[0].replace("\N{ZERO WIDTH SPACE}", "")
    assert name in words[1]
