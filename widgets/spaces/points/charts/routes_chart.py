"""Paths of a product as ribbons from a value through a harmonic to what they make, as wide as they carry much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsPathItem, QWidget

from explorer.spaces.points.drawing.routes import Route
from widgets.base.look import theme
from widgets.base.text.words import figure
from widgets.charts.axis.axes import Name, NameAxis, ValueAxis
from widgets.charts.inks import faded
from widgets.charts.items.marks import ink
from widgets.charts.library import pg
from widgets.charts.plot import Plot

MOST = 128  # paths that are drawn, the strongest ones
GAP, WIDE = 0.07, 0.06  # between nodes, and width of a node, of the chart
LEAST = 0.004  # the narrowest ribbon, so that a path that carries nothing can be seen and read; of many paths
ROOM = 0.1  # of all width together they take no more than this
BETWEEN = 2.0  # pixels between two labels
SHADES = theme.CLASSES[:6]  # by degree


def shade(kind: str) -> str:
    """Return the colour of a kind, "2e" or "2": one for each degree."""
    return SHADES[degree_first(kind)[0] % len(SHADES)]


def spaced(wanted: Sequence[float], least: float, low: float, high: float) -> list[float]:
    """Return places at least so far apart, in their order and as near as they can be to those that are wanted."""
    found: list[float] = []
    for at in wanted:
        found.append(max(at, found[-1] + least) if found else max(at, low))
    over = high
    for k in range(len(found) - 1, -1, -1):
        found[k] = min(found[k], over)
        over = found[k] - least
    # a run that was pushed one way lies half of that the other way, where there is room
    k = 0
    while k < len(found):
        end = k
        while end + 1 < len(found) and found[end + 1] - found[end] < least * 1.0001:
            end += 1
        pushed = sum(found[j] - wanted[j] for j in range(k, end + 1)) / (end + 1 - k)
        floor = found[k - 1] + least if k else low
        ceiling = (found[end + 1] - least if end + 1 < len(found) else high) - (found[end] - found[k])
        moved = min(max(found[k] - pushed, floor), max(ceiling, floor)) - found[k]
        for j in range(k, end + 1):
            found[j] += moved
        k = end + 1
    return found


def degree_first(kind: str) -> tuple[int, str]:
    """Return what kinds are sorted by."""
    degree = kind.rstrip("eo")
    return int(degree), kind[len(degree) :]


class Ribbon(QGraphicsPathItem):
    """A filled path with smooth edges."""

    def paint(self, p: QPainter, *rest: Any) -> None:
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        super().paint(p, *rest)


class RoutesChart(Plot):
    """A click on a ribbon chooses its path, a `Route`."""

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, left=ValueAxis("left"), bottom=NameAxis("bottom"))
        self.box.setMouseEnabled(x=False, y=False)
        self.left.setStyle(showValues=False)
        self.frame.layout.setContentsMargins(8, 0, 8, 0)  # where other charts have their numbers
        self.routes: tuple[Route, ...] = ()
        self.layer, self.channel, self._title = "", 0, ""
        self.ribbons = [self.add(Ribbon(), 1) for _ in range(MOST)]
        self.nodes = [self.add(QGraphicsPathItem(), 3) for _ in range(3 * 2 * 9)]
        self.labels = [self.add(pg.TextItem(anchor=(0.0, 0.5)), 4) for _ in self.nodes]
        self._middles: list[QPointF] = []  # of the ribbons
        self._rows: list[list[tuple[str, float, float]]] = [[], [], []]  # kind, bottom, top of each node
        self.dress()

    def sizeHint(self) -> QSize:
        return QSize(420, 260)

    def show_routes(
        self, routes: tuple[Route, ...], title: str = "", layer: str = "", channel: int = 0, message: str = ""
    ) -> None:
        """Show the paths of one product, strongest those that make a channel; a sentence where there is no product."""
        self.routes = tuple(sorted(routes, key=lambda r: -r.energy)[:MOST])
        self.layer, self.channel, self._title = layer, channel, title
        self.message = "" if routes else message or " "
        if not routes:
            return
        assert isinstance(self.bottom, NameAxis)
        self.bottom.set_names([Name(text) for text in ("value", routes[0].coupled_with, "gives")])
        self.set_ranges((-0.35, 2.35), (-0.06, 1.06))
        self._draw()
        self._write()

    # where everything lies ----------------------------------------------------------------------------------------
    def _draw(self) -> None:
        total = sum(route.energy for route in self.routes) or 1.0
        ends = [(route.value, route.harmonic, route.out) for route in self.routes]
        least = min(LEAST, ROOM / len(self.routes))
        wide = [max(least, route.energy / total) for route in self.routes]
        kinds = [sorted({end[c] for end in ends}, key=degree_first, reverse=True) for c in range(3)]
        room = 1.0 - GAP * (max(len(row) for row in kinds) - 1)
        unit = room / sum(wide)
        # in each column the ribbons of a node lie in the order of where they come from or go to
        orders = [sorted(range(len(ends)), key=lambda k, c=c: self._order(ends[k], c)) for c in range(3)]  # type: ignore[misc]
        low: list[dict[int, float]] = [{}, {}, {}]
        for c in range(3):
            self._rows[c], at = [], 0.0
            for kind in kinds[c]:
                start = at
                for k in orders[c]:
                    if ends[k][c] == kind:
                        low[c][k] = at
                        at += unit * wide[k]
                self._rows[c].append((kind, start, at))
                at += GAP
        self._middles = [QPointF(1.0, low[1][k] + unit * wide[k] / 2) for k in range(len(ends))]
        for k, item in enumerate(self.ribbons):
            item.setVisible(k < len(ends))
            if k < len(ends):
                item.setPath(_ribbon([low[c][k] for c in range(3)], unit * wide[k]))
        boxes = [(c, *node) for c in range(3) for node in self._rows[c]]
        for k, (item, label) in enumerate(zip(self.nodes, self.labels, strict=True)):
            item.setVisible(k < len(boxes))
            label.setVisible(k < len(boxes))
            if k < len(boxes):
                c, kind, bottom, top = boxes[k]
                path = QPainterPath()
                path.addRect(QRectF(c - WIDE / 2, bottom, WIDE, top - bottom))
                item.setPath(path)
                label.setText(kind)
                # beside its node, whatever the width of the chart
                label.setAnchor((0.0 if c else 1.0, 0.5))
                label.setPos(c + (WIDE if c else -WIDE) / 2, (bottom + top) / 2)
        self._colour()
        self.reshaped()

    def reshaped(self) -> None:
        """Move labels apart that would lie over each other; where that takes too much room, thin nodes have none."""
        line = QFontMetricsF(self.small()).height() + BETWEEN
        first, whole = 0, self.box.mapRectToScene(self.box.rect())
        for c, row in enumerate(self._rows):
            middles = [self.box.mapViewToScene(QPointF(c, (bottom + top) / 2)).y() for _, bottom, top in row]
            # the thickest nodes first, as many as there is room for: pointing at a ribbon tells the rest
            thick = sorted(range(len(row)), key=lambda k: row[k][1] - row[k][2])[: max(1, int(whole.height() / line))]
            kept = sorted(thick, key=lambda k: middles[k])
            places = spaced([middles[k] for k in kept], line, whole.top() + line / 2, whole.bottom() - line / 2)
            for k in range(len(row)):
                self.labels[first + k].setVisible(k in kept)
            for k, y in zip(kept, places, strict=True):
                x = self.labels[first + k].pos().x()
                self.labels[first + k].setPos(x, self.box.mapSceneToView(QPointF(0.0, y)).y())
            first += len(row)

    def _order(self, ends: tuple[str, str, str], column: int) -> tuple[tuple[int, str], ...]:
        others = (ends[1], ends[2]) if column == 0 else (ends[0], ends[2]) if column == 1 else (ends[1], ends[0])
        return tuple((-degree, parity) for degree, parity in map(degree_first, others))

    # colours and words ----------------------------------------------------------------------------------------------
    def _colour(self) -> None:
        t = theme.current()
        chosen = [route.gives(self.layer, self.channel) for route in self.routes]
        told = not all(chosen)  # where every path makes the channel, none stands out
        for route, item, selected in zip(self.routes, self.ribbons, chosen, strict=False):
            selected = selected and told
            item.setBrush(faded(shade(route.out), 230 if selected else 110))
            item.setPen(ink(QColor(t.text).name(), 1.5) if selected else QColor(0, 0, 0, 0))
        for item, label in zip(self.nodes, self.labels, strict=True):
            item.setBrush(QColor(t.muted))
            item.setPen(QColor(0, 0, 0, 0))
            label.setColor(QColor(t.text))
            label.setFont(self.small())

    def _write(self) -> None:
        t = theme.current()
        if not self.routes:
            return
        total = sum(route.energy for route in self.routes) or 1.0
        first = self.routes[0]
        most = f"{first.value} × {first.harmonic} → {first.out} carries {100 * first.energy / total:.3g} %"
        words = (
            f"{len(self.routes)} paths; {most}" if first.energy > 0 else f"{len(self.routes)} paths; none carries any"
        )
        self.header.write([(self._title, t.text, True), (words, t.muted, False)])

    def read(self, at: QPointF) -> str:
        route = self._at(at)
        if route is None:
            return ""
        total = sum(r.energy for r in self.routes) or 1.0
        return (
            f"{route.value} × {route.harmonic} → {route.out}\n{100 * route.energy / total:.3g} % of what the product "
            f"carries, root mean square {figure(float(np.sqrt(route.energy)))}\n{route.layer}{_where(route)}"
        )

    def clicked_at(self, at: QPointF) -> None:
        if (route := self._at(at)) is not None:
            self.chosen.emit(route)

    def stops(self) -> list[QPointF]:
        return self._middles

    def _at(self, at: QPointF) -> Route | None:
        """Return the narrowest path under the mouse."""
        for k in range(len(self.routes) - 1, -1, -1):
            if self.ribbons[k].path().contains(at):
                return self.routes[k]
        return None

    def dress(self) -> None:
        super().dress()
        for axis in (self.left, self.bottom):
            axis.setTickPen(QPen(Qt.PenStyle.NoPen))  # its columns are no scale
        if hasattr(self, "labels"):
            self._colour()
            self._write()


def _where(route: Route) -> str:
    """Return to which channels a path adds, where others add to them as well."""
    first, count = route.channels
    return f", channels {first} to {first + count - 1}: what others add there may cancel it" if count else ""


def _ribbon(low: list[float], width: float) -> QPainterPath:
    """Return a band through three columns, from its bottom in each of them."""
    path = QPainterPath(QPointF(0.0, low[0]))
    for c in (0, 1):
        path.cubicTo(QPointF(c + 0.5, low[c]), QPointF(c + 0.5, low[c + 1]), QPointF(c + 1.0, low[c + 1]))
    path.lineTo(2.0, low[2] + width)
    for c in (1, 0):
        top, next_top = low[c + 1] + width, low[c] + width
        path.cubicTo(QPointF(c + 0.5, top), QPointF(c + 0.5, next_top), QPointF(float(c), next_top))
    path.closeSubpath()
    path.setFillRule(Qt.FillRule.WindingFill)
    return path
