"""Error per layer: where the square stops commuting, and which layer makes it stop."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtWidgets import QWidget

from explorer.declare.telling.hints import in_short
from explorer.declare.types.field_text import parse_field
from explorer.square.frame import Frame, Measure, Square
from widgets.base.look import theme
from widgets.base.look.switched_parts import badges
from widgets.base.text.words import (
    counterpart,
    figure,
    inherited,
    read_before,
    read_out,
    subject,
    verdict_colour_role,
    verdict_in_brief,
    verdict_sentence,
    words_before,
)
from widgets.base.view import View, ViewSpec, Wish
from widgets.charts.adaptive import Adaptive
from widgets.charts.axis.axes import LogAxis, Name, NameAxis, ValueAxis
from widgets.charts.axis.scales import LogScale, scale_for
from widgets.charts.inks import faded, mixed
from widgets.charts.items.earlier_marks import Former
from widgets.charts.items.header import Header
from widgets.charts.items.marks import DASH, DIAMOND, DOT, DOWN, UP, Columns, Marks, Stems, Words, fill, ink
from widgets.charts.library import pg
from widgets.charts.plot import Plot

NAN = "NaN"


@dataclass(frozen=True, slots=True)
class Column:
    """One layer as it is drawn."""

    name: str
    measure: Measure | None
    guilty: bool
    before: Measure | None = None  # of the network before its file was edited


def _gap(measure: Measure | None) -> str:
    """Return why there is no mark for a layer, "" when there is one."""
    if measure is None or measure.cumulative is None:
        return "not measured" if measure is None else "nothing left" if measure.emptied else "no law"
    return NAN if math.isnan(measure.cumulative) else ""


def _figures(measures: list[Measure | None], key: str) -> NDArray[Any]:
    """Return a figure of each measure, NaN where there is none."""
    values = [getattr(measure, key, None) for measure in measures]
    return np.array([np.nan if v is None else v for v in values], dtype=float)


class LayerChart(Plot):
    """Cumulative and local error of every layer of one model, in execution order."""

    clicked = Signal(str)
    source_asked = Signal(str)  # the layer whose lines of source are wanted
    BY_MARKS = False

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, left=LogAxis("left"), bottom=NameAxis("bottom"))
        self.header.followed.connect(self._follow_link)
        self.scale = LogScale()
        self.columns: list[Column] = []
        self.selected, self.colour_role = "", "first"
        self._title = self._hints = ""
        self._verdict = ("", "", "muted")
        self._suspect: str = ""  # the guilty layer that the verdict leads to: the selected one, else the first
        self._errors: dict[str, NDArray[Any]] = {}
        self._before: dict[str, NDArray[Any]] = {}
        self.guilty, self.chosen, self.under, self.floor = (self.add(Columns()) for _ in range(4))
        self.stems = self.add(Stems(), 1)
        self.trail = self.add(pg.PlotCurveItem(connect="finite"), 2)
        self.trail.setSegmentedLineMode("on")
        self.chance = self.add(Marks(symbol=DASH), 3)
        self.former = {"cumulative": Former(self, DOT), "local": Former(self, DIAMOND)}
        self.cumulative, self.local = self.add(Marks(symbol=DOT), 4), self.add(Marks(symbol=DIAMOND), 5)
        self.gaps = Words(self.box)
        self.dress()

    def show_square(self, square: Square | None, role: str, scale: LogScale) -> None:
        self.scale = scale
        layers = square.layers if square is not None else ()
        guilty = set(square.guilty) if square is not None else set()
        measures = square.measures if square is not None else {}
        before = square.before if square is not None else {}
        self.columns = [Column(n.name, measures.get(n.name), n.name in guilty, before.get(n.name)) for n in layers]
        for key in ("cumulative", "local", "floor", "chance"):
            self._errors[key] = _figures([column.measure for column in self.columns], key)
        for key in self.former:
            self._before[key] = _figures([column.before for column in self.columns], key)
        self._name_keys(bool(before))
        if square is None:
            self.message = "Nothing is measured yet: once the network has answered, the error of every layer is here."
        elif not layers:
            self.message = f"{square.title} has no layer that can be watched."
        else:
            self.selected = square.layer.name
            self._suspect = self.selected if self.selected in guilty else next(iter(square.guilty), "")
            self._title = square.title
            self._verdict = (verdict_sentence(square), verdict_in_brief(square), verdict_colour_role(square))
            self._hints = "; ".join(filter(None, (words_before(square), *in_short(square.hints, square.guilty))))
            if role != self.colour_role:
                self.colour_role = role
                self.dress()
            self.message = ""
            self.set_ranges((-0.5, max(0.5, len(self.columns) - 0.5)), scale.roomy)
            self._update()

    def _follow_link(self) -> None:
        self.source_asked.emit(self._suspect)

    def _name_keys(self, before: bool) -> None:
        keys = {self.cumulative: "cumulative", self.local: "local", self.floor: "floor", self.chance: "chance"}
        self.header.name_keys(keys | ({self.former["cumulative"].marks: "before the edit"} if before else {}))

    def index_at(self, at: QPointF | None) -> int | None:
        """Return the column at a position in the plot, or above or below it."""
        low, high = self.box.viewRange()[0]
        index = math.floor(at.x() + 0.5) if at is not None and low <= at.x() <= high else -1
        return index if 0 <= index < len(self.columns) else None

    # drawing --------------------------------------------------------------------------------------------------
    def _update(self) -> None:
        """Hand the numbers of all columns to the items."""
        x, (bottom, top) = np.arange(len(self.columns)), self.scale.roomy
        floor = np.where(np.isfinite(self._errors["floor"]), self._errors["floor"], np.nan)
        self.floor.set_columns(x - 0.5, x + 0.5, bottom, self.scale.decade(floor))
        for item, at in ((self.guilty, [i for i in x if self.columns[i].guilty]),
                         (self.chosen, [i for i in x if self.columns[i].name == self.selected])):  # fmt: skip
            item.set_columns(np.array(at) - 0.5, np.array(at) + 0.5, bottom, top)
        gaps = [(float(i), _gap(column.measure)) for i, column in enumerate(self.columns)]
        self.gaps.set_words([(i, text, "bad" if text == NAN else "muted") for i, text in gaps if text])
        self.bottom.set_names([self._name(column) for column in self.columns])
        self._place()
        self._write()

    def _name(self, column: Column) -> Name:
        """Return a layer's name with its verdict: thick where broken, thin where it holds, so colour is not all."""
        m = column.measure
        verdict = m.verdict if m is not None and not inherited(m) else ""
        strip, thick = {"broken": ("bad", 5.0), "holds": ("good", 3.0)}.get(verdict, ("line", 1.5))
        role = "bad" if column.guilty else "accent" if column.name == self.selected else ""
        return Name(column.name, role, strip, thick)

    def _place(self) -> None:
        """Place the marks: cumulative and local stand side by side, as far apart as columns are wide."""
        if not self._errors:
            return
        unit = self.pixels()
        width = max(unit.x(), 0.1)
        r = min(4.2, max(1.5, 0.16 * width))
        aside = min(9.0, 0.17 * width) / width if width >= 9 else 0.0
        t, x = theme.current(), np.arange(len(self.columns), dtype=float)
        colour = getattr(t, self.colour_role)
        stems = []
        for item, key, dx in ((self.cumulative, "cumulative", -aside), (self.local, "local", aside)):
            values = self._errors[key]
            there = np.flatnonzero(~np.isnan(values))
            outside = np.array([self.scale.outside(values[i]) for i in there], dtype=int)
            heights = self.scale.decade(values[there]) - outside * r / max(unit.y(), 1e-9)
            others = {k: (UP if o > 0 else DOWN, ink(colour, 1.4), fill(t.plot)) for k, o in enumerate(outside) if o}
            if key == "local":
                guilty = (k for k, i in enumerate(there) if self.columns[i].guilty and not outside[k])
                others |= {k: (DIAMOND, ink(t.bad, 1.4), fill(t.plot)) for k in guilty}
            item.set_marks(x[there] + dx, heights, 2 * r, others)
            before, now = (self.scale.decade(every[key]) for every in (self._before, self._errors))
            self.former[key].set_values(x + dx, before, now, 2 * r)
            stems.append((x[there] + dx, np.where(outside == 0, heights, np.nan)))
        self.trail.setData(x - aside, self.scale.decade(self._errors["cumulative"]))
        self.stems.setVisible(width >= 9)
        self.stems.set_stems(*(np.concatenate(part) for part in zip(*stems)), self.scale.decades[0])
        self.stems.setPen(ink(colour, max(1.0, 0.5 * r), 110))
        there = np.isfinite(self._errors["chance"])
        self.chance.set_marks(x[there], self.scale.decade(self._errors["chance"][there]), min(28.0, 0.64 * width))

    def reshaped(self) -> None:
        self._place()

    def _write(self) -> None:
        t = theme.current()
        verdict, brief, role = self._verdict if badges() else ("", "", "muted")
        self.header.write([
            (self._title, getattr(t, self.colour_role), True), (verdict, getattr(t, role), role == "bad"),
            (self._hints, t.muted, False),
        ], link=1 if self._suspect else None, brief={1: brief})  # fmt: skip

    def dress(self) -> None:
        super().dress()
        if not hasattr(self, "gaps"):
            return
        t = theme.current()
        colour = getattr(t, self.colour_role)
        self.floor.setOpts(brush=faded(t.band, 190))
        self.guilty.setOpts(brush=faded(t.bad, 34))
        self.chosen.setOpts(brush=faded(t.accent, 34))
        self.under.setOpts(brush=faded(t.muted, 26))
        self.trail.setPen(ink(mixed(colour, t.plot, 0.5).name()))
        self.chance.setPen(ink(t.muted, 1.2))
        self.cumulative.setPen(ink(colour, 1.4))
        self.cumulative.setBrush(fill(colour))
        self.local.setPen(ink(colour, 1.4))
        self.local.setBrush(fill(t.plot))
        for former in self.former.values():
            former.dress()
        self.gaps.dress(self.small())
        self._place()
        self._write()

    # the mouse and the keys -----------------------------------------------------------------------------------
    def read(self, at: QPointF) -> str:
        if (index := self.index_at(at)) is None:
            return ""
        column = self.columns[index]
        parts = read_out(column.name, column.measure, "\n", column.guilty), read_before(column.before)
        return "\n".join(filter(None, parts))

    def pointed(self, at: QPointF | None) -> None:
        index = self.index_at(at)
        found = np.zeros(0) if index is None or self.columns[index].name == self.selected else np.array([float(index)])
        self.under.set_columns(found - 0.5, found + 0.5, *self.scale.decades)

    def clicked_at(self, at: QPointF) -> None:
        if (index := self.index_at(at)) is not None:
            self.clicked.emit(self.columns[index].name)

    def keyPressEvent(self, event: Any) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.selected:
            self.source_asked.emit(self.selected)
            return
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(event.key(), 0)
        names = [column.name for column in self.columns]
        if not step or self.selected not in names:
            super().keyPressEvent(event)
            return
        index = names.index(self.selected) + step
        if 0 <= index < len(names):
            self.clicked.emit(names[index])


