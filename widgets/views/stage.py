"""The commuting square: does F(rho(g) x) equal rho'(g) F(x)? The pictures are turned and shifted by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from explorer.declare.space import kinds
from explorer.square.frame import Frame, Moved, Square
from explorer.state.state import State
from widgets.base.camera import Camera
from widgets.base.veil import DIMMED
from widgets.base.view import View, ViewSpec, Wish, numbers_of
from widgets.maps.diagram import Arrow, Label, agree
from widgets.maps.linking import Place, Places, channel_text, element_text, precise
from widgets.maps.map_grid import Canvas
from widgets.maps.ring import Ring
from widgets.stage.boxes import CAPTION, above
from widgets.stage.captions import headers, square_caption
from widgets.stage.hands import Hands, hands_of
from widgets.stage.layout import arrange, figure_height
from widgets.stage.pair import InputPair
from widgets.stage.row import CENTRE, SOURCES, StageRow
from widgets.stage.stepping import stepped


class Stage(View):
    """x, rho(g) x and what a layer answers to both. `set_state` moves the ring before the frame comes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.frame: Frame | None = None
        self.state = State()
        self._told = False  # by the window: then a frame's own state is older than what is known
        self._missing = 0  # values of the frame that are not numbers
        self._stale = ""  # why what is shown is not what was asked for
        self._moved: Moved | None = None  # rho(g) x before the frame that it belongs to
        self._hover: tuple[int, str, Place] | None = None
        self.hands = Hands(self.wished.emit)  # those of the space that the frame is about
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(360, 220)  # bars above it must not push the panels below off the screen
        self.canvas = Canvas(self)
        self._scene = self.canvas.scene()
        self.canvas.turned.connect(self._dilate)
        self.canvas.resized.connect(self._arrange)
        self.canvas.moved.connect(self._show_hint)
        self.canvas.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.canvas.customContextMenuRequested.connect(self._ask_menu)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.canvas)

        self._inputs, self._features = Camera(self), Camera(self)
        self.pair = InputPair(self._inputs, self)
        self.pair.changed.connect(lambda: self.show_frame(self.frame))
        self.before, self.after, self.captions = self.pair.before, self.pair.after, self.pair.captions
        self.ring = Ring()
        self.ring.setZValue(1)
        self._across = Arrow()
        self._symbol, self._element = Label(12, "text", CENTRE), Label(11, "muted", CENTRE)
        self._symbol.set_text("ρ(g)")
        self._element.wrap = True
        self._element.align = CENTRE | Qt.AlignmentFlag.AlignTop
        self._header, self.hint = Label(12, "muted"), Label(11, "muted")
        self.hint.setVisible(False)
        self._empty = Label(17, "text", CENTRE)
        self._empty.set_text("Drop an image here or pick a digit")
        self._empty_more = Label(12, "muted", CENTRE)
        self._empty_more.wrap = True
        self._empty_more.set_text("Then turn it by its ring, drag it, and watch each layer follow.")
        self._empty_frame = Label(12, "muted")
        self._empty_frame.frame, self._empty_frame.text = True, " "
        self._upper = (
            *(self.before, self.after, self.ring, *self.captions, self._across),
            *(self._symbol, self._element, self._header),
        )
        self._nothing = (self._empty_frame, self._empty, self._empty_more)
        for item in (*self._upper, *self._nothing, self.hint):
            self._scene.addItem(item)
        self.rows = tuple(StageRow(self._scene, self._features, i) for i in range(2))
        self._connect()
        self.apply_theme()
        self.show_frame(None)

    def _connect(self) -> None:
        self.ring.turned.connect(lambda angle, done: self.hands.turn(angle, done))
        self.after.dragged.connect(self._drag)
        for panel, name in ((self.before, "x"), (self.after, "gx")):
            panel.hovered.connect(lambda place, name=name: self._hover_input(name, place))
        for i, row in enumerate(self.rows):
            row.captions["difference"].clicked.connect(self.toggle_pooled)
            for name, panel in row.panels.items():
                panel.hovered.connect(lambda place, i=i, name=name: self._hover_map(i, name, place))
                panel.picked.connect(lambda c, r, w, i=i, name=name: self._pick(i, name, (c, r, w)))

    # what the window calls --------------------------------------------------------------------------------
    def set_state(self, state: State) -> None:
        """Follow the state at once: ring, element and enlarged channel do not wait for a frame."""
        self._told = True
        if self._moved is not None and (self._moved.state.epoch, self._moved.state.steps) != (state.epoch, state.steps):
            self._moved = None
        self._take_state(state)
        self._write_header()
        self._mark()

    def show_moved(self, moved: Moved) -> None:
        """Show ρ(g)x at once; what the network answers to it is dimmed until it has."""
        if self.frame is not None and moved.state.epoch == self.frame.state.epoch:
            self._moved = moved
            self._show_input(self.frame.squares[:2])
            self._dim()

    def show_stale(self, text: str) -> bool:
        self._stale = text
        self._dim()
        return True

    def _dim(self) -> None:
        """Dim what belongs to another element, layer or network than the one that was chosen."""
        stale, frame = self._stale, self.frame
        same = frame is not None and frame.state.epoch == self.state.epoch
        for panel, kept in ((self.before, same), (self.after, self._moved is not None)):
            panel.setOpacity(DIMMED if stale and not kept else 1.0)
        for row in self.rows:
            # F(x) at this layer does not depend on the element
            row.dim(stale, same and frame is not None and frame.state.layer == self.state.layer)

    def _take_state(self, state: State) -> None:
        self.state = state
        self.hands.follow(state)
        self._turn_ring()
        self._element.set_text(element_text(state.steps))
        for row in self.rows:
            row.set_channel(state.channel)

    def _turn_ring(self) -> None:
        if self.hands.turns:
            self.ring.set_angle(*self.hands.ring())

    def show_frame(self, frame: Frame | None) -> None:
        before = self._layout_key()
        self.frame = frame
        if self._moved is not None and frame is not None and frame.state == self._moved.state:
            self._moved = None  # of which this is the answer
        if frame is not None and not self._told:
            self._take_state(frame.state)
        squares = frame.squares[:2] if frame else ()
        if squares:
            self._take_hands(squares[0])
        for item in self._upper:
            item.setVisible(frame is not None)
        self.ring.setVisible(frame is not None and self.hands.turns)
        for item in self._nothing:
            item.setVisible(frame is None)
        self.hint.setVisible(self.hint.isVisible() and frame is not None)
        back = any(s.back is not None for s in squares)
        for i, row in enumerate(self.rows):
            row.set_visible(i < len(squares), back, bool(squares))
        if self._layout_key() != before:
            self._arrange()
        for row, square in zip(self.rows, squares):
            row.show(square, len(squares), self.hands)
            row.set_channel(self.state.channel)
        if squares:
            self._show_input(squares)
            self._missing = int(np.isnan(squares[0].f_gx).sum() + np.isnan(squares[0].fx).sum())
        self._agree()
        self._write_header()
        self._mark()

    def _agree(self) -> None:
        """Name both models at both places in one way, however much room either has."""
        rows = self.rows[: len(self.frame.squares)] if self.frame else ()
        agree([row.heading for row in rows])
        agree([row.readout.head for row in rows])
        for row in rows:  # one network, so one name at both arrows
            agree(row.down_labels)

    def _take_hands(self, square: Square) -> None:
        """Let hands and links be those of the space that the square lives on."""
        kind = hands_of(square.domain)
        if type(self.hands) is not kind:
            self.hands = kind(self.wished.emit)
            self.hands.follow(self.state)
            self._turn_ring()
        self.hands.show(square)
        self.after.setToolTip(self.hands.tip)

    def _show_input(self, squares: tuple[Square, ...]) -> None:
        moved = None if self._moved is None else self._moved.gx
        self.pair.show(squares, moved, self.hands, [row.role for row in self.rows])

    def _layout_key(self) -> tuple[int, bool, bool]:
        squares = self.frame.squares[:2] if self.frame else ()
        return len(squares), any(s.back is not None for s in squares), self.hands.turns

    def _arrange(self) -> None:
        width, height = float(self.canvas.viewport().width()), float(self.canvas.viewport().height())
        self._scene.setSceneRect(0, 0, width, height)
        self.canvas.viewport().update()  # everything moves: nothing must stay where it was
        models, back, _ = self._layout_key()
        if not models:
            middle = height / 2
            wide = min(width - 40, 460.0)
            self._empty_frame.place(QRectF((width - wide) / 2, middle - 80, wide, 160))
            self._empty.place(QRectF((width - wide) / 2 + 12, middle - 38, wide - 24, 30))
            self._empty_more.place(QRectF((width - wide) / 2 + 30, middle - 2, wide - 60, 40))
            return
        boxes = arrange(width, height, models, back)
        self.before.place(boxes.x)
        self.after.place(boxes.gx)
        self.ring.place(boxes.ring_centre, boxes.ring_radius)
        self.captions[0].place(above(boxes.x))
        ring_top = QRectF(
            boxes.gx.left(), boxes.ring_centre.y() - boxes.ring_radius - Ring.MARGIN_Y, boxes.gx.width(), 1
        )
        self.captions[1].place(above(ring_top if self.hands.turns else boxes.gx))
        start = boxes.x.right() + 8
        end = boxes.ring_centre.x() - boxes.ring_radius - Ring.MARGIN_X - 4
        middle = boxes.ring_centre.y()
        self._across.place(QPointF(start, middle), QPointF(end, middle))
        self._symbol.place(QRectF(start, middle - CAPTION - 3, end - start, CAPTION))
        self._element.place(QRectF(start + 2, middle + 5, end - start - 8, 48))
        self._header.place(boxes.header)
        self.hint.place(boxes.hint)
        for i, row in enumerate(self.rows[:models]):
            row.place(boxes.rows[i], boxes, i, models)
        self._agree()

    def height_at(self, width: int) -> int:
        """Return the height of a figure of a width: then the maps are as wide as a column lets them."""
        models, back, _ = self._layout_key()
        return round(figure_height(width, models, back))

    def apply_theme(self) -> None:
        for panel in (self.before, self.after, *(p for row in self.rows for p in row.panels.values())):
            panel.refresh_colours()
        for row in self.rows:
            row.dress()
        self._across.dress()
        if self.frame:
            self._show_input(self.frame.squares[:2])
        self._scene.update()

    def _write_header(self) -> None:
        if not self.frame:
            return
        self._header.set_text(*headers(self.frame.squares[:2], self.state.channel, self._missing))
        parts = (self.hands.hint if self.state.channel is None else self.hands.hint_enlarged).split(" · ")
        self.hint.set_text(*(" · ".join(parts[:k]) for k in range(len(parts), 0, -1)))  # whole gestures, none cut

    def _show_hint(self) -> None:
        # only while a hand moves here: a hint does not belong into an exported figure
        self.hint.setVisible(self.frame is not None)

    def leaveEvent(self, event: QEvent) -> None:
        self.hint.setVisible(False)
        super().leaveEvent(event)

    # what the hand does -----------------------------------------------------------------------------------
    def _drag(self, right: float, down: float, modifiers: Qt.KeyboardModifier, done: bool) -> None:
        if self.after.values is not None:
            pixel, rows = self.after.pixel(), self.after.values.shape[1]
            self.hands.drag(self.after.grabbed, rows, right / pixel, down / pixel, modifiers, done)

    def _dilate(self, notches: float) -> None:
        if self.frame is not None:
            self.hands.dilate(notches)

    def toggle_pooled(self) -> None:
        """Switch the last panel between the difference of each channel and its size over places."""
        for row in self.rows:
            row.pooled = not row.pooled
        self.show_frame(self.frame)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        plain = not event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
        key = Qt.Key(event.key())
        if self.frame is None or not plain:
            super().keyPressEvent(event)
        elif (changes := self._stepped(key, bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))) is not None:
            self.wished.emit(Wish(changes=changes, tag="step"))
        elif self.hands.key(key):
            return
        elif key == Qt.Key.Key_E:
            self.toggle_pooled()
        elif key == Qt.Key.Key_Escape and self._step_back():
            return
        elif key == Qt.Key.Key_0:
            self._features.reset()
            self._inputs.reset()
        else:
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if self.frame is None or event.isAutoRepeat() or not self.hands.key_released(Qt.Key(event.key())):
            super().keyReleaseEvent(event)

    def _stepped(self, key: Qt.Key, shift: bool) -> dict[str, Any] | None:
        square = self.rows[0].square
        return None if square is None else stepped(self.hands, self.state, square, key, shift)

    def _step_back(self) -> bool:
        """Undo the zoom, else the selection; return False where there is neither."""
        if self._features.zoom > 1 or self._inputs.zoom > 1:
            self._features.reset()
            self._inputs.reset()
            return True
        selected = any(v is not None for v in (self.state.channel, self.state.pixel, self.state.node))
        if selected:
            self.wished.emit(Wish(changes=dict.fromkeys(self.hands.selected), done=True))
        return selected

    # selection --------------------------------------------------------------------------------------------
    def _pick(self, index: int, name: str, place: Place) -> None:
        """Ask for the clicked channel, and for the unit of F(x) whose answer is seen there."""
        row = self.rows[index]
        source = row.linked(name, place, self.hands.link)["fx"] if name not in SOURCES else place
        channel = self.state.channel if name == "difference" and row.pooled else place[0]
        if row.square is not None:
            self.wished.emit(Wish(changes=self.hands.picked(row.square, source or place, channel), done=True))

    def _ask_menu(self, at: QPoint) -> None:
        """Ask for the menu of the channel under the mouse."""
        there, port = self.canvas.mapToScene(at), self.canvas.viewport()
        for index, row in enumerate(self.rows):
            for name, panel in row.panels.items():
                shown = panel.isVisible() and panel.values is not None and not (name == "difference" and row.pooled)
                place = panel.place_at(panel.mapFromScene(there)) if shown else None
                if place is not None and row.square is not None:
                    layer = "" if index else row.square.layer.name
                    self.menu_asked.emit(layer, "channel", place[0], port.mapToGlobal(at))

    def _hover_map(self, index: int, name: str, place: Place | None) -> None:
        self._hover = None if place is None else (index, name, place)
        self._mark()
        row = self.rows[index]
        if place is None or row.square is None:
            self.hovered.emit("")
            return
        where = "" if row.square.fx.shape[1:] == (1, 1) else f", row {place[1]}, column {place[2]}"
        pooled = name == "difference" and row.pooled
        which = "all channels" if pooled else channel_text(place[0], row.square.group)
        text = row.values_text(name, row.linked(name, place, self.hands.link))
        self.hovered.emit(f"{row.square.layer.name}, {which}{where}:  {text}")

    def _hover_input(self, name: str, place: Place | None) -> None:
        self._hover = None if place is None else (-1, name, place)
        self._mark()
        panel = self.before if name == "x" else self.after
        if place is None or panel.values is None:
            self.hovered.emit("")
            return
        values = ", ".join(precise(float(v)) for v in panel.values[:3, place[1], place[2]])
        self.hovered.emit(f"{'x' if name == 'x' else 'ρ(g)x'}, row {place[1]}, column {place[2]}:  {values}")

    def _mark(self) -> None:
        """Outline what is under the cursor, or else the selected unit, in every panel that has it."""
        squares = self.frame.squares[:2] if self.frame else ()
        if not squares:
            return
        index, name, place = self._hover or (0, "fx", self.hands.chosen(self.state, squares[0]))
        source: Place | None = None  # of x
        x, gx = (Places(a.shape[1], a.shape[2], kind=self.hands.kind_of_x) for a in self.pair.of(squares[0]))
        if name in ("x", "gx"):
            source = place if name == "x" else self.hands.link.back(place, gx, x)
        for i, (row, square) in enumerate(zip(self.rows, squares)):
            known = place[1] >= 0 and (index < 0 or i == index or row_alike(squares))
            linked: dict[str, Any] = {}
            if known and index >= 0 and self._fits(row, name, place):
                linked = row.linked(name, place, self.hands.link)
                if i == index and linked["fx"] is not None and square.fx.shape[1:] != (1, 1):
                    names = row.place_names("fx")
                    source = self.hands.place_of_x(names, linked["fx"], x)
            for other, panel in row.panels.items():
                at, tile = linked.get(other), None
                if at is not None and square.fx.shape[1:] != (1, 1):
                    # the same place in every tile, and which of them: an element may move channels as well
                    at, tile = (-1, *at[1:]), at[0] if self._hover is not None and at[0] >= 0 else None
                panel.set_marks(() if at is None else (at,), tile)
        # the clicked unit's place is within its outlined field of view, which a mark would cover
        seen = source is not None and (self._hover is not None or squares[0].field_of_view is None)
        self.before.set_marks(((0, *source[1:]),) if source is not None and seen else ())
        there = None if source is None else self.hands.link.forward((0, *source[1:]), x, gx)
        self.after.set_marks(() if there is None else ((0, *there[1:]),))

    def _fits(self, row: StageRow, name: str, place: Place) -> bool:
        values = row.panels[name].values
        return values is not None and place[1] < values.shape[1] and place[2] < values.shape[2]

    # what is exported -------------------------------------------------------------------------------------
    def numbers(self) -> dict[str, NDArray[Any]]:
        if self.frame is None:
            return {}
        first = self.frame.squares[0]
        result: dict[str, NDArray[Any]] = {"x": first.x, "rho_x": first.gx}
        for one in first.inputs[1:]:
            result |= {one.name: one.x, f"rho_{one.name}": one.gx}
        sides = []
        for square in self.frame.squares[:2]:
            measure = square.measures.get(square.layer.name)
            error = None if measure is None or measure.cumulative is None else [measure.cumulative]
            known = {"F_x": square.fx, "rho_F_x": square.rho_fx, "F_rho_x": square.f_gx, "back": square.back,
                     "difference": square.difference, "error_map": square.error_map,
                     "field_of_view": square.field_of_view, "relative_error": error}  # fmt: skip
            sides.append((square, known))
        result |= numbers_of(sides)
        return result

    def caption(self) -> str:
        return "; ".join(square_caption(self.frame, s) for s in self.frame.squares[:2]) if self.frame else ""


def row_alike(squares: tuple[Square, ...]) -> bool:
    """Say whether the squares' layers have the same places, so that one selection means the same in both."""
    return len({s.fx.shape[1:] for s in squares}) == 1


VIEW = ViewSpec(
    "stage", "Stage", Stage, "center", 0, "The commuting square: pictures, maps, and whether they agree.",
    domains=tuple(k.name for k in sorted(kinds().values(), key=lambda k: k.place) if k.pictured),
)  # fmt: skip


if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(Stage, lambda view, samples: view.set_frame(samples.make_frame()))
