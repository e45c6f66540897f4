"""Weight functions on the polar patch as small pictures: filters, Gaussians, or the basis that a constraint leaves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from widgets.base import theme
from widgets.base.words import figure
from widgets.charts.chart import faded
from widgets.maps.diagram import font

Array = NDArray[Any]
CENTRE = Qt.AlignmentFlag.AlignCenter
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
TOP, SIDE, PAD, LINE = 20, 34, 6, 16  # pixels: column heads, row heads, round a cell, a line of text
LEAST, CURVE, DISC = 24, 30, 46  # pixels of a picture: a curve over theta, a polar heat map
NAME = re.compile(r"(?P<a>\S+) (?P<way>[→←]) (?P<b>[^\s:]+)(?:: (?P<line>[^\[]*[^\[\s]))?(?: (?P<entry>\[.*\]))?")


@dataclass(frozen=True, slots=True)
class Label:
    """What a kernel's name says: from which input to which output, its line within that pair, its entry."""

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
    """Where everything is: the box of each picture, heads of rows and of columns, other words, and the size of all."""

    pictures: tuple[QRectF, ...]
    words: tuple[tuple[QRectF, str, str], ...]  # box, text, "head", "line" or "name"
    cells: tuple[QRectF, ...]
    size: tuple[float, float]


def arranged(names: Sequence[str], radii: int, width: float) -> Layout:
    """Return a table, inputs in rows and outputs in columns, where names say so; else a grid with names below."""
    side = CURVE if radii == 1 else DISC
    labels = [label(name) for name in names]
    if all(one is not None for one in labels) and labels:
        return _table([one for one in labels if one is not None], side, width)
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


def _table(labels: Sequence[Label], side: float, width: float) -> Layout:
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
    wide = across * side + 2 * PAD
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


class KernelChart(QWidget):
    """All kernels of a layer. Red is positive, blue negative; one scale for all. Of one radius a curve is drawn."""

    hovered = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.values: Array = np.zeros((0, 1, 1), np.float32)
        self.names: tuple[str, ...] = ()
        self._layout: tuple[float, Layout] | None = None
        self.setMouseTracking(True)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_kernels(self, values: Array, names: Sequence[str]) -> None:
        """Show kernels (rows, radii, directions)."""
        if values is self.values and tuple(names) == self.names:
            return
        self.values, self.names, self._layout = values, tuple(names), None
        self.updateGeometry()
        self._fit()
        self.update()

    def arrangement(self) -> Layout:
        """Return where the pictures are for the width at hand."""
        if self._layout is None or self._layout[0] != self.width():
            radii = self.values.shape[1] if self.values.ndim == 3 else 1
            self._layout = (self.width(), arranged(self.names, radii, self.width()))
        return self._layout[1]

    def _fit(self) -> None:
        self.setMinimumHeight(round(self.arrangement().size[1]))

    def sizeHint(self) -> QSize:
        return QSize(360, round(self.arrangement().size[1]))

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._fit()

    # painting -------------------------------------------------------------------------------------------------
    def paintEvent(self, event: Any) -> None:
        p = QPainter(self)
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        t, layout = theme.current(), self.arrangement()
        p.fillRect(self.rect(), QColor(t.panel))
        p.setPen(QPen(faded(t.line, 160), 1))
        for box in layout.cells:
            p.drawRect(box)
        for box, text, kind in layout.words:
            p.setFont(font(12, bold=True) if kind == "head" else font(11))
            p.setPen(QColor(t.muted if kind == "line" else t.text))
            p.drawText(box, LEFT if kind == "line" else CENTRE, text)
        most = float(np.nanmax(np.abs(self.values), initial=0.0)) or 1.0
        seen = event.rect() if event is not None else self.rect()
        for box, values in zip(layout.pictures, self.values, strict=True):
            if box.toAlignedRect().intersects(seen):
                self._paint_curve(p, box, values[0] / most) if len(values) == 1 else self._paint_disc(
                    p, box, values / most
                )
        p.end()

    def _paint_curve(self, p: QPainter, box: QRectF, values: Array) -> None:
        """Paint |K(theta)| as petals, coloured by the sign."""
        t, middle, radius = theme.current(), box.center(), box.width() / 2 - 3
        p.setPen(QPen(faded(t.line, 200), 0.8))
        p.setBrush(Qt.BrushStyle.NoBrush)
        p.drawEllipse(middle, radius, radius)
        fine = np.interp(np.arange(96) / 96, np.arange(len(values) + 1) / len(values), np.append(values, values[0]))
        angle = np.arange(96) * (2 * np.pi / 96)
        for sign, ink in ((1, _inks()[1]), (-1, _inks()[0])):
            r = np.maximum(sign * fine, 0) * radius
            spots = zip(middle.x() + r * np.cos(angle), middle.y() - r * np.sin(angle), strict=True)
            p.setPen(QPen(ink, 1.0) if r.max() > 1e-6 else Qt.PenStyle.NoPen)
            soft = QColor(ink)
            soft.setAlpha(120)
            p.setBrush(soft)
            p.drawPolygon(QPolygonF([QPointF(x, y) for x, y in spots]))

    def _paint_disc(self, p: QPainter, box: QRectF, values: Array) -> None:
        """Paint a polar heat map; the sector of direction k is about the angle 2 pi k / directions."""
        table = theme.signed_map()
        radii, directions = values.shape
        middle, radius = box.center(), box.width() / 2 - 2
        p.setRenderHint(QPainter.RenderHint.Antialiasing, radii * directions <= 120)
        p.setPen(Qt.PenStyle.NoPen)
        step = 360 / directions
        for ring in range(radii, 0, -1):
            r = radius * ring / radii
            disc = QRectF(middle.x() - r, middle.y() - r, 2 * r, 2 * r)
            for k in range(directions):
                row = table[int(np.clip((np.nan_to_num(values[ring - 1, k]) + 1) / 2 * 511, 0, 511))]
                p.setBrush(QColor(int(row[0]), int(row[1]), int(row[2])))
                p.drawPie(disc, round(16 * (k - 0.5) * step), round(16 * step))
        p.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        ring_path = QPainterPath()
        ring_path.addEllipse(middle, radius, radius)
        p.setPen(QPen(QColor(theme.current().line), 1))
        p.setBrush(Qt.BrushStyle.NoBrush)
        p.drawPath(ring_path)

    # the mouse ------------------------------------------------------------------------------------------------
    def read(self, at: QPointF) -> str:
        """Return the name of the kernel at a point and its value there."""
        for k, box in enumerate(self.arrangement().pictures):
            if box.contains(at):
                away, values = at - box.center(), self.values[k]
                turn = float(np.arctan2(-away.y(), away.x())) % (2 * np.pi)
                ring = int(np.hypot(away.x(), away.y()) / (box.width() / 2) * len(values))
                here = values[min(ring, len(values) - 1), round(turn / (2 * np.pi) * values.shape[1]) % values.shape[1]]
                return f"{self.names[k]} · {np.degrees(turn):.0f}°: {figure(float(here))}"
        return ""

    def mouseMoveEvent(self, event: Any) -> None:
        text = self.read(event.position())
        self.hovered.emit(text)
        if text:
            QToolTip.showText(event.globalPosition().toPoint(), text, self)
        else:
            QToolTip.hideText()

    def leaveEvent(self, event: Any) -> None:
        self.hovered.emit("")


def _inks() -> tuple[QColor, QColor]:
    """Return the colours of negative and of positive values, those of the signed map."""
    table = theme.signed_map()
    low, high = (QColor(*(int(v) for v in table[k][:3])) for k in (96, 415))
    return low, high
