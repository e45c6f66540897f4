"""Chart of what follows of an intervention: how far each layer is from that of the network without it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from explorer.square.frame import Square
from widgets.base.frame_view import FrameView
from widgets.base.look import theme
from widgets.base.text.words import figure, subject
from widgets.base.view import ViewSpec, Wish
from widgets.charts.axis.axes import LogAxis, Name, NameAxis
from widgets.charts.axis.scales import LogScale
from widgets.charts.inks import faded
from widgets.charts.items.marks import DIAMOND, DOT, DOWN, UP, Columns, Marks, Stems, Words, fill, ink
from widgets.charts.plot import Plot

SCALE = LogScale(1e-6, 100.0)
NOTHING = "Nothing follows yet: no layer was intervened in.\nClick a layer or a map with the right mouse button."
SOON = "Measuring what follows…"


class ChangeChart(Plot):
    """Relative change of every layer: a dot on x, a diamond on ρ(g) x; no mark where nothing has changed."""

    clicked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, left=LogAxis("left"), bottom=NameAxis("bottom"))
        self.names: list[str] = []
        self.values: NDArray[Any] = np.zeros((0, 2))
        self._square: Square | None = None
        self.changed, self.chosen = self.add(Columns()), self.add(Columns())
        self.stems = self.add(Stems(), 1)
        self.on_x, self.on_gx = self.add(Marks(symbol=DOT), 3), self.add(Marks(symbol=DIAMOND), 3)
        self.same = Words(self.box, Qt.AlignmentFlag.AlignBottom)
        self.header.name_keys({self.on_x: "on x", self.on_gx: "on ρ(g)x"})
        self.dress()

    def show_square(self, square: Square | None, sentence: str = "") -> None:
        """Draw the changes of a square, or a sentence in their place."""
        self.message, self._square = sentence, square
        if square is None or sentence:
            return
        self.names = [layer.name for layer in square.layers if layer.name in square.changes]
        self.values = np.array([(square.changes[n].on_x, square.changes[n].on_gx) for n in self.names]).reshape(-1, 2)
        self.set_ranges((-0.5, max(0.5, len(self.names) - 0.5)), SCALE.decades)
        at = {one.layer for one in square.interventions}
        bottom, top = SCALE.decades
        for item, wanted in ((self.changed, at), (self.chosen, {square.layer.name} - at)):
            x = np.array([k for k, name in enumerate(self.names) if name in wanted], dtype=float)
            item.set_columns(x - 0.5, x + 0.5, bottom, top)
        self.bottom.set_names([Name(n, "second" if n in at else "accent" if n == square.layer.name else "", "line", 1.5)
                               for n in self.names])  # fmt: skip
        self.same.set_words([(float(k), "unchanged", "muted") for k, v in enumerate(self.values) if not v.any()])
        self._place()
        self._write()

    def _place(self) -> None:
        if not len(self.names) or self.message:
            return
        unit, t = self.pixels(), theme.current()
        width = max(unit.x(), 0.1)
        r = min(4.2, max(1.5, 0.16 * width))
        aside = min(9.0, 0.17 * width) / width if width >= 9 else 0.0
        x = np.arange(len(self.names), dtype=float)
        stems = []
        for item, column, dx in ((self.on_x, 0, -aside), (self.on_gx, 1, aside)):
            values = self.values[:, column]
            there = np.flatnonzero(values > 0)
            outside = [SCALE.outside(v) for v in values[there]]
            others = {k: (UP if o > 0 else DOWN, ink(t.second, 1.4), fill(t.plot)) for k, o in enumerate(outside) if o}
            heights = SCALE.decade(values[there])
            item.set_marks(x[there] + dx, heights, 2 * r, others)
            stems.append((x[there] + dx, heights))
        self.stems.set_stems(*(np.concatenate(part) for part in zip(*stems)), SCALE.decades[0])
        self.stems.setVisible(width >= 9)

    def _write(self) -> None:
        if self._square is None:
            return
        t, end = theme.current(), self._square.changes
        told = "; ".join(one.told for one in self._square.interventions)
        last = next((n for n in reversed(self.names) if n in end), "")
        said = f"{last}: {percent(end[last].on_x)} on x, {percent(end[last].on_gx)} on ρ(g)x" if last else ""
        self.header.write([(self._square.title, t.first, True), (said, t.text, False), (told, t.muted, False)])

    def reshaped(self) -> None:
        self._place()

    def dress(self) -> None:
        super().dress()
        if not hasattr(self, "same"):
            return
        t = theme.current()
        self.changed.setOpts(brush=faded(t.second, 34))
        self.chosen.setOpts(brush=faded(t.accent, 26))
        self.stems.setPen(ink(t.first, 1.2, 110))
        self.on_x.setPen(ink(t.first, 1.4))
        self.on_x.setBrush(fill(t.first))
        self.on_gx.setPen(ink(t.first, 1.4))
        self.on_gx.setBrush(fill(t.plot))
        self.same.dress(self.small())
        self._place()
        self._write()

    # the mouse ------------------------------------------------------------------------------------------------
    def index_at(self, at: QPointF) -> int | None:
        """Return the layer at a position."""
        index = math.floor(at.x() + 0.5)
        return index if 0 <= index < len(self.names) else None

    def read(self, at: QPointF) -> str:
        if (index := self.index_at(at)) is None:
            return ""
        on_x, on_gx = self.values[index]
        return f"{self.names[index]} changes by {percent(on_x)} on x, by {percent(on_gx)} on ρ(g)x"

    def clicked_at(self, at: QPointF) -> None:
        if (index := self.index_at(at)) is not None:
            self.clicked.emit(self.names[index])


class ChangesView(FrameView[Square]):
    """The chart of the first model, in which alone a person intervenes."""

    MOST = 1
    NOTHING = NONE = NOTHING

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.chart = ChangeChart(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.chart)
        self.chart.hovered.connect(self.hovered)
        self.chart.clicked.connect(lambda name: self.wished.emit(Wish(changes={"layer": name})))
        self.refresh()

    def parts(self) -> list[Square]:
        return [square for square in self.squares if square.interventions]

    def missing(self, parts: list[Square]) -> str:
        return "" if parts[0].changes else SOON

    def draw(self, parts: list[Square]) -> None:
        self.chart.show_square(parts[0])

    def show_empty(self, sentence: str) -> None:
        self.chart.show_square(None, sentence)

    def numbers(self) -> dict[str, NDArray[Any]]:
        parts = self.parts()
        if not parts or not parts[0].changes:
            return {}
        return {
            "layer": np.array(self.chart.names, dtype=np.str_),
            "change on x": self.chart.values[:, 0],
            "change on rho(g)x": self.chart.values[:, 1],
        }

    def caption(self) -> str:
        if self.frame is None or not self.parts():
            return ""
        return f"Relative change of every layer against the network without interventions: {subject(self.frame)}."

    def apply_theme(self) -> None:
        self.chart.dress()


def percent(value: float) -> str:
    """Return a relative change for reading."""
    if value == 0:
        return "nothing"
    return f"{100 * value:.3g} %" if 1e-4 <= value < 100 else f"{figure(value)} times its size"


VIEW = ViewSpec(
    "changes", "What follows", ChangesView, "bottom", 3,
    "How far each layer is from that of the network without the interventions.",
)  # fmt: skip

if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(ChangesView, lambda view, samples: view.set_frame(samples.make_frame()))
