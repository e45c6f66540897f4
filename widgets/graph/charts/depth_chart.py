"""Charts of depth: Dirichlet energy layer by layer, and influence on the selected node hop by hop."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from explorer.spaces.graph.analysis.distance import median_by_distance
from widgets.base.layer_names import shortened
from widgets.base.theme import Theme
from widgets.base.words import figure
from widgets.charts.chart import CENTRE, Chart, LogScale, draw_hair, draw_mark, faded

MOST_POINTS = 400  # drawn of the nodes at one distance; the band shows all
DECADES = 12  # at most so many on the axis


def scale_of(values: NDArray[Any], most: int = DECADES, high: float | None = None) -> LogScale:
    """Return whole decades that hold the positive values, at least two and at most `most` below the largest."""
    known = values[np.isfinite(values) & (values > 0)]
    if not known.size:
        return LogScale(1e-2, 1.0)
    top = math.ceil(math.log10(float(known.max())) - 1e-9) if high is None else round(math.log10(high))
    bottom = math.floor(math.log10(float(known.min())) + 1e-9)
    bottom = min(max(bottom, top - most), top - 2)
    return LogScale(10.0**bottom, 10.0**top)


@dataclass(frozen=True, slots=True, eq=False)
class Fall:
    """One model's energies in the order of its layers."""

    title: str
    names: tuple[str, ...]
    energies: NDArray[np.float64]
    selected: str
    role: str


class EnergyChart(Chart):
    """tr(X^T L X) / |X|^2 of every node field; two models at the same relative depth."""

    clicked = Signal(int, str)  # model, layer

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.falls: tuple[Fall, ...] = ()

    def show_falls(self, falls: Sequence[Fall], message: str) -> None:
        self.falls, self.message = tuple(falls), message
        if falls:
            self.scale = scale_of(np.concatenate([fall.energies for fall in falls]), DECADES + 4)
        steps = self.steps()
        self.set_whole(-0.5, steps + 0.5)
        self.update()

    def steps(self) -> int:
        return max([len(fall.names) - 1 for fall in self.falls], default=0)

    def place(self, fall: Fall, index: int) -> float:
        """Return where a layer stands on the horizontal axis: at its relative depth."""
        return index * self.steps() / max(1, len(fall.names) - 1)

    def nearest(self, at: QPointF) -> tuple[int, int] | None:
        """Return (model, index of the layer) nearest to a position."""
        plot = self.plot()
        if not plot.adjusted(-4, -4, 4, 30).contains(at):
            return None
        found = [
            (abs(self.x_of(self.place(fall, i)) - at.x()) + 0.25 * abs(self.y_of(e) - at.y()), k, i)
            for k, fall in enumerate(self.falls)
            for i, e in enumerate(fall.energies)
        ]
        if not found:
            return None
        _, k, i = min(found)
        return k, i

    def under(self, at: QPointF | None) -> object:
        return self.nearest(at) if at is not None else None

    def paint(self, p: QPainter, t: Theme) -> None:
        plot = self.plot()
        self.paint_ground(p, t)
        p.save()
        p.setClipRect(plot)
        hovered = self.under(self._mouse)
        for k, fall in enumerate(self.falls):
            for i, name in enumerate(fall.names):
                ink = getattr(t, fall.role) if len(self.falls) > 1 else t.accent
                tint = (ink, 34) if name == fall.selected else (t.muted, 26) if (k, i) == hovered else None
                if tint is not None:
                    half = min(22.0, max(4.0, 0.5 * (self.x_of(1) - self.x_of(0))))
                    x = self.x_of(self.place(fall, i))
                    p.fillRect(QRectF(x - half, plot.top(), 2 * half, plot.height()), faded(*tint))
        p.restore()
        for k, fall in enumerate(self.falls):
            self._paint_fall(p, t, fall, "dot" if k == 0 else "diamond")
        self.paint_frame(p, t)
        self._paint_names(p, t)
        parts = [("Over-smoothing", t.text, True), ("Dirichlet energy / ‖X‖²", t.muted, False)]
        keys = [("dot" if k == 0 else "diamond", f.title, getattr(t, f.role)) for k, f in enumerate(self.falls)]
        self.paint_header(p, parts, keys)

    def _paint_fall(self, p: QPainter, t: Theme, fall: Fall, mark: str) -> None:
        plot, ink = self.plot(), getattr(t, fall.role)
        known = [i for i, e in enumerate(fall.energies) if not math.isnan(e)]
        points = [QPointF(self.x_of(self.place(fall, i)), self.y_of(float(fall.energies[i]))) for i in known]
        p.save()
        p.setClipRect(plot.adjusted(-5, -5, 5, 5))
        p.setBrush(Qt.BrushStyle.NoBrush)
        p.setPen(QPen(faded(ink, 170), 1.5))
        p.drawPolyline(QPolygonF(points))
        for i, at in zip(known, points):
            outside = self.scale.outside(float(fall.energies[i]))
            chosen = fall.names[i] == fall.selected
            draw_mark(p, "down" if outside < 0 else "up" if outside > 0 else mark, at, ink, 5.0 if chosen else 3.6)
        p.restore()

    def _paint_names(self, p: QPainter, t: Theme) -> None:
        """The layers of the longest model: the selected and the last one first, then as many as there is room for."""
        fall = max(self.falls, key=lambda f: len(f.names), default=None)
        if fall is None:
            return
        top = self.plot().bottom() + 4
        taken: list[tuple[float, float]] = []
        last = len(fall.names) - 1
        order = sorted(range(last + 1), key=lambda i: (fall.names[i] != fall.selected, i not in (0, last), i))
        width = max(84.0, self.x_of(1) - self.x_of(0) - 8)
        ink = getattr(t, fall.role) if len(self.falls) > 1 else t.accent
        for i in order:
            chosen = fall.names[i] == fall.selected
            font = self.small()
            font.setBold(chosen)
            metrics = QFontMetricsF(font)
            text = shortened(metrics, fall.names[i], width)
            half = metrics.horizontalAdvance(text) / 2 + 3
            centre = self.x_of(self.place(fall, i))
            if not self.plot().left() - 2 <= centre <= self.plot().right() + 2:
                continue
            x = min(max(centre, half), self.width() - half)
            if any(x - half < b and a < x + half for a, b in taken):
                continue
            taken.append((x - half, x + half))
            p.setFont(font)
            p.setPen(QColor(ink if chosen else t.muted))
            p.drawText(QRectF(x - half, top, 2 * half, self.line() + 2), CENTRE, text)
        p.setFont(self.small())

    def read(self, at: QPointF) -> str:
        found = self.nearest(at)
        if found is None:
            return ""
        fall, i = self.falls[found[0]], found[1]
        return f"{fall.title}, {fall.names[i]}: Dirichlet energy {figure(float(fall.energies[i]))} of its squared norm"

    def clicked_at(self, at: QPointF) -> None:
        if (found := self.nearest(at)) is not None:
            self.clicked.emit(found[0], self.falls[found[0]].names[found[1]])


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """One model's influence of every node on the selected one, with their distances."""

    title: str
    layer: str
    influence: NDArray[np.float64]
    distance: NDArray[np.int64]
    role: str


