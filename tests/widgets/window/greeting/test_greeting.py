"""The card of the first start, in the whole window: its buttons do what they say, and it goes once and for all."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from explorer.state.state import State
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, settle
from widgets.window.main_window import MainWindow


def _press(qtbot: QtBot, button: QPushButton) -> None:
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def _turned(qtbot: QtBot, window: MainWindow) -> float:
    """Wait until nothing turns any more; return the angle that is shown."""
    qtbot.waitUntil(lambda: not window.greeting.turning.state().value, timeout=LONGEST_MS)
    settle(qtbot, window, measured=True)
    step = window.controller.frame.state.step("rotate")
    return step.values[0] if step is not None else 0.0


def test_it_greets_once_and_help_brings_it_back(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State())
    card = window.greeting_card
    assert not card.isVisible()  # only a start without a wish of one's own greets
    window.greeting.greet()
    assert card.isVisible()
    qtbot.mouseClick(card.close_button, Qt.MouseButton.LeftButton)
    assert not card.isVisible()
    window.greeting.greet()
    assert not card.isVisible()
    window.menus.actions["greeting"].trigger()
    assert card.isVisible()


@pytest.mark.slow
def test_another_start_with_the_same_settings_does_not_greet_again(qtbot: QtBot, open_window: Open) -> None:
    first = open_window(State())
    first.greeting.greet()
    qtbot.mouseClick(first.greeting_card.close_button, Qt.MouseButton.LeftButton)
    first.close()
    second = open_window(State())
    second.greeting.greet()
    assert not second.greeting_card.isVisible()


@pytest.mark.slow
def test_the_picture_turns_by_a_quarter_in_steps_and_one_undo_turns_it_back(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State())
    window.greeting.greet()
    seen: set[float] = set()
    window.controller.frame_ready.connect(lambda frame: seen.update(s.values[0] for s in frame.state.steps))
    _press(qtbot, window.greeting_card.buttons["turn"])
    turning = window.greeting.turning
    turning.pause()  # by the clock alone, a busy machine may draw nothing before it is over
    turning.setCurrentTime(turning.duration() // 3)
    settle(qtbot, window)
    turning.resume()
    assert _turned(qtbot, window) == 90.0
    assert any(0.0 < angle < 90.0 for angle in seen)  # it was seen turning
    assert window.controller.frame.squares[0].verdict == "holds"
    window.controller.undo()
    settle(qtbot, window)
    assert window.controller.frame.state.steps == ()


@pytest.mark.slow
def test_pressed_at_any_angle_it_ends_at_a_quarter(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State().with_step("rotate", (30.0,)))
    window.greeting.greet()
    _press(qtbot, window.greeting_card.buttons["turn"])
    assert _turned(qtbot, window) == 90.0


def test_an_ordinary_network_breaks_at_the_same_angle(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State().with_step("rotate", (90.0,)))
    window.greeting.greet()
    _press(qtbot, window.greeting_card.buttons["ordinary"])
    assert _turned(qtbot, window) == 90.0
    assert window.controller.frame.state.model == "plain-cnn"
    assert window.controller.frame.squares[0].verdict == "broken"


def test_one_press_is_one_undo(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    window.controller.reset()  # of a window that has begun with a turn
    settle(qtbot, window)
    before = window.controller.state
    assert not before.steps
    window.greeting.greet()
    _press(qtbot, window.greeting_card.buttons["ordinary"])
    assert _turned(qtbot, window) == 90.0 and window.controller.state.model == "plain-cnn"
    window.controller.undo()
    assert window.controller.state == before


@pytest.mark.slow
def test_where_nothing_can_be_turned_a_picture_takes_its_place(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="gcn"))
    window.greeting.greet()
    _press(qtbot, window.greeting_card.buttons["turn"])
    assert _turned(qtbot, window) == 90.0
    assert window.controller.frame.state.model == State().model


@pytest.mark.slow
def test_one_s_own_network_or_picture_is_a_click_away(
    qtbot: QtBot, open_window: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    window = open_window(State())
    window.greeting.greet()
    settle(qtbot, window)
    mine = tmp_path / "mine.png"
    picture = QImage(40, 40, QImage.Format.Format_RGB32)
    picture.fill(Qt.GlobalColor.red)
    assert picture.save(str(mine))
    asked: list[str] = []
    monkeypatch.setattr(window.files, "ask_open", lambda title, kinds: asked.append(kinds) or str(mine))
    _press(qtbot, window.greeting_card.buttons["mine"])
    first = asked[0].split(";;")[0]
    assert "*.png" in first and "*.safetensors" in first
    qtbot.waitUntil(lambda: window.controller.state.sample == str(mine), timeout=LONGEST_MS)
    settle(qtbot, window)
    assert window.infobar.isHidden()
