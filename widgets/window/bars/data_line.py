"""The line above the stage that tells what was done to the data before the network got them; a click changes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QWidget

from widgets.base.look import theme


class DataLine(QFrame):
    """In its place from the first frame on, so that no note moves the stage; a click on it offers the alternatives."""

    asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("dataline")
        self.setAccessibleName("What was done to the data")
        self.setToolTip("How the data were read and fitted to the network")
        self._title = ""
        self._notes: tuple[str, ...] = ()
        self.text = QLabel(textFormat=Qt.TextFormat.PlainText)
        self.text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.button = QToolButton()
        self.button.setText("Change…")
        self.button.setToolTip("Read it as something else, choose columns, crop or pad: with a preview")
        self.button.setAccessibleName("Change how the data are read and fitted")
        self.button.clicked.connect(self.asked)
        policy = self.button.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # one height, with and without it
        self.button.setSizePolicy(policy)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 2, 6, 2)
        row.setSpacing(8)
        row.addWidget(self.text, 1)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()
        self.apply_theme()

    def show_notes(self, title: str, notes: Sequence[str], choices: bool) -> None:
        """Tell the conversions of some data; `choices` says whether there is another way."""
        self._title, self._notes = title, tuple(notes)
        self._write()
        self.button.setVisible(choices)
        self.setCursor(Qt.CursorShape.PointingHandCursor if choices else Qt.CursorShape.ArrowCursor)
        self.show()

    def _write(self) -> None:
        """Write as many notes as one line has room for; how many more there are, and all of them in the tip.

        Of equally many those with the last one: what was done for the network, by which most may be lost.
        """
        notes = self._notes or ("as it is",)
        metrics, room = self.text.fontMetrics(), self.text.width() - 4
        lines = [_line(self._title, some, len(notes)) for some in _choices(notes)]
        line = next((line for line in lines if metrics.horizontalAdvance(line) <= room), lines[-1 if room > 0 else 0])
        self.text.setText(metrics.elidedText(line, Qt.TextElideMode.ElideRight, room) if room > 0 else line)
        self.setToolTip("\n".join([f"{self._title}:", *notes]) if any(notes) else self._title)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._write()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._write()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.button.isVisible():
            self.asked.emit()

    def apply_theme(self) -> None:
        t = theme.current()
        self.setStyleSheet(f"#dataline {{ background: {t.window}; border: none; border-bottom: 1px solid {t.line}; }}")
        self.text.setStyleSheet(f"color: {t.muted};")


def _choices(notes: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield which notes may be written, more of them first."""
    for shown in range(len(notes), 0, -1):
        yield notes[len(notes) - shown :]
        yield [*notes[: shown - 1], notes[-1]]
        yield notes[:shown]


def _line(title: str, some: Sequence[str], count: int) -> str:
    more = f" · and {count - len(some)} more" if len(some) < count else ""
    told = " · ".join(some)
    return f"{title}: {told}{more}" if told else title