class InfluenceChart(Chart):
    """|d h_i / d x_j| against the hops from j to the selected node i: points, their band and their median."""

    clicked = Signal(int)  # a node

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.reaches: tuple[Reach, ...] = ()
        self.node = ""
        self.names: tuple[str, ...] = ()
        self._medians: list[NDArray[np.float64]] = []
        self._bands: list[list[tuple[int, float, float]]] = []
        self._points: list[tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]] = []

    def show_reaches(self, reaches: Sequence[Reach], node: str, names: tuple[str, ...], message: str) -> None:
        self.reaches, self.node, self.names, self.message = tuple(reaches), node, names, message
        self._medians = [median_by_distance(r.influence, r.distance) for r in reaches]
        far = max([int(r.distance.max(initial=0)) for r in reaches], default=0)
        self.set_whole(-0.5, far + 0.5)
        if reaches:
            self.scale = scale_of(np.concatenate([r.influence[r.distance >= 0] for r in reaches]))
        self._points, self._bands = [], []
        for k, reach in enumerate(reaches):
            self._prepare(k, reach)
        self.update()

    def _prepare(self, k: int, reach: Reach) -> None:
        """Choose what is drawn: of many nodes evenly spaced ones by rank, side by side so that they are seen."""
        aside = 0.0 if len(self.reaches) < 2 else (-0.19, 0.19)[k]
        wide = 0.3 if len(self.reaches) < 2 else 0.14
        nodes, xs, bands = [], [], []
        for hops in range(int(reach.distance.max(initial=-1)) + 1):
            mine = np.flatnonzero(reach.distance == hops)
            mine = mine[np.argsort(reach.influence[mine], kind="stable")]
            known = reach.influence[mine]
            if len(known := known[np.isfinite(known)]) > 8:
                low, high = np.quantile(known, [0.1, 0.9])
                bands.append((hops, float(low), float(high)))
            picked = mine[np.linspace(0, len(mine) - 1, min(len(mine), MOST_POINTS)).round().astype(int)]
            m = np.arange(len(picked))
            # the golden ratio spreads any number of points evenly, and the same ones stand where they stood
            spread = (0.5 + m * 0.6180339887498949) % 1 - 0.5 if len(picked) > 1 else np.zeros(len(picked))
            nodes.append(picked)
            xs.append(hops + aside + 2 * wide * spread)
        self._bands.append(bands)
        empty = np.zeros(0, np.int64)
        node = np.concatenate([empty, *nodes])
        self._points.append((node, np.concatenate([np.zeros(0), *xs]), reach.influence[node]))

    def paint(self, p: QPainter, t: Theme) -> None:
        plot = self.plot()
        self.paint_ground(p, t)
        p.save()
        p.setClipRect(plot.adjusted(0, -4, 0, 4))
        width = self.x_of(1) - self.x_of(0)
        for k, reach in enumerate(self.reaches):
            self._paint_reach(p, t, k, getattr(t, reach.role), width)
        self._paint_beyond(p, t)
        hovered = self.under(self._mouse)
        if isinstance(hovered, tuple):
            k, i = hovered
            _, xs, values = self._points[k]
            draw_mark(p, "ring", QPointF(self.x_of(float(xs[i])), self.y_of(float(values[i]))), t.accent, 5.5)
        p.restore()
        self.paint_frame(p, t)
        self._paint_hops(p, t)
        parts = [("Over-squashing", t.text, True), (f"influence on {self.node}, by distance", t.muted, False)]
        if said := self._unreached():
            parts.append((said, t.muted, False))
        two = len(self.reaches) > 1
        keys = [("dot", r.title if two else f"{r.title}, {r.layer}", getattr(t, r.role)) for r in self.reaches]
        self.paint_header(p, parts, keys if two else [*keys, ("tick", "median", t.text)])

    def reach(self) -> int:
        """Return the largest distance from which anything arrives: beyond it there is nothing to draw."""
        far = [int(r.distance[~(r.influence == 0)].max(initial=0)) for r in self.reaches]
        return max(far, default=0)

    def _paint_beyond(self, p: QPainter, t: Theme) -> None:
        """Say once where influence ends, in place of a row of zeros."""
        plot, reach = self.plot(), self.reach()
        left = max(plot.left(), self.x_of(reach + 0.5))
        if reach + 1 > self._whole[1] or left >= plot.right():
            return
        rect = QRectF(left, plot.top(), plot.right() - left, plot.height())
        p.fillRect(rect, faded(t.muted, 22))
        p.setPen(QColor(t.muted))
        text = f"no influence beyond {_hops(reach)}"
        if QFontMetricsF(self.small()).horizontalAdvance(text) + 8 < rect.width():
            p.drawText(rect, CENTRE, text)

    def _unreached(self) -> str:
        if not self.reaches:
            return ""
        count = int((self.reaches[0].distance < 0).sum())
        return f"{count:,} node{'s' * (count != 1)} out of reach" if count else ""

    def _paint_reach(self, p: QPainter, t: Theme, k: int, ink: str, width: float) -> None:
        plot = self.plot()
        aside = 0.0 if len(self.reaches) < 2 else (-0.19, 0.19)[k]
        half = (0.36 if len(self.reaches) < 2 else 0.17) * width
        for hops, low, high in self._bands[k]:
            x, top = self.x_of(hops + aside), self.y_of(high)
            p.fillRect(QRectF(x - half, top, 2 * half, self.y_of(low) - top), faded(ink, 34))
        _, xs, values = self._points[k]
        p.setPen(Qt.PenStyle.NoPen)
        p.setBrush(faded(ink, 150))
        r = min(3.0, max(1.4, 0.05 * width))
        end = self.reach() + 0.5
        for x, value in zip(xs.tolist(), values.tolist()):
            if x < end:
                p.drawEllipse(QPointF(self.x_of(x), self.y_of(value)), r, r)
        medians = self._medians[k]
        known = [h for h, m in enumerate(medians) if not math.isnan(m) and h < end]
        line = [QPointF(self.x_of(h + aside), self.y_of(float(medians[h]))) for h in known]
        p.setBrush(Qt.BrushStyle.NoBrush)
        p.setPen(QPen(faded(ink, 200), 1.3, Qt.PenStyle.DashLine))
        p.drawPolyline(QPolygonF(line))
        for hops, at in zip(known, line):
            p.setPen(QPen(QColor(ink), 2.6, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
            p.drawLine(QPointF(at.x() - half, at.y()), QPointF(at.x() + half, at.y()))
            if not medians[hops] > 0:
                p.setPen(QColor(t.muted))
                p.drawText(QRectF(at.x() - 10, plot.bottom() - self.line() - 5, 20, self.line()), CENTRE, "0")

    def _paint_hops(self, p: QPainter, t: Theme) -> None:
        plot = self.plot()
        far = round(self._whole[1] - 0.5)
        every = max(1, math.ceil(24 / max(1e-6, self.x_of(1) - self.x_of(0))))
        p.setPen(QColor(t.muted))
        name, metrics = "hops", QFontMetricsF(self.small())
        end = plot.right() - metrics.horizontalAdvance(name) - 8
        for hops in range(0, far + 1, every):
            x = self.x_of(hops)
            if plot.left() <= x <= plot.right() and x + 12 <= max(end, plot.left() + 60):
                p.drawText(QRectF(x - 20, plot.bottom() + 4, 40, self.line()), CENTRE, str(hops))
            if hops and plot.left() <= self.x_of(hops - 0.5) <= plot.right():
                p.save()
                p.setPen(QPen(faded(t.line, 110), 1))
                edge = self.x_of(hops - 0.5)
                draw_hair(p, QPointF(edge, plot.top()), QPointF(edge, plot.bottom()))
                p.restore()
        p.drawText(QRectF(end + 6, plot.bottom() + 4, plot.right() - end, self.line()), CENTRE, name)

    # the mouse ------------------------------------------------------------------------------------------------
    def nearest(self, at: QPointF) -> tuple[int, int] | None:
        """Return (model, index of the drawn point) under the mouse."""
        best: tuple[float, int, int] | None = None
        plot, (low, high) = self.plot(), self._range
        for k, (_, xs, values) in enumerate(self._points):
            if not len(xs):
                continue
            px = plot.left() + (xs - low) / (high - low) * plot.width()
            near = np.flatnonzero(np.abs(px - at.x()) < 9)
            for i in near.tolist():
                away = math.hypot(px[i] - at.x(), self.y_of(float(values[i])) - at.y())
                if away < 9 and (best is None or away < best[0]):
                    best = away, k, i
        return (best[1], best[2]) if best is not None else None

    def under(self, at: QPointF | None) -> object:
        return self.nearest(at) if at is not None else None

    def read(self, at: QPointF) -> str:
        if (found := self.nearest(at)) is not None:
            k, i = found
            nodes, _, values = self._points[k]
            node = int(nodes[i])
            name = self.names[node] if self.names and self.names[node] else f"node {node}"
            hops = int(self.reaches[k].distance[node])
            return f"{name}, {_hops(hops)} away: influence {figure(float(values[i]))}"
        hops = math.floor(self.value_at(at.x()) + 0.5)
        if not self.plot().contains(at) or not self.reaches:
            return ""
        words = []
        for reach, medians in zip(self.reaches, self._medians):
            if 0 <= hops < len(medians) and not math.isnan(medians[hops]):
                count = int((reach.distance == hops).sum())
                before = f"{reach.title}: " if len(self.reaches) > 1 else ""
                words.append(f"{before}{count:,} at {_hops(hops)}, median influence {figure(float(medians[hops]))}")
        return "\n".join(words)

    def clicked_at(self, at: QPointF) -> None:
        if (found := self.nearest(at)) is not None:
            self.clicked.emit(int(self._points[found[0]][0][found[1]]))


def _hops(count: int) -> str:
    return f"{count} hop{'s' * (count != 1)}"


def fall_of(title: str, energy: Mapping[str, float], selected: str, role: str) -> Fall:
    """Return the energies of a square as they are drawn."""
    values = np.array([float(v) for v in energy.values()], dtype=np.float64)
    return Fall(title, tuple(energy), values, selected, role)
