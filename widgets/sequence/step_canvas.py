"""Equations with the numbers of one step, painted: the symbols, one unit in numbers, all units as a strip of cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from widgets.base import theme
from widgets.base.theme import Theme
from widgets.charts.chart import LEFT, draw_hair, faded
from widgets.sequence.step_cells import Cell, Place, in_words, place_name, runs, shown
from widgets.sequence.timeline.tiles import indices, table

NARROW, WIDE = 380.0, 560.0  # of a column of equations, of one in which both sides stand beside each other
MARGIN, GAP = 10.0, 8.0
HEADS, UNIT = 4, 22.0  # heads that are drawn, the widest cell of a strip
SIZES = {"plain": 1.0, "heavy": 1.0, "index": 0.74, "small": 0.88, "bold": 0.88}  # of the window's font
SIDES = {"before": "x", "after": "ρ(g)x"}


@dataclass(frozen=True, slots=True, eq=False)
class Spot:
    """Something under the mouse: the name of a layer, or a strip of cells."""

    rect: QRectF
    cell: Cell
    layer: str = ""
    side: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Where an equation stands and how high its parts are."""

    cell: Cell
    rect: QRectF


class StepCanvas(QWidget):
    """Draws cells in as many columns as fit; as high as they need, so that it lives in a scroll area."""

    named = Signal(str)  # a layer's name was clicked
    picked = Signal(str, int)  # a unit of a layer was clicked
    hovered = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.cells: list[Cell] = []
        self.names: tuple[str, ...] = ()
        self.message, self.selected = "", ""
        self.channel: int | None = None
        self._spots: dict[str, list[Spot]] = {}
        self._fonts: dict[str, tuple[QFont, QFontMetricsF]] = {}
        self._advances: dict[tuple[str, str], float] = {}
        self._laid: tuple[Any, ...] = ()
        self._places: dict[str, Place] = {}
        self._hot: str = ""

    def minimumSizeHint(self) -> QSize:
        return QSize(220, 60)

    def sizeHint(self) -> QSize:
        return QSize(420, self.full_height(float(max(240, self.width()))))

    @property
    def spots(self) -> list[Spot]:
        """Return what can be pointed at, as far as it was painted."""
        return [spot for spots in self._spots.values() for spot in spots]

    # what is shown --------------------------------------------------------------------------------------------
    def show_cells(self, cells: list[Cell], names: tuple[str, ...], selected: str, channel: int | None) -> None:
        if channel != self.channel or [c.key for c in cells] != [c.key for c in self.cells]:
            self._places.clear()
            self._spots.clear()
        self.cells, self.names, self.selected, self.channel = cells, names, selected, channel
        self._fit()
        self.update()

    def place(self, cell: Cell) -> Place:
        """Return the unit that is put into numbers."""
        return cell.at(self._places.get(cell.key), self.channel)

    def text(self, key: str, side: str = "before") -> str:
        """Return the line of numbers of an equation as it is drawn: "logistic(0.41 − 0.12) = 0.57"."""
        cell = next(c for c in self.cells if c.key == key)
        return " = ".join(in_words(cell, side, cell.there(self.place(cell), side)))

    def _fit(self) -> None:
        height = 0 if self.message else self.full_height(float(self.width()))
        if self.minimumHeight() != height:
            self.setMinimumHeight(height)

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._fit()

    # geometry -------------------------------------------------------------------------------------------------
    def changeEvent(self, event: Any) -> None:
        self._fonts, self._advances, self._laid = {}, {}, ()
        super().changeEvent(event)

    def font_of(self, kind: str) -> tuple[QFont, QFontMetricsF]:
        """Return the font, and its metrics, of "plain" and "heavy" symbols, "index", "small" and "bold" text."""
        if kind not in self._fonts:
            font = QFont(self.font())
            if font.pointSizeF() > 0:
                font.setPointSizeF(max(6.0, font.pointSizeF() * SIZES[kind]))
            font.setBold(kind in ("heavy", "bold"))
            self._fonts[kind] = font, QFontMetricsF(font)
        return self._fonts[kind]

    def advance(self, kind: str, text: str) -> float:
        """Return the width of a symbol; it is asked for anew at every step."""
        if (kind, text) not in self._advances:
            self._advances[kind, text] = self.font_of(kind)[1].horizontalAdvance(text)
        return self._advances[kind, text]

    def _line(self) -> float:
        return self.font_of("small")[1].height()

    def columns(self, width: float) -> int:
        both = any(cell.before is not None and cell.after is not None for cell in self.cells)
        return max(1, int((width - MARGIN) // (WIDE if both else NARROW)))

    def _height(self, cell: Cell, width: float) -> float:
        line, sides = self._line(), cell.lines
        height = (line + 8 if cell.heading else 0) + self._symbols(None, cell, QPointF(0, 0), width)
        rows = 1 if len(sides) < 2 or width >= WIDE - 2 * MARGIN else 2
        return height + rows * (line + 3 + self._strip(cell)) + GAP

    def _strip(self, cell: Cell) -> float:
        heads = min(HEADS, cell.shape[0]) if len(cell.shape) == 2 else 1
        return (11.0 if heads == 1 else 9.0 * heads) + 5

    def layout_(self, width: float) -> tuple[list[Placed], float]:
        """Return where every equation stands, and the height of the longest column."""
        key = (width, [(c.key, c.heading, c.shape, len(c.lines), c.words) for c in self.cells])
        if not self._laid or self._laid[0] != key:
            self._laid = (key, *self._lay_out(width))
        found: list[QRectF] = self._laid[1]
        return [Placed(cell, rect) for cell, rect in zip(self.cells, found, strict=True)], self._laid[2]

    def _lay_out(self, width: float) -> tuple[list[QRectF], float]:
        n = self.columns(width)
        each = (width - MARGIN) / n - MARGIN
        heights = [self._height(cell, each) for cell in self.cells]
        placed: list[QRectF] = []
        most = max(sum(heights) / n, max(heights, default=0.0))
        column, y, longest = 0, 6.0, 0.0
        for height in heights:
            if y > 6.0 and y + height / 2 > most + 6.0 and column < n - 1:
                column, y = column + 1, 6.0
            placed.append(QRectF(MARGIN + column * (each + MARGIN), y, each, height))
            y += height
            longest = max(longest, y)
        return placed, longest

    def rect_of(self, key: str) -> QRectF | None:
        """Return where an equation stands, by the name of its left side."""
        placed = self.layout_(float(self.width()))[0]
        return next((one.rect for one in placed if one.cell.key == key), None)

    def full_height(self, width: float) -> int:
        """Return the height at which no equation is out of sight."""
        return int(self.layout_(width)[1]) + 4 if self.cells else 60

    # painting -------------------------------------------------------------------------------------------------
    def paintEvent(self, event: Any) -> None:
        p, t = QPainter(self), theme.current()
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        p.fillRect(self.rect(), QColor(t.panel))
        if self.message:
            p.setPen(QColor(t.muted))
            p.setFont(self.font_of("small")[0])
            rect = QRectF(self.rect()).adjusted(12, 4, -12, -4)
            p.drawText(rect, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self.message)
        else:
            for one in self.layout_(float(self.width()))[0]:
                if one.rect.intersects(QRectF(event.rect())):  # in a dock few of many are in sight
                    self._spots[one.cell.key] = []
                    self._paint(p, t, one)
        p.end()

    def _paint(self, p: QPainter, t: Theme, one: Placed) -> None:
        cell, rect, line = one.cell, one.rect, self._line()
        y = rect.top()
        if cell.heading:
            bold, metrics = self.font_of("bold")
            p.setFont(bold)
            p.setPen(QColor(t.muted))
            heading = metrics.elidedText(cell.heading, Qt.TextElideMode.ElideRight, rect.width())
            p.drawText(QRectF(rect.left(), y + 3, rect.width(), line), LEFT, heading)
            p.setPen(QPen(QColor(t.line), 1))
            draw_hair(p, QPointF(rect.left(), y + line + 5), QPointF(rect.right(), y + line + 5))
            y += line + 8
        y += self._symbols(p, cell, QPointF(rect.left(), y), rect.width())
        sides = cell.lines
        if not sides:
            p.setPen(QColor(t.muted))
            p.drawText(QRectF(rect.left(), y, rect.width(), line), LEFT, "too large to be sent along")
        beside = len(sides) < 2 or rect.width() >= WIDE - 2 * MARGIN
        width = rect.width() if len(sides) < 2 or not beside else (rect.width() - MARGIN) / 2
        for k, (side, _) in enumerate(sides):
            x = rect.left() + (k * (width + MARGIN) if beside else 0)
            self._paint_side(p, t, cell, side, QRectF(x, y, width, line), len(sides) > 1)
            y += 0 if beside else line + 3 + self._strip(cell)

    def _symbols(self, p: QPainter | None, cell: Cell, at: QPointF, width: float) -> float:
        """Draw the equation in symbols, or measure it without a painter; return its height."""
        plain = self.font_of("plain")[1]
        t, x, y, high = theme.current(), at.x(), at.y(), plain.height() + 3
        for k, (text, layer) in enumerate(cell.words):
            parts = runs(text)
            own = "plain" if k else "heavy"
            long = sum(self.advance("index" if sub else own, w) for w, sub in parts)
            if x + long > at.x() + width and x > at.x() + 24 and text not in (")", " "):
                x, y = at.x() + 24, y + high
            if p is not None and layer:
                self._spots[cell.key].append(Spot(QRectF(x, y, long, high), cell, layer))
                if self._hot == layer:
                    p.setPen(QPen(QColor(t.accent), 1))
                    draw_hair(p, QPointF(x, y + high - 1), QPointF(x + long, y + high - 1))
            for word, sub in parts:
                kind = "index" if sub else own
                if p is not None:
                    p.setFont(self.font_of(kind)[0])
                    p.setPen(QColor(t.accent if layer and layer in (self.selected, self._hot) else t.text))
                    p.drawText(QPointF(x, y + plain.ascent() + (3 if sub else 0)), word)
                x += self.advance(kind, word)
        return y - at.y() + high

    def _paint_side(self, p: QPainter, t: Theme, cell: Cell, side: str, rect: QRectF, both: bool) -> None:
        place = cell.there(self.place(cell), side)
        words, value = in_words(cell, side, place)
        apart = side == "after" and cell.differs(place)
        result = f"= {value}"
        (small, metrics), (bold, heavy) = self.font_of("small"), self.font_of("bold")
        room = heavy.horizontalAdvance(result) + 6
        name = (SIDES[side] + "  " if both else "") + (place_name(place, self.names) if side == "before" else "")
        p.setFont(small)
        p.setPen(QColor(t.muted))
        wanted, known = metrics.horizontalAdvance(name) + 8, metrics.horizontalAdvance(words)
        label = min(wanted, max(0.0, rect.width() - room - known)) if known + room < rect.width() else 0.0
        if label == wanted:
            p.drawText(rect, LEFT, name)
        else:
            label = 0.0
        text = metrics.elidedText(words, Qt.TextElideMode.ElideRight, rect.width() - room - label)
        p.setPen(QColor(t.text))
        p.drawText(rect.adjusted(label, 0, 0, 0), LEFT, text)
        p.setFont(bold)
        p.setPen(QColor(t.bad if apart else t.text))
        x = rect.left() + label + metrics.horizontalAdvance(text) + 5
        p.drawText(QRectF(x, rect.top(), room, rect.height()), LEFT, result)
        self._paint_strip(p, t, cell, side, QRectF(rect.left(), rect.bottom() + 1, rect.width(), self._strip(cell) - 5))

    def _paint_strip(self, p: QPainter, t: Theme, cell: Cell, side: str, room: QRectF) -> None:
        values = np.atleast_2d(dict(cell.lines)[side].shown)[:HEADS]
        heads, count = values.shape
        box = QRectF(room.left(), room.top(), min(room.width(), UNIT * count), room.height())
        levels = np.ascontiguousarray(indices(shown(values), cell.scale, cell.limit))
        pixels = table(cell.scale)[levels]
        image = QImage(pixels.tobytes(), count, heads, 4 * count, QImage.Format.Format_RGB32).copy()
        p.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        p.drawImage(box, image)
        p.setBrush(Qt.BrushStyle.NoBrush)
        p.setPen(QPen(QColor(t.line), 1))
        p.drawRect(box)
        if side == "after" and cell.apart is not None:
            p.setPen(Qt.PenStyle.NoPen)
            wrong = np.any(np.atleast_2d(cell.apart)[:HEADS], axis=0).reshape(-1)
            width = box.width() / len(wrong)
            for i in np.flatnonzero(wrong):
                p.fillRect(QRectF(box.left() + i * width, box.bottom() + 1, max(1.0, width - 1), 2), faded(t.bad, 220))
        place = cell.there(self.place(cell), side)
        head, unit = (0, place[0]) if len(place) == 1 else place
        if head < heads and unit < count:
            size = QPointF(box.width() / count, box.height() / heads)
            p.setPen(QPen(QColor(t.text), 1.4))
            p.setBrush(Qt.BrushStyle.NoBrush)
            p.drawRect(QRectF(box.left() + unit * size.x(), box.top() + head * size.y(), size.x(), size.y()))
        self._spots[cell.key].append(Spot(box, cell, side=side))

    # the mouse ------------------------------------------------------------------------------------------------
    def spot(self, at: QPointF) -> Spot | None:
        """Return the name or the strip under the mouse."""
        return next((s for s in self.spots if s.rect.adjusted(-1, -1, 1, 1).contains(at)), None)

    def _unit(self, spot: Spot, at: QPointF) -> Place:
        shape = spot.cell.shape if spot.side == "before" else dict(spot.cell.lines)[spot.side].shown.shape
        heads, count = (1, shape[0]) if len(shape) == 1 else (min(HEADS, shape[0]), shape[1])
        i = min(count - 1, max(0, int((at.x() - spot.rect.left()) / spot.rect.width() * count)))
        head = min(heads - 1, max(0, int((at.y() - spot.rect.top()) / spot.rect.height() * heads)))
        return (i,) if len(shape) == 1 else (head, i)

    def mouseMoveEvent(self, event: Any) -> None:
        at = event.position()
        spot = self.spot(at)
        hot, text = spot.layer if spot is not None else "", ""
        if spot is not None and spot.layer:
            text = f"select {spot.layer}"
        elif spot is not None:
            place = self._unit(spot, at)
            own = spot.cell.back(place, spot.side)
            if self._places.get(spot.cell.key) != own:
                self._places[spot.cell.key] = own
                self.update()
            words, value = in_words(spot.cell, spot.side, place)
            text = f"{spot.cell.key}, {place_name(place, self.names)}: {words} = {value}"
        self.setCursor(Qt.CursorShape.PointingHandCursor if spot is not None else Qt.CursorShape.ArrowCursor)
        if hot != self._hot:
            self._hot = hot
            self.update()
        self.hovered.emit(text)
        if text:
            QToolTip.showText(event.globalPosition().toPoint(), text, self)
        else:
            QToolTip.hideText()

    def mousePressEvent(self, event: Any) -> None:
        spot = self.spot(event.position())
        if event.button() != Qt.MouseButton.LeftButton or spot is None:
            return
        if spot.layer:
            self.named.emit(spot.layer)
        elif spot.cell.layer:
            place = self._unit(spot, event.position())
            self.picked.emit(spot.cell.layer, place[0])

    def leaveEvent(self, event: Any) -> None:
        self._hot = ""
        self.hovered.emit("")
        self.update()
