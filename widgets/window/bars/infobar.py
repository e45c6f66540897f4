"""A line above the stage: what went wrong, where, and what to do. Never a box in the middle of a drag."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QEnterEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QWidget

from explorer.square.frame import Failure
from widgets.base.controls.flow import UNBOUNDED
from widgets.base.look import theme
from widgets.base.look.icons import icon

GONE_MS = 8000  # until it goes, or what stays folds to its first line
FOLD_MS = 800  # until it folds again once the mouse has left it
ON_COMMAND_LINE = ": add --trust if you trust it"  # advice that the window has a button for


class InfoBar(QFrame):
    """Hidden until something is said; the last good frame stays below it."""

    said = Signal()
    folding = Signal()  # it needs another height now
    details = Signal()  # the person wants the whole story, which is in the log
    stop = Signal()  # what does not answer is to be ended
    ask = Signal(str)  # the model whose code the person wants to look at, and may allow to run

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("infobar")
        self.setAccessibleName("Message")
        self._level = "info"
        self._for_request = False
        self._untrusted = ""
        self.folded = False  # to its first line, until the mouse points at it
        self._icon = QLabel()
        self._icon.setFixedWidth(20)
        self.text = QLabel()
        self.text.setWordWrap(True)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        # a long sentence wraps; it never makes the window wider
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.text.setSizePolicy(policy)
        self.more = QLabel("…")  # beside the first line of a longer text
        self.more.hide()
        self.details_button = QToolButton(autoRaise=True)
        self.details_button.setText("Details")
        self.details_button.setToolTip("Show the whole story in the log")
        self.details_button.clicked.connect(self.details)
        self.stop_button = QToolButton()
        self.stop_button.setText("Stop")
        self.stop_button.setToolTip("End what is running; the window goes on (Esc)")
        self.stop_button.clicked.connect(self.stop)
        self.ask_button = QToolButton()
        self.ask_button.setText("Look at it…")
        self.ask_button.setToolTip("See what is in the file, and what has changed; then allow it to run, or not")
        self.ask_button.clicked.connect(lambda: self.ask.emit(self._untrusted))
        self.offer_button = QToolButton()  # what may mend it
        self._offered: Callable[[], None] = lambda: None
        self.offer_button.clicked.connect(self._take)
        self.close_button = QToolButton(autoRaise=True)
        self.close_button.setToolTip("Close this message")
        self.close_button.setAccessibleName("Close this message")
        self.close_button.clicked.connect(self.hide)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 2, 6, 2)
        row.setSpacing(8)
        row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.text, 1)
        row.addWidget(self.more, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.ask_button, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.offer_button, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.stop_button, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.details_button, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignTop)
        self._gone = QTimer(self, singleShot=True, interval=GONE_MS)
        self._gone.timeout.connect(self._go)
        self._folds = QTimer(self, singleShot=True)
        self._folds.timeout.connect(lambda: self.fold(True))
        self.awaited: Callable[[], bool] = lambda: False  # whether what the message is about is still to come
        self.hide()
        self.apply_theme()

    @property
    def passing(self) -> bool:
        """Return whether the message goes by itself after a while."""
        return self._gone.isActive()

    @property
    def line(self) -> int:
        """Return how high it is with one line of text, whichever of its buttons it has."""
        buttons = (self.details_button, self.stop_button, self.ask_button, self.offer_button, self.close_button)
        inside = max(self.text.fontMetrics().height(), *(button.sizeHint().height() for button in buttons))
        margins = self.contentsMargins() if (row := self.layout()) is None else row.contentsMargins()
        return inside + margins.top() + margins.bottom()

    def show_failure(self, failure: Failure) -> None:
        """Say what, where, and (in the sentence itself) what to do."""
        where = f"  —  {failure.where}" if failure.where and failure.where not in failure.sentence else ""
        if failure.untrusted:
            self.say("warning", failure.sentence.replace(ON_COMMAND_LINE, "."))
            self._untrusted = failure.untrusted
            self.ask_button.show()
        elif failure.cancelled:
            self.say("info", failure.sentence)  # what a person has asked for is no fault
        else:
            self.say("error", failure.sentence + where, has_details=bool(failure.detail))

    def say(self, level: str, text: str, has_details: bool = False) -> None:
        """Show a message of level "info", "warning" or "error"."""
        self._level, self._for_request = level, False
        self.text.setText(text)
        self.details_button.setVisible(has_details)
        self.stop_button.hide()
        self.ask_button.hide()
        self.offer_button.hide()
        self.apply_theme()
        # what went well needs no answer; what went wrong stays until it is read
        self._gone.start() if level == "info" else self._gone.stop()
        self.fold(False)
        self._folds.stop() if level == "info" else self._folds.start(GONE_MS)
        self.show()
        self.said.emit()

    def fold(self, folded: bool) -> None:
        """Show the first line alone, or all that was said."""
        if folded == self.folded or (folded and self.heightForWidth(self.width()) <= self.line):
            return
        self.folded = folded
        self.more.setVisible(folded)
        self.text.setAlignment(Qt.AlignmentFlag.AlignTop if folded else Qt.AlignmentFlag.AlignVCenter)
        self.text.setMaximumHeight(self.text.fontMetrics().lineSpacing() if folded else UNBOUNDED)
        self.folding.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        waits = self._folds.isActive() or self.folded or self.passing or self.isHidden() or self.underMouse()
        if not waits and self.heightForWidth(self.width()) > self.line:
            self._folds.start(FOLD_MS)  # it was one line when its time was over

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._folds.stop()
        self.fold(False)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        if not self.passing:
            self._folds.start(FOLD_MS)

    def offer_stop(self, text: str) -> None:
        """Say that something does not answer, with a button that ends it."""
        self.say("warning", text)
        self.stop_button.show()

    def offer(self, text: str, label: str, then: Callable[[], None]) -> None:
        """Say what is not as it was, with a button that does something about it."""
        self.say("warning", text)
        self._offered = then
        self.offer_button.setText(label)
        self.offer_button.show()

    def _take(self) -> None:
        self.hide()
        self._offered()

    def answered(self) -> None:
        """Take the offer back: what did not answer has, or was ended."""
        if self.offering:
            self.hide()

    @property
    def offering(self) -> bool:
        """Return whether the message offers to stop something."""
        return not self.stop_button.isHidden() and not self.isHidden()

    def leave_with_frame(self) -> None:
        """Let the message go with the next frame, which answers it."""
        self._for_request = True

    def keep(self) -> None:
        """Let the message stay until it is read: the next frame is no answer to it."""
        self._for_request = False

    def over(self, passing: bool = False) -> None:
        """Take back what was said about something else than is shown or asked for now, if it waits to be read.

        Args:
            passing: also what would go by itself after a while.
        """
        if (passing or not self.passing) and not self.offering:
            self.hide()

    def _go(self) -> None:
        self._gone.start() if self.awaited() else self.hide()

    def read_again(self) -> None:
        """Count from now on how long a passing message stays: what it speaks of has only just come."""
        if self.passing:
            self._gone.start()

    def frame_came(self) -> None:
        """Take back the failure of a request once another one was answered."""
        if self._for_request:
            self.hide()

    def apply_theme(self) -> None:
        t = theme.current()
        colour = {"error": t.bad, "warning": t.second, "info": t.accent}[self._level]
        self._icon.setPixmap(icon(self._level, colour).pixmap(16, 16))
        self.close_button.setIcon(icon("close"))
        self.setStyleSheet(f"#infobar {{ background: {t.raised}; border: none; border-left: 3px solid {colour}; }}")
