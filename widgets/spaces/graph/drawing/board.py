"""Items of the canvas of graphs: panels with what a hand points at, the lasso, sentences; and the places of panels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainterPath, QPen, QPolygonF
from PySide6.QtWidgets import QGraphicsItem, QGraphicsPathItem, QGraphicsPolygonItem, QGraphicsRectItem

from widgets.base.look import theme
from widgets.base.look.alignment import RIGHT
from widgets.base.text.glossary import say
from widgets.charts.scene.board import Board, Pool, words_now
from widgets.charts.scene.labels import NO_PEN, Line, Paragraph, Still, Tag
from widgets.maps.diagram import colour, font
from widgets.spaces.graph.drawing.geometry import Strands, control
from widgets.spaces.graph.drawing.ground import Ground
from widgets.spaces.graph.drawing.legend import LegendItem
from widgets.spaces.graph.drawing.look import Panel
from widgets.spaces.graph.drawing.painting import paint_graph

Array = NDArray[Any]
Target = tuple[str, int]  # "node" or "edge", and its number
HEADER = 24.0  # pixels above each panel
GAP = 12.0


def arrange(
    aspect: float, rows: list[int], width: float, height: float, header: float, line: float
) -> tuple[list[tuple[int, int, QRectF]], QRectF]:
    """Return (row, column, box) of each panel and the box of the legend.

    One model's panels stand as they are largest for a graph of that aspect, the legend in the place left over by
    three in two rows; of several models each has a row of its own.
    """
    most = max(rows, default=0)
    if not most:
        return [], QRectF()
    grids = [(len(rows), most)] if len(rows) > 1 else sorted({(-(-most // c), c) for c in range(1, most + 1)})
    best: tuple[float, int, int, bool] | None = None
    for down, across in grids:
        free = len(rows) == 1 and down * across > most
        room = height - GAP - (0 if free else line)
        w, h = (width - GAP * (across + 1)) / across, room / down - header - GAP / 2
        size = min(w / aspect, h)
        if best is None or size > best[0] * 1.02:
            best = (size, down, across, free)
    assert best is not None
    _, down, across, free = best
    room = height - GAP - (0 if free else line)
    w, h = (width - GAP * (across + 1)) / across, room / down - header - GAP / 2
    cells = []
    for r, count in enumerate(rows):
        for c in range(count):
            y, x = (r, c) if len(rows) > 1 else divmod(c, across)
            left, top = GAP + x * (w + GAP), y * room / down + header
            cells.append((r, c, QRectF(round(left), round(top), round(max(w, 8.0)), round(max(h, 8.0)))))
    if free:
        y, x = divmod(most, across)
        return cells, QRectF(GAP + x * (w + GAP) + 8, y * room / down + header, w - 8, h)
    return cells, QRectF(GAP, height - line, width - 2 * GAP, line)


class GraphItem(QGraphicsItem):
    """A graph in lines, discs and text, for files."""

    def __init__(self, parent: QGraphicsItem) -> None:
        super().__init__(parent)
        self._shown: tuple[Ground, Panel] | None = None

    def show_graph(self, ground: Ground, panel: Panel, at: QPointF) -> None:
        """Show a panel's graph with its upper left corner there."""
        self.prepareGeometryChange()
        self._shown = ground, panel
        self.setPos(at)

    def boundingRect(self) -> QRectF:
        return QRectF() if self._shown is None else QRectF(0, 0, self._shown[0].width, self._shown[0].height)

    def paint(self, p: Any, *rest: Any) -> None:
        if self._shown is not None:
            paint_graph(p, *self._shown)


