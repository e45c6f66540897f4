"""One eigenvector as colours: on the graph where positions come with the data, else as bars sorted by value."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QWidget

from explorer.spaces.graph.values import GraphPart, Structure
from widgets.base.theme import Theme, signed_map
from widgets.base.words import figure
from widgets.charts.chart import Chart, draw_hair, faded
from widgets.graph.charts.spectrum_chart import eigenvalue_text

MOST_LINES = 20_000  # edges of a small picture; of more, evenly spaced ones
MOST_DOTS = 6_000
REACH = 8.0


class EigenvectorChart(Chart):
    """The values of one eigenvector at the nodes; a click selects the node."""

    clicked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.axis = False
        self.values: NDArray[np.float64] = np.zeros(0)
        self.structure: Structure | None = None
        self.node: int | None = None
        self._order: NDArray[np.int64] = np.zeros(0, np.int64)
        self._places: NDArray[np.float64] | None = None  # (N, 2) in the unit square, y down
        self._edges: NDArray[np.int64] = np.zeros((2, 0), np.int64)
        self._number, self._value = 0, 0.0
        self._names: tuple[str, ...] = ()

    def show_vector(self, part: GraphPart | None, number: int | None, node: int | None) -> None:
        """Show eigenvector `number` of the graph's spectrum; None asks to pick one."""
        spectrum = part.spectrum if part is not None else None
        self.node = node
        if part is None or spectrum is None or number is None or number >= len(spectrum.eigenvalues):
            self.message = "Click an eigenvalue to see its eigenvector"
            self.values = np.zeros(0)
        else:
            self.message = ""
            self.values = np.asarray(spectrum.vectors[:, number], dtype=np.float64)
            self._number, self._value = number, float(spectrum.eigenvalues[number])
            self._order = np.argsort(self.values, kind="stable")
            if self.structure is not part.structure:
                self.structure, self._names = part.structure, part.structure.names
                self._places = _unit(part.structure.positions)
                self._edges = _some(part.structure)
        self.update()

    def name(self, node: int) -> str:
        return self._names[node] if self._names and self._names[node] else f"node {node}"

    # geometry -------------------------------------------------------------------------------------------------
    def _drawing(self) -> QRectF:
        plot = self.plot().adjusted(7, 5, -7, -5)
        return plot

    def _point(self, places: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return positions in pixels, both axes in one scale."""
        box = self._drawing()
        spread = np.maximum(places.max(0, initial=0.0), 1e-9)
        scale = min(box.width() / spread[0], box.height() / spread[1])
        corner = np.array([box.center().x(), box.center().y()]) - scale * spread / 2
        return corner + scale * places

    def node_at(self, at: QPointF) -> int | None:
        if not len(self.values):
            return None
        if self._places is not None:
            away = np.hypot(*(self._point(self._places) - np.array([at.x(), at.y()])).T)
            nearest = int(away.argmin())
            return nearest if away[nearest] <= REACH else None
        plot = self.plot()
        index = math.floor((at.x() - plot.left()) / max(1.0, plot.width()) * len(self.values))
        return int(self._order[index]) if 0 <= index < len(self.values) and plot.contains(at) else None

    def under(self, at: QPointF | None) -> object:
        return self.node_at(at) if at is not None else None

    # painting -------------------------------------------------------------------------------------------------
    def paint(self, p: QPainter, t: Theme) -> None:
        p.fillRect(self.plot(), QColor(t.plot))
        largest = float(np.abs(self.values).max(initial=0.0)) or 1.0
        table = signed_map()[:, :3].tolist()
        at = np.clip((np.nan_to_num(self.values) / largest + 1) / 2 * 511, 0, 511).astype(int)

        def ink(node: int) -> QColor:  # of a large graph only some nodes are drawn
            return QColor(*table[at[node]])

        if self._places is not None:
            self._paint_graph(p, t, ink)
        else:
            self._paint_bars(p, t, ink, largest)
        self.paint_frame(p, t)
        said = f"u{self._number + 1}, λ = {eigenvalue_text(self._value)}"
        how = "" if self._places is not None else "nodes sorted by value"
        self.paint_header(p, [(said, t.text, True), (how, t.muted, False)])
        self._paint_scale(p, t, largest)

    def _paint_graph(self, p: QPainter, t: Theme, ink: Callable[[int], QColor]) -> None:
        assert self._places is not None and self.structure is not None
        points = self._point(self._places)
        edges = self._edges
        p.setPen(QPen(faded(t.muted, 90), 1))
        ends = np.concatenate([points[edges[0]], points[edges[1]]], 1).tolist()
        p.drawLines([QLineF(*four) for four in ends])
        n = len(points)
        r = min(5.5, max(1.6, 0.32 * math.sqrt(self._drawing().width() * self._drawing().height() / max(1, n))))
        rim = QPen(QColor(t.muted), 0.8) if r > 2.2 else QPen(Qt.PenStyle.NoPen)
        for i in range(0, n, max(1, n // MOST_DOTS)):
            p.setPen(QPen(QColor(t.accent), 2.2) if i == self.node else rim)
            p.setBrush(ink(i))
            p.drawEllipse(QPointF(*points[i]), r, r)

    def _paint_bars(self, p: QPainter, t: Theme, ink: Callable[[int], QColor], largest: float) -> None:
        """Nodes side by side from the lowest to the highest value, as many as there are pixels for."""
        plot, n = self.plot().adjusted(0, 3, 0, -3), len(self.values)
        width = plot.width() / n
        columns = range(n) if width >= 1 else np.linspace(0, n - 1, max(1, int(plot.width()))).astype(int).tolist()
        wide = max(width, 1.0)
        zero, marked = plot.center().y(), None
        for place in columns:
            node = int(self._order[place])
            high = self.values[node] / largest * plot.height() / 2
            left = plot.left() + place * width
            bar = QRectF(left, zero - max(high, 0.0), wide, max(abs(high), 1.0))
            p.fillRect(bar.adjusted(0.5, 0, -0.5, 0) if wide > 3 else bar, ink(node))
            if wide > 3:  # the colour of values near zero is that of the ground
                p.setPen(QPen(faded(t.muted, 150), 0.7))
                p.setBrush(Qt.BrushStyle.NoBrush)
                p.drawRect(bar.adjusted(0.5, 0, -0.5, 0))
            if node == self.node:
                marked = left, wide
        p.setPen(QPen(QColor(t.line), 1))
        draw_hair(p, QPointF(plot.left(), zero), QPointF(plot.right(), zero))
        if marked is not None:  # a frame around the selected node's place, its bar left as it is
            p.setPen(QPen(QColor(t.accent), 1.6))
            p.setBrush(Qt.BrushStyle.NoBrush)
            p.drawRect(QRectF(marked[0], self.plot().top() + 1, max(marked[1], 3.0), self.plot().height() - 2))

    def _paint_scale(self, p: QPainter, t: Theme, largest: float) -> None:
        """The range of colours under the plot."""
        plot = self.plot()
        text = f"−{figure(largest)}", f"+{figure(largest)}"
        p.setPen(QColor(t.muted))
        below = QRectF(plot.left(), plot.bottom() + 3, plot.width(), self.height() - plot.bottom() - 3)
        bar = QRectF(0, 0, min(90.0, 0.35 * plot.width()), 6)
        bar.moveCenter(below.center())
        table = signed_map()
        for k in range(int(bar.width())):
            row = table[int(k / bar.width() * 511)]
            p.fillRect(QRectF(bar.left() + k, bar.top(), 1.5, bar.height()), QColor(*(int(v) for v in row[:3])))
        p.drawText(QRectF(below.left(), below.top(), bar.left() - below.left() - 5, below.height()),
                   Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text[0])  # fmt: skip
        p.drawText(QRectF(bar.right() + 5, below.top(), below.right() - bar.right() - 5, below.height()),
                   Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text[1])  # fmt: skip

    # the mouse ------------------------------------------------------------------------------------------------
    def wheelEvent(self, event: object) -> None:
        event.ignore()  # type: ignore[attr-defined]  # nothing to zoom along here

    def read(self, at: QPointF) -> str:
        node = self.node_at(at)
        return "" if node is None else f"{self.name(node)}: u{self._number + 1} = {figure(float(self.values[node]))}"

    def clicked_at(self, at: QPointF) -> None:
        if (node := self.node_at(at)) is not None:
            self.clicked.emit(node)


def _some(structure: Structure) -> NDArray[np.int64]:
    """Return the edges to draw, each pair of nodes once; of very many evenly spaced ones."""
    edges = structure.edges
    edges = edges if structure.directed else edges[:, edges[0] < edges[1]]
    return edges[:, :: max(1, edges.shape[1] // MOST_LINES)]


def _unit(positions: NDArray[np.floating] | None) -> NDArray[np.float64] | None:
    """Return the first two coordinates from 0, the longer side to 1, y down; None without finite positions."""
    if positions is None or not len(positions) or not np.isfinite(positions).all():
        return None
    flat = np.asarray(positions, dtype=np.float64)[:, :2] * [1, -1]
    flat = flat - flat.min(0)
    return flat / max(float(flat.max()), 1e-12)
