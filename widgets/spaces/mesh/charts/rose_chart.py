"""Responses of one vertex at every rotation, drawn round its circle of directions: before, and in the turned frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter
from PySide6.QtWidgets import QWidget

from widgets.base.look import theme
from widgets.base.look.alignment import CENTRE
from widgets.base.text.words import figure
from widgets.charts.inks import faded, mixed
from widgets.charts.items.header import Header
from widgets.charts.items.marks import DOT, Marks, fill, ink
from widgets.charts.library import pg
from widgets.charts.round_plot import Disc, RoundPlot, circles, polar
from widgets.spaces.mesh.charts.patch_geometry import Around, Array

ALIKE = 1e-3  # responses that differ by less, of the largest, are alike
LOW = 0.16  # of the radius: where the smallest response is drawn
ROOM = 14.0  # pixels round the circle: the names of the axes


@dataclass(frozen=True, slots=True)
class Rose:
    """Values of a rose: F(x) and, where something was done, F(rho(g) x) at the same vertex, one channel picked out."""

    before: Around
    after: Around | None
    channel: int

    @property
    def span(self) -> tuple[float, float]:
        """Return the lowest and the highest response of the channel; those of others may lie beyond."""
        both = [self.before] if self.after is None else [self.before, self.after]
        found = np.nan_to_num(np.concatenate([one.values[self.channel] for one in both]))
        low, high = float(found.min()), float(found.max())
        if high - low <= ALIKE * max(abs(low), abs(high)):  # a circle, not the noise on it
            low, high = min(0.0, low), max(0.0, high)
        return (low, high) if high > low else (0.0, 1.0)


class RoseChart(RoundPlot):
    """The picked channel: filled for F(x), a line for F(rho(g) x); the others are thin. Direction 0 is the axis X.

    A click on a thin line picks its channel.
    """

    picked = Signal(int)  # a channel
    asked = Signal()  # for the layer that the message names

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rose: Rose | None = None
        self.link, self._span = "", (0.0, 1.0)
        self.rim, self.zero = self.add(pg.PlotCurveItem(), 3), self.add(pg.PlotCurveItem())
        self.rim.setData(*circles([1.0]))
        self.axes = [self.add(pg.PlotCurveItem([0, x], [0, y]), 1) for x, y in ((1, 0), (0, 1))]
        self.names = [self.add(pg.TextItem(name, anchor=(0.5, 0.5)), 3) for name in "XY"]
        self.disc = self.add(Disc(), 2)
        self.others = self.disc.add(pg.PlotCurveItem(connect="finite"))
        self.curves = [self.add(pg.PlotCurveItem(connect="finite"), z) for z in (3, 4)]  # before, after
        self.places = [self.add(Marks(symbol=DOT, pen=None), z) for z in (3, 4)]
        self.ways = [self.add(pg.PlotCurveItem(), 5) for _ in range(2)]  # to the strongest responses
        self.winner_marks = [self.add(Marks(symbol=DOT), 6) for _ in range(2)]
        self.footer = Header()
        self.item.layout.addItem(self.footer, 4, 1)
        self.set_fonts()
        self.dress()
        self.reshaped()

    def sizeHint(self) -> QSize:
        return QSize(220, 210)

    def minimumSizeHint(self) -> QSize:
        return QSize(150, 110)

    def show_rose(self, rose: Rose | None, message: str = "", link: str = "") -> None:
        """Show responses, or say why there are none; a `link` names a layer that has some."""
        self.rose, self.link = rose, link
        self._span = (0.0, 1.0) if rose is None else rose.span
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if link else Qt.CursorShape.ArrowCursor)
        self.message = "" if rose is not None else message or " "
        self.viewport().update()
        self._update()

    # geometry -------------------------------------------------------------------------------------------------
    def radii(self, values: Array) -> Array:
        """Return how far from the middle responses are drawn; the highest one of the channel is at 1."""
        low, high = self._span
        return np.maximum(0.0, LOW + (1 - LOW) * (np.nan_to_num(values) - low) / (high - low))

    def reshaped(self) -> None:
        """Leave room for the names of the axes."""
        if not hasattr(self, "footer"):
            return
        radius = max(8.0, min(self.box.width(), self.box.height()) / 2 - ROOM)
        room = ROOM / radius
        self.set_ranges((-1 - room, 1 + room), (-1 - room, 1 + room))
        for name, (x, y) in zip(self.names, ((1, 0), (0, 1))):
            name.setPos(x * (1 + room / 2), y * (1 + room / 2))

    # drawing --------------------------------------------------------------------------------------------------
    def _update(self) -> None:
        rose = self.rose
        if rose is None:
            return
        low, high = self._span
        self.zero.setVisible(low < 0 <= high)  # where the response is zero
        self.zero.setData(*circles(self.radii(np.zeros(1))))
        others = np.delete(rose.before.values, rose.channel, 0)
        self.others.setData(*polar(self.radii(others)))
        for k, found in enumerate((rose.before, rose.after)):
            for item in (self.curves[k], self.places[k], self.ways[k], self.winner_marks[k]):
                item.setVisible(found is not None)
            if found is None:
                continue
            values = found.values[rose.channel]
            x, y = polar(self.radii(values))
            self.curves[k].setData(x[:-1], y[:-1])
            # a band-limited function has no directions of its own
            of_its_own = slice(len(values) if found.sampled else 0)
            self.places[k].set_marks(x[of_its_own], y[of_its_own], 4.0)
            best = int(np.nan_to_num(values, nan=-np.inf).argmax())
            self.ways[k].setData([0, x[best]], [0, y[best]])
            self.winner_marks[k].set_marks(x[best : best + 1], y[best : best + 1], (8.0, 12.0)[k])
        keys = {self.winner_marks[0]: "F(x)"}
        self.footer.name_keys(keys if rose.after is None else keys | {self.winner_marks[1]: "F(ρ(g)x)"})
        self._write()

    def _write(self) -> None:
        t, (low, high) = theme.current(), self._span
        self.header.write([(self.title(), t.text, True)])
        self.footer.write([(f"{figure(low)} … {figure(high)}", t.muted, False)])

    def set_fonts(self) -> None:
        super().set_fonts()
        if hasattr(self, "footer"):
            self.footer.set_font(self.small())
            for name in self.names:
                name.setFont(self.small())

    def dress(self) -> None:
        super().dress()
        if not hasattr(self, "footer"):
            return
        t = theme.current()
        self.footer.dress()
        self.disc.dress()
        self.rim.setPen(ink(t.line))
        self.zero.setPen(ink(t.muted, style=Qt.PenStyle.DashLine))
        self.others.setPen(ink(mixed(t.muted, t.panel, 0.35).name()))
        for axis, name, own in zip(self.axes, self.names, (t.second, t.good)):
            axis.setPen(ink(own, 1.5))
            name.setColor(own)
        self.curves[0].setFillLevel("enclosed")
        self.curves[0].setBrush(faded(t.first, 60))
        for k, own in enumerate((t.first, t.text)):
            self.curves[k].setPen(ink(own, 1.6))
            self.places[k].setBrush(fill(own))
            self.ways[k].setPen(ink(own, alpha=170, style=Qt.PenStyle.DotLine))
            self.winner_marks[k].setPen(ink(own, 1.4))
            self.winner_marks[k].setBrush(None if k else fill(own))
        self._write()

    def drawForeground(self, p: QPainter, rect: QRectF) -> None:
        super().drawForeground(p, rect)
        if self.message and self.link:
            room = QRectF(self.rect()).adjusted(12, 4, -12, -4)
            p.setPen(QColor(theme.current().accent))
            p.drawText(QRectF(room.left(), room.center().y() + 34, room.width(), 20), int(CENTRE), self.link)

    # words and hands ------------------------------------------------------------------------------------------
    def title(self) -> str:
        """Return what is drawn, in a few words."""
        if self.rose is None:
            return ""
        count = self.rose.before.values.shape[1]
        return f"Channel {self.rose.channel} · {f'{count} rotations' if self.rose.before.sampled else 'by direction'}"

    def winners(self) -> tuple[int, int | None]:
        """Return the direction of the strongest response of the picked channel, before and after."""
        assert self.rose is not None
        before, after = self.rose.before, self.rose.after
        best = int(before.values[self.rose.channel].argmax())
        return best, None if after is None else int(after.values[self.rose.channel].argmax())

    def nearest(self, at: QPointF) -> tuple[int, int] | None:
        """Return the channel nearest to a position and the direction, or None."""
        size, unit = float(np.hypot(at.x(), at.y())), self.pixels().x()
        if self.rose is None or size > 1 + 8 / unit or size < 4 / unit:
            return None
        values = self.rose.before.values
        k = round(float(np.arctan2(at.y(), at.x())) / (2 * np.pi) * values.shape[1]) % values.shape[1]
        return int(np.abs(self.radii(values[:, k]) - size).argmin()), k

    def read(self, at: QPointF) -> str:
        """Return the read-out at a position: the picked channel in the direction of the mouse, before and after."""
        found = self.nearest(at)
        if found is None or self.rose is None:
            return ""
        k, count = found[1], self.rose.before.values.shape[1]
        words = [f"{360 * k / count:.0f}°: F(x) {figure(float(self.rose.before.values[self.rose.channel, k]))}"]
        if self.rose.after is not None:
            words.append(f"F(ρ(g)x) {figure(float(self.rose.after.values[self.rose.channel, k]))}")
        return ", ".join(words)

    def clicked_at(self, at: QPointF) -> None:
        if (found := self.nearest(at)) is not None:
            self.picked.emit(found[0])

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if self.message and self.link:
            self.asked.emit()
