"""Points lifted to a Lie group: whom a lifted point sees, by the logarithm between them."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QComboBox, QWidget

from explorer.spaces.points.drawing.values import PointsPart
from explorer.square.frame import Square
from widgets.base.controls.row import ControlRow, stacked
from widgets.base.frame_view import FrameView
from widgets.base.text.words import subject
from widgets.base.view import ViewSpec, Wish, numbers_of
from widgets.charts.beside import Beside, readable_size
from widgets.spaces.points.charts.lifted_chart import LiftedChart

NO_LIFT = "This network lifts no points to a group: choose lieconv or lie-transformer."


class LiftedView(FrameView[tuple[Square, PointsPart]]):
    """The neighbourhood of one lifted point; the selected point is taken, else the first one."""

    FOLLOWS = ("node",)
    NOTHING = "Choose a molecule or a cloud, and a network that lifts its points."
    NONE = "This model does not live on points in space."

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.beside = Beside(self._chart)
        self.chart = self.beside.charts[0]
        self.point, self.lift = QComboBox(), QComboBox()
        self._chrome = ControlRow("Point", self.point, "frame", self.lift)
        stacked(self, self._chrome, self.beside, gap=2)
        self.point.activated.connect(lambda index: self.wished.emit(Wish({"node": int(index)})))
        self.lift.activated.connect(lambda _: self.refresh())
        self.apply_theme()
        self.show_frame(None)

    def _chart(self) -> LiftedChart:
        chart = LiftedChart()
        chart.hovered.connect(self.hovered)
        return chart

    def parts(self) -> list[tuple[Square, PointsPart]]:
        """Return the squares that live on points."""
        return self.with_part(PointsPart)

    def missing(self, parts: list[tuple[Square, PointsPart]]) -> str:
        return "" if any(part.lifted is not None for _, part in parts) else NO_LIFT

    def show_empty(self, sentence: str) -> None:
        self._chrome.hide()
        self.beside.first(1)[0].show_lifted(None, message=sentence)

    def draw(self, parts: list[tuple[Square, PointsPart]]) -> None:
        lifting = [(square.title, part, part.lifted) for square, part in parts if part.lifted is not None]
        _, part, lifted = lifting[0]
        self._chrome.show()
        points = len(part.position)
        node = self.state.node if self.state.node is not None and self.state.node < points else 0
        words = [f"{part.names[k]} ({k})" if k < len(part.names) else f"point {k}" for k in range(points)]
        self._offer(self.point, words, node)
        chosen = max(0, min(self.lift.currentIndex(), lifted.lifts - 1))
        self._offer(self.lift, [str(k + 1) for k in range(lifted.lifts)], chosen)
        for chart, (title, own, its) in zip(self.beside.first(len(lifting)), lifting, strict=True):
            whose, frame = title if len(parts) > 1 else "", min(chosen, its.lifts - 1)
            chart.show_lifted(its, own.lifted_after, own.order, node, frame, own.names, whose=whose)

    def _offer(self, box: QComboBox, words: list[str], chosen: int) -> None:
        with QSignalBlocker(box):
            if [box.itemText(k) for k in range(box.count())] != words:
                box.clear()
                box.addItems(words)
            box.setCurrentIndex(chosen)
        box.setEnabled(len(words) > 1)

    figure_size = readable_size

    def numbers(self) -> dict[str, NDArray[Any]]:
        sides = []
        for square, part in self.parts():
            for name, lifted in (("", part.lifted), (" after", part.lifted_after)):
                if lifted is not None:
                    known = {"turn": lifted.turn, "shift": lifted.shift, "distance": lifted.distance}
                    sides.append((square, {f"{key}{name}": table for key, table in known.items()}))
        return numbers_of(sides)

    def caption(self) -> str:
        if self.frame is None or self.chart.lifted is None:
            return ""
        return f"Whom a lifted point sees, by the logarithm between them: {subject(self.frame)}."

    def apply_theme(self) -> None:
        self._chrome.apply_theme()
        for chart in self.beside.charts:
            chart.dress()


VIEW = ViewSpec(
    "lifted",
    "Lifted",
    LiftedView,
    "bottom",
    6,
    "Points lifted to a Lie group: whom each of them sees, by the logarithm between them.",
    domains=("points",),
)

if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(LiftedView, lambda view, samples: view.set_frame(samples.make_frame()))
