"""The layers of this run beside those of another: the difference of each, and maps of the selected one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from explorer.declare.telling.summaries import Differences
from explorer.square.frame import Square
from widgets.base.frame_view import FrameView, Pages
from widgets.base.look import theme
from widgets.base.text.words import figure, subject
from widgets.base.view import ViewSpec, Wish
from widgets.charts.adaptive import Adaptive
from widgets.charts.axis.axes import LogAxis, Name, NameAxis
from widgets.charts.axis.scales import LogScale
from widgets.charts.items.marks import DOT, Marks, Stems, fill, ink, level
from widgets.charts.plot import Plot
from widgets.maps.map_grid import MapGrid
from widgets.maps.mosaic import symmetric_scale

NOTHING = (
    "Compare this run with another one, layer by layer: Model › Compare with other weights…, another input…, or with "
    "what is shown now, before a change."
)
SCALE = LogScale(1e-9, 10.0)


class DifferenceChart(Plot):
    """‖a − b‖ / ‖a‖ of each layer, on a logarithmic axis; a click selects the layer."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        self.names = NameAxis("bottom")
        super().__init__(parent, left=LogAxis("left"), bottom=self.names)
        self.layers: list[str] = []
        self.values: NDArray[Any] = np.zeros(0)
        self.notes: list[str] = []
        self.box.setMouseEnabled(x=True, y=False)
        self.stems = self.add(Stems(), 0)
        self.marks = self.add(Marks(symbol=DOT, pen=None), 1)
        self.here = self.add(level(0.0, theme.current().accent, upright=True), -1)
        self.dress()

    def show_differences(self, found: Differences, selected: str) -> None:
        self.layers = list(found.layers)
        each = list(found.layers.values())
        self.values = np.array([math.nan if d.relative is None else d.relative for d in each], dtype=float)
        self.notes = [d.note for d in each]
        x, y = np.arange(len(each), dtype=float), SCALE.decade(self.values)
        there = np.isfinite(y)
        self.stems.set_stems(x, y, SCALE.decades[0])
        self.marks.set_marks(x[there], y[there], 8.0)
        t = theme.current()
        self.names.set_names([Name(n, "accent" if n == selected else "", "muted" if d.note else "")
                              for n, d in found.layers.items()])  # fmt: skip
        if selected in self.layers:
            self.here.setValue(self.layers.index(selected))
            self.here.setPen(ink(t.accent, 1.2))
        self.set_ranges((-0.6, max(0.6, len(each) - 0.4)), SCALE.decades)

    def dress(self) -> None:
        super().dress()
        if hasattr(self, "marks"):
            t = theme.current()
            self.marks.setBrush(fill(t.second))
            self.stems.setPen(ink(t.second, 1.2))

    def _index(self, at: QPointF) -> int | None:
        k = round(at.x())
        return k if 0 <= k < len(self.layers) else None

    def read(self, at: QPointF) -> str:
        k = self._index(at)
        if k is None:
            return ""
        said = self.notes[k] or f"differs by {figure(float(self.values[k]))} of its size"
        return f"{self.layers[k]}: {said}"

    def clicked_at(self, at: QPointF) -> None:
        k = self._index(at)
        if k is not None:
            self.chosen.emit(self.layers[k])


class DifferencesView(FrameView[Square]):
    """Draws how far each layer lies from the same layer of another run, and three maps of the selected one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: Differences | None = None
        self._epoch: object = None
        self.sentence = QLabel(self)
        self.sentence.setMargin(6)
        self.sentence.setWordWrap(True)
        self.chart = DifferenceChart(self)
        self.chart.chosen.connect(self._choose)
        self.chart.hovered.connect(self.hovered)
        self.grids = (MapGrid(), MapGrid(), MapGrid())
        maps = QWidget(self)
        row = QHBoxLayout(maps)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        for grid in self.grids:
            row.addWidget(grid, 1)
        both = QWidget(self)
        beside = Adaptive(both)
        beside.setContentsMargins(4, 0, 0, 0)
        beside.addWidget(self.chart, 3)
        beside.addWidget(maps, 2)
        content = QWidget(self)
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.sentence)
        column.addWidget(both, 1)
        self.pages = Pages(self, content, NOTHING)
        self.apply_theme()

    # frames ---------------------------------------------------------------------------------------------------
    def parts(self) -> list[Square]:
        """Return the first square, where it is compared with another run."""
        frame = self.frame
        if frame is None or not (frame.state.against or frame.state.compare):
            return []
        return list(self.squares[:1])

    def reason(self, parts: list[Square]) -> str:
        return "" if parts else NOTHING

    def show_empty(self, sentence: str) -> None:
        self._shown = None
        self.pages.say(sentence)

    def draw(self, parts: list[Square]) -> None:
        assert self.frame is not None
        found, key = parts[0].differences, (self.frame.state.epoch, self.frame.state.against)
        if found is None:
            # they follow in idle time: until then those of this epoch stay
            if key != self._epoch:
                self.pages.say("Comparing the layers of both runs…")
            return
        self._epoch, self._shown = key, found
        self.pages.say("")
        # without a layer to compare the sentence says so, and an empty chart would say it worse
        self.chart.setVisible(any(d.relative is not None for d in found.layers.values()))
        self.sentence.setText(found.sentence)
        self.chart.show_differences(found, found.layer)
        scale = symmetric_scale([found.here, found.there])
        # a difference has a scale of its own: next to the values a small one would be grey
        own = symmetric_scale([found.apart])
        named = (("this run", found.here, scale), (found.other, found.there, scale), ("difference", found.apart, own))
        for grid, (title, values, most) in zip(self.grids, named):
            grid.set_values(values, -most, most, "signed")
            other_shapes = title == "difference" and found.here is not None and found.there is not None
            missing = "" if values is not None else ": other shapes" if other_shapes else ": not there"
            grid.set_title(title + missing)
            grid.arrange()

    def _choose(self, layer: str) -> None:
        if self.frame is not None and layer != self.frame.squares[0].layer.name:
            self.wished.emit(Wish(changes={"layer": layer}))

    # exports --------------------------------------------------------------------------------------------------
    def numbers(self) -> dict[str, NDArray[Any]]:
        found = self._shown
        if found is None:
            return {}
        each = list(found.layers.values())
        arrays: dict[str, NDArray[Any]] = {
            "layer": np.array(list(found.layers), dtype=np.str_),
            "relative": np.array([np.nan if d.relative is None else d.relative for d in each], dtype=float),
            "largest": np.array([np.nan if d.largest is None else d.largest for d in each], dtype=float),
            "note": np.array([d.note for d in each], dtype=np.str_),
        }
        if found.apart is not None:
            arrays["difference"] = found.apart
        return arrays

    def caption(self) -> str:
        return f"{self._shown.sentence} {subject(self.frame)}." if self._shown is not None and self.frame else ""

    def apply_theme(self) -> None:
        t = theme.current()
        self.sentence.setStyleSheet(f"color: {t.text}; background: {t.panel};")
        self.chart.dress()
        for grid in self.grids:
            grid.apply_theme()
        self.pages.apply_theme()


VIEW = ViewSpec("differences", "Differences", DifferencesView, "bottom", 5, "How far each layer lies from another run.")

if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(DifferencesView, lambda view, samples: view.set_frame(samples.make_frame(compare=True)))
