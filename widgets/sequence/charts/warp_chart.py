"""The curve t -> tau(t) with its handles, and below it, on the same axis of time, its slope beside the gates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from explorer.declare.elements import Step
from explorer.spaces.sequence.transforms.warp import PLACES
from widgets.base import theme
from widgets.base.pointer import Pointer
from widgets.base.theme import Theme
from widgets.base.words import figure
from widgets.charts.chart import CENTRE, LEFT, RIGHT, faded
from widgets.maps.ring import FREE
from widgets.sequence.charts.bending import SHIFT, Curve, Handle
from widgets.sequence.charts.slope_painting import Line, paint_legend, paint_slope
from widgets.sequence.timeline.axis import TimeAxis
from widgets.sequence.timeline.painting import paint_axis, polygon
from widgets.sequence.timeline.scale import TimeScale, time_scale

GUTTER, MARGIN, FOOT, TOP, BETWEEN = 58.0, 14.0, 32.0, 24.0, 28.0
REACH = 9.0  # pixels about a handle within which it is taken hold of
MAGNET = 5.0  # pixels about the diagonal within which a handle falls onto it
KEYED = 0.01  # of the sequence, what an arrow key moves a handle by
SHARE = 0.62  # of the height, for the curve


class WarpChart(QWidget):
    """Paints a `Curve` and lines. Drags are told as the steps that they ask for; the state is the window's."""

    bent = Signal(object, bool)  # the steps asked for, whether the hand has let go
    said = Signal(str)

    def __init__(self, parent: QWidget | None = None, pointer: Pointer | None = None) -> None:
        super().__init__(parent)
        self.pointer = pointer or Pointer(self)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Warp of time")
        self.curve, self.message = Curve((), 0), ""
        self.lines: list[Line] = []
        self.note = ""  # said in the lower plot instead of gates
        self.follows = ""
        self.axis = TimeAxis(0)
        self.focused: int | None = None  # index of the handle that keys move
        self.hot: int | None = None  # of that under the mouse
        self._times: NDArray[Any] | None = None
        self._span = (0.0, 1.0)  # of tau, in places
        self._grip: tuple[QPointF, int | None, Curve] | None = None  # where, which handle (None: the curve), from what
        self._last: tuple[Step, ...] | None = None
        self._mouse: QPointF | None = None
        self._marked: int | None = None
        self.pointer.moved.connect(self._follow)

    def sizeHint(self) -> QSize:
        return QSize(420, 320)

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 160)

    # what is shown --------------------------------------------------------------------------------------------
    def show_curve(self, steps: Sequence[Step], count: int, times: NDArray[Any] | None = None) -> None:
        """Show the map of a chain on a sequence of `count` steps, at their true times where there are any."""
        if count != self.axis.steps or times is not self._times:
            self._times = times
            self.axis = replace(self.axis, steps=count, low=0.0, high=float(max(1, count)), scale=time_scale(times))
        self.curve = Curve(steps, count)
        if self._grip is None:
            self._fit()
        self.update()

    def show_lines(self, lines: Sequence[Line], note: str, follows: str) -> None:
        """Show gates beside the slope; `note` says why there are none, `follows` how well they follow."""
        self.lines, self.note, self.follows = list(lines), note, follows
        self.update()

    def _fit(self) -> None:
        """Find room for the whole curve; not while it is held, as it would run away from the hand."""
        n = float(max(1, self.curve.count))
        tau = self._place(self.curve.tau(np.array([0.0, n - 1.0])) + 0.5)
        self._span = (max(min(0.0, float(tau.min()) - 0.5), -n), min(max(n, float(tau.max()) + 0.5), 2 * n))

    # places ---------------------------------------------------------------------------------------------------
    def _place(self, step: Any) -> Any:
        scale: TimeScale | None = self.axis.scale
        return step if scale is None else scale.place(step)

    def plots(self) -> tuple[QRectF, QRectF]:
        """Return the rectangle of the curve and that of its slope."""
        room = QRectF(self.rect()).adjusted(GUTTER, TOP, -MARGIN, -FOOT)
        high = max(10.0, (room.height() - BETWEEN) * SHARE)
        upper = QRectF(room.left(), room.top(), max(10.0, room.width()), high)
        lower = QRectF(
            upper.left(), upper.bottom() + BETWEEN, upper.width(), max(8.0, room.bottom() - high - BETWEEN - TOP)
        )
        return upper, lower

    def point(self, t: float, tau: float) -> QPointF:
        """Return where (t, tau) is drawn."""
        upper = self.plots()[0]
        low, high = self._span
        share = (float(self._place(tau + 0.5)) - low) / (high - low)
        return QPointF(self.axis.x_of(t + 0.5), upper.bottom() - share * upper.height())

    def at(self, point: QPointF) -> tuple[float, float]:
        """Return (t, tau) at a point."""
        upper = self.plots()[0]
        low, high = self._span
        place = low + (upper.bottom() - point.y()) / upper.height() * (high - low)
        tau = place if self.axis.scale is None else float(self.axis.scale.step(place))
        return self.axis.at(point.x()) - 0.5, tau - 0.5

    def handles(self) -> list[Handle]:
        """Return the handles that can be dragged: the ends only where the chain can rescale."""
        return [h for h in self.curve.handles() if not h.end or self.curve.has("rescale")]

    def _handle_at(self, at: QPointF) -> Handle | None:
        def away(h: Handle) -> float:
            d = self.point(h.t, h.tau) - at
            return max(abs(d.x()), abs(d.y()))

        near = min(self.handles(), key=away, default=None) if not self.message and self.curve.count > 1 else None
        return near if near is not None and away(near) <= REACH else None

    def _on_curve(self, at: QPointF) -> bool:
        t, _ = self.at(at)
        if self.message or self.curve.count < 2 or not -0.5 <= t <= self.curve.count - 0.5:
            return False
        near = [self.point(v, float(self.curve.tau(v))) for v in (t, *(t + k / self.axis.width(t) for k in (-6, 6)))]
        return min(abs(p.y() - at.y()) for p in near) <= REACH

    # painting -------------------------------------------------------------------------------------------------
    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        upper = self.plots()[0]
        self.axis = replace(self.axis, left=upper.left(), right=upper.right())

    def paintEvent(self, event: Any) -> None:
        p, t = QPainter(self), theme.current()
        font = QFont(self.font())
        font.setPointSizeF(max(6.5, font.pointSizeF() * 0.88))
        p.setFont(font)
        p.fillRect(self.rect(), QColor(t.panel))
        upper, lower = self.plots()
        if self.message or self.curve.count < 2:
            p.setPen(QColor(t.muted))
            words = self.message or "One step cannot be bent."
            p.drawText(QRectF(self.rect()).adjusted(12, 4, -12, -4), CENTRE | Qt.TextFlag.TextWordWrap, words)
        else:
            self._paint_curve(p, t, upper)
            self._paint_slope(p, t, lower)
            paint_axis(p, t, self.axis, QRectF(0, lower.bottom(), self.width(), FOOT))
        p.end()

    def _paint_curve(self, p: QPainter, t: Theme, box: QRectF) -> None:
        n = self.curve.count
        p.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        p.fillRect(box, QColor(t.raised))
        inside = QRectF(self.point(-0.5, n - 0.5), self.point(n - 0.5, -0.5)).intersected(box)
        p.fillRect(inside, QColor(t.plot))
        side = TimeAxis(n, self._span[0], self._span[1], 0.0, box.height(), self.axis.scale)
        for away, word in side.labels(36.0):
            y = box.bottom() - away
            p.setPen(QPen(faded(t.line, 150), 1))
            p.drawLine(QPointF(box.left(), y), QPointF(box.right(), y))
            p.setPen(QColor(t.muted))
            p.drawText(QRectF(0, y - 8, box.left() - 6, 16), RIGHT, word)
        p.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        p.save()
        p.setClipRect(box.adjusted(-1, -1, 1, 1))
        p.setPen(QPen(QColor(t.muted), 1, Qt.PenStyle.DashLine))
        p.drawLine(self.point(0, 0), self.point(n - 1, n - 1))
        if self._mouse is not None or self._marked is not None:
            self._paint_cross(p, t, box)
        p.setPen(QPen(QColor(t.accent), 2.0))
        p.setBrush(Qt.BrushStyle.NoBrush)
        p.drawPolyline(self._polyline())
        p.restore()
        for handle in self.handles():
            self._paint_handle(p, t, handle)
        p.setPen(QColor(t.text))
        p.drawText(QRectF(box.left(), 2, box.width(), TOP - 4), LEFT, self._title(p))
        p.setPen(QColor(t.muted))
        p.drawText(QRectF(0, 2, box.left() - 6, TOP - 4), RIGHT, "τ(t)")

    def _title(self, p: QPainter) -> str:
        chain = " + ".join(map(str, self.curve.steps)) or "no warp yet: drag a handle"
        words = f"x′(t) = x(τ(t)) · {chain}"
        return QFontMetricsF(p.font()).elidedText(words, Qt.TextElideMode.ElideRight, self.axis.right - self.axis.left)

    def _polyline(self) -> Any:
        """Return the curve, with its corners; a long one at every pixel."""
        n = self.curve.count
        some = np.linspace(0.0, n - 1.0, int(min(n, max(2, 2 * (self.axis.right - self.axis.left)))))
        at = np.sort(np.r_[some, [h.t for h in self.curve.handles()]])
        upper, (low, high) = self.plots()[0], self._span
        share = (np.asarray(self._place(self.curve.tau(at) + 0.5)) - low) / (high - low)
        return polygon(self.axis.xs_of(at + 0.5), upper.bottom() - share * upper.height())

    def _paint_handle(self, p: QPainter, t: Theme, handle: Handle) -> None:
        at, live = self.point(handle.t, handle.tau), handle.index in (self.hot, self._held())
        r = 6.5 if live else 5.5
        p.setPen(QPen(QColor(t.accent), 2))
        p.setBrush(QColor(t.accent if live or (self.curve.bent and not handle.end) else t.plot))
        if handle.end:
            p.drawRect(QRectF(at.x() - r + 1, at.y() - r + 1, 2 * r - 2, 2 * r - 2))
        else:
            p.drawEllipse(at, r, r)
        if handle.index == self.focused and self.hasFocus():
            p.setBrush(Qt.BrushStyle.NoBrush)
            p.setPen(QPen(QColor(t.text), 1.2))
            p.drawEllipse(at, r + 4, r + 4)

    def _held(self) -> int | None:
        return self._grip[1] if self._grip is not None else None

    def _paint_cross(self, p: QPainter, t: Theme, box: QRectF) -> None:
        """Mark the step under the mouse, here or in another view: from t up to the curve and over to tau."""
        time = self.at(self._mouse)[0] if self._mouse is not None else None
        if time is None and self._marked is not None:
            time = self.curve.reached(float(self._marked))
        if time is None or not -0.5 <= time <= self.curve.count - 0.5:
            return
        on = self.point(time, float(self.curve.tau(time)))
        p.setPen(QPen(QColor(t.muted), 1))
        p.drawLine(QPointF(on.x(), box.bottom()), on)
        p.drawLine(on, QPointF(box.left(), on.y()))

    def _top(self) -> float:
        found = [
            1.2,
            *(float(np.nanmax(v)) for v in (self.curve.slope(), *(one.values for one in self.lines)) if v.size),
        ]
        return 1.06 * min(max(v for v in found if np.isfinite(v)), 20.0)

    def height_of(self, value: float) -> float:
        """Return where a slope or a gate is drawn in the lower plot."""
        lower = self.plots()[1]
        return lower.bottom() - value / self._top() * lower.height()

    def _paint_slope(self, p: QPainter, t: Theme, box: QRectF) -> None:
        at = self._mouse.x() if self._mouse is not None else None
        paint_slope(p, t, self.axis, box, self.curve.slope(), self.lines, self._top(), at)
        paint_legend(p, t, box, self.lines, self.follows if self.lines else self.note)

    # the mouse ------------------------------------------------------------------------------------------------
    def mousePressEvent(self, event: Any) -> None:
        at, handle = event.position(), self._handle_at(event.position())
        if event.button() == Qt.MouseButton.RightButton:
            if handle is not None and not handle.end:
                self._ask(self.curve.removed(handle.index), True)
        elif event.button() == Qt.MouseButton.LeftButton:
            if handle is not None:
                self.focused = handle.index
                self._grip = (at - self.point(handle.t, handle.tau), handle.index, self.curve)
            elif self._on_curve(at):
                if self.curve.has(SHIFT):
                    self._grip = (at, None, self.curve)
                else:
                    self.said.emit("put a shift into the chain to move the whole curve; double click adds a handle")
            self._last = None
        self.update()

    def mouseMoveEvent(self, event: Any) -> None:
        at = event.position()
        if self._grip is not None:
            self._drag(at, event.modifiers(), False)
        handle = self._handle_at(at)
        self.hot = handle.index if handle is not None else None
        held = self._grip is not None
        grab = handle is not None or (self._on_curve(at) and self.curve.has(SHIFT))
        closed, open_ = Qt.CursorShape.ClosedHandCursor, Qt.CursorShape.OpenHandCursor
        self.setCursor(closed if held else open_ if grab else Qt.CursorShape.ArrowCursor)
        self._hover(at)

    def mouseReleaseEvent(self, event: Any) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self._grip is not None:
            if self._last is not None:
                self._drag(event.position(), event.modifiers(), True)
            self._grip = None
            self._fit()
            self.update()

    def _drag(self, at: QPointF, modifiers: Qt.KeyboardModifier, done: bool) -> None:
        assert self._grip is not None
        start, index, base = self._grip
        free = bool(modifiers & FREE)
        if index is None:
            asked = base.moved(self.at(start)[0], self.at(at)[0], not free)
        else:
            t, tau = self.at(at - start)
            if not free and index >= 0:
                own = t if index >= len(PLACES) else next(h.t for h in base.handles() if h.index == index)
                level = base.straight(own)
                if abs(self.point(own, level).y() - (at - start).y()) < MAGNET:
                    tau = level
            asked = base.dragged(index, t, tau)
        if asked is not None and (done or asked != (self._last or base.steps)):
            self._last = asked
            self.bent.emit(asked, done)

    def mouseDoubleClickEvent(self, event: Any) -> None:
        at, handle = event.position(), self._handle_at(event.position())
        if handle is None and self._on_curve(at) and event.button() == Qt.MouseButton.LeftButton:
            asked = self.curve.added(self.at(at)[0])
            if asked is None:
                self.said.emit("no room for a further handle here: seven are the most, and two are never at one place")
                return
            self._ask(asked, True)

    def _ask(self, asked: tuple[Step, ...], done: bool) -> None:
        if asked != self.curve.steps:
            self.bent.emit(asked, done)

    def _hover(self, at: QPointF) -> None:
        self._mouse = at if not self.message and self.axis.left <= at.x() <= self.axis.right else None
        text = self.text_at(self._mouse) if self._mouse is not None else ""
        self.said.emit(text.replace("\n", " · "))
        if text and self.hot is not None and self._grip is None:
            QToolTip.showText(self.mapToGlobal(at.toPoint()), text, self)
        else:
            QToolTip.hideText()
        tau = float(self.curve.tau(self.at(at)[0])) if self._mouse is not None else -1.0
        self._telling = True
        self.pointer.moved.emit(round(tau) if 0 <= round(tau) < self.curve.count else None)
        self._telling = False
        self.update()

    _telling = False

    def text_at(self, at: QPointF) -> str:
        """Return the read-out at a point: the step, where it comes from, the slope and the gates there."""
        t = min(max(0, round(self.at(at)[0])), max(0, self.curve.count - 1))
        slope = self.curve.slope()
        words = [f"step {t} of ρ(g)x shows step {figure(float(self.curve.tau(t)))} of x"]
        if slope.size:
            words.append(f"dτ/dt = {figure(float(slope[min(t, len(slope) - 1)]))}")
        words += [f"{one.title} {figure(float(one.values[t]))}" for one in self.lines if t < len(one.values)]
        if self.hot is not None:
            found = next((h for h in self.handles() if h.index == self.hot), None)
            hint = "drag up and down" if found is not None and not found.free else "drag anywhere"
            end = found is not None and found.end
            words.append("drag: rescale" if end else f"{hint} · right click: take it away · Alt: not onto the diagonal")
        return "\n".join(words)

    def _follow(self, step: int | None) -> None:
        if not self._telling and step != self._marked:
            self._marked = step
            self.update()

    def leaveEvent(self, event: Any) -> None:
        self._mouse = self.hot = None
        self.said.emit("")
        self.pointer.moved.emit(None)
        self.update()

    # keys -----------------------------------------------------------------------------------------------------
    def focusNextPrevChild(self, forward: bool) -> bool:
        """Go from handle to handle, and only then to the next widget."""
        order = [h.index for h in self.handles()] if not self.message and self.curve.count > 1 else []
        k = (
            order.index(self.focused) + (1 if forward else -1)
            if self.focused in order
            else 0
            if forward
            else len(order) - 1
        )
        if not 0 <= k < len(order):
            self.focused = None
            return super().focusNextPrevChild(forward)
        self.focused = order[k]
        self.update()
        return True

    def keyPressEvent(self, event: Any) -> None:
        handle = next((h for h in self.handles() if h.index == self.focused), None) if not self.message else None
        by = KEYED * self.curve.last
        moves = {Qt.Key.Key_Up: (0, 1), Qt.Key.Key_Down: (0, -1), Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0)}
        if handle is None or (event.key() not in moves and event.key() not in REMOVING):
            super().keyPressEvent(event)
        elif event.key() in REMOVING:
            if not handle.end:
                self._ask(self.curve.removed(handle.index), True)
        else:
            right, up = moves[event.key()]
            tau = handle.tau + up * by
            self._ask(self.curve.dragged(handle.index, handle.t + right * by, tau), False)

    def keyReleaseEvent(self, event: Any) -> None:
        if event.key() in ARROWS and not event.isAutoRepeat() and self.focused is not None:
            self.bent.emit(self.curve.steps, True)  # an arrow that was held down is one step of the history
        else:
            super().keyReleaseEvent(event)


REMOVING = (Qt.Key.Key_Delete, Qt.Key.Key_Backspace)
ARROWS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Right)
