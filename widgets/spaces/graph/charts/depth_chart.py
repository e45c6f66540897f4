"""Charts of depth: Dirichlet energy layer by layer, and influence on the selected node hop by hop."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtWidgets import QWidget

from explorer.spaces.graph.analysis.distance import median_by_distance
from widgets.base.look import theme
from widgets.base.text.words import figure
from widgets.charts.axis.axes import LogAxis, Name, NameAxis, ValueAxis
from widgets.charts.axis.scales import LogScale
from widgets.charts.inks import faded, mixed
from widgets.charts.items.marks import DIAMOND, DOT, DOWN, UP, Columns, Marks, Stems, Words, fill, ink
from widgets.charts.library import pg
from widgets.charts.plot import Plot

MOST_POINTS = 400  # drawn of the nodes at one distance; the band shows all
DECADES = 12  # at most so many on the axis
NEAR = 9.0  # pixels from a point at which it is meant
EDGE = 0.03  # of the axis, above and below it: marks at its ends are not cut


def scale_of(values: NDArray[Any], most: int = DECADES, high: float | None = None) -> LogScale:
    """Return whole decades that hold the positive values, at least two and at most `most` below the largest."""
    known = values[np.isfinite(values) & (values > 0)]
    if not known.size:
        return LogScale(1e-2, 1.0)
    top = math.ceil(math.log10(float(known.max())) - 1e-9) if high is None else round(math.log10(high))
    bottom = math.floor(math.log10(float(known.min())) + 1e-9)
    bottom = min(max(bottom, top - most), top - 2)
    return LogScale(10.0**bottom, 10.0**top)


def roomy(scale: LogScale) -> tuple[float, float]:
    """Return the ends of an axis with room for marks that lie on them."""
    low, high = scale.decades
    return low - EDGE * (high - low), high + EDGE * (high - low)


@dataclass(frozen=True, slots=True, eq=False)
class Fall:
    """One model's energies in the order of its layers."""

    title: str
    names: tuple[str, ...]
    energies: NDArray[np.float64]
    selected: str
    role: str


