"""Text to be read: tokens in lines, each on the colour of a gate or of the attention it gets."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from widgets import theme
from widgets.chart import CENTRE
from widgets.time_cursor import cursor
from widgets.time_painting import cell_colours, on
from widgets.time_rows import Row, Scene

MOST = 4000  # tokens that are laid out at a time
LINES = 5
EDGE = 12.0


class TokenText(QWidget):
    """The tokens from the first step seen on, as many as fit; a click selects a step."""

    clicked = Signal(str, int)
    pointed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Text")
        self.scene, self.first, self.hot = Scene(), 0, -1
        self.cells: list[tuple[QRectF, int]] = []
        self._row: Row | None = None
        cursor.moved.connect(self._follow)

    def sizeHint(self) -> QSize:
        lines = min(LINES, 1 + round(self.cells[-1][0].top() / self._line()) if self.cells else 1)
        return QSize(400, round(lines * self._line() + 12))

    def _line(self) -> float:
        return QFontMetricsF(self.font()).height() + 7

    def worth(self, scene: Scene, width: float) -> bool:
        """Say whether the cells of the timeline, `width` pixels for all, are too narrow for what stands in them."""
        metrics, some = QFontMetricsF(self.font()), scene.names[:: 1 + len(scene.names) // 200]
        return bool(some) and max(metrics.horizontalAdvance(name) for name in some) + 3 > width / len(scene.names)

    def show_scene(self, scene: Scene, first: int) -> None:
        """Show the tokens of x from `first` on."""
        self.scene = scene
        self._row = next((r for r in scene.rows if r.kind == "tokens" and r.side == "before"), None)
        self.start_at(first)

    def start_at(self, first: int) -> None:
        """Begin with a step."""
        self.first = first
        self._lay_out()
        self.setVisible(self._row is not None)
        self.updateGeometry()
        self.update()

    def _lay_out(self) -> None:
        metrics, line = QFontMetricsF(self.font()), self._line()
        names, width = self.scene.names, max(60.0, self.width() - EDGE)
        letters = all(len(name) <= 1 for name in names[self.first : self.first + 64])
        self.cells = []
        x, y = EDGE, 6.0
        for step in range(self.first, min(len(names), self.first + MOST)):
            wide = max(7.0, metrics.horizontalAdvance(names[step] or " ") + (3 if letters else 8))
            if x + wide > width and x > EDGE:
                x, y = EDGE, y + line
                if y > LINES * line:
                    break
            self.cells.append((QRectF(x, y, min(wide, width - EDGE), line - 3), step))
            x += wide + (0 if letters else 3)

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._lay_out()
        self.updateGeometry()

    def step_at(self, at: QPointF) -> int | None:
        return next((step for box, step in self.cells if box.adjusted(0, -2, 2, 2).contains(at)), None)

    def paintEvent(self, event: Any) -> None:
        p, t = QPainter(self), theme.current()
        p.fillRect(self.rect(), QColor(t.panel))
        if self._row is not None and self.cells:
            first, last = self.cells[0][1], self.cells[-1][1] + 1
            colours = cell_colours(self.scene, self._row, first, last)
            p.setRenderHint(QPainter.RenderHint.Antialiasing, True)
            for box, step in self.cells:
                ground = QColor(t.panel) if colours is None else QColor.fromRgb(int(colours[step - first]))
                p.setPen(Qt.PenStyle.NoPen)
                p.setBrush(ground)
                p.drawRoundedRect(box, 2, 2)
                ring = t.accent if step == self.scene.selected else t.text if step == self.hot else ""
                if ring:
                    p.setBrush(Qt.BrushStyle.NoBrush)
                    p.setPen(QPen(QColor(ring), 1.6))
                    p.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2)
                p.setPen(on(ground))
                p.drawText(box, CENTRE, self.scene.names[step])
        p.end()

    def mouseMoveEvent(self, event: Any) -> None:
        step = self.step_at(event.position())
        self.pointed.emit(None if step is None else (None, "before", step, None))
        self._follow(step)
        cursor.moved.emit(step)

    def leaveEvent(self, event: Any) -> None:
        self.pointed.emit(None)
        cursor.moved.emit(None)

    def mouseReleaseEvent(self, event: Any) -> None:
        step = self.step_at(event.position())
        if step is not None and event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit("before", step)

    def _follow(self, step: int | None) -> None:
        hot = -1 if step is None else int(step)
        if hot != self.hot:
            self.hot = hot
            if self.isVisible():
                self.update()
