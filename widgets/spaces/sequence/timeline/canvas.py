"""The timeline: rows under each other in one view box, steps across and pixels down, one cursor through all of them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QScrollBar, QWidget

from explorer.declare.telling.numerals import with_minus
from widgets.base.look import theme
from widgets.base.pointer import Pointer
from widgets.base.text.words import figure
from widgets.charts.plot import Plot
from widgets.spaces.sequence.timeline.axes.axis import TimeAxis
from widgets.spaces.sequence.timeline.axes.names import ARROW, FootAxis, RowAxis
from widgets.spaces.sequence.timeline.axes.scale import time_scale
from widgets.spaces.sequence.timeline.items.cells import TokenRow, Veil
from widgets.spaces.sequence.timeline.items.curves import Cursor, GradientRow, LineRow, LinkRow
from widgets.spaces.sequence.timeline.items.heat import HeatRow
from widgets.spaces.sequence.timeline.layout import FOOT, MARGIN, Slot, slots_of
from widgets.spaces.sequence.timeline.rows import Scene
from widgets.spaces.sequence.timeline.visible_part import RowItem, Sight

MOVING_S = 0.012  # the time for pictures that are made anew while the hand moves
RESTING_S = 0.05  # and when it rests
TOP = 6.0
ROOM = 5.0  # steps between the edge and one that is brought into sight
CLOSEST = 8  # steps that fill the width at the closest
FINE = 2.0  # pixels of a figure in a pixel of the screen
MAKERS: dict[str, Callable[[Any], Any]] = {
    "line": LineRow, "heat": HeatRow, "tokens": TokenRow, "gradient": GradientRow, "link": LinkRow,
}  # fmt: skip


class TimeCanvas(Plot):
    """Draws a `Scene`. Gestures are told by signals; zoom, pan and folded rows are the canvas's own."""

    BY_KEYS = False

    told = Signal(object)  # (row or None, side, step, unit or None) under the mouse, or None
    clicked = Signal(str, int)  # side, step
    named = Signal(str)  # the layer whose name was clicked
    shifted = Signal(int, bool)  # steps since the press, whether the hand has let go
    panned = Signal()

    def __init__(self, parent: QWidget | None = None, pointer: Pointer | None = None) -> None:
        self.pointer = pointer or Pointer()
        self.shown, self.slots = Scene(), tuple[Slot, ...]()
        self._spread: tuple[int, NDArray[np.float64] | None] = (0, None)  # steps and times that the zoom is over
        self.folded: set[str] = set()
        self.hot: tuple[str, int] | None = None  # side and step under the mouse
        self.peak = False  # whether heat rows show extremes where they are dense
        self.painted = 0
        self.names, self.foot = RowAxis(self), FootAxis()
        super().__init__(parent, left=self.names, bottom=self.foot)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Timeline")
        self.box.invertY(True)
        for axis in (self.names, self.foot):
            axis.enableAutoSIPrefix(False)  # it would write a label anew on every frame
        self._rows: dict[tuple[str, str], RowItem] = {}
        self._mouse: QPointF | None = None  # in steps and in pixels of the rows
        self._start = 0.0
        self._patient, self._heard = False, False
        self._seen: tuple[Any, ...] = ()
        self._rest = QTimer(self, singleShot=True, interval=90)
        self._more = QTimer(self, singleShot=True, interval=0)
        for timer in (self._rest, self._more):
            timer.timeout.connect(self._follow_range)
        self.veil = Veil(self.box)
        self.veil.setZValue(5)
        self.cursors = (Cursor(self.box), Cursor(self.box))
        for k, cursor in enumerate(self.cursors):
            cursor.setZValue(10 + k)
        self.bar = QScrollBar(Qt.Orientation.Vertical, self)
        self.bar.valueChanged.connect(self._scrolled)
        self.pointer.moved.connect(self._hear)
        self.dress()

    def sizeHint(self) -> QSize:
        return QSize(760, 460)

    def minimumSizeHint(self) -> QSize:
        return QSize(320, 160)

    # what is shown --------------------------------------------------------------------------------------------
    @property
    def axis(self) -> TimeAxis:
        """The steps in sight across the pixels of the widget."""
        (low, high), area = self.box.viewRange()[0], self.plotted
        return TimeAxis(self.shown.longest, low, high, area.left(), area.right(), self.foot.times)

    @property
    def scroll(self) -> float:
        """The pixels by which rows are scrolled up."""
        return float(self.bar.value())

    def set_scene(self, scene: Scene) -> None:
        """Show another scene; the zoom stays while it is as long as the one before, also with none in between."""
        longest, before = scene.longest, self.foot.times
        if scene.rows and (longest != self._spread[0] or not same_times(scene.times, self._spread[1])):
            self._spread = longest, scene.times
            scale = time_scale(scene.times)
            self.foot.follow(longest, scale)
            self.shown = scene
            self.set_ranges(x=(0.0, float(max(1, longest))))
            closest = min(float(CLOSEST), float(max(1, longest)))
            self.box.setLimits(minXRange=closest if scale is None else scale.least(CLOSEST))
            if (scale is None) != (before is None):
                self.box.autoRange()
                self.hot = None
        self.shown, self._patient = scene, False
        self._lay_out()

    def fit(self) -> None:
        """Show all steps."""
        self.box.autoRange()

    def zoom(self, factor: float) -> None:
        """Show `factor` times as many steps, about the middle."""
        self.box.scaleBy(x=factor)

    def show_step(self, step: int) -> None:
        """Move as little as needed for a step to be seen."""
        axis, (low, high) = self.axis, self.box.viewRange()[0]
        if not axis.first <= step < axis.last - 1:
            middle = float(self.foot.place(step + 0.5))
            self.box.translateBy(x=middle - (low if middle < low else high) + math.copysign(ROOM, middle - low))

    def show_own(self) -> None:
        """Scroll as little as needed for a row of the selected layer to be seen; not where one of them is."""
        low, high = self.scroll, self.scroll + max(1.0, self.height() - TOP - FOOT)
        own = [(s.top, s.top + s.height) for s in self.slots if s.row.own and not s.folded]
        if own and not any(low <= top and end <= high for top, end in own):
            top, end = min(own, key=lambda place: max(low - place[0], place[1] - high))
            self.bar.setValue(math.floor(top) if top < low else math.ceil(end - high + low))

    def slot(self, key: str) -> Slot | None:
        """Return where a row lies, by its key."""
        return next((s for s in self.slots if s.row.key == key), None)

    def area(self, slot: Slot) -> QRectF:
        """Return the rectangle of a row's values, in pixels of the widget."""
        plot = self.plotted
        return QRectF(plot.left(), plot.top() + slot.top - self.scroll, plot.width(), slot.height)

    def full_height(self) -> int:
        """Return the height at which no row is out of sight."""
        return int(TOP + FOOT + max((s.top + s.height for s in self.slots), default=0.0))

    def settle(self) -> None:
        """Make all pictures sharp, however long it takes, until somebody zooms or pans."""
        self._patient = True
        self._follow_range()

    def show_extremes(self, on: bool) -> None:
        """Show in heat rows the value farthest from zero of those that share a pixel, or their mean."""
        self.peak = on
        self._follow_range()

    def fold(self, key: str) -> None:
        """Fold a row away, or open it again."""
        self.folded ^= {key}
        self._lay_out()

    # drawing --------------------------------------------------------------------------------------------------
    def _lay_out(self) -> None:
        """Give every row its place and its item."""
        room = math.floor(self.height() - TOP - FOOT)
        self.slots = tuple(slots_of(self.shown.rows, self.folded, room))
        over = max(0, self.full_height() - self.height()) if self.slots else 0
        wide = self.bar.sizeHint().width()
        if self.slots:  # without rows nothing is scrolled, and the next ones may be those of before
            self.bar.setRange(0, over)
        self.bar.setPageStep(max(1, room))
        self.bar.setVisible(over > 0)
        self.bar.setGeometry(self.width() - wide, 0, wide, max(0, self.height() - round(FOOT)))
        self.frame.layout.setContentsMargins(0, 0, MARGIN + (wide if over > 0 else 0), 0)
        self.arrange()
        self._show_rows()
        self._scrolled()

    def _show_rows(self) -> None:
        drawn = {(s.row.key, s.row.kind): s for s in self.slots if s.row.kind in MAKERS and not s.folded}
        for key in drawn.keys() - self._rows.keys():
            item = self._rows[key] = MAKERS[key[1]](self.box)
            if not isinstance(item, TokenRow):
                self.add(item)
            if isinstance(item, TokenRow | GradientRow):
                item.set_font(self.small())
        for key, item in self._rows.items():
            item.setVisible(key in drawn)
            if key in drawn:
                item.show_row(drawn[key], self.shown, self.foot.times)
        hatched = [s for s in drawn.values() if s.row.side != "before" and s.row.kind in ("heat", "line", "tokens")]
        self.veil.show_rows(tuple(hatched) if self.shown.known is not None else (), self.shown)

    def _scrolled(self, *moved: Any) -> None:
        self.set_ranges(y=(self.scroll, self.scroll + max(1.0, float(self.box.height()))))
        self._follow_range()
        self._mark()

    def reshaped(self) -> None:
        if not hasattr(self, "bar"):
            return
        seen = tuple(self.box.viewRange()[0])
        if seen != self._seen:
            self._seen, self._patient = seen, False
            self._rest.start()
            self.panned.emit()
        self._follow_range()
        self._mark()

    def _sight(self) -> Sight:
        axis = replace(self.axis, left=0.0, right=float(self.box.width()))
        if self._patient:
            return Sight(axis, self.scroll, FINE * self.devicePixelRatioF())
        budget = MOVING_S if self._rest.isActive() else RESTING_S
        return Sight(axis, self.scroll, self.devicePixelRatioF(), time.perf_counter() + budget)

    def _follow_range(self) -> None:
        """Let the rows in sight follow zoom, pan and scrolling."""
        if not self.slots or self.message:
            return
        sight, whole = self._sight(), True
        low, high = self.scroll, self.scroll + self.box.height()
        for slot in self.slots:
            item = self._rows.get((slot.row.key, slot.row.kind))
            if item is None or slot.folded:
                continue
            seen = slot.top < high and slot.top + slot.height > low
            item.setVisible(seen)  # one out of sight is not followed, and would stay where it was before
            if not seen:
                continue
            if isinstance(item, HeatRow):
                item.peak = self.peak
            whole = item.follow(sight) and whole
        self.veil.follow(sight)
        if not whole and not self._rest.isActive():
            self._more.start()

    def _mark(self) -> None:
        """Show the selected step and the one under the mouse in all rows."""
        t, sight = theme.current(), self._sight()
        hot = self.hot or ("before", None)
        for cursor, (side, step), colour in zip(self.cursors, (("before", self.shown.selected), hot),
                                                (t.accent, t.text)):  # fmt: skip
            rows = [s for s in self.slots if step is not None and s.row.kind not in ("head", "link")]
            found = [(s, self.shown.at(s.row, step, side)) for s in rows if step is not None]
            cursor.mark([(s, at) for s, at in found if at is not None], sight, colour)
        own = hot[1] if hot[1] is None or hot[0] == "before" else self.shown.back(hot[1])
        for item in self._rows.values():
            if isinstance(item, LinkRow):
                item.mark(((self.shown.selected, t.accent), (own, t.text)))
        self.names.update()

    def value(self, slot: Slot) -> str:
        """Return the value at the cursor in a row: of the unit under the mouse, else the mean."""
        row = slot.row
        if self.hot is None or row.pyramid is None or row.written:
            return ""
        step = self.shown.at(row, self.hot[1], self.hot[0])
        if row.kind == "tokens":
            tint = self.shown.tint.get(row.side)
            return "" if tint is None or step is None or not 0 <= step < len(tint) else figure(float(tint[step]))
        if step is None or not 0 <= step < row.pyramid.steps:
            return "–"
        values = row.pyramid.values[step]
        over = self._mouse is not None and slot.top <= self._mouse.y() < slot.top + slot.height
        unit = slot.unit_at(self._mouse.y()) if over and self._mouse is not None else None
        if unit is None and len(values) == 2:
            return with_minus(f"{float(values[0]):.2g}, {float(values[1]):.2g}")
        return figure(float(values[unit] if unit is not None else values.mean()))

    def drawBackground(self, p: QPainter, rect: QRectF) -> None:
        t, plot = theme.current(), self.plotted
        p.fillRect(rect, QColor(t.panel))
        grounds = {"line": t.plot, "gradient": t.plot, "heat": t.raised}
        for slot in self.slots if not self.message else ():
            ground = t.raised if slot.folded else grounds.get(slot.row.kind)
            if ground is not None:
                p.fillRect(self.area(slot).intersected(plot), QColor(ground))

    def drawForeground(self, p: QPainter, rect: QRectF) -> None:
        super().drawForeground(p, rect)
        self.painted += 1

    def dress(self) -> None:
        super().dress()
        self.box.borderRect.setPen(QPen(Qt.PenStyle.NoPen))
        if hasattr(self, "bar"):
            self.item.hideButtons()
            for item in (*self._rows.values(), self.veil):
                item.dress()
            self._mark()

    def set_fonts(self) -> None:
        super().set_fonts()
        self.header.take_line(TOP)
        for item in self._rows.values() if hasattr(self, "bar") else ():
            if isinstance(item, TokenRow | GradientRow):
                item.set_font(self.small())

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        if hasattr(self, "bar"):
            self._lay_out()

    # the mouse ------------------------------------------------------------------------------------------------
    def slot_at(self, at: QPointF) -> Slot | None:
        """Return the row at a place of the view box."""
        if not 0 <= at.y() - self.scroll < self.box.height():
            return None
        return next((s for s in self.slots if s.top <= at.y() < s.top + s.height + 1), None)

    def step_at(self, at: QPointF) -> int | None:
        """Return the step at a place of the view box, None outside."""
        low, high = self.box.viewRange()[0]
        step = math.floor(self.foot.step(at.x()))
        return step if 0 <= step < self.shown.longest and low <= at.x() < high else None

    def side_at(self, at: QPointF) -> str:
        """Return the side of the rows at a height; between them, of those above."""
        above = [s.row for s in self.slots if s.top <= at.y()]
        return "before" if not above or above[-1].side == "before" or above[-1].kind == "link" else "after"

    def _beside(self, at: QPointF) -> float | None:
        """Return the pixel across at a place beside the plot, among the names; None in the plot."""
        return self.at(at.x(), at.y()).x() if at.x() < self.box.viewRange()[0][0] else None

    def clicked_at(self, at: QPointF) -> None:
        slot, step, beside = self.slot_at(at), self.step_at(at), self._beside(at)
        if slot is None:
            return
        if beside is None:
            if step is not None:
                self.clicked.emit(self.side_at(at), step)
        elif beside < ARROW and slot.row.kind != "head":
            self.fold(slot.row.key)
        elif slot.row.layer:
            self.named.emit(slot.row.layer)

    def grabbed(self, at: QPointF) -> bool:
        slot = self.slot_at(at)
        self._start = float(self.foot.step(at.x()))
        return slot is not None and slot.row.keeps

    def dragged(self, at: QPointF, done: bool) -> None:
        self.shifted.emit(round(float(self.foot.step(at.x())) - self._start), done)

    def wheelEvent(self, event: Any) -> None:
        turn = event.angleDelta()
        if self.message or not self.slots:
            event.ignore()
            return
        among_names = self._beside(self.box.mapSceneToView(event.position())) is not None
        if among_names or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.bar.setValue(self.bar.value() - (turn.y() or turn.x()) // 3)
        elif abs(turn.x()) > abs(turn.y()):
            self.box.translateBy(x=-turn.x() / 2 * self.axis.per_pixel)
        else:
            super().wheelEvent(event)
        self.pointed(self.box.mapSceneToView(event.position()))
        event.accept()

    def pointed(self, at: QPointF | None) -> None:
        """Follow the mouse, and tell the other views which step of x is under it."""
        self._mouse, self.hot, found = at, None, None
        if at is not None:
            slot, step, side = self.slot_at(at), self.step_at(at), self.side_at(at)
            self._show_hand(at, slot)
            if slot is not None and step is not None:
                self.hot, found = (side, step), (slot.row, side, step, slot.unit_at(at.y()))
        self.told.emit(found)
        self._heard = True
        own = self.hot and (self.hot[1] if self.hot[0] == "before" else self.shown.back(self.hot[1]))
        self.pointer.moved.emit(own)
        self._heard = False
        self._mark()

    def _show_hand(self, at: QPointF, slot: Slot | None) -> None:
        beside, shape = self._beside(at), Qt.CursorShape.ArrowCursor
        if slot is not None and beside is None:
            shape = Qt.CursorShape.SizeHorCursor if slot.row.keeps else Qt.CursorShape.CrossCursor
        elif slot is not None and beside is not None:
            arrow = beside < ARROW and slot.row.kind != "head"
            shape = Qt.CursorShape.PointingHandCursor if slot.row.layer or arrow else shape
        self.viewport().setCursor(shape)

    def _hear(self, step: int | None) -> None:
        """Show the step that another view points at."""
        if self._heard or self._mouse is not None:
            return
        hot = None if step is None or step >= self.shown.steps else ("before", int(step))
        if hot != self.hot:
            self.hot = hot
            self._mark()


def same_times(one: NDArray[np.float64] | None, other: NDArray[np.float64] | None) -> bool:
    return one is other or (one is not None and other is not None and np.array_equal(one, other))
