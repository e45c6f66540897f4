"""The layer's linear operator as a matrix: what each output pixel takes from each input pixel."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import (
    QComboBox,
    QGraphicsItem,
    QHBoxLayout,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from explorer.square.frame import Square
from widgets.base.frame_view import FrameView, Pages
from widgets.base.theme import current
from widgets.base.view import ViewSpec
from widgets.base.words import figure
from widgets.maps.diagram import colour, font
from widgets.maps.linking import Place, precise
from widgets.maps.map_grid import MapGrid
from widgets.maps.map_item import MapItem
from widgets.maps.mosaic import symmetric_scale

NOTHING = "Drop an image or pick a digit to see the matrices of a network."
NONE = "This model draws no weight matrix"


class Axes(QGraphicsItem):
    """Ticks and names of the axes of a matrix, and lines where a new row of the image begins."""

    def __init__(self, item: MapItem) -> None:
        super().__init__()
        self._item = item
        self.lengths: tuple[int, int] = (0, 0)  # pixels in one image row of the input and of the output
        item.camera.changed.connect(self.update)
        self._box = QRectF()

    def place(self, box: QRectF) -> None:
        self.prepareGeometryChange()
        self._box = box

    def boundingRect(self) -> QRectF:
        return self._box

    def paint(self, painter: QPainter, option: Any, widget: Any = None) -> None:
        item = self._item
        if item.values is None or item.tiling is None:
            return
        frame = item.frame().translated(item.pos())
        corner = item.rect_of((0, 0, 0)).translated(item.pos()).topLeft()
        pixel = item.pixel()
        rows, columns = item.values.shape[1:]
        metrics = QFontMetricsF(font(10))
        painter.setFont(font(10))
        for across, count, length in ((True, columns, self.lengths[0]), (False, rows, self.lengths[1])):
            start, low, high = (
                (corner.x(), frame.left(), frame.right()) if across else (corner.y(), frame.top(), frame.bottom())
            )
            step = length or _round_step(count)
            room = (metrics.horizontalAdvance(str(count)) if across else metrics.height()) + 6
            every = max(1, math.ceil(room / (step * pixel)))  # so many ticks to one number
            for k in range(math.ceil(count / step) + 1):
                place = min(k * step, count)
                at = start + place * pixel
                if not low - 0.5 <= at <= high + 0.5:
                    continue
                numbered = k % every == 0 and place < count
                self._tick(painter, frame, at, across, numbered)
                if length and 0 < place < count and step * pixel >= 5:
                    self._line(painter, frame, at, across)
                if numbered:
                    self._number(painter, frame, at, across, str(place), metrics)
        painter.setFont(font(12))
        painter.setPen(colour("text"))
        below = QRectF(frame.left(), frame.bottom() + 20, frame.width(), 18)
        painter.drawText(below, int(Qt.AlignmentFlag.AlignCenter), "input pixel")
        painter.save()
        painter.translate(frame.left() - 46, frame.center().y())
        painter.rotate(-90)
        painter.drawText(QRectF(-100, -9, 200, 18), int(Qt.AlignmentFlag.AlignCenter), "output pixel")
        painter.restore()

    @staticmethod
    def _tick(painter: QPainter, frame: QRectF, at: float, across: bool, numbered: bool) -> None:
        long = 5 if numbered else 2.5
        painter.setPen(QPen(colour("muted"), 1))
        if across:
            painter.drawLine(QPointF(at, frame.bottom()), QPointF(at, frame.bottom() + long))
        else:
            painter.drawLine(QPointF(frame.left() - long, at), QPointF(frame.left(), at))

    @staticmethod
    def _line(painter: QPainter, frame: QRectF, at: float, across: bool) -> None:
        ink = colour("muted")
        ink.setAlpha(90)
        painter.setPen(QPen(ink, 1))
        if across:
            painter.drawLine(QPointF(at, frame.top()), QPointF(at, frame.bottom()))
        else:
            painter.drawLine(QPointF(frame.left(), at), QPointF(frame.right(), at))

    @staticmethod
    def _number(painter: QPainter, frame: QRectF, at: float, across: bool, text: str, metrics: QFontMetricsF) -> None:
        painter.setPen(colour("muted"))
        high = metrics.height()
        if across:
            painter.drawText(QRectF(at - 30, frame.bottom() + 6, 60, high), int(Qt.AlignmentFlag.AlignCenter), text)
        else:
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(QRectF(frame.left() - 38, at - high / 2, 30, high), int(right), text)


class MatrixView(FrameView[str]):
    """One of the layer's matrices at a time, on a symmetric scale, beside that of the second model."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.choice = QComboBox()
        self.choice.setToolTip("Which of the layer's matrices is drawn")
        self.choice.currentTextChanged.connect(self._choose)
        self._scale = 1.0
        self._chosen = ""
        self._label = QLabel("Matrix")
        self.grids = (MapGrid(), MapGrid())
        self.axes = tuple(Axes(grid.item) for grid in self.grids)
        side = QHBoxLayout()
        side.setSpacing(0)
        for i, grid in enumerate(self.grids):
            grid.margins = (64.0, 12.0, 12.0, 44.0)
            grid.scene().addItem(self.axes[i])
            grid.pointed.connect(lambda place, i=i: self._point(i, place))
            grid.resized.connect(self._place_axes)
            side.addWidget(grid)
        self._choices = QWidget()
        self._choices.setProperty("chrome", True)  # left out of exported figures
        top = QHBoxLayout(self._choices)
        top.setContentsMargins(12, 8, 12, 2)
        top.addWidget(self._label)
        top.addWidget(self.choice)
        top.addStretch(1)
        self._all = QWidget()
        column = QVBoxLayout(self._all)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._choices)
        column.addLayout(side, 1)
        self._pages = Pages(self, self._all, NOTHING)
        self.apply_theme()

    def parts(self) -> list[str]:
        """Return the titles of the layer's matrices."""
        return list(dict.fromkeys(t for s in self.squares for t, m in s.matrices.items() if m.size))

    def reason(self, parts: list[str]) -> str:
        return "" if parts else _sentence(self.squares)

    def show_empty(self, sentence: str) -> None:
        self._pages.say(sentence)
        self._offer([])
        self._draw_matrix()

    def draw(self, parts: list[str]) -> None:
        self._pages.say("")
        self._offer(parts)
        self._draw_matrix()

    def _offer(self, titles: list[str]) -> None:
        if [self.choice.itemText(i) for i in range(self.choice.count())] != titles:
            self.choice.blockSignals(True)
            self.choice.clear()
            self.choice.addItems(titles)
            # the same matrix as before where there is one: a change of layer or model must not lose it
            self.choice.setCurrentIndex(max(0, self.choice.findText(self._chosen)))
            self.choice.blockSignals(False)
        self._choices.setVisible(len(titles) > 1)

    def _choose(self, title: str) -> None:
        self._chosen = title
        for grid in self.grids:
            grid.camera.reset()
        self._draw_matrix()

    def _draw_matrix(self) -> None:
        squares, title = self.squares, self.choice.currentText()
        matrices = [s.matrices.get(title) for s in squares]
        self._scale = symmetric_scale(matrices)
        for i, (grid, axes) in enumerate(zip(self.grids, self.axes)):
            grid.setVisible(i < len(squares))
            if i >= len(squares):
                continue
            square, matrix = squares[i], matrices[i]
            name = f"{square.title}, {title}" if len(squares) > 1 else f"{square.layer.name}: {title}"
            role = ("first", "second")[i] if len(squares) > 1 else ""
            if matrix is None or matrix.size == 0:
                grid.set_title(f"{square.title}: {NONE.lower()}", role)
                grid.set_values(None)
                continue
            rows, columns = matrix.shape
            grid.set_title(f"{name}, {rows}×{columns}", role)
            grid.set_values(matrix[None], -self._scale, self._scale)
            axes.lengths = (row_length(columns, square), row_length(rows, square))
            grid.arrange()
        self._place_axes()

    def _place_axes(self) -> None:
        for grid, axes in zip(self.grids, self.axes):
            axes.place(QRectF(grid.viewport().rect()))

    def _point(self, index: int, place: Place | None) -> None:
        value = self.grids[index].item.value_at(place) if place is not None else None
        if place is None or value is None:
            self.hovered.emit("")
            return
        _, row, column = place
        wide, high = self.axes[index].lengths
        outputs = f"output pixel {row}" + (f" ({row // high}, {row % high})" if high else "")
        inputs = f"input pixel {column}" + (f" ({column // wide}, {column % wide})" if wide else "")
        self.hovered.emit(f"{self.choice.currentText()}, {outputs}, {inputs}:  {precise(value)}")

    def apply_theme(self) -> None:
        for grid in self.grids:
            grid.apply_theme()
        self._pages.apply_theme()
        self._label.setStyleSheet(f"color: {current().muted};")
        palette = self._all.palette()
        palette.setColor(self._all.backgroundRole(), colour("panel"))
        self._all.setPalette(palette)
        self._all.setAutoFillBackground(True)

    def numbers(self) -> dict[str, NDArray[Any]]:
        prefixed = len(self.squares) > 1
        return {
            f"{s.model}/{title}" if prefixed else title: matrix
            for s in self.squares
            for title, matrix in s.matrices.items()
        }

    def caption(self) -> str:
        title = self.choice.currentText()
        parts = [f"{s.model}, {s.layer.name}, matrix {title}" for s in self.squares if title in s.matrices]
        return f"{'; '.join(parts)}, colours ±{figure(self._scale)}" if parts else ""


def row_length(pixels: int, square: Square) -> int:
    """Return the length of a row of the image that is flattened to so many pixels; 0 when unknown."""
    shapes = [square.x.shape[-2:], square.fx.shape[-2:], square.layer.shape[-2:]]
    for h, w in (shape for shape in shapes if len(shape) == 2):
        if pixels == h * w and w > 1:
            return int(w)
    side = math.isqrt(pixels)
    return side if side * side == pixels and side > 1 else 0


def _round_step(count: int) -> int:
    """Return a round number of pixels, of which at most ten fit into `count`."""
    return next(s * 10**power for power in range(20) for s in (1, 2, 5) if count <= 10 * s * 10**power)


def _sentence(squares: tuple[Square, ...]) -> str:
    if not squares:
        return NOTHING
    return f"{NONE} for {squares[0].layer.name}.\nModels built of explicit matrices do; see the gallery."


VIEW = ViewSpec("matrix", "Matrix", MatrixView, "center", 2, "The layer's linear operator, pixel by pixel.")


if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(MatrixView, lambda view, samples: view.set_frame(samples.make_frame()))
