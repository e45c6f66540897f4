"""The canvas of meshes: panels that share one eye, drawn off-screen, shown as pictures, and moved by hand.

While a hand moves, a picture is drawn in as much detail as its time allows; when the hand rests, twice as large as it
is shown, which smooths every edge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QImage, QKeyEvent, QMouseEvent, QPaintEngine, QPainter, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from widgets.spaces.mesh.drawing.board import Cell, MeshBoard, arrange, has_scale, scale_width, title_font
from widgets.spaces.mesh.drawing.camera import START, Eye, facing, fitted
from widgets.spaces.mesh.drawing.glyphs import vertex_normals
from widgets.spaces.mesh.drawing.look import MOST, MeshLook, Slice
from widgets.spaces.mesh.drawing.pictures import MeshPictures

if TYPE_CHECKING:
    from widgets.spaces.mesh.drawing.picking import Hit

Array = NDArray[Any]
REST_MS = 150  # after which it rests
DRAG = 4.0  # pixels from which a press is a drag
TURN = 0.009  # radians to a pixel
STEP = 0.12  # radians to a press of an arrow key
UPRIGHT = np.array([1.0, 0.4, 1.0])  # of a direction: seen from above or below, little is recognised
FAR = 1.05  # times the distance of an eye that sees all, from which on what has moved is out of sight
SOON = "The drawing of surfaces is being prepared…"
REACH = 14.0  # pixels from a vertex at which the wheel turns it
LEFT, MIDDLE, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton, Qt.MouseButton.RightButton
ALT, SHIFT, CTRL = (Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ShiftModifier,
                    Qt.KeyboardModifier.ControlModifier)  # fmt: skip
ARROWS = {Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, -1), Qt.Key.Key_Down: (0, 1)}
KEYS = {Qt.Key.Key_F, Qt.Key.Key_W, Qt.Key.Key_Home, *ARROWS}


class MeshCanvas(QWidget):
    """Shows up to four looks. What hands do to the mesh is told by signals; only the eye is the canvas's own.

    Left drag: orbit; right drag, or with Shift: pan; with Alt or Ctrl, as many desktops move windows by Alt: turn the
    mesh. Wheel: zoom to the mouse; with Ctrl at the selected vertex: turn its frame. Click: a vertex; with Shift: an
    edge; with Ctrl: a face. F or a double click: fit; Home: from where it was seen first; W: wireframe; arrows: orbit.
    """

    asked = Signal(int, int, QPoint)  # panel and vertex, -1 where there is none, that the other button clicked; where
    picked = Signal(int, str, int)  # panel, "vertex", "edge" (3 face + side) or "face", its number; "" and -1: nothing
    hovered = Signal(int, int)  # panel and vertex under the cursor, -1 where there is none
    wheel_on_vertex = Signal(int, float)  # the selected vertex and notches
    turned = Signal(object)  # a rotation (3, 3) by which the mesh is to be turned, a small one at a time
    let_go = Signal()  # after turning the mesh
    looked = Signal(object)  # the eye has moved

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.message = ""  # shown in place of panels
        self.pictures = MeshPictures(self)
        self.board = MeshBoard(self)
        self._parts: tuple[QImage | None, list[QImage]] = None, []  # the picture of all panels, and of each
        self.eye: Eye = fitted(np.zeros(3), 1.0)
        self.selected: int | None = None
        self.hot: tuple[int, int] | None = None  # panel and vertex under the cursor
        self.orders: tuple[Array | None, ...] = ()  # of each panel: the number there of each vertex, None: the same
        self._fit = True  # at the next picture
        self._new = True  # whether looks came since it was asked what of them is in sight
        self._back = False  # whether the eye has moved back for what was out of sight, and may come nearer again
        self._whole: tuple[Eye, float, float] | None = None  # an eye that sees all, and of what panels
        self._press: QPointF | None = None
        self._last, self._act, self._moved = QPointF(), "", False
        self._turning: tuple[int, QPointF] | None = None  # whose frame the wheel turns, and where the mouse is
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self.update)

    @property
    def rest_ms(self) -> int:
        """Return how long after the last movement a picture is drawn sharply again."""
        return self._rest.interval()

    @rest_ms.setter
    def rest_ms(self, milliseconds: int) -> None:
        self._rest.setInterval(milliseconds)

    def sizeHint(self) -> QSize:
        return QSize(720, 420)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, 100)

    @property
    def looks(self) -> tuple[MeshLook, ...]:
        return self.pictures.looks

    # what is shown ----------------------------------------------------------------------------------------------
    def show_looks(self, looks: Sequence[MeshLook]) -> None:
        """Show one to four looks side by side. Arrays that are the same objects as before are not read again."""
        if len(looks) > MOST:
            raise ValueError(f"A mesh canvas has {MOST} panels at most, not {len(looks)}.")
        before = [look.faces for look in self.looks if len(look.faces)][:1]
        after = [look.faces for look in looks if len(look.faces)][:1]
        if [id(faces) for faces in before] != [id(faces) for faces in after]:
            self._fit, self._back = True, False
            self.pictures.times.clear()
        self.pictures.take(looks)
        self._changed()

    def set_slice(self, at: Slice | None) -> None:
        """Take away what lies beyond a plane, or nothing."""
        if at != self.pictures.slice:
            self.pictures.slice = at
            self._changed()

    def slice_span(self, normal: tuple[float, float, float]) -> tuple[float, float]:
        """Return the offsets between which a plane with that normal meets the meshes: the ends of a slider."""
        along = [look.vertices @ np.array(normal) for look in self.looks if len(look.vertices)]
        if not along:
            return 0.0, 0.0
        return float(min(np.nanmin(part) for part in along)), float(max(np.nanmax(part) for part in along))

    def set_wireframe(self, flipped: bool) -> None:
        """Show wireframes where a look has none, and the other way round."""
        if flipped != self.pictures.flipped:
            self.pictures.flipped = flipped
            self._changed()

    def point_at(self, vertex: int | None, panel: int = 0) -> None:
        """Outline a vertex in all panels."""
        hot = None if vertex is None else (panel, vertex)
        if hot != self.hot:
            self.hot = hot
            self.update()

    def fit(self) -> None:
        """See all of the meshes, from the same side."""
        self._look(self._fitted(self.eye.axes))

    def look_from(self, direction: Array | None = None, up: Array | None = None) -> None:
        """See all of the meshes from a direction (3,), with `up` upwards; without one, as at first."""
        upright = np.array([0.0, 1.0, 0.0]) if up is None else up
        axes = START if direction is None else facing(np.asarray(direction, float), upright)
        self._look(self._fitted(axes))

    def look_with(self, eye: Eye) -> None:
        """See the meshes with an eye that was kept."""
        self._look(eye)

    def bring_round(self, vertex: int) -> None:
        """Look from the side of a vertex, nearly upright, if it looks away from the eye."""
        if not self.looks:
            return
        self._refit()
        look, number = self.looks[0], self.number_in(0, vertex)
        if not 0 <= number < len(look.vertices):
            return
        normal = vertex_normals(look.vertices, look.faces)[number]
        if normal @ (self.eye.position - look.vertices[number]) < 0:
            self.look_from(normal * UPRIGHT + 0.3 * START[2])

    def _look(self, eye: Eye) -> None:
        self.eye, self._fit = eye, False
        self._rest.start()
        self.looked.emit(eye)
        self.update()

    def _changed(self) -> None:
        self._new = True
        self.pictures.change()
        if self.pictures.times:
            self._rest.start()  # more may follow, as while a slider is dragged
        self.update()

    def _ready(self, wait: bool = False) -> bool:
        """Look at a new mesh as a whole, and say whether it can be drawn; with `wait`, when that is known."""
        self._refit()
        return self.pictures.ready(wait)

    def _refit(self) -> None:
        if self._fit or self._resized() or self._left():
            self._fit, self.eye = False, self._fitted(self.eye.axes)

    def _fitted(self, axes: Array) -> Eye:
        box = self.cells()[0] if self.looks else QRectF(self.rect())
        self._whole = self.pictures.fitted(axes, box), box.width(), box.height()
        return self._whole[0]

    def _resized(self) -> bool:
        """Say whether all was seen, and the panels are of another size now."""
        if self._whole is None or self._whole[0] is not self.eye or not self.looks:
            return False
        box = self.cells()[0]
        return (box.width(), box.height()) != self._whole[1:]

    def _left(self) -> bool:
        """Say whether all was seen, and something is out of sight now, scaled, shifted, turned; or no longer."""
        new, self._new = self._new, False
        if not new or self._whole is None or self._whole[0] is not self.eye or not self.looks:
            return False
        needed = self.pictures.out(self.eye, self.cells()[0])
        self._back = self._back or needed > FAR
        return needed > FAR or (self._back and needed * FAR < 1)

    # drawing ----------------------------------------------------------------------------------------------------
    def settle(self) -> None:
        """Do at once what waits for a hand to rest: the next painting is a sharp one."""
        self._rest.stop()
        if self.looks and not self.message:
            self._ready(wait=True)
        self.update()

    def cells(self, width: float | None = None, height: float | None = None) -> list[QRectF]:
        """Return the boxes of the pictures in the widget, or in a picture of that size."""
        size = width or self.width(), height or self.height()
        return arrange(len(self.looks), *size, has_scale(self.looks), scale_width(self.looks))

    def paintEvent(self, event: Any) -> None:
        p = QPainter(self)
        turn = p.deviceTransform().m11()
        raster = p.paintEngine().type() == QPaintEngine.Type.Raster
        if raster and turn == self.devicePixelRatio():
            self._paint(p, None, QRectF(self.rect()), None)
        else:  # a file
            self._paint(p, None, QRectF(self.rect()), turn if raster else 2.0)

    def _paint(self, p: QPainter, eye: Eye | None, rect: QRectF, ratio: float | None) -> None:
        """Draw everything, seen by an eye or the present one; with a ratio, sharply and without keeping anything."""
        said = self.message or ("" if self.looks else "No mesh yet")
        if not said and not self._ready(wait=ratio is not None):
            said = self.pictures.trouble or SOON
        self.board.say(said, rect)
        if not said:
            self._place(eye or self.eye, rect, ratio)
        self.board.draw(p, rect)

    def _place(self, eye: Eye, rect: QRectF, ratio: float | None) -> None:
        """Place the items of all panels."""
        cells = self.cells(rect.width(), rect.height())
        if ratio is not None:
            image = self.pictures.drawn(eye, cells[0], ratio)
        else:
            image, sharp = self.pictures.kept(eye, cells[0], self.devicePixelRatio(), self._rest.isActive())
            if not sharp and not self._rest.isActive():
                self._rest.start()
        if image is not self._parts[0]:
            wide = image.width() / len(cells)
            # copies, because a file of SVG takes no part of a picture
            parts = [image.copy(round(k * wide), 0, round(wide), image.height()) for k in range(len(cells))]
            self._parts = image, parts
        heavy = title_font(self.looks, cells[0].width())
        with self.board.cells as pool:
            for k, (look, box) in enumerate(zip(self.looks, cells)):
                there, cell = not look.empty and len(look.faces), pool.take()
                cell.show_look(look, box, self._parts[1][k] if there else None, heavy)
                if there:
                    self._place_over(cell, k, eye, box, ratio is not None)

    def _place_over(self, cell: Cell, panel: int, eye: Eye, box: QRectF, file: bool) -> None:
        """Place what lies over a picture: axes of space, marks, labels, the ring of what is pointed at."""
        look, seen = self.looks[panel], self.pictures.seen
        cell.triad.show_axes(eye, box)
        marked = [p for p in (look.vertices[v] for v in look.marks.vertices) if seen(panel, p, eye)]
        cell.show_spheres([self._at(point, eye, box) for point in marked], look.marks.ink)
        texts = [(self._at(text.point, eye, box), text) for text in look.texts]
        cell.show_words([
            (at, text.words, text.ink) for at, text in texts if box.contains(at) and seen(panel, text.point, eye)
        ])  # fmt: skip
        hot = None if self.hot is None or file else self.number_in(panel, self.hot[1], self.hot[0])
        if hot is not None and 0 <= hot < len(look.vertices):
            point = look.vertices[hot]
            cell.show_ring(self._at(point, eye, box), seen(panel, point, eye))
        else:
            cell.show_ring(None)

    # files ------------------------------------------------------------------------------------------------------
    def picture(self, size: QSize | None = None, ratio: float = 2.0, eye: Eye | None = None) -> QImage:
        """Return the canvas as a picture of a size in pixels of the screen, with `ratio` pixels to each."""
        size = size or self.size()
        image = QImage(size * ratio, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(ratio)
        p = QPainter(image)
        self._paint(p, eye, QRectF(0, 0, size.width(), size.height()), ratio)
        p.end()
        return image

    def turntable(self, frames: int = 72, size: QSize | None = None, ratio: float = 1.0) -> Iterator[QImage]:
        """Yield the pictures of one full turn of the meshes, for a film that can be repeated without a seam."""
        self._ready(wait=True)
        start = self.eye
        for k in range(frames):
            yield self.picture(size, ratio, start.rounded(k / frames))

    # places -----------------------------------------------------------------------------------------------------
    def _at(self, point: Array, eye: Eye, box: QRectF) -> QPointF:
        x, y, _ = eye.screen(point[None], box.width(), box.height())[0]
        return QPointF(box.x() + x, box.y() + y)

    def number_in(self, panel: int, vertex: int, of: int | None = None) -> int:
        """Return the number in a panel of a vertex: of another panel, or with its own number. -1: it is not there."""
        there = None if of is None or not 0 <= of < len(self.orders) else self.orders[of]
        if there is not None:
            found = np.flatnonzero(there == vertex)
            vertex = int(found[0]) if len(found) else -1
        here = self.orders[panel] if panel < len(self.orders) else None
        return vertex if here is None or not 0 <= vertex < len(here) else int(here[vertex])

    def vertex_at(self, vertex: int, panel: int = 0) -> QPointF:
        """Return where a vertex is in the widget."""
        return self._at(self.looks[panel].vertices[vertex], self.eye, self.cells()[panel])

    def under(self, at: QPointF) -> tuple[int, Hit | None] | None:
        """Return the panel at a point of the widget and what of its mesh is there, None outside of panels."""
        panel = next((k for k, box in enumerate(self.cells()) if box.contains(at)), None)
        if panel is None or not len(self.looks[panel].faces):
            return None
        box = self.cells()[panel]
        way = self.eye.ray((at.x() - box.x(), at.y() - box.y()), box.width(), box.height())
        start, far = self.eye.position, self.eye.distance + 4 * self.eye.radius
        return panel, self.pictures.cast(panel, start, start + far * way)

    # hands ------------------------------------------------------------------------------------------------------
    def mousePressEvent(self, event: QMouseEvent) -> None:
        at, keys = event.position(), event.modifiers()
        if event.button() not in (LEFT, MIDDLE, RIGHT) or not any(box.contains(at) for box in self.cells()):
            return
        self._press, self._last, self._moved = at, at, False
        aside = event.button() != LEFT or keys & SHIFT
        self._act = "pan" if aside else "turn" if keys & (ALT | CTRL) else "orbit"

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at = event.position()
        if self._press is None:
            self._hover(at)
            return
        away = at - self._press
        if not self._moved and abs(away.x()) + abs(away.y()) < DRAG:
            return
        step, self._last, self._moved = at - self._last, at, True
        self.setCursor(Qt.CursorShape.ClosedHandCursor)
        box = self.cells()[0]
        match self._act:
            case "orbit":
                self._look(self.eye.orbited(TURN * step.x(), TURN * step.y()))
            case "pan":
                self._look(self.eye.panned(step.x(), step.y(), box.width(), box.height()))
            case "turn":
                self._rest.start()
                self.turned.emit(self.eye.turn(TURN * step.x(), TURN * step.y()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._press is None:
            return
        if self._act == "turn" and self._moved:
            self.let_go.emit()
        press, self._press, self._act = self._press, None, ""
        self.unsetCursor()
        found = self.under(press)
        if self._moved or event.button() == MIDDLE or found is None:
            return
        panel, hit = found
        if event.button() == RIGHT:
            self.asked.emit(panel, -1 if hit is None else hit.vertex, event.globalPosition().toPoint())
            return
        kind = "edge" if event.modifiers() & SHIFT else "face" if event.modifiers() & CTRL else "vertex"
        self.picked.emit(panel, "" if hit is None else kind, -1 if hit is None else hit.index(kind))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() == LEFT:
            self.fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        at, steps, found = event.position(), event.angleDelta().y() / 120, self.under(event.position())
        if found is None or not steps:
            event.ignore()
            return
        event.accept()
        panel, hit = found
        if event.modifiers() & CTRL and self.selected is not None and self.selected < len(self.looks[panel].vertices):
            away = self.vertex_at(self.number_in(panel, self.selected), panel) - at
            # the first turn brings other panels: while the mouse rests, the vertex may move away from under it
            if np.hypot(away.x(), away.y()) <= REACH or self._turning == (self.selected, at):
                self._turning = self.selected, at
                self.wheel_on_vertex.emit(self.selected, steps)
                return
        self._turning = None
        box = self.cells()[panel]
        spot = at.x() - box.x(), at.y() - box.y()
        about = hit.point if hit is not None else self.eye.under(spot, box.width(), box.height())
        self._look(self.eye.zoomed(1.2**steps, about))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and self.looks:
            if event.key() in KEYS and not event.modifiers() & (ALT | SHIFT | CTRL):
                event.accept()  # here F fits the mesh; elsewhere it mirrors the input
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key == Qt.Key.Key_F:
            self.fit()
        elif key == Qt.Key.Key_Home:
            self.look_from()
        elif key == Qt.Key.Key_W:
            self.set_wireframe(not self.pictures.flipped)
        elif key in ARROWS:
            right, down = ARROWS[key]
            self._look(self.eye.orbited(STEP * right, STEP * down))
        else:
            super().keyPressEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(QPointF(-1, -1))

    def _hover(self, at: QPointF) -> None:
        found = self.under(at)
        panel, hit = found or (-1, None)
        hot = None if hit is None else (panel, hit.vertex)
        if hot != self.hot:
            self.point_at(None if hot is None else hot[1], panel)
            self.hovered.emit(panel, -1 if hot is None else hot[1])


if __name__ == "__main__":
    from PySide6.QtWidgets import QVBoxLayout

    from widgets.base.preview import preview
    from widgets.base.view import View

    class Alone(View):
        """The canvas as a view, with what hands do printed."""

        def __init__(self) -> None:
            super().__init__()
            self.canvas = MeshCanvas()
            for signal in (self.canvas.picked, self.canvas.wheel_on_vertex, self.canvas.turned):
                signal.connect(lambda *told: print(*told))
            box = QVBoxLayout(self)
            box.setContentsMargins(0, 0, 0, 0)
            box.addWidget(self.canvas)

        def settle(self) -> None:
            self.canvas.settle()

    preview(Alone, lambda view, samples: view.canvas.show_looks(samples.make_looks()))
