"""The timeline as a widget: rows under each other on one axis of steps, one cursor through all of them."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPaintEngine, QPainter, QPen
from PySide6.QtWidgets import QScrollBar, QWidget

from widgets.base import theme
from widgets.base.pointer import Pointer
from widgets.base.theme import Theme
from widgets.base.words import figure
from widgets.charts.chart import CENTRE, LEFT, RIGHT, faded
from widgets.sequence.timeline.axis import TimeAxis
from widgets.sequence.timeline.layout import FOOT, GUTTER, MARGIN, Slot, slots_of
from widgets.sequence.timeline.painting import (
    limits,
    paint_axis,
    paint_chevron,
    paint_gradient,
    paint_lines,
    paint_links,
    paint_scale,
    paint_tokens,
    paint_unknown,
)
from widgets.sequence.timeline.rows import Scene
from widgets.sequence.timeline.scale import time_scale
from widgets.sequence.timeline.tiles import Tiles

MOVING_S = 0.012  # what a painting may colour anew while the hand moves
RESTING_S = 0.05  # and when it rests
TOP = 6.0


class TimeCanvas(QWidget):
    """Paints a `Scene`. What the hand does is told by signals; zoom, pan and folded rows are the canvas's own."""

    pointed = Signal(object)  # (row or None, side, step, unit or None), or None
    clicked = Signal(str, int)  # side, step
    named = Signal(str)  # the layer whose name was clicked
    shifted = Signal(int, bool)  # steps since the press, whether the hand has let go
    panned = Signal()

    def __init__(self, parent: QWidget | None = None, pointer: Pointer | None = None) -> None:
        super().__init__(parent)
        self.pointer = pointer or Pointer(self)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Timeline")
        self.scene, self.message = Scene(), ""
        self.axis = TimeAxis(0)
        self.tiles = Tiles()
        self.folded: set[str] = set()
        self.hot: tuple[str, int] | None = None  # side and step under the mouse
        self.progress = 1.0  # of the pyramids
        self.painted = 0
        self._slots: list[Slot] = []
        self._mouse: QPointF | None = None
        self._press: tuple[QPointF, Slot | None] | None = None
        self._dragged, self._patient, self._heard = False, False, False
        self._kept_size: tuple[Any, ...] = ()
        self.bar = QScrollBar(Qt.Orientation.Vertical, self)
        self.bar.valueChanged.connect(self.update)
        self._rest = QTimer(self, singleShot=True, interval=90)
        self._rest.timeout.connect(self.update)
        self.pointer.moved.connect(self._follow)

    def sizeHint(self) -> QSize:
        return QSize(760, 460)

    def minimumSizeHint(self) -> QSize:
        return QSize(320, 160)

    # what is shown ----------------------------------------------------------------------------------------------
    def set_scene(self, scene: Scene) -> None:
        """Show another scene; the zoom stays while it is as long as the one before."""
        longest = scene.longest
        if longest != self.axis.steps or scene.times is not self.scene.times:
            scale = time_scale(scene.times)
            if longest != self.axis.steps or (scale is None) != (self.axis.scale is None):
                self.axis = replace(self.axis, low=0.0, high=float(max(1, longest)))
                self.hot = None
            self.axis = replace(self.axis, steps=longest, scale=scale)
        self.scene = scene
        self._patient = False
        self._lay_out()
        self.update()

    def fit(self) -> None:
        self._set_axis(self.axis.whole())

    def show_step(self, step: int) -> None:
        if not self.axis.first <= step < self.axis.last - 1:
            self._set_axis(self.axis.showing(step))

    def slot(self, key: str) -> Slot | None:
        """Return where a row lies, by its key."""
        return next((s for s in self._slots if s.row.key == key), None)

    def box(self, slot: Slot) -> QRectF:
        """Return the rectangle of a row's values, in pixels of the widget."""
        return QRectF(self.axis.left, TOP + slot.top - self.bar.value(), self.axis.right - self.axis.left, slot.height)

    def full_height(self) -> int:
        """Return the height at which no row is out of sight."""
        last = self._slots[-1] if self._slots else None
        return int(TOP + FOOT + (last.top + last.height if last else 0))

    def settle(self) -> None:
        """Paint the next picture sharply, however long it takes."""
        self._patient = True

    def _lay_out(self) -> None:
        room = self.height() - TOP - FOOT
        self._slots = slots_of(self.scene.rows, self.folded, room)
        over = max(0, self.full_height() - self.height()) if self._slots else 0
        self.bar.setRange(0, over)
        self.bar.setPageStep(max(1, round(room)))
        self.bar.setVisible(over > 0)
        wide = self.bar.sizeHint().width()
        self.bar.setGeometry(self.width() - wide, 0, wide, max(0, self.height() - round(FOOT)))
        gutter = min(GUTTER, 0.3 * self.width())
        self.axis = replace(
            self.axis, left=gutter, right=max(gutter + 20.0, self.width() - MARGIN - over_room(over, wide))
        )

    def _set_axis(self, axis: TimeAxis) -> None:
        if axis != self.axis:
            self.axis = axis
            self._patient = False
            self._rest.start()
            self.panned.emit()
            self.update()

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._lay_out()

    # painting ---------------------------------------------------------------------------------------------------
    def paintEvent(self, event: Any) -> None:
        p = QPainter(self)
        t = theme.current()
        font = QFont(self.font())
        font.setPointSizeF(max(6.5, font.pointSizeF() * 0.88))
        p.setFont(font)
        p.fillRect(self.rect(), QColor(t.panel))
        if self.message or not self._slots:
            p.setPen(QColor(t.muted))
            p.drawText(QRectF(self.rect()).adjusted(24, 8, -24, -8), CENTRE | Qt.TextFlag.TextWordWrap, self.message)
        else:
            self._paint(p, t)
        p.end()
        self.painted += 1

    def _deadline(self, p: QPainter) -> float:
        figure_made = p.paintEngine().type() != QPaintEngine.Type.Raster
        if self._patient or figure_made or p.deviceTransform().m11() != self.devicePixelRatioF():
            return math.inf
        return time.perf_counter() + (MOVING_S if self._rest.isActive() else RESTING_S)

    def _paint(self, p: QPainter, t: Theme) -> None:
        deadline, whole = self._deadline(p), True
        foot = QRectF(0, self.height() - FOOT, self.width(), FOOT)
        p.save()
        p.setClipRect(QRectF(0, 0, self.width(), foot.top()))
        for slot in self._slots:
            box = self.box(slot)
            if box.bottom() < 0 or box.top() > foot.top():
                continue
            whole = self._paint_row(p, t, slot, box, deadline) and whole
            self._paint_name(p, t, slot, box)
        self._paint_cursors(p, t, foot.top())
        p.restore()
        p.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        p.setPen(QColor(t.line))
        p.drawLine(QPointF(self.axis.left, foot.top()), QPointF(self.axis.right, foot.top()))
        paint_axis(p, t, self.axis, foot)
        if self.progress < 1:
            p.setPen(QColor(t.muted))
            words = f"summing up {self.progress:.0%}"
            p.drawText(QRectF(4, foot.top() + 17, self.axis.left - 12, 14), RIGHT, words)
        if not whole and not self._rest.isActive():
            QTimer.singleShot(0, self, self.update)

    def _paint_row(self, p: QPainter, t: Theme, slot: Slot, box: QRectF, deadline: float) -> bool:
        row, whole = slot.row, True
        if slot.folded or row.kind == "head":
            if slot.folded:
                p.fillRect(box, QColor(t.raised))
            return True
        p.save()
        p.setClipRect(box, Qt.ClipOperation.IntersectClip)
        if row.kind in ("line", "gradient"):
            p.fillRect(box, QColor(t.plot))
        match row.kind:
            case "line" if row.pyramid is not None:
                paint_lines(p, self.axis, box, row.pyramid, row.limit, row.scale == "signed")
            case "gradient" if row.pyramid is not None:
                paint_gradient(p, self.axis, box, row.pyramid, self.scene)
            case "tokens":
                paint_tokens(p, self.axis, box, self.scene, row)
            case "link":
                paint_links(p, self.axis, box, self.scene, self._marked(t))
            case "heat" if row.pyramid is not None:
                whole = self.tiles.draw(
                    p, self.axis, box.top(), box.height(), row.pyramid, row.scale, row.limit, deadline
                )
        if self.scene.known is not None and row.side != "before" and row.kind in ("heat", "line", "tokens"):
            paint_unknown(p, self.axis, box, self.scene.known)
        p.restore()
        return whole

    def _paint_name(self, p: QPainter, t: Theme, slot: Slot, box: QRectF) -> None:
        row, metrics = slot.row, QFontMetricsF(p.font())
        right = self.axis.left - 6.0
        if row.kind == "head":
            p.setPen(QColor(t.second if row.square else t.text))
            self._bold(p, True)
            p.drawText(QRectF(4, box.top(), self.width() - 16, box.height()), LEFT, row.name)
            self._bold(p, False)
            return
        if row.own:
            p.fillRect(QRectF(0, box.top(), 3, box.height()), QColor(t.accent))
        paint_chevron(p, QPointF(12, box.top() + min(11.0, box.height() / 2)), slot.folded, QColor(t.muted))
        tinted = row.kind == "tokens" and not row.written and row.side in self.scene.tint
        if (row.kind == "heat" or tinted) and not slot.folded:
            scale = self.scene.tint_scale[0] if tinted else row.scale
            paint_scale(p, QRectF(right - 1, box.top(), 4, box.height()), scale)
        value = self._value(slot)
        if tinted and not value:
            value = " to ".join(limits(*self.scene.tint_scale))
        high = QRectF(22, box.top(), right - 28, min(box.height(), 20.0))
        used = metrics.horizontalAdvance(value) + 6 if value else 0.0
        p.setPen(QColor(t.accent if row.own else t.text))
        room = max(12.0, high.width() - used)
        p.drawText(high, LEFT, metrics.elidedText(row.name, Qt.TextElideMode.ElideMiddle, room))
        p.setPen(QColor(t.muted))
        p.drawText(high, RIGHT, value)
        if box.height() >= 36 and row.kind in ("heat", "line"):
            low = high.translated(0, 15)
            words = (
                "0 to 1" if row.scale == "gate" else ("0 to " if row.scale == "positive" else "±") + figure(row.limit)
            )
            units = row.pyramid.channels if row.pyramid is not None else 1
            p.drawText(low, LEFT, words + (f" · {units} units" if row.kind == "heat" and units > 1 else ""))

    def _bold(self, p: QPainter, on: bool) -> None:
        font = p.font()
        font.setBold(on)
        p.setFont(font)

    def _value(self, slot: Slot) -> str:
        """Return the value at the cursor for the column of names: of the unit under the mouse, else the mean."""
        row = slot.row
        if self.hot is None or row.pyramid is None or row.written:
            return ""
        if row.kind == "tokens":
            tint, at = self.scene.tint.get(row.side), self.scene.at(row, self.hot[1], self.hot[0])
            return "" if tint is None or at is None or not 0 <= at < len(tint) else figure(float(tint[at]))
        step = self.scene.at(row, self.hot[1], self.hot[0])
        if step is None or not 0 <= step < row.pyramid.steps:
            return "–"
        values = row.pyramid.values[step]
        unit = slot.unit_at(self._mouse.y() - TOP + self.bar.value()) if self._is_over(slot) and self._mouse else None
        if unit is None and len(values) == 2:
            return f"{float(values[0]):.2g}, {float(values[1]):.2g}".replace("-", "−")
        return figure(float(values[unit] if unit is not None else values.mean()))

    def _is_over(self, slot: Slot) -> bool:
        return self._mouse is not None and self.box(slot).top() <= self._mouse.y() < self.box(slot).bottom()

    def _marked(self, t: Theme) -> dict[int, str]:
        """Return the steps of x whose links stand out."""
        marked = {} if self.scene.selected is None else {self.scene.selected: t.accent}
        if self.hot is not None:
            step = self.hot[1] if self.hot[0] == "before" else self.scene.back(self.hot[1])
            if step is not None:
                marked[step] = t.text
        return marked

    def _paint_cursors(self, p: QPainter, t: Theme, bottom: float) -> None:
        p.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        p.setClipRect(QRectF(self.axis.left, 0, self.axis.right - self.axis.left, bottom))
        for found, colour in ((("before", self.scene.selected), t.accent), (self.hot or ("", None), t.text)):
            side, step = found
            if step is None:
                continue
            for slot in self._slots:
                if slot.row.kind in ("head", "link"):
                    continue
                at = self.scene.at(slot.row, step, side)
                if at is None:
                    continue
                box = self.box(slot)
                x, width = self.axis.x_of(at), self.axis.width(at)
                if width >= 5:  # the step is wide enough to be framed without hiding it
                    p.setBrush(Qt.BrushStyle.NoBrush)
                    p.setPen(QPen(QColor(colour), 1))
                    p.drawRect(QRectF(x, box.top(), width, box.height() - 1))
                else:
                    x += width / 2
                    p.fillRect(QRectF(x - 1.5, box.top(), 3, box.height()), faded(t.panel, 170))
                    p.fillRect(QRectF(round(x - 0.5), box.top(), 1, box.height()), QColor(colour))

    # the mouse --------------------------------------------------------------------------------------------------
    def _slot_at(self, at: QPointF) -> Slot | None:
        if at.y() >= self.height() - FOOT:
            return None
        return next((s for s in self._slots if self.box(s).top() <= at.y() < self.box(s).bottom() + 1), None)

    def _side_at(self, at: QPointF) -> str:
        """Return the side of the rows at a height; between them, of those above."""
        above = [s for s in self._slots if self.box(s).top() <= at.y()]
        side = above[-1].row.side if above else "before"
        if above and above[-1].row.kind == "link":
            return "before"
        return "before" if side == "before" else "after"

    def wheelEvent(self, event: Any) -> None:
        turn = event.angleDelta()
        if self.message or not self._slots:
            event.ignore()
            return
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.bar.setValue(self.bar.value() - (turn.y() or turn.x()) // 3)
        elif abs(turn.x()) > abs(turn.y()):
            self._set_axis(self.axis.moved(turn.x() / 2))
        elif turn.y():
            self._set_axis(self.axis.zoomed_by(0.8 ** (turn.y() / 120), event.position().x()))
        self._hover(event.position())
        event.accept()

    def mousePressEvent(self, event: Any) -> None:
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton) and self._slots:
            self._press, self._dragged = (event.position(), self._slot_at(event.position())), False
            self._held = event.position()
            self._pans = event.button() == Qt.MouseButton.MiddleButton

    def mouseMoveEvent(self, event: Any) -> None:
        at = event.position()
        if self._press is None:
            self._hover(at)
            self._show_hand(at)
            return
        start, slot = self._press
        if not self._dragged and abs(at.x() - start.x()) < 4:
            return
        self._dragged = True
        if start.y() >= self.height() - FOOT or self._pans or slot is None or not slot.row.keeps:
            ends = start.y() >= self.height() - FOOT  # the bar below is dragged the other way, over the whole
            by = -(at.x() - self._held.x()) * self.axis.steps * self._per_whole() if ends else at.x() - self._held.x()
            self._set_axis(self.axis.moved(by))
            self._held = at
            self._hover(at)
        else:
            self.shifted.emit(self._steps(start, at), False)

    def _per_whole(self) -> float:
        return 1 / max(1e-9, self.axis.high - self.axis.low)

    def _steps(self, start: QPointF, at: QPointF) -> int:
        return round(self.axis.at(at.x()) - self.axis.at(start.x()))

    def mouseReleaseEvent(self, event: Any) -> None:
        if self._press is None:
            return
        (start, slot), self._press = self._press, None
        at = event.position()
        if self._dragged:
            if slot is not None and slot.row.keeps and not self._pans:
                self.shifted.emit(self._steps(start, at), True)
        elif event.button() == Qt.MouseButton.LeftButton:
            self._click(at, slot)

    def _click(self, at: QPointF, slot: Slot | None) -> None:
        if slot is None:
            return
        if at.x() < self.axis.left:
            if slot.row.kind != "head" and at.x() < 22:
                self.fold(slot.row.key)
            elif slot.row.layer:
                self.named.emit(slot.row.layer)
            return
        step = self.axis.step_at(at.x())
        if step is not None:
            self.clicked.emit(self._side_at(at), step)

    def fold(self, key: str) -> None:
        """Fold a row away, or open it again."""
        self.folded ^= {key}
        self._lay_out()
        self.update()

    def mouseDoubleClickEvent(self, event: Any) -> None:
        if event.position().x() > self.axis.left:
            self.fit()

    def _show_hand(self, at: QPointF) -> None:
        slot = self._slot_at(at)
        shape = Qt.CursorShape.ArrowCursor
        if at.x() < self.axis.left:
            clickable = slot is not None and (bool(slot.row.layer) or (at.x() < 22 and slot.row.kind != "head"))
            shape = Qt.CursorShape.PointingHandCursor if clickable else shape
        elif slot is not None:
            shape = Qt.CursorShape.SizeHorCursor if slot.row.keeps else Qt.CursorShape.CrossCursor
        self.setCursor(shape)

    def _hover(self, at: QPointF) -> None:
        self._mouse = at
        step, slot = self.axis.step_at(at.x()), self._slot_at(at)
        side = self._side_at(at)
        self.hot = None if step is None or slot is None else (side, step)
        unit = slot.unit_at(at.y() - TOP + self.bar.value()) if slot is not None else None
        self.pointed.emit(None if self.hot is None else (slot.row if slot else None, side, step, unit))
        self._tell()
        self.update()

    def _tell(self) -> None:
        """Tell the other views which step of x is under the mouse."""
        step = None
        if self.hot is not None:
            step = self.hot[1] if self.hot[0] == "before" else self.scene.back(self.hot[1])
        self._heard = True
        self.pointer.moved.emit(step)
        self._heard = False

    def _follow(self, step: int | None) -> None:
        if self._heard or self._mouse is not None:
            return
        hot = None if step is None or step >= self.scene.steps else ("before", int(step))
        if hot != self.hot:
            self.hot = hot
            self.update()

    def leaveEvent(self, event: Any) -> None:
        self._mouse = self.hot = None
        self.pointed.emit(None)
        self._tell()
        self.update()


def over_room(over: int, wide: int) -> int:
    """Return the room of the scroll bar, where there is one."""
    return wide if over > 0 else 0
