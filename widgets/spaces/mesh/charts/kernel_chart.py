"""Weight functions on the polar patch as small pictures: filters, Gaussians, or the basis that a constraint leaves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from widgets.base.look import theme
from widgets.base.look.alignment import CENTRE, LEFT
from widgets.base.text.words import figure
from widgets.charts.axis.axes import NameAxis, ValueAxis
from widgets.charts.inks import mixed
from widgets.charts.items.heat import Heat, Strip
from widgets.charts.items.marks import fill, ink
from widgets.charts.library import pg
from widgets.charts.plot import Plot
from widgets.charts.round_plot import FINE, circles, polar

Array = NDArray[Any]
TOP, SIDE, PAD, LINE = 20, 34, 6, 16  # pixels: column heads, row heads, round a cell, a line of text
HEAD = 26  # pixels of the colour bar above and the end below
SHARP = 2  # pixels of a heat map for one of the screen
LEAST, CURVE, DISC = 24, 30, 46  # pixels of a picture: a curve over theta, a polar heat map
NAME = re.compile(r"(?P<a>\S+) (?P<way>[→←]) (?P<b>[^\s:]+)(?:: (?P<line>[^\[]*[^\[\s]))?(?: (?P<entry>\[.*\]))?")


@dataclass(frozen=True, slots=True)
class Label:
    """The name of a kernel, read: its input and its output, its line within that pair, its entry."""

    source: str
    target: str
    line: str = ""
    entry: str = ""


def label(name: str) -> Label | None:
    """Return what "1 → 2: frequency 3 [3,1]" or "4 ← 0" says, None of a name without an arrow."""
    found = NAME.fullmatch(name)
    if found is None:
        return None
    ends = (found["a"], found["b"]) if found["way"] == "→" else (found["b"], found["a"])
    return Label(*ends, found["line"] or "", found["entry"] or "")


@dataclass(frozen=True, slots=True)
class Layout:
    """Places of everything: the box of each picture, heads of rows and of columns, other words, and the size of all."""

    pictures: tuple[QRectF, ...]
    words: tuple[tuple[QRectF, str, str], ...]  # box, text, "head", "line" or "name"
    cells: tuple[QRectF, ...]
    size: tuple[float, float]


def arranged(names: Sequence[str], radii: int, width: float, letters: QFont) -> Layout:
    """Return a table, inputs in rows and outputs in columns, where names say so; else a grid with names below.

    `letters` are those in which lines of the table are named: they have room beside a single picture too.
    """
    side = CURVE if radii == 1 else DISC
    labels = [label(name) for name in names]
    if all(one is not None for one in labels) and labels:
        return _table([one for one in labels if one is not None], side, width, QFontMetricsF(letters))
    return _grid(names, DISC + 10 if radii > 1 else DISC, width)


def _grid(names: Sequence[str], side: float, width: float) -> Layout:
    step = side + 2 * PAD
    across = max(1, int((width - PAD) // step))
    pictures, words = [], []
    for k in range(len(names)):
        y, x = divmod(k, across)
        box = QRectF(PAD + x * step, PAD + y * (step + LINE), side, side)
        pictures.append(box)
        words.append((QRectF(box.left() - PAD, box.bottom() + 1, step, LINE), names[k], "name"))
    rows = -(-len(names) // across)
    return Layout(tuple(pictures), tuple(words), (), (width, PAD + rows * (step + LINE)))


def _table(labels: Sequence[Label], side: float, width: float, metrics: QFontMetricsF) -> Layout:
    rows = list(dict.fromkeys(one.source for one in labels))
    columns = list(dict.fromkeys(one.target for one in labels))
    cells: dict[tuple[str, str], dict[str, list[int]]] = {}
    for k, one in enumerate(labels):
        cells.setdefault((one.source, one.target), {}).setdefault(one.line, []).append(k)
    named = any(one.line for one in labels)
    longest = max(len(line) for cell in cells.values() for line in cell.values())
    room = (width - SIDE) / len(columns) - 2 * PAD
    across = min(max((n for n in (16, 8, 4, 2, 1) if n * LEAST <= room), default=1), longest)
    side = max(LEAST, min(side, room / across))
    widest = max(metrics.horizontalAdvance(one.line) for one in labels)
    wide = max(across * side, min(widest, room)) + 2 * PAD
    pictures: dict[int, QRectF] = {}
    words: list[tuple[QRectF, str, str]] = []
    boxes: list[QRectF] = []
    for c, name in enumerate(columns):
        words.append((QRectF(SIDE + c * wide, 0, wide, TOP), f"→ {name}", "head"))
    y = float(TOP)
    for source in rows:
        tall = 0.0
        for c, target in enumerate(columns):
            x, down = SIDE + c * wide + PAD, y + PAD / 2
            for line, members in cells.get((source, target), {}).items():
                if named:
                    words.append((QRectF(x, down, wide - PAD, LINE), line, "line"))
                    down += LINE
                for k, member in enumerate(members):
                    i, j = divmod(k, across)
                    pictures[member] = QRectF(x + j * side, down + i * side, side, side).adjusted(1, 1, -1, -1)
                down += -(-len(members) // across) * side
            tall = max(tall, down + PAD / 2 - y)
        boxes += [QRectF(SIDE + c * wide, y, wide, tall) for c in range(len(columns))]
        words.append((QRectF(0, y, SIDE, tall), f"{source} →", "head"))
        y += tall
    boxed = tuple(pictures[k] for k in range(len(labels)))
    return Layout(boxed, tuple(words), tuple(boxes), (SIDE + len(columns) * wide + 1, y + 1))


class Captions(pg.GraphicsObject):
    """The words of a layout, at their boxes."""

    def __init__(self) -> None:
        super().__init__()
        self.words: tuple[tuple[QRectF, str, str], ...] = ()
        self.font = QFont()

    def set_words(self, words: tuple[tuple[QRectF, str, str], ...]) -> None:
        self.prepareGeometryChange()
        self.words = words

    def boundingRect(self) -> QRectF:
        found = QRectF()
        for box, _, _ in self.words:
            found = found.united(box)
        return found

    def paint(self, p: QPainter, *rest: Any) -> None:
        t, bold = theme.current(), QFont(self.font)
        bold.setBold(True)
        for box, text, kind in self.words:
            p.setFont(bold if kind == "head" else self.font)
            p.setPen(QColor(t.muted if kind == "line" else t.text))
            p.drawText(box, int(LEFT if kind == "line" else CENTRE), text)


class KernelChart(Plot):
    """The kernels of a layer on one colour scale, red positive and blue negative; a kernel of one radius is a curve.

    The axes are pixels, to the right and down: the table of kernels follows the width.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        self.values: Array = np.zeros((0, 1, 1), np.float32)
        self.kernels: tuple[str, ...] = ()  # their names
        self._layout: tuple[float, Layout] | None = None
        super().__init__(parent, left=ValueAxis("left"), bottom=NameAxis("bottom"))
        for axis in (self.left, self.bottom):
            axis.setStyle(showValues=False)
            axis.setGrid(False)
            axis.setTicks([])
        self.frame.layout.setContentsMargins(0, 0, 0, 0)
        self.box.setMouseEnabled(x=False, y=False)  # the list round it scrolls
        self.box.invertY(True)
        self.item.layout.removeItem(self.header)
        self.header.hide()
        self.colours = Strip(theme.signed_map)
        self.item.layout.addItem(self.colours, 0, 1)
        self.cells = self.add(pg.PlotCurveItem(connect="finite", antialias=False))
        self.discs = self.add(Heat(theme.signed_map), 1)
        self.rims = self.add(pg.PlotCurveItem(connect="finite"), 2)
        self.petals = [self.add(pg.PlotCurveItem(connect="finite"), 3) for _ in range(2)]  # negative, positive
        self.captions = self.add(Captions(), 4)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.set_fonts()
        self.dress()

    def show_kernels(self, values: Array, names: Sequence[str]) -> None:
        """Show kernels (rows, radii, directions)."""
        if values is self.values and tuple(names) == self.kernels:
            return
        self.values, self.kernels, self._layout = values, tuple(names), None
        self.updateGeometry()
        self._fit()
        self._update()

    def arrangement(self) -> Layout:
        """Return where the pictures are for the width at hand."""
        if self._layout is None or self._layout[0] != self.width():
            radii = self.values.shape[1] if self.values.ndim == 3 else 1
            self._layout = (self.width(), arranged(self.kernels, radii, self.width(), self.small()))
        return self._layout[1]

    def _fit(self) -> None:
        self.setMinimumHeight(round(self.arrangement().size[1]) + HEAD)

    def sizeHint(self) -> QSize:
        return QSize(360, round(self.arrangement().size[1]) + HEAD)

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        if hasattr(self, "captions"):
            self._fit()
            self._update()

    # drawing --------------------------------------------------------------------------------------------------
    def _update(self) -> None:
        """Hand the kernels to the items."""
        layout, size = self.arrangement(), self.box.size()
        self.set_ranges((0.0, max(1.0, size.width())), (0.0, max(1.0, size.height())))
        most = float(np.nanmax(np.abs(self.values), initial=0.0)) or 1.0
        boxes = np.array([box.getRect() for box in layout.pictures]).reshape(-1, 4)
        curves = self.values.shape[1] == 1
        radii = boxes[:, 2] / 2 - (3 if curves else 2)
        middles = boxes[:, :2] + boxes[:, 2:] / 2
        self.rims.setData(*_at(middles, *circles(radii)))
        self.discs.setVisible(not curves)
        for item in self.petals:
            item.setVisible(curves)
        if curves:
            self._draw_petals(middles, radii, self.values[:, 0] / most)
        else:
            self._draw_discs(layout, most)
        corners = np.array([box.getRect() for box in layout.cells]).reshape(-1, 4)
        x, y, wide, tall = corners.T
        gap = np.full(len(x), np.nan)
        self.cells.setData(
            np.stack([x, x + wide, x + wide, x, x, gap], 1).ravel(),
            np.stack([y, y, y + tall, y + tall, y, gap], 1).ravel(),
        )
        self.captions.set_words(layout.words)
        self.colours.setVisible(bool(len(self.values)))
        self.colours.write(f"−{figure(most)}", f"+{figure(most)}")

    def _draw_petals(self, middles: Array, radii: Array, values: Array) -> None:
        """Draw |K(theta)| as petals, coloured by the sign."""
        count = values.shape[1]
        closed = np.concatenate([values, values[:, :1]], 1)
        steps = np.arange(count + 1) / count
        fine = np.array([np.interp(np.arange(FINE) / FINE, steps, row) for row in np.nan_to_num(closed)])
        fine = fine.reshape(-1, FINE)
        for sign, item in zip((-1, 1), self.petals):
            item.setData(*_at(middles, *polar(np.maximum(sign * fine, 0) * radii[:, None])))

    def _draw_discs(self, layout: Layout, most: float) -> None:
        """Draw polar heat maps; the sector of direction k is about the angle 2 pi k / directions."""
        wide, tall = (max(1, round(SHARP * side)) for side in layout.size)
        sheet = np.full((tall, wide), np.nan, np.float32)
        _, rings, directions = self.values.shape
        for box, kernel in zip(layout.pictures, self.values, strict=True):
            left, top, side = (round(SHARP * v) for v in (box.left(), box.top(), box.width()))
            x, y = np.meshgrid(*2 * [(np.arange(side) + 0.5 - side / 2) / (side / 2 - 2 * SHARP)])
            away, turn = np.hypot(x, y), np.arctan2(-y, x) / (2 * np.pi)
            ring = np.minimum((away * rings).astype(int), rings - 1)
            found = kernel[ring, np.round(turn * directions).astype(int) % directions]
            inside = sheet[top : top + side, left : left + side]
            inside[:] = np.where(away <= 1, found, np.nan)[: inside.shape[0], : inside.shape[1]]
        self.discs.show_values(sheet, QRectF(0, 0, wide / SHARP, tall / SHARP), (-most, most))

    def reshaped(self) -> None:
        if hasattr(self, "captions"):
            size = self.box.size()
            self.set_ranges((0.0, max(1.0, size.width())), (0.0, max(1.0, size.height())))

    def set_fonts(self) -> None:
        super().set_fonts()
        if hasattr(self, "captions"):
            self.colours.set_font(self.small())
            self.captions.font = self.small()

    def dress(self) -> None:
        super().dress()
        self.box.borderRect.setPen(Qt.PenStyle.NoPen)
        if not hasattr(self, "captions"):
            return
        t, table = theme.current(), theme.signed_map()
        self.colours.dress()
        self.discs.dress()
        self.cells.setPen(ink(mixed(t.line, t.panel, 0.65).name()))
        self.rims.setPen(ink(mixed(t.line, t.panel, 0.8).name(), 0.8))
        for item, row in zip(self.petals, (96, 415)):
            colour = QColor(*(int(v) for v in table[row][:3])).name()
            item.setFillLevel("enclosed")
            item.setPen(ink(colour))
            item.setBrush(fill(colour, 120))
        self._update()

    def drawBackground(self, p: QPainter, rect: QRectF) -> None:
        p.fillRect(self.rect(), QColor(theme.current().panel))

    # the mouse ------------------------------------------------------------------------------------------------
    def read(self, at: QPointF) -> str:
        """Return the name of the kernel at a position and its value there."""
        for k, box in enumerate(self.arrangement().pictures):
            if box.contains(at):
                away, values = at - box.center(), self.values[k]
                turn = float(np.arctan2(-away.y(), away.x())) % (2 * np.pi)
                ring = int(np.hypot(away.x(), away.y()) / (box.width() / 2) * len(values))
                here = values[min(ring, len(values) - 1), round(turn / (2 * np.pi) * values.shape[1]) % values.shape[1]]
                return f"{self.kernels[k]} · {np.degrees(turn):.0f}°: {figure(float(here))}"
        return ""


def _at(middles: Array, x: Array, y: Array) -> tuple[Array, Array]:
    """Return curves about the origin, one for each middle, at their places: to the right and down."""
    each = len(x) // max(1, len(middles))
    return x + np.repeat(middles[:, 0], each), np.repeat(middles[:, 1], each) - y
