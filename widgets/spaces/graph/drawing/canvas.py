"""The canvas of graphs: panels that share one eye, drawn from arrays, and moved by hand.

On screen a panel is kept as a picture somewhat larger than itself: panning and zooming move the picture, and it is
painted anew when the hand rests. Pictures of large graphs are painted beside the window, the one before staying until
then. Files get lines, discs and text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent, QFontMetricsF, QKeyEvent, QMouseEvent, QPaintEngine, QPainter, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from widgets.base.look import theme
from widgets.spaces.graph.drawing.board import HEADER, Cell, GraphBoard, arrange
from widgets.spaces.graph.drawing.geometry import (
    SAMPLES,
    Eye,
    Strands,
    beside_in,
    edge_under,
    fitted,
    inside,
    margin_in,
    node_radius,
    node_under,
    room_between,
    strands,
)
from widgets.spaces.graph.drawing.ground import Ground
from widgets.spaces.graph.drawing.legend import LINE
from widgets.spaces.graph.drawing.look import Legend, Panel
from widgets.spaces.graph.drawing.pictures import Picture, Pictures, painted

Array = NDArray[Any]
MARGIN = 0.3  # of a panel that its picture is larger on each side
REST_MS = 90  # after which a hand that does not move rests
HEAVY = 1200  # nodes or lines from which a picture is painted beside the window
HOVERED = 60_000  # lines up to which the one under the cursor is looked for
STRETCH = 1.4  # at most, of a layout, to fill a panel
LABELLED = 100  # nodes up to which there is room for the numbers of the outermost ones
DRAG = 4.0  # pixels from which a press is a drag
ALT, SHIFT = Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ShiftModifier
LEFT, MIDDLE = Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton


class GraphCanvas(QWidget):
    """Shows rows of panels. What hands do is told by signals; only the eye and the lasso are its own."""

    pointed = Signal(object)  # ("node", i), ("edge", line) or None
    clicked = Signal(object)  # the same, None for the empty ground
    menu_asked = Signal(object, int, QPoint)  # the same with the other button, in which row, and where on screen
    swapped = Signal(int, int)  # a node dragged onto another, to be relabelled
    dropped = Signal(int, object)  # a node and the place (x, y) it was moved to
    released = Signal(int)  # a pinned node was double-clicked
    chosen = Signal(object)  # nodes in the lasso, an array

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.message = ""  # shown in place of panels
        self.panels: list[list[Panel]] = []  # one row a model
        self.heads: list[str] = []  # of the rows, when there are several
        self.places: Array | None = None
        self.lines = strands(np.zeros((2, 0), np.int64), True)
        self.legend = Legend()
        self.eye = Eye()
        self.given = False  # whether the places come with the data: they are not stretched
        self.touched = False  # whether the eye is where the person put it
        self.selected: int | None = None
        self.hot: tuple[str, int] | None = None  # under the cursor
        self.relabel = False
        self.chip = ""  # read-out of the lasso
        self.names: Sequence[str] = ()
        self.labels = "number"
        self.directed = self.arrows = False
        self.pins: tuple[int, ...] = ()
        self.inside: Array = np.zeros(0, np.int64)
        self.hulls: list[tuple[Array, str]] = []
        self.graphs: list[Array] = []  # members of each graph of a batch
        self._rank: Array = np.zeros(0, np.int64)
        self._stamp = 0
        self.waiting = "", ""  # what is said while there are no places: a title and a line below it
        self.status = ""  # said in a corner: what the places are that are not yet, or not at all, those of a layout
        self.board = GraphBoard(self)
        self.pictures = Pictures(self)
        self.pictures.ready.connect(self.update)
        self._shared: dict[str, tuple[object, Any]] = {}
        self._span: tuple[Array | None, Any, float] = None, ((0.0, 0.0), (0.0, 0.0)), math.inf
        self._press: QPointF | None = None
        self._last = QPointF()
        self._act = ""  # "pan", "node", "lasso" or "swap" while a button is down
        self._node: int | None = None
        self._moved = False
        self._lasso: list[QPointF] = []
        self._cell: QRectF | None = None  # that of the press
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(720, 480)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, 100)

    # what is shown ----------------------------------------------------------------------------------------------
    def show_panels(self, rows: list[list[Panel]], heads: list[str], legend: Legend) -> None:
        self.panels, self.heads, self.legend = rows, heads, legend
        self.redraw()

    def set_graph(self, places: Array | None, lines: Strands, rank: Array | None = None) -> None:
        """Take the places of the nodes, the lines between them and the nodes in the order in which they get labels."""
        self.places, self.lines = places, lines
        self._rank = self._rank if rank is None else rank
        if not self.touched:
            self.fit()
        self.redraw()

    def redraw(self) -> None:
        """Paint everything anew: what is kept no longer holds."""
        self._stamp += 1
        self.update()

    def forget(self) -> None:
        """Let go of all pictures: another graph comes."""
        self.pictures.forget()
        self._shared.clear()

    @property
    def heavy(self) -> bool:
        return max(len(self.lines.start), 0 if self.places is None else len(self.places)) > HEAVY

    def _bounds(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the least and the greatest of all places."""
        if self._span[0] is not self.places:
            at = self.places if self.places is not None and len(self.places) else np.zeros((1, 2))
            low, high = ((float(f(at[:, 0])), float(f(at[:, 1]))) for f in (np.min, np.max))
            kept = self._act == "node"
            self._span = self.places, (low, high), self._span[2] if kept else room_between(at, self.pins, self.lines)
        return self._span[1]

    def _extent(self) -> tuple[float, float]:
        """Return the width and the height of all places."""
        low, high = self._bounds()
        return max(high[0] - low[0], 1e-3), max(high[1] - low[1], 1e-3)

    def fit(self) -> None:
        self.touched = False
        cells = self.cells()
        if self.places is not None and cells:
            box = cells[0][2]
            more = 18.0 * self.lines.loops, 8.0 * bool(self.hulls), 14.0 * bool(self.graphs)
            labelled = self.labels != "none" and len(self.places) <= LABELLED
            label = QFontMetricsF(self.font()).horizontalAdvance(str(len(self.places) - 1)) if labelled else 0.0
            margin = margin_in(box.width(), box.height(), labelled, *more)
            wide = box.width() - 2 * beside_in(box.width(), margin, label)
            self.eye = fitted(*self._bounds(), wide, box.height(), margin, 1.0 if self.given else STRETCH)
        self.update()

    def points(self, box: QRectF) -> Array:
        """Return where the nodes are in the widget, in that panel."""
        assert self.places is not None
        return self.eye.screen(self.places, box.width(), box.height()) + np.array([box.x(), box.y()])

    def node_at(self, node: int, row: int = 0, column: int = 0) -> QPointF:
        """Return where a node is in the widget."""
        box = next(b for r, c, b in self.cells() if (r, c) == (row, column))
        assert self.places is not None
        x, y = self.eye.screen(self.places[node : node + 1], box.width(), box.height())[0]
        return QPointF(box.x() + x, box.y() + y)

    @property
    def radius(self) -> float:
        (across, up), nodes = self._extent(), 0 if self.places is None else len(self.places)
        more = max(self.eye.wide, 1 / self.eye.wide)
        return node_radius(nodes, across * more, up, self.eye.scale, self._span[2])

    def cells(self) -> list[tuple[int, int, QRectF]]:
        """Return row, column and place of each panel (without its header)."""
        return arrange(self._aspect(), [len(row) for row in self.panels], self.width(), self.height(), HEADER, LINE)[0]

    def _legend_box(self) -> QRectF:
        return arrange(self._aspect(), [len(row) for row in self.panels], self.width(), self.height(), HEADER, LINE)[1]

    def _aspect(self) -> float:
        across, up = self._extent() if self.places is not None and len(self.places) > 1 else (1.3, 1.0)
        return min(max(across / up, 0.4), 2.5)

    # painting ---------------------------------------------------------------------------------------------------
    def paintEvent(self, event: Any) -> None:
        p = QPainter(self)
        turn = p.deviceTransform()
        direct = p.paintEngine().type() != QPaintEngine.Type.Raster or turn.m11() != self.devicePixelRatio()
        self._place(direct)
        self.board.draw(p, QRectF(self.rect()))

    def _place(self, direct: bool) -> None:
        """Place all items; graphs are pictures unless they are wanted `direct`, as lines and text."""
        rect = QRectF(self.rect())
        if self.message or not self.panels or self.places is None:
            said = self.message or self.pictures.trouble
            self.board.say((said, "") if said else self.waiting, rect)
            return
        self.board.say(None, rect)
        cells = self.cells()
        with self.board.cells as pool:
            for row, column, box in cells:
                cell, panel = pool.take(), self.panels[row][column]
                cell.show_panel(panel, self.heads[row] if self.heads and column == 0 else "", box)
                if panel.empty:
                    cell.say(panel.empty)
                elif direct:
                    cell.show_graph(self._ground(box.width(), box.height(), 2.0), panel)
                else:
                    self._place_kept(cell, row, column, box)
                led = self._act == "swap" and self._node is not None and self._cell == box and self._moved
                swap = (self._node, self._last) if led and self._node is not None else None
                points = self.points(box) if self.hot is not None else np.zeros((0, 2))
                cell.show_target(points, self.lines, self.hot, self.radius, swap)
        self.board.legend.show_legend(self.legend, self._legend_box())
        self.board.show_lasso(self._lasso if self._act == "lasso" else [])
        self.board.show_chips(cells[0][2] if cells else rect, self.chip, self.status)

    def _place_kept(self, cell: Cell, row: int, column: int, box: QRectF) -> None:
        """Show the picture that is kept of a panel, moved to where the eye is; have it painted if it is of no use."""
        ratio, panel = self.devicePixelRatio(), self.panels[row][column]
        mx, my = round(box.width() * MARGIN), round(box.height() * MARGIN)
        key = (self._stamp, box.width(), box.height(), ratio, theme.current().name)
        hurried, slot = self._rest.isActive(), (row, panel.side)
        kept = self.pictures.kept.get(slot)
        right = kept is not None and kept.key == key and (hurried or not kept.coarse)
        if kept is not None and right and kept.eye != self.eye:
            x, y = map(abs, self.eye.shift(kept.eye))
            right = hurried and ((x <= mx and y <= my) or self.eye.scale != kept.eye.scale)
            right = right and self.eye.wide == kept.eye.wide
        if not right:
            size = box.width() + 2 * mx, box.height() + 2 * my
            eye, ground, colour = self.eye, self._ground(*size, ratio, hurried), theme.current().plot
            ground.beyond = float(mx), float(my)

            def make() -> Picture:
                return Picture(key, eye, painted(ground, panel, colour), size, hurried)

            if self.heavy:
                ground.kept = self.pictures.shared
                self.pictures.ask(slot, key, eye, make)
            else:
                kept = self.pictures.kept[slot] = make()
        if kept is None:
            cell.say(self.pictures.trouble or "Drawing\N{HORIZONTAL ELLIPSIS}")
            return
        grown = self.eye.scale / kept.eye.scale
        shift = QPointF(*self.eye.shift(kept.eye))
        width, height = kept.size[0] * grown, kept.size[1] * grown
        corner = box.center() + shift - QPointF(width / 2, height / 2)
        place = QRectF(corner, QPointF(corner.x() + width, corner.y() + height))
        if grown == 1.0:  # pixel on pixel
            place = QRectF(QPointF(round(corner.x()), round(corner.y())), kept.image.deviceIndependentSize())
        cell.show_picture(kept.image, place)

    def _ground(self, width: float, height: float, ratio: float, hurried: bool = False) -> Ground:
        assert self.places is not None
        return Ground(
            self.eye, self.places, self.lines, width, height, self.radius, self.directed, self.arrows, self.names,
            self.labels, self.selected, self.pins, self.inside, self.hulls, self.graphs, self._rank, ratio,
            theme.current().name, SAMPLES // 6 if hurried else SAMPLES, self._shared,
        )  # fmt: skip

    # hands ------------------------------------------------------------------------------------------------------
    def under(self, at: QPointF) -> tuple[str, int] | None:
        """Return what is at a point of the widget: ("node", i), ("edge", line) or None."""
        box = self._cell_at(at)
        if box is None or self.places is None:
            return None
        spot = at.x() - box.x(), at.y() - box.y()
        place = self.eye.world(spot, box.width(), box.height())
        node = node_under(self.places, place, self.eye, max(self.radius, 2.0) + 3.0)
        if node is not None:
            return "node", node
        if len(self.lines.start) > HOVERED:
            return None
        line = edge_under(self.points(box), self.lines, (at.x(), at.y()), self.radius)
        return None if line is None else ("edge", line)

    def _cell_at(self, at: QPointF) -> QRectF | None:
        return next((box for _, _, box in self.cells() if box.contains(at)), None)

    def _place_of(self, at: QPointF) -> tuple[float, float]:
        box = self._cell or QRectF(self.rect())
        return self.eye.world((at.x() - box.x(), at.y() - box.y()), box.width(), box.height())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = event.position()
        self._cell = self._cell_at(at)
        if self._cell is None or event.button() not in (LEFT, MIDDLE):
            return
        self._press, self._last, self._moved = at, at, False
        found = self.under(at) if event.button() == LEFT else None
        self._node = found[1] if found is not None and found[0] == "node" else None
        if event.button() == LEFT and event.modifiers() & SHIFT:
            self._act, self._lasso = "lasso", [at]
        elif self._node is not None and (self.relabel or event.modifiers() & ALT):
            self._act = "swap"
        else:
            self._act = "pan" if self._node is None else "node"

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at = event.position()
        if self._press is None:
            self._point(at)
            return
        step, self._last = at - self._last, at
        away = at - self._press
        if not self._moved and abs(away.x()) + abs(away.y()) < DRAG:
            return
        if not self._moved and self._act == "pan":
            step = away
        self._moved = True
        match self._act:
            case "pan":
                self.eye, self.touched = self.eye.panned(step.x(), step.y()), True
                self.setCursor(Qt.CursorShape.ClosedHandCursor)
                self._rest.start()
            case "node":
                if self.places is not None and self._node is not None:
                    self.places = self.places.copy()
                    self.places[self._node] = self._place_of(at)
                    if len(self.lines.start) < 3000:
                        self.redraw()  # of a large graph the picture follows when the hand lets go
                    self.hot = ("node", self._node)
            case "lasso":
                self._lasso.append(at)
            case "swap":
                self._point(at)
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._press is None:
            return
        act, node, at, moved = self._act, self._node, event.position(), self._moved
        press, self._press, self._act = self._press, None, ""
        self.unsetCursor()
        if act == "lasso":
            self._choose(moved)
        elif not moved and event.button() == LEFT:
            self.clicked.emit(self.under(press))
        elif act == "node" and moved and node is not None:
            self.dropped.emit(node, self._place_of(at))
        elif act == "swap" and node is not None:
            found = self.under(at)
            if found is not None and found[0] == "node" and found[1] != node:
                self.swapped.emit(node, found[1])
        self.update()

    def _choose(self, moved: bool) -> None:
        box, corners = self._cell, np.array([[q.x(), q.y()] for q in self._lasso])
        self._lasso = []
        if box is None or not moved or self.places is None:
            found = np.zeros(0, np.int64)
        else:
            found = np.flatnonzero(inside(self.points(box), corners))
        self.chosen.emit(found)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        at = QPointF(event.pos())
        for row, _, box in self.cells():
            if box.contains(at):
                self.menu_asked.emit(self.under(at), row, event.globalPos())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        found = self.under(event.position())
        if found is None:
            self.fit()
        elif found[0] == "node":
            self.released.emit(found[1])

    def wheelEvent(self, event: QWheelEvent) -> None:
        box, turns = self._cell_at(event.position()), event.angleDelta().y() / 120
        if box is None or not turns or self.places is None:
            event.ignore()
            return
        at = event.position() - box.topLeft()
        self.eye = self.eye.zoomed((at.x(), at.y()), 1.25**turns, box.width(), box.height())
        self.touched = True
        self._rest.start()
        self.update()
        event.accept()

    def event(self, event: QEvent) -> bool:
        keys = (Qt.Key.Key_F, Qt.Key.Key_Escape)
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self.panels:
            if event.key() in keys and event.modifiers() == Qt.KeyboardModifier.NoModifier:
                event.accept()  # here F fits the graph; elsewhere it mirrors the input
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_F:
            self.fit()
        elif event.key() == Qt.Key.Key_Escape:
            self.chosen.emit(np.zeros(0, np.int64))
            self.clicked.emit(None)
        else:
            super().keyPressEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._point(QPointF(-1, -1))

    def resizeEvent(self, event: Any) -> None:
        if not self.touched:
            self.fit()

    def _point(self, at: QPointF) -> None:
        found = self.under(at)
        if found != self.hot:
            self.hot = found
            self.update()
        self.pointed.emit(found)
