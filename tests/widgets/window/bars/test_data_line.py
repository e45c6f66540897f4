"""The line about the data, above the stage."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from widgets.window.bars.data_line import DataLine


def test_data_of_which_nothing_is_known_yet_have_their_title_alone(qtbot: QtBot) -> None:
    line = DataLine()
    qtbot.addWidget(line)
    line.show_notes("Digit 3", ("",), choices=False)
    assert line.text.text() == line.toolTip() == "Digit 3"
    line.show_notes("Digit 3", (), choices=False)
    assert line.text.text() == "Digit 3: as it is"
