"""The axes of a timeline: the names of its rows with their values at the cursor, and the steps below."""

from __future__ import annotations

import math
from typing import Any, Protocol

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from widgets.base.look import theme
from widgets.base.look.alignment import LEFT, RIGHT
from widgets.base.look.switched_parts import terms
from widgets.base.text.glossary import say
from widgets.base.text.layer_names import told_apart
from widgets.base.text.words import figure
from widgets.charts.axis.axes import Axis
from widgets.spaces.sequence.charts.step_axis import StepAxis
from widgets.spaces.sequence.timeline.items.curves import ink_of
from widgets.spaces.sequence.timeline.items.painting import limits, paint_chevron, paint_scale
from widgets.spaces.sequence.timeline.layout import FOOT, GUTTER, Slot
from widgets.spaces.sequence.timeline.rows import Scene

ARROW = 22.0  # pixels of the arrow that folds a row away
GAP = 6.0  # between a name and its value
BESIDE = ARROW + 12 + GAP  # what is not name or value: the arrow, the scale at the right
VALUE = "−0.000"  # as long as values are
SHARE = 0.3  # of the width, at most, for names


class Board(Protocol):
    """The timeline that the names belong to."""

    shown: Scene
    slots: tuple[Slot, ...]

    @property
    def scroll(self) -> float:
        """The pixels by which rows are scrolled up."""
        ...

    def value(self, slot: Slot) -> str:
        """Return the value at the cursor in a row."""
        ...


class RowAxis(Axis):
    """Names, scales and values of the rows; a heading goes on over the plot."""

    def __init__(self, board: Board) -> None:
        self.board = board
        super().__init__("left")
        self.setGrid(False)

    def fit(self) -> None:
        """Take as much room as the longest name needs beside a value, of what there is."""
        view, metrics = self.getViewWidget(), QFontMetricsF(self.font)
        names = (say(slot.row.name) for slot in self.board.slots if slot.row.kind != "head")
        wanted = max(map(metrics.horizontalAdvance, names), default=0.0) + metrics.horizontalAdvance(VALUE) + BESIDE
        wide = max(GUTTER, math.ceil(wanted))
        self.setWidth(wide if view is None else min(wide, SHARE * view.width()))

    def boundingRect(self) -> QRectF:
        view = self.getViewWidget()
        return QRectF(0, 0, self.size().width() if view is None else view.width(), self.size().height())

    def paint(self, p: QPainter, *rest: Any) -> None:
        area = self.boundingRect()
        p.setClipRect(area, Qt.ClipOperation.IntersectClip)
        p.setFont(self.font)
        for slot in self.board.slots:
            top = slot.top - self.board.scroll
            if top < area.bottom() and top + slot.height > 0:
                self._paint_row(p, slot, QRectF(0, top, self.size().width(), slot.height))

    def _paint_row(self, p: QPainter, slot: Slot, box: QRectF) -> None:
        row, t, scene, metrics = slot.row, theme.current(), self.board.shown, QFontMetricsF(self.font)
        if row.kind == "head":
            bold = QFont(self.font)
            bold.setBold(True)
            p.setFont(bold)
            p.setPen(QColor(t.second if row.square else t.text))
            p.drawText(QRectF(4, box.top(), self.boundingRect().width() - 16, box.height()), LEFT, say(row.name))
            p.setFont(self.font)
            return
        if row.own:
            p.fillRect(QRectF(0, box.top(), 3, box.height()), QColor(t.accent))
        if terms():  # on paper nothing folds
            paint_chevron(p, QPointF(12, box.top() + min(11.0, box.height() / 2)), slot.folded, QColor(t.muted))
        right = box.width() - 6.0
        tinted = row.kind == "tokens" and not row.written and row.side in scene.tint
        if (row.kind == "heat" or tinted) and not slot.folded:
            scale = scene.tint_scale[0] if tinted else row.scale
            paint_scale(p, QRectF(right - 1, box.top(), 4, box.height()), scale)
        value = self.board.value(slot)
        if tinted and not value:
            value = between(*limits(*scene.tint_scale))
        high = QRectF(ARROW, box.top(), box.width() - BESIDE + GAP, min(box.height(), 20.0))
        used = metrics.horizontalAdvance(value) + GAP if value else 0.0
        p.setPen(QColor(t.accent if row.own else t.text))
        room = max(12.0, high.width() - used)
        p.drawText(high, LEFT, told_apart(metrics, say(row.name), room, (say(s.row.name) for s in self.board.slots)))
        p.setPen(QColor(t.muted))
        p.drawText(high, RIGHT, value)
        if box.height() >= 36 and row.kind in ("heat", "line"):
            start = {"gate": "0 to ", "positive": "0 to "}.get(row.scale, "±")
            units = row.pyramid.channels if row.pyramid is not None else 1
            words = start + figure(row.limit) + (f" · {units} units" if row.kind == "heat" and units > 1 else "")
            p.drawText(high.translated(0, 15), LEFT, words)
        for k, unit in enumerate(row.units):
            line = high.translated(0, 15 * (k + 2))
            if line.bottom() <= box.bottom():
                p.setPen(ink_of(k, len(row.units)))
                p.drawText(line, LEFT, metrics.elidedText(unit, Qt.TextElideMode.ElideRight, line.width()))


def between(low: str, high: str) -> str:
    """Return in words from where to where colours go; short where that is to both sides alike."""
    return f"±{high}" if low == f"−{high}" else f"{low} to {high}"


class FootAxis(StepAxis):
    """The steps, and below them the stretch in sight as a part of the whole: a drag moves it."""

    def __init__(self) -> None:
        super().__init__("bottom")
        self.setGrid(False)
        self.setStyle(tickLength=-4)

    def fit(self) -> None:
        self.setHeight(FOOT)

    def dress(self) -> None:
        """Take the colours of the theme."""
        super().dress()
        self.setTickPen(QColor(theme.current().muted))

    def stretch(self) -> QRectF | None:
        """Return the bar of what is in sight; None while that is all."""
        (low, high), width = self.range, self.size().width()
        if not self.steps or high - low >= self.steps * (1 - 1e-12):
            return None
        wide = max(6.0, (high - low) / self.steps * width)
        return QRectF(min(low / self.steps * width, width - wide), self.size().height() - 6, wide, 4)

    def drawPicture(self, p: QPainter, *specs: Any) -> None:
        t = theme.current()
        super().drawPicture(p, *specs)
        p.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        p.fillRect(QRectF(0, 0, self.size().width(), 1), QColor(t.line))
        bar = self.stretch()
        if bar is not None:
            p.fillRect(QRectF(0, bar.top(), self.size().width(), bar.height()), QColor(t.raised))
            p.fillRect(bar, QColor(t.accent))

    def mouseDragEvent(self, event: Any) -> None:
        """Move what is in sight with the bar: the other way than a drag of the rows, over the whole."""
        box, width = self.linkedView(), self.size().width()
        if box is None or event.button() == Qt.MouseButton.RightButton:
            event.ignore()
            return
        event.accept()
        box.translateBy(x=(event.scenePos().x() - event.lastScenePos().x()) * self.steps / max(1.0, width))
