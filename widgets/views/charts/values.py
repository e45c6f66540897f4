"""The values of the selected layer: a histogram of both sides of its square, and their statistics."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QHBoxLayout, QWidget

from explorer.declare.telling.summaries import Histogram, Silent, Statistics
from explorer.square.frame import Square
from widgets.base.frame_view import FrameView, Pages
from widgets.base.look import theme
from widgets.base.text.words import figure, subject
from widgets.base.view import ViewSpec
from widgets.charts.axis.axes import ValueAxis
from widgets.charts.inks import faded
from widgets.charts.items.marks import Columns, fill, level
from widgets.charts.plot import Plot

NOTHING = "The values of the selected layer appear here as a histogram."
MOST_DEAD = 6  # channels that are named
NONE = "This layer has no finite values."


class HistogramChart(Plot):
    """Counts of F(x) as filled columns, and of F(ρ(g) x) as columns over them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, left=ValueAxis("left", whole=True), bottom=ValueAxis("bottom"))
        self.histogram: Histogram | None = None
        self._role = "first"
        self.columns = self.add(Columns(), 0, "F(x)")
        self.moved = self.add(Columns(), 1, "F(ρ(g)x)")
        self.zero = self.add(level(0.0, theme.current().line, upright=True), 2)
        self.dress()

    def show_histogram(self, found: Histogram, title: str, role: str) -> None:
        if role != self._role:
            self._role = role
            self.dress()
        self.histogram = found
        low, high = found.edges[:-1], found.edges[1:]
        self.columns.set_columns(low, high, np.zeros(len(low)), found.values)
        # narrower, so that both are seen where they overlap
        inset = 0.28 * (high - low)
        self.moved.set_columns(low + inset, high - inset, np.zeros(len(low)), found.moved)
        top = max(int(found.values.max()), int(found.moved.max()), 1)
        self.set_ranges((float(low[0]), float(high[-1])), (0.0, 1.05 * top))
        t = theme.current()
        name, colon, told = title.partition(": ")
        self.header.write([(name, getattr(t, role), True), *([(told, t.muted, False)] if colon else [])])

    def dress(self) -> None:
        super().dress()
        if hasattr(self, "zero"):
            t = theme.current()
            self.columns.setOpts(brush=faded(getattr(t, self._role), 120), pen=None)
            self.moved.setOpts(brush=fill(t.text, 190), pen=None)

    def read(self, at: QPointF) -> str:
        found = self.histogram
        if found is None or not found.edges[0] <= at.x() <= found.edges[-1]:
            return ""
        k = min(int(np.searchsorted(found.edges, at.x(), side="right")) - 1, len(found.values) - 1)
        low, high = found.edges[k], found.edges[k + 1]
        counts = f"{found.values[k]:,} values of F(x), {found.moved[k]:,} of F(ρ(g)x)"
        picked = f"; of {found.count:,} values {found.picked:,} are counted" if found.picked < found.count else ""
        return f"from {figure(float(low))} to {figure(float(high))}: {counts}{picked}"


class ValuesView(FrameView[Square]):
    """Histograms of the selected layer, one model beside the other."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.charts = (HistogramChart(self), HistogramChart(self))
        content = QWidget(self)
        row = QHBoxLayout(content)
        row.setContentsMargins(4, 0, 0, 0)
        row.setSpacing(6)
        for chart in self.charts:
            row.addWidget(chart, 1)
            chart.hovered.connect(self.hovered)
        self._pages = Pages(self, content, NOTHING)
        self.apply_theme()

    def parts(self) -> list[Square]:
        """Return the squares whose layer has a histogram."""
        return [s for s in self.squares if s.figures is not None and s.figures.histogram is not None]

    def reason(self, parts: list[Square]) -> str:
        return "" if parts else NONE if self.squares else NOTHING

    def show_empty(self, sentence: str) -> None:
        self._pages.say(sentence)

    def draw(self, parts: list[Square]) -> None:
        self._pages.say("")
        for k, chart in enumerate(self.charts):
            chart.setVisible(k < len(parts))
        for chart, square, role in zip(self.charts, parts, ("first", "second")):
            assert square.figures is not None and square.figures.histogram is not None
            values = square.figures.values.get(square.layer.name)
            silent = square.figures.silent.get(square.layer.name)
            name = f"{square.title}, {square.layer.name}" if len(parts) > 1 else square.layer.name
            chart.show_histogram(square.figures.histogram, f"{name}{_told(values, silent)}", role)

    def numbers(self) -> dict[str, NDArray[Any]]:
        found: dict[str, NDArray[Any]] = {}
        for k, square in enumerate(self.parts()):
            before = "compare." if k else ""
            assert square.figures is not None and square.figures.histogram is not None
            h = square.figures.histogram
            found |= {f"{before}edges": h.edges, f"{before}F(x)": h.values, f"{before}F(gx)": h.moved}
        return found

    def caption(self) -> str:
        if self.frame is None or not (parts := self.parts()):
            return ""
        return f"Histogram of the values of {parts[0].layer.name}, F(x) and F(ρ(g) x): {subject(self.frame)}."

    def apply_theme(self) -> None:
        for chart in self.charts:
            chart.dress()
        self._pages.apply_theme()


def _told(values: Statistics | None, silent: Silent | None) -> str:
    if values is None:
        return ""
    words = [f"mean {figure(values.mean)} ± {figure(values.std)}", f"{figure(values.low)} to {figure(values.high)}"]
    words += [f"{values.zeros:.1%} zeros"] if values.zeros else []
    if silent is not None:
        some = ", ".join(map(str, silent.channels[:MOST_DEAD])) + (", …" if len(silent.channels) > MOST_DEAD else "")
        words += [f"dead {len(silent.channels)} of {silent.of} channels ({some})"]
    words += [values.strange] if values.strange else []
    return ": " + ", ".join(words)


VIEW = ViewSpec("values", "Values", ValuesView, "bottom", 4, "A histogram of the selected layer's values, both ways.")

if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(ValuesView, lambda view, samples: view.set_frame(samples.make_frame(compare=True)))
