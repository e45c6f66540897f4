"""A graph and what a layer says of it: before and after a permutation, at the same places, and their difference."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint
from PySide6.QtGui import QActionGroup, QResizeEvent
from PySide6.QtWidgets import QComboBox, QLabel, QMenu, QToolButton, QVBoxLayout, QWidget

from explorer.declare.elements import Step
from explorer.spaces.graph.drawing.values import GraphPart
from explorer.square.frame import Square
from widgets.base.controls.elided_combo import ElidedCombo
from widgets.base.controls.flow import Flow, words_in_line
from widgets.base.frame_view import FrameView
from widgets.base.look import theme
from widgets.base.text.words import figure, subject
from widgets.base.view import ViewSpec, Wish, numbers_of
from widgets.spaces.graph.drawing.canvas import GraphCanvas
from widgets.spaces.graph.drawing.dense import dense_size
from widgets.spaces.graph.drawing.look import SIDES, Choice, flattened
from widgets.spaces.graph.drawing.placing import Placing, place_key
from widgets.spaces.graph.drawing.scene import COLOURS, Scene, Stage, Wanted, hulls_of, telling, waiting_words
from widgets.spaces.graph.words import edge_text, lasso_text, node_text

NOTHING = "Pick a graph to see its nodes, their values and the edges between them."
NONE = "This model does not live on a graph.\nPick a graph or a set, and a model for it, in the gallery."
WAYS = {"size": ("equal", "value", "degree", "influence"), "labels": ("number", "name", "none"),
        "hulls": ("none", "class", "community")}  # fmt: skip
TITLES = {"size": "Size of nodes", "labels": "Labels", "hulls": "Hulls", "number": "Numbers", "name": "Names",
          "none": "None", "equal": "Equal", "value": "By value", "degree": "By degree", "influence": "By influence",
          "class": "Of classes", "community": "Of communities", "before": "x and F(x)", "after": "ρ(g)x and F(ρ(g)x)",
          "difference": "Difference"}  # fmt: skip
NO_LAYOUT = "No layout was found ({}): the nodes lie on a disc, in their order"
ROUND = 20  # pixels at both ends of the row of choices
MUST = ("Nodes", "Edges")  # words that always stand before their choices
LARGE = 20_000  # nodes or edges from which panels are worked out beside the window
PAIRS_OF_ONE = 20  # pairs of nodes are looked through that much faster than edges are drawn


class GraphView(FrameView[tuple[Square, GraphPart]]):
    """Draws the frame's graph part; selection and relabelling are wishes, places and looks are the view's own."""

    MOST = 3
    figure_height = 0.85  # of the width of a figure in a column, at least
    FOLLOWS, NOTHING, NONE = ("node", "other", "channel"), NOTHING, NONE

    def __init__(self, parent: QWidget | None = None, seconds: float = 6.0) -> None:
        super().__init__(parent)
        self.choice = Choice()
        self.placing = Placing(self, seconds)
        self.canvas = GraphCanvas()
        self.stage = Stage()
        self._key = ""
        self._ends: NDArray[Any] = np.zeros((2, 0), np.int64)  # of what lines stand for
        self._picked: dict[str, str] = {}  # what the person chose that colours and widths mean, offered just now or not
        self.colour, self.channel, self.edges, self.head = (ElidedCombo() for _ in range(4))
        for box, name, tip in (
            (self.colour, "Nodes", "What the colour of a node means"),
            (self.channel, "Channel", "Which channel of it; the norm is over all"),
            (self.edges, "Edges", "What the width of an edge means"),
            (self.head, "Head", "Which head; the norm is over all"),
        ):
            box.setAccessibleName(name)
            box.setToolTip(tip)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
            box.setMinimumWidth(38)  # in a narrow window names are cut, and the window stays as narrow as asked for
        self.relabel, self.look, self.fit = (_button(text) for text in ("Relabel", "Show", "Fit"))
        self.relabel.setCheckable(True)
        self.relabel.setToolTip("Drag one node onto another to swap their numbers (or hold Alt)")
        self.fit.setToolTip("Show the whole graph (F)")
        self.look.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.menu = self._make_menu()
        self.look.setMenu(self.menu)
        self._build()
        self._connect()
        self.apply_theme()
        self.show_frame(None)

    def _build(self) -> None:
        self._chrome = QWidget()
        self._chrome.setMinimumWidth(1)
        self._chrome.setProperty("chrome", True)  # left out of exported figures
        around = QVBoxLayout(self._chrome)
        around.setContentsMargins(12, 6, ROUND - 12, 0)
        row = Flow()  # in a narrow window it goes on in a second line, and no name is cut
        around.addLayout(row)
        self._words = tuple(QLabel(text) for text in ("Nodes", "in", "Edges", "of"))
        for word, box in zip(self._words, (self.colour, self.channel, self.edges, self.head), strict=True):
            row.add_word(word)
            row.addWidget(box)
        for button in (self.relabel, self.look, self.fit):
            row.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._chrome)
        column.addWidget(self.canvas, 1)
        self.setFocusProxy(self.canvas)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_words()

    def _show_words(self) -> None:
        """Show the words before the choices that there are; those that only join two choices where there is room."""
        boxes = (self.colour, self.channel, self.edges, self.head)
        pairs = [pair for pair in zip(self._words, boxes, strict=True) if not pair[1].isHidden()]
        shown = words_in_line(self.width() - ROUND, pairs, (self.relabel, self.look, self.fit), MUST)
        for word in self._words:
            word.setVisible(word in shown)

    def _make_menu(self) -> QMenu:
        menu = QMenu(self)
        self.actions_: dict[tuple[str, str], Any] = {}
        for side in SIDES:
            action = menu.addAction(TITLES[side])
            action.setCheckable(True)
            action.setChecked(True)
            action.toggled.connect(self._sides_changed)
            self.actions_["sides", side] = action
        for what, ways in WAYS.items():
            inner = menu.addMenu(TITLES[what])
            group = QActionGroup(inner)
            for way in ways:
                action = inner.addAction(TITLES[way])
                action.setCheckable(True)
                action.setChecked(getattr(self.choice, what) == way)
                action.triggered.connect(lambda _=False, what=what, way=way: self.choose(**{what: way}))
                group.addAction(action)
                self.actions_[what, way] = action
        return menu

    def _connect(self) -> None:
        c = self.canvas
        self.colour.activated.connect(lambda: self.choose(colour=str(self.colour.currentData())))
        self.edges.activated.connect(lambda: self.choose(edges=str(self.edges.currentData())))
        self.head.activated.connect(lambda: self.choose(head=self.head.currentData()))
        self.channel.activated.connect(lambda: self.wished.emit(Wish({"channel": self.channel.currentData()})))
        self.relabel.toggled.connect(lambda on: setattr(c, "relabel", on))
        self.fit.clicked.connect(c.fit)
        self.placing.placed.connect(self._placed)
        c.pictures.made.connect(self._show)
        c.pointed.connect(self._point)
        c.clicked.connect(self._click)
        c.menu_asked.connect(self._ask_menu)
        c.swapped.connect(self._swap)
        c.dropped.connect(self._drop)
        c.released.connect(self._release)
        c.chosen.connect(self._lasso)

    # what is shown ----------------------------------------------------------------------------------------------
    def show_empty(self, sentence: str) -> None:
        self._chrome.setEnabled(False)
        c = self.canvas
        c.message = sentence
        c.panels, c.places, self._key, c.status = [], None, "", ""
        c.redraw()

    def draw(self, parts: list[tuple[Square, GraphPart]]) -> None:
        self._chrome.setEnabled(True)
        self.canvas.message = ""
        self._offer(parts[0][1])
        self._draw()

    def follow(self) -> None:
        self._draw()

    def parts(self) -> list[tuple[Square, GraphPart]]:
        """Return the squares that live on the first one's graph."""
        found = self.with_part(GraphPart)
        return [(s, g) for s, g in found if g.structure.nodes == found[0][1].structure.nodes]

    def _offer(self, part: GraphPart) -> None:
        """Offer what this graph has to colour nodes and to widen edges by."""
        s = part.structure
        has = {"class": s.classes, "influence": part.influence, "distance": part.distance, "graph": s.graph_of,
               "community": self.placing.groups(s)}  # fmt: skip
        colours = [(name, text) for name, text in COLOURS.items() if has.get(name, True) is not None]
        colours += [(f"set:{name}", f"in {name}") for name in part.sets]
        _fill(self.colour, colours, self._picked.get("colour", self.choice.colour))
        own = part.kind in ("edge", "pair")  # then the layer itself says how wide an edge is
        edges = [("plain", "the layer" if own else "plain" if s.edges.shape[1] else "none")]
        edges += [("weights", "weights")] if s.weights is not None else []
        edges += [(name, name) for name in (*part.coefficients, *part.pairs)]
        wanted = self._picked.get("edges", "")
        if wanted not in [name for name, _ in edges]:
            wanted = "plain" if own else telling(part, self.frame.squares[0].layer.name if self.frame else "")
        self.choice = replace(self.choice, edges=wanted, colour=str(self.colour.currentData()))
        _fill(self.edges, edges, wanted)
        self.edges.setVisible(bool(s.edges.shape[1]) or len(edges) > 1)
        heads = flattened(part.coefficients[wanted]).shape[1] if wanted in part.coefficients else 1
        heads = len(part.pairs[wanted]) if wanted in part.pairs else heads
        self.head.setVisible(heads > 1)
        _fill(self.head, [(None, "norm"), *((h, f"head {h}") for h in range(heads))], self.choice.head)
        self.choice = replace(self.choice, head=self.head.currentData())
        values = part.x if self.choice.colour == "input" or part.kind == "invariant" else part.values
        count = len(values) if part.kind == "pair" and values is part.values else values[:1].size
        self.channel.setVisible(count > 1 and self.choice.colour in ("layer", "input"))
        _fill(self.channel, [(None, "norm"), *((k, f"channel {k}") for k in range(count))], self.state.channel)
        self._show_words()

    def _draw(self) -> None:
        """Work out what each panel shows and hand it to the canvas."""
        parts, c = self.parts(), self.canvas
        if not parts:
            return
        s, node = parts[0][1].structure, self.state.node
        self.choice = choice = replace(self.choice, channel=self.state.channel)
        fresh, self._key = place_key(s) != self._key, place_key(s)
        if fresh:
            c.touched, c.inside, c.chip, c.hot, c.panels = False, np.zeros(0, np.int64), "", None, []
            c.forget()
        c.waiting = waiting_words(s)
        channel, head = (_words(box) for box in (self.channel, self.head))
        wanted = Wanted(parts, choice, node, self.placing.groups(s), channel, head)
        if max(s.nodes, s.edges.shape[1], dense_size(parts[0][1], choice) // PAIRS_OF_ONE) > LARGE:
            c.pictures.make(lambda: self.stage.make(wanted))
            if self.isVisible():
                self.placing.places(s)  # the two can be worked out at the same time
            c.update()
        else:
            self._show(self.stage.make(wanted))

    def _show(self, scene: Scene) -> None:
        """Hand to the canvas what was worked out."""
        w, c = scene.wanted, self.canvas
        s = w.parts[0][1].structure
        if place_key(s) != self._key:
            return
        c.given, self._ends = s.positions is not None, scene.ends
        c.names, c.labels = s.names, w.choice.labels
        c.selected = w.node if w.node is not None and w.node < s.nodes else None
        c.directed, c.arrows = s.directed, scene.valued and w.node is not None
        c.pins, c.hulls, c.graphs, c.panels = self.placing.pinned(s), scene.hulls, scene.graphs, scene.rows
        places = self.placing.places(s) if self.isVisible() or c.places is not None else None
        c.set_graph(places, scene.lines, scene.rank)
        self._say_where_layout_is()
        heads = [square.title for square, _ in w.parts] if len(scene.rows) > 1 else []
        c.show_panels(scene.rows, heads, scene.legend)
        self._chip()

    def _say_where_layout_is(self) -> None:
        c = self.canvas
        c.status = ""
        if self.placing.running == self._key and c.places is not None:
            c.status = c.waiting[0]
        elif self._key in self.placing.failed:
            c.status = NO_LAYOUT.format(self.placing.failed[self._key])

    # what the person chooses --------------------------------------------------------------------------------------
    def choose(self, **changes: Any) -> None:
        """Show it another way: any field of `Choice`."""
        self.choice = replace(self.choice, **changes)
        self._picked |= {what: changes[what] for what in ("colour", "edges") if what in changes}
        for (what, way), action in self.actions_.items():
            if what != "sides":
                action.setChecked(getattr(self.choice, what) == way)
        if parts := self.parts():
            self._offer(parts[0][1])
        self._draw()

    def forget_choices(self) -> None:
        self._picked.clear()
        self.choose(**{name: getattr(Choice(), name) for name in ("colour", "head")})

    def _sides_changed(self) -> None:
        sides = tuple(side for side in SIDES if self.actions_["sides", side].isChecked())
        if not sides:  # nothing to see is nothing to choose: the last one stays
            self.actions_["sides", "before"].setChecked(True)
            return
        self.choose(sides=sides)

    # what the canvas tells ----------------------------------------------------------------------------------------
    def _placed(self, key: str) -> None:
        parts = self.parts()
        if not parts or place_key(parts[0][1].structure) != key or not self.isVisible():
            return
        known, s = self.canvas.places, parts[0][1].structure
        if self.canvas.panels and (places := self.placing.places(s)) is not known:
            self.canvas.set_graph(places, self.canvas.lines)
        self._say_where_layout_is()
        if self.placing.groups(s) is not None:  # they come last, and can be chosen from then on
            self._offer(parts[0][1])
            self._draw()
        if key in self.placing.failed and not self.placing.running:
            self.hovered.emit(NO_LAYOUT.format(self.placing.failed[key]))
        self.canvas.update()

    def _click(self, found: tuple[str, int] | None) -> None:
        lines = self.canvas.lines
        if found is None:
            self._lasso(np.zeros(0, np.int64))
            if self.state.node is not None:
                self.wished.emit(Wish({"node": None, "other": None}))
        elif found[0] == "node":
            self.wished.emit(Wish({"node": found[1], "other": None}))
        else:
            ends = {"node": int(lines.end[found[1]]), "other": int(lines.start[found[1]])}
            self.wished.emit(Wish(ends))

    def _ask_menu(self, found: tuple[str, int] | None, row: int, at: QPoint) -> None:
        """Ask for the menu of the layer, and of the node or edge under the mouse where it has values there."""
        parts = self.parts()
        if row >= len(parts) or self.frame is None:
            return
        square, part = parts[row]
        there = found is not None and found[0] == part.kind
        index = -1 if found is None else found[1]
        if there and part.kind == "edge":
            index = int(self.canvas.lines.listed[index])
        layer = square.layer.name if square is self.frame.squares[0] else ""
        self.menu_asked.emit(layer, part.kind if there else "", index, at)

    def _swap(self, one: int, two: int) -> None:
        """Ask for two numbers to be exchanged: those that the nodes have now, for the step comes after the others."""
        parts = self.parts()
        if not parts or self.frame is None:
            return
        if self.frame.state.steps != self.state.steps:
            self.hovered.emit("The last permutation is still being computed")
            return
        order = parts[0][1].order
        numbers = int(order[one]), int(order[two])
        if min(numbers) >= 0:
            step = Step("swap", (float(numbers[0]), float(numbers[1])))
            self.wished.emit(Wish({"steps": (*self.state.steps, step)}))

    def _drop(self, node: int, place: tuple[float, float]) -> None:
        if parts := self.parts():
            self.placing.pin(parts[0][1].structure, node, place)
            self._draw()

    def _release(self, node: int) -> None:
        if (parts := self.parts()) and self.placing.unpin(parts[0][1].structure, node):
            self._draw()

    def _lasso(self, nodes: NDArray[Any]) -> None:
        self.canvas.inside = nodes
        self._chip()
        self.canvas.redraw()

    def _chip(self) -> None:
        rows, nodes = self.canvas.panels, self.canvas.inside
        self.canvas.chip = lasso_text(rows[0], nodes) if len(nodes) and rows and rows[0] else ""
        members = [(nodes, theme.current().accent)] if len(nodes) > 1 else []
        part = self.parts()[0][1] if rows else None
        kept = hulls_of(part, self.choice, self.placing.groups(part.structure)) if part is not None else []
        self.canvas.hulls = [*kept, *members]

    def _point(self, found: tuple[str, int] | None) -> None:
        parts, rows = self.parts(), self.canvas.panels
        if found is None or not parts or not rows:
            self.hovered.emit("")
        elif found[0] == "node":
            self.hovered.emit(node_text(parts[0][1], found[1], rows))
        else:
            listed = int(self.canvas.lines.listed[found[1]])
            self.hovered.emit(edge_text(parts[0][1], listed, self.choice, rows[0], self._ends))

    # what every view can do ---------------------------------------------------------------------------------------
    def apply_theme(self) -> None:
        for label in self._words:
            label.setStyleSheet(f"color: {theme.current().muted};")
        if self.frame is not None and self.parts():
            self._draw()
        self.canvas.update()

    def settle(self) -> None:
        """Run the event loop until the nodes have their places and are painted."""
        self.canvas.pictures.settle()
        self.placing.settle()
        self.canvas.repaint()
        self.canvas.pictures.settle()

    def numbers(self) -> dict[str, NDArray[Any]]:
        parts = self.parts()
        if not parts:
            return {}
        s, places = parts[0][1].structure, self.canvas.places
        out: dict[str, NDArray[Any]] = {"edges": s.edges}
        if places is not None:
            out["positions"] = places
        sides = []
        for square, part in parts:
            known = {"order": part.order, "x": part.x, "F(x)": part.values, "F(ρ(g)x)": part.moved,
                     "ρ′(g)F(x)": part.expected, "difference": part.difference,
                     "influence": part.influence}  # fmt: skip
            sides.append((square, known | {f"coefficients/{name}": v for name, v in part.coefficients.items()}))
        return out | numbers_of(sides)

    def caption(self) -> str:
        parts = self.parts()
        if not parts or self.frame is None:
            return ""
        layer, legend = parts[0][0].layer.name, self.canvas.legend
        words = [f"{subject(self.frame)}, graph at {layer}", f"nodes: {legend.title}"]
        if legend.kind:
            words[-1] += f", colours {'±' if legend.kind == 'signed' else '0 to '}{figure(legend.limit)}"
        if legend.edges:
            words.append(f"edges: {legend.edges}, up to {figure(legend.edge_limit)}")
        if self.state.node is not None:
            words.append(f"node {self.state.node} selected")
        return "; ".join(words)

    def showEvent(self, event: Any) -> None:
        super().showEvent(event)
        if self.parts() and self.canvas.places is None:
            self._draw()

    def closeEvent(self, event: Any) -> None:
        self.placing.close()
        self.canvas.pictures.close()
        super().closeEvent(event)


def _button(text: str) -> QToolButton:
    (button := QToolButton(autoRaise=True)).setText(text)
    return button


def _words(box: QComboBox) -> str:
    """Return what is chosen in a box, nothing if there is no choice."""
    return "" if box.isHidden() else box.currentText()


def _fill(box: QComboBox, items: list[Any], wanted: object) -> None:
    """Give a combo box these (value, text) items and choose one, without a signal and only if they are others."""
    box.blockSignals(True)
    if [(box.itemData(i), box.itemText(i)) for i in range(box.count())] != items:
        box.clear()
        for value, text in items:
            box.addItem(text, value)
    box.setCurrentIndex(max(0, next((i for i in range(box.count()) if box.itemData(i) == wanted), 0)))
    box.blockSignals(False)


VIEW = ViewSpec(
    "graph", "Graph", GraphView, "center", 0, "A graph, its nodes' values and its messages.", domains=("graph", "set")
)


if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(GraphView, lambda view, samples: view.set_frame(samples.make_frame()))
