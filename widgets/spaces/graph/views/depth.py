"""Effects of depth: fields become smooth, far nodes lose their influence, and some graphs are never told apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QWidget

from explorer.spaces.graph.analysis.refinement import Verdict
from explorer.spaces.graph.drawing.values import GraphPart, Structure
from explorer.square.frame import Square
from widgets.base.frame_view import FrameView
from widgets.base.text.words import counterpart, subject
from widgets.base.view import ViewSpec, Wish
from widgets.charts.adaptive import Adaptive
from widgets.spaces.graph.charts.depth_chart import EnergyChart, InfluenceChart, Reach, fall_of
from widgets.spaces.graph.charts.separation import Row, SeparationTable, is_pair, model_row, refinement_row

NOTHING = "Nothing measured yet. Choose a graph and a network that works on graphs."
NO_GRAPH = "This sample is no graph. Depth is about fields on graphs: choose a graph, such as karate."
NO_ENERGY = "This network has no layer with values on the nodes."
NO_NODE = "Click a node in the Graph panel to see what influences it"
COMING = "The influence on the selected node is being measured …"
NOT_HERE = "The selected layer has no value at a node: choose one that lies on the nodes"

Found = tuple[Square, GraphPart, str]


class DepthView(FrameView[Found]):
    """Dirichlet energy by layer, influence by distance, and for two graphs whether they are told apart."""

    FOLLOWS, NOTHING, NONE = ("node",), NOTHING, NO_GRAPH

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._refined: tuple[Structure, Any, Row, Verdict | None] | None = None
        self.energy, self.influence, self.table = EnergyChart(self), InfluenceChart(self), SeparationTable(self)
        row = Adaptive(self)
        row.setSpacing(6)
        row.addWidget(self.energy, 3)
        row.addWidget(self.influence, 3)
        row.addWidget(self.table, 1)
        self.energy.hovered.connect(self.hovered)
        self.influence.hovered.connect(self.hovered)
        self.energy.clicked.connect(self._layer_clicked)
        self.influence.clicked.connect(lambda node: self.wished.emit(Wish(changes={"node": node})))
        self.show_frame(None)

    # what comes in --------------------------------------------------------------------------------------------
    def parts(self) -> list[Found]:
        """Return the squares that lie on a graph, with their colours' roles."""
        both = zip(self.squares, ("first", "second"))
        return [(s, part, role) for s, role in both if (part := s.of(GraphPart)) is not None]

    def show_empty(self, sentence: str) -> None:
        self.energy.show_falls([], sentence)
        self._show_influence()
        self._show_table()

    def draw(self, parts: list[Found]) -> None:
        falls = [fall_of(s.title, part.energy, s.layer.name, role) for s, part, role in parts if part.energy]
        why = next((part.missing["energy"] for _, part, _ in parts if "energy" in part.missing), NO_ENERGY)
        self.energy.show_falls(falls, "" if falls else why)
        self._show_influence()
        self._show_table()

    def follow(self) -> None:
        self._show_influence()

    def _show_influence(self) -> None:
        found, node = self.parts(), self.state.node
        self.influence.setVisible(bool(found))  # one sentence is enough where there is no graph
        answered = self.frame is not None and self.frame.state.node == node
        reaches = [
            Reach(s.title, s.layer.name, np.asarray(part.influence, dtype=np.float64), part.distance, role)
            for s, part, role in found
            if node is not None and answered and part.influence is not None and part.distance is not None
        ]
        names = found[0][1].structure.names if found else ()
        name = names[node] if node is not None and node < len(names) and names[node] else f"node {node}"
        message = ""
        if node is None:
            message = NO_NODE
        elif not reaches:
            message = NOT_HERE
            if not found or any(part.kind == "node" for _, part, _ in found):
                why = [part.missing["influence"] for _, part, _ in found if answered and "influence" in part.missing]
                message = why[0] if why else COMING
        self.influence.show_reaches(reaches, name, names, message)

    def _show_table(self) -> None:
        pairs = [(s, part, role) for s, part, role in self.parts() if is_pair(part)]
        self.table.setVisible(bool(pairs))
        rows: list[Row] = []
        if pairs and self.frame is not None:
            part = pairs[0][1]
            if self._refined is None or self._refined[0] is not part.structure or self._refined[1] is not part.x:
                self._refined = (part.structure, part.x, *refinement_row(part))
            _, _, first, verdict = self._refined
            rows = [first, *(model_row(s, role, self.frame.state.dtype, verdict) for s, _, role in pairs)]
        self.table.show_rows(tuple(rows))

    # what goes out --------------------------------------------------------------------------------------------
    def _layer_clicked(self, index: int, name: str) -> None:
        if self.frame is not None:
            self.wished.emit(Wish(changes={"layer": counterpart(self.frame, index, name)}))

    # exports --------------------------------------------------------------------------------------------------
    def numbers(self) -> dict[str, NDArray[Any]]:
        found: dict[str, NDArray[Any]] = {}
        for fall in self.energy.falls:
            before = "compare." if fall.role == "second" else ""
            found[f"{before}layer"] = np.array(fall.names, dtype=np.str_)
            found[f"{before}energy"] = fall.energies
        for reach in self.influence.reaches:
            before = "compare." if reach.role == "second" else ""
            found[f"{before}influence at {reach.layer}"] = reach.influence
            found[f"{before}distance"] = np.asarray(reach.distance)
        if self.table.rows:
            found["who"] = np.array([row.who for row in self.table.rows], dtype=np.str_)
            found["told apart"] = np.array([str(row.apart) for row in self.table.rows], dtype=np.str_)
            found["how"] = np.array([row.words for row in self.table.rows], dtype=np.str_)
        return found

    def caption(self) -> str:
        if self.frame is None or not self.parts():
            return ""
        parts = ["Dirichlet energy of each layer's node field"]
        if self.influence.reaches:
            layers = " and ".join(dict.fromkeys(reach.layer for reach in self.influence.reaches))
            parts.append(f"influence of every x on {self.influence.node} at {layers}")
        if self.table.rows:
            parts.append("which tests tell the two graphs apart")
        return f"{'; '.join(parts)}: {subject(self.frame)}."

    def apply_theme(self) -> None:
        self.energy.dress()
        self.influence.dress()
        self.table.update()


VIEW = ViewSpec(
    "depth",
    "Depth",
    DepthView,
    "bottom",
    5,
    "Over-smoothing, over-squashing, and graphs that message passing cannot tell apart.",
    domains=("graph", "set"),
)

if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(DepthView, lambda view, samples: view.set_frame(samples.make_frame()))
