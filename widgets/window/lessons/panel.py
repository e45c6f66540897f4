"""The page of a lesson beside the stage: its text, its steps, and the way to the other lessons."""

from __future__ import annotations

import html
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from explorer.state.lessons.tasks import around
from explorer.state.lessons.walk import Walk
from explorer.state.session import Session
from widgets.base.controls.progress import Progress
from widgets.base.look import theme
from widgets.base.text.indices import with_indices
from widgets.base.text.markdown import rich
from widgets.window.lessons.card import StepCard, wrapped


class LessonPanel(QDockWidget):
    """Says what the person asks for and shows what it is told."""

    turned = Signal(int)  # to the lesson before (-1) or behind (+1)
    show_asked = Signal(int)
    seen = Signal(int)
    revealed = Signal(int)
    again = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__("Lesson", window)
        self.setObjectName("lesson")
        self.previous, self.next = QToolButton(autoRaise=True), QToolButton(autoRaise=True)
        for button, arrow, tip, by in (
            (self.previous, Qt.ArrowType.LeftArrow, "Previous lesson", -1),
            (self.next, Qt.ArrowType.RightArrow, "Next lesson", 1),
        ):
            button.setArrowType(arrow)
            button.setToolTip(tip)
            button.setAccessibleName(tip)
            button.clicked.connect(partial(self._turn, by))
        self.place = QLabel(alignment=Qt.AlignmentFlag.AlignCenter)
        self.bar = Progress(textVisible=False)
        self.bar.setFixedHeight(4)
        self.bar.setAccessibleName("Lessons done")
        self.title, self.before, self.behind, self.equation = wrapped(), wrapped(), wrapped(), wrapped()
        self.cards: list[StepCard] = []
        self._steps = QVBoxLayout()
        self._steps.setSpacing(2)
        self.restart = QPushButton("Begin again")
        self.restart.setToolTip("Go back to how the lesson begins, and take the ticks away")
        self.restart.clicked.connect(self.again)
        self.onward = QPushButton("Next lesson")
        self.onward.clicked.connect(partial(self._turn, 1))
        self._build()
        self.apply_theme()

    def _turn(self, by: int) -> None:
        self.turned.emit(by)

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(6, 4, 6, 2)
        head.addWidget(self.previous)
        head.addWidget(self.place, 1)
        head.addWidget(self.next)
        self.page = QWidget()
        self.page.setObjectName("lesson_page")
        column = QVBoxLayout(self.page)
        column.setContentsMargins(12, 10, 12, 12)
        column.setSpacing(9)
        for widget in (self.title, self.before):
            column.addWidget(widget)
        column.addLayout(self._steps)
        for widget in (self.behind, self.equation):
            column.addWidget(widget)
        last = QHBoxLayout()
        last.addWidget(self.restart)
        last.addWidget(self.onward)
        last.addStretch(1)
        column.addLayout(last)
        column.addStretch(1)
        self.area = QScrollArea(widgetResizable=True)
        self.area.setFrameShape(QFrame.Shape.NoFrame)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setWidget(self.page)
        whole = QWidget()
        outer = QVBoxLayout(whole)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addLayout(head)
        outer.addWidget(self.bar)
        outer.addWidget(self.area, 1)
        self.setWidget(whole)

    def sizeHint(self) -> QSize:
        return QSize(320, 400)

    # what is told -----------------------------------------------------------------------------------------
    def show_session(self, session: Session) -> None:
        """Show a lesson from its beginning."""
        before, behind = around(session.text) if session.tasks else (session.text, "")
        self.title.setText(f"<h3 style='margin:0'>{html.escape(session.title)}</h3>")
        self.title.setVisible(bool(session.title))
        for label, text in ((self.before, before), (self.behind, behind)):
            label.setText(rich(text))
            label.setVisible(bool(text))
        # line by line, not as a code block, whose lines do not wrap and would ask for a wider panel
        lines = "<br>".join(with_indices(html.escape(line)) for line in session.equation.split("\n"))
        self.equation.setText(f"<span style='font-family:monospace'>{lines}</span>")
        self.equation.setVisible(bool(session.equation))
        while self.cards:
            card = self.cards.pop()
            self._steps.removeWidget(card)
            card.setParent(None)
            card.deleteLater()
        for k, task in enumerate(session.tasks):
            card = StepCard()
            card.show_task(k, task)
            card.show_asked.connect(self.show_asked)
            card.seen.connect(self.seen)
            card.revealed.connect(self.revealed)
            self._steps.addWidget(card)
            self.cards.append(card)
        self.restart.setVisible(bool(session.tasks))
        self.area.verticalScrollBar().setValue(0)

    def show_walk(self, walk: Walk, answered: set[int]) -> None:
        """Show which steps are done."""
        held = QApplication.focusWidget()
        for k, card in enumerate(self.cards):
            card.show_state(walk.done[k], k == walk.current, walk.parts(k), k in answered)
        if held is not None and held.isHidden() and any(card.isAncestorOf(held) for card in self.cards):
            # a button has gone with its step: who works by keys goes on at the next one, and not far off
            buttons = self.cards[walk.current].findChildren(QPushButton) if 0 <= walk.current < len(self.cards) else []
            next((button for button in buttons if not button.isHidden()), self.restart).setFocus()

    def show_place(self, number: int, done: int, of: int) -> None:
        """Show which lesson this is, counted from 1 (0: one of somebody's own), and how many of all are done."""
        self.place.setText(f"Lesson {number} of {of} · {done} done" if number else "")
        self.bar.setRange(0, max(1, of))
        self.bar.setValue(done)
        self.bar.setVisible(bool(number))
        self.previous.setVisible(bool(number))
        self.next.setVisible(bool(number))
        self.previous.setEnabled(number > 1)
        self.next.setEnabled(0 < number < of)
        self.onward.setVisible(0 < number < of)

    def bring_card(self, k: int) -> None:
        """Scroll to a step."""
        if k == 0:
            self.area.verticalScrollBar().setValue(0)
        elif k < len(self.cards):
            self.area.ensureWidgetVisible(self.cards[k], 0, 12)

    def plain_text(self) -> str:
        """Return all that can be read, as text."""
        shown = [self.title, self.before, *(card.text for card in self.cards), self.behind, self.equation]
        from PySide6.QtGui import QTextDocumentFragment

        return "\n".join(QTextDocumentFragment.fromHtml(label.text()).toPlainText() for label in shown)

    def apply_theme(self) -> None:
        t = theme.current()
        self.page.setStyleSheet(f"QWidget#lesson_page {{ background: {t.panel}; }}")
        self.place.setStyleSheet(f"color: {t.muted};")
        self.equation.setStyleSheet(f"color: {t.accent};")
        self.bar.setStyleSheet(
            f"QProgressBar {{ background: {t.raised}; border: none; }}QProgressBar::chunk {{ background: {t.good}; }}"
        )
        for card in self.cards:
            card.apply_theme()
