"""A box of choices that says where its text is cut off: Qt clips it in the middle of a letter."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox, QToolTip


class ElidedCombo(QComboBox):
    """A combo box whose text ends in an ellipsis where it has no room; the tool tip then has all of it."""

    def shown_text(self) -> str:
        """Return the text as it is painted."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        return option.currentText

    def initStyleOption(self, option: QStyleOptionComboBox) -> None:
        super().initStyleOption(option)
        whole, field = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(whole, option, field, self).width() - 4
        option.currentText = self.fontMetrics().elidedText(option.currentText, Qt.TextElideMode.ElideRight, room)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and (text := self.currentText()) != self.shown_text():
            QToolTip.showText(event.globalPos(), f"{text}\n{self.toolTip()}".strip(), self)
            return True
        return super().event(event)
