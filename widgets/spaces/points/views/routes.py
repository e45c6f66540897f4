"""Clebsch-Gordan paths: which couplings of values with harmonics carry the signal in a product of irreps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QComboBox, QWidget

from explorer.spaces.points.drawing.routes import Route, Routed
from explorer.square.frame import Square
from widgets.base.controls.row import ControlRow, stacked
from widgets.base.frame_view import FrameView
from widgets.base.text.words import subject
from widgets.base.view import ViewSpec, Wish, numbers_of
from widgets.charts.beside import Beside, readable_size
from widgets.spaces.points.charts.routes_chart import RoutesChart

NO_PRODUCT = (
    "This network has no product of irreps: choose tensor-field-network or se3-transformer on points, steerable-cnn-3d "
    "on volumes, sphere-cnn on the sphere."
)


def nearest(names: Mapping[str, object], layer: str, order: Sequence[str] = ()) -> str:
    """Return the name that shares most of its parts with that of a layer.

    Where several do, the last one that comes no later than the layer in the `order` of layers, else the first.
    """

    def shared(name: str) -> int:
        pairs = zip(name.split("."), layer.split("."), strict=False)
        return next((k for k, (a, b) in enumerate(pairs) if a != b), min(name.count("."), layer.count(".")) + 1)

    most = max(map(shared, names))
    best = [name for name in names if shared(name) == most]
    at = {name: k for k, name in enumerate(order)}
    before = [name for name in best if name in at and at[name] <= at.get(layer, -1)]
    return max(before, key=at.__getitem__) if before else best[0]


class RoutesView(FrameView[tuple[Square, Routed]]):
    """The paths of the product that belongs to the selected layer, or of one that is chosen."""

    FOLLOWS = ("channel",)
    NOTHING = "Choose a molecule, a volume or a globe, and a network with products of irreps."
    NONE = "This model lives neither on points in space nor on volumes or the sphere."

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.beside = Beside(self._chart)
        self.chart = self.beside.charts[0]
        self.product = QComboBox(sizeAdjustPolicy=QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._chrome = ControlRow("Product", self.product)
        stacked(self, self._chrome, self.beside, gap=2)
        # its first path, so that the choice is one of a layer: it is undone, saved and copied as any other
        self.product.activated.connect(lambda _: self._choose(self.product.currentData()))
        self.chart.chosen.connect(self._choose)  # layers are chosen by the names of the first network
        self.apply_theme()
        self.show_frame(None)

    def _chart(self) -> RoutesChart:
        chart = RoutesChart()
        chart.hovered.connect(self.hovered)
        return chart

    def parts(self) -> list[tuple[Square, Routed]]:
        """Return the squares that may have products."""
        return self.with_part(Routed)

    def missing(self, parts: list[tuple[Square, Routed]]) -> str:
        return "" if any(part.routes for _, part in parts) else NO_PRODUCT

    def show_empty(self, sentence: str) -> None:
        self._chrome.hide()
        self.beside.first(1)[0].show_routes((), message=sentence)

    def shown(self) -> list[tuple[Square, str, tuple[Route, ...]]]:
        """Return the products that are drawn, one of each network that has any, with their paths and where they are."""
        found = []
        for square, part in self.parts():
            if part.routes:
                name = nearest(part.routes, square.layer.name, [layer.name for layer in square.layers])
                found.append((square, name, part.routes[name]))
        return found

    def draw(self, parts: list[tuple[Square, Routed]]) -> None:
        found = self.shown()
        name = found[0][1]
        part = next(part for _, part in parts if part.routes)
        self._chrome.show()
        with QSignalBlocker(self.product):
            if [self.product.itemText(k) for k in range(self.product.count())] != list(part.routes):
                self.product.clear()
                self.product.addItems(list(part.routes))
            for k, product in enumerate(part.routes):
                self.product.setItemData(k, part.routes[product][0])
            self.product.setCurrentText(name)
        self.product.setEnabled(len(part.routes) > 1)
        for chart, (square, product, routes) in zip(self.beside.first(len(found)), found, strict=True):
            title = f"{product} · {square.title}" if len(found) > 1 else product
            chart.show_routes(routes, title, square.layer.name, self.state.channel or 0)

    def _choose(self, route: object) -> None:
        """Wish for the layer of a path; of one that adds paths up, for the first channel that this one adds to."""
        if isinstance(route, Route):
            first, count = route.channels
            self.wished.emit(Wish({"layer": route.layer, "channel": first if count else None}))

    figure_size = readable_size

    def numbers(self) -> dict[str, NDArray[Any]]:
        sides = []
        for square, name, routes in self.shown():
            known = {
                "product": np.array([name] * len(routes), np.str_),
                "value": np.array([r.value for r in routes], np.str_),
                "harmonic": np.array([r.harmonic for r in routes], np.str_),
                "gives": np.array([r.out for r in routes], np.str_),
                "mean square": np.array([r.energy for r in routes]),
            }
            sides.append((square, known))
        return numbers_of(sides)

    def caption(self) -> str:
        found = self.shown()
        if not found or self.frame is None:
            return ""
        names = " and ".join(dict.fromkeys(name for _, name, _ in found))
        return f"Paths of {names}, as wide as they carry much: {subject(self.frame)}."

    def apply_theme(self) -> None:
        self._chrome.apply_theme()
        for chart in self.beside.charts:
            chart.dress()


VIEW = ViewSpec(
    "paths",
    "Paths",
    RoutesView,
    "bottom",
    6,
    "Clebsch-Gordan paths: which couplings carry the signal in a product of irreps, as wide as they carry much.",
    domains=("points", "volume", "sphere"),
    fits=lambda square: (part := square.of(Routed)) is not None and bool(part.routes),
)

if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(RoutesView, lambda view, samples: view.set_frame(samples.make_frame()))
