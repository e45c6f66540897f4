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


def test_what_was_done_for_the_network_is_told_before_what_the_file_was(qtbot: QtBot) -> None:
    """The last note was the first to go, and it is the one that says what of a picture was cut off."""
    line = DataLine()
    qtbot.addWidget(line)
    notes = ("16-bit, scaled by 1/65535", "colour turned grey (Rec. 709)", "260x400 cropped to 260x260")
    line.show_notes("photo.png", notes, choices=True)
    metrics = line.text.fontMetrics()
    for told in ((*notes[1:],), (notes[2],)):
        text = f"photo.png: {' · '.join(told)} · and {len(notes) - len(told)} more"
        line.resize(metrics.horizontalAdvance(text) + line.button.sizeHint().width() + 60, 36)
        qtbot.waitUntil(lambda text=text: line.text.text() == text)
    line.resize(2000, 36)
    qtbot.waitUntil(lambda: line.text.text() == f"photo.png: {' · '.join(notes)}")