class Cell(QGraphicsRectItem):
    """One panel: its title, its graph as a picture or as lines, what is pointed at, and a frame."""

    def __init__(self) -> None:
        super().__init__()
        self.setPen(NO_PEN)
        self.title, self.note = Line(self), Line(self)
        self.inside = QGraphicsRectItem(self)
        self.inside.setPen(NO_PEN)
        self.inside.setFlag(QGraphicsItem.GraphicsItemFlag.ItemClipsChildrenToShape)
        self.picture, self.graph, self.words = Still(self.inside), GraphItem(self.inside), Sentence(self.inside)
        self.strokes: Pool[QGraphicsPathItem] = Pool(QGraphicsPathItem, self.inside)
        self.frame = QGraphicsRectItem(self)
        self._placed: tuple[object, ...] = ()

    def show_panel(self, panel: Panel, head: str, box: QRectF) -> None:
        """Show the title of a panel, after the name of its row, and a frame at its place."""
        key = (panel, head, box.getRect(), *words_now())
        if key != self._placed:
            self._placed = key
            self._place(panel, head, box)
        for item in (self.picture, self.graph, self.words):
            item.setVisible(False)  # until one is shown

    def _place(self, panel: Panel, head: str, box: QRectF) -> None:
        self.setRect(box)
        self.setBrush(colour("plot"))
        self.inside.setRect(box)
        self.frame.setRect(box)
        self.frame.setPen(colour("line"))
        place = QRectF(box.left(), box.top() - HEADER, box.width(), HEADER)
        name = say(f"{head}: {panel.title}" if head else panel.title)
        end = self.title.write(name, place, font(12, bold=True), colour(panel.role if head else "text"))
        start = place.right() - QFontMetricsF(font(11)).horizontalAdvance(panel.note)
        self.note.setVisible(start > end + 24)
        self.note.write(panel.note, place, font(11), colour("muted"), RIGHT)

    def show_graph(self, ground: Ground, panel: Panel) -> None:
        """Show lines and discs."""
        self.graph.setVisible(True)
        self.graph.show_graph(ground, panel, self.rect().topLeft())

    def show_picture(self, image: QImage, place: QRectF) -> None:
        """Show a picture at a place, which may be larger than the panel."""
        self.picture.setVisible(True)
        self.picture.show_image(image, place)

    def say(self, text: str) -> None:
        """Say in its middle why there is no graph."""
        self.words.setVisible(True)
        self.words.show_words(self.rect(), text, size=13)

    def show_target(
        self,
        points: Array,
        lines: Strands,
        hot: tuple[str, int] | None,
        radius: float,
        swap: tuple[int, QPointF] | None,
    ) -> None:
        """Outline what the hand is at; `swap` is a node whose number is to be swapped and where the hand has led it."""
        ink = colour("accent")
        path = QPainterPath()
        with self.strokes as pool:
            if hot is not None and hot[0] == "edge" and hot[1] < len(lines.start):
                k = np.array([hot[1]])
                a, b = points[lines.start[k]], points[lines.end[k]]
                path.moveTo(*a[0])
                path.quadTo(QPointF(*control(a, b, lines.lane[k])[0]), QPointF(*b[0]))
                _stroke(pool.take(), path, QPen(ink, 3))
                return
            nodes = [hot[1]] if hot is not None and hot[0] == "node" else []
            for node in (*nodes, *([swap[0]] if swap else [])):
                if node < len(points):
                    path.addEllipse(QPointF(*points[node]), radius + 3, radius + 3)
            if not path.isEmpty():
                _stroke(pool.take(), path, QPen(ink, 2))
            if swap is not None and swap[0] < len(points):
                way, tip = QPainterPath(QPointF(*points[swap[0]])), QPainterPath()
                way.lineTo(swap[1])
                tip.addEllipse(swap[1], 4, 4)
                _stroke(pool.take(), way, QPen(ink, 2, Qt.PenStyle.DashLine))
                _stroke(pool.take(), tip, NO_PEN, ink)


def _stroke(item: QGraphicsPathItem, path: QPainterPath, pen: QPen, fill: QColor | None = None) -> None:
    item.setPath(path)
    item.setPen(pen)
    item.setBrush(fill if fill is not None else Qt.BrushStyle.NoBrush)


class Sentence(QGraphicsRectItem):
    """A sentence, and a smaller one below it, in the middle of what is empty."""

    def __init__(self, parent: QGraphicsItem | None = None) -> None:
        super().__init__(parent)
        self.setPen(NO_PEN)
        self.first, self.second = Paragraph(self), Line(self)

    def show_words(self, box: QRectF, title: str, line: str = "", size: int = 15) -> None:
        room = box.adjusted(24, 12, -24, -12)
        end = self.first.write(title, room, font(size), colour("muted"))
        self.second.setVisible(bool(line))
        if line:
            place = QRectF(room.left(), end + 8, room.width(), 20)
            self.second.write(line, place, font(12), colour("muted"), Qt.AlignmentFlag.AlignHCenter)


class GraphBoard(Board):
    """Panels, a legend, the lasso and chips; or a sentence in their place."""

    def __init__(self, parent: Any) -> None:
        super().__init__(parent)
        self.sentence = Sentence()
        self.legend, self.lasso = LegendItem(), QGraphicsPolygonItem(self.root)
        self.cells = Pool(Cell, self.root)
        self.chips = Pool(lambda: Tag(4.0), self.root)
        self.addItem(self.sentence)
        self.legend.setParentItem(self.root)
        self.lasso.setZValue(1)

    def say(self, words: tuple[str, str] | None, rect: QRectF) -> None:
        """Say why there is nothing, or show the panels again."""
        self.setBackgroundBrush(colour("panel"))
        self.sentence.setVisible(words is not None)
        self.root.setVisible(words is None)
        if words is not None:
            self.sentence.show_words(rect, *words)

    def show_lasso(self, corners: list[QPointF]) -> None:
        """Outline what a hand has drawn round."""
        ink = QColor(theme.current().accent)
        self.lasso.setVisible(bool(corners))
        self.lasso.setPolygon(QPolygonF(corners))
        self.lasso.setPen(QPen(ink, 1.4, Qt.PenStyle.DashLine))
        ink.setAlpha(28)
        self.lasso.setBrush(ink)

    def show_chips(self, box: QRectF, high: str, low: str) -> None:
        """Write what the lasso holds into the upper left corner of a panel, and something else into the lower one."""
        face = font(11, fixed=True)
        metrics = QFontMetricsF(face)
        tall = metrics.height() + 8
        with self.chips as pool:
            for text, top, role in ((high, box.top() + 6, "accent"), (low, box.bottom() - tall - 6, "line")):
                if text:
                    text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, box.width() - 28)
                    place = QRectF(box.left() + 6, top, metrics.horizontalAdvance(text) + 16, tall)
                    tag = pool.take()
                    tag.setZValue(2)
                    tag.write(text, place, face, colour("text"), colour("raised"), QPen(colour(role), 1))
