"""Say below the views what was found, in a whole sentence; where nothing was tested, why, and what to do."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from explorer.declare.elements import chain_text
from explorer.square.frame import Frame, Square
from widgets.base.look import theme
from widgets.base.look.icons import icon
from widgets.base.text.words import (
    move,
    named_in_brief,
    unjudged,
    untested,
    verdict_colour_role,
    verdict_in_brief,
    verdict_sentence,
)
from widgets.window.bars.culprits import Whole, culprit_beside, culprits, grouped_hints, verdict_text

BETWEEN = "   ·   "  # of two networks
HIGH = 34  # pixels: one height, so that nothing jumps in a drag


class Diagnosis(QFrame):
    """One line of one height under the centre of the window; opened, the whole of it and the guilty layers."""

    show_asked = Signal()  # an element of this kind of data that shows something
    exact_asked = Signal()  # the nearest element that permutes places
    try_asked = Signal()  # symmetric versions of the guilty layer
    layer_asked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("diagnosis")
        self._whole, self._stale, self._role = "", "", "muted"
        self._shorter: tuple[str, ...] = ()  # the same, for less and less room
        self._withheld = ""
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
        self.before = _small("‹", "The guilty layer before this one, by what it does to the answer")
        self.next = _small("›", "The next guilty layer, by what it does to the answer")
        self.copy = _small("", "Copy the whole verdict as text")
        self.more = _small("", "The whole sentence, and the guilty layers")
        self.more.setCheckable(True)
        self.before.clicked.connect(lambda: self.step(-1))
        self.next.clicked.connect(lambda: self.step(1))
        self.copy.clicked.connect(self.copy_text)
        self.more.toggled.connect(self._open)
        line = QWidget()
        line.setFixedHeight(HIGH)
        row = QHBoxLayout(line)
        row.setContentsMargins(12, 3, 8, 3)
        row.setSpacing(4)
        row.addWidget(self.dot)
        row.addSpacing(4)
        row.addWidget(self.text, 1)
        for part in (self.before, self.next, self.button, self.copy, self.more):
            row.addWidget(part)
        self.whole = Whole()
        self.whole.layer_asked.connect(self.layer_asked)
        self.whole.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(line)
        column.addWidget(self.whole)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
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
        self._whole = reason or BETWEEN.join(_said(square, several) for square in squares)
        self._shorter = (
            *filter(None, [reason]),
            BETWEEN.join(_said(square, several, hints=False) for square in squares),
            BETWEEN.join(_in_brief(square, several, first=True) for square in squares),
            BETWEEN.join(_in_brief(square, several) for square in squares),
            BETWEEN.strip(" ").join(f" {verdict_in_brief(square)} " for square in squares).strip().capitalize(),
        )
        roles = [verdict_colour_role(square) for square in squares]
        self._role = "bad" if "bad" in roles else roles[0]  # one dot for all: green only where none is broken
        self._offer(squares[0], frame)
        if self._withheld:
            self._whole, self._shorter = self._withheld, (self._withheld,)
            self._role = "muted"
            self.button.hide()
        for part in (self.before, self.next):
            part.setVisible(bool(culprits(squares[0])) and not self._withheld)
        for part in (self.copy, self.more):
            part.setVisible(not self._withheld)
        self._write()

    def _offer(self, square: Square, frame: Frame | None) -> None:
        """Offer a way out where nothing was tested."""
        moved = frame is not None and bool(frame.state.steps)
        resampled = square.verdict == "no law" and moved and not (square.message or square.cut_off)
        offers = bool(untested(square))
        if square.verdict == "unmoved":
            self.button.setText(f"{move(square).capitalize()}")
            self.button.setToolTip("Take an element that permutes places")
        else:
            self.button.setText("Nearest exact element")
            now = chain_text(frame.state.steps) if frame is not None else ""
            self.button.setToolTip(f"The nearest to {now} that permutes places, so that there is a verdict")
            offers = resampled or bool(unjudged(square))
        if suspect := _mendable(square):
            self.button.setText("Try a symmetric version")
            self.button.setToolTip(f"Would the law hold if {suspect} were symmetric?")
            offers = True
        self.button.setVisible(offers)

    def _asked(self) -> None:
        squares = self._frame.squares if self._frame is not None else ()
        if squares:
            accused = "broken" if _mendable(squares[0]) else ""  # else there is nothing to make symmetric
            ways = {"unmoved": self.show_asked, accused: self.try_asked}
            ways.get(squares[0].verdict, self.exact_asked).emit()

    def step(self, by: int) -> None:
        """Ask for the next guilty layer, the first one where none is shown."""
        squares = self._frame.squares if self._frame is not None else ()
        if squares and (name := culprit_beside(squares[0], by)):
            self.layer_asked.emit(name)

    def copy_text(self) -> None:
        """Put the verdict, the hints and the figures of the guilty layers into the clipboard."""
        squares = self._frame.squares if self._frame is not None else ()
        QGuiApplication.clipboard().setText(verdict_text(self._whole.split(BETWEEN), squares))

    def _open(self, on: bool) -> None:
        self.whole.setVisible(on)
        self._write()

    def show_stale(self, text: str) -> None:
        """Say that the verdict belongs to another element; "" shows it again."""
        self._stale = text
        self._write()

    def withhold(self, text: str) -> None:
        """Say `text` in place of the verdict, which a lesson asks for; "" shows it again."""
        self._withheld = text
        self.more.setChecked(False)
        self.show_frame(self._frame)

    def _write(self) -> None:
        whole = self._stale.capitalize() if self._stale else self._whole
        lines: tuple[str, ...] = (whole,) if self._stale else (whole, *self._shorter)
        if not self._stale and not self.whole.isHidden():
            lines = lines[1:]  # the rest is said below
        if (bar := self.text.parentWidget()) is not None and (row := bar.layout()) is not None:
            row.activate()  # a button that came or went changes the room
        metrics, room = self.text.fontMetrics(), max(0, self.text.width() - 4)
        fits = [line for line in lines if metrics.horizontalAdvance(line) <= room]
        line = lines[0] if not room else fits[0] if fits else lines[-1]
        if line in self._shorter[:1] and lines[0].startswith(line):
            line = lines[0]  # of one network: the rest is its hints, as far as it goes
        self.text.setText(metrics.elidedText(line, Qt.TextElideMode.ElideRight, room) if room else line)
        self.text.setToolTip(whole)
        squares = self._frame.squares if self._frame is not None else ()
        if not self.whole.isHidden() and squares:
            self.whole.show_square(self._whole, squares[0], squares[0].layer.name, self._stale)
        for part in (self.before, self.next, self.button, self.copy):  # they are about the verdict
            part.setEnabled(not self._stale)
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
        self.copy.setIcon(icon("copy"))
        self.more.setIcon(icon("unfold"))
        self.whole.apply_theme()
        self._write()


def _small(text: str, tip: str) -> QToolButton:
    made = QToolButton(autoRaise=True)
    made.setText(text)
    made.setToolTip(tip)
    made.setAccessibleName(tip)
    return made


def _mendable(square: Square) -> str:
    """Return the layer of which symmetric versions can be tried, "" where none is accused or no module makes it."""
    suspect = next(iter(square.guilty), square.shows) if square.verdict == "broken" else ""
    return next((layer.mendable for layer in square.layers if layer.name == suspect), "")


def _in_brief(square: Square, named: bool, first: bool = False) -> str:
    brief = verdict_in_brief(square)
    if first and square.verdict == "broken" and square.guilty:
        brief = f"{brief} first by {square.guilty[0]}"
    return f"{named_in_brief(square)}: {brief}" if named else brief.capitalize()


def _said(square: Square, named: bool, hints: bool = True) -> str:
    sentence = verdict_sentence(square)
    name = f"{square.title}: " if named else ""
    wanting = f"; {rest}" if hints and (rest := unjudged(square)) else ""
    causes = f" — {'; '.join(grouped_hints(square))}" if hints and square.hints else ""
    return f"{name}{sentence[:1].upper()}{sentence[1:]}{wanting}{causes}"
