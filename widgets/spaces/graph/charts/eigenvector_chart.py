"""One eigenvector as colours: on the graph where positions come with the data, else as bars sorted by value."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Signal
from PySide6.QtWidgets import QWidget

from explorer.spaces.graph.drawing.values import GraphPart, Structure
from widgets.base.look import theme
from widgets.base.text.words import figure
from widgets.charts.axis.axes import NameAxis, ValueAxis
from widgets.charts.inks import mixed
from widgets.charts.items.heat import Strip
from widgets.charts.items.marks import DOT, Columns, Marks, fill, ink, level
from widgets.charts.library import pg
from widgets.charts.plot import Plot
from widgets.spaces.graph.charts.spectrum_chart import eigenvalue_text

MOST_LINES = 20_000  # edges of a small picture; of more, evenly spaced ones
MOST_DOTS = 6_000
REACH = 8.0
SHADES = 128  # of the signed map: each needs a brush
ROOM = 0.04  # of the drawing, on each of its sides


class EigenvectorChart(Plot):
    """The values of one eigenvector at the nodes; a click selects the node."""

    clicked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, left=ValueAxis("left"), bottom=NameAxis("bottom"))
        for axis in (self.left, self.bottom):
            axis.setStyle(showValues=False)
            axis.setGrid(False)
        self.box.setMouseEnabled(x=False, y=False)
        self.values: NDArray[np.float64] = np.zeros(0)
        self.structure: Structure | None = None
        self.node: int | None = None
        self.order: NDArray[np.int64] = np.zeros(0, np.int64)  # nodes from the lowest value to the highest
        self.places: NDArray[np.float64] | None = None  # (N, 2)
        self._edges: NDArray[np.int64] = np.zeros((2, 0), np.int64)
        self._number, self._value = 0, 0.0
        self.lines = self.add(pg.PlotCurveItem(connect="pairs"))
        self.nodes = self.add(Marks(symbol=DOT), 1)
        self.bars, self.zero = self.add(Columns(), 1), self.add(level(0.0, theme.current().line), 2)
        self.frames = self.add(pg.PlotCurveItem(), 3)  # round the selected node's bar, and round its dot
        self.ring = self.add(Marks(symbol=DOT, brush=None), 3)
        self.colours = Strip(theme.signed_map)
        self.item.layout.addItem(self.colours, 4, 1)
        self.set_fonts()
        self.dress()

    def show_vector(self, part: GraphPart | None, number: int | None, node: int | None) -> None:
        """Show eigenvector `number` of the graph's spectrum; None asks to pick one."""
        spectrum = part.spectrum if part is not None else None
        self.node = node
        if part is None or spectrum is None or number is None or number >= len(spectrum.eigenvalues):
            self.values = np.zeros(0)
            self.message = "Click an eigenvalue to see its eigenvector"
            return
        self.values = np.asarray(spectrum.vectors[:, number], dtype=np.float64)
        self._number, self._value = number, float(spectrum.eigenvalues[number])
        self.order = np.argsort(self.values, kind="stable")
        if self.structure is not part.structure:
            self.structure, self.places = part.structure, _flat(part.structure.positions)
            self._edges = _some(part.structure)
        self.message = ""
        self._update()

    def name(self, node: int) -> str:
        names = self.structure.names if self.structure is not None else ()
        return names[node] if names and names[node] else f"node {node}"

    # drawing --------------------------------------------------------------------------------------------------
    @property
    def largest(self) -> float:
        return float(np.nanmax(np.abs(self.values), initial=0.0)) or 1.0

    def _update(self) -> None:
        """Hand the numbers to the items: positions with one scale for both axes, or bars."""
        placed = self.places is not None
        for item, there in (
            (self.lines, placed),
            (self.nodes, placed),
            (self.bars, not placed),
            (self.zero, not placed),
        ):
            item.setVisible(there)
        self.box.keep_round(placed)
        if self.places is not None:
            low, high = self.places.min(0), self.places.max(0)
            room = ROOM * max(float((high - low).max()), 1e-12)
            self.set_ranges(*((float(a - room), float(b + room)) for a, b in zip(low, high)))
            ends = self.places[self._edges.T.ravel()]
            self.lines.setData(ends[:, 0], ends[:, 1], connect="pairs")
        else:
            self.set_ranges((0.0, float(max(1, len(self.values)))), (-1.05 * self.largest, 1.05 * self.largest))
        self._place()
        self._write()

    def _place(self) -> None:
        """Draw as many nodes as there are pixels for, and the selected one."""
        count, unit = len(self.values), self.pixels()
        if not count:
            return
        share = np.clip((np.nan_to_num(self.values) / self.largest + 1) / 2, 0, 1)
        table = theme.signed_map()[np.linspace(0, 511, SHADES).astype(int)]
        brushes = [fill("#{:02x}{:02x}{:02x}".format(*row[:3])) for row in table]
        shades = np.round(share * (SHADES - 1)).astype(int)
        selected = self.node if self.node is not None and self.node < count else None
        if self.places is not None:
            area = self.plotted
            size = 2 * min(5.5, max(1.6, 0.32 * math.sqrt(area.width() * area.height() / count)))
            some = np.arange(0, count, max(1, count // MOST_DOTS))
            rim = ink(theme.current().muted, 0.8) if size > 4.4 else None
            self.nodes.setData(*self.places[some].T, size=size, pen=rim, brush=[brushes[k] for k in shades[some]])
            self.ring.set_marks(*self.places[[] if selected is None else [selected]].T, size + 1)
            self.frames.setData([], [])
            return
        places = np.arange(count) if unit.x() >= 1 else np.linspace(0, count - 1, max(1, int(self.plotted.width())))
        places = places.astype(int)
        shown, gap = self.order[places], 0.5 / unit.x() if unit.x() > 3 else 0.0
        high, wide = np.nan_to_num(self.values[shown]), max(1.0, 1 / max(unit.x(), 1e-9))
        least = 1 / max(unit.y(), 1e-9)
        high = np.where(np.abs(high) < least, np.where(high < 0, -least, least), high)
        self.bars.set_columns(places + gap, places + wide - gap, np.minimum(high, 0), np.maximum(high, 0))
        # the colour of values near zero is that of the ground
        edge = ink(mixed(theme.current().muted, theme.current().plot, 0.6).name(), 0.7) if unit.x() > 3 else None
        self.bars.setOpts(brushes=[brushes[k] for k in shades[shown]], pen=edge)
        self.ring.set_marks(np.zeros(0), np.zeros(0), 1.0)
        at = np.flatnonzero(self.order == selected).astype(float) if selected is not None else np.zeros(0)
        wide, end = max(1.0, 3 / max(unit.x(), 1e-9)), 1.03 * self.largest
        x, y = (at + np.array([0, wide, wide, 0, 0]), end * np.array([-1, -1, 1, 1, -1])) if len(at) else (at, at)
        self.frames.setData(x, y)

    def reshaped(self) -> None:
        self._place()

    def _write(self) -> None:
        t = theme.current()
        how = "" if self.places is not None else "nodes sorted by value"
        said = f"u{self._number + 1}, λ = {eigenvalue_text(self._value)}"
        self.header.write([(said, t.text, True), (how, t.muted, False)])
        self.colours.write(f"−{figure(self.largest)}", f"+{figure(self.largest)}")

    def set_fonts(self) -> None:
        super().set_fonts()
        if hasattr(self, "colours"):
            self.colours.set_font(self.small())

    def dress(self) -> None:
        super().dress()
        if hasattr(self, "colours"):
            t = theme.current()
            self.lines.setPen(ink(mixed(t.muted, t.plot, 0.35).name()))
            self.zero.setPen(ink(t.line))
            self.frames.setPen(ink(t.accent, 1.6))
            self.ring.setPen(ink(t.accent, 2.2))
            self.colours.dress()
            self._place()
            self._write()

    # the mouse ------------------------------------------------------------------------------------------------
    def node_at(self, at: QPointF) -> int | None:
        if not len(self.values) or not self.plotted.contains(self.at(at.x(), at.y())):
            return None
        if self.places is not None:
            away = np.hypot(*((self.places - [at.x(), at.y()]) * [self.pixels().x(), self.pixels().y()]).T)
            nearest = int(away.argmin())
            return nearest if away[nearest] <= REACH else None
        index = math.floor(at.x())
        return int(self.order[index]) if 0 <= index < len(self.values) else None

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


def _flat(positions: NDArray[np.floating] | None) -> NDArray[np.float64] | None:
    """Return the first two coordinates; None without finite positions."""
    if positions is None or not len(positions) or not np.isfinite(positions).all():
        return None
    return np.asarray(positions, dtype=np.float64)[:, :2]
