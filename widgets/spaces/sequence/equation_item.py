"""One equation with the numbers of a step: symbols and numbers as text, its units as strips of cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QGraphicsLineItem, QGraphicsRectItem

from widgets.base.look import theme
from widgets.base.text.glossary import say
from widgets.charts.inks import faded
from widgets.charts.items.marks import Columns, ink
from widgets.charts.library import pg
from widgets.charts.scene.board import Pool
from widgets.charts.scene.labels import Line
from widgets.spaces.sequence.step_cells import Cell, Place, in_words, place_name, runs, shown
from widgets.spaces.sequence.timeline.items.tiles import colours

WIDE, MARGIN, GAP = 560.0, 10.0, 8.0  # of an equation in which both sides stand beside each other; round it
HEADS, UNIT = 4, 22.0  # heads that are drawn, the widest cell of a strip
SIDES = {"before": "x", "after": "ρ(g)x"}


@dataclass(frozen=True, slots=True, eq=False)
class Spot:
    """Something under the mouse: the name of a layer, or a strip of cells."""

    rect: QRectF
    cell: Cell
    layer: str = ""
    side: str = ""


class Strip(pg.ItemGroup):
    """The values of one side, a cell a unit and a row a head: those that differ have a bar under them."""

    def __init__(self) -> None:
        super().__init__()
        self.box = QRectF()
        self.image, self.wrong = pg.ImageItem(), Columns()
        self.frame, self.chosen = QGraphicsRectItem(), QGraphicsRectItem()
        for item in (self.image, self.wrong, self.frame, self.chosen):
            item.setParentItem(self)

    def show_side(self, cell: Cell, side: str, place: Place, room: QRectF) -> None:
        """Show one side of an equation, with a frame about the unit at `place`."""
        t, values = theme.current(), np.atleast_2d(dict(cell.lines)[side].shown)[:HEADS]
        heads, count = values.shape
        box = self.box = QRectF(room.left(), room.top(), min(room.width(), UNIT * count), room.height())
        self.image.setImage(colours(shown(values), cell.scale, cell.limit), levels=None, rect=box)
        self.frame.setRect(box)
        self.frame.setPen(ink(t.line))
        found = cell.apart if side == "after" else None
        wrong = np.flatnonzero(np.any(np.atleast_2d(found)[:HEADS], axis=0)) if found is not None else np.zeros(0)
        width = box.width() / count
        left = box.left() + wrong * width
        self.wrong.setOpts(brush=faded(t.bad, 220))
        self.wrong.set_columns(left, left + max(1.0, width - 1), box.bottom() + 1, box.bottom() + 3)
        head, unit = (0, place[0]) if len(place) == 1 else place
        self.chosen.setVisible(head < heads and unit < count)
        size = QPointF(width, box.height() / heads)
        self.chosen.setRect(box.left() + unit * size.x(), box.top() + head * size.y(), size.x(), size.y())
        self.chosen.setPen(ink(t.text, 1.4))


class EquationItem(pg.ItemGroup):
    """The text of an equation, and a strip for each side of the square."""

    def __init__(self, canvas: Any) -> None:
        super().__init__()
        self.canvas = canvas
        self.cell: Cell | None = None
        self.size = QRectF()
        self.strips = {side: Strip() for side in SIDES}
        self.names: list[Spot] = []
        self._lines, self._hairs = Pool(Line, self), Pool(QGraphicsLineItem, self)
        for strip in self.strips.values():
            strip.setParentItem(self)

    def show_cell(self, cell: Cell, rect: QRectF) -> None:
        """Show an equation at a rectangle of the scene."""
        self.cell, self.size = cell, QRectF(0, 0, rect.width(), rect.height())
        self.setPos(rect.topLeft())
        self.names = []
        self._symbols(cell, QPointF(0, self._head(cell)), rect.width())
        for side, strip in self.strips.items():
            strip.setVisible(side in dict(cell.lines))
        for side, line in self._sides(cell):
            high = self.strip_height(cell) - 5
            room = QRectF(line.left(), line.bottom() + 1, line.width(), high)
            self.strips[side].show_side(cell, side, cell.there(self.canvas.place(cell), side), room)
        self.write()

    def spots(self) -> list[Spot]:
        """Return what can be pointed at, in coordinates of the scene."""
        if self.cell is None:
            return []
        found = [Spot(self.strips[side].box, self.cell, side=side) for side, _ in self.cell.lines]
        return [Spot(s.rect.translated(self.pos()), s.cell, s.layer, s.side) for s in (*self.names, *found)]

    # geometry -------------------------------------------------------------------------------------------------
    def _head(self, cell: Cell) -> float:
        return self.canvas.line + 8 if cell.heading else 0.0

    @staticmethod
    def strip_height(cell: Cell) -> float:
        heads = min(HEADS, cell.shape[0]) if len(cell.shape) == 2 else 1
        return (11.0 if heads == 1 else 9.0 * heads) + 5

    def height(self, cell: Cell, width: float) -> float:
        """Return the height of an equation in a column of that width."""
        rows = 1 if len(cell.lines) < 2 or width >= WIDE - 2 * MARGIN else 2
        top = self._head(cell) + self._symbols(cell, QPointF(0, 0), width)
        return top + rows * (self.canvas.line + 3 + self.strip_height(cell)) + GAP

    def _sides(self, cell: Cell) -> list[tuple[str, QRectF]]:
        """Return where the line of numbers of each side stands: beside each other where there is room."""
        sides, width, line = [side for side, _ in cell.lines], self.size.width(), self.canvas.line
        y = self._head(cell) + self._symbols(cell, QPointF(0, 0), width)
        if len(sides) < 2 or width < WIDE - 2 * MARGIN:
            down = line + 3 + self.strip_height(cell)
            return [(side, QRectF(0, y + k * down, width, line)) for k, side in enumerate(sides)]
        each = (width - MARGIN) / 2
        return [(side, QRectF(k * (each + MARGIN), y, each, line)) for k, side in enumerate(sides)]

    # text -------------------------------------------------------------------------------------------------
    def write(self) -> None:
        """Write all text: what is under the mouse, selected or under the cursor may be something else."""
        if self.cell is not None:
            with self._lines, self._hairs:
                self._write(self.cell)

    def _write(self, cell: Cell) -> None:
        canvas, t, width = self.canvas, theme.current(), self.size.width()
        if cell.heading:
            self._text(cell.heading, "bold", QRectF(0, 3, width, canvas.line), t.muted)
            self._hair(t.line, 0, canvas.line + 5, width)
        y = self._head(cell)
        y += self._symbols(cell, QPointF(0, y), width, write=True)
        if not cell.lines:
            self._text("too large to be sent along", "small", QRectF(0, y, width, canvas.line), t.muted)
        for side, rect in self._sides(cell):
            self._numbers(cell, side, rect)

    def _text(self, text: str, kind: str, box: QRectF, ink: str) -> float:
        """Write a text in a font of the canvas, and return where it ends."""
        return self._lines.take().write(text, box, self.canvas.font_of(kind)[0], QColor(ink))

    def _hair(self, colour: str, left: float, y: float, right: float) -> None:
        """Draw a level line of one pixel, sharp."""
        hair = self._hairs.take()
        hair.setPen(ink(colour))
        hair.setLine(left, round(y) + 0.5, right, round(y) + 0.5)

    def _symbols(self, cell: Cell, at: QPointF, width: float, write: bool = False) -> float:
        """Find the places of the names in the equation, or write it in symbols; return its height."""
        canvas, t = self.canvas, theme.current()
        plain = canvas.font_of("plain")[1]
        x, y, high = at.x(), at.y(), plain.height() + 3
        for k, (text, layer) in enumerate(cell.words):
            parts, own = runs(text), "plain" if k else "heavy"
            long = sum(canvas.advance("index" if sub else own, w) for w, sub in parts)
            if x + long > at.x() + width and x > at.x() + 24 and text not in (")", " "):
                x, y = at.x() + 24, y + high
            if not write and layer and self.cell is cell:
                self.names.append(Spot(QRectF(x, y, long, high), cell, layer))
            if write and layer and canvas.hot == layer:
                self._hair(t.accent, x, y + high - 1, x + long)
            for word, sub in parts:
                kind = "index" if sub else own
                if write:
                    base = y + plain.ascent() + (3 if sub else 0) - canvas.font_of(kind)[1].ascent()
                    marked = layer and layer in (canvas.selected, canvas.hot)
                    box = QRectF(x, base, canvas.advance(kind, word), canvas.font_of(kind)[1].height())
                    self._text(word, kind, box, t.accent if marked else t.text)
                x += canvas.advance(kind, word)
        return y - at.y() + high

    def _numbers(self, cell: Cell, side: str, rect: QRectF) -> None:
        t, place = theme.current(), cell.there(self.canvas.place(cell), side)
        words, value = in_words(cell, side, place)
        result = f"= {value}"
        metrics, heavy = self.canvas.font_of("small")[1], self.canvas.font_of("bold")[1]
        room, known = heavy.horizontalAdvance(result) + 6, metrics.horizontalAdvance(words)
        own = place_name(place, self.canvas.names) if side == "before" else ""
        name = (say(SIDES[side]) + "  " if len(cell.lines) > 1 else "") + own
        label = metrics.horizontalAdvance(name) + 8
        if known + room + label > rect.width():
            label = 0.0
        elif name:
            self._text(name, "small", rect, t.muted)
        end = self._text(words, "small", rect.adjusted(label, 0, -room, 0), t.text)
        wrong = side == "after" and cell.differs(place)
        self._text(result, "bold", QRectF(end + 5, rect.top(), room, rect.height()), t.bad if wrong else t.text)
