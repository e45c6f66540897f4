"""Text to be read: tokens in lines, each on the colour of a gate or of the attention it gets."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from widgets.base.look import theme
from widgets.base.pointer import Pointer
from widgets.charts.scene.board import BoardWidget, Pool
from widgets.charts.scene.labels import Scale, Tag
from widgets.spaces.sequence.timeline.items.painting import cell_colours, limits, on
from widgets.spaces.sequence.timeline.items.tiles import ramp
from widgets.spaces.sequence.timeline.rows import Row, Scene

MOST = 4000  # tokens that are laid out at a time
LINES = 5
FITS = 24  # letters of a word that goes to the next line whole
EDGE = 12.0
LEGEND, BAR = 20.0, 110.0  # height of the legend, width of its colours


class TokenText(BoardWidget):
    """The tokens from the first step seen on, as many as fit; a click selects a step."""

    clicked = Signal(str, int)
    pointed = Signal(object)

    def __init__(self, parent: QWidget | None = None, pointer: Pointer | None = None) -> None:
        super().__init__(parent)
        self.pointer = pointer or Pointer(self)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Text")
        self.scene, self.first, self.hot = Scene(), 0, -1
        self.cells: list[tuple[QRectF, int]] = []
        root = self.board.root
        self._tokens, self._rings, self._key = Pool(lambda: Tag(2.0), root), Pool(lambda: Tag(3.0), root), Scale(root)
        self._row: Row | None = None
        self.pointer.moved.connect(self._follow)

    def sizeHint(self) -> QSize:
        lines = min(LINES, 1 + round(self.cells[-1][0].top() / self._line()) if self.cells else 1)
        return QSize(400, round(lines * self._line() + 12 + (LEGEND if self.scene.tint else 0)))

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
        self.changed()

    def _lay_out(self) -> None:
        metrics, line = QFontMetricsF(self.font()), self._line()
        names, width = self.scene.names, max(60.0, self.width() - EDGE)
        letters = all(len(name) <= 1 for name in names[self.first : self.first + 64])
        self.cells = []
        x, y = EDGE, 6.0
        word = self.first  # where the word begins that a letter belongs to
        for step in range(self.first, min(len(names), self.first + MOST)):
            wide = max(7.0, metrics.horizontalAdvance(names[step] or " ") + (3 if letters else 8))
            if letters and step > self.first and not names[step - 1].strip():
                word = step
            if x + wide > width and x > EDGE:
                x, y = EDGE, y + line
                if y > LINES * line:
                    break
                whole = [k for k, (box, _) in enumerate(self.cells) if self.first < word <= self.cells[k][1]]
                if letters and names[step].strip() and len(whole) < FITS:  # a word is not torn at the end of a line
                    for k in whole:
                        self.cells[k] = (QRectF(x, y, self.cells[k][0].width(), line - 3), self.cells[k][1])
                        x += self.cells[k][0].width()
            self.cells.append((QRectF(x, y, min(wide, width - EDGE), line - 3), step))
            x += wide + (0 if letters else 3)

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._lay_out()
        self.updateGeometry()

    def step_at(self, at: QPointF) -> int | None:
        return next((step for box, step in self.cells if box.adjusted(0, -2, 2, 2).contains(at)), None)

    def place(self) -> None:
        t, cells = theme.current(), self.cells if self._row is not None else []
        with self._tokens as pool:
            if self._row is not None and cells:
                first = cells[0][1]
                colours = cell_colours(self.scene, self._row, first, cells[-1][1] + 1)
                for box, step in cells:
                    ground = QColor(t.panel) if colours is None else QColor(*colours[step - first].tolist())
                    pool.take().write(self.scene.names[step], box, self.font(), on(ground), ground)
        self._place_rings()
        self._key.setVisible(bool(cells and self.scene.tint))
        if self.scene.tint:  # the colours with the values at both ends, and what they mean
            scale, limit = self.scene.tint_scale
            room = QRectF(EDGE, self.height() - LEGEND - 2, self.width() - 2 * EDGE, LEGEND)
            inks, table = (QColor(t.muted), QColor(t.muted), QColor(t.line)), ramp(scale)
            self._key.show_scale(limits(scale, limit), table, room, self.small(), inks, self.scene.tint_name, BAR)

    def _place_rings(self) -> None:
        """Put rings round the selected token and the one under the mouse; they lie over the neighbours."""
        t = theme.current()
        with self._rings as pool:
            for box, step in self.cells if self._row is not None else ():
                ring = t.accent if step == self.scene.selected else t.text if step == self.hot else ""
                for wide, ink in ((4.6, t.panel), (2.2, ring)) if ring else ():  # a gap sets it off from any ground
                    item = pool.take()
                    item.setZValue(1)
                    item.outline(box.adjusted(-0.5, -0.5, 0.5, 0.5), QPen(QColor(ink), wide))

    def mouseMoveEvent(self, event: Any) -> None:
        step = self.step_at(event.position())
        self.pointed.emit(None if step is None else (None, "before", step, None))
        self._follow(step)
        self.pointer.moved.emit(step)

    def leaveEvent(self, event: Any) -> None:
        self.pointed.emit(None)
        self.pointer.moved.emit(None)

    def mouseReleaseEvent(self, event: Any) -> None:
        step = self.step_at(event.position())
        if step is not None and event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit("before", step)

    def _follow(self, step: int | None) -> None:
        hot = -1 if step is None else int(step)
        if hot != self.hot:
            self.hot = hot
            self._place_rings()
            self.update()
