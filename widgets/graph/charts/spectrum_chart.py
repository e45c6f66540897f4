"""Charts of a graph's spectrum: energies and the filter response over the eigenvalues, and one eigenvector."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from explorer.spaces.graph.analysis.fourier import energy_per_level, filter_response, levels, mean_rayleigh
from explorer.spaces.graph.values import GraphPart, Spectrum
from explorer.square.frame import Square
from widgets.base.theme import Theme
from widgets.base.words import figure
from widgets.charts.chart import CENTRE, Chart, LogScale, draw_hair, draw_mark, faded, linear_ticks

REACH = 14.0  # pixels from the nearest eigenvalue within which the mouse means it
LOW, HIGH = 1e-6, 10.0  # the axis unless a response is larger


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """A spectrum as it is drawn: equal eigenvalues are one level, of which `first` is the first eigenvector.

    `x` and `layer` are shares of the energy of each level; `response` is |h^| / |x^|; `means` are the Rayleigh
    quotients of the input and of the layer, None where they are not known.
    """

    values: NDArray[np.float64]
    first: NDArray[np.int64]
    count: NDArray[np.int64]
    x: NDArray[np.float64]
    layer: NDArray[np.float64] | None
    response: NDArray[np.float64] | None
    means: tuple[float | None, float | None]


def lines_of(spectrum: Spectrum, energy: float | None = None) -> Lines:
    """Return what is drawn of a spectrum; `energy` is the layer's Dirichlet energy, right also when it is partial."""
    values = np.asarray(spectrum.eigenvalues, dtype=np.float64)
    level = levels(values)
    first = np.flatnonzero(np.diff(level, prepend=-1))
    count = np.bincount(level, minlength=len(first)) if len(level) else np.zeros(0, np.int64)
    x = _shares(energy_per_level(spectrum.x, level))
    if spectrum.layer is None:
        layer = response = None
    else:
        layer = _shares(energy_per_level(spectrum.layer, level))
        response = filter_response(spectrum.x, spectrum.layer, level)
    means: list[float | None] = [None, energy]
    if not spectrum.partial:
        means[0] = mean_rayleigh(values, spectrum.x)
        means[1] = mean_rayleigh(values, spectrum.layer) if spectrum.layer is not None else None
    known = [m if m is not None and math.isfinite(m) else None for m in means]
    return Lines(values[first], first, count, x, layer, response, (known[0], known[1]))


def _shares(energy: NDArray[np.float64]) -> NDArray[np.float64]:
    total = float(energy.sum())
    return energy / total if math.isfinite(total) and total > 0 else np.zeros(len(energy))


def eigenvalue_text(value: float) -> str:
    """Return an eigenvalue for reading: what is 0 up to rounding is 0."""
    return figure(value if abs(value) > 1e-12 else 0.0)


