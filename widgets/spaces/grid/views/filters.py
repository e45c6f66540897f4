"""The layer's filters: one row for each base filter, its transformed copies beside it."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from PySide6.QtWidgets import QHBoxLayout, QWidget

from explorer.declare.groups import group
from explorer.square.frame import Square
from widgets.base.frame_view import FrameView, Pages
from widgets.base.text.words import figure
from widgets.base.view import ViewSpec, numbers_of
from widgets.maps.linking import Place, precise
from widgets.maps.map_grid import MapGrid
from widgets.maps.mosaic import symmetric_scale

NOTHING = "Drop an image or pick a digit to see a network's filters."
NONE = "This layer has no filters"


class FiltersView(FrameView[Square]):
    """Filters as maps on one symmetric scale; with two models, the same scale in both."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.grids = (MapGrid(), MapGrid())
        self._scale = 1.0
        self._drawn: list[tuple[str, str]] = []  # models and layers
        both = QWidget()
        side = QHBoxLayout(both)
        side.setContentsMargins(0, 0, 0, 0)
        side.setSpacing(0)
        for i, grid in enumerate(self.grids):
            side.addWidget(grid)
            grid.pointed.connect(lambda place, i=i: self._point(i, place))
        self._pages = Pages(self, both, NOTHING)
        self.apply_theme()

    def parts(self) -> list[Square]:
        """Return the squares whose layer has filters."""
        return [s for s in self.squares if s.filters is not None and s.filters.size]

    def reason(self, parts: list[Square]) -> str:
        return "" if parts else _sentence(self.squares)

    def show_empty(self, sentence: str) -> None:
        self._pages.say(sentence)
        self.draw([])

    def draw(self, parts: list[Square]) -> None:
        if parts:
            self._pages.say("")
        squares, old = self.squares, self._drawn
        self._drawn = [(s.model, s.layer.name) for s in squares]
        self._scale = symmetric_scale([s.filters for s in parts])
        for i, grid in enumerate(self.grids):
            grid.setVisible(i < len(squares))
            if i >= len(squares):
                continue
            if self._drawn[i : i + 1] != old[i : i + 1]:
                grid.set_channel(None)  # an enlarged filter of another layer means nothing here
            square = squares[i]
            role = ("first", "second")[i] if len(squares) > 1 else ""
            labels = _copies(square)
            grid.set_values(square.filters, -self._scale, self._scale, "signed", max(1, square.filter_columns), labels)
            title = f"{square.title}, {square.layer.name}" if role else _summary(square)
            if square.filters is None or not square.filters.size:
                title += ": no filters"
            grid.set_title(title, role)
            grid.arrange()

    def _point(self, index: int, place: Place | None) -> None:
        squares = self.squares
        value = self.grids[index].item.value_at(place) if place is not None and index < len(squares) else None
        if place is None or value is None:
            self.hovered.emit("")
            return
        square, (n, row, column) = squares[index], place
        name = square.filter_labels[n] if n < len(square.filter_labels) else f"filter {n}"
        self.hovered.emit(f"{square.layer.name}, {name}, row {row}, column {column}:  {precise(value)}")

    def apply_theme(self) -> None:
        for grid in self.grids:
            grid.apply_theme()
        self._pages.apply_theme()

    def numbers(self) -> dict[str, NDArray[Any]]:
        return numbers_of((s, {"filters": s.filters}) for s in self.squares)

    def caption(self) -> str:
        parts = [f"{s.model}, filters of {s.layer.name} ({s.layer.kind})" for s in self.squares]
        return f"{'; '.join(parts)}, colours ±{figure(self._scale)}" if parts else ""


def _copies(square: Square) -> tuple[str, ...]:
    """Return the names of the columns: the group's elements when there is one column for each."""
    if _copied(square):
        return group(square.group).labels
    return tuple(map(str, range(square.filter_columns))) if square.filter_columns > 1 else ()


def _copied(square: Square) -> bool:
    """Say whether the columns are copies of one filter, and not those of the inputs, which are labelled "0 ← 1"."""
    of_inputs = any("←" in label for label in square.filter_labels)
    return bool(square.group) and group(square.group).order == square.filter_columns and not of_inputs


def _summary(square: Square) -> str:
    if square.filters is None:
        return square.layer.name
    count, (h, w) = len(square.filters), square.filters.shape[1:]
    text = f"{square.layer.name}: {count} filters of {h}×{w}"
    columns = square.filter_columns
    if columns < 2:
        return text
    if _copied(square):
        return f"{text}, {count // columns} bases with {columns} copies each"
    return f"{text}: a row for each output, a column for each input"


def _sentence(squares: tuple[Square, ...]) -> str:
    if not squares:
        return NOTHING
    names = " and ".join(dict.fromkeys(f"{s.layer.name} ({s.layer.kind})" for s in squares))
    return f"{NONE}: {names}.\nConvolutions have some; select one in the layer list."


VIEW = ViewSpec(
    "filters",
    "Filters",
    FiltersView,
    "center",
    1,
    "The layer's filters and their transformed copies.",
    domains=("grid",),
)


if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(FiltersView, lambda view, samples: view.set_frame(samples.make_frame()))
