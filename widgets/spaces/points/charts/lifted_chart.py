"""Whom a lifted point sees: others by the turn and the shift of the logarithm between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QSize
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from explorer.spaces.points.drawing.values import Lifted
from widgets.base.look import theme
from widgets.base.text.words import figure
from widgets.charts.axis.axes import ValueAxis
from widgets.charts.items.marks import DOT, Marks, fill, ink
from widgets.charts.library import pg
from widgets.charts.plot import Plot

NEAR_MARK = 12.0  # pixels from the mouse, within which a point is read
HALF = 180.0  # degrees: no logarithm turns further


class LiftedChart(Plot):
    """Draws lifted points as dots, as one of them sees the others, and a line round those within its reach.

    Rings are the same after the element: they lie round their dots where the frames have turned along.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, left=ValueAxis("left"), bottom=ValueAxis("bottom"))
        self.lifted: Lifted | None = None
        self.at_point, self.at_frame = 0, 0
        self.names: tuple[str, ...] = ()
        self.edge = self.add(pg.PlotCurveItem(), 0)
        self.far, self.near = self.add(Marks(symbol=DOT), 1), self.add(Marks(symbol=DOT), 2)
        self.after = self.add(Marks(symbol=DOT), 3)
        self._whose, self._shift, self._turn = "", np.zeros(0), np.zeros(0)
        self._near = np.zeros(0, bool)
        self.dress()

    def sizeHint(self) -> QSize:
        return QSize(420, 220)

    def show_lifted(
        self, lifted: Lifted | None, after: Lifted | None = None, order: NDArray[np.int64] | None = None,
        point: int = 0, frame: int = 0, names: tuple[str, ...] = (), message: str = "", whose: str = "",
    ) -> None:  # fmt: skip
        """Show what `frame` of `point` sees, and the same point after the element; None for what lifts nothing.

        `whose` is the network that lifts, where several are compared.
        """
        self.lifted, self.at_point, self.at_frame, self.names = lifted, point, frame, names
        self.message, self._whose = "" if lifted is not None else message or " ", whose
        if lifted is None:
            return
        self._shift, self._turn, distance = _seen(lifted, point, frame)
        self._near = distance <= lifted.reach
        self.near.set_marks(self._shift[self._near], self._turn[self._near], 8)
        self.far.set_marks(self._shift[~self._near], self._turn[~self._near], 7)
        moved = np.zeros((2, 0))
        if after is not None and order is not None and after.distance.shape == lifted.distance.shape:
            moved = np.stack(_seen(after, int(order[point]), frame)[:2])
        self.after.set_marks(moved[0], moved[1], 14)
        # alpha turn + (1 - alpha) shift = reach, cut off at half a turn
        most = lifted.reach / lifted.alpha if lifted.alpha else np.inf
        turn = np.array([0.0, min(most, np.pi)])
        self.edge.setData((lifted.reach - lifted.alpha * turn) / (1 - lifted.alpha), np.degrees(turn))
        widest = max(float(self._shift.max(initial=0.0)), float(moved[0].max(initial=0.0)), lifted.reach)
        self.set_ranges((-0.03 * widest, 1.1 * widest), (-16.0, HALF + 12.0))
        self.header.name_keys({self.near: "seen", self.far: "not seen", self.edge: "reach", self.after: "after g"})
        self._write()

    def _write(self) -> None:
        lifted, t = self.lifted, theme.current()
        if lifted is None:
            return
        whose = self._name(self.at_point)
        told = f"{int(self._near.sum())} of {self._near.size} within {figure(lifted.reach)}"
        axes = "right: shift of log v⁻¹u (Å), up: its turn (°)"
        title = f"What {whose} sees with frame {self.at_frame + 1}{self._whose and ' · '}{self._whose}"
        self.header.write([(title, t.text, True), (told, t.muted, False), (axes, t.muted, False)])

    def _name(self, point: int) -> str:
        return f"{self.names[point]} ({point})" if point < len(self.names) else f"point {point}"

    def read(self, at: QPointF) -> str:
        lifted = self.lifted
        if lifted is None or not self._shift.size:
            return ""
        unit = self.pixels()
        apart = np.hypot((self._shift - at.x()) * unit.x(), (self._turn - at.y()) * unit.y())
        k = int(apart.argmin())
        if apart[k] > NEAR_MARK:
            return ""
        frame, point = divmod(k, lifted.distance.shape[2])
        distance = float(lifted.distance[self.at_frame, frame, self.at_point, point])
        seen = "seen" if distance <= lifted.reach else "not seen"
        return (
            f"{self._name(point)}, frame {frame + 1}: {seen}\nshift {figure(float(self._shift[k]))}, "
            f"turn {figure(float(self._turn[k]))}°, distance {figure(distance)}"
        )

    def dress(self) -> None:
        super().dress()
        if hasattr(self, "after"):
            t = theme.current()
            none = fill(QColor(t.text).name(), 0)
            self.edge.setPen(ink(QColor(t.accent).name(), 1.5))
            self.near.setBrush(fill(QColor(t.first).name()))
            self.far.setBrush(fill(QColor(t.muted).name(), 150))
            for marks in (self.near, self.far):
                marks.setPen(ink(QColor(t.plot).name(), 0.5))
            self.after.setBrush(none)
            self.after.setPen(ink(QColor(t.second).name(), 1.5))
            self._write()


def _seen(lifted: Lifted, point: int, frame: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return shifts, turns in degrees and distances of all (b, j), as `frame` of `point` sees them."""
    shift, turn, distance = (
        np.asarray(table[frame, :, point]).ravel() for table in (lifted.shift, lifted.turn, lifted.distance)
    )
    return shift, np.degrees(turn), distance
