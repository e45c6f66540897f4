"""The plane of codes: examples by class over a decoded grid, the input, its orbit, a walk, and a place to decode."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from explorer.square.analyses.latent.part import Latent
from widgets.base.look import theme
from widgets.base.look.theme import CLASSES
from widgets.base.text.words import figure
from widgets.charts.axis.axes import ValueAxis
from widgets.charts.inks import mixed
from widgets.charts.items.marks import DIAMOND, DOT, Marks, Target, fill, ink
from widgets.charts.library import pg
from widgets.charts.plot import Plot

REACH = 10.0  # pixels
SIZE = 5.0  # of an example
MOST_CLASSES = 12  # that are named above the plane
MARGIN = 0.04  # of the range, on each side
PAINT = 0.6  # of the text's colour: what is white in a picture, under the dots
SHADES = 256


class PlaneChart(Plot):
    """A click or a drag chooses a place; the mouse reads the nearest example."""

    chosen = Signal(float, float, bool)  # x, y, and whether the gesture is over
    resized = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, left=ValueAxis("left"), bottom=ValueAxis("bottom"))
        self.latent: Latent | None = None
        self.show_grid, self.show_points, self.show_names = True, True, True
        self.box.keep_round(True)
        self.box.setMouseEnabled(True, True)
        self.grid = self.add(pg.ImageItem(axisOrder="row-major"), -50)
        self.examples = self.add(Marks(symbol=DOT), 1)
        self.line = self.add(pg.PlotCurveItem(), 2)
        self.orbit = self.add(pg.PlotCurveItem(), 3)
        self.stations = self.add(Marks(symbol=DOT), 4)  # exact elements of the orbit
        self.law = self.add(Marks(symbol=DIAMOND, brush=None), 5)  # where the field says that they are
        self.here = self.add(Target(), 6)
        self.there = self.add(Target(), 7)
        self.place = self.add(Target("+"), 8)
        self.box.sigRangeChangedManually.connect(self._by_hand)
        self.dress()

    def _by_hand(self, *changed: Any) -> None:
        self._whole = False

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        if self._whole and hasattr(self, "place"):  # one scale for both axes: another shape shows another range
            self.box.autoRange()
        self.resized.emit()

    def show_latent(self, latent: Latent | None, moved: bool) -> None:
        """Show the codes; `moved` says whether the element is another one than the identity."""
        before, self.latent = self.latent, latent
        self._moved = moved
        if latent is None or not latent.ready:
            return
        p = latent.points
        fresh = before is None or before.points is not p or self._range is None
        all_ = p if latent.orbit is None else np.vstack([p, latent.orbit.path])
        low, high = all_.min(0), all_.max(0)
        # the way of a code comes later than the examples, and may lead beyond them
        beyond = not fresh and any(a < x0 or b > x1 for a, b, (x0, x1) in zip(low, high, self._range))
        if fresh or (beyond and self._whole):
            room = MARGIN * np.maximum(high - low, 1e-9)
            self._range = tuple(zip(low - room, high + room))
            (x0, x1), (y0, y1) = self._range
            self.set_ranges((float(x0), float(x1)), (float(y0), float(y1)))
            self._whole = True
            self.box.autoRange()
        self._draw()

    _moved = False
    _range: Any = None
    _whole = True  # nobody has zoomed or panned

    # drawing --------------------------------------------------------------------------------------------------
    def _draw(self) -> None:
        latent = self.latent
        if latent is None or not latent.ready:
            return
        t = theme.current()
        self.grid.setVisible(self.show_grid and latent.grid is not None)
        if latent.grid is not None:
            rows, columns, high, wide = latent.grid.shape
            mosaic = latent.grid.transpose(0, 2, 1, 3).reshape(rows * high, columns * wide)
            self.grid.setImage(mosaic[::-1], autoLevels=False, levels=(0.0, 1.0))
            left, right, bottom, top = latent.extent
            self.grid.setRect(QRectF(left, bottom, right - left, top - bottom))
        self.examples.setVisible(self.show_points)
        brushes = [fill(CLASSES[int(k) % len(CLASSES)]) for k in latent.labels]
        self.examples.setData(*latent.points.T, size=SIZE, brush=brushes, pen=ink(t.plot, 0.5))
        orbit = latent.orbit
        path = np.zeros((0, 2)) if orbit is None else np.vstack([orbit.path, orbit.path[:1]])
        self.orbit.setData(*path.T)
        exact = path[:-1][orbit.exact] if orbit is not None else path
        self.stations.set_marks(*exact.T, 8.0)
        law = orbit.expected[orbit.exact & np.isfinite(orbit.expected).all(1)] if orbit is not None else path
        self.law.set_marks(*law.T, 15.0)
        self.line.setData(*(latent.walk.line.T if latent.walk is not None else np.zeros((2, 0))))
        for item, at in (
            (self.here, latent.here),
            (self.there, latent.there if self._moved else None),
            (self.place, latent.choice.at if latent.picture is not None else None),
        ):
            item.setVisible(at is not None)
            if at is not None:
                item.setPos(float(at[0]), float(at[1]))
        self._write()

    def _write(self) -> None:
        latent, t = self.latent, theme.current()
        if latent is None or not latent.ready:
            self.header.write([])
            return
        if (self.bottom.end, self.left.end) != latent.axes:
            self.bottom.end, self.left.end = latent.axes
            for axis in (self.bottom, self.left):
                axis.redraw()
        title = (latent.title or "places of the input", t.text, True)
        self.header.write([title, *((name, ink, True) for name, ink in self.classes if self.show_names)])

    @property
    def classes(self) -> list[tuple[str, str]]:
        """Return the classes of the examples, with their colours; none where there is one alone, without a name."""
        if self.latent is None or not self.latent.ready:
            return []
        used = np.unique(self.latent.labels)
        named = used[:MOST_CLASSES] if self.latent.names or len(used) > 1 else ()
        return [(self._class(int(k)), CLASSES[int(k) % len(CLASSES)]) for k in named]

    def name_classes(self, elsewhere: bool) -> list[tuple[str, str]]:
        """Name the classes above the plane; where they have no room, and `elsewhere` they have, return them instead."""
        self.show_names = True
        self._write()
        self.show_names = self.header.whole or not elsewhere
        self._write()
        return [] if self.show_names else self.classes

    def dress(self) -> None:
        super().dress()
        if not hasattr(self, "place"):
            return
        t = theme.current()
        ground, paint = QColor(t.plot), mixed(t.text, t.plot, PAINT)
        ends = np.array([[c.red(), c.green(), c.blue(), 255] for c in (ground, paint)], float)
        share = np.linspace(0, 1, SHADES)[:, None]
        self.grid.setLookupTable(np.round((1 - share) * ends[0] + share * ends[1]).astype(np.uint8))
        self.orbit.setPen(ink(t.accent, 2.0))
        self.line.setPen(ink(t.second, 2.0))
        self.stations.setPen(ink(t.plot, 1.0))
        self.stations.setBrush(fill(t.accent))
        self.law.setPen(ink(t.good, 2.0))
        self.here.look(ink(t.text, 2.0), fill(t.plot), 13)
        self.there.look(ink(t.plot, 1.5), fill(t.accent), 13)
        self.place.look(ink(t.bad, 2.4), fill(t.bad), 16)
        self._draw()

    # the mouse ------------------------------------------------------------------------------------------------
    def _near(self, at: QPointF, place: Any) -> bool:
        unit = self.pixels()
        return bool(np.hypot((place[0] - at.x()) * unit.x(), (place[1] - at.y()) * unit.y()) <= REACH)

    def example_at(self, at: QPointF) -> int | None:
        """Return the example nearest to a position, None where none is near."""
        if self.latent is None or not self.latent.ready or not self.show_points:
            return None
        away = ((self.latent.points - [at.x(), at.y()]) ** 2).sum(1)
        nearest = int(away.argmin())
        return nearest if self._near(at, self.latent.points[nearest]) else None

    def read(self, at: QPointF) -> str:
        if self.latent is None or not self.latent.ready:
            return ""
        where = f"({figure(at.x())}, {figure(at.y())})"
        number = self.example_at(at)
        if number is None:
            return where
        kind = "example" if self.latent.title else "place"
        return f"{where}\n{kind} {number}: {self._class(int(self.latent.labels[number]))}"

    def _class(self, label: int) -> str:
        """Return the name of a class, or its number where it has none."""
        names = self.latent.names if self.latent is not None else ()
        return names[label] if label < len(names) else f"class {label}"

    def clicked_at(self, at: QPointF) -> None:
        self.chosen.emit(at.x(), at.y(), True)

    def grabbed(self, at: QPointF) -> bool:
        latent = self.latent
        places = [] if latent is None else [p for p in (latent.choice.at, latent.here) if p is not None]
        return any(self._near(at, p) for p in places)

    def dragged(self, at: QPointF, done: bool) -> None:
        self.chosen.emit(at.x(), at.y(), done)

    def numbers(self) -> dict[str, NDArray[Any]]:
        """Return what is drawn as named arrays."""
        return self.latent.numbers() if self.latent is not None and self.latent.ready else {}
