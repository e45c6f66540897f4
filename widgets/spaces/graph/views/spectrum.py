"""The graph's spectrum: which frequencies the input has, which the layer keeps, and what a frequency looks like."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QSizePolicy, QWidget

from explorer.spaces.graph.drawing.values import GraphPart
from explorer.square.frame import Square
from widgets.base.frame_view import StateView
from widgets.base.text.words import subject
from widgets.base.view import ViewSpec, Wish
from widgets.charts.adaptive import Adaptive
from widgets.spaces.graph.charts.eigenvector_chart import EigenvectorChart
from widgets.spaces.graph.charts.spectrum_chart import SpectrumChart

NOTHING = "No spectrum yet. Choose a graph and a network that works on graphs."
NO_GRAPH = "This sample is no graph. The spectrum is that of a graph's Laplacian: choose a graph, such as karate."
COMING = "The eigenvectors of the graph are being computed …"
EMPTY = "A graph without nodes has no spectrum."


class SpectrumView(StateView):
    """Eigenvalues of the normalised Laplacian with the energies of input and layer; a click shows an eigenvector."""

    FOLLOWS = ("node",)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.selected: int | None = None
        self.charts = (SpectrumChart(self), SpectrumChart(self))
        self.vector = EigenvectorChart(self)
        self._row = row = Adaptive(self, turned=self._turned)
        row.setSpacing(4)
        for chart in self.charts:
            row.addWidget(chart, 3)
            chart.hovered.connect(self.hovered)
            chart.picked.connect(self.pick)
        row.addWidget(self.vector, 1)
        self.vector.setMinimumWidth(170)
        self.vector.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.vector.hovered.connect(self.hovered)
        self.vector.clicked.connect(lambda node: self.wished.emit(Wish(changes={"node": node})))
        self.show_frame(None)

    def _turned(self, flat: bool) -> None:
        """Give the eigenvector more of a tall window: below charts it would be a strip."""
        if hasattr(self, "_row"):
            self._row.setStretchFactor(self.vector, 1 if flat else 2)

    # what comes in --------------------------------------------------------------------------------------------
    def refresh(self) -> None:
        squares = self.squares  # each chart says what its own square lacks
        self.charts[1].setVisible(len(squares) > 1)
        for k, (chart, role) in enumerate(zip(self.charts, ("first", "second"))):
            square = squares[k] if k < len(squares) else None
            chart.show_square(square, role, _message(square))
        self._show_vector()

    def follow(self) -> None:
        self._show_vector()

    def _show_vector(self) -> None:
        part = self._part()
        count = len(part.spectrum.eigenvalues) if part is not None and part.spectrum is not None else 0
        self.selected = self.selected if self.selected is not None and self.selected < count else None
        self.vector.setVisible(count > 0)
        self.vector.show_vector(part, self.selected, self.state.node)
        for chart in self.charts:
            chart.select(self.selected)

    def _part(self) -> GraphPart | None:
        """Return the first graph with a spectrum: both models see the same one."""
        found = (s.of(GraphPart) for s in self.squares)
        return next((part for part in found if part is not None and part.spectrum is not None), None)

    def pick(self, number: int) -> None:
        """Show an eigenvector."""
        self.selected = number
        self._show_vector()

    # exports --------------------------------------------------------------------------------------------------
    def numbers(self) -> dict[str, NDArray[Any]]:
        found: dict[str, NDArray[Any]] = {}
        for k, (square, chart) in enumerate(zip(self.squares, self.charts)):
            before, lines = "compare." if k else "", chart.lines
            part = square.of(GraphPart)
            if lines is None or part is None or part.spectrum is None:
                continue
            if not found:
                found["eigenvalue"] = np.asarray(part.spectrum.eigenvalues)
                found["level"] = lines.values
                found["multiplicity"] = lines.count
                found["energy of the input"] = lines.x
            if lines.layer is not None and lines.response is not None:
                found[f"{before}energy of {square.layer.name}"] = lines.layer
                found[f"{before}response"] = lines.response
            means = [np.nan if m is None else m for m in lines.means]
            found[f"{before}Rayleigh quotient"] = np.array(means, dtype=float)
        if self.selected is not None and self.vector.values.size:
            found[f"eigenvector {self.selected + 1}"] = self.vector.values
        return found

    def caption(self) -> str:
        part = self._part()
        if self.frame is None or part is None or part.spectrum is None:
            return ""
        k, n = len(part.spectrum.eigenvalues), part.structure.nodes
        partial = f"; the lowest {k} of {n} eigenvalues" if part.spectrum.partial else ""
        layers = " and ".join(dict.fromkeys(s.layer.name for s in self.squares))
        directed = "; the directed graph symmetrised" if part.structure.directed else ""
        return (
            f"Shares of energy over the eigenvalues of L = I − D^−½AD^−½, of the input and of {layers}, and the "
            f"response of {layers}: {subject(self.frame)}{partial}{directed}."
        )

    def apply_theme(self) -> None:
        for chart in (*self.charts, self.vector):
            chart.dress()


def _message(square: Square | None) -> str:
    if square is None:
        return NOTHING
    if (part := square.of(GraphPart)) is None:
        return NO_GRAPH
    if not part.structure.nodes:
        return EMPTY
    return part.missing.get("spectrum", COMING) if part.spectrum is None else ""


VIEW = ViewSpec(
    "spectrum",
    "Spectrum",
    SpectrumView,
    "bottom",
    4,
    "The graph's frequencies: what the input has of each, what the layer keeps, how an eigenvector looks.",
    domains=("graph", "set"),
)

if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(SpectrumView, lambda view, samples: view.set_frame(samples.make_frame()))
