"""The parameters of the selected layer as maps and matrices, with the gradient of a chosen number beside them."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QVBoxLayout, QWidget

from explorer.square.frame import Parameter, Square
from widgets.base.controls.row import ControlRow
from widgets.base.frame_view import FrameView, Pages
from widgets.base.text.words import figure
from widgets.base.view import ViewSpec, Wish, numbers_of
from widgets.maps.diagram import colour
from widgets.maps.linking import Place, precise
from widgets.maps.map_grid import MapGrid
from widgets.maps.mosaic import symmetric_scale

NOTHING = "Choose a network: the weights of its layers are drawn here."
MOST_IN_A_ROW = 64  # filters of one output channel
MOST_OFFERED = 64  # entries of the output in the list

Shown = tuple[Square, Parameter]


class WeightsView(FrameView[Shown]):
    """One parameter of the selected layer at a time; a row for each model, the gradient at the right."""

    NOTHING = NOTHING
    FOLLOWS = ("gradient",)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.choice, self.target = QComboBox(), QComboBox()
        self.choice.setToolTip("Which of the layer's parameters is drawn")
        self.target.setToolTip("What the gradient by the parameters is taken of")
        self.choice.activated.connect(lambda _: self._pick())
        self.target.activated.connect(
            lambda _: self.wished.emit(Wish({"gradient": str(self.target.currentData())}, done=True))
        )
        self._chosen = ""
        self.grids = tuple((MapGrid(), MapGrid()) for _ in range(self.MOST))
        rows = QVBoxLayout()
        rows.setSpacing(0)
        self.rows = tuple(QWidget() for _ in self.grids)
        for k, pair in enumerate(self.grids):
            row = QHBoxLayout(self.rows[k])
            row.setContentsMargins(0, 0, 0, 0)
            row.setSpacing(0)
            for side, grid in enumerate(pair):
                grid.pointed.connect(lambda place, k=k, side=side: self._point(k, side, place))
                row.addWidget(grid)
            rows.addWidget(self.rows[k], 1)
        self._chosen_row = ControlRow(
            "Parameter", self.choice, "gradient of", self.target, rest=("",), margins=(12, 8, 12, 2)
        )
        self.words = self._chosen_row.words[-1]
        self._all = QWidget()
        column = QVBoxLayout(self._all)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._chosen_row)
        column.addLayout(rows, 1)
        self._pages = Pages(self, self._all, NOTHING)
        self.apply_theme()

    # what is shown ----------------------------------------------------------------------------------------------
    def parts(self) -> list[Shown]:
        """Return the chosen parameter of each model; the first one where it has none of that name."""
        found = []
        for square in self.squares:
            every = square.weights.parameters
            if every:
                found.append((square, next((q for q in every if q.name == self._chosen), every[0])))
        return found

    def reason(self, parts: list[Shown]) -> str:
        if not self.squares:
            return NOTHING
        return "" if parts else f"{self.squares[0].layer.name} has no parameters.\nSelect a layer that has some."

    def show_empty(self, sentence: str) -> None:
        self._pages.say(sentence)

    def draw(self, parts: list[Shown]) -> None:
        self._pages.say("")
        self._offer(parts)
        scale = symmetric_scale([q.values for _, q in parts])
        steep = symmetric_scale([q.gradient for _, q in parts])
        for k, (left, right) in enumerate(self.grids):
            shown = parts[k] if k < len(parts) else None
            self.rows[k].setVisible(shown is not None)
            right.setVisible(shown is not None and shown[1].gradient is not None)
            if shown is None:
                continue
            square, one = shown
            size = "×".join(map(str, one.shape)) or "1"
            left.set_title(f"{one.name}, {size}" if len(parts) > 1 else f"{square.layer.name}: {one.name}, {size}",
                           self._dot(k, parts))  # fmt: skip
            order = one.row if one.row <= MOST_IN_A_ROW else 1
            left.set_values(one.values, -scale, scale, order=order)
            left.arrange()
            if one.gradient is not None:
                right.set_title("its gradient")
                right.set_values(one.gradient, -steep, steep, order=order)
                right.arrange()
        missing = bool(self.state.gradient) and all(q.gradient is None for _, q in parts)
        self.words.setText("the output does not depend on it" if missing and self._answered() else _norms(parts))

    def _answered(self) -> bool:
        """Say whether the frame is the one that was asked for the gradient."""
        return self.frame is not None and self.frame.state.gradient == self.state.gradient

    @staticmethod
    def _dot(k: int, parts: list[Shown]) -> str:
        return ("first", "second")[k] if len(parts) > 1 else ""

    def _offer(self, parts: list[Shown]) -> None:
        """Offer the parameters of all models, and what a gradient is taken of."""
        names = list(dict.fromkeys(q.name for s in self.squares for q in s.weights.parameters))
        _fill(self.choice, [(name, name) for name in names], parts[0][1].name)
        square = parts[0][0]
        entries = square.weights.entries
        labels = square.labels if len(square.labels) == entries else ()
        targets = [("", "nothing"), ("norm", "the output's norm")]
        targets += [(str(k), labels[k] if labels else f"output {k}") for k in range(min(entries, MOST_OFFERED))]
        wanted = self.state.gradient
        if wanted and wanted not in dict(targets):
            targets.append((wanted, f"output {wanted}"))
        _fill(self.target, targets, wanted)

    def _pick(self) -> None:
        self._chosen = str(self.choice.currentData())
        for grid in (g for pair in self.grids for g in pair):
            grid.set_channel(None)
        self.refresh()

    def _point(self, k: int, side: int, place: Place | None) -> None:
        parts = self.parts()
        value = self.grids[k][side].item.value_at(place) if place is not None and k < len(parts) else None
        if place is None or value is None:
            self.hovered.emit("")
            return
        one = parts[k][1]
        channel, row, column = place
        what = "gradient by " if side else ""
        filters = f"filter {channel // one.row}, channel {channel % one.row}, " if len(one.values) > 1 else ""
        pooled = len(one.shape) == 2 and one.values.shape[1:] != one.shape
        near = "near " if pooled else ""
        if pooled:
            row, column = (
                int(v * n / m) for v, n, m in zip((row, column), one.shape, one.values.shape[1:], strict=True)
            )
        self.hovered.emit(f"{what}{one.name}, {filters}{near}row {row}, column {column}:  {precise(value)}")

    # theme, files -----------------------------------------------------------------------------------------------
    def apply_theme(self) -> None:
        for grid in (g for pair in self.grids for g in pair):
            grid.apply_theme()
        self._pages.apply_theme()
        self._chosen_row.apply_theme()
        palette = self._all.palette()
        palette.setColor(self._all.backgroundRole(), colour("panel"))
        self._all.setPalette(palette)
        self._all.setAutoFillBackground(True)

    def numbers(self) -> dict[str, NDArray[Any]]:
        return numbers_of(
            (square, {one.name: one.values, f"gradient by {one.name}": one.gradient}) for square, one in self.parts()
        )

    def caption(self) -> str:
        parts = [f"{s.model}, {s.layer.name}, {q.name}" for s, q in self.parts()]
        of = self.target.currentText() if self.state.gradient else ""
        return "; ".join(parts) + (f", with the gradient of {of}" if of and parts else "")


def _norms(parts: list[Shown]) -> str:
    """Return the norms of each model's parameter, and of the gradient by it."""
    each = (
        f"norm {figure(q.norm)}" + (f", gradient {figure(q.slope)}" if q.slope is not None else "") for _, q in parts
    )
    return "  ·  ".join(each)


def _fill(box: QComboBox, items: list[tuple[str, str]], chosen: str) -> None:
    """Offer these (value, text), and choose one of them."""
    if [(box.itemData(k), box.itemText(k)) for k in range(box.count())] != items:
        box.clear()
        for value, text in items:
            box.addItem(text, value)
    box.setCurrentIndex(max(0, next((k for k, (value, _) in enumerate(items) if value == chosen), 0)))


VIEW = ViewSpec(
    "weights", "Weights", WeightsView, "center", 3, "Parameters of the selected layer, and gradients by them."
)


if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(WeightsView, lambda view, samples: view.set_frame(samples.make_frame()))
