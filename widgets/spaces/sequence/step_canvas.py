"""Equations with the numbers of one step in as many columns as fit: a scene of them, with its mouse."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from widgets.charts.scene.sheet import Sheet
from widgets.spaces.sequence.equation_item import HEADS, MARGIN, WIDE, EquationItem, Spot
from widgets.spaces.sequence.step_cells import Cell, Place, in_words, place_name

NARROW = 380.0  # of a column of equations
SIZES = {"plain": 1.0, "heavy": 1.0, "index": 0.74, "small": 0.88, "bold": 0.88}  # of the window's font


class StepCanvas(Sheet):
    """Shows cells as items of a scene; as high as they need, so that it lives in a scroll area."""

    named = Signal(str)  # a layer's name was clicked
    picked = Signal(str, int)  # a unit of a layer was clicked
    hovered = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.cells: list[Cell] = []
        self.names: tuple[str, ...] = ()
        self.selected, self.hot = "", ""  # hot: the layer whose name is under the mouse
        self.channel: int | None = None
        self._made: list[EquationItem] = []
        self._fonts: dict[str, tuple[QFont, QFontMetricsF]] = {}
        self._advances: dict[tuple[str, str], float] = {}
        self._laid: tuple[Any, ...] = ()
        self._places: dict[str, Place] = {}
        self._measure = EquationItem(self)

    def minimumSizeHint(self) -> QSize:
        return QSize(220, 60)

    def sizeHint(self) -> QSize:
        return QSize(420, self.full_height(float(max(240, self.width()))))

    @property
    def equations(self) -> list[EquationItem]:
        """Return the items of the equations that are shown."""
        return self._made[: len(self.cells)]

    @property
    def spots(self) -> list[Spot]:
        """Return what can be pointed at."""
        return [spot for item in self.equations for spot in item.spots()]

    # what is shown --------------------------------------------------------------------------------------------
    def show_cells(self, cells: list[Cell], names: tuple[str, ...], selected: str, channel: int | None) -> None:
        if channel != self.channel or [c.key for c in cells] != [c.key for c in self.cells]:
            self._places.clear()
        self.cells, self.names, self.selected, self.channel = cells, names, selected, channel
        self._arrange()

    def place(self, cell: Cell) -> Place:
        """Return the unit that is put into numbers."""
        return cell.at(self._places.get(cell.key), self.channel)

    def text(self, key: str, side: str = "before") -> str:
        """Return the line of numbers of an equation as it is drawn: "logistic(0.41 − 0.12) = 0.57"."""
        cell = next(c for c in self.cells if c.key == key)
        return " = ".join(in_words(cell, side, cell.there(self.place(cell), side)))

    def _arrange(self) -> None:
        """Hand the cells to the items."""
        height = 0 if self.message else self.full_height(float(self.width()))
        if self.minimumHeight() != height:
            self.setMinimumHeight(height)
        while len(self._made) < len(self.cells):
            self._made.append(EquationItem(self))
            self.scene().addItem(self._made[-1])
        for item, cell, rect in zip(self._made, self.cells, self.layout_(float(self.width()))[0]):
            item.show_cell(cell, rect)
        for k, item in enumerate(self._made):
            item.setVisible(k < len(self.cells))
        self.viewport().update()

    def dress(self) -> None:
        """Take the colours of the theme."""
        self._arrange()

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        if hasattr(self, "_measure"):
            self._arrange()

    # geometry -------------------------------------------------------------------------------------------------
    def changeEvent(self, event: Any) -> None:
        self._fonts, self._advances, self._laid = {}, {}, ()
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_measure"):
            self._arrange()

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

    @property
    def line(self) -> float:
        """Return the height of a line of numbers."""
        return self.font_of("small")[1].height()

    def columns(self, width: float) -> int:
        both = any(cell.before is not None and cell.after is not None for cell in self.cells)
        return max(1, int((width - MARGIN) // (WIDE if both else NARROW)))

    def layout_(self, width: float) -> tuple[list[QRectF], float]:
        """Return where every equation stands, and the height of the longest column."""
        key = (width, [(c.key, c.heading, c.shape, len(c.lines), c.words) for c in self.cells])
        if not self._laid or self._laid[0] != key:
            self._laid = (key, *self._lay_out(width))
        return self._laid[1], self._laid[2]

    def _lay_out(self, width: float) -> tuple[list[QRectF], float]:
        n = self.columns(width)
        each = (width - MARGIN) / n - MARGIN
        heights = [self._measure.height(cell, each) for cell in self.cells]
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
        return next((rect for cell, rect in zip(self.cells, placed) if cell.key == key), None)

    def full_height(self, width: float) -> int:
        """Return the height at which no equation is out of sight."""
        return int(self.layout_(width)[1]) + 4 if self.cells else 60

    # the mouse ------------------------------------------------------------------------------------------------
    def _unit(self, spot: Spot, x: float, y: float) -> Place:
        shape = spot.cell.shape if spot.side == "before" else dict(spot.cell.lines)[spot.side].shown.shape
        heads, count = (1, shape[0]) if len(shape) == 1 else (min(HEADS, shape[0]), shape[1])
        i = min(count - 1, max(0, int((x - spot.rect.left()) / spot.rect.width() * count)))
        head = min(heads - 1, max(0, int((y - spot.rect.top()) / spot.rect.height() * heads)))
        return (i,) if len(shape) == 1 else (head, i)

    def _under(self, event: Any) -> tuple[Spot | None, Place]:
        """Return the name or the strip under the mouse, and the unit in it."""
        at = event.position()
        spot = next((s for s in self.spots if s.rect.adjusted(-1, -1, 1, 1).contains(at)), None)
        return spot, self._unit(spot, at.x(), at.y()) if spot is not None and spot.side else ()

    def mouseMoveEvent(self, event: Any) -> None:
        spot, place = self._under(event)
        hot, text = spot.layer if spot is not None else "", ""
        if spot is not None and spot.layer:
            text = f"select {spot.layer}"
        elif spot is not None:
            own = spot.cell.back(place, spot.side)
            if self._places.get(spot.cell.key) != own:
                self._places[spot.cell.key] = own
                self._arrange()
            words, value = in_words(spot.cell, spot.side, place)
            text = f"{spot.cell.key}, {place_name(place, self.names)}: {words} = {value}"
        pointed = Qt.CursorShape.PointingHandCursor if spot is not None else Qt.CursorShape.ArrowCursor
        self.viewport().setCursor(pointed)
        self._warm(hot)
        self.hovered.emit(text)
        if text:
            QToolTip.showText(event.globalPosition().toPoint(), text, self)
        else:
            QToolTip.hideText()

    def _warm(self, hot: str) -> None:
        if hot != self.hot:
            self.hot = hot
            for item in self.equations:
                item.write()

    def mousePressEvent(self, event: Any) -> None:
        spot, place = self._under(event)
        if event.button() != Qt.MouseButton.LeftButton or spot is None:
            return
        if spot.layer:
            self.named.emit(spot.layer)
        elif spot.cell.layer:
            self.picked.emit(spot.cell.layer, place[0])

    def mouseReleaseEvent(self, event: Any) -> None:
        """Take the press's other half: nothing here is dragged."""

    def wheelEvent(self, event: Any) -> None:
        event.ignore()  # the list round it scrolls

    def leaveEvent(self, event: Any) -> None:
        self._warm("")
        self.hovered.emit("")
