"""Values by degree, and what distances are seen through: a spectrum that stands still, and bases of functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QVBoxLayout, QWidget

from explorer.spaces.points.drawing.spectrum import Spectrum, spectrum
from explorer.spaces.points.drawing.values import PointsPart
from explorer.spaces.points.fields import irreps
from explorer.square.frame import Square
from widgets.base.frame_view import FrameView
from widgets.base.text.words import subject
from widgets.base.view import ViewSpec
from widgets.charts.adaptive import Adaptive
from widgets.spaces.points.charts.basis_chart import BasisChart
from widgets.spaces.points.charts.degree_chart import DegreeChart

MOST_TICKS, MOST_EDGES = 2000, 2000  # lengths that are marked, and edges whose angles are
NO_DEGREES = "This layer has no values of a degree: choose one of irreps, or coordinates."


def spectrum_of(part: PointsPart, node: int | None) -> Spectrum | None:
    """Return the spectrum of the layer, of all places or of the selected point; None where it has no degrees."""
    rep = irreps("1x1o") if part.rep == "coordinates" else part.irreps
    values, answer = np.asarray(part.values), np.asarray(part.answer)
    if rep is None or values.shape[1] % rep.size or values.shape != answer.shape:
        return None
    if part.kind == "particle":
        answer = answer[part.order]
        if part.rep == "coordinates":  # seen from their middle, as a shift moves places
            values, answer = values - values.mean(0), answer - answer.mean(0)
        if node is not None and node < len(values):
            values, answer = values[node : node + 1], answer[node : node + 1]
    elif part.kind == "edge" and len(part.edge_order) == len(answer):
        answer = answer[part.edge_order]
    return spectrum(rep, values, answer)


def lengths_of(part: PointsPart) -> NDArray[Any]:
    """Return the lengths of the network's edges in x, each once."""
    if not part.edges.size:
        return np.zeros(0)
    apart = part.position[part.edges[0]] - part.position[part.edges[1]]
    return np.unique(np.linalg.norm(apart, axis=1).round(3))[:MOST_TICKS]


def angles_of(part: PointsPart) -> NDArray[Any]:
    """Return the angles at i between j and k for edges k → j → i of x, in degrees, each once; none of many edges."""
    source, target = part.edges
    if not 0 < len(source) <= MOST_EDGES:
        return np.zeros(0)
    inward, outward = np.nonzero((target[:, None] == source[None]) & (source[:, None] != target[None]))
    one = part.position[source[outward]] - part.position[target[outward]]
    other = part.position[source[inward]] - part.position[target[outward]]
    cross = np.linalg.norm(np.cross(one, other), axis=1)
    return np.unique(np.degrees(np.arctan2(cross, (one * other).sum(1))).round(1))


class DegreesView(FrameView[tuple[Square, PointsPart]]):
    """The spectrum of the selected layer beside the functions that the network sees distances through."""

    FOLLOWS = ("node",)
    NOTHING = "Choose a molecule or a cloud, and a network on points."
    NONE = "This model does not live on points in space."

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.degrees, self.basis = DegreeChart(self), BasisChart(self)
        self._layer = ""  # that was selected when the functions were chosen
        self.functions = QComboBox()
        self.functions.setProperty("chrome", True)  # left out of exported figures
        self.functions.setAccessibleName("Functions that are drawn")
        self.functions.setToolTip("Which module's functions of a distance or an angle")
        self.functions.activated.connect(lambda _: self.refresh())
        self._bases = QWidget()
        column = QVBoxLayout(self._bases)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.functions, 0, Qt.AlignmentFlag.AlignRight)
        column.addWidget(self.basis, 1)
        row = Adaptive(self)
        row.setSpacing(6)
        row.addWidget(self.degrees, 1)
        row.addWidget(self._bases, 1)
        self.degrees.hovered.connect(self.hovered)
        self.basis.hovered.connect(self.hovered)
        self.show_frame(None)

    def parts(self) -> list[tuple[Square, PointsPart]]:
        """Return the squares that live on points."""
        return self.with_part(PointsPart)

    def show_empty(self, sentence: str) -> None:
        self.degrees.show_spectrum(None, message=sentence)
        self._bases.hide()

    def draw(self, parts: list[tuple[Square, PointsPart]]) -> None:
        square, part = parts[0]
        found = spectrum_of(part, self.state.node)
        node = self.state.node
        whose = ""
        if node is not None and part.kind == "particle" and node < len(part.position):
            whose = f", {part.names[node]}" if node < len(part.names) else f", point {node}"
        self.degrees.show_spectrum(found, f"{square.layer.name}{whose}", NO_DEGREES)
        name = self._shown(square, part)
        curve = part.curves.get(name)
        self._bases.setVisible(bool(name))
        angular = curve is not None and curve.quantity == "angle"
        self.basis.show_curve(curve, angles_of(part) if angular else lengths_of(part), name)

    def _shown(self, square: Square, part: PointsPart) -> str:
        """Return the module whose functions are shown: the selected layer, else the chosen one, else the first."""
        names, here = list(part.curves), square.layer.name
        if [self.functions.itemText(k) for k in range(self.functions.count())] != names:
            self.functions.clear()
            self.functions.addItems(names)
            self._layer = ""
        if here != self._layer and here in part.curves:  # another layer was selected
            self.functions.setCurrentText(here)
        self._layer = here
        self.functions.setVisible(len(names) > 1)
        return self.functions.currentText()

    def numbers(self) -> dict[str, NDArray[Any]]:
        out: dict[str, NDArray[Any]] = {}
        if (found := self.degrees.spectrum) is not None and self.parts():
            out |= {"kind": np.array(found.kinds, np.str_), "F(x)": found.before, "F(ρ(g)x)": found.after,
                    "components changed": found.mixed}  # fmt: skip
        if (curve := self.basis.curve) is not None and self.parts():
            out |= {curve.quantity: np.asarray(curve.along), "functions": np.asarray(curve.values)}
        return out

    def caption(self) -> str:
        if self.frame is None or not self.parts():
            return ""
        return f"Sizes of values by degree at {self.parts()[0][0].layer.name}: {subject(self.frame)}."

    def apply_theme(self) -> None:
        self.degrees.dress()
        self.basis.dress()


VIEW = ViewSpec(
    "degrees",
    "Degrees",
    DegreesView,
    "bottom",
    5,
    "How large the values of each degree are, and the functions that distances are seen through.",
    domains=("points",),
)

if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(DegreesView, lambda view, samples: view.set_frame(samples.make_frame()))
