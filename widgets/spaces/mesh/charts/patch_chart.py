"""The surroundings of a vertex unrolled by its log map: what it sees, in its own frame, on both sides of the square."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from widgets.base.look import theme
from widgets.charts.inks import mixed
from widgets.charts.items.header import Header
from widgets.charts.items.marks import DOT, Marks, fill, ink
from widgets.charts.library import pg
from widgets.charts.round_plot import Disc, RoundPlot, circles
from widgets.spaces.mesh.charts.patch_geometry import PatchLook, edges_in, faces_near, raster

HIT = 12.0  # pixels from a vertex at which it is meant
SOFTEST, MOST = 0.05, 40.0  # zooms
AXIS = 0.34  # length of an axis, of the radius
RIM = 1.01  # of the radius: the rim is seen
TIP = np.array([[-7.0, 4.0], [0.0, 0.0], [-7.0, -4.0]])  # pixels of an arrow's head
NOWHERE = np.zeros(0)


class PatchPanel(RoundPlot):
    """One patch. Things in it are items in a disc, in units of the mesh in the frame of the vertex."""

    meant = Signal(object)  # the number on x of the vertex under the mouse, or None
    picked = Signal(int)
    turned = Signal(float)  # the zoom is to be so many times as close
    rewound = Signal()  # back to what was shown first

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.look: PatchLook | None = None
        self.hot: int | None = None
        self._kept: tuple[Any, ...] = ()
        self.disc, self.rim = self.add(Disc()), self.add(pg.PlotCurveItem(), 1)
        self.surface = self.disc.add(pg.ImageItem(), 0)
        self.wires = self.disc.add(pg.PlotCurveItem(connect="pairs"), 1)
        self.rays = self.disc.add(pg.PlotCurveItem(connect="finite"), 2)
        self.meets = self.disc.add(Marks(symbol=DOT, size=5), 3)
        self.exact = self.disc.add(pg.PlotCurveItem(), 4)
        self.others = [self.disc.add(pg.PlotCurveItem(), 5) for _ in "XY"]  # axes of the other side of the square
        self.axes = [self.disc.add(pg.PlotCurveItem(connect="finite"), 6) for _ in "XY"]
        self.grounds = self.disc.add(Marks(symbol=DOT, size=15, pen=None), 7)
        self.names = [self.disc.add(pg.TextItem(name, anchor=(0.5, 0.5)), 8) for name in "XY"]
        self.middle = self.disc.add(Marks([0.0], [0.0], symbol=DOT, size=11), 9)
        self.rings = [self.disc.add(Marks(symbol=DOT, brush=None), z) for z in (10, 11)]  # the halo, the ring
        self.footer = Header()
        self.item.layout.addItem(self.footer, 4, 1)
        self.set_fonts()
        self.dress()

    def show_look(self, look: PatchLook, radius: float, note: str) -> None:
        self.look, self.message = look, ""
        t = theme.current()
        self.header.write([(look.title, t.text, True)])
        self.footer.write([(note, t.muted, False)])
        self.set_radius(radius)
        self._update()

    def set_radius(self, radius: float) -> None:
        """Show the patch up to a radius."""
        self.set_ranges((-RIM * radius, RIM * radius), (-RIM * radius, RIM * radius))

    @property
    def shown(self) -> float:
        """Return up to which radius the patch is shown."""
        return self.box.whole[0][1] / RIM

    # drawing --------------------------------------------------------------------------------------------------
    def _update(self) -> None:
        """Hand to the items what does not depend on pixels."""
        look = self.look
        if look is None:
            return
        angles = np.arange(look.rays) * (2 * np.pi / max(1, look.rays))
        radii = look.reach * np.arange(1, look.rings + 1) / max(1, look.rings)
        ways = np.stack([np.cos(angles), np.sin(angles)], 1)
        # the frame's own X points to the right, so these do not turn with the surface
        spokes = np.pad(np.stack([0 * ways, ways * look.reach], 1), ((0, 0), (0, 1), (0, 0)), constant_values=np.nan)
        x, y = circles(radii) if look.rays else (NOWHERE, NOWHERE)
        there = bool(look.rings and look.rays)
        self.rays.setVisible(there)
        self.meets.setVisible(there)
        if there:
            ends = spokes.reshape(-1, 2)
            self.rays.setData(np.append(x, ends[:, 0]), np.append(y, ends[:, 1]))
            self.meets.setData(*(radii[:, None, None] * ways).reshape(-1, 2).T)
        for line in self.others:
            line.setVisible(look.other is not None)
        self._place()

    def _place(self) -> None:
        """Draw what depends on pixels: the picture of the surface, its wires, and arrows."""
        look, shown = self.look, self.shown
        if look is None:
            return
        self.disc.set_radius(shown)
        self.rim.setData(*circles([shown]))
        self.exact.setVisible(bool(look.exact < shown))
        if look.exact < shown:
            self.exact.setData(*circles([look.exact]))
        pixel = 1 / max(self.pixels().x(), 1e-9)
        for frame, lines, dotted in ((look.frame, self.axes, False), (look.other, self.others, True)):
            for k, line in enumerate(lines if frame is not None else ()):
                way = np.asarray(frame)[:, k]
                head = way * AXIS * shown + pixel * TIP @ np.array([way, [-way[1], way[0]]])
                gap = np.full((1, 2), np.nan)
                points = np.concatenate([[0 * way, way * AXIS * shown], gap, head][: 1 if dotted else 3])
                line.setData(points[:, 0], points[:, 1])
        spots = look.frame.T * (AXIS * shown + 10 * pixel)
        self.grounds.setData(*spots.T)
        for name, spot in zip(self.names, spots):
            name.setPos(*spot)
        self._draw_surface(look, shown, pixel)
        self.point_at(self.hot)

    def _draw_surface(self, look: PatchLook, shown: float, pixel: float) -> None:
        """Draw the colours and edges of triangles, which stay until something in them changes."""
        ratio = self.devicePixelRatioF()
        side = max(8, round(2 * shown / pixel * ratio))
        kept = (look.places, look.faces, look.colours, shown, side)
        if len(self._kept) == 5 and all(a is b or (isinstance(a, int | float) and a == b)
                                        for a, b in zip(kept, self._kept)):  # fmt: skip
            return
        self._kept = kept
        faces = faces_near(look.places, look.faces, shown)
        picture = raster(side / 2 + look.places * (side / 2 / shown), faces, look.colours, side)
        away = np.abs(np.arange(side) + 0.5 - side / 2) * 2 / side
        picture[np.hypot(away, away[:, None]) > 1 + 2 / side, 3] = 0  # also for readers of files who do not cut off
        self.surface.setImage(picture, autoLevels=False, levels=None)
        self.surface.setRect(-shown, -shown, 2 * shown, 2 * shown)
        fine = bool(len(faces) and 2 * shown / pixel / np.sqrt(len(faces)) >= 3)  # not too many to be told apart
        self.wires.setVisible(fine)
        if fine:
            self.wires.setData(*edges_in(look.places, faces, shown).reshape(-1, 2).T)

    def point_at(self, vertex: int | None) -> None:
        """Outline a vertex of x."""
        self.hot = vertex
        places = self.look.places if self.look is not None and vertex is not None else np.zeros((0, 2))
        spot = places[vertex or 0 : (vertex or 0) + 1]
        spot = spot[np.isfinite(spot).all(1)]
        for ring in self.rings:
            ring.set_marks(*spot.T, 15.0)

    def reshaped(self) -> None:
        if hasattr(self, "footer"):
            self._place()

    def set_fonts(self) -> None:
        super().set_fonts()
        if hasattr(self, "footer"):
            self.footer.set_font(self.small())
            bold = self.small()
            bold.setBold(True)
            for name in self.names:
                name.setFont(bold)

    def dress(self) -> None:
        super().dress()
        if not hasattr(self, "footer"):
            return
        t = theme.current()
        self.disc.dress(QColor(t.raised))
        self.rim.setPen(ink(t.line))
        self.wires.setPen(ink(t.muted, alpha=115))
        self.rays.setPen(ink(t.first, 1.0))
        self.rays.setShadowPen(ink(t.plot, 2.6, 150))
        self.meets.setPen(ink(t.plot, 0.8))
        self.meets.setBrush(fill(t.first))
        self.exact.setPen(ink(t.bad, 1.5, style=Qt.PenStyle.DashLine))
        for k, own in enumerate((t.second, t.good)):
            self.axes[k].setPen(ink(own, 2.2))
            self.axes[k].setShadowPen(ink(t.plot, 4.2))
            self.others[k].setPen(ink(own, 2.2, style=Qt.PenStyle.DotLine))
            self.names[k].setColor(own)
        self.grounds.setBrush(fill(t.plot, 200))
        self.middle.setPen(ink(t.plot, 1.5))
        self.middle.setBrush(fill(mixed(t.accent, t.text, 0.9).name()))
        for ring, pen in zip(self.rings, (ink(t.plot, 4.5), ink(t.accent, 2.0))):
            ring.setPen(pen)
        if self.look is not None:
            self.header.write([(self.look.title, t.text, True)])
            self.footer.write([(text, t.muted, False) for text, _, _ in self.footer.parts])

    # hands ----------------------------------------------------------------------------------------------------
    def nearest(self, at: QPointF | None) -> int | None:
        """Return the vertex of x near a position, or None."""
        if at is None or self.look is None or np.hypot(at.x(), at.y()) > self.shown:
            return None
        away = np.linalg.norm(self.look.places - [at.x(), at.y()], axis=1) * self.pixels().x()
        away = np.where(np.isfinite(away), away, np.inf)
        return int(away.argmin()) if len(away) and away.min() <= HIT else None

    def pointed(self, at: QPointF | None) -> None:
        self.meant.emit(self.nearest(at))

    def clicked_at(self, at: QPointF) -> None:
        if (vertex := self.nearest(at)) is not None:
            self.picked.emit(vertex)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        super().mouseDoubleClickEvent(event)
        self.rewound.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        turns = event.angleDelta().y() / 120
        if self.message or not turns:
            event.ignore()
            return
        self.turned.emit(1.2**turns)
        event.accept()


class PatchChart(QWidget):
    """One or two patches side by side. The wheel zooms all, a double click shows what was shown first."""

    pointed = Signal(object)  # the number on x of the vertex under the mouse, or None
    picked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.looks: tuple[PatchLook, ...] = ()
        self.radius, self.zoom = 1.0, 1.0
        self.notes: tuple[str, ...] = ()  # below the patches
        self.hot: int | None = None
        self.panels = (PatchPanel(self), PatchPanel(self))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        for panel in self.panels:
            row.addWidget(panel)
            panel.meant.connect(self._mean)
            panel.picked.connect(self.picked)
            panel.turned.connect(lambda times: self.set_zoom(self.zoom * times))
            panel.rewound.connect(lambda: self.set_zoom(1.0))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)

    def sizeHint(self) -> QSize:
        return QSize(220 * max(1, len(self.looks)), 220)

    def minimumSizeHint(self) -> QSize:
        return QSize(140 * max(1, len(self.looks)), 110)

    @property
    def message(self) -> str:
        """Return what is said instead of a patch."""
        return self.panels[0].message

    def show_looks(self, looks: Sequence[PatchLook], radius: float, message: str = "") -> None:
        """Show patches up to a radius in units of the mesh, or say why there is none."""
        self.looks, self.radius = tuple(looks), radius
        self.panels[0].message = message
        self.panels[1].setVisible(len(looks) > 1)
        notes = (*self.notes, "") if len(looks) > 1 else (" · ".join(self.notes),)
        for panel, look, note in zip(self.panels, looks, notes):
            panel.show_look(look, self.shown(), note)
        self.updateGeometry()

    def shown(self) -> float:
        """Return the radius of the discs in units of the mesh."""
        return self.radius / self.zoom

    def set_zoom(self, zoom: float) -> None:
        self.zoom = min(max(zoom, SOFTEST), MOST)
        for panel in self.panels:
            panel.set_radius(self.shown())

    def point_at(self, vertex: int | None) -> None:
        """Outline a vertex of x."""
        if vertex != self.hot:
            self.hot = vertex
            for panel in self.panels:
                panel.point_at(vertex)

    def dress(self) -> None:
        """Take the colours of the theme."""
        for panel in self.panels:
            panel.dress()

    def _mean(self, vertex: int | None) -> None:
        if vertex != self.hot:
            self.point_at(vertex)
            self.pointed.emit(vertex)