class EnergyChart(Plot):
    """tr(X^T L X) / |X|^2 of every node field; two models at the same relative depth."""

    clicked = Signal(int, str)  # model, layer

    def __init__(self, parent: QWidget | None = None) -> None:
        self.names = NameAxis("bottom")
        super().__init__(parent, left=LogAxis("left"), bottom=self.names)
        self.falls: tuple[Fall, ...] = ()
        self.scale = LogScale()
        self.under = self.add(Columns())
        self.chosen = [self.add(Columns()) for _ in range(2)]
        self.trails = [self.add(pg.PlotCurveItem(connect="finite"), 1) for _ in range(2)]
        self.marks = [self.add(Marks(symbol=symbol), 2) for symbol in (DOT, DIAMOND)]
        self.dress()

    def show_falls(self, falls: Sequence[Fall], message: str) -> None:
        roles = [fall.role for fall in self.falls]
        self.falls = tuple(falls)
        if falls:
            self.scale = scale_of(np.concatenate([fall.energies for fall in falls]), DECADES + 4)
        self.message = message
        self.set_ranges((-0.5, self.steps() + 0.5), roomy(self.scale))
        if roles != [fall.role for fall in falls]:
            self.dress()
        self._update()

    def steps(self) -> int:
        return max([len(fall.names) - 1 for fall in self.falls], default=0)

    def place(self, fall: Fall, index: int) -> float:
        """Return where a layer stands on the horizontal axis: at its relative depth."""
        return index * self.steps() / max(1, len(fall.names) - 1)

    # drawing --------------------------------------------------------------------------------------------------
    def _update(self) -> None:
        longest = max(self.falls, key=lambda fall: len(fall.names), default=None)
        if longest is not None:
            role = longest.role if len(self.falls) > 1 else "accent"
            self.names.set_names([Name(name, role if name == longest.selected else "") for name in longest.names])
        self.header.name_keys({self.marks[k]: fall.title for k, fall in enumerate(self.falls)})
        self._place()

    def _place(self) -> None:
        """Draw lines and marks; those outside the axis point there."""
        t = theme.current()
        for k, (trail, marks, chosen) in enumerate(zip(self.trails, self.marks, self.chosen)):
            fall = self.falls[k] if k < len(self.falls) else Fall("", (), np.zeros(0), "", "first")
            x = np.array([self.place(fall, i) for i in range(len(fall.names))])
            y = self.scale.decade(fall.energies)
            there, colour = np.flatnonzero(np.isfinite(y)), getattr(t, fall.role)
            picked = np.array([name == fall.selected for name in fall.names], dtype=bool)
            outside = [self.scale.outside(float(e)) for e in fall.energies[there]]
            others = {i: (UP if o > 0 else DOWN, ink(colour, 1.4), fill(t.plot)) for i, o in enumerate(outside) if o}
            trail.setData(x[there], y[there])
            marks.set_marks(x[there], y[there], np.where(picked[there], 9.0, 6.4), others)
            self._tint(chosen, x[picked])

    def _tint(self, columns: Columns, x: NDArray[Any]) -> None:
        unit = max(self.pixels().x(), 1e-9)
        half = min(22.0, max(4.0, 0.5 * unit)) / unit
        columns.set_columns(x - half, x + half, *roomy(self.scale))

    def reshaped(self) -> None:
        self._place()

    def dress(self) -> None:
        super().dress()
        if not hasattr(self, "marks"):
            return
        t = theme.current()
        self.under.setOpts(brush=faded(t.muted, 26))
        for k, (trail, marks, chosen) in enumerate(zip(self.trails, self.marks, self.chosen)):
            colour = getattr(t, self.falls[k].role if k < len(self.falls) else "first")
            trail.setPen(ink(mixed(colour, t.plot, 0.67).name(), 1.5))
            marks.setPen(ink(colour, 1.4))
            marks.setBrush(fill(t.plot if k else colour))
            chosen.setOpts(brush=faded(colour if len(self.falls) > 1 else t.accent, 34))
        self.header.write([("Over-smoothing", t.text, True), ("Dirichlet energy / ‖X‖²", t.muted, False)])
        self._place()

    # the mouse ------------------------------------------------------------------------------------------------
    def nearest(self, at: QPointF | None) -> tuple[int, int] | None:
        """Return (model, index of the layer) nearest to a position."""
        if at is None or not self.plotted.adjusted(-4, -4, 4, 30).contains(self.at(at.x(), at.y())):
            return None
        unit = self.pixels()
        found = [
            (unit.x() * abs(self.place(fall, i) - at.x()) + 0.25 * unit.y() * abs(y - at.y()), k, i)
            for k, fall in enumerate(self.falls)
            for i, y in enumerate(np.nan_to_num(self.scale.decade(fall.energies), nan=self.scale.decades[0]).tolist())
        ]
        return min(found)[1:] if found else None

    def pointed(self, at: QPointF | None) -> None:
        found = self.nearest(at)
        picked = found is not None and self.falls[found[0]].names[found[1]] != self.falls[found[0]].selected
        at_x = [self.place(self.falls[found[0]], found[1])] if found is not None and picked else []
        self._tint(self.under, np.array(at_x))

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


@dataclass(frozen=True, slots=True, eq=False)
class Spots:
    """The nodes of a Reach that are drawn, beside each other at x; bands are (hops, 10 %, 90 %) of all of them."""

    nodes: NDArray[np.int64]
    x: NDArray[np.float64]
    values: NDArray[np.float64]
    medians: NDArray[np.float64]
    bands: NDArray[np.float64]


def spots_of(reach: Reach, aside: float, wide: float) -> Spots:
    """Choose the nodes to draw: of many evenly spaced ones by rank, side by side so that they are seen."""
    nodes: list[NDArray[Any]] = [np.zeros(0, np.int64)]
    xs: list[NDArray[Any]] = [np.zeros(0)]
    bands: list[NDArray[Any]] = [np.zeros((0, 3))]
    for hops in range(int(reach.distance.max(initial=-1)) + 1):
        mine = np.flatnonzero(reach.distance == hops)
        mine = mine[np.argsort(reach.influence[mine], kind="stable")]
        known = reach.influence[mine]
        if len(known := known[np.isfinite(known)]) > 8:
            bands.append(np.array([[hops, *np.quantile(known, [0.1, 0.9])]]))
        picked = mine[np.linspace(0, len(mine) - 1, min(len(mine), MOST_POINTS)).round().astype(int)]
        m = np.arange(len(picked))
        # the golden ratio spreads any number of points evenly, and the same ones stand where they stood
        spread = (0.5 + m * 0.6180339887498949) % 1 - 0.5 if len(picked) > 1 else np.zeros(len(picked))
        nodes.append(picked)
        xs.append(hops + aside + 2 * wide * spread)
    node = np.concatenate(nodes)
    medians = np.asarray(median_by_distance(reach.influence, reach.distance), dtype=float)
    return Spots(node, np.concatenate(xs), reach.influence[node], medians, np.concatenate(bands))


