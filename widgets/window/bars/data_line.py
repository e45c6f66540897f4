"""The line above the stage that tells what was done to the data before the network got them; a click changes it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QWidget

from widgets.base.look import theme


class DataLine(QFrame):
    """Hidden where the data go into the network as they are; a click on it offers the alternatives."""

    asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("dataline")
        self.setAccessibleName("What was done to the data")
        self.setToolTip("How the data were read and fitted to the network")
        self.text = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        # a long sentence wraps; it never makes the window wider
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.text.setSizePolicy(policy)
        self.button = QToolButton()
        self.button.setText("Change…")
        self.button.setToolTip("Read it as something else, choose columns, crop or pad: with a preview")
        self.button.setAccessibleName("Change how the data are read and fitted")
        self.button.clicked.connect(self.asked)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 2, 6, 2)
        row.setSpacing(8)
        row.addWidget(self.text, 1)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()
        self.apply_theme()

    def show_notes(self, title: str, notes: Sequence[str], choices: bool) -> None:
        """Tell the conversions of some data; `choices` says whether there is another way."""
        if not notes and not choices:
            self.hide()
            return
        told = " · ".join(notes) or "as it is"
        self.text.setText(f"{title}: {told}")
        self.button.setVisible(choices)
        self.setCursor(Qt.CursorShape.PointingHandCursor if choices else Qt.CursorShape.ArrowCursor)
        self.show()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.button.isVisible():
            self.asked.emit()

    def apply_theme(self) -> None:
        t = theme.current()
        self.setStyleSheet(f"#dataline {{ background: {t.window}; border: none; border-bottom: 1px solid {t.line}; }}")
        self.text.setStyleSheet(f"color: {t.muted};")
