"""Rows of curves: the input and what is one number a step, the gradient, the links, and the cursors through all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QTransform
from PySide6.QtWidgets import QGraphicsSimpleTextItem

from widgets.base.look import theme
from widgets.base.look.theme import CLASSES
from widgets.base.text.words import figure
from widgets.charts.inks import mixed
from widgets.charts.items.marks import fill, ink
from widgets.charts.library import pg
from widgets.spaces.sequence.timeline.axes.scale import TimeScale
from widgets.spaces.sequence.timeline.layout import Slot
from widgets.spaces.sequence.timeline.pyramids.pyramid import bucket_for
from widgets.spaces.sequence.timeline.rows import Scene
from widgets.spaces.sequence.timeline.visible_part import Sight

DECADES = 9.0  # of the gradient below its largest value
DOTTED = 0.12  # steps in a pixel up to which each value is a dot
DENSE = 0.5  # steps in a pixel from which a line is a pixel wide: wider ones are stroked, which takes ten times as long
BETWEEN = 13.0  # pixels between links, at least
STUB = 0.4  # of the height of the links: of a step that was cut off


def places(steps: NDArray[Any], scale: TimeScale | None) -> NDArray[Any]:
    """Return where steps lie on the axis."""
    return np.asarray(steps if scale is None else scale.place(steps), np.float64)


class Trace(pg.PlotDataItem):
    """A line over any number of steps: clipped to what is in sight, one or two points a pixel."""

    def __init__(self, method: str, **looks: Any) -> None:
        super().__init__(connect="finite", clipToView=True, downsampleMethod=method, dynamicRangeLimit=None, **looks)
        self.curve.setSegmentedLineMode("on")  # in pieces: a path takes ten times as long
        self.scatter.opts["useCache"] = False  # shapes in a file as well

    def follow(self, sight: Sight) -> None:
        """Draw a point for as many steps as share a pixel; "auto" would look at all steps again on every frame."""
        self.setDownsampling(ds=bucket_for(sight.axis.per_pixel / sight.ratio), auto=False)


class LineRow(pg.ItemGroup):
    """A handful of channels as lines, in the units of their values; over the band of extremes where they are dense."""

    def __init__(self, box: pg.ViewBox) -> None:
        super().__init__()
        self.zero = pg.PlotCurveItem(antialias=False)
        self.zero.setParentItem(self)
        self.lines: list[tuple[Trace, Trace]] = []
        self._key: tuple[Any, ...] = ()
        self._wide = 1.3

    def show_row(self, slot: Slot, scene: Scene, scale: TimeScale | None) -> None:
        row = slot.row
        low = -row.limit if row.scale == "signed" else 0.0
        height = (slot.height - 6) / ((row.limit - low) or 1.0)
        self.setTransform(QTransform(1, 0, 0, -height, 0, slot.top + slot.height - 3 + low * height))
        key = (row.pyramid, row.limit, row.scale, scale)
        if row.pyramid is None or key == self._key:
            return
        self._key = key
        values = np.ascontiguousarray(np.clip(row.pyramid.values, low, row.limit).T)
        x = places(np.arange(row.pyramid.steps) + 0.5, scale)
        self.zero.setData([0.0, float(row.pyramid.steps)], [0.0, 0.0])
        while len(self.lines) < len(values):
            self.lines.append((Trace("peak", antialias=False), Trace("mean")))
            for item in self.lines[-1]:
                item.setParentItem(self)
        for c, pair in enumerate(self.lines):
            for item in pair:
                item.setData(*((x, values[c]) if c < len(values) else (x[:0], values[0, :0])))
        self.dress()

    def dress(self) -> None:
        t, channels = theme.current(), self._key[0].channels if self._key else 0
        self.zero.setPen(ink(t.line))
        for c, (band, mean) in enumerate(self.lines[:channels]):
            colour = ink_of(c, channels).name()
            band.setPen(ink(mixed(colour, t.plot, 0.32).name()))
            mean.setPen(ink(colour, self._wide))
            mean.setSymbolPen(None)
            mean.setSymbolBrush(fill(colour))
            mean.setSymbolSize(4.4)

    def follow(self, sight: Sight) -> bool:
        wide = 1.0 if sight.axis.per_pixel > DENSE else 1.3
        if wide != self._wide:
            self._wide = wide
            self.dress()
        for band, mean in self.lines:
            band.follow(sight)
            mean.follow(sight)
            mean.setSymbol("o" if sight.axis.per_pixel < DOTTED else None)
            band.curve.setVisible(sight.axis.per_pixel > 1)
        return True


def ink_of(channel: int, channels: int) -> QColor:
    """Return the colour of a channel."""
    if channels == 1:
        return QColor(theme.current().first)
    return mixed(CLASSES[channel % len(CLASSES)], theme.current().text, 0.85)


COMING = "being computed …"  # of a gradient that belongs to what is selected now


class GradientRow(pg.ItemGroup):
    """The size of d layer(step) / d x_t on a logarithmic axis of nine decades below its largest value."""

    def __init__(self, box: pg.ViewBox) -> None:
        super().__init__()
        self.decades = pg.PlotCurveItem(connect="pairs", antialias=False)
        self.decades.setParentItem(self)
        self.line = Trace("peak", fillLevel=0.0)
        self.line.setParentItem(self)
        self.words = QGraphicsSimpleTextItem(box)
        self._slot: Slot | None = None
        self._kept: Any = None

    def show_row(self, slot: Slot, scene: Scene, scale: TimeScale | None) -> None:
        self._slot, pyramid = slot, slot.row.pyramid
        self.setTransform(QTransform(1, 0, 0, -(slot.height - 5), 0, slot.top + slot.height - 2))
        if self._kept == (pyramid, scale):
            return
        self._kept = (pyramid, scale)
        if pyramid is None:
            self.words.setText(COMING)
            for part in (self.decades, self.line):
                part.setData(np.zeros(0), np.zeros(0))
            self.dress()
            return
        top = pyramid.span()[1]
        self.words.setText(figure(top) if top > 0 else "0 at every step: nothing earlier moves it")
        with np.errstate(divide="ignore", invalid="ignore"):  # on a logarithmic axis nothing is nowhere
            share = 1 + np.log10(np.asarray(pyramid.values[:, 0], np.float64) / (top or 1.0)) / DECADES
        share = np.clip(np.nan_to_num(share, nan=0.0, neginf=0.0), 0, 1)
        empty = np.zeros(0)
        levels = 1 - np.repeat([0.0, 3.0, 6.0, 9.0], 2) / DECADES
        self.decades.setData(*((np.tile([0.0, pyramid.steps], 4), levels) if top > 0 else (empty, empty)))
        x = places(np.arange(pyramid.steps) + 0.5, scale)
        self.line.setData(*((x, share) if top > 0 else (empty, empty)))
        self.dress()

    def dress(self) -> None:
        t = theme.current()
        self.decades.setPen(ink(mixed(t.line, t.plot, 0.63).name()))
        self.line.setPen(ink(t.accent))
        self.line.setFillBrush(fill(t.accent, 80))
        self.words.setBrush(QColor(t.muted))

    def set_font(self, font: QFont) -> None:
        self.words.setFont(font)

    def setVisible(self, on: bool) -> None:
        super().setVisible(on)
        self.words.setVisible(on)

    def follow(self, sight: Sight) -> bool:
        self.line.follow(sight)
        if self._slot is not None:
            room, size = sight.axis.right, self.words.boundingRect()
            top = self._slot.top - sight.scroll
            if len(self.words.text()) > 12:  # a sentence in the middle of an empty plot
                self.words.setPos((room - size.width()) / 2, top + (self._slot.height - size.height()) / 2)
            else:
                self.words.setPos(room - size.width() - 4, top + 1)
        return True


class LinkRow(pg.ItemGroup):
    """Lines from steps of x to where they are in rho(g) x; stubs end where a step was cut off."""

    def __init__(self, box: pg.ViewBox) -> None:
        super().__init__()
        self.plain, self.cut = (pg.PlotCurveItem(connect="pairs") for _ in range(2))
        self.marks = [pg.PlotCurveItem(connect="pairs") for _ in range(2)]
        for item in (self.plain, self.cut, *self.marks):
            item.setParentItem(self)
        self._slot: Slot | None = None
        self._scene, self._scale = Scene(), None
        self.dress()

    _scale: TimeScale | None

    def show_row(self, slot: Slot, scene: Scene, scale: TimeScale | None) -> None:
        self._slot, self._scene, self._scale = slot, scene, scale

    def dress(self) -> None:
        t = theme.current()
        self.plain.setPen(ink(mixed(t.muted, t.panel, 0.51).name()))
        self.cut.setPen(ink(t.bad, 1.0, 170, Qt.PenStyle.DotLine))

    def mark(self, marked: Iterable[tuple[int | None, str]]) -> None:
        """Let the links of steps stand out, each in a colour."""
        for item, (step, colour) in zip(self.marks, marked):
            whole, cut = self._lines(np.array([] if step is None else [step], np.int64))
            item.setPen(ink(theme.current().bad, 2.0, 255, Qt.PenStyle.DotLine) if len(cut[0]) else ink(colour, 2.0))
            item.setData(*(cut if len(cut[0]) else whole))

    def follow(self, sight: Sight) -> bool:
        axis = sight.axis
        every = max(1, 1 << max(0, int(np.ceil(np.log2(BETWEEN * axis.per_pixel)))))
        reach = (int(axis.last - axis.first) + 1) // every * every  # steps that lie outside may lead inside
        first = max(0, int(axis.first) // every * every - reach)
        whole, cut = self._lines(np.arange(first, min(self._scene.steps, int(axis.last) + reach), every))
        self.plain.setData(*whole)
        self.cut.setData(*cut)
        return True

    def _lines(self, steps: NDArray[Any]) -> Sequence[tuple[NDArray[Any], NDArray[Any]]]:
        """Return the ends of the links of steps: of those that go on, and of those that are cut off."""
        scene, slot = self._scene, self._slot
        steps = steps[steps < len(scene.order)]
        if slot is None or not len(steps):
            return [(np.zeros(0), np.zeros(0))] * 2
        there = scene.order[steps]
        with np.errstate(invalid="ignore"):
            on = np.isfinite(there) & (there >= -0.5) & (there < scene.after - 0.5 + 1e-9)
        x, low, high = places(steps + 0.5, self._scale), slot.top + 1, slot.top + slot.height - 1
        ends = np.where(on, places(np.where(on, there, 0.0) + 0.5, self._scale), x)
        stop = np.where(on, high, low + STUB * (high - low))
        across = np.stack([x, ends], axis=1)
        down = np.stack([np.full(len(x), low), stop], axis=1)
        return [(across[part].ravel(), down[part].ravel()) for part in (on, ~on)]


class Cursor(pg.PlotCurveItem):
    """One step in all rows, in the pixels of the view box: framed where it is wide enough, else a line on a halo."""

    WIDE = 5.0  # pixels from which a step can be framed without hiding it

    def __init__(self, box: pg.ViewBox) -> None:
        super().__init__(connect="pairs", antialias=False)
        self.setParentItem(box)

    def mark(self, found: Iterable[tuple[Slot, int]], sight: Sight, colour: str) -> None:
        """Mark a step in each row."""
        xs: list[float] = []
        ys: list[float] = []
        halo = False
        for slot, step in found:
            left, right = sight.axis.x_of(step), sight.axis.x_of(step + 1)
            top = slot.top - sight.scroll
            bottom = top + slot.height - 1
            if right - left >= self.WIDE:
                xs += [left, right, right, right, right, left, left, left]
                ys += [top, top, top, bottom, bottom, bottom, bottom, top]
            else:
                halo = True
                xs += [(left + right) / 2] * 2
                ys += [top, bottom + 1]
        self.setPen(ink(colour))
        self.setShadowPen(ink(theme.current().panel, 3.0, 170) if halo else None)
        self.setData(np.array(xs), np.array(ys))
