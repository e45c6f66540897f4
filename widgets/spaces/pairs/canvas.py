"""Pair matrices side by side: one zoom, one pointer and one selection for all; tiles come while the hand moves."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QWidget

from widgets.base.camera import Camera
from widgets.base.look.theme import current
from widgets.charts.items.marks import fill, ink
from widgets.charts.library import pg
from widgets.charts.scene.sheet import Sheet
from widgets.maps.diagram import DOT, Label, font
from widgets.spaces.pairs.panel import BAR, NEAREST, SMALL_TITLE, TITLE, Panel
from widgets.spaces.pairs.picture import Picture
from widgets.spaces.pairs.tiles import TileStore

BUDGET, IDLE_BUDGET = 0.008, 0.024  # seconds of a paint event that new tiles may take: in a gesture, after it
IDLE = 0.2  # seconds without a gesture
GAP, HEAD_GAP = 14.0, 8.0


class PairCanvas(Sheet):
    """Draws groups of panels; the panels of one group (heads) share a field of the row.

    Wheel: zoom about the cursor; with Shift: scroll. Drag: pan. Double-click: all of it again. A drag of a row's label
    onto another row is `dropped`.
    """

    picked = Signal(object, int, int)  # panel, row, column of a click
    pointed = Signal(object)  # (panel, row, column) under the cursor, (panel, row, None) on a label, or None
    dropped = Signal(object, int, int)  # panel, the row whose label was dragged, the row it was let go on

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAntialiasing(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.menu_asked: Callable[[Panel, QPoint], bool] = lambda panel, at: False  # whether one opens there
        self.groups: tuple[tuple[Panel, ...], ...] = ()
        self.pictures: list[Picture] = []  # of the panels, then spare ones
        self.headings: list[tuple[Panel, QRectF]] = []  # what stands above several heads, and where
        self._words: list[Label] = []
        self.camera = Camera(self)
        self.camera.changed.connect(self._move)
        self.store = TileStore()
        self.selected: tuple[int | None, int | None] = (None, None)
        self.hover: tuple[int, int] | None = None
        self._last_move = 0.0
        self.patient = False  # a figure waits for all tiles
        self.ratio = 0.0  # pixels of a figure's device to one of the widget; 0 for the screen's
        self._more = QTimer(self, singleShot=True, interval=0)
        self._more.timeout.connect(self.viewport().update)
        self._goal: pg.InfiniteLine | None = None  # the row that a label in the hand would go to
        self.scene().sigMouseClicked.connect(self._clicked)
        self.scene().sigPrepareForPaint.connect(self._fill)

    def minimumSizeHint(self) -> QSize:
        return QSize(90, 70)

    def sizeHint(self) -> QSize:
        return QSize(560, 220)

    @property
    def panels(self) -> list[Panel]:
        return [panel for group in self.groups for panel in group]

    @property
    def shown(self) -> list[Picture]:
        """Return the pictures of the panels."""
        return self.pictures[: len(self.panels)]

    @property
    def complete(self) -> bool:
        """Return whether every tile that is seen was drawn, and the sums."""
        return all(picture.complete for picture in self.shown)

    def show_panels(self, groups: Sequence[Sequence[Panel]]) -> None:
        """Show other panels; pictures of matrices that were there are kept."""
        self.groups = tuple(tuple(group) for group in groups)
        while len(self.pictures) < len(self.panels):
            self.pictures.append(self._make_picture())
        for picture in self.pictures[len(self.panels) :]:
            picture.setVisible(False)
        self.arrange()

    def _make_picture(self) -> Picture:
        picture = Picture(self.camera)
        picture.dragged.connect(lambda row, y, done: self._drag_label(picture, row, y, done))
        picture.box.asked = lambda at: self.menu_asked(picture.panel, at)
        self.addItem(picture)
        return picture

    def select(self, node: int | None, other: int | None) -> None:
        self.selected = (node, other)
        self.mark()

    def mark(self) -> None:
        """Mark the selection and what is under the cursor in every picture."""
        for picture in self.shown:
            picture.mark(self.selected, self.hover)

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
            for picture, panel in zip(self.pictures, self.panels):
                picture.selected, picture.hover = self.selected, self.hover
                picture.show_panel(panel)
        self._write_headings()
        self.viewport().update()

    def _write_headings(self) -> None:
        """Write once above the heads of a field what they are heads of."""
        while len(self._words) < len(self.headings):
            self._words.append(Label())
            self._words[-1].bold = True
            self.addItem(self._words[-1])
        for k, label in enumerate(self._words):
            label.setVisible(k < len(self.headings))
        for label, (panel, room) in zip(self._words, self.headings):
            label.dot = panel.role
            width = room.width() - (DOT if panel.role else 0.0)
            # in the middle: what tells fields apart is often at the end
            text = QFontMetricsF(font(12, bold=True)).elidedText(panel.heading, Qt.TextElideMode.ElideMiddle, width)
            label.set_text(text)
            label.place(QRectF(room.left(), room.top(), room.width(), 17))

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        if hasattr(self, "_goal"):
            self.arrange()

    def apply_theme(self) -> None:
        """Take the colours of the theme."""
        for picture in self.shown:
            picture.dress()
        self.viewport().update()

    # what is seen -----------------------------------------------------------------------------------------------
    def _fill(self) -> None:
        """Bring pictures up to date before they are painted."""
        now = time.perf_counter()
        budget = IDLE_BUDGET if now - self._last_move > IDLE else BUDGET
        until = math.inf if self.patient else now + budget
        self.store.begin()
        ratio = self.ratio or self.devicePixelRatioF()
        with np.errstate(all="ignore"):  # values that are no numbers are drawn, not complained of
            for picture in self.shown:
                picture.fill(self.store, ratio, until)
        if not self.complete:
            self._more.start()

    def _move(self) -> None:
        self._last_move = time.perf_counter()

    # where ------------------------------------------------------------------------------------------------------
    def picture_of(self, panel: Panel) -> Picture:
        """Return the picture of a panel."""
        return self.pictures[self.panels.index(panel)]

    def picture_at(self, point: QPointF) -> Picture | None:
        """Return the picture at a point."""
        return next((one for one in self.shown if one.panel.frame.contains(point)), None)

    def label_at(self, point: QPointF) -> tuple[Panel, int] | None:
        """Return the panel and the row whose label is at a point."""
        for picture in self.shown:
            row = picture.row_label_at(point)
            if row is not None:
                return picture.panel, row
        return None

    def point_of(self, panel: Panel, row: int, column: int) -> QPointF:
        """Return the middle of a cell, in the widget's coordinates."""
        return self.picture_of(panel).box.mapViewToScene(QPointF(column + 0.5, row + 0.5))

    # the mouse --------------------------------------------------------------------------------------------------
    def wheelEvent(self, event: Any) -> None:
        point = event.position()
        if self.picture_at(point) is None or event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
            return
        super().wheelEvent(event)
        self._point(point)

    def mouseMoveEvent(self, event: Any) -> None:
        super().mouseMoveEvent(event)
        if event.buttons() == Qt.MouseButton.NoButton:
            self._point(event.position())

    def leaveEvent(self, event: Any) -> None:
        super().leaveEvent(event)
        self.hover = None
        self.pointed.emit(None)
        self.mark()

    def _clicked(self, event: Any) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        point = event.scenePos()
        picture = self.picture_at(point)
        if event.double():
            self.camera.reset()
        elif picture is not None and (place := picture.place_at(point)) is not None:
            self.picked.emit(picture.panel, *place)

    def _point(self, at: QPointF) -> None:
        picture, label = self.picture_at(at), self.label_at(at)
        place = picture.place_at(at) if picture is not None else None
        self.hover = None
        if picture is not None and place is not None:
            row, column = (int(picture.panel.view.nodes[k]) for k in place)
            self.hover = (row, column)
            self.pointed.emit((picture.panel, *place))
        else:
            self.pointed.emit((*label, None) if label is not None else None)
        self.mark()

    def _drag_label(self, picture: Picture, row: int, y: float, done: bool) -> None:
        """Show where the label in the hand would go, `y` pixels below the top; tell when it is let go."""
        panel = picture.panel
        over = picture.row_at(y)
        if self._goal is not None:
            self.scene().removeItem(self._goal)
            self._goal = None
        if done:
            if over != row:
                self.dropped.emit(panel, row, over)
            return
        self._goal = pg.InfiniteLine(
            over + (over > row), angle=0, pen=ink(current().accent, 2.0),
            label=f"{panel.name(row)} → number {int(panel.view.numbers[over])}",
            labelOpts={"position": 0.02, "color": current().panel, "fill": fill(current().accent),
                       "anchors": [(0, 1), (0, 0)]},
        )  # fmt: skip
        picture.box.addItem(self._goal, ignoreBounds=True)

    def keyPressEvent(self, event: Any) -> None:
        if event.key() == Qt.Key.Key_Escape and self.camera.zoom > 1:
            self.camera.reset()
        else:
            event.ignore()  # the view has a further step back, or none


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
