"""Error per layer: where the square stops commuting, and which layer makes it stop."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from explorer.declare.field_text import parse_field
from explorer.square.frame import Frame, Measure, Square
from widgets.base.layer_names import shortened
from widgets.base.theme import Theme
from widgets.base.view import View, ViewSpec, Wish
from widgets.base.words import (
    counterpart,
    figure,
    guilty_layers,
    inherited,
    read_out,
    subject,
    verdict_colour_role,
    verdict_sentence,
)
from widgets.charts.chart import CENTRE, LEFT, Adaptive, Chart, draw_mark, faded, scale_for

NAN = "NaN"


@dataclass(frozen=True, slots=True)
class Column:
    """One layer as it is drawn."""

    name: str
    measure: Measure | None
    guilty: bool


def _gap(measure: Measure | None) -> str:
    """Return why there is no mark for a layer, "" when there is one."""
    if measure is None:
        return "not measured"
    return "no law" if measure.cumulative is None else NAN if math.isnan(measure.cumulative) else ""


class LayerChart(Chart):
    """Cumulative and local error of every layer of one model, in execution order."""

    clicked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.columns: list[Column] = []
        self.selected = ""
        self.colour_role = "first"
        self._title = ""
        self._verdict = ("", "muted")
        self._hints = ""

    def show_square(self, square: Square | None, role: str) -> None:
        self.colour_role = role
        self.columns = []
        if square is None:
            self.message = "No measurement yet. Choose a model and a sample, then turn or shift the picture."
        elif not square.layers:
            self.message = f"{square.title} has no layer that can be watched."
        else:
            self.message = ""
            guilty = set(guilty_layers(square))
            measures = square.measures
            self.columns = [Column(n.name, measures.get(n.name), n.name in guilty) for n in square.layers]
            self.selected = square.layer.name
            self._title = square.title
            self._verdict = (verdict_sentence(square), verdict_colour_role(square))
            self._hints = "; ".join(square.hints)
        self.set_whole(-0.5, max(0.5, len(self.columns) - 0.5))
        self.update()

    def index_at(self, at: QPointF) -> int | None:
        plot = self.plot()
        index = math.floor(self.value_at(at.x()) + 0.5)
        inside = plot.left() <= at.x() <= plot.right()
        return index if inside and 0 <= index < len(self.columns) else None

    def under(self, at: QPointF | None) -> object:
        return self.index_at(at) if at is not None else None

    # painting -------------------------------------------------------------------------------------------------
    def paint(self, p: QPainter, t: Theme) -> None:
        plot, colour = self.plot(), getattr(t, self.colour_role)
        first = max(0, math.floor(self._range[0] + 0.5))
        shown = range(first, min(len(self.columns), math.ceil(self._range[1] + 0.5)))
        width = self.x_of(1) - self.x_of(0)
        self._paint_columns(p, t, shown, width)
        p.save()
        p.setClipRect(plot)
        self._paint_marks(p, t, colour, shown, width)
        p.restore()
        self._paint_verdicts(p, t, shown, width)
        gaps = [_gap(column.measure) for column in self.columns]
        layers = tuple((c.name, c.guilty, gap) for c, gap in zip(self.columns, gaps))

        def words(q: QPainter) -> None:
            q.save()
            q.setClipRect(plot)
            for i in shown:
                if gaps[i]:
                    self._paint_gap(q, t, self.x_of(i), width, gaps[i], t.bad if gaps[i] == NAN else t.muted)
            q.restore()
            self.paint_frame(q, t)
            self._paint_names(q, t, shown, width)

        self.keep(p, "words", (layers, self.selected, self._range), words)
        keys = (("dot", "cumulative", colour), ("diamond", "local", colour), ("band", "floor", t.band),
                ("tick", "chance", t.muted))  # fmt: skip
        verdict, role = self._verdict
        parts = [(self._title, colour, True), (verdict, getattr(t, role), role == "bad"), (self._hints, t.muted, False)]
        self.paint_header(p, parts, keys)

    def _paint_columns(self, p: QPainter, t: Theme, shown: range, width: float) -> None:
        plot = self.plot()
        self.paint_ground(p, t)
        hovered = self.under(self._mouse)
        for i in shown:
            column = self.columns[i]
            left = max(plot.left(), self.x_of(i - 0.5))
            box = QRectF(left, plot.top(), min(plot.right(), self.x_of(i + 0.5)) - left, plot.height())
            if column.guilty:
                p.fillRect(box, faded(t.bad, 34))
            if column.name == self.selected:
                p.fillRect(box, faded(t.accent, 34))
            elif i == hovered:
                p.fillRect(box, faded(t.muted, 26))
            if column.measure is not None and math.isfinite(column.measure.floor):
                top = self.y_of(column.measure.floor)
                p.fillRect(QRectF(box.left(), top, box.width(), plot.bottom() - top), faded(t.band, 190))

    def _paint_marks(self, p: QPainter, t: Theme, colour: str, shown: range, width: float) -> None:
        plot = self.plot()
        aside = min(9.0, 0.17 * width) if width >= 9 else 0.0
        r = min(4.2, max(1.5, 0.16 * width))
        trail: list[QPointF] = []
        for i in shown:
            x, measure = self.x_of(i), self.columns[i].measure
            if measure is None or measure.cumulative is None or math.isnan(measure.cumulative):
                self._paint_trail(p, colour, trail)
            else:
                trail.append(QPointF(x - aside, self.y_of(measure.cumulative)))
            if measure is not None and measure.chance is not None and math.isfinite(measure.chance):
                p.setPen(QPen(QColor(t.muted), 1.2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
                half, y = min(14.0, 0.32 * width), self.y_of(measure.chance)
                p.drawLine(QPointF(x - half, y), QPointF(x + half, y))
        self._paint_trail(p, colour, trail)
        for i in shown:
            x, column = self.x_of(i), self.columns[i]
            if (measure := column.measure) is None:
                continue
            for value, dx, mark in ((measure.cumulative, -aside, "dot"), (measure.local, aside, "diamond")):
                if value is None or math.isnan(value):
                    continue
                at = QPointF(x + dx, self.y_of(value))
                outside = self.scale.outside(value)
                if outside:
                    mark = "down" if outside < 0 else "up"
                    at.setY(plot.bottom() - r if outside < 0 else plot.top() + r)
                if width >= 9 and not outside:
                    p.setPen(QPen(faded(colour, 110), max(1.0, 0.5 * r)))
                    p.drawLine(QPointF(at.x(), plot.bottom()), at)
                draw_mark(p, mark, at, t.bad if column.guilty and dx >= 0 and mark == "diamond" else colour, r)

    def _paint_trail(self, p: QPainter, colour: str, trail: list[QPointF]) -> None:
        """Join neighbouring cumulative errors by a thin line, so that the step where it rises is seen."""
        if len(trail) > 1:
            p.setPen(QPen(faded(colour, 120), 1))
            p.setBrush(Qt.BrushStyle.NoBrush)
            p.drawPolyline(QPolygonF(trail))
        trail.clear()

    def _paint_gap(self, p: QPainter, t: Theme, x: float, width: float, text: str, colour: str) -> None:
        plot = self.plot()
        p.setPen(QColor(colour))
        advance = QFontMetricsF(self.small()).horizontalAdvance(text)
        if width >= advance + 6:
            p.drawText(QRectF(x - width / 2, plot.top(), width, plot.height()), CENTRE, text)
        elif width >= self.line() and plot.height() >= advance:
            p.save()
            p.translate(x, plot.center().y())
            p.rotate(-90)
            p.drawText(QRectF(-plot.height() / 2, -self.line() / 2, plot.height(), self.line()), CENTRE, text)
            p.restore()

    def _paint_verdicts(self, p: QPainter, t: Theme, shown: range, width: float) -> None:
        """A strip under the plot: thick where broken, thin where it holds, so that colour is not all."""
        plot = self.plot()
        for i in shown:
            m = self.columns[i].measure
            verdict = m.verdict if m is not None and not inherited(m) else ""
            colour, thick = {"broken": (t.bad, 5.0), "holds": (t.good, 3.0)}.get(verdict, (t.line, 1.5))
            gap = 1.5 if width > 8 else 0.0
            left, right = max(plot.left(), self.x_of(i - 0.5) + gap), min(plot.right(), self.x_of(i + 0.5) - gap)
            if right > left:
                p.fillRect(QRectF(left, plot.bottom() + 1, right - left, thick), QColor(colour))

    def _paint_names(self, p: QPainter, t: Theme, shown: range, width: float) -> None:
        """Name the selected and the guilty layers first, then as many of the others as there is room for."""
        top = self.plot().bottom() + 6
        taken: list[tuple[float, float]] = []
        order = sorted(shown, key=lambda i: (self.columns[i].name != self.selected, not self.columns[i].guilty))
        stride = max(1, math.ceil(52 / max(width, 0.1)))
        for i in order:
            column = self.columns[i]
            special = column.name == self.selected or column.guilty
            if not special and i % stride:
                continue
            font = self.small()
            font.setBold(special)
            metrics = QFontMetricsF(font)
            room = max(width * stride - 6, 90.0 if special else 40.0)
            text = shortened(metrics, column.name, room)
            half = metrics.horizontalAdvance(text) / 2 + 2
            x = min(max(self.x_of(i), half), self.width() - half)
            if any(x - half < b and a < x + half for a, b in taken):
                continue
            taken.append((x - half, x + half))
            p.setFont(font)
            p.setPen(QColor(t.bad if column.guilty else t.accent if special else t.muted))
            p.drawText(QRectF(x - half, top, 2 * half, self.height() - top), CENTRE, text)
        p.setFont(self.small())

    # the mouse and the keys -----------------------------------------------------------------------------------
    def read(self, at: QPointF) -> str:
        index = self.index_at(at)
        return "" if index is None else read_out(self.columns[index].name, self.columns[index].measure, "\n")

    def clicked_at(self, at: QPointF) -> None:
        if (index := self.index_at(at)) is not None:
            self.clicked.emit(self.columns[index].name)

    def keyPressEvent(self, event: Any) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(event.key(), 0)
        names = [column.name for column in self.columns]
        if not step or self.selected not in names:
            super().keyPressEvent(event)
            return
        index = names.index(self.selected) + step
        if 0 <= index < len(names):
            self.clicked.emit(names[index])


class ChannelStrip(Chart):
    """The selected layer's error, channel by channel, on the same axis."""

    clicked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.axis = False
        self.values: NDArray[Any] = np.zeros(0)
        self.colour_role = "first"
        self.block = 1  # orientations per field: channels of one field are drawn on one ground
        self.channel: int | None = None
        self._layer = ""

    def show_square(self, square: Square | None, role: str, channel: int | None) -> None:
        measure = square.measures.get(square.layer.name) if square is not None else None
        values = measure.channels if measure is not None else None
        self.values = np.zeros(0) if values is None else np.asarray(values, dtype=float).ravel()
        self.colour_role, self.channel = role, channel
        self._layer = square.layer.name if square is not None else ""
        try:
            self.block = parse_field(square.layer.field).rep.size if square is not None else 1
        except ValueError:
            self.block = 1
        self.message = "" if self.values.size else "no error per channel"
        self.set_whole(-0.5, max(0.5, self.values.size - 0.5))
        self.update()

    def paint(self, p: QPainter, t: Theme) -> None:
        plot, colour = self.plot(), getattr(t, self.colour_role)
        self.paint_ground(p, t)
        p.save()
        p.setClipRect(plot)
        width = self.x_of(1) - self.x_of(0)
        if self.block > 1:
            for start in range(self.block, self.values.size, 2 * self.block):
                right = self.x_of(start + self.block - 0.5)
                p.fillRect(QRectF(self.x_of(start - 0.5), plot.top(), right - self.x_of(start - 0.5), plot.height()),
                           faded(t.muted, 22))  # fmt: skip
        gap, origin, fraction = 0.12 * width if width > 4 else 0.0, self.x_of(-0.5), self.scale.fraction
        bars: dict[str, list[QRectF]] = {}
        for i, value in enumerate(self.values.tolist()):
            left = origin + i * width
            if left + width < plot.left() or left > plot.right():
                continue
            high = max(fraction(value) * plot.height(), 1.5)  # zero keeps a sliver: it was measured
            ink = t.accent if i == self.channel else t.bad if math.isnan(value) else colour
            bar = QRectF(left + gap, plot.bottom() - high, max(0.6, width - 2 * gap), high)
            bars.setdefault(ink, []).append(bar)
        p.setPen(Qt.PenStyle.NoPen)
        for ink, rects in bars.items():
            p.setBrush(QColor(ink))
            p.drawRects(rects)
        p.restore()
        self.paint_frame(p, t)
        count = self.values.size
        self.paint_header(p, [(f"{count} channel{'s' * (count != 1)} of {self._layer}", t.muted, False)])
        finite = self.values[np.isfinite(self.values)]
        worst = f"worst: {int(np.nanargmax(self.values))} ({figure(float(finite.max()))})" if finite.size else ""
        p.setPen(QColor(t.muted))
        rect = QRectF(plot.left(), plot.bottom() + 6, plot.width(), self.height() - plot.bottom() - 6)
        shown = QFontMetricsF(self.small()).elidedText(worst, Qt.TextElideMode.ElideRight, rect.width())
        p.drawText(rect, LEFT, shown)

    def index_at(self, at: QPointF) -> int | None:
        index = math.floor(self.value_at(at.x()) + 0.5)
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

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._frame: Frame | None = None
        self.panels = (Panel(self), Panel(self))
        row = Adaptive(self)
        row.setSpacing(4)
        for k, panel in enumerate(self.panels):
            row.addWidget(panel)
            panel.layers.clicked.connect(lambda name, k=k: self._layer_clicked(k, name))
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
            panel.layers.scale = panel.channels.scale = scale
            panel.layers.show_square(square, role)
            panel.channels.show_square(square, role, frame.state.channel if frame is not None else None)

    def _layer_clicked(self, index: int, name: str) -> None:
        if self._frame is not None:
            self.wished.emit(Wish(changes={"layer": counterpart(self._frame, index, name)}))

    def numbers(self) -> dict[str, NDArray[Any]]:
        found: dict[str, NDArray[Any]] = {}
        for k, square in enumerate(self._frame.squares if self._frame is not None else ()):
            before = "compare." if k else ""
            names = [layer.name for layer in square.layers]
            measures = [square.measures.get(name) for name in names]
            found[f"{before}layer"] = np.array(names, dtype=np.str_)
            for key in ("cumulative", "local", "floor", "chance", "kept"):
                values = [getattr(m, key, None) for m in measures]
                found[before + key] = np.array([np.nan if v is None else v for v in values], dtype=float)
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
        for panel in self.panels:
            panel.layers.update()
            panel.channels.update()


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
