"""One step of a lesson: its tick, what to do, and the buttons that show where, and what the answer is."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from explorer.state.lessons.tasks import Task
from widgets.base.controls.flow import Flow
from widgets.base.look import theme
from widgets.base.text.markdown import rich

MARK = 22  # pixels


def wrapped(text: str = "") -> QLabel:
    """Return a label of rich text that wraps and never asks for a wider panel."""
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.RichText)
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
    policy.setHeightForWidth(True)
    label.setSizePolicy(policy)
    return label


class StepCard(QFrame):
    """Shows one step; what is done about it is decided elsewhere."""

    show_asked = Signal(int)
    seen = Signal(int)  # the person says so
    revealed = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("step")
        self._number, self._done, self._current = 0, False, False
        self._task = Task("")
        self.mark = QLabel(alignment=Qt.AlignmentFlag.AlignCenter)
        self.mark.setFixedSize(MARK, MARK)
        self.text, self.answer, self.parts = wrapped(), wrapped(), QLabel()
        self.show_button = self._button("Show me", "Bring what is meant to the front", self.show_asked)
        self.seen_button = self._button("Seen", "Only looked at: tick it yourself", self.seen)
        self.reveal_button = self._button("Reveal", "Show the answer, once you have yours", self.revealed)
        row = Flow()
        for widget in (self.show_button, self.seen_button, self.reveal_button, self.parts):
            row.addWidget(widget)
        column = QVBoxLayout()
        column.setSpacing(5)
        column.addWidget(self.text)
        column.addWidget(self.answer)
        column.addLayout(row)
        outer = QHBoxLayout(self)
        outer.setContentsMargins(8, 7, 8, 7)
        outer.setSpacing(9)
        outer.addWidget(self.mark, 0, Qt.AlignmentFlag.AlignTop)
        outer.addLayout(column, 1)

    def _button(self, title: str, tip: str, signal: object) -> QPushButton:
        button = QPushButton(title)
        button.setToolTip(tip)
        button.clicked.connect(lambda: signal.emit(self._number))  # type: ignore[attr-defined]
        return button

    def show_task(self, number: int, task: Task) -> None:
        """Show a step, counted from 0."""
        self._number, self._task = number, task
        self.text.setText(rich(task.do))
        self.answer.setText(rich(task.reveal))
        self.answer.hide()

    def show_state(self, done: bool, current: bool, parts: tuple[int, int], answered: bool) -> None:
        """Show whether it is done, is the next to be done, how much of it, and whether the answer may be read."""
        self._done, self._current = done, current
        self.mark.setText("✓" if done else str(self._number + 1))
        self.setAccessibleName(f"Step {self._number + 1}{', done' if done else ''}")
        task = self._task
        self.answer.setVisible(answered and bool(task.reveal))
        # buttons where they are of use, so that the steps stand close together
        self.show_button.setVisible(current and bool(task.show or task.patterns))
        self.seen_button.setVisible(not done and not task.patterns and not task.reveal)
        self.reveal_button.setVisible(not answered and bool(task.reveal))
        seen, of = parts
        self.parts.setText(f"{seen} of {of}")
        self.parts.setVisible(0 < seen < of and not done)
        self.apply_theme()

    def apply_theme(self) -> None:
        t = theme.current()
        ground, ink = (t.good, t.panel) if self._done else (t.accent, t.panel) if self._current else (t.raised, t.muted)
        self.mark.setStyleSheet(f"background: {ground}; color: {ink}; border-radius: {MARK // 2}px; font-weight: 700;")
        line = t.accent if self._current and not self._done else "transparent"
        self.setStyleSheet(f"QFrame#step {{ border: none; border-left: 3px solid {line}; }}")
        self.answer.setStyleSheet(f"background: {t.raised}; padding: 5px; border-radius: 4px;")
        self.parts.setStyleSheet(f"color: {t.muted};")
