"""The curve t -> tau(t) with its handles, which a hand or the keys move."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from explorer.declare.elements import Step
from explorer.spaces.sequence.elements.transforms.warp import PLACES
from widgets.base.look import theme
from widgets.charts.items.marks import DOT, Columns, Target, fill, ink
from widgets.charts.library import pg
from widgets.charts.plot import Plot
from widgets.maps.ring import FREE
from widgets.spaces.sequence.charts.bending import SHIFT, Curve, Handle
from widgets.spaces.sequence.charts.step_axis import StepAxis

REACH = 9.0  # pixels about the curve within which it is taken hold of
MAGNET = 5.0  # pixels about the diagonal within which a handle falls onto it
KEYED = 0.01  # of the sequence, what an arrow key moves a handle by
ROOM = 9.0  # pixels round the curve, for handles at its ends
REMOVING = (Qt.Key.Key_Delete, Qt.Key.Key_Backspace)
MOVES = {Qt.Key.Key_Up: (0, 1), Qt.Key.Key_Down: (0, -1), Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0)}
NO_SHIFT = "put a shift into the chain to move the whole curve; double click adds a handle"
FULL = "no room for a further handle here: seven are the most, and two are never at one place"


class Grip(Target):
    """A handle of the curve; a drag asks the chart to move it, and a right click to take it away."""

    def __init__(self, chart: BendChart, index: int) -> None:
        super().__init__("s" if index < 0 else DOT, movable=True)
        self.chart, self.index = chart, index
        self._aside = QPointF()
        self.setCursor(Qt.CursorShape.OpenHandCursor)

    def mouseDragEvent(self, event: Any) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        event.accept()
        if event.isStart():
            self._aside = self.pos() - self.mapToParent(event.buttonDownPos())
        self.moving = not event.isFinish()
        at = self._aside + self.mapToParent(event.pos())
        self.chart.move_handle(self.index, at, bool(event.modifiers() & FREE), event.isFinish())

    def mouseClickEvent(self, event: Any) -> None:
        if event.button() == Qt.MouseButton.RightButton:
            event.accept()
            self.chart.remove_handle(self.index)


class BendChart(Plot):
    """Shows a `Curve`. Drags are told as the steps that they ask for; the state is the window's."""

    bent = Signal(object, bool)  # the steps asked for, whether the hand has let go

    def __init__(self, parent: QWidget, told: Callable[[float], str]) -> None:
        self.axis, self.side = StepAxis("bottom"), StepAxis("left")
        super().__init__(parent, left=self.side, bottom=self.axis)
        self.axis.setStyle(showValues=False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Warp of time")
        self.curve = Curve((), 0)
        self.focused: int | None = None  # index of the handle that keys move
        self._told_at = told
        self._held: tuple[float, int | None, Curve] | None = None  # from where, which handle (None: all), from what
        self._last: tuple[Step, ...] | None = None
        self._grips: dict[int, Grip] = {}
        self.beyond = self.add(Columns())
        self.diagonal, self.cross = self.add(pg.PlotCurveItem(), 1), self.add(pg.PlotCurveItem(antialias=False), 2)
        self.line = self.add(pg.PlotDataItem(), 3)
        self.ring = self.add(Target(), 5)
        self.dress()

    # what is shown --------------------------------------------------------------------------------------------
    def show_curve(self, curve: Curve) -> None:
        """Show the map of a chain; a handle that is held stays with the hand."""
        self.curve = curve
        if self._held is None:
            self._fit()
        if curve.count > 1:
            self._place()
            self._dress_handles()
            self._write()

    def _fit(self) -> None:
        """Find room for the whole curve; not while it is held, as it would run away from the hand."""
        n = float(max(1, self.curve.count))
        tau = self.side.place(self.curve.tau(np.array([0.0, n - 1.0])) + 0.5)
        low, high = max(min(0.0, float(tau.min()) - 0.5), -n), min(max(n, float(tau.max()) + 0.5), 2 * n)
        aside, above = (ROOM / max(4 * ROOM, side) for side in (self.box.width(), self.box.height()))
        self.set_ranges((-aside * n, (1 + aside) * n), (low - above * (high - low), high + above * (high - low)))

    def place(self, t: float, tau: float) -> QPointF:
        """Return the coordinates of a pair of steps."""
        return QPointF(float(self.axis.place(t + 0.5)), float(self.side.place(tau + 0.5)))

    def steps_at(self, at: QPointF) -> tuple[float, float]:
        """Return the pair of steps, (t, tau), at a position."""
        return float(self.axis.step(at.x())) - 0.5, float(self.side.step(at.y())) - 0.5

    def handles(self) -> list[Handle]:
        """Return the handles that can be dragged: the ends only where the chain can rescale."""
        found = self.curve.handles() if self.curve.count > 1 else []
        return [h for h in found if not h.end or self.curve.has("rescale")]

    @property
    def hot(self) -> Handle | None:
        """Return the handle under the mouse."""
        return next((h for h in self.handles() if (grip := self._grips.get(h.index)) and grip.mouseHovering), None)

    def _place(self) -> None:
        """Draw the curve with its corners; of a long one as many points as there is room for."""
        n = self.curve.count
        low, high = (min(max(float(self.axis.step(v)) - 0.5, 0.0), n - 1.0) for v in self.box.viewRange()[0])
        some = np.linspace(low, high, int(min(n, max(2, 2 * self.box.width()))))
        at = np.sort(np.r_[some, [h.t for h in self.curve.handles()]])
        self.line.setData(self.axis.place(at + 0.5), self.side.place(self.curve.tau(at) + 0.5))
        ends = np.array([0.5, n - 0.5])
        self.diagonal.setData(self.axis.place(ends), self.side.place(ends))
        (x0, x1), (y0, y1) = self.box.whole
        self.beyond.set_columns([x0, x0, x0, n], [x1, x1, 0, x1], [y0, n, 0, 0], [0, y1, n, n])

    def _dress_handles(self) -> None:
        """Put the handles where they are; those of a warp are filled."""
        t, found = theme.current(), {h.index: h for h in self.handles()}
        for index in found.keys() - self._grips.keys():
            self._grips[index] = self.add(Grip(self, index), 6)
        held, accent = self._held[1] if self._held is not None else None, fill(t.accent)
        for index, grip in self._grips.items():
            grip.setVisible(index in found)
            if index in found:
                full = index == held or (self.curve.bent and index >= 0)
                size = (13 if index == held else 11) - 2 * (index < 0)
                grip.look(ink(t.accent, 2), accent if full else fill(t.plot), size, accent)
                grip.setPos(self.place(found[index].t, found[index].tau))
        seen = self.focused in found and self.hasFocus()
        self.ring.setVisible(seen)
        if seen and self.focused is not None:
            self.ring.setPos(self._grips[self.focused].pos())

    def show_cross(self, time: float | None) -> None:
        """Mark a step: from t up to the curve and over to tau."""
        if time is None or not -0.5 <= time <= self.curve.count - 0.5:
            self.cross.setData([], [])
            return
        (x, _), (y, _) = self.box.viewRange()
        on = self.place(time, float(self.curve.tau(time)))
        self.cross.setData([on.x(), on.x(), x], [y, on.y(), on.y()])

    _size = (0.0, 0.0)

    def reshaped(self) -> None:
        if hasattr(self, "ring") and self.curve.count > 1:
            size = (self.box.width(), self.box.height())
            if size != self._size:
                self._size = size
                self._fit()
            self._place()

    def _write(self) -> None:
        t, chain = theme.current(), " + ".join(map(str, self.curve.steps)) or "no warp yet: drag a handle"
        self.header.write([("τ(t)", t.accent, True), (f"x′(t) = x(τ(t)) · {chain}", t.text, False)])

    def dress(self) -> None:
        super().dress()
        if hasattr(self, "ring"):
            t = theme.current()
            self.beyond.setOpts(brush=t.raised)
            self.diagonal.setPen(ink(t.muted, 1.0, 255, Qt.PenStyle.DashLine))
            self.cross.setPen(ink(t.muted))
            self.line.setPen(ink(t.accent, 2))
            self.ring.look(ink(t.text, 1.2), fill(t.plot, 0), 20)
            self._dress_handles()
            self._write()

    # the mouse ------------------------------------------------------------------------------------------------
    def on_curve(self, at: QPointF) -> bool:
        """Return whether the curve passes within reach of a position."""
        unit = self.pixels()
        x = at.x() + np.array([-6.0, 0.0, 6.0]) / unit.x()
        t = np.asarray(self.axis.step(x)) - 0.5
        if self.message or not -0.5 <= t[1] <= self.curve.count - 0.5:
            return False
        away = np.abs(np.asarray(self.side.place(self.curve.tau(t) + 0.5)) - at.y()) * unit.y()
        return bool(away.min() <= REACH)

    def read(self, at: QPointF) -> str:
        return self._told_at(at.x()) if self.box.viewRect().contains(at) else ""

    def pointed(self, at: QPointF | None) -> None:
        grab = at is not None and self.curve.has(SHIFT) and self.on_curve(at)
        self.viewport().setCursor(Qt.CursorShape.OpenHandCursor if grab else Qt.CursorShape.ArrowCursor)

    def move_handle(self, index: int, at: QPointF, free: bool, done: bool) -> None:
        """Ask for the chain with a handle there, or on the diagonal where that is near."""
        if self._held is None:
            self.focused, self._last, self._held = index, None, (0.0, index, self.curve)
        base = self._held[2]
        t, tau = self.steps_at(at)
        if not free and index >= 0:
            own = t if index >= len(PLACES) else next(h.t for h in base.handles() if h.index == index)
            level = base.straight(own)
            if abs(self.place(own, level).y() - at.y()) * self.pixels().y() < MAGNET:
                tau = level
        self._ask(base.dragged(index, t, tau), done)

    def remove_handle(self, index: int) -> None:
        if index >= 0 and (asked := self.curve.removed(index)) != self.curve.steps:
            self.bent.emit(asked, True)

    def grabbed(self, at: QPointF) -> bool:
        if not self.on_curve(at):
            return False
        if self.curve.has(SHIFT):
            self._last, self._held = None, (self.steps_at(at)[0], None, self.curve)
        else:
            self.hovered.emit(NO_SHIFT)
        return True

    def dragged(self, at: QPointF, done: bool) -> None:
        if self._held is not None:
            free = bool(QGuiApplication.keyboardModifiers() & FREE)
            self._ask(self._held[2].moved(self._held[0], self.steps_at(at)[0], not free), done)

    def _ask(self, asked: tuple[Step, ...] | None, done: bool) -> None:
        assert self._held is not None
        base, self._holding = self._held[2], not done
        moved = asked is not None and asked != (self._last or base.steps)
        if asked is not None and (moved or (done and self._last is not None)):
            self._last = asked
            self.bent.emit(asked, done)
        if done:
            self._held = None
            self.show_curve(self.curve)

    def doubled(self, at: QPointF) -> bool:
        if not self.on_curve(at):
            return False
        asked = self.curve.added(self.steps_at(at)[0]) if self.hot is None else self.curve.steps
        if asked is None:
            self.hovered.emit(FULL)
        elif asked != self.curve.steps:
            self.bent.emit(asked, True)
        return True

    # keys -----------------------------------------------------------------------------------------------------
    def focusNextPrevChild(self, forward: bool) -> bool:
        """Go from handle to handle, and only then to the next widget."""
        order = [h.index for h in self.handles()]
        k = order.index(self.focused) + (1 if forward else -1) if self.focused in order else 0 if forward else -1
        k = len(order) - 1 if self.focused not in order and not forward else k
        self.focused = order[k] if 0 <= k < len(order) else None
        self._dress_handles()
        return self.focused is not None or super().focusNextPrevChild(forward)

    def focusInEvent(self, event: Any) -> None:
        super().focusInEvent(event)
        self._dress_handles()

    def focusOutEvent(self, event: Any) -> None:
        super().focusOutEvent(event)
        self._dress_handles()

    def keyPressEvent(self, event: Any) -> None:
        handle = next((h for h in self.handles() if h.index == self.focused), None)
        if handle is None or (event.key() not in MOVES and event.key() not in REMOVING):
            super().keyPressEvent(event)
        elif event.key() in REMOVING:
            self.remove_handle(handle.index)
        else:
            right, up = (by * KEYED * self.curve.last for by in MOVES[event.key()])
            asked = self.curve.dragged(handle.index, handle.t + right, handle.tau + up)
            if asked != self.curve.steps:
                self.bent.emit(asked, False)

    def keyReleaseEvent(self, event: Any) -> None:
        if event.key() in MOVES and not event.isAutoRepeat() and self.focused is not None:
            self.bent.emit(self.curve.steps, True)  # an arrow that was held down is one step of the history
        else:
            super().keyReleaseEvent(event)