class ChannelStrip(Plot):
    """The selected layer's error, channel by channel, on the same axis."""

    clicked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, left=LogAxis("left"), bottom=ValueAxis("bottom", whole=True))
        self.footer = Header()
        self.item.layout.addItem(self.footer, 4, 1)
        for axis in (self.left, self.bottom):
            axis.setStyle(showValues=False)
        self.bottom.setGrid(False)
        self.set_fonts()
        self.scale = LogScale()
        self.values: NDArray[Any] = np.zeros(0)
        self.colour_role = "first"
        self.block = 1  # orientations per field: channels of one field are drawn on one ground
        self.channel: int | None = None
        self._layer = ""
        self.fields, self.bars = self.add(Columns()), self.add(Columns(), 1)
        self.dress()

    def show_square(self, square: Square | None, role: str, channel: int | None, scale: LogScale) -> None:
        measure = square.measures.get(square.layer.name) if square is not None else None
        values = measure.channels if measure is not None else None
        self.values = np.zeros(0) if values is None else np.asarray(values, dtype=float).ravel()
        self.colour_role, self.channel, self.scale = role, channel, scale
        self._layer = square.layer.name if square is not None else ""
        try:
            self.block = parse_field(square.layer.field).rep.size if square is not None else 1
        except ValueError:
            self.block = 1
        self.message = "" if self.values.size else "no error per channel"
        if self.values.size:
            self.set_ranges((-0.5, max(0.5, self.values.size - 0.5)), scale.roomy)
            self._update()

    def _update(self) -> None:
        starts = np.arange(self.block, self.values.size, 2 * self.block) if self.block > 1 else np.zeros(0)
        self.fields.set_columns(starts - 0.5, starts + self.block - 0.5, *self.scale.decades)
        self._place()
        count = self.values.size
        finite = self.values[np.isfinite(self.values)]
        t = theme.current()
        worst = f"worst: {int(np.nanargmax(self.values))} ({figure(float(finite.max()))})" if finite.size else ""
        name = f"{count} channel{'s' * (count != 1)} of {self._layer}"
        self.header.write([(name, t.muted, False)], brief={0: name.partition(" of ")[0]})
        self.footer.write([(worst, t.muted, False)])

    def set_fonts(self) -> None:
        super().set_fonts()
        if hasattr(self, "footer"):
            self.footer.set_font(self.small(), 2)

    def _place(self) -> None:
        """Stand the bars; zero keeps a sliver, because it was measured."""
        if not self.values.size:
            self.bars.set_columns(*4 * [np.zeros(0)])
            return
        unit, t = self.pixels(), theme.current()
        half = 0.38 if unit.x() > 4 else 0.5
        x, (bottom, _) = np.arange(self.values.size), self.scale.decades
        heights = np.fmax(self.scale.decade(self.values), bottom + 1.5 / max(unit.y(), 1e-9))
        colours = np.where(np.isnan(self.values), t.bad, getattr(t, self.colour_role)).tolist()
        if self.channel is not None and 0 <= self.channel < len(colours):
            colours[self.channel] = t.accent
        self.bars.set_columns(x - half, x + half, bottom, heights)
        self.bars.setOpts(brushes=[fill(c) for c in colours])

    def reshaped(self) -> None:
        self._place()

    def dress(self) -> None:
        super().dress()
        if hasattr(self, "bars"):
            self.fields.setOpts(brush=faded(theme.current().muted, 22))
            self._update()

    def index_at(self, at: QPointF) -> int | None:
        index = math.floor(at.x() + 0.5)
        return index if 0 <= index < self.values.size else None

    def read(self, at: QPointF) -> str:
        if (index := self.index_at(at)) is None:
            return ""
        where = f" (field {index // self.block}, orientation {index % self.block})" if self.block > 1 else ""
        return f"{self._layer} channel {index}{where}: {figure(float(self.values[index]))}"

    def clicked_at(self, at: QPointF) -> None:
        if (index := self.index_at(at)) is not None:
            self.clicked.emit(index)


