"""A message comes in the place of the line about the data: what is below stays where it is."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPointF, QRect, QTimer
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from widgets.window.bars import infobar
from widgets.window.bars.data_line import DataLine
from widgets.window.bars.head import Head
from widgets.window.bars.infobar import InfoBar

SHORT, LONG = "Saved d4-cnn.png", " ".join(f"A sentence with {k} words and more of them." for k in range(40))


class Room:
    """A column of a head and what is below it, as wide as the middle of a small window."""

    def __init__(self, qtbot: QtBot, choices: bool) -> None:
        self.qtbot, self.message, self.line, self.below = qtbot, InfoBar(), DataLine(), QWidget()
        self.center = QWidget()
        qtbot.addWidget(self.center)
        column = QVBoxLayout(self.center)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.head = Head(self.message, self.line, self.center)
        column.addWidget(self.head)
        column.addWidget(self.below, 1)
        self.line.show_notes("photo.png", ("cropped to 240x240",), choices)
        self.center.resize(520, 300)
        with qtbot.waitExposed(self.center):
            self.center.show()

    def say(self, level: str, text: str) -> QRect:
        """Say something, and return where what is below lies once that is painted."""
        self.message.say(level, text)
        self.qtbot.waitUntil(lambda: self.message.height() >= self.message.heightForWidth(self.message.width()))
        return self.laid_out()

    def laid_out(self) -> QRect:
        """Return where what is below lies once all that waits is laid out."""
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
        return self.below.geometry()


@pytest.mark.parametrize("level", ["info", "warning", "error"])
@pytest.mark.parametrize("choices", [False, True])
def test_a_message_of_one_line_moves_nothing(qtbot: QtBot, level: str, choices: bool) -> None:
    room = Room(qtbot, choices)
    before = room.below.geometry()
    assert room.say(level, SHORT) == before
    assert room.message.geometry().bottom() < before.top()
    room.message.hide()
    assert room.laid_out() == before


@pytest.mark.parametrize("level", ["info", "warning", "error"])
def test_a_long_message_hangs_over_what_is_below_and_moves_nothing(qtbot: QtBot, level: str) -> None:
    """A sentence of two lines that stays until it is read pushed the tabs and the stage down."""
    room = Room(qtbot, choices=False)
    before = room.below.geometry()
    assert room.say(level, LONG) == before
    assert room.message.geometry().bottom() > before.top()  # all of it can be read
    assert room.message.height() >= room.message.heightForWidth(room.message.width())


def test_what_stays_folds_to_its_first_line_and_unfolds_under_the_mouse(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(infobar, "GONE_MS", 50)
    monkeypatch.setattr(infobar, "FOLD_MS", 50)
    room = Room(qtbot, choices=False)
    message = room.message
    before, _ = room.below.geometry(), room.say("error", LONG)
    qtbot.waitUntil(lambda: message.folded)
    assert room.laid_out() == before and message.geometry().bottom() < before.top() and message.isVisible()
    assert message.more.isVisible() and message.text.text() == LONG
    assert message.text.height() < 2 * message.text.fontMetrics().height(), "half a second line is read by nobody"
    for kind, folded in ((QEvent.Type.Enter, False), (QEvent.Type.Leave, True)):
        at = QPointF(20, 5)
        QApplication.sendEvent(message, QEnterEvent(at, at, at) if kind == QEvent.Type.Enter else QEvent(kind))
        qtbot.waitUntil(lambda: message.folded is folded)  # noqa: B023
        assert room.laid_out() == before and message.isVisible()
        assert (message.height() > 2 * message.line) is not folded
    room.say("error", SHORT)
    assert not message.folded and not message.more.isVisible()
    qtbot.wait(100)
    assert not message.folded, "one line is all of it"


def test_one_line_that_becomes_several_in_a_narrow_window_folds_too(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(infobar, "GONE_MS", 0)
    monkeypatch.setattr(infobar, "FOLD_MS", 50)
    room = Room(qtbot, choices=False)
    room.center.resize(3000, 300)
    room.laid_out()
    room.message.say("error", LONG[:200])
    room.laid_out()
    room.message.fold(True)
    assert not room.message.folded, "there it is one line"
    # its time is over
    qtbot.waitUntil(lambda: not any(timer.isActive() for timer in room.message.findChildren(QTimer)))
    room.center.resize(700, 300)
    qtbot.waitUntil(lambda: room.message.folded)


def test_the_data_can_be_changed_while_a_message_is_shown(qtbot: QtBot) -> None:
    room = Room(qtbot, choices=True)
    room.say("info", SHORT)
    button = room.line.button
    assert button.visibleRegion().boundingRect() == button.rect()
    room.center.resize(700, 300)
    room.laid_out()
    assert room.message.geometry().right() < button.x() and button.visibleRegion().boundingRect() == button.rect()
