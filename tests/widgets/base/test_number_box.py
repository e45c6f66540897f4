"""A box of a number writes a true minus and reads either sign, in the whole window too."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from explorer.declare.elements import parse_chain
from explorer.state.state import State
from tests.widgets.parts.driving.windows import LONGEST_MS, Open
from widgets.base.controls.number import NumberBox


@pytest.mark.parametrize("typed", ["-3.5", "−3.5"])
def test_a_typed_hyphen_and_a_pasted_minus_are_the_same_number(qtbot: QtBot, typed: str) -> None:
    box = NumberBox(minimum=-10, maximum=10, decimals=1, suffix=" px")
    qtbot.addWidget(box)
    line = box.lineEdit()
    assert line is not None
    line.selectAll()
    line.insert(typed)
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert box.value() == -3.5
    assert box.text() == "−3.5 px"


@pytest.mark.parametrize(("typed", "taken"), [("270", -90), ("-450", -90), ("540", 180), ("180", 180), ("90", 90)])
def test_what_goes_round_may_be_typed_beyond_its_range(qtbot: QtBot, typed: str, taken: float) -> None:
    box = NumberBox(minimum=-180, maximum=180, decimals=1, suffix="°", wrapping=True)
    qtbot.addWidget(box)
    box.selectAll()
    qtbot.keyClicks(box, typed)
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert abs(box.value()) == 180 if taken == 180 else box.value() == taken


def test_other_numbers_stay_in_their_range(qtbot: QtBot) -> None:
    box = NumberBox(minimum=-10, maximum=10)
    qtbot.addWidget(box)
    box.selectAll()
    qtbot.keyClicks(box, "27")
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert box.value() == 2


def test_the_window_shows_a_shift_to_the_left_with_a_true_minus(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State("d4-cnn", device="cpu", steps=parse_chain("translate:-2,0")))
    qtbot.waitUntil(lambda: any(b.text() == "−2.0 px" for b in window.findChildren(NumberBox)), timeout=LONGEST_MS)
    boxes = [b for b in window.findChildren(NumberBox) if b.text() == "−2.0 px"]
    boxes[0].setFocus()
    boxes[0].selectAll()
    qtbot.keyClicks(boxes[0], "-3")
    qtbot.keyClick(boxes[0], Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.controller.state.steps[0].values[0] == -3, timeout=LONGEST_MS)
    assert boxes[0].text() == "−3.0 px"
