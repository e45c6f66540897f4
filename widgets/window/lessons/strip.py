"""The step that a lesson is at, while the page of the lesson is behind another panel: below that panel."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton, QWidget

from explorer.state.lessons.tasks import Task
from explorer.state.lessons.walk import Walk
from widgets.base.look import theme
from widgets.base.look.icons import icon
from widgets.window.lessons.card import StepCard


class LessonStrip(QFrame):
    """One step, and the way back to the page."""

    page_asked = Signal()
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("lesson_strip")
        self.setAccessibleName("Lesson")
        self.card, self.finished = StepCard(), QLabel("All steps of this lesson are done.")
        self.page_button = QPushButton("Lesson")
        self.page_button.setToolTip("Back to the page of the lesson")
        self.page_button.clicked.connect(self.page_asked)
        self.close_button = QToolButton(autoRaise=True)
        self.close_button.setToolTip("Leave the lesson; Help ▸ Lessons brings it back")
        self.close_button.setAccessibleName("Leave the lesson")
        self.close_button.clicked.connect(self.closed)
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 2, 6, 2)
        row.setSpacing(6)
        row.addWidget(self.card, 1)
        row.addWidget(self.finished, 1)
        row.addWidget(self.page_button, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()
        self.apply_theme()

    def show_walk(self, walk: Walk, answered: set[int], riddle: bool = False) -> None:
        """Show the step that is to be done next; with a `riddle`, in the end the one that has its answer."""
        k = walk.current
        if riddle and walk.finished:
            k = next((i for i, t in enumerate(walk.tasks) if t.names_layer and i not in answered), k)
        self.card.setVisible(k < len(walk.tasks))
        self.finished.setVisible(k >= len(walk.tasks))
        if k < len(walk.tasks):
            task: Task = walk.tasks[k]
            self.card.show_task(k, task)
            self.card.show_state(walk.done[k], True, walk.parts(k), k in answered)

    def apply_theme(self) -> None:
        t = theme.current()
        self.setStyleSheet(f"QFrame#lesson_strip {{ background: {t.panel}; border-bottom: 1px solid {t.line}; }}")
        self.finished.setStyleSheet(f"color: {t.good}; padding-left: 8px;")
        self.close_button.setIcon(icon("close"))
        self.card.apply_theme()