class Panel(QWidget):
    """One model: its layers, and the channels of the selected one where there is room."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.layers, self.channels = LayerChart(self), ChannelStrip(self)
        self.setSizePolicy(self.layers.sizePolicy())

    def minimumSizeHint(self) -> QSize:
        return self.layers.minimumSizeHint()

    def sizeHint(self) -> QSize:
        return self.layers.sizeHint()

    def resizeEvent(self, event: Any) -> None:
        # by hand: a layout would only follow the strip's new width on the next turn of the event loop
        width, height = event.size().width(), event.size().height()
        strip = int(min(300, max(120, 0.22 * width))) if width >= 400 else 0
        self.layers.setGeometry(0, 0, width - strip, height)
        self.channels.setGeometry(width - strip, 0, strip, height)
        self.channels.setVisible(bool(strip))


class ErrorsView(View):
    """Cumulative and local relative error of every layer on a logarithmic axis, against floor and chance."""

    requested = Signal(str)  # "source": the selected layer's lines

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._frame: Frame | None = None
        self.panels = (Panel(self), Panel(self))
        row = Adaptive(self)
        row.setSpacing(4)
        for k, panel in enumerate(self.panels):
            row.addWidget(panel)
            panel.layers.clicked.connect(lambda name, k=k: self._layer_clicked(k, name))
            panel.layers.source_asked.connect(lambda name, k=k: self._source_asked(k, name))
            panel.layers.hovered.connect(self.hovered)
            panel.channels.hovered.connect(self.hovered)
            panel.channels.clicked.connect(lambda i: self.wished.emit(Wish(changes={"channel": i})))
        self.panels[1].hide()
        self.show_frame(None)

    def show_frame(self, frame: Frame | None) -> None:
        self._frame = frame
        squares = frame.squares if frame is not None else ()
        self.panels[1].setVisible(len(squares) > 1)
        for k, (panel, role) in enumerate(zip(self.panels, ("first", "second"))):
            square = squares[k] if k < len(squares) else None
            scale = scale_for(frame.state.dtype if frame is not None else "float32")
            panel.layers.show_square(square, role, scale)
            panel.channels.show_square(square, role, frame.state.channel if frame is not None else None, scale)

    def _layer_clicked(self, index: int, name: str) -> None:
        if self._frame is not None:
            self.wished.emit(Wish(changes={"layer": counterpart(self._frame, index, name)}))

    def _source_asked(self, index: int, name: str) -> None:
        self._layer_clicked(index, name)
        self.requested.emit("source")

    def numbers(self) -> dict[str, NDArray[Any]]:
        found: dict[str, NDArray[Any]] = {}
        for k, square in enumerate(self._frame.squares if self._frame is not None else ()):
            before = "compare." if k else ""
            names = [layer.name for layer in square.layers]
            measures = [square.measures.get(name) for name in names]
            found[f"{before}layer"] = np.array(names, dtype=np.str_)
            for key in ("cumulative", "local", "floor", "chance", "kept"):
                found[before + key] = _figures(measures, key)
            for key in ("cumulative", "local") if square.before else ():
                found[f"{before}{key} before"] = _figures([square.before.get(name) for name in names], key)
            found[f"{before}verdict"] = np.array([m.verdict if m else "" for m in measures], dtype=np.str_)
            if (channels := self.panels[k].channels.values).size:
                found[f"{before}channels of {square.layer.name}"] = channels
        return found

    def caption(self) -> str:
        if self._frame is None or not self._frame.squares:
            return ""
        return f"Relative equivariance error per layer, cumulative and local: {subject(self._frame)}."

    def apply_theme(self) -> None:
        self.update()
        for chart in (chart for panel in self.panels for chart in (panel.layers, panel.channels)):
            chart.dress()


VIEW = ViewSpec(
    "errors",
    "Error per layer",
    ErrorsView,
    "bottom",
    0,
    "Where the square stops commuting, and which layer makes it stop.",
)

if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(ErrorsView, lambda view, samples: view.set_frame(samples.make_frame(compare=True)))
