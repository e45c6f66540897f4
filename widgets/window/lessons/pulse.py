"""A frame round what a lesson means, which comes and goes a few times; it stands still for who wants no motion."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEasingCurve, QRect, QRectF, Qt, QVariantAnimation
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPaintEvent, QPen, QRegion
from PySide6.QtWidgets import QWidget

from widgets.base import motion
from widgets.base.look import theme

TIMES = 3
PERIOD_MS = 1200
WIDTH = 3  # pixels of the line
STEPS = 10  # brightnesses: each is a repaint of what lies below the line


class Pulse(QWidget):
    """Lies over the window and lets the mouse through; only the line itself is ever repainted."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("pulse")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self._strength = 0.0
        self._where: Callable[[], QRect | None] = lambda: None
        self._running = QVariantAnimation(self)
        self._running.setStartValue(0.0)
        self._running.setKeyValueAt(0.5, 1.0)
        self._running.setEndValue(0.0)
        self._running.setDuration(PERIOD_MS)
        self._running.setLoopCount(TIMES)
        self._running.setEasingCurve(QEasingCurve.Type.InOutSine)
        self._running.valueChanged.connect(self._shine)
        self._running.finished.connect(self.hide)
        self.hide()

    @property
    def running(self) -> bool:
        return self._running.state() == QVariantAnimation.State.Running

    def point_at(self, where: Callable[[], QRect | None]) -> None:
        """Draw attention to a place in the window, which may move meanwhile; nothing where there is none."""
        self.stop()
        self._where = where
        if not self._follow():
            return
        self.show()
        self.raise_()
        if motion.reduced():
            self._strength = 1.0  # until something is done, or another place is meant
            self.update()
        else:
            self._running.start()

    def stop(self) -> None:
        """Draw attention to nothing."""
        self._running.stop()
        self._strength = 0.0
        self.hide()

    def _follow(self) -> bool:
        place = self._where()
        if place is None or place.isEmpty():
            return False
        frame = place.adjusted(-WIDTH, -WIDTH, WIDTH, WIDTH)
        if (window := self.parentWidget()) is not None:
            frame = frame.intersected(window.rect())
        if frame != self.geometry():
            self.setGeometry(frame)
            inner = self.rect().adjusted(2 * WIDTH, 2 * WIDTH, -2 * WIDTH, -2 * WIDTH)
            self.setMask(QRegion(self.rect()).subtracted(QRegion(inner)))
        return True

    def _shine(self, strength: float) -> None:
        if QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton:
            return  # a drag has all the time there is
        strength = round(strength * STEPS) / STEPS
        if strength != self._strength and self._follow():
            self._strength = strength
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colour = QColor(theme.current().accent)
        colour.setAlphaF(self._strength)
        painter.setPen(QPen(colour, WIDTH))
        half = WIDTH / 2
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(half, half, -half, -half), 5, 5)
