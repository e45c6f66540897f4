"""The path of a state through two of its coordinates: a painted chart with the selected step on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen

from widgets.base.pointer import Pointer
from widgets.base.theme import Theme
from widgets.base.words import figure
from widgets.charts.chart import LEFT, RIGHT, Chart, draw_hair, faded, linear_ticks, mixed
from widgets.sequence.timeline.painting import polygon

MOST = 4000  # points that are drawn of a path
PIECES = 24  # shades along a path
STRETCH = 3.0  # how much longer a unit of one axis may be drawn than one of the other
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


class PhaseChart(Chart):
    """Paths in a plane; a click selects the nearest step."""

    picked = Signal(int)

    def __init__(self, parent: Any = None, pointer: Pointer | None = None) -> None:
        super().__init__(parent)
        self.pointer = pointer or Pointer(self)
        self.paths: list[Path] = []
        self.labels = ("", "")
        self.selected: int | None = None
        self.hot: int | None = None
        self._box = (0.0, 1.0, 0.0, 1.0)
        self._zoom: tuple[float, float, float] | None = None  # centre and size of what is seen
        self.pointer.moved.connect(self._follow)

    def show_paths(self, paths: list[Path], labels: tuple[str, str], selected: int | None) -> None:
        if labels != self.labels:
            self._zoom = None
        self.paths, self.labels, self.selected = paths, labels, selected
        every = [p.points[np.isfinite(p.points).all(axis=1)] for p in paths]
        found = np.concatenate(every) if every else np.zeros((0, 2))
        if len(found):
            (x0, y0), (x1, y1) = found.min(axis=0), found.max(axis=0)
            room = 0.06 * max(x1 - x0, y1 - y0, 1e-9)
            self._box = (float(x0 - room), float(x1 + room), float(y0 - room), float(y1 + room))
        self.update()

    def _scale(self) -> tuple[float, float, NDArray[Any]]:
        """Return the centre in values and the pixels of one unit across and up; a flat dock stretches the first."""
        plot = self._drawn or self.plot()
        x0, x1, y0, y1 = self._box
        across, up = plot.width() / max(x1 - x0, 1e-12), plot.height() / max(y1 - y0, 1e-12)
        whole = np.array([min(across, up * STRETCH), min(up, across * STRETCH)])
        if self._zoom is not None:
            return self._zoom[0], self._zoom[1], whole * self._zoom[2]
        return (x0 + x1) / 2, (y0 + y1) / 2, whole

    def place(self, points: NDArray[Any]) -> NDArray[Any]:
        """Return where points (n, 2) are drawn, in pixels."""
        plot, (x, y, scale) = self._drawn or self.plot(), self._scale()
        centre = np.array([plot.center().x(), plot.center().y()])
        return np.asarray(centre + (np.asarray(points, np.float64) - (x, y)) * scale * (1, -1))

    def paint(self, p: QPainter, t: Theme) -> None:
        plot = self.plot()
        p.fillRect(plot, QColor(t.plot))
        self._paint_ticks(p, t, plot)
        p.save()
        p.setClipRect(plot)
        for path in self.paths:
            self._paint_path(p, t, path)
        for path in self.in_time():
            for step, colour, r in ((self.hot, t.text, 4.0), (self.selected, t.accent, 5.0)):
                if step is not None:
                    self._paint_step(p, path, step, colour, r)
        p.restore()
        self.paint_frame(p, t)
        self.paint_header(p, [(path.title + path.detail, getattr(t, path.role), True) for path in self.paths])

    def _paint_ticks(self, p: QPainter, t: Theme, plot: QRectF) -> None:
        x, y, scale = self._scale()
        half = np.array([plot.width(), plot.height()]) / 2 / scale
        for tick in linear_ticks(x - half[0], x + half[0], max(2, int(plot.width() / 80))):
            at = float(self.place(np.array([[tick, 0.0]]))[0, 0])
            p.setPen(QPen(faded(t.line, 150), 1))
            draw_hair(p, QPointF(at, plot.top()), QPointF(at, plot.bottom()))
            p.setPen(QColor(t.muted))
            p.drawText(QRectF(at + 3, plot.bottom() + 2, 60, self.line()), LEFT, figure(tick))
        for tick in linear_ticks(y - half[1], y + half[1], max(2, int(plot.height() / 40))):
            at = float(self.place(np.array([[0.0, tick]]))[0, 1])
            p.setPen(QPen(faded(t.line, 150), 1))
            draw_hair(p, QPointF(plot.left(), at), QPointF(plot.right(), at))
            p.setPen(QColor(t.muted))
            p.drawText(QRectF(0, at - 10, plot.left() - 5, 20), RIGHT, figure(tick))
        p.setPen(QColor(t.muted))
        p.drawText(
            plot.adjusted(6, 0, -6, -4), Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom, self.labels[0]
        )
        p.drawText(plot.adjusted(6, 4, -6, 0), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, self.labels[1])

    def _paint_path(self, p: QPainter, t: Theme, path: Path) -> None:
        """Draw the path from pale to strong in the order of time; it breaks where a value is not known."""
        ink, n = getattr(t, path.role), len(path.points)
        at = self.place(path.points)
        p.setBrush(Qt.BrushStyle.NoBrush)
        after = path.side == "after"
        for k in range(PIECES):
            first, last = k * (n - 1) // PIECES, (k + 1) * (n - 1) // PIECES
            part = at[first : last + 1]
            part = part[np.isfinite(part).all(axis=1)]
            if len(part) > 1:
                colour = mixed(ink, t.plot, 0.3 + 0.7 * (k + 1) / PIECES)
                p.setPen(QPen(colour, 1.3, Qt.PenStyle.DashLine if after else Qt.PenStyle.SolidLine))
                p.drawPolyline(polygon(part[:, 0], part[:, 1]))
        if n <= 400 and not after:
            p.setPen(Qt.PenStyle.NoPen)
            for i, (x, y) in enumerate(at):
                if np.isfinite(x + y):
                    p.setBrush(mixed(ink, t.plot, 0.3 + 0.7 * (i + 1) / n))
                    p.drawEllipse(QPointF(float(x), float(y)), 1.8, 1.8)
        ends = at[np.isfinite(at).all(axis=1)]
        if len(ends):
            p.setPen(QPen(QColor(ink), 1.6))
            p.setBrush(QColor(t.plot))
            p.drawEllipse(QPointF(*ends[0]), 3.6, 3.6)  # the beginning is a ring, the end is full
            p.setBrush(QColor(ink))
            p.drawEllipse(QPointF(*ends[-1]), 3.6, 3.6)

    def _index(self, path: Path, step: int) -> int | None:
        """Return which drawn point stands for a step of x."""
        if path.order is not None:
            if step >= len(path.order) or not np.isfinite(path.order[step]):
                return None
            step = round(float(path.order[step]))
        i = int(np.searchsorted(path.steps, step))
        return min(i, len(path.steps) - 1) if len(path.steps) else None

    def _paint_step(self, p: QPainter, path: Path, step: int, colour: str, r: float) -> None:
        i = self._index(path, step)
        if i is not None and np.isfinite(path.points[i]).all():
            x, y = self.place(path.points[i : i + 1])[0]
            p.setBrush(Qt.BrushStyle.NoBrush)
            p.setPen(QPen(QColor(colour), 2))
            p.drawEllipse(QPointF(float(x), float(y)), r, r)

    # the mouse ------------------------------------------------------------------------------------------------
    def nearest(self, at: QPointF) -> tuple[Path, int] | None:
        """Return the path and the index of the point under the mouse."""
        best: tuple[float, Path, int] | None = None
        for path in self.paths:
            away = ((self.place(path.points) - (at.x(), at.y())) ** 2).sum(axis=1)
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

    def under(self, at: QPointF | None) -> object:
        return None

    def read(self, at: QPointF) -> str:
        found = self.nearest(at)
        step = None if found is None else self.step_of(*found)
        if step != self.hot:
            self.hot = step
            self.pointer.moved.emit(step)
            self.update()
        if found is None:
            return ""
        path, i = found
        x, y = (figure(float(v)) for v in path.points[i])
        word = "iteration" if path.side == "rest" else "step"
        return f"{path.title}, {word} {path.steps[i]}: {self.labels[0]} {x}, {self.labels[1]} {y}"

    def _follow(self, step: int | None) -> None:
        if step != self.hot:
            self.hot = step
            if self.isVisible():
                self.update()

    def clicked_at(self, at: QPointF) -> None:
        found = self.nearest(at)
        step = None if found is None else self.step_of(*found)
        if step is not None:
            self.picked.emit(step)

    def wheelEvent(self, event: Any) -> None:
        if self.message or not event.angleDelta().y():
            event.ignore()
            return
        x, y, scale = self._scale()
        factor = 1.25 ** (event.angleDelta().y() / 120)
        zoom = (self._zoom[2] if self._zoom else 1.0) * factor
        plot, at = self.plot(), event.position()
        away = np.array([at.x() - plot.center().x(), plot.center().y() - at.y()]) / scale * (1 - 1 / factor)
        self._zoom = None if zoom <= 1.0 else (x + float(away[0]), y + float(away[1]), min(zoom, 1e4))
        self.update()
        event.accept()

    def mouseMoveEvent(self, event: Any) -> None:
        if self._press is not None and self._zoom is not None:
            moved = event.position() - self._press
            if self._panned or abs(moved.x()) + abs(moved.y()) > 4:
                x, y, scale = self._scale()
                self._zoom = (x - float(moved.x() / scale[0]), y + float(moved.y() / scale[1]), self._zoom[2])
                self._press, self._panned = event.position(), True
                self.update()
                return
        super().mouseMoveEvent(event)

    def mouseDoubleClickEvent(self, event: Any) -> None:
        self._zoom = None
        self.update()

    def leaveEvent(self, event: Any) -> None:
        self.hot = None
        self.pointer.moved.emit(None)
        super().leaveEvent(event)
