"""Fill the middle of the window until the first frame: waiting, or why there will be none."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QPixmap
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from explorer.square.frame import Failure, Glimpse
from widgets.base.controls.progress import Progress
from widgets.base.look import theme
from widgets.base.look.icons import picture
from widgets.base.look.pixels import rgb_image

NAME = "Equiscope"
WIDTH = 420


class LoadingPage(QWidget):
    """A mark, a line, and a bar that runs; or, when the start failed, what is wrong and what to do."""

    quit_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._failure: Failure | None = None
        self._glimpse: QPixmap | None = None
        self._mark = QLabel(alignment=Qt.AlignmentFlag.AlignCenter)
        self.title = QLabel(NAME, alignment=Qt.AlignmentFlag.AlignCenter)
        self.title.setTextFormat(Qt.TextFormat.PlainText)  # it may be the name of a file
        self.text = QLabel(alignment=Qt.AlignmentFlag.AlignCenter, wordWrap=True)
        self.text.setFixedWidth(WIDTH)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.bar = Progress(minimum=0, maximum=0, textVisible=False)
        self.bar.setFixedSize(220, 4)
        self.copy_button = QPushButton("Copy details")
        self.copy_button.clicked.connect(self._copy_details)
        self.quit_button = QPushButton("Quit")
        self.quit_button.clicked.connect(self.quit_asked)
        buttons = QHBoxLayout()
        for button in (self.copy_button, self.quit_button):
            buttons.addWidget(button)
        column = QVBoxLayout(self)
        column.addStretch(3)
        for widget in (self._mark, self.title, self.text):
            column.addWidget(widget, 0, Qt.AlignmentFlag.AlignHCenter)
            column.addSpacing(6)
        column.addWidget(self.bar, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addLayout(buttons)
        column.setAlignment(buttons, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(4)
        self.say("Starting…")

    def say(self, text: str, share: float | None = None) -> None:
        """Show what is being waited for, and how much of it is done where that is known."""
        if self._failure is None:
            self.text.setText(text)
            self.bar.setMaximum(0 if share is None else 100)
            self.bar.setValue(0 if share is None else round(100 * share))
            self.bar.show()
            self.copy_button.hide()
            self.quit_button.hide()
            self.apply_theme()

    def show_glimpse(self, glimpse: Glimpse | None) -> None:
        """Show a picture of the data in place of the mark; None for the mark again."""
        if self._failure is None:
            self._glimpse = None if glimpse is None else QPixmap.fromImage(rgb_image(glimpse.picture))
            title = NAME if glimpse is None else glimpse.title
            self.apply_theme()  # its font decides what fits
            self.title.setText(self.title.fontMetrics().elidedText(title, Qt.TextElideMode.ElideMiddle, WIDTH))

    def fail(self, failure: Failure) -> None:
        """Show why there is nothing to wait for."""
        self._failure = failure
        self.title.setText("The engine could not be started")
        advice = "Check the installation with `make setup`; the log below has the whole story."
        self.text.setText(f"{failure.sentence}\n\n{advice}")
        self.bar.hide()
        self.copy_button.show()
        self.quit_button.show()
        self.apply_theme()

    def apply_theme(self) -> None:
        t = theme.current()
        if self._glimpse is not None and self._failure is None:
            self._mark.setPixmap(self._glimpse)
        else:
            self._mark.setPixmap(picture("equiscope" if self._failure is None else "error", 48, t.bad))
        self.title.setStyleSheet(f"color: {t.text}; font-size: 15pt; font-weight: 600;")
        self.text.setStyleSheet(f"color: {t.muted};")
        # in the middle of a stretch, a label that wraps is given the height of one line
        self.text.setFixedHeight(self.text.heightForWidth(WIDTH))
        self.bar.setStyleSheet(
            f"QProgressBar {{ background: {t.raised}; border: none; border-radius: 2px; }}"
            f"QProgressBar::chunk {{ background: {t.accent}; border-radius: 2px; }}"
        )

    def _copy_details(self) -> None:
        if self._failure is not None:
            QGuiApplication.clipboard().setText(f"{self._failure.sentence}\n\n{self._failure.detail}")
