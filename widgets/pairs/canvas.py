"""Pair matrices side by side: one zoom, one pointer and one selection for all; tiles come while the hand moves."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from widgets.base.theme import current
from widgets.maps.diagram import colour, font
from widgets.pairs.marks import paint_heading
from widgets.pairs.painting import paint_panel
from widgets.pairs.panel import BAR, NEAREST, SMALL_TITLE, TITLE, PairCamera, Panel
from widgets.pairs.tiles import TileStore

BUDGET, IDLE_BUDGET = 0.008, 0.024  # seconds of a paint event that new tiles may take: in a gesture, after it
IDLE = 0.2  # seconds without a gesture
CLICK = 4.0  # a press that moves less than this many pixels is a click
GAP, HEAD_GAP = 14.0, 8.0


class PairCanvas(QWidget):
    """Draws groups of panels; the panels of one group (heads) share a field of the row.

    Wheel: zoom about the cursor; with Shift: scroll. Drag: pan. Double-click: all of it again. A drag of a row's label
    onto another row is `dropped`.
    """

    picked = Signal(object, int, int)  # panel, row, column of a click
    pointed = Signal(object)  # (panel, row, column) under the cursor, (panel, row, None) on a label, or None
    dropped = Signal(object, int, int)  # panel, the row whose label was dragged, the row it was let go on
    left = Signal()  # Esc, with nothing to zoom out of

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.groups: tuple[tuple[Panel, ...], ...] = ()
        self.headings: list[tuple[Panel, QRectF]] = []  # what stands above several heads, and where
        self.camera = PairCamera(self)
        self.camera.changed.connect(self._moving)
        self.store = TileStore()
        self.selected: tuple[int | None, int | None] = (None, None)
        self.hover: tuple[int, int] | None = None
        self._last_move = 0.0
        self.patient = False  # a figure waits for all tiles
        self._more = QTimer(self, singleShot=True, interval=0)
        self._more.timeout.connect(self.update)
        self._press: QPointF | None = None
        self._camera_then = (1.0, 0.5, 0.5)
        self._moved = False
        self._held: tuple[Panel, int] | None = None  # the label in the hand
        self._over: int | None = None  # the row it would be let go on

    def minimumSizeHint(self) -> QSize:
        return QSize(90, 70)

    def sizeHint(self) -> QSize:
        return QSize(560, 220)

    @property
    def panels(self) -> list[Panel]:
        return [panel for group in self.groups for panel in group]

    @property
    def complete(self) -> bool:
        """Whether every tile that is seen was drawn, and the sums."""
        return all(panel.complete and not panel.waits for panel in self.panels)

    def show_panels(self, groups: Sequence[Sequence[Panel]]) -> None:
        """Show other panels; those of matrices that were there keep their pictures."""
        kept = {(panel.matrix.token, panel.head): panel.kept for panel in self.panels}
        self.groups = tuple(tuple(group) for group in groups)
        for panel in self.panels:
            panel.kept = kept.get((panel.matrix.token, panel.head))
        self._held = None
        self.arrange()

    def select(self, node: int | None, other: int | None) -> None:
        if self.selected != (node, other):
            self.selected = (node, other)
            self.update()

    # layout -----------------------------------------------------------------------------------------------------
    def arrange(self) -> None:
        """Give every panel its box: groups beside or above each other, whichever leaves the pictures larger."""
        many = len(self.groups)
        self.headings.clear()
        if many:
            room = QRectF(self.rect()).adjusted(10, 6, -6, -8)
            columns = max(range(1, many + 1), key=lambda c: _side(room, many, c))
            boxes = _shared(room, self.groups) if columns == many > 1 else _boxes(room, many, columns)
            for box, group in zip(boxes, self.groups):
                if len(group) == 1:
                    group[0].place(box)
                else:
                    self.headings.append((group[0], _place_heads(group, box)))
            largest = max(panel.matrix.n / panel.frame.width() for panel in self.panels)
            self.camera.most = max(1.0, NEAREST * largest)
        self.update()

    def resizeEvent(self, event: Any) -> None:
        self.arrange()

    # painting ---------------------------------------------------------------------------------------------------
    def paintEvent(self, event: Any) -> None:
        p = QPainter(self)
        p.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        p.setRenderHint(QPainter.RenderHint.TextAntialiasing)
        p.fillRect(self.rect(), QColor(current().panel))
        now = time.perf_counter()
        budget = IDLE_BUDGET if now - self._last_move > IDLE else BUDGET
        until = math.inf if self.patient else now + budget
        self.store.begin()
        try:
            with np.errstate(all="ignore"):  # values that are no numbers are drawn, not complained of
                for panel in self.panels:
                    paint_panel(p, panel, self.camera, self.store, self.selected, self.hover, until)
            for panel, room in self.headings:
                paint_heading(p, panel, room)
            self._paint_held(p)
        finally:
            p.end()
        if not self.complete:
            self._more.start()

    def _moving(self) -> None:
        self._last_move = time.perf_counter()
        self.update()

    def _paint_held(self, p: QPainter) -> None:
        """Draw the label in the hand, and where it would go."""
        if self._held is None or self._over is None or not self._moved:
            return
        panel, row = self._held
        goal = panel.rect(self._over, 0, self.camera)
        y = min(max(goal.bottom() if self._over > row else goal.top(), panel.frame.top()), panel.frame.bottom())
        p.setPen(QPen(colour("accent"), 2))
        p.drawLine(QPointF(panel.frame.left() - panel.left, y), QPointF(panel.frame.right(), y))
        text = f"{panel.name(row)} → number {int(panel.view.numbers[self._over])}"
        used = font(11, bold=True)
        p.setFont(used)
        box = QRectF(panel.frame.left() + 4, y - 22, QFontMetricsF(used).horizontalAdvance(text) + 14, 19)
        if box.top() < panel.frame.top():
            box.moveTop(y + 3)
        p.setPen(Qt.PenStyle.NoPen)
        p.setBrush(colour("accent"))
        p.drawRoundedRect(box, 4, 4)
        p.setPen(colour("panel"))
        p.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)

    # where ------------------------------------------------------------------------------------------------------
    def panel_at(self, point: QPointF) -> Panel | None:
        """Return the panel whose picture is at a point."""
        return next((panel for panel in self.panels if panel.frame.contains(point)), None)

    def label_at(self, point: QPointF) -> tuple[Panel, int] | None:
        """Return the panel and the row whose label is at a point."""
        for panel in self.panels:
            row = panel.row_label_at(point, self.camera)
            if row is not None:
                return panel, row
        return None

    def point_of(self, panel: Panel, row: int, column: int) -> QPointF:
        """Return the middle of a cell, in the widget's coordinates."""
        return panel.rect(row, column, self.camera).center()

    # the mouse --------------------------------------------------------------------------------------------------
    def wheelEvent(self, event: Any) -> None:
        point, keys = event.position(), event.modifiers()
        panel = self.panel_at(point)
        if panel is None or keys & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
            return
        down, right = event.angleDelta().y(), event.angleDelta().x()
        camera = self.camera
        if keys & Qt.KeyboardModifier.ShiftModifier or (right and not down):
            # Shift turns the wheel sideways on some systems already
            along = 0.15 / camera.zoom / 120
            sideways = keys & Qt.KeyboardModifier.AltModifier or (
                right and not keys & Qt.KeyboardModifier.ShiftModifier
            )
            by = (down or right) * along
            camera.set(camera.zoom, camera.x - (by if sideways else 0), camera.y - (0 if sideways else by))
        elif down:
            frame, corner = panel.frame, panel.corner(camera)
            whole = frame.width() * camera.zoom
            u, v = (point.x() - corner.x()) / whole, (point.y() - corner.y()) / whole
            zoom = min(max(camera.zoom * 1.25 ** (down / 120), 1.0), camera.most)
            away = (point - frame.center()) / (frame.width() * zoom)
            camera.set(zoom, u - away.x(), v - away.y())
        event.accept()
        self._point(point)

    def mousePressEvent(self, event: Any) -> None:
        if event.button() not in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            event.ignore()
            return
        self._press, self._moved = event.position(), False
        self._camera_then = (self.camera.zoom, self.camera.x, self.camera.y)
        self._held = self.label_at(self._press) if event.button() == Qt.MouseButton.LeftButton else None

    def mouseMoveEvent(self, event: Any) -> None:
        at = event.position()
        if self._press is None:
            self._point(at)
            return
        moved = at - self._press
        self._moved = self._moved or moved.manhattanLength() >= CLICK
        if not self._moved:
            return
        if self._held is not None:
            panel = self._held[0]
            inside = QPointF(panel.frame.left() - 1, min(max(at.y(), panel.frame.top()), panel.frame.bottom() - 1e-3))
            self._over = panel.row_label_at(inside, self.camera)
            self.update()
            return
        panel_or_none = self.panel_at(self._press)
        if panel_or_none is not None:
            zoom, x, y = self._camera_then
            whole = panel_or_none.frame.width() * zoom
            self.camera.set(zoom, x - moved.x() / whole, y - moved.y() / whole)

    def mouseReleaseEvent(self, event: Any) -> None:
        press, self._press = self._press, None
        held, self._held = self._held, None
        over, self._over = self._over, None
        if press is None:
            return
        if held is not None and self._moved:
            if over is not None and over != held[1]:
                self.dropped.emit(held[0], held[1], over)
            self.update()
            return
        panel = self.panel_at(event.position())
        if panel is None or self._moved or event.button() != Qt.MouseButton.LeftButton:
            return
        place = panel.place_at(event.position(), self.camera)
        if place is not None:
            self.picked.emit(panel, *place)

    def mouseDoubleClickEvent(self, event: Any) -> None:
        self.camera.reset()

    def leaveEvent(self, event: Any) -> None:
        self.hover = None
        self.pointed.emit(None)
        self.update()

    def _point(self, at: QPointF) -> None:
        panel, label = self.panel_at(at), self.label_at(at)
        self.setCursor(Qt.CursorShape.OpenHandCursor if label else Qt.CursorShape.ArrowCursor)
        place = panel.place_at(at, self.camera) if panel is not None else None
        before = self.hover
        if panel is not None and place is not None:
            row, column = (int(panel.view.nodes[k]) for k in place)
            self.hover = (row, column)
            self.pointed.emit((panel, *place))
        elif label is not None:
            self.hover = None
            self.pointed.emit((*label, None))
        else:
            self.hover = None
            self.pointed.emit(None)
        if self.hover != before:
            self.update()

    def keyPressEvent(self, event: Any) -> None:
        if event.key() != Qt.Key.Key_Escape:
            event.ignore()
        elif self.camera.zoom > 1:
            self.camera.reset()
        else:
            self.left.emit()


