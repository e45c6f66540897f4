"""Values by degree, and what distances are seen through: a spectrum that stands still, and bases of functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QComboBox, QVBoxLayout, QWidget

from explorer.spaces.points.drawing.spectrum import Degreed
from explorer.square.frame import Square
from widgets.base.frame_view import FrameView
from widgets.base.text.words import subject
from widgets.base.view import ViewSpec, numbers_of
from widgets.charts.adaptive import Adaptive
from widgets.charts.beside import Beside, readable_size
from widgets.spaces.points.charts.basis_chart import BasisChart
from widgets.spaces.points.charts.degree_chart import DegreeChart

IRREPS = "irreps("  # in the text of a field: the values of several degrees


class DegreesView(FrameView[tuple[Square, Degreed]]):
    """The spectrum of the selected layer beside the functions that the network sees distances through."""

    FOLLOWS = ("node",)
    NOTHING = "Choose a molecule, a cloud or a volume, and a network whose values have degrees."
    NONE = "This model lives neither on points in space nor on volumes."

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.beside = Beside(self._chart)
        self.degrees, self.basis = self.beside.charts[0], BasisChart(self)
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
        row.addWidget(self.beside, 1)
        row.addWidget(self._bases, 1)
        self.basis.hovered.connect(self.hovered)
        self.show_frame(None)

    def _chart(self) -> DegreeChart:
        chart = DegreeChart()
        chart.hovered.connect(self.hovered)
        chart.asked.connect(lambda degree, at: self._ask_menu(chart, degree, at))
        return chart

    def _ask_menu(self, chart: DegreeChart, degree: int, at: QPoint) -> None:
        """Ask for the menu of all values of a degree."""
        square, _ = self.parts()[self.beside.charts.index(chart)]
        mixed = IRREPS in square.layer.field  # coordinates are of one degree: the whole layer
        self.ask_menu_of(square, at, "degree" if mixed else "", degree if mixed else -1)

    def parts(self) -> list[tuple[Square, Degreed]]:
        """Return the squares whose layers may have values of degrees."""
        return self.with_part(Degreed)

    def show_empty(self, sentence: str) -> None:
        self.beside.first(1)[0].show_spectrum(None, message=sentence)
        self._bases.hide()

    def draw(self, parts: list[tuple[Square, Degreed]]) -> None:
        for chart, (square, part) in zip(self.beside.first(len(parts)), parts, strict=True):
            found, whose = part.spectrum_at(self.state.node), part.called(self.state.node)
            title = f"{square.layer.name}{whose and ', '}{whose}"
            chart.show_spectrum(found, f"{title} · {square.title}" if len(parts) > 1 else title, no_degrees(square))
        square, part = next(((s, p) for s, p in parts if p.curves), parts[0])
        name = self._shown(square, part)
        curve = part.curves.get(name)
        self._bases.setVisible(bool(name))
        self.basis.show_curve(curve, np.zeros(0) if curve is None else part.marks(curve), name, part.apart)

    def _shown(self, square: Square, part: Degreed) -> str:
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

    figure_size = readable_size

    def numbers(self) -> dict[str, NDArray[Any]]:
        out: dict[str, NDArray[Any]] = {}
        parts, sides = self.parts(), []
        for chart, (square, _) in zip(self.beside.charts, parts, strict=False):
            if (found := chart.spectrum) is not None:
                known = {"kind": np.array(found.kinds, np.str_), "F(x)": found.before, "F(ρ(g)x)": found.after,
                         "components changed": found.mixed}  # fmt: skip
                sides.append((square, known))
        out |= numbers_of(sides)
        if (curve := self.basis.curve) is not None and parts:
            # a row for each distance
            out |= {curve.quantity: np.asarray(curve.along), "functions": np.asarray(curve.values).T}
        return out

    def caption(self) -> str:
        if self.frame is None or not self.parts():
            return ""
        names = " and ".join(dict.fromkeys(square.layer.name for square, _ in self.parts()))
        told = (
            [f"sizes of values by degree at {names}"] if any(c.spectrum is not None for c in self.beside.charts) else []
        )
        told += [f"functions of {self._shown(*self.parts()[0])}"] if self.basis.curve is not None else []
        words = " and ".join(told)
        return f"{words[:1].upper()}{words[1:]}: {subject(self.frame)}." if told else ""

    def apply_theme(self) -> None:
        for chart in self.beside.charts:
            chart.dress()
        self.basis.dress()


def no_degrees(square: Square) -> str:
    """Return what is said of a layer without degrees: which layers of this network have some."""
    names = [info.name for info in square.layers if IRREPS in info.field]
    such = f", such as {names[-1]}" if names else ", or coordinates"
    return f"This layer has no values of a degree: choose one of irreps{such}."


VIEW = ViewSpec(
    "degrees",
    "Degrees",
    DegreesView,
    "bottom",
    5,
    "How large the values of each degree are, and the functions that distances are seen through.",
    domains=("points", "volume"),
)

if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(DegreesView, lambda view, samples: view.set_frame(samples.make_frame()))
