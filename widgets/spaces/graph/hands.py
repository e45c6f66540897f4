"""Link the rows of x and of ρ(g)x on a graph, select nodes, edges and pairs, and renumber nodes by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt

from explorer.declare.elements import Step
from explorer.spaces.graph.drawing.values import GraphPart
from explorer.square.frame import Square
from explorer.state.state import State
from widgets.base.view import Wish
from widgets.maps.linking import Link, Place, Places
from widgets.stage.hands import Hands


class GraphLink(Link):
    """The map of rows (nodes, edges) that a renumbering makes; of a matrix of pairs both rows and columns move."""

    def __init__(self, part: GraphPart) -> None:
        self._orders = {"node": part.order, "edge": part.edge_order, "pair": part.order}

    def forward(self, place: Place, source: Places, target: Places) -> Place | None:
        return self._moved(place, source, self._orders.get(source.kind))

    def back(self, place: Place, source: Places, target: Places) -> Place | None:
        order = self._orders.get(source.kind)
        return self._moved(place, source, None if order is None else _inverse(order))

    def _moved(self, place: Place, source: Places, order: NDArray[np.int64] | None) -> Place | None:
        channel, row, column = place
        if order is None:
            return place
        pair = source.kind == "pair"
        if row >= len(order) or (pair and column >= len(order)):
            return None
        row, column = int(order[row]), int(order[column]) if pair else column
        return None if row < 0 or column < 0 else (channel, row, column)


def _inverse(order: NDArray[np.int64]) -> NDArray[np.int64]:
    size = int(order.max(initial=-1)) + 1
    back = np.full(max(size, len(order)), -1, np.int64)
    kept = np.flatnonzero(order >= 0)
    back[order[kept]] = kept
    return back


class RowHand:
    """Dragging a row of rho(g) x to another place renumbers its node; those between step aside."""

    def __init__(self, wish: Callable[[Wish], None]) -> None:
        self._wish = wish
        self._before: tuple[Step, ...] | None = None  # the steps when the drag began
        self._last = -1

    def drag(self, state: State, start: int, rows: float, count: int, done: bool) -> None:
        """Move the row grabbed at `start` by so many rows, among `count`."""
        if self._before is None:
            self._before, self._last = state.steps, start
        to = min(max(start + round(rows), 0), count - 1)
        if to != self._last or done:
            self._last = to
            steps = (*self._before, Step("move", (float(start), float(to)))) if to != start else self._before
            self._wish(Wish(changes={"steps": steps}, tag="rows", done=done))
        if done:
            self._before = None


class GraphHands(Hands):
    """Hands on the rows of a graph."""

    name = "graph"
    hint = "Drag a row of ρ(g)x: renumber a node · Space: shuffle all · click a row: select its node"
    hint_enlarged = tip = hint
    rows = frozenset({"node", "edge"})
    kind_of_x = "node"
    selected = ("channel", "pixel", "node", "other")

    def __init__(self, wish: Callable[[Wish], None]) -> None:
        super().__init__(wish)
        self._part: GraphPart | None = None
        self._rows = RowHand(wish)

    def show(self, square: Square) -> None:
        self._part = square.of(GraphPart)
        self.link = Link() if self._part is None else GraphLink(self._part)

    def drag(
        self, grabbed: Place | None, rows: int, right: float, down: float, modifiers: Qt.KeyboardModifier, done: bool
    ) -> None:
        if self._part is None or grabbed is None or len(self._part.gx) != rows:
            return  # a picture of averaged rows has none to be grabbed
        self._rows.drag(self.state, grabbed[1], down, rows, done)

    def picked(self, square: Square, place: Place, channel: int | None) -> dict[str, Any]:
        _, at, column = place
        part = square.of(GraphPart)
        edges = part.structure.edges if part is not None else np.zeros((2, 0), np.int64)
        match square.layer.kind_of_places:
            case "node":
                return {"node": at, "other": None, "channel": column}
            case "edge" if at < edges.shape[1]:
                return {"node": int(edges[1, at]), "other": int(edges[0, at]), "channel": column}
            case "pair":
                return {"node": at, "other": column, "channel": place[0]}
            case _:
                return {"channel": place[0]}

    def chosen(self, state: State, square: Square) -> Place:
        if (part := square.of(GraphPart)) is None:
            return super().chosen(state, square)
        node = -1 if state.node is None else state.node
        match square.layer.kind_of_places:
            case "node":
                return (0, node, state.channel or 0)
            case "pair":
                return (state.channel or 0, node, node if state.other is None else state.other)
            case "edge" if state.other is not None:
                at = np.flatnonzero((part.structure.edges == [[state.other], [node]]).all(0))
                return (0, int(at[0]) if len(at) else -1, state.channel or 0)
            case _:
                return (0, -1, -1)

    def place_of_x(self, layer: Places, place: Place, x: Places) -> Place | None:
        return (0, place[1], 0) if layer.kind in ("node", "pair") else None  # an edge has no row of its own


HANDS = GraphHands
