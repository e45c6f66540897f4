"""A box of choices without room for its text: an ellipsis, and all of it in the tool tip."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from widgets.base.controls.elided_combo import ElidedCombo

LONG = "Deep convolutional GAN of faces (DCGAN)"


def test_what_has_no_room_ends_in_an_ellipsis_and_the_tip_has_it_all(qtbot: QtBot) -> None:
    combo = ElidedCombo()
    combo.setToolTip("Which network")
    combo.addItem(LONG)
    qtbot.addWidget(combo)
    combo.resize(600, 26)
    with qtbot.waitExposed(combo):
        combo.show()
    wide = combo.grab().toImage()
    assert combo.shown_text() == LONG
    combo.resize(140, 26)
    assert combo.shown_text().endswith("…") and LONG.startswith(combo.shown_text()[:-1])
    painted = combo.grab().toImage()
    assert painted.copy(0, 0, 110, 26) != wide.copy(0, 0, 110, 26), "the end of the text is another one"
    asked = QHelpEvent(QEvent.Type.ToolTip, QPoint(5, 5), combo.mapToGlobal(QPoint(5, 5)))
    QApplication.sendEvent(combo, asked)
    assert QToolTip.text() == f"{LONG}\nWhich network"