class InfluenceChart(Plot):
    """|d h_i / d x_j| against the hops from j to the selected node i: points, their band and their median."""

    clicked = Signal(int)  # a node

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, left=LogAxis("left"), bottom=ValueAxis("bottom", whole=True))
        self.bottom.setGrid(False)
        self.bottom.end = "hops"
        self.reaches: tuple[Reach, ...] = ()
        self.spots: list[Spots] = []
        self.node, self.names, self.far = "", tuple[str, ...](), 0
        self.scale = LogScale()
        self.edges = self.add(Stems())
        self.bands = [self.add(Columns(), 1) for _ in range(2)]
        self.dots = [self.add(Marks(symbol=DOT, pen=None), 2) for _ in range(2)]
        self.trails = [self.add(pg.PlotCurveItem(), 3) for _ in range(2)]
        self.medians = [self.add(pg.PlotCurveItem(connect="pairs", antialias=False), 4) for _ in range(2)]
        self.beyond, self.ring = self.add(Columns(), 5), self.add(Marks(symbol=DOT, brush=None), 6)
        self.zeros, self.end = Words(self.box, Qt.AlignmentFlag.AlignBottom), Words(self.box)
        self.dress()

    def show_reaches(self, reaches: Sequence[Reach], node: str, names: tuple[str, ...], message: str) -> None:
        roles = [reach.role for reach in self.reaches]
        self.reaches, self.node, self.names = tuple(reaches), node, names
        asides = (-0.19, 0.19) if len(reaches) > 1 else (0.0,)
        wide = 0.14 if len(reaches) > 1 else 0.3
        self.spots = [spots_of(reach, aside, wide) for reach, aside in zip(reaches, asides)]
        self.far = max([int(r.distance.max(initial=0)) for r in reaches], default=0)
        if reaches:
            self.scale = scale_of(np.concatenate([r.influence[r.distance >= 0] for r in reaches]))
        self.message = message
        self.set_ranges((-0.5, self.far + 0.5), roomy(self.scale))
        if roles != [reach.role for reach in reaches]:
            self.dress()
        self._update()

    def reach(self) -> int:
        """Return the largest distance from which anything arrives: beyond it there is nothing to draw."""
        far = [int(r.distance[~(r.influence == 0)].max(initial=0)) for r in self.reaches]
        return max(far, default=0)

    def unreached(self) -> str:
        """Return how many nodes no path leads from, "" where there are none."""
        count = int((self.reaches[0].distance < 0).sum()) if self.reaches else 0
        return f"{count:,} node{'s' * (count != 1)} out of reach" if count else ""

    # drawing --------------------------------------------------------------------------------------------------
    def _update(self) -> None:
        reach, (low, high), two = self.reach(), roomy(self.scale), len(self.reaches) > 1
        half, zeros = 0.17 if two else 0.36, []
        empty = Spots(np.zeros(0, np.int64), np.zeros(0), np.zeros(0), np.zeros(0), np.zeros((0, 3)))
        edges = np.arange(1, self.far + 1) - 0.5
        self.edges.set_stems(edges, np.full(len(edges), high), low)
        for k in range(2):
            spots = self.spots[k] if k < len(self.spots) else empty
            aside = (-0.19, 0.19)[k] if two else 0.0
            hops, bottom, top = spots.bands.T
            self.bands[k].set_columns(hops + aside - half, hops + aside + half, *map(self.scale.decade, (bottom, top)))
            known = np.flatnonzero(~np.isnan(spots.medians[: reach + 1]))
            x, y = known + aside, self.scale.decade(spots.medians[known])
            self.trails[k].setData(x, y)
            self.medians[k].setData(np.stack([x - half, x + half], 1).ravel(), np.repeat(y, 2))
            zeros += [(h + aside, "0", "muted") for h in known if not spots.medians[h] > 0]
        self.zeros.set_words(zeros)
        more = np.array([reach + 0.5] if self.reaches and reach < self.far else [])
        self.beyond.set_columns(more, np.full(len(more), self.far + 0.5), low, high)
        text = f"no influence beyond {_hops(reach)}"
        self.end.set_words([((reach + self.far + 1) / 2, text, "muted") for _ in more], self.far - reach)
        keys: dict[Any, str] = {
            self.dots[k]: r.title if two else f"{r.title}, {r.layer}" for k, r in enumerate(self.reaches)
        }
        self.header.name_keys(keys if two else keys | {self.medians[0]: "median"})
        self._write()
        self._place()

    def _write(self) -> None:
        t = theme.current()
        parts = [("Over-squashing", t.text, True), (f"influence on {self.node}, by distance", t.muted, False)]
        self.header.write([*parts, (self.unreached(), t.muted, False)])

    def _place(self) -> None:
        """Draw the points as large as there is room for."""
        size = 2 * min(3.0, max(1.4, 0.05 * self.pixels().x()))
        end = self.reach() + 0.5
        for k, dots in enumerate(self.dots):
            if k >= len(self.spots):
                dots.set_marks(np.zeros(0), np.zeros(0), size)
                continue
            spots = self.spots[k]
            shown = (spots.x < end) & ~np.isnan(spots.values)
            dots.set_marks(spots.x[shown], self.scale.decade(spots.values[shown]), size)

    def reshaped(self) -> None:
        self._place()

    def dress(self) -> None:
        super().dress()
        if not hasattr(self, "end"):
            return
        t = theme.current()
        for k in range(2):
            colour = getattr(t, self.reaches[k].role if k < len(self.reaches) else "first")
            self.bands[k].setOpts(brush=faded(colour, 34))
            self.dots[k].setBrush(fill(mixed(colour, t.plot, 0.6).name()))
            self.trails[k].setPen(ink(colour, 1.3, 200, Qt.PenStyle.DashLine))
            self.medians[k].setPen(ink(colour, 2.6))
        self.edges.setPen(ink(mixed(t.line, t.plot, 0.45).name()))
        self.beyond.setOpts(brush=faded(t.muted, 22))
        self.ring.setPen(ink(t.accent, 1.4))
        for words in (self.zeros, self.end):
            words.dress(self.small())
        self._write()

    # the mouse ------------------------------------------------------------------------------------------------
    def nearest(self, at: QPointF | None) -> tuple[int, int] | None:
        """Return (model, index of the drawn point) under the mouse."""
        best: tuple[float, int, int] | None = None
        unit = self.pixels()
        for k, spots in enumerate(self.spots if at is not None else ()):
            assert at is not None
            away = np.hypot(unit.x() * (spots.x - at.x()), unit.y() * (self.scale.decade(spots.values) - at.y()))
            if np.isfinite(away).any():
                i = int(np.nanargmin(away))
                if away[i] < NEAR and (best is None or away[i] < best[0]):
                    best = float(away[i]), k, i
        return None if best is None else best[1:]

    def pointed(self, at: QPointF | None) -> None:
        found = self.nearest(at)
        k, i = found if found is not None else (0, 0)
        some = slice(i, i + 1) if found is not None else slice(0)
        spots = self.spots[k] if self.spots else None
        x, y = (spots.x[some], self.scale.decade(spots.values[some])) if spots else (np.zeros(0), np.zeros(0))
        self.ring.set_marks(x, y, 11.0)

    def read(self, at: QPointF) -> str:
        if (found := self.nearest(at)) is not None:
            k, i = found
            node, value = int(self.spots[k].nodes[i]), float(self.spots[k].values[i])
            name = self.names[node] if self.names and self.names[node] else f"node {node}"
            return f"{name}, {_hops(int(self.reaches[k].distance[node]))} away: influence {figure(value)}"
        hops, words = math.floor(at.x() + 0.5), []
        if not self.plotted.contains(self.at(at.x(), at.y())):
            return ""
        for reach, spots in zip(self.reaches, self.spots):
            if 0 <= hops < len(spots.medians) and not math.isnan(spots.medians[hops]):
                count = int((reach.distance == hops).sum())
                before = f"{reach.title}: " if len(self.reaches) > 1 else ""
                words.append(f"{before}{count:,} at {_hops(hops)}, median influence {figure(spots.medians[hops])}")
        return "\n".join(words)

    def clicked_at(self, at: QPointF) -> None:
        if (found := self.nearest(at)) is not None:
            self.clicked.emit(int(self.spots[found[0]].nodes[found[1]]))


def _hops(count: int) -> str:
    return f"{count} hop{'s' * (count != 1)}"


def fall_of(title: str, energy: Mapping[str, float], selected: str, role: str) -> Fall:
    """Return the energies of a square as they are drawn."""
    values = np.array([float(v) for v in energy.values()], dtype=np.float64)
    return Fall(title, tuple(energy), values, selected, role)
