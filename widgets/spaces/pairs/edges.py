"""Round the picture of a pair matrix: names of rows and columns, sums, values in cells, the colour bar."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from explorer.declare.telling.numerals import with_minus
from widgets.base.camera import Camera
from widgets.base.look.alignment import CENTRE, LEFT, RIGHT
from widgets.base.look.colours import colour_table
from widgets.base.look.theme import CLASSES, current, error_map, signed_map
from widgets.base.text.words import figure
from widgets.charts.axis.axes import Axis
from widgets.charts.inks import mixed
from widgets.charts.items.heat import Bar
from widgets.charts.items.marks import Columns, fill
from widgets.charts.library import pg
from widgets.maps.diagram import Label, colour, font
from widgets.maps.mosaic import MISSING
from widgets.spaces.pairs.panel import BAR, Panel
from widgets.spaces.pairs.tiles import HIDDEN, MASKED, Style, shade

CORNER = 40.0  # pixels of names of rows, beside which the axes are named
WRITTEN = 30.0  # pixels of a cell from which its value is written in it


class PlaceAxis(Axis):
    """Names of rows or columns and a strip in the colours of their classes; marked names are bold.

    A drag of a row's name is `dragged`: the row, the pixel below the axis's top, and whether it was let go.
    """

    dragged = Signal(int, float, bool)

    def __init__(self, orientation: str) -> None:
        self.panel: Panel | None = None
        self.marks: tuple[int | None, ...] = ()
        self._held: int | None = None
        super().__init__(orientation)
        self.setGrid(False)
        self.font = font(10)

    def show_panel(self, panel: Panel) -> None:
        self.panel = panel
        frame = panel.frame
        there = panel.left if self.upright else panel.above
        self.setVisible(there > 0)
        self.setWidth(panel.left) if self.upright else self.setHeight(panel.above)
        size = (frame.left() - panel.left, frame.top(), panel.left, frame.height())
        self.setGeometry(QRectF(*size if self.upright else (frame.left(), frame.top() - there, frame.width(), there)))
        self.redraw()

    def mark(self, places: Sequence[int | None]) -> None:
        """Write these places in bold: the selected ones first, at last the one under the cursor."""
        if tuple(places) != self.marks:
            self.marks = tuple(places)
            self.redraw()

    def fit(self) -> None:
        """Keep the size that the panel gave."""

    def boundingRect(self) -> QRectF:
        return QRectF(self.rect())

    def place_at(self, pixel: float) -> int | None:
        """Return the place at a pixel along the axis."""
        low, high = sorted(self.range)
        length = self.size().height() if self.upright else self.size().width()
        place = math.floor(low + pixel / max(length, 1e-9) * (high - low))
        return place if self.panel is not None and 0 <= place < self.panel.matrix.n else None

    def generateDrawSpecs(self, p: QPainter) -> Any:
        """Return strips (colour, start, length) and names (bold, colour, middle, text) along the axis."""
        panel, (low, high) = self.panel, sorted(self.range)
        length = self.size().height() if self.upright else self.size().width()
        if panel is None or length < 4 or high <= low:
            return None
        pixel, n = length / (high - low), panel.matrix.n
        first, last = max(0, math.floor(low + 1e-6)), min(n, math.ceil(high - 1e-6))
        every, metrics = labelled(n, pixel, 12.0), QFontMetricsF(font(10, bold=True))
        special = {k for k in self.marks if k is not None and first <= k < last}
        taken = [(k + 0.5 - low) * pixel for k in special]
        room = (self.size().width() if self.upright else self.size().height()) - self._strip() - 8
        names = []
        for place in [*range(first + -first % every, last, every), *special]:
            at = (place + 0.5 - low) * pixel
            if not 3 <= at <= length - 3 or (place not in special and any(abs(at - t) < 12 for t in taken)):
                continue
            role = "accent" if place in self.marks[:-1] else "text" if place in special else "muted"
            # in the middle: what tells names apart is often at the end
            text = metrics.elidedText(panel.name(place, self.upright), Qt.TextElideMode.ElideMiddle, room)
            names.append((place in special, colour(role), at, text))
        return self._strips(panel, (first, last), low, pixel), names

    def _strip(self) -> float:
        return 4.0 if self.panel is not None and self.panel.view.classes is not None else 0.0

    def _strips(self, panel: Panel, span: tuple[int, int], low: float, pixel: float) -> list[Any]:
        """Return the runs of one class."""
        if panel.view.classes is None:
            return []
        at = np.arange(*span, max(1, int(1 / pixel)))  # no more than one piece a pixel
        shown = panel.view.classes[at]
        starts = np.flatnonzero(np.diff(shown, prepend=shown[:1] - 1)) if len(shown) else at
        ends = [*at[starts[1:]], span[1]]
        return [
            (class_colour(int(shown[k])), (int(at[k]) - low) * pixel, (int(end) - int(at[k])) * pixel)
            for k, end in zip(starts, ends)
        ]

    def drawPicture(self, p: QPainter, strips: Any, names: Any) -> None:
        width, height = self.size().width(), self.size().height()
        room = (width if self.upright else height) - self._strip() - 8
        for ink, start, length in strips:
            box = QRectF(width - 5, start, 4, length) if self.upright else QRectF(start, height - 5, length, 4)
            p.fillRect(box.intersected(self.boundingRect()), ink)
        for bold, ink, at, text in names:
            p.setFont(font(10, bold=bold))
            p.setPen(ink)
            if self.upright:
                p.drawText(QRectF(4, at - 8, room, 16), int(RIGHT), text)
            else:
                p.save()
                p.translate(at, height - self._strip() - 4)
                p.rotate(-90)
                p.drawText(QRectF(0, -8, room, 16), int(LEFT), text)
                p.restore()

    # the mouse --------------------------------------------------------------------------------------------------
    def mouseDragEvent(self, event: Any) -> None:
        if not self.upright or event.button() != Qt.MouseButton.LeftButton:
            return
        if event.isStart():
            self._held = self.place_at(event.buttonDownPos().y())
        if self._held is not None:
            event.accept()
            self.dragged.emit(self._held, event.pos().y(), event.isFinish())

    def mouseClickEvent(self, event: Any) -> None:
        event.ignore()

    def wheelEvent(self, event: Any) -> None:
        event.ignore()


class Sums(pg.ViewBox):
    """Sums of rows (at the right) or of columns (below) as bars, means of those that share a pixel."""

    def __init__(self, main: pg.ViewBox, down: bool) -> None:
        super().__init__(enableMouse=False, enableMenu=False, defaultPadding=0.0)
        self.down, self.top = down, 1.0
        self.state["autoRange"] = [False, False]
        self.invertY(True)
        self.setYLink(main) if down else self.setXLink(main)
        self.bars = {role: Columns() for role in ("muted", "bad", "accent")}
        for bars in self.bars.values():
            self.addItem(bars, ignoreBounds=True)

    def show_sums(self, panel: Panel, camera: Camera, hover: int | None) -> None:
        """Draw the sums of what is seen; those of the place under the cursor are marked."""
        sums = (panel.matrix.row_sums if self.down else panel.matrix.column_sums)(panel.head)
        first, last = panel.seen(camera)[0 if self.down else 1]
        cell = panel.cell(camera)
        self.top = max(panel.sum_high, float(np.max(np.abs(sums), where=np.isfinite(sums), initial=0.0)))
        each = max(1, math.ceil(1 / cell))
        begin = np.arange(first, last, each, dtype=float)
        values = _means(sums, (first, last), each) if self.top > 0 else begin[:0]
        end = np.minimum(begin + each, last) - (1 / cell if cell >= 5 else 0.0)
        share = np.minimum(np.abs(values) / (self.top or 1.0), 1.0)
        here = (begin <= hover) & (hover < begin + each) if hover is not None else np.zeros(len(begin), bool)
        which = {"accent": here, "bad": ~here & (values < 0), "muted": ~here & ~(values < 0)} if len(values) else {}
        for role, bars in self.bars.items():
            k = which.get(role, slice(0))
            along, size = (begin[k], end[k]), (np.zeros(len(share[k])), share[k])
            bars.set_columns(*((*size, *along) if self.down else (*along, *size)))
        self.setRange(**{"xRange" if self.down else "yRange": (0.0, 1.0)}, padding=0)

    def dress(self) -> None:
        """Take the colours of the theme."""
        t = current()
        self.setBackgroundColor(t.window)
        for role, bars in self.bars.items():
            ink = getattr(t, role)
            bars.setOpts(brush=fill(ink if role == "accent" else mixed(ink, t.window, 0.59).name()))


class Values(pg.GraphicsObject):
    """The values, written into cells that are large enough to be read; in pixels, a child of the box."""

    def __init__(self, edges: Edges, box: pg.ViewBox) -> None:
        super().__init__()
        self._edges, self._box = edges, box
        self.setParentItem(box)
        self.setZValue(50)

    def boundingRect(self) -> QRectF:
        return QRectF(self._box.rect())

    def paint(self, p: QPainter, *rest: Any) -> None:
        panel, style, camera = self._edges.panel, self._edges.style, self._edges.camera
        if panel is None or style is None or panel.cell(camera) < WRITTEN:
            return
        cell, (rows, columns) = panel.cell(camera), panel.seen(camera)
        (left, _), (top, _) = self._box.viewRange()
        with np.errstate(all="ignore"):
            values = panel.matrix.tile(panel.head, rows, columns)
            inks = shade(values, style, panel.matrix.sparse, masked=panel.matrix.masked(values))
        table, used = colour_table(style.kind), font(min(11.0, cell / 3.2))
        p.setClipRect(self.boundingRect(), Qt.ClipOperation.IntersectClip)
        metrics = QFontMetricsF(used)
        p.setFont(used)
        for i, j in np.argwhere((inks != HIDDEN) & (inks != MASKED)):
            text = short(float(values[i, j]))
            if metrics.horizontalAdvance(text) > cell - 2:
                continue
            ground = QColor(table[int(inks[i, j])])
            p.setPen(QColor("#101214" if ground.lightnessF() > 0.5 or inks[i, j] == MISSING else "#ffffff"))
            x, y = (columns[0] + int(j) - left) * cell, (rows[0] + int(i) - top) * cell
            p.drawText(QRectF(x, y, cell, cell), int(CENTRE), text)


class Edges(pg.GraphicsWidget):
    """The labels, ticks and sums round the picture of one matrix, linked to its box."""

    def __init__(self, box: pg.ViewBox) -> None:
        super().__init__()
        self.panel: Panel | None = None
        self.style: Style | None = None
        self.camera: Camera
        self.rows, self.columns = PlaceAxis("left"), PlaceAxis("top")
        self.sums = (Sums(box, True), Sums(box, False))
        self.heads = tuple(Label(9, "muted", LEFT if k < 2 else RIGHT) for k in range(4))
        self.axes = Label(9, "muted", RIGHT), Label(9, "muted", RIGHT)  # what columns and rows are
        self.pooling = Label(9, "muted")
        self.values = Values(self, box)
        for axis in (self.rows, self.columns):
            axis.linkToView(box)
            axis.linkedViewChanged(box)
        items: tuple[Any, ...] = (self.rows, self.columns, *self.sums, *self.heads, *self.axes, self.pooling)
        for item in items:
            item.setParentItem(self)
        self.rows.setCursor(Qt.CursorShape.OpenHandCursor)

    def show_panel(self, panel: Panel, camera: Camera) -> None:
        """Stand round a panel where it was placed."""
        self.panel, self.camera = panel, camera
        frame, right, below = panel.frame, panel.frame.right() + 5, panel.frame.bottom() + 5
        for axis in (self.rows, self.columns):
            axis.show_panel(panel)
        places = (
            QRectF(right, frame.top(), panel.strip, frame.height()),
            QRectF(frame.left(), below, frame.width(), panel.strip),
        )
        for sums, place in zip(self.sums, places):
            sums.setVisible(panel.strip > 0)
            sums.setGeometry(place)
        for label, (x, y, width) in zip(
            self.heads,
            (
                (right, frame.top() - 26, panel.strip + 8), (right, frame.top() - 14, panel.strip + 14),
                (frame.left() - 68, below, 64), (frame.left() - 68, below + 13, 64),
            ),
        ):  # fmt: skip
            label.place(QRectF(x, y, width, 13))
            label.setVisible(bool(panel.above))
        self._name_axes(panel)
        self.values.prepareGeometryChange()
        bar = min(frame.height(), 260.0)
        self.pooling.place(QRectF(right + panel.strip + 3, frame.top() + bar + 4, BAR + 14, 13))

    def _name_axes(self, panel: Panel) -> None:
        """Say what columns and rows are: in the corner between their names, else in the one below."""
        frame, (columns, rows) = panel.frame, self.axes
        both = (f"to {panel.to} ↑   from →", "to ↑  from →")
        columns.set_text(*((f"from {panel.of} →",) if panel.above else both))
        rows.set_text(f"to {panel.to} ↓")
        top = frame.top() - 27 if panel.above else frame.bottom() + 3
        columns.place(QRectF(frame.left() - panel.left - 14, top, panel.left + 10, 13))
        rows.place(QRectF(frame.left() - panel.left - 14, frame.top() - 14, panel.left + 10, 13))
        columns.setVisible(panel.left >= CORNER)
        rows.setVisible(bool(panel.above))

    def show_sums(self, hover: tuple[int, int] | None) -> None:
        """Draw the sums, which are known, and their largest magnitudes."""
        if self.panel is None:
            return
        for k, (sums, name) in enumerate(zip(self.sums, ("Σ row", "Σ column"))):
            sums.show_sums(self.panel, self.camera, self.panel.places(hover[k]) if hover is not None else None)
            self.heads[2 * k].set_text(name)
            self.heads[2 * k + 1].set_text(f"≤{short(sums.top)}" if sums.top > 0 else "")

    def tell_pooling(self, level: int) -> None:
        """Say what one pixel stands for."""
        panel = self.panel
        there = panel is not None and level > 0 and panel.above > 0 and panel.bar > 0
        self.pooling.set_text(f"{panel.pool} of {2**level}×{2**level}" if there and panel is not None else "")

    def mark(self, rows: Sequence[int | None], columns: Sequence[int | None]) -> None:
        self.rows.mark(rows)
        self.columns.mark(columns)

    def dress(self) -> None:
        """Take the colours of the theme."""
        for axis in (self.rows, self.columns):
            axis.redraw()
        for sums in self.sums:
            sums.dress()


class PairBar(Bar):
    """The colour bar of a matrix: its numbers, decades on a logarithmic scale, and a line at the threshold."""

    def __init__(self) -> None:
        super().__init__(gap=0.0)
        self.set_font(font(10))
        self.axis.setWidth(BAR + 2)  # "≥0.00293" has room
        self._followed: tuple[Any, ...] = ()

    def follow(self, style: Style, beyond: bool) -> None:
        """Show a scale; `beyond` says that larger values have the colour of its end."""
        height = self.size().height()
        if self._followed == (style, beyond, height, current().name):
            return
        self._followed = (style, beyond, height, current().name)
        self.table = signed_map if style.signed else error_map
        end = "≥" if beyond else ""
        self.setLevels((0.0, 1.0))
        self.set_ticks([
            (share, ("≤" if style.log and share == 0 and not style.signed else end if share == 1 else "") + figure(v))
            for share, v in ticks(style, height / QFontMetricsF(font(10)).height())
        ])  # fmt: skip
        share = float(style.share(np.array([style.threshold]))[0]) if style.threshold > 0 else 0.0
        self.set_line(((share + 1) / 2 if style.signed else share) if style.threshold > 0 else None)
        self.dress()


def class_colour(number: int) -> QColor:
    """Return the colour of a class; unknown ones have the colour of lines."""
    return QColor(CLASSES[number % len(CLASSES)]) if number >= 0 else colour("line")


def short(value: float) -> str:
    """Return a value in at most five characters where that is possible: ".12", "1", "2e-5"."""
    if value == 0 or not math.isfinite(value):
        return figure(value) if value == 0 else "nan" if math.isnan(value) else figure(value)
    if 0.005 <= abs(value) < 1:
        return with_minus(f"{value:.2f}".replace("0.", ".", 1))
    return with_minus(f"{value:.0e}" if abs(value) < 0.005 else f"{value:.3g}")


def labelled(count: int, pixels: float, line: float) -> int:
    """Return that every so many places bears a label: 1, 2, 5, 10, ... so that labels do not touch."""
    need = line / max(1e-9, pixels)
    return next(s * 10**k for k in range(12) for s in (1, 2, 5) if s * 10**k >= need or s * 10**k >= count)


def _means(sums: NDArray[Any], span: tuple[int, int], each: int) -> NDArray[Any]:
    part = sums[span[0] : span[1]]
    if each == 1 or not len(part):
        return part
    starts = np.arange(0, len(part), each)
    sizes = np.diff([*starts, len(part)])
    return np.asarray(np.add.reduceat(part, starts) / sizes)


def ticks(style: Style, lines: float) -> list[tuple[float, float]]:
    """Return (height as a share, value) of the numbers beside a bar with room for so many lines."""
    shares = (0.0, 0.25, 0.5, 0.75, 1.0) if lines >= 6.5 else (0.0, 0.5, 1.0)
    if not style.log:
        return [(s, (2 * s - 1 if style.signed else s) * style.high) for s in shares]

    def value(share: float) -> float:
        return style.low * (style.high / style.low) ** share

    if not style.signed:
        return [(s, value(s)) for s in shares]
    return [(s, 0.0 if s == 0.5 else math.copysign(value(abs(2 * s - 1)), s - 0.5)) for s in shares]
