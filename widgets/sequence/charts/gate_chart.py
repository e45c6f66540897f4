"""Histograms of gates in a row, and the spectrum of forgetting times: painted charts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from widgets.base.theme import Theme
from widgets.base.words import figure
from widgets.charts.chart import CENTRE, LEFT, RIGHT, Chart, draw_hair, faded, power
from widgets.sequence.charts.gate_statistics import LONGEST, Counted, Forgetting
from widgets.sequence.timeline.painting import polygon


class HistogramChart(Chart):
    """One small histogram for each gate, F(x) filled and F(rho(g) x) as a line."""

    clicked = Signal(str)

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self.counted: list[Counted] = []
        self.selected, self.roles = "", ["first"]
        self._names: list[str] = []

    def show_counted(self, counted: list[Counted], names: list[str], roles: list[str], selected: str) -> None:
        self.counted, self._names, self.roles, self.selected = counted, names, roles, selected
        self.update()

    def boxes(self) -> list[QRectF]:
        """Return the plot rectangle of each histogram."""
        n = len(self.counted)
        room = QRectF(self.rect()).adjusted(10, 4, -8, -4)
        columns = max(1, min(n, int(room.width() // 110)))
        rows = -(-n // columns) if n else 1
        columns = max(1, -(-n // rows))  # no row is left with one of them
        line = self.line()
        width, height = room.width() / columns, room.height() / rows
        return [
            QRectF(room.left() + (k % columns) * width, room.top() + (k // columns) * height + line + 3,
                   width - 12, max(8.0, height - 2 * line - 8))
            for k in range(n)
        ]  # fmt: skip

    def paint(self, p: QPainter, t: Theme) -> None:
        metrics = QFontMetricsF(self.small())
        for k, (one, box) in enumerate(zip(self.counted, self.boxes(), strict=True)):
            p.fillRect(box, QColor(t.plot))
            ink = getattr(t, self.roles[k])
            own = one.name == self.selected
            p.setPen(QColor(t.accent if own else t.text))
            head = QRectF(box.left(), box.top() - self.line() - 2, box.width(), self.line() + 2)
            p.drawText(head, LEFT, metrics.elidedText(self._names[k], Qt.TextElideMode.ElideRight, box.width()))
            top = max(float(one.share.max()), float(one.moved.max()) if one.moved is not None else 0.0) or 1.0
            x = np.linspace(box.left(), box.right(), len(one.share) + 1)
            y = box.bottom() - one.share / top * (box.height() - 2)
            p.setPen(Qt.PenStyle.NoPen)
            p.setBrush(faded(ink, 130))
            steps_x, steps_y = np.repeat(x, 2)[1:-1], np.repeat(y, 2)
            p.drawPolygon(polygon(np.r_[box.left(), steps_x, box.right()], np.r_[box.bottom(), steps_y, box.bottom()]))
            if one.moved is not None:
                p.setBrush(Qt.BrushStyle.NoBrush)
                p.setPen(QPen(QColor(t.text), 1))
                p.drawPolyline(polygon(steps_x, np.repeat(box.bottom() - one.moved / top * (box.height() - 2), 2)))
            if not one.gate:
                p.setPen(QPen(QColor(t.line), 1))
                draw_hair(p, QPointF(box.center().x(), box.top()), QPointF(box.center().x(), box.bottom()))
            p.setPen(QPen(QColor(ink), 1.4))
            if math.isfinite(one.mean):
                at = box.left() + (one.mean - one.edges[0]) / (one.edges[-1] - one.edges[0]) * box.width()
                draw_hair(p, QPointF(at, box.top()), QPointF(at, box.bottom()))
            p.setPen(QColor(t.muted))
            foot = QRectF(box.left(), box.bottom() + 1, box.width(), self.line())
            p.drawText(foot, LEFT, figure(float(one.edges[0])))
            p.drawText(foot, RIGHT, figure(float(one.edges[-1])))
            words = f"mean {figure(one.mean)}"
            ends = sum(metrics.horizontalAdvance(figure(float(e))) for e in (one.edges[0], one.edges[-1]))
            if metrics.horizontalAdvance(words) + 2 * ends + 12 < box.width() + ends:
                p.drawText(foot, CENTRE, words)

    def _index(self, at: QPointF) -> int | None:
        line = self.line()
        return next((k for k, b in enumerate(self.boxes()) if b.adjusted(0, -line, 0, line).contains(at)), None)

    def read(self, at: QPointF) -> str:
        k = self._index(at)
        if k is None:
            return ""
        one, box = self.counted[k], self.boxes()[k]
        words = f"{self._names[k]}: {figure(one.low)} to {figure(one.high)}, mean {figure(one.mean)}"
        if one.gate:
            words += f"\n{one.shut:.0%} shut (below 0.1), {one.open:.0%} open (above 0.9)"
        i = int((at.x() - box.left()) / box.width() * len(one.share))
        if 0 <= i < len(one.share):
            words += f"\n{one.share[i]:.2%} in {figure(float(one.edges[i]))} to {figure(float(one.edges[i + 1]))}"
        return words + "\nfilled: F(x), outline: F(ρ(g)x), upright line: the mean"

    def clicked_at(self, at: QPointF) -> None:
        k = self._index(at)
        if k is not None:
            self.clicked.emit(self.counted[k].name)

    def wheelEvent(self, event: Any) -> None:
        event.ignore()


class ForgettingChart(Chart):
    """Units sorted by how long they remember: 1 / gamma on a logarithmic axis, with the quartiles over the steps."""

    picked = Signal(int)

    def __init__(self, parent: Any = None) -> None:
        super().__init__(parent)
        self.found: list[tuple[Forgetting, str, str]] = []
        self.steps, self.unit = 1, None
        self.axis = True

    unit: int | None

    def show_found(self, found: list[tuple[Forgetting, str, str]], steps: int, unit: int | None) -> None:
        """Show (times, title, role) of each model; `steps` is the length of the recording."""
        self.found, self.steps, self.unit = found, steps, unit
        self.set_whole(0.0, float(max((len(f.times) for f, _, _ in found), default=1)))
        self.update()

    def _top(self) -> float:
        longest = max((float(f.times.max()) for f, _, _ in self.found if f.times.size), default=10.0)
        return 10.0 ** math.ceil(math.log10(max(10.0, min(LONGEST, max(longest, self.steps)))))

    def height_of(self, time: float) -> float:
        """Return where a forgetting time is drawn."""
        plot = self._drawn or self.plot()
        share = math.log10(max(1.0, min(time, self._top()))) / math.log10(self._top())
        return plot.bottom() - share * plot.height()

    def paint(self, p: QPainter, t: Theme) -> None:
        plot = self.plot()
        p.fillRect(plot, QColor(t.plot))
        decades = round(math.log10(self._top()))
        for k in range(decades + 1):
            y = self.height_of(10.0**k)
            p.setPen(QPen(faded(t.line, 150), 1))
            draw_hair(p, QPointF(plot.left(), y), QPointF(plot.right(), y))
            p.setPen(QColor(t.muted))
            p.drawText(QRectF(0, y - 10, plot.left() - 5, 20), RIGHT, power(10.0**k))
        y = self.height_of(self.steps)
        p.setPen(QPen(QColor(t.muted), 1, Qt.PenStyle.DashLine))
        draw_hair(p, QPointF(plot.left(), y), QPointF(plot.right(), y))
        p.drawText(QRectF(plot.left() + 6, y - 1, plot.width(), self.line()), LEFT, f"{self.steps} steps of x")
        parts: list[tuple[str, str, bool]] = []
        p.save()
        p.setClipRect(plot)
        for found, title, role in self.found:
            ink = getattr(t, role)
            n = len(found.times)
            x = np.array([self.x_of(i + 0.5) for i in range(n)])
            mid, low, high = (
                np.array([self.height_of(float(v)) for v in values]) for values in (found.times, found.low, found.high)
            )
            p.setPen(Qt.PenStyle.NoPen)
            p.setBrush(faded(ink, 50))
            p.drawPolygon(polygon(np.r_[x, x[::-1]], np.r_[low, high[::-1]]))
            p.setPen(QPen(QColor(ink), 1.3))
            p.setBrush(Qt.BrushStyle.NoBrush)
            p.drawPolyline(polygon(x, mid))
            p.setBrush(QColor(ink))
            p.setPen(Qt.PenStyle.NoPen)
            for i in range(n if n <= 256 else 0):
                at = QPointF(float(x[i]), float(mid[i]))
                p.drawEllipse(at, *((4.5, 4.5) if int(found.order[i]) == self.unit else (2.3, 2.3)))
            law = "γ = 1 − gate" if found.remembers else "γ = gate"
            middle = float(np.median(found.times)) if n else math.nan
            words = f"{title}: forgetting time 1/γ, {law}, median {figure(middle)} steps"
            if len(self.found) > 1:
                words = f"{title}: median 1/γ {figure(middle)} steps"
            parts.append((words, ink, True))
        p.restore()
        self.paint_frame(p, t)
        p.setPen(QColor(t.muted))
        foot = QRectF(plot.left(), plot.bottom() + 2, plot.width(), self.line())
        p.drawText(foot, LEFT, "units, sorted")
        self.paint_header(p, parts)

    def _at(self, at: QPointF) -> int | None:
        i = int(self.value_at(at.x()))
        return i if self.found and self.plot().contains(at) and 0 <= i < len(self.found[0][0].times) else None

    def under(self, at: QPointF | None) -> object:
        return None if at is None else self._at(at)

    def read(self, at: QPointF) -> str:
        i = self._at(at)
        if i is None:
            return ""
        lines = []
        for found, title, _ in self.found:
            if i < len(found.times):
                between = f"{figure(float(found.low[i]))} to {figure(float(found.high[i]))}"
                lines.append(
                    f"{title} unit {found.order[i]}: remembers {figure(float(found.times[i]))} steps "
                    f"(half of the time {between})"
                )
        return "\n".join(lines)

    def clicked_at(self, at: QPointF) -> None:
        if (i := self._at(at)) is not None:
            self.picked.emit(int(self.found[0][0].order[i]))
