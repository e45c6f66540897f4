"""Charts of a graph's spectrum: energies and the filter response over the eigenvalues, and one eigenvector."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from explorer.spaces.graph.analysis.fourier import energy_per_level, filter_response, levels, mean_rayleigh
from explorer.spaces.graph.drawing.values import GraphPart, Spectrum
from explorer.square.frame import Square
from widgets.base.look import theme
from widgets.base.text.words import figure
from widgets.charts.axis.axes import LogAxis, ValueAxis
from widgets.charts.axis.scales import LogScale
from widgets.charts.inks import faded, mixed
from widgets.charts.items.curve import Curve
from widgets.charts.items.marks import DOT, DOWN, Columns, Marks, Stems, fill, ink
from widgets.charts.library import pg
from widgets.charts.plot import Plot

REACH = 14.0  # pixels from the nearest eigenvalue within which the mouse means it
LOW, HIGH = 1e-6, 10.0  # the axis unless a response is larger
RUG = 9  # pixels of the strip of eigenvalues under the plot


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


class EigenvalueAxis(ValueAxis):
    """Eigenvalues on [0, 2]: a line for each level below the plot, longer where several are equal, and numbers."""

    def __init__(self) -> None:
        self.levels: tuple[tuple[float, bool], ...] = ()  # value, whether several are equal
        self.picked: int | None = None
        super().__init__("bottom", text=lambda value: f"{value:.6g}")
        self.setGrid(False)
        self.setStyle(tickTextOffset=RUG + 1)
        self.end = "λ"

    def fit(self) -> None:
        super().fit()
        self.setHeight(self.fixedHeight + RUG - 3)

    def ticks(self, low: float, high: float, most: int) -> list[float]:
        return super().ticks(max(0.0, low), min(2.0, high), most)

    def show_levels(self, values: NDArray[np.float64], count: NDArray[np.int64], picked: int | None) -> None:
        """Show levels of eigenvalues, the picked one in another colour."""
        levels = tuple(zip(values.tolist(), (count > 1).tolist()))
        if (levels, picked) != (self.levels, self.picked):
            self.levels, self.picked = levels, picked
            self.redraw()

    def generateDrawSpecs(self, p: QPainter) -> Any:
        specs, t = super().generateDrawSpecs(p), theme.current()
        low, high = self.range
        if specs is None or high <= low:
            return specs
        unit, lines = self.size().width() / (high - low), []
        for k, (value, several) in enumerate(self.levels):
            if low <= value <= high:
                x, tall = (value - low) * unit, RUG - 1 if several or k == self.picked else RUG - 4
                pen = ink(t.accent, 2.4) if k == self.picked else ink(t.text)
                lines.append((pen, QPointF(x, 1), QPointF(x, 1 + tall)))
        return specs[0], [*specs[1], *lines], specs[2]


class SpectrumChart(Plot):
    """Eigenvalues on [0, 2]: shares of the energy of input and layer as stems, the filter response as a curve."""

    picked = Signal(int)  # an eigenvector's number
    BY_MARKS = False

    def __init__(self, parent: QWidget | None = None) -> None:
        self.rug = EigenvalueAxis()
        super().__init__(parent, left=LogAxis("left"), bottom=self.rug)
        self.scale = LogScale(LOW, HIGH)
        self.lines: Lines | None = None
        self.selected: int | None = None  # an eigenvector's number
        self.colour_role = "first"
        self._title, self._layer, self._state = "", "", ""
        self.chosen, self.under = self.add(Columns()), self.add(Columns())
        self.means = [self.add(pg.InfiniteLine(angle=90), 1) for _ in range(2)]
        self.heads = self.add(Marks(symbol=DOWN, pen=None), 1)  # of the lines
        self.stems = [self.add(Stems(), 2) for _ in range(2)]  # of the input and of the layer
        self.response = self.add(Curve(), 3)
        self.marks = [self.add(Marks(symbol=DOT), 4) for _ in range(2)]
        self.dress()

    def show_square(self, square: Square | None, role: str, message: str) -> None:
        """Show the spectrum of a square's graph, or `message` when there is none."""
        part = square.of(GraphPart) if square is not None else None
        if square is None or part is None or part.spectrum is None:
            self.lines, self.message = None, message
            return
        spectrum = part.spectrum
        self.lines = lines = lines_of(spectrum, part.energy.get(square.layer.name))
        self._title = square.title
        self._layer = square.layer.name if spectrum.layer is not None else ""
        k, n = len(spectrum.eigenvalues), part.structure.nodes
        self._state = f"lowest {k} of {n:,} frequencies" if spectrum.partial else ""
        top = 0.0 if lines.response is None else float(np.nanmax(lines.response, initial=0.0))
        self.scale = LogScale(LOW, 10.0 ** math.ceil(math.log10(top)) if HIGH < top < 1e6 else HIGH)
        # of a large graph only the lowest frequencies are known: they fill the chart, not a corner of it
        last = float(lines.values.max(initial=0.0))
        end = 1.06 * last if spectrum.partial and 0 < last < 1 else 2.07
        self.message = message
        self.set_ranges((-0.015 * end, end), self.scale.decades)
        if role != self.colour_role:
            self.colour_role = role
            self.dress()
        self._update()

    def select(self, vector: int | None) -> None:
        """Mark the level that an eigenvector belongs to."""
        self.selected = vector
        if self.lines is not None:
            self.rug.show_levels(self.lines.values, self.lines.count, self.level_of(vector))
        self._place()

    # drawing --------------------------------------------------------------------------------------------------
    def _update(self) -> None:
        lines = self.lines
        if lines is None:
            return
        for line, mean in zip(self.means, lines.means):
            line.setVisible(mean is not None)
            line.setValue(mean or 0.0)
        known = np.isfinite(lines.response) if lines.response is not None else np.zeros(0, bool)
        curve = lines.response[known] if lines.response is not None else np.zeros(0)
        self.response.setData(lines.values[known] if len(known) else curve, self.scale.decade(curve))
        self.select(self.selected)
        self._write()

    def _place(self) -> None:
        """Stand the input left and the layer right of each eigenvalue, as far apart as there is room for."""
        lines, unit = self.lines, max(self.pixels().x(), 1e-9)
        if lines is None:
            return
        gap = float(np.median(np.diff(lines.values))) * unit if len(lines.values) > 1 else 40.0
        aside = min(3.0, 0.22 * gap) / unit if lines.layer is not None else 0.0
        r = min(3.4, max(1.3, 0.3 * gap))
        shares = (lines.x, lines.layer if lines.layer is not None else np.zeros(0))
        t = theme.current()
        inks = (t.muted, getattr(t, self.colour_role))
        for k, (values, dx) in enumerate(zip(shares, (-aside, aside))):
            there = np.flatnonzero(values >= self.scale.low)
            x, y = lines.values[there] + dx, self.scale.decade(values[there])
            self.marks[k].set_marks(x, y, 2 * r)
            self.stems[k].set_stems(x, y, self.scale.decades[0])
            self.stems[k].setPen(ink(mixed(inks[k], t.plot, 0.55).name(), max(1.0, 0.6 * r)))
        known = [(mean, fill(own)) for mean, own in zip(lines.means, inks) if mean is not None]
        top = self.scale.decades[1] - 5 / max(self.pixels().y(), 1e-9)
        at = np.array([mean for mean, _ in known])
        self.heads.setData(at, np.full(len(at), top), size=10, brush=[brush for _, brush in known])
        self._tint(self.chosen, self.level_of(self.selected))

    def _tint(self, columns: Columns, level: int | None) -> None:
        at = self.lines.values[level : level + 1] if self.lines is not None and level is not None else np.zeros(0)
        half = 5 / max(self.pixels().x(), 1e-9)
        columns.set_columns(at - half, at + half, *self.scale.decades)

    def reshaped(self) -> None:
        self._place()
        self._write()

    def _write(self) -> None:
        lines, t = self.lines, theme.current()
        if lines is None:
            return
        wide = self.plotted.width() > 620
        keys = {self.marks[0]: "energy of the input" if wide else "input"}
        if lines.layer is not None:
            keys[self.marks[1]] = "of the layer" if wide else "layer"
            keys[self.response.curve] = "response |ĥ|/|x̂|" if wide else "|ĥ|/|x̂|"
        self.header.name_keys(keys)
        named = zip(("input", self._layer), lines.means)
        said = ", ".join(f"{name} {figure(mean)}" for name, mean in named if mean is not None)
        words = [f"Rayleigh quotient: {said}"] if said else []
        words += [] if self._layer else ["this layer is no field on the nodes"]
        state = [(self._state, t.text, False)] if self._state else []
        title = (self._title, getattr(t, self.colour_role), True)
        self.header.write([title, *state, ("; ".join(words), t.muted, False)])

    def dress(self) -> None:
        super().dress()
        if not hasattr(self, "marks"):
            return
        t = theme.current()
        colour = getattr(t, self.colour_role)
        self.chosen.setOpts(brush=faded(t.accent, 46))
        self.under.setOpts(brush=faded(t.muted, 34))
        for line, own in zip(self.means, (t.muted, colour)):
            line.setPen(ink(mixed(own, t.plot, 0.75).name(), 1.2, style=Qt.PenStyle.DashLine))
        self.marks[0].setPen(ink(t.muted, 1.4))
        self.marks[0].setBrush(None)
        self.marks[1].setPen(None)
        self.marks[1].setBrush(fill(colour))
        self.response.setPen(ink(colour, 1.7))
        self.rug.redraw()
        self._place()
        self._write()

    # the mouse and the keys -----------------------------------------------------------------------------------
    def level_at(self, at: QPointF | None) -> int | None:
        """Return the level nearest to a position, None when none is near."""
        if at is None or self.lines is None or not len(self.lines.values):
            return None
        away = np.abs(self.lines.values - at.x()) * self.pixels().x()
        return int(away.argmin()) if away.min() <= REACH else None

    def level_of(self, vector: int | None) -> int | None:
        """Return the level that an eigenvector belongs to."""
        if self.lines is None or vector is None or not 0 <= vector < int(self.lines.count.sum()):
            return None
        return int(np.searchsorted(self.lines.first, vector, "right")) - 1

    def pointed(self, at: QPointF | None) -> None:
        self._tint(self.under, self.level_at(at))

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
