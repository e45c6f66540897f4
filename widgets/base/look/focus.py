"""A ring round what has the keyboard, from the first Tab until the mouse is used."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, Qt, QTimer, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QRegion, QResizeEvent
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from widgets.base.look import theme

WIDE = 2.0  # pixels


class FocusRing(QObject):
    """Follows the focus inside one window."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._frame: _Frame | None = None
        self._keys = False  # whether the keyboard has moved the focus last
        self._mouse = False  # or the mouse
        self._following = False

    def follow(self) -> None:
        """Follow the focus from here on: the window is shown."""
        if not self._following:
            self._following = True
            _application().focusChanged.connect(self._moved)

    def by_keys(self) -> None:
        """Show the ring: Tab has been pressed.

        Qt moves the focus on by the same way where what has it is hidden or disabled; no key was pressed then.
        """
        had = QApplication.focusWidget()
        if had is None or (had.isVisible() and had.isEnabled()):
            self._keys, self._mouse = True, False

    @property
    def by_mouse(self) -> bool:
        """Say whether a click has brought the focus to where it is: no ring shows that keys act there."""
        return self._mouse

    def around(self) -> QWidget | None:
        """Return what the ring is round, None while there is none."""
        frame = self._there()
        return frame.widget() if frame is not None and frame.isVisible() else None

    def stop(self) -> None:
        """Show nothing and follow no focus any more: the window is closed.

        The application outlives every window, and would call a ring of which Qt's half alone is left.
        """
        self._keys = False
        if self._following:
            self._following = False
            _application().focusChanged.disconnect(self._moved)
        self._show(None)

    @Slot(QWidget, QWidget)
    def _moved(self, _: QWidget | None, new: QWidget | None) -> None:
        if QApplication.mouseButtons() != Qt.MouseButton.NoButton:
            self._keys, self._mouse = False, True
        inside = new is not None and new is not self._window and new.window() is self._window
        self._show(new if self._keys and inside else None)

    def _show(self, widget: QWidget | None) -> None:
        frame = self._there()
        if frame is None:
            if widget is None:
                return
            frame = self._frame = _Frame(self._window)
        frame.setWidget(widget)

    def _there(self) -> _Frame | None:
        """Return the frame, which Qt deletes with the window."""
        return self._frame if self._frame is not None and isValid(self._frame) else None


class _Frame(QWidget):
    """Lies over the whole window, so that no panel hides it or has it in its pictures, and lets the mouse through.

    Its mask is the line alone: Qt would paint a list anew on every notch of the wheel, whole, where anything lies over
    it, and what lies below would be painted with all of it.

    Qt's QFocusFrame is a child of what surrounds a widget: cut off where the widget fills that, as a chart does.
    """

    _MOVES = (QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.Hide)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._round: list[QWidget] = []  # the widget, and all that it lies in

    def widget(self) -> QWidget | None:
        return self._round[0] if self._round and isValid(self._round[0]) else None

    def setWidget(self, widget: QWidget | None) -> None:
        for watched in filter(isValid, self._round):
            watched.removeEventFilter(self)
        self._round = []
        while widget is not None:
            self._round.append(widget)
            widget.installEventFilter(self)
            widget = None if widget.isWindow() else widget.parentWidget()
        self.place()

    def place(self) -> None:
        """Lie round what can be seen of the widget, or hide where there is none."""
        widget = self.widget()
        if widget is None or not widget.isVisible():
            self.hide()
            return
        seen = self._window.rect()
        for around in self._round:  # what is scrolled out of sight is cut off
            seen &= QRect(around.mapTo(self._window, QPoint(0, 0)), around.size())
        out = math.ceil(WIDE)
        self.setGeometry(seen.adjusted(-out, -out, out, out) & self._window.rect())
        self.setVisible(not seen.isEmpty())
        self.raise_()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        line = math.ceil(WIDE)
        self.setMask(QRegion(self.rect()) - QRegion(self.rect().adjusted(line, line, -line, -line)))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in self._MOVES:
            QTimer.singleShot(0, self, self.place)  # when all of them have moved
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(theme.current().accent), WIDE))
        half = WIDE / 2
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(half, half, -half, -half), 3, 3)


def _application() -> QApplication:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    return app
