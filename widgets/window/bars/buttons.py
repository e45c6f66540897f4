"""The menu's line and the status bar: quick buttons, device, precision, time; progress and read-out."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenuBar,
    QSizePolicy,
    QStatusBar,
    QToolButton,
    QWidget,
)

from explorer.square.frame import Frame
from explorer.state.catalogue import Busy
from explorer.state.resolve import DTYPES
from explorer.state.state import State
from widgets.base.controls.progress import Progress
from widgets.base.look import theme
from widgets.base.look.icons import icon
from widgets.base.text.glossary import say
from widgets.base.text.words import duration


class Corner(QWidget):
    """The right end of the menu's line."""

    device_chosen = Signal(str)
    dtype_chosen = Signal(str)

    def __init__(self, groups: Sequence[Sequence[QAction]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 2, 8, 2)
        row.setSpacing(2)
        self._rules: list[QFrame] = []
        for group in groups:
            for action in group:
                button = QToolButton(autoRaise=True)
                button.setDefaultAction(action)
                button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
                row.addWidget(button)
            rule = QFrame(frameShape=QFrame.Shape.VLine)
            rule.setFixedHeight(16)
            self._rules.append(rule)
            row.addSpacing(3)
            row.addWidget(rule)
            row.addSpacing(3)
        self.device = _choice("Device", "Where the network runs")
        self.device.addItem("auto")
        self.device.activated.connect(lambda: self.device_chosen.emit(self.device.currentData()))
        self.dtype = _choice("Precision", "The precision that the network computes in")
        for name in DTYPES:
            self.dtype.addItem(name, name)
        self.dtype.activated.connect(lambda: self.dtype_chosen.emit(self.dtype.currentData()))
        self.time = QLabel("– ms", alignment=Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.time.setMinimumWidth(self.fontMetrics().horizontalAdvance("0000.0 ms"))
        self.time.setAccessibleName("Time of the last frame")
        for widget in (self.device, self.dtype, self.time):
            row.addWidget(widget)
            row.addSpacing(4)
        self._used = ""
        self.apply_theme()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Hand Esc to the window: the menu bar, which lies between, would keep it."""
        if event.key() == Qt.Key.Key_Escape:
            QApplication.sendEvent(self.window(), QKeyEvent(event))
            return
        super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """Take the room that what is inside asks for: a menu bar looks at it only when its corner is set."""
        bar = self.parentWidget()
        if event.type() == QEvent.Type.LayoutRequest and isinstance(bar, QMenuBar):
            done = super().event(event)
            if self.width() != self.sizeHint().width():
                bar.setCornerWidget(self)
            return done
        return super().event(event)

    def set_devices(self, devices: Sequence[str]) -> None:
        with QSignalBlocker(self.device):
            self.device.clear()
            for name in ("auto", *(d for d in devices if d != "auto")):
                self.device.addItem(name, name)
        self._name_used()

    def show_state(self, state: State) -> None:
        for box, value in ((self.device, state.device), (self.dtype, state.dtype)):
            with QSignalBlocker(box):
                box.setCurrentIndex(max(0, box.findData(value)))

    def show_frame(self, frame: Frame) -> None:
        """Show how long the frame took, and what "auto" turned out to be."""
        whole, own = duration(frame.milliseconds), duration(frame.forward_milliseconds)
        self.time.setText(whole)
        self.time.setToolTip(f"The whole frame took {whole} on {frame.device}, the network itself {own}")
        if frame.device != self._used:
            self._used = frame.device
            self._name_used()

    def _name_used(self) -> None:
        """Say what "auto" has turned out to be, also in a list that was filled anew."""
        if self._used and self.device.count():
            self.device.setItemText(0, f"auto ({self._used})")

    def apply_theme(self) -> None:
        t = theme.current()
        self.time.setStyleSheet(f"color: {t.muted};")
        for rule in self._rules:
            rule.setStyleSheet(f"color: {t.line};")


def _choice(name: str, tip: str) -> QComboBox:
    box = QComboBox()
    box.setToolTip(tip)
    box.setAccessibleName(name)
    box.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    return box


class StatusBar(QStatusBar):
    """The status bar: what is under the cursor at the left, what is being done at the right."""

    cancel_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeGripEnabled(False)
        self._text = ""
        self.reading = QLabel()
        self.reading.setAccessibleName("Under the cursor")
        # a long read-out is cut off rather than making the window wider
        self.reading.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.reading.setContentsMargins(8, 0, 0, 0)
        self.doing = QLabel()
        self.bar = Progress(textVisible=False)
        self.bar.setFixedSize(120, 5)
        self.cancel = QToolButton(autoRaise=True)
        self.cancel.setToolTip("Cancel (Esc)")
        self.cancel.setAccessibleName("Cancel")
        self.cancel.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.cancel.clicked.connect(self.cancel_asked)
        self.addWidget(self.reading, 1)
        # one fixed height: the stage must not jump when progress comes and goes
        self.setFixedHeight(self.fontMetrics().height() + 14)
        for widget in (self.doing, self.bar, self.cancel):
            self.addPermanentWidget(widget)
        self.show_busy(Busy(""))
        self.apply_theme()

    def read(self, text: str) -> None:
        """Show what is under the cursor; the tool tip has what there is no room for."""
        self._text = text = say(text)
        metrics, room = self.reading.fontMetrics(), self.reading.width() - 10
        fits = not self.reading.isVisible() or metrics.horizontalAdvance(text) <= room
        self.reading.setText(text if fits else metrics.elidedText(text, Qt.TextElideMode.ElideRight, room))
        self.reading.setToolTip("" if fits else text)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.read(self._text)

    def show_busy(self, busy: Busy) -> None:
        for widget in (self.doing, self.bar, self.cancel):
            widget.setVisible(bool(busy.text))
        if busy.text != self.doing.text():
            self.doing.setText(busy.text)
            if (row := self.layout()) is not None:
                row.activate()  # at once: a busy window may paint the text in the room of the one before
        if busy.fraction is None:
            self.bar.setRange(0, 0 if busy.text else 1)  # runs to and fro, but not while it is hidden
        else:
            self.bar.setRange(0, 1000)
            self.bar.setValue(round(1000 * min(max(busy.fraction, 0.0), 1.0)))

    def apply_theme(self) -> None:
        t = theme.current()
        self.cancel.setIcon(icon("close"))
        self.setStyleSheet("QStatusBar::item { border: none; }")
        self.bar.setStyleSheet(
            f"QProgressBar {{ background: {t.line}; border: none; border-radius: 2px; }}"
            f"QProgressBar::chunk {{ background: {t.accent}; border-radius: 2px; }}"
        )
