"""A ring round what has the keyboard, from the first Tab until the mouse is used."""

from __future__ import annotations

from PySide6.QtCore import QObject, QRectF, Qt, QTimer, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QApplication, QFocusFrame, QWidget
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
        self._following = False

    def follow(self) -> None:
        """Follow the focus from here on: the window is shown."""
        if not self._following:
            self._following = True
            _application().focusChanged.connect(self._moved)

    def by_keys(self) -> None:
        """Show the ring: Tab has been pressed."""
        self._keys = True

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
            self._keys = False
        inside = new is not None and new is not self._window and new.window() is self._window
        self._show(new if self._keys and inside else None)

    def _show(self, widget: QWidget | None) -> None:
        frame = self._there()
        if frame is None:
            if widget is None:
                return
            frame = self._frame = _Frame(self._window)
        frame.setWidget(widget)  # type: ignore[arg-type]  # None ends it
        frame.setVisible(widget is not None)
        frame.clearMask()
        frame.raise_()  # Qt puts it under the widget, which hides it where that fills its place, as a chart does

    def _there(self) -> _Frame | None:
        """Return the frame; it is a child of the panel round which it is drawn, and Qt deletes it with that."""
        return self._frame if self._frame is not None and isValid(self._frame) else None


class _Frame(QFocusFrame):
    """Qt cuts it down to what lies outside of the widget, which is nothing where the widget fills its place."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self.clearMask)  # Qt sets the mask after this

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(theme.current().accent), WIDE))
        half = WIDE / 2
        seen = QRectF(self.visibleRegion().boundingRect())  # the surroundings of the widget may end where it does
        painter.drawRoundedRect(seen.adjusted(half, half, -half, -half), 3, 3)


def _application() -> QApplication:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    return app
