"""Rows painted in pixels, not in the units of the axes: the cells of tokens with their text, and the hatching."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter

from widgets.base.look import theme
from widgets.base.look.alignment import CENTRE
from widgets.charts.inks import faded
from widgets.charts.library import pg
from widgets.spaces.sequence.timeline.axes.axis import TimeAxis
from widgets.spaces.sequence.timeline.axes.scale import TimeScale
from widgets.spaces.sequence.timeline.items.painting import cell_colours, on
from widgets.spaces.sequence.timeline.layout import Slot
from widgets.spaces.sequence.timeline.rows import Scene
from widgets.spaces.sequence.timeline.visible_part import Sight

ELIDED = 40.0  # pixels of a step from which a word may be cut short
SPACE = "␣"  # a blank is a letter too
LEGIBLE = 9.0  # pixels of a step from which its letter is written
RUNS = 200  # stretches that are hatched, at most


class PixelRow(pg.GraphicsObject):
    """A row in the pixels of the view box; brushes and letters would be stretched by the axes."""

    def __init__(self, box: pg.ViewBox) -> None:
        self.area = QRectF()
        self.axis, self.shown = TimeAxis(0), Scene()
        super().__init__()
        self.slots: tuple[Slot, ...] = ()
        self.font = QFont()
        self.setParentItem(box)

    def show_row(self, slot: Slot, scene: Scene, scale: TimeScale | None) -> None:
        self.show_rows((slot,), scene)

    def show_rows(self, slots: tuple[Slot, ...], scene: Scene) -> None:
        """Take the rows that are drawn."""
        self.slots, self.shown = slots, scene
        self.update()

    def set_font(self, font: QFont) -> None:
        self.font = font

    def dress(self) -> None:
        self.update()

    def follow(self, sight: Sight) -> bool:
        self.axis = sight.axis
        top = min((s.top for s in self.slots), default=0.0)
        end = max((s.top + s.height for s in self.slots), default=0.0)
        area = QRectF(0.0, top - sight.scroll, sight.axis.right, end - top)
        if area != self.area:
            self.prepareGeometryChange()
            self.area = area
        self.update()
        return True

    def box(self, slot: Slot) -> QRectF:
        """Return the place of a row."""
        shift = self.area.top() - min(s.top for s in self.slots)
        return QRectF(0.0, slot.top + shift, self.area.width(), slot.height)

    def boundingRect(self) -> QRectF:
        return self.area


class TokenRow(PixelRow):
    """A row of cells with the text of each step, while there is room for letters; else a strip of colours."""

    def __init__(self, box: pg.ViewBox) -> None:
        super().__init__(box)
        self.setZValue(-1)  # below what has the coordinates of the axes

    def texts(self) -> tuple[str, ...]:
        """Return the text of each step."""
        row = self.slots[0].row
        return row.written or (self.shown.names if row.side == "before" else self.shown.moved_names)

    def paint(self, p: QPainter, *rest: Any) -> None:
        slot, axis, names = self.slots[0], self.axis, self.texts()
        row, box = slot.row, self.box(slot)
        steps = row.pyramid.steps if row.pyramid is not None else len(names)
        first, last = max(0, int(axis.first)), min(steps, int(axis.last) + 1)
        if last <= first:
            return
        every = max(1, int(axis.per_pixel / 1.5))  # a strip needs no more cells than pixels
        edges = axis.xs_of(np.arange(first, last + every)).tolist()
        colours = cell_colours(self.shown, row, first, last)
        metrics, plain = QFontMetricsF(self.font), QColor(theme.current().raised)
        p.setFont(self.font)
        p.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        for step in range(first, last, every):
            ground = QColor(*colours[step - first].tolist()) if colours is not None else plain
            left, width = edges[step - first], edges[step - first + every] - edges[step - first]
            cell = QRectF(left, box.top() + 2, max(1.0, width - (1.0 if width > 5 else 0.0)), box.height() - 4)
            p.fillRect(cell, ground)
            name = names[step] if step < len(names) else ""
            if width < LEGIBLE or not name:
                continue
            fits = len(name) == 1 or metrics.horizontalAdvance(name) <= width - 1
            if not fits and width < ELIDED:
                continue  # a letter and dots say nothing: the text is read above
            name = SPACE if name.isspace() else name
            p.setPen(on(ground))
            shown = name if fits else metrics.elidedText(name, Qt.TextElideMode.ElideRight, width - 1)
            p.drawText(cell, CENTRE, shown)


def runs(known: NDArray[np.bool_]) -> list[slice]:
    """Return the stretches without a gap."""
    edges = np.flatnonzero(np.diff(np.r_[False, known, False].astype(np.int8)))
    return [slice(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


class Veil(PixelRow):
    """Hatching over the steps that are not compared."""

    def paint(self, p: QPainter, *rest: Any) -> None:
        known: NDArray[np.bool_] | None = self.shown.known
        if known is None:
            return
        axis = self.axis
        first, last = max(0, int(axis.first)), min(len(known), int(axis.last) + 1)
        hatch, veil = (QBrush(faded(theme.current().muted, 120), Qt.BrushStyle.BDiagPattern),
                       faded(theme.current().panel, 165))  # fmt: skip
        for run in runs(~known[first:last])[:RUNS]:
            left, right = (axis.x_of(first + v) for v in (run.start, run.stop))
            for slot in self.slots:
                box = self.box(slot)
                part = QRectF(left, box.top(), max(1.0, right - left), box.height())
                p.fillRect(part, veil)
                p.fillRect(part, hatch)
