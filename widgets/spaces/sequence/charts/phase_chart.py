"""The path of a state through two of its coordinates, with the selected step on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QBrush
from PySide6.QtWidgets import QGraphicsSimpleTextItem, QWidget

from widgets.base.look import theme
from widgets.base.look.switched_parts import stroke
from widgets.base.pointer import Pointer
from widgets.base.text.words import figure
from widgets.charts.axis.axes import ValueAxis
from widgets.charts.inks import mixed
from widgets.charts.items.marks import DOT, Marks, Target, fill, ink
from widgets.charts.library import pg
from widgets.charts.plot import Plot

MOST = 4000  # points that are drawn of a path
FEW = 400  # points at most that have a dot each
PIECES = 24  # shades along a path
STRETCH = 3.0  # how much longer a unit of one axis may be drawn than one of the other
NO_BRUSH = QBrush(Qt.BrushStyle.NoBrush)
NEAR = 14.0  # pixels within which a point is pointed at


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """Points (n, 2) of one side in the order of time; `steps` (n,) says which step each is.

    Sides are "before" and "after", of x and rho(g) x, and "rest", an iteration that reads nothing and has no steps of
    x.
    """

    title: str
    points: NDArray[Any]
    steps: NDArray[np.int64]
    role: str
    side: str
    order: NDArray[Any] | None = None  # step t of x is at order[t]: to find the selected one
    detail: str = ""  # said beside the title


def thinned(points: NDArray[Any], most: int = MOST) -> NDArray[np.int64]:
    """Return the indices that are drawn of a long path, evenly spaced in time, the last included."""
    n = len(points)
    if n <= most:
        return np.arange(n)
    return np.unique(np.append(np.arange(0, n, -(-n // most)), n - 1))


def principal(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the mean (C,), the first two principal axes (2, C) and their shares of the variance (2,).

    The sign of an axis is that of its largest entry, so that it does not flip from frame to frame.
    """
    part = np.asarray(values[:: 1 + len(values) // 20_000], np.float64)
    part = part[np.isfinite(part).all(axis=1)]
    c = values.shape[1]
    if not len(part):
        return np.zeros(c), np.eye(2, c), np.zeros(2)
    mean = part.mean(axis=0)
    variance, vectors = np.linalg.eigh((part - mean).T @ (part - mean) / len(part))
    variance, axes = np.clip(variance[::-1][:2], 0, None), vectors.T[::-1][:2]
    total = float(((part - mean) ** 2).sum() / len(part)) or 1.0
    if c == 1:
        axes, variance = np.vstack([axes, np.zeros((1, 1))]), np.append(variance, 0.0)
    sign = np.sign(axes[np.arange(2), np.abs(axes).argmax(axis=1)])
    return mean, axes * np.where(sign == 0, 1, sign)[:, None], variance / total


class Trail(pg.ItemGroup):
    """One path: a line from pale to strong with time, dots at its points, a ring and a dot at its ends.

    `hot` and `chosen` are rings about points; the chart adds them over all paths.
    """

    def __init__(self) -> None:
        super().__init__()
        self.points: NDArray[Any] = np.zeros((0, 2))
        self._look: tuple[object, ...] = ()
        self.pieces = [pg.PlotCurveItem(connect="finite") for _ in range(PIECES)]
        self.dots, self.ends = Marks(symbol=DOT, pen=None), Marks(symbol=DOT)
        self.hot, self.chosen = (Target() for _ in range(2))
        for item in (*self.pieces, self.dots, self.ends):
            item.setParentItem(self)
        self.show_path(None)

    def show_path(self, path: Path | None) -> None:
        self.setVisible(path is not None)
        points = path.points if path is not None else np.zeros((0, 2))
        t = theme.current()
        look = (path.role, path.side, t.name, stroke()) if path is not None else ()
        if look == self._look and np.array_equal(points, self.points, equal_nan=True):
            return  # F(x) stays where it is while g is dragged
        self.points, self._look = points, look
        if path is None:
            return
        colour, after, n = getattr(t, path.role), path.side == "after", len(points)
        shades = [mixed(colour, t.plot, 0.3 + 0.7 * (k + 1) / PIECES).name() for k in range(PIECES)]
        for k, (piece, shade) in enumerate(zip(self.pieces, shades)):
            part = points[k * (n - 1) // PIECES : (k + 1) * (n - 1) // PIECES + 1]
            piece.setSegmentedLineMode("auto" if after else "on")
            piece.setPen(ink(shade, 1.3, 255, Qt.PenStyle.DashLine if after else Qt.PenStyle.SolidLine))
            piece.setData(part[:, 0], part[:, 1])
        there = np.flatnonzero(np.isfinite(points).all(axis=1))
        dots = there if n <= FEW and not after else there[:0]
        self.dots.setData(*points[dots].T, size=3.6, brush=[fill(shades[i * PIECES // n]) for i in dots])
        pen, ends = ink(colour, 1.6), points[there[[0, -1]]] if there.size else points[:0]
        self.ends.setData(*ends.T, size=7.2, pen=pen, brush=[fill(t.plot), fill(colour)][: len(ends)])
        for target, ring, size in ((self.hot, t.text, 8), (self.chosen, t.accent, 10)):
            target.look(ink(ring, 2), NO_BRUSH, size)

    def mark(self, target: Target, index: int | None) -> None:
        """Put a ring about a point; None takes it away."""
        seen = index is not None and bool(np.isfinite(self.points[index]).all())
        target.setVisible(seen)
        if index is not None and seen:
            target.setPos(*self.points[index])


class SideAxis(ValueAxis):
    """An axis that is as wide as its numbers also when zoomed."""

    def widest(self) -> Sequence[str]:
        low, high = sorted(self.range)
        return ("−0.00", *(self.text(v) for v in self.ticks(low, high, 12)))


class PhaseChart(Plot):
    """Paths in a plane; a click selects the nearest step."""

    picked = Signal(int)

    def __init__(self, parent: QWidget | None = None, pointer: Pointer | None = None) -> None:
        super().__init__(parent, left=SideAxis("left"), bottom=ValueAxis("bottom"))
        self.box.setMouseEnabled(x=True, y=True)
        self.pointer = pointer or Pointer(self)
        self.paths: list[Path] = []
        self.labels = ("", "")
        self.selected: int | None = None
        self.hot: int | None = None
        self._span = (np.zeros(2), np.ones(2))  # the smallest and the largest coordinates
        self._trails: list[Trail] = []
        self.names = QGraphicsSimpleTextItem(self.box), QGraphicsSimpleTextItem(self.box)
        self.pointer.moved.connect(self._follow)
        self.dress()

    def show_paths(self, paths: list[Path], labels: tuple[str, str], selected: int | None) -> None:
        same = labels == self.labels
        self.paths, self.labels, self.selected = paths, labels, selected
        every = [p.points[np.isfinite(p.points).all(axis=1)] for p in paths]
        found = np.concatenate(every) if every else np.zeros((0, 2))
        if len(found):
            low, high = found.min(axis=0), found.max(axis=0)
            room = 0.06 * max(float((high - low).max()), 1e-9)
            self._span = (low - room, high + room)
        self._fit(same)
        self._draw()

    def _fit(self, keep: bool) -> None:
        """Find room for all paths, a unit of one axis at most STRETCH times as long as one of the other."""
        size = np.maximum([self.box.width(), self.box.height()], 1.0)
        low, high = self._span
        scale = size / (high - low)
        scale = np.minimum(scale, STRETCH * scale[::-1])
        centre, half = (low + high) / 2, size / scale / 2
        zoom = self.box.viewRect() if keep and self.box.zoomed else None
        (x0, y0), (x1, y1) = centre - half, centre + half
        self.set_ranges((float(x0), float(x1)), (float(y0), float(y1)))
        if zoom is not None:
            self.box.setRange(zoom, padding=0)

    def _draw(self) -> None:
        while len(self._trails) < len(self.paths):
            trail = self.add(Trail(), 1 + len(self._trails))
            self._trails.append(trail)
            for target in (trail.hot, trail.chosen):
                self.add(target, 40)  # over every path
        for k, trail in enumerate(self._trails):
            trail.show_path(self.paths[k] if k < len(self.paths) else None)
        for item, label in zip(self.names, self.labels):
            item.setText(label)
        self._place()
        self._mark()
        t = theme.current()
        self.header.write([(path.title + path.detail, getattr(t, path.role), True) for path in self.paths])

    def _mark(self) -> None:
        for k, trail in enumerate(self._trails):
            path = self.paths[k] if k < len(self.paths) and self.paths[k].side != "rest" else None
            for target, step in ((trail.hot, self.hot), (trail.chosen, self.selected)):
                trail.mark(target, self.index_of(path, step) if path is not None and step is not None else None)

    def _place(self) -> None:
        """Write the name of an axis at its end, inside the plot."""
        across, up = self.names
        size = across.boundingRect()
        across.setPos(self.box.width() - size.width() - 6, self.box.height() - size.height() - 3)
        up.setPos(6, 3)

    def reshaped(self) -> None:
        if hasattr(self, "names") and self.paths:
            self.left.fit()
            self._place()
            size = (self.box.width(), self.box.height())
            if size != self._size:
                self._size = size
                self._fit(True)

    _size = (0.0, 0.0)

    def dress(self) -> None:
        super().dress()
        if hasattr(self, "names"):
            for item in self.names:
                item.setFont(self.small())
                item.setBrush(fill(theme.current().muted))
                item.setZValue(50)
            self._draw()

    @property
    def trails(self) -> list[Trail]:
        """Return the items of the paths that are shown."""
        return self._trails[: len(self.paths)]

    # the mouse ------------------------------------------------------------------------------------------------
    def index_of(self, path: Path, step: int) -> int | None:
        """Return which drawn point stands for a step of x."""
        if path.order is not None:
            if step >= len(path.order) or not np.isfinite(path.order[step]):
                return None
            step = round(float(path.order[step]))
        i = int(np.searchsorted(path.steps, step))
        return min(i, len(path.steps) - 1) if len(path.steps) else None

    def nearest(self, at: QPointF) -> tuple[Path, int] | None:
        """Return the path and the index of the point that is nearest to a position, where it is near."""
        unit = self.pixels()
        best: tuple[float, Path, int] | None = None
        for path in self.paths:
            away = (((path.points - (at.x(), at.y())) * (unit.x(), unit.y())) ** 2).sum(axis=1)
            if len(away) and np.isfinite(away).any():
                i = int(np.nanargmin(away))
                if away[i] <= NEAR**2 and (best is None or away[i] < best[0]):
                    best = (float(away[i]), path, i)
        return None if best is None else best[1:]

    def in_time(self) -> list[Path]:
        """Return the paths whose points are steps of x."""
        return [path for path in self.paths if path.side != "rest"]

    def step_of(self, path: Path, i: int) -> int | None:
        """Return the step of x that a drawn point belongs to; none of those at rest."""
        if path.side == "rest":
            return None
        step = int(path.steps[i])
        if path.order is None:
            return step
        away = np.abs(path.order - step)
        return int(np.nanargmin(away)) if np.isfinite(away).any() and np.nanmin(away) <= 0.5 else None

    def step_at(self, at: QPointF | None) -> int | None:
        """Return the step of x at a position."""
        found = self.nearest(at) if at is not None else None
        return None if found is None else self.step_of(*found)

    def read(self, at: QPointF) -> str:
        found = self.nearest(at)
        if found is None:
            return ""
        path, i = found
        x, y = (figure(float(v)) for v in path.points[i])
        word = "iteration" if path.side == "rest" else "step"
        return f"{path.title}, {word} {path.steps[i]}: {self.labels[0]} {x}, {self.labels[1]} {y}"

    def pointed(self, at: QPointF | None) -> None:
        step = self.step_at(at)
        if step != self.hot or at is None:
            self._follow(step)
            self.pointer.moved.emit(step)

    def _follow(self, step: int | None) -> None:
        if step != self.hot:
            self.hot = step
            self._mark()

    def clicked_at(self, at: QPointF) -> None:
        if (step := self.step_at(at)) is not None:
            self.picked.emit(step)