class SpectrumChart(Chart):
    """Eigenvalues on [0, 2]: shares of the energy of input and layer as stems, the filter response as a curve."""

    picked = Signal(int)  # an eigenvector's number

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.scale = LogScale(LOW, HIGH)
        self.lines: Lines | None = None
        self.selected: int | None = None  # an eigenvector's number
        self.colour_role = "first"
        self._title, self._layer, self._state = "", "", ""
        self.set_whole(-0.03, 2.07)

    def show_square(self, square: Square | None, role: str, message: str) -> None:
        """Show the spectrum of a square's graph, or `message` when there is none."""
        self.colour_role, self.message = role, message
        part = square.of(GraphPart) if square is not None else None
        if square is None or part is None or part.spectrum is None:
            self.lines = None
        else:
            spectrum = part.spectrum
            self.lines = lines_of(spectrum, part.energy.get(square.layer.name))
            self._title = square.title
            self._layer = square.layer.name if spectrum.layer is not None else ""
            k, n = len(spectrum.eigenvalues), part.structure.nodes
            self._state = f"lowest {k} of {n:,} frequencies" if spectrum.partial else ""
            largest = self.lines.response if self.lines.response is not None else np.zeros(0)
            top = float(np.nanmax(largest, initial=0.0))
            high = 10.0 ** math.ceil(math.log10(top)) if HIGH < top < 1e6 else HIGH
            self.scale = LogScale(LOW, high)
            # of a large graph only the lowest frequencies are known: they fill the chart, not a corner of it
            last = float(self.lines.values.max(initial=0.0))
            end = 1.06 * last if spectrum.partial and 0 < last < 1 else 2.07
            self.set_whole(-0.015 * end, end)
        self.update()

    # geometry -------------------------------------------------------------------------------------------------
    def plot(self) -> QRectF:
        return super().plot().adjusted(0, 0, 0, -self._rug() + 2)

    def _rug(self) -> float:
        return 9.0  # height of the strip of eigenvalues under the plot

    def level_at(self, at: QPointF) -> int | None:
        """Return the level nearest to a position, None when none is near."""
        plot = self.plot()
        if self.lines is None or not len(self.lines.values) or not plot.left() - 4 <= at.x() <= plot.right() + 4:
            return None
        nearest = int(np.abs(self.lines.values - self.value_at(at.x())).argmin())
        return nearest if abs(self.x_of(float(self.lines.values[nearest])) - at.x()) <= REACH else None

    def level_of(self, vector: int | None) -> int | None:
        """Return the level that an eigenvector belongs to."""
        if self.lines is None or vector is None or not 0 <= vector < int(self.lines.count.sum()):
            return None
        return int(np.searchsorted(self.lines.first, vector, "right")) - 1

    def under(self, at: QPointF | None) -> object:
        return self.level_at(at) if at is not None else None

    # painting -------------------------------------------------------------------------------------------------
    def paint(self, p: QPainter, t: Theme) -> None:
        lines, plot, ink = self.lines, self.plot(), getattr(t, self.colour_role)
        if lines is None:
            return
        self.paint_ground(p, t)
        p.save()
        p.setClipRect(plot)
        for level, colour, alpha in (
            (self.level_of(self.selected), t.accent, 46),
            (self.under(self._mouse), t.muted, 34),
        ):
            if isinstance(level, int):
                x = self.x_of(float(lines.values[level]))
                p.fillRect(QRectF(x - 5, plot.top(), 10, plot.height()), faded(colour, alpha))
        self._paint_means(p, t, ink)
        self._paint_stems(p, t, ink)
        self._paint_response(p, ink)
        p.restore()
        self.paint_frame(p, t)
        self._paint_rug(p, t)
        roomy = plot.width() > 620
        keys = [("ring", "energy of the input" if roomy else "input", t.muted)]
        if lines.layer is not None:
            response = "response |ĥ|/|x̂|" if roomy else "|ĥ|/|x̂|"
            keys += [("dot", "of the layer" if roomy else "layer", ink), ("line", response, ink)]
        self.paint_header(p, [(self._title, ink, True), *self._words(t, ink)], keys)

    def _words(self, t: Theme, ink: str) -> list[tuple[str, str, bool]]:
        before, after = self.lines.means if self.lines is not None else (None, None)
        parts = []
        if before is not None:
            parts.append(f"input {figure(before)}")
        if after is not None:
            parts.append(f"{self._layer} {figure(after)}")
        said = f"Rayleigh quotient: {', '.join(parts)}" if parts else ""
        if not self._layer:
            said += f"{'; ' if said else ''}this layer is no field on the nodes"
        return [(self._state, t.text, False), (said, t.muted, False)] if self._state else [(said, t.muted, False)]

    def _paint_stems(self, p: QPainter, t: Theme, ink: str) -> None:
        """The input left and the layer right of each eigenvalue, as far apart as there is room for."""
        lines, plot = self.lines, self.plot()
        assert lines is not None
        xs = np.array([self.x_of(float(v)) for v in lines.values])
        gap = float(np.median(np.diff(xs))) if len(xs) > 1 else 40.0
        aside = min(3.0, 0.22 * gap) if lines.layer is not None else 0.0
        r = min(3.4, max(1.3, 0.3 * gap))
        series = [(lines.x, -aside, "ring", t.muted, 120)]
        if lines.layer is not None:
            series.append((lines.layer, aside, "dot", ink, 150))
        for shares, dx, mark, colour, alpha in series:
            for x, share in zip(xs, shares):
                if not plot.left() - 6 <= x <= plot.right() + 6 or not share >= self.scale.low:
                    continue
                at = QPointF(x + dx, self.y_of(float(share)))
                p.setPen(QPen(faded(colour, alpha), max(1.0, 0.6 * r)))
                p.drawLine(QPointF(at.x(), plot.bottom()), at)
                draw_mark(p, mark, at, colour, r)

    def _paint_response(self, p: QPainter, ink: str) -> None:
        lines = self.lines
        if lines is None or lines.response is None:
            return
        known = np.isfinite(lines.response)
        points = [QPointF(self.x_of(float(v)), self.y_of(float(r)))
                  for v, r in zip(lines.values[known], lines.response[known])]  # fmt: skip
        p.setBrush(Qt.BrushStyle.NoBrush)
        p.setPen(QPen(QColor(ink), 1.7, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
        p.drawPolyline(QPolygonF(points))

    def _paint_means(self, p: QPainter, t: Theme, ink: str) -> None:
        plot = self.plot()
        for mean, colour in zip(self.lines.means if self.lines is not None else (), (t.muted, ink)):
            if mean is None:
                continue
            x = self.x_of(mean)
            p.setPen(QPen(faded(colour, 190), 1.2, Qt.PenStyle.DashLine))
            p.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()))
            p.setPen(Qt.PenStyle.NoPen)
            p.setBrush(QColor(colour))
            y = plot.top()
            p.drawPolygon(QPolygonF([QPointF(x - 5, y), QPointF(x + 5, y), QPointF(x, y + 7)]))

    def _paint_rug(self, p: QPainter, t: Theme) -> None:
        """Every eigenvalue as a line under the plot, longer where several are equal, and the axis."""
        lines, plot = self.lines, self.plot()
        assert lines is not None
        top, rug = plot.bottom() + 1, self._rug()
        chosen = self.level_of(self.selected)
        for k, (value, count) in enumerate(zip(lines.values, lines.count)):
            x = self.x_of(float(value))
            if plot.left() - 1 <= x <= plot.right() + 1:
                p.setPen(QPen(QColor(t.accent if k == chosen else t.text), 2.4 if k == chosen else 1.0))
                draw_hair(p, QPointF(x, top), QPointF(x, top + (rug - 1 if count > 1 or k == chosen else rug - 4)))
        p.setPen(QColor(t.muted))
        metrics = QFontMetricsF(self.small())
        ticks = linear_ticks(max(0.0, self._range[0]), min(2.0, self._range[1]), max(1, int(plot.width() / 70)))
        p.drawText(QRectF(plot.right() - 8, top + rug - 2, 12, self.line()), CENTRE, "λ")
        end = plot.right() - 9
        for tick in ticks:
            x, text = self.x_of(tick), f"{tick:.6g}"
            half = metrics.horizontalAdvance(text) / 2 + 2
            if x + half <= end:
                p.drawText(QRectF(x - half, top + rug - 2, 2 * half, self.line()), CENTRE, text)

    # the mouse and the keys -----------------------------------------------------------------------------------
    def read(self, at: QPointF) -> str:
        level, lines = self.level_at(at), self.lines
        if level is None or lines is None:
            return ""
        first, count = int(lines.first[level]), int(lines.count[level])
        numbers = f"λ{first + 1}" if count == 1 else f"λ{first + 1} to λ{first + count}, {count} equal,"
        words = [
            f"{numbers} = {eigenvalue_text(float(lines.values[level]))}",
            f"input {lines.x[level]:.2%} of its energy",
        ]
        if lines.layer is not None and lines.response is not None:
            words.append(f"{self._layer} {lines.layer[level]:.2%}")
            response = float(lines.response[level])
            known = math.isfinite(response)
            words.append(f"response {figure(response)}" if known else "response unknown: not in the input")
        return "\n".join(words)

    def clicked_at(self, at: QPointF) -> None:
        """Pick the level's eigenvector; a click again on the same one the next of several equal ones."""
        level, lines = self.level_at(at), self.lines
        if level is None or lines is None:
            return
        first, count = int(lines.first[level]), int(lines.count[level])
        again = self.selected is not None and first <= self.selected < first + count
        self.picked.emit(first + (self.selected - first + 1) % count if again and self.selected is not None else first)

    def keyPressEvent(self, event: Any) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(event.key(), 0)
        if not step or self.lines is None or not len(self.lines.count):
            super().keyPressEvent(event)
            return
        self.picked.emit(min(max(0, (self.selected or 0) + step), int(self.lines.count.sum()) - 1))
