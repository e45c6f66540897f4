"""Attention, adjacency and every other field on pairs of nodes, as matrices: rows receive, columns send."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeyEvent, QPaintEngine, QPainter
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from explorer.declare.elements import Step
from explorer.spaces.graph.drawing.pairs.matrix import PairMatrix, Properties
from explorer.spaces.graph.drawing.pairs.on_demand import written
from explorer.spaces.graph.drawing.pairs.orders import ORDERS
from explorer.spaces.graph.drawing.pairs.pooling import Pool
from explorer.spaces.graph.drawing.values import GraphPart
from explorer.square.frame import Square
from explorer.state.state import State
from widgets.base.controls.flow import UNBOUNDED
from widgets.base.frame_view import FrameView, Pages
from widgets.base.text.words import figure
from widgets.base.view import ViewSpec, Wish
from widgets.charts.adaptive import Adaptive
from widgets.maps.diagram import colour
from widgets.spaces.pairs.canvas import PairCanvas
from widgets.spaces.pairs.controls import STEPS, PairControls
from widgets.spaces.pairs.fields import (
    ADJACENCY,
    Matrices,
    PairField,
    Shown,
    channel_of,
    comparison,
    default_field,
    fields_of,
    graph_squares,
    head_of,
    names_of_rows,
    ordered,
    word_of_places,
    word_of_rows,
)
from widgets.spaces.pairs.panel import Panel
from widgets.spaces.pairs.words import Form, caption, change, properties_table, read_out, share, within, without_pairs

NOTHING = "Who attends to whom, and who is joined to whom, stands here once a network has answered."
NONE, COMPARE = "none", "compare"
MOST_HEADS = 36  # side by side
NEAR = 1e-3  # of the largest magnitude: what counts as nearly zero
WORDS = 296  # pixels that the properties have beside the matrices
LOW = 204  # pixels of height below which each of them has one line
LARGEST, AROUND = 320, 50  # pixels of a matrix in a figure, and of what stands round it
LARGE = 1500  # nodes from which an adjacency is shown by its density: beside each other, single entries fill all


class PairsView(FrameView[tuple[int, Square, GraphPart]]):
    """One matrix, its heads side by side or one of them, beside another matrix or before and after the element."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._chosen: str | None = None  # "0/layer" when picked by hand
        self._beside: str | None = None
        self._head: int | None = None
        self._heads_of = ""
        self._matrices = Matrices()
        self._of: dict[int, Shown] = {}
        self._measured: dict[tuple[int, range], Properties] = {}
        self._field: PairField | None = None
        self._written: tuple[PairField, Square, GraphPart] | None = None
        self._fields: dict[str, tuple[PairField, Square, GraphPart]] = {}
        self.controls, self.canvas = PairControls(), PairCanvas()
        self.words = QLabel()
        self.words.setTextFormat(Qt.TextFormat.RichText)
        self.words.setWordWrap(True)
        self.words.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.words.setContentsMargins(12, 8, 12, 8)
        self._all = QWidget()
        self._flat = True
        box = Adaptive(self._all, 2.2, self._turn)  # which turns it flat at once
        box.addWidget(self.controls)
        box.addWidget(self.canvas, 1)
        box.addWidget(self.words)
        self._pages = Pages(self, self._all, NOTHING)
        self.controls.changed.connect(self._change)
        self.canvas.picked.connect(self._pick)
        self.canvas.pointed.connect(self._point)
        self.canvas.menu_asked = self._ask_menu
        self.canvas.dropped.connect(self._drop)
        self.apply_theme()

    # frames -----------------------------------------------------------------------------------------------------
    def set_state(self, state: State) -> None:
        super().set_state(state)
        self.canvas.select(state.node, state.other)
        if self._field is not None and self._field.key == state.layer and self.squares:
            head = head_of(self.squares[0], state.channel)
            if head != self._head:
                self._head = head
                self.refresh()

    def follow(self) -> None:
        """Leave the panels as they are: the canvas has the selection already."""

    def parts(self) -> list[tuple[int, Square, GraphPart]]:
        """Return the squares that lie on a graph, or that have fields on pairs of steps."""
        return graph_squares(self.frame)

    def reason(self, parts: list[tuple[int, Square, GraphPart]]) -> str:
        if parts:
            return ""
        title = self.frame.sample_title if self.frame is not None else ""
        return without_pairs(self.squares[0], title) if self.squares and title else NOTHING

    def refresh(self) -> None:
        self.canvas.select(self.state.node, self.state.other)
        self._of.clear()
        with np.errstate(all="ignore"):  # of values that are no numbers, or too large to be squared
            super().refresh()

    def show_empty(self, sentence: str) -> None:
        self._pages.say(sentence)
        self._field = self._written = None
        self._fields = {}
        self.canvas.show_panels(())

    def draw(self, parts: list[tuple[int, Square, GraphPart]]) -> None:
        """Make the panels of what is chosen."""
        self._pages.say("")
        self._fields = {
            f"{i}/{field.key}": (field, square, part)
            for i, square, part in parts
            for field in fields_of(i, part)
            if square.of(GraphPart) is not None or not field.adjacency  # steps are joined by nothing
        }
        field, square, part = self._current(parts)
        self._field = field
        self.controls.offer_orders(part.structure)
        beside = self._offer(field, square, part, len(parts))
        groups = self._compared(field, square, part) if beside == COMPARE else [self._group(field, square, part)]
        if beside in self._fields:
            groups.append(self._group(*self._fields[beside], second=True))
        self.canvas.show_panels([group for group in groups if group])
        self._tell(field, square, part)

    def _current(self, found: list[tuple[int, Square, GraphPart]]) -> tuple[PairField, Square, GraphPart]:
        """Return the field picked by hand while there is one, else the default one."""
        if self._chosen in self._fields:
            return self._fields[self._chosen]
        index, square, part = found[0]
        default = default_field([f for f, s, _ in self._fields.values() if s is square], square, part)
        return self._fields[f"{index}/{default.key}"]

    def _offer(self, field: PairField, square: Square, part: GraphPart, models: int) -> str:
        """Fill the choices and return what stands beside the matrix."""
        key = f"{field.square}/{field.key}"

        def title(one: str) -> str:
            f, s, _ = self._fields[one]
            return f"{s.model}: {f.key}" if models > 1 else f.key

        every = [(title(one), one) for one in self._fields]
        self.controls.fill(self.controls.field, every, key)
        after, _ = comparison(field, square, part)
        choices = [("nothing", NONE), *([("before, after, difference", COMPARE)] if after is not None else [])]
        choices += [choice for choice in every if choice[1] != key]
        beside = self._beside if self._beside in {data for _, data in choices} else self._default_beside(field, models)
        self.controls.fill(self.controls.beside, choices, beside)
        if self._heads_of != key:
            self._heads_of, self._head = key, self._channel(field, square)
        heads = _heads(field)
        if self._head is not None and self._head >= heads:
            self._head = None
        one = [("one", -1)] if heads == 1 else [("all", -1), *((f"head {k}", k) for k in range(heads))]
        self.controls.fill(self.controls.head, one, -1 if self._head is None else self._head)
        self.controls.head.setEnabled(heads > 1)
        return beside or NONE

    def forget_choices(self) -> None:
        self._chosen = self._beside = None
        self.set_frame(self.frame)

    def _default_beside(self, field: PairField, models: int) -> str:
        if models > 1 and field.square == 0:
            other = [f for f, _, _ in self._fields.values() if f.square == 1]
            square, part = next((s, p) for f, s, p in self._fields.values() if f.square == 1)
            return f"1/{default_field(other, square, part).key}"
        part = next(p for f, _, p in self._fields.values() if f.square == field.square)
        # a set has no edges, and an empty matrix says nothing
        return NONE if field.adjacency or not part.structure.edges.size else f"{field.square}/{ADJACENCY}"

    def _channel(self, field: PairField, square: Square) -> int | None:
        """Return the head that the state asks for."""
        return head_of(square, self.state.channel) if (field.key, field.square) == (square.layer.name, 0) else None

    # panels -----------------------------------------------------------------------------------------------------
    def _order(self) -> str:
        return str(self.controls.order.currentData())

    def _pool(self, field: PairField, matrix: PairMatrix) -> Pool:
        chosen = self.controls.pool.currentData()
        if chosen in ("max", "mean"):
            return "max" if chosen == "max" else "mean"
        return "mean" if field.adjacency and matrix.n > LARGE else "max"

    def _threshold(self, matrix: PairMatrix) -> float:
        """Return the value of the slider: finer near zero, where most entries are."""
        return matrix.largest * (self.controls.threshold.value() / STEPS) ** 2

    def _panel(
        self, field: PairField, square: Square, part: GraphPart, head: int, title: str, second: bool = False,
        role: str = "", threshold: float | None = None,
    ) -> Panel:  # fmt: skip
        view = ordered(part, self._order(), field.moved)
        matrix = self._matrices.make(field, part, view, role)
        if threshold is None:
            threshold = 0.0 if second else self._threshold(matrix)
        dot = ("first", "second")[field.square] if len(graph_squares(self.frame)) > 1 else ""
        panel = Panel(
            matrix, head, title, view, part.structure.names, dot, False, self.controls.log.isChecked(), threshold,
            self._pool(field, matrix), of=word_of_places(square).removesuffix("s"), to=word_of_rows(square),
            rows=names_of_rows(part, view, field.moved),
        )  # fmt: skip
        self._of[id(panel)] = Shown(field, square, part, title)
        return panel

    def _group(self, field: PairField, square: Square, part: GraphPart, second: bool = False) -> list[Panel]:
        """Return one panel, or one for each head."""
        heads = _heads(field)
        name = f"{square.model}: {field.key}" if len(graph_squares(self.frame)) > 1 else field.key
        head = self._head if not second or (self._head is not None and heads > self._head) else None
        if heads == 1 or head is not None:
            which = f"{name}, head {head} of {heads}" if heads > 1 else name
            return [self._panel(field, square, part, head or 0, which, second)]
        panels = [
            self._panel(field, square, part, k, f"{name}, head {k}", second) for k in range(min(heads, MOST_HEADS))
        ]
        some = f", the first {MOST_HEADS} of {heads} heads" if heads > MOST_HEADS else ""
        for panel in panels:
            panel.small, panel.short, panel.heading = True, f"head {panel.head}", f"{name}{some}"
        return panels

    def _compared(self, field: PairField, square: Square, part: GraphPart) -> list[list[Panel]]:
        """Return the matrix of x, that of rho(g) x, and how far it is from where the element takes the first."""
        after, difference = comparison(field, square, part)
        heads, head = _heads(field), self._head or 0
        which = f", head {head} of {heads}" if heads > 1 else ""
        panels = [self._panel(field, square, part, head, f"{field.key} of x{which}")]
        if after is not None:
            least = panels[0].threshold
            panels.append(self._panel(after, square, part, head, "of ρ(g) x", role="after", threshold=least))
            panels[0].high = panels[1].high = max(p.matrix.largest for p in panels)
        if difference is not None:
            panels.append(
                self._panel(difference, square, part, head, "ρ′(g) of x − of ρ(g) x", role="difference", threshold=0)
            )
            # on the scale of the values: rounding must not look like a difference
            panels[-1].high, panels[-1].signed = max(panels[0].high, panels[0].matrix.largest), True
            ends = [np.abs(f(head)).max(initial=0.0) for f in (panels[0].matrix.row_sums, panels[0].matrix.column_sums)]
            panels[-1].sum_high = float(max(ends))
        return [[panel] for panel in panels]

    def _tell(self, field: PairField, square: Square, part: GraphPart) -> None:
        """Write the properties of the shown matrix."""
        self._written = (field, square, part)
        panel = self.canvas.groups[0][0]
        heads = range(panel.matrix.heads) if panel.small else range(panel.head, panel.head + 1)
        key = (panel.matrix.token, heads)
        if key not in self._measured:
            if len(self._measured) > 64:
                self._measured.clear()
            self._measured[key] = panel.matrix.properties(heads, NEAR * panel.matrix.largest)
        _, difference = comparison(field, square, part)
        moved = None
        if difference is not None and field.values.size:
            moved = change(panel.matrix, field.values, difference.values)
        threshold = panel.threshold
        kept = float(np.mean([panel.matrix.kept(h, threshold) for h in heads])) if threshold else 1.0
        self.controls.kept.setText(f"{figure(threshold)}: {share(kept)}" if threshold else "all shown")
        title = field.key if panel.small else panel.title
        form: Form = "row" if not self._flat else "lines" if self.height() < LOW else "column"
        known = title, panel.matrix, self._measured[key], moved
        write = partial(properties_table, *known, form, WORDS - 26, word_of_places(square))
        self.words.setText(within(write, self.words, self.width()) if form == "row" else write())

    # what the person does ---------------------------------------------------------------------------------------
    def _change(self, what: str) -> None:
        if what == "head":
            self._enlarge(k if (k := int(self.controls.head.currentData())) >= 0 else None)
            return
        if what == "field":
            self._chosen = self.controls.field.currentData()
        elif what == "beside":
            self._beside = self.controls.beside.currentData()
        self.refresh()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Lead back from one head to all on Esc; then, as in every view, from what is selected."""
        before = self._head
        if event.key() == Qt.Key.Key_Escape:
            self._enlarge(None)
        if self._head == before:
            super().keyPressEvent(event)

    def _enlarge(self, head: int | None) -> None:
        """Show one head alone, or all; the selected layer's head is the channel of the state."""
        field = self._field
        if field is None or head == self._head or _heads(field) == 1:
            return
        self._head = head
        self.refresh()
        square = self.frame.squares[0] if self.frame else None
        if square is not None and field.square == 0 and field.key == square.layer.name:
            self.wished.emit(Wish(changes={"channel": channel_of(square, head)}, done=True))

    def _pick(self, panel: Panel, row: int, column: int) -> None:
        if panel.small:
            self._enlarge(panel.head)
            return
        node, other = (int(panel.view.nodes[k]) for k in (row, column))
        self.wished.emit(Wish(changes={"node": node, "other": other}, done=True))

    def _ask_menu(self, panel: Panel, at: QPoint) -> bool:
        """Ask for the menu of a layer, and of the head under the mouse; say whether the matrix is that of one."""
        shown = self._of.get(id(panel))
        if shown is None or shown.field.adjacency or self.frame is None:
            return False
        layer = shown.field.key if shown.square is self.frame.squares[0] else ""
        self.menu_asked.emit(layer, "head" if panel.matrix.heads > 1 else "", panel.head, at)
        return True

    def _drop(self, panel: Panel, row: int, target: int) -> None:
        """Give the dragged node the number of the one it was let go on, as numbered after the steps so far."""
        shown = self._of.get(id(panel))
        if shown is None or shown.square.of(GraphPart) is None:  # steps and patches cannot be put in any order
            return
        i, j = (int(shown.part.order[int(panel.view.nodes[k])]) for k in (row, target))
        if min(i, j) >= 0 and i != j:
            step = Step("move", (float(i), float(j)))
            self.wished.emit(Wish(changes={"steps": (*self.state.steps, step)}, done=True))

    def _point(self, place: tuple[Panel, int, int | None] | None) -> None:
        shown = self._of.get(id(place[0])) if place is not None else None
        if place is None or shown is None:
            self.hovered.emit("")
            return
        panel, row, column = place
        hand = ": drag it onto another row to renumber it" if shown.square.of(GraphPart) is not None else ""
        with np.errstate(all="ignore"):
            self.hovered.emit(read_out(shown.name, panel, row, column, hand))

    # layout, theme, files ---------------------------------------------------------------------------------------
    def _turn(self, flat: bool) -> None:
        self._flat = flat
        self.controls.lie(flat, self.width())
        if self._written is not None:
            self._tell(*self._written)
        free, asked = QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred
        # beside the matrices it asks for no height, below them for no width
        self.words.setSizePolicy(*((asked, free) if flat else (free, asked)))
        self.words.setWordWrap(not flat)
        if flat:
            self.words.setFixedWidth(WORDS)
        else:
            self.words.setMinimumWidth(0)
            self.words.setMaximumWidth(UNBOUNDED)

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._all.resize(event.size())  # hidden too: it must not stand up first when it is shown
        if not self._flat:
            self.controls.lie(False, self.width())
        crossed = (event.size().height() < LOW) != (event.oldSize().height() < LOW)
        if self._written is not None and (crossed or not self._flat):
            self._tell(*self._written)

    def height_at(self, width: int) -> int:
        """Return the height of a figure: matrices as high as they are wide side by side, and the words below them."""
        each = min(width // max(1, len(self.canvas.groups)), LARGEST)
        return each + AROUND + max(0, self.words.heightForWidth(width))

    def render(self, *args: Any, **kwargs: Any) -> None:
        """Paint for a figure: every tile is waited for."""
        self.canvas.patient, self.canvas.ratio = True, _ratio(args[0])
        try:
            super().render(*args, **kwargs)
        finally:
            self.canvas.patient, self.canvas.ratio = False, 0.0

    def apply_theme(self) -> None:
        self._pages.apply_theme()
        self.controls.apply_theme()
        for widget in (self._all, self.controls, self.words):
            palette = widget.palette()
            palette.setColor(widget.backgroundRole(), colour("panel"))
            palette.setColor(widget.foregroundRole(), colour("text"))
            widget.setPalette(palette)
            widget.setAutoFillBackground(True)
        if self._field is not None:
            self.refresh()  # the words bear colours
        self.canvas.apply_theme()

    def numbers(self) -> dict[str, NDArray[Any]]:
        found: dict[str, NDArray[Any]] = {}
        for group in self.canvas.groups:
            panel = group[0]
            shown = self._of[id(panel)]
            matrix, name = panel.matrix, shown.name.partition(", head")[0]
            heads = range(matrix.heads)
            if matrix.sparse:
                pattern = matrix.pattern  # type: ignore[attr-defined]
                found[f"{name}: row, column"] = np.stack([pattern.rows, pattern.columns])
                found[f"{name}: values"] = matrix.values  # type: ignore[attr-defined]
            else:
                found[name] = written(matrix)
            found[f"{name}: nodes"] = panel.view.nodes
            found[f"{name}: row sums"] = np.stack([matrix.row_sums(h) for h in heads])
            found[f"{name}: column sums"] = np.stack([matrix.column_sums(h) for h in heads])
        return found

    def caption(self) -> str:
        panels = [group[0] for group in self.canvas.groups]
        if self._field is None or self.frame is None or not panels:
            return ""
        return caption(self.frame, panels, ORDERS[self._order()])


def _ratio(target: Any) -> float:
    """Return how many pixels of a figure's device one of the view has; vectors have one."""
    raster = isinstance(target, QPainter) and target.paintEngine().type() == QPaintEngine.Type.Raster
    return float(target.device().devicePixelRatio()) if raster else 1.0


def _heads(field: PairField) -> int:
    return int(field.values.shape[1] if field.on_edges else field.values.shape[0])


VIEW = ViewSpec(
    "pairs", "Attention and pairs", PairsView, "bottom", 5,
    "Attention, adjacency and every field on pairs, as matrices.", domains=("graph", "set", "sequence", "grid"),
)  # fmt: skip


if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(PairsView, lambda view, samples: view.set_frame(samples.make_frame()))
