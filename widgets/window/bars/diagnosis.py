"""Say below the views what was found, in a whole sentence; where nothing was tested, why, and what to do."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

from explorer.declare.elements import chain_text
from explorer.square.frame import Frame, Square
from widgets.base.look import theme
from widgets.base.text.words import move, untested, verdict_colour_role, verdict_sentence

HIGH = 34  # pixels: one height, so that nothing jumps in a drag


class Diagnosis(QFrame):
    """One line of one height under the centre of the window."""

    show_asked = Signal()  # an element of this kind of data that shows something
    exact_asked = Signal()  # the nearest element that permutes places
    try_asked = Signal()  # symmetric versions of the guilty layer

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("diagnosis")
        self.setFixedHeight(HIGH)
        self._whole, self._stale, self._role = "", "", "muted"
        self._frame: Frame | None = None
        self.dot = QLabel()
        self.dot.setFixedSize(10, 10)
        self.text = QLabel(textFormat=Qt.TextFormat.PlainText)
        self.text.setAccessibleName("Diagnosis")
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.button = QPushButton()
        self.button.setAutoDefault(False)
        self.button.clicked.connect(self._asked)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 3, 8, 3)
        row.setSpacing(8)
        row.addWidget(self.dot)
        row.addWidget(self.text, 1)
        row.addWidget(self.button)
        self.show_frame(None)

    def show_frame(self, frame: Frame | None) -> None:
        """Say what the squares of a frame have shown, the first one's reason first."""
        self._frame = frame
        squares = frame.squares if frame is not None else ()
        self.setVisible(bool(squares))
        if not squares:
            return
        reason = untested(squares[0])
        several = len(squares) > 1
        self._whole = reason or "   ·   ".join(_said(square, several) for square in squares)
        self._role = "muted" if reason else verdict_colour_role(squares[0])
        self._offer(squares[0], frame)
        self._write()

    def _offer(self, square: Square, frame: Frame | None) -> None:
        """Offer a way out where nothing was tested."""
        resampled = square.verdict == "no law" and frame is not None and bool(frame.state.steps)
        self.button.setVisible(bool(untested(square)))
        if square.verdict == "unmoved":
            self.button.setText(f"{move(square).capitalize()}")
            self.button.setToolTip("Take an element that permutes places")
        else:
            self.button.setText("Nearest exact element")
            now = chain_text(frame.state.steps) if frame is not None else ""
            self.button.setToolTip(f"The nearest to {now} that permutes places, so that there is a verdict")
            self.button.setVisible(resampled)
        if square.verdict == "broken" and square.guilty:
            self.button.setText("Try a symmetric version")
            self.button.setToolTip(f"Would the law hold if {square.guilty[0]} were symmetric?")
            self.button.setVisible(True)

    def _asked(self) -> None:
        squares = self._frame.squares if self._frame is not None else ()
        if squares:
            ways = {"unmoved": self.show_asked, "broken": self.try_asked}
            ways.get(squares[0].verdict, self.exact_asked).emit()

    def show_stale(self, text: str) -> None:
        """Say that the verdict belongs to another element; "" shows it again."""
        self._stale = text
        self._write()

    def _write(self) -> None:
        whole = self._stale.capitalize() if self._stale else self._whole
        metrics, room = self.text.fontMetrics(), max(0, self.text.width() - 4)
        self.text.setText(metrics.elidedText(whole, Qt.TextElideMode.ElideRight, room) if room else whole)
        self.text.setToolTip(whole)
        self.button.setEnabled(not self._stale)
        t = theme.current()
        role = "muted" if self._stale else self._role
        self.dot.setStyleSheet(f"background: {getattr(t, role)}; border-radius: 5px;")
        self.text.setStyleSheet(f"color: {t.text if role != 'muted' else t.muted};")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._write()

    def apply_theme(self) -> None:
        t = theme.current()
        self.setStyleSheet(f"#diagnosis {{ background: {t.window}; border-top: 1px solid {t.line}; }}")
        self._write()


def _said(square: Square, named: bool) -> str:
    sentence = verdict_sentence(square)
    name = f"{square.title}: " if named else ""
    return f"{name}{sentence[:1].upper()}{sentence[1:]}" + (f" — {'; '.join(square.hints)}" if square.hints else "")