def _side(room: QRectF, many: int, columns: int) -> float:
    """Return how large a square each of many has in so many columns."""
    rows = -(-many // columns)
    wide, high = (room.width() - GAP * (columns - 1)) / columns, (room.height() - GAP * (rows - 1)) / rows
    return min(wide, high + 30)  # beside a picture stand its labels and its bar, above it less


def _shared(room: QRectF, groups: Sequence[Sequence[Panel]]) -> list[QRectF]:
    """Return boxes beside each other: a matrix alone has what it can use of the height, heads have the rest."""
    free = room.width() - GAP * (len(groups) - 1)
    needs = [
        # one alone has names and its bar beside it; heads need no more than all of them in one row
        room.height() + 110 if len(group) == 1 else len(group) * (room.height() - TITLE + HEAD_GAP) + BAR
        for group in groups
    ]
    equal = free / len(groups)
    over = [max(0.0, need - equal) for need in needs]
    spare = sum(max(0.0, equal - need) for need in needs)
    share = min(1.0, spare / sum(over)) if sum(over) else 0.0
    widths = [min(need, equal) + share * more for need, more in zip(needs, over)]
    left = max(0.0, free - sum(widths)) / len(groups)
    boxes, x = [], room.left()
    for width in widths:
        boxes.append(QRectF(x, room.top(), width + left, room.height()))
        x += width + left + GAP
    return boxes


def _place_heads(group: Sequence[Panel], box: QRectF) -> QRectF:
    """Lay heads out in as many columns as leave them largest, close to each other; return the room above them."""
    above = QRectF(box.left(), box.top(), box.width(), TITLE)
    inner = box.adjusted(0, TITLE, -BAR, 0)
    many = len(group)

    def side(columns: int) -> float:
        rows = -(-many // columns)
        wide = (inner.width() - HEAD_GAP * (columns - 1)) / columns
        return min(wide, (inner.height() - HEAD_GAP * (rows - 1)) / rows - SMALL_TITLE)

    columns = max(range(1, many + 1), key=side)
    across = max(8.0, side(columns))
    for k, panel in enumerate(group):
        x = inner.left() + (k % columns) * (across + HEAD_GAP)
        y = inner.top() + (k // columns) * (across + SMALL_TITLE + HEAD_GAP)
        panel.place(QRectF(x, y, across, across + SMALL_TITLE))
        panel.bar = BAR if k == min(columns, many) - 1 else 0.0  # one scale for all heads, beside the first row
    return above


def _boxes(room: QRectF, many: int, columns: int) -> list[QRectF]:
    rows = -(-many // columns)
    wide, high = (room.width() - GAP * (columns - 1)) / columns, (room.height() - GAP * (rows - 1)) / rows
    return [
        QRectF(room.left() + (k % columns) * (wide + GAP), room.top() + (k // columns) * (high + GAP), wide, high)
        for k in range(many)
    ]
