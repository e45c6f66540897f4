"""The layer's linear operator as a matrix: what each output pixel takes from each input pixel."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray
from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QVBoxLayout, QWidget

from explorer.declare.space import kinds
from explorer.square.frame import Square
from widgets.base.controls.row import ControlRow
from widgets.base.frame_view import FrameView, Pages
from widgets.base.look.theme import current
from widgets.base.text.words import figure
from widgets.base.view import ViewSpec, numbers_of
from widgets.charts.axis.axes import ValueAxis
from widgets.charts.inks import mixed
from widgets.charts.items.marks import ink
from widgets.maps.diagram import colour, font
from widgets.maps.linking import Place, precise
from widgets.maps.map_grid import MapGrid
from widgets.maps.mosaic import counted, shares, symmetric_scale
from widgets.stage.hands import hands_of

NOTHING = "Drop an image or pick a digit to see the matrices of a network."
NONE = "This model draws no weight matrix"
ROOM = (64.0, 44.0)  # pixels of the axis at the left, and of the one below
EDGE = 9.0  # of them, beside the names of the axes
TILED = re.compile(r"(?:^|: )(?P<down>[^:]+) down, (?P<across>[^:]+) across$")  # in titles of filters, side by side


class PixelAxis(ValueAxis):
    """Pixels of the flattened image, counted from 0; lines where a new row of the image begins."""

    def __init__(self, orientation: str) -> None:
        self.count, self.length = 0, 0  # pixels, and pixels in one image row
        self.named = ""  # what its lines are, where the title of the matrix says so
        self.counted = True
        self.pixel = 1.0  # of the screen
        super().__init__(orientation)
        self.setStyle(maxTextLevel=0, hideOverlappingLabels=False)
        self.setZValue(20)

    @property
    def what(self) -> str:
        """Return what a line of the matrix stands for: what its title says, or a pixel where there are as many."""
        if self.named:
            return self.named
        return ("output" if self.upright else "input") + (" pixel" if self.length else "")

    def show_pixels(self, count: int, length: int, named: str = "", counted: bool = True) -> None:
        """Stand beside so many lines; those of tiles are not `counted`, for their number says nothing."""
        self.count, self.length, self.named, self.counted = count, length, named, counted
        self._name()
        self.redraw()

    def place(self, frame: QRectF, pixel: float) -> None:
        """Stand at the left of the picture or below it, whose pixels are so large."""
        self.pixel = pixel
        self.setGrid(255 if self.length and self.length * pixel >= 5 else False)
        thick = ROOM[0 if self.upright else 1] - EDGE
        if self.upright:
            self.setWidth(thick)
            self.setGeometry(QRectF(frame.left() - thick, frame.top(), thick, frame.height()))
        else:
            self.setHeight(thick)
            self.setGeometry(QRectF(frame.left(), frame.bottom(), frame.width(), thick))
        self.redraw()

    def fit(self) -> None:
        """Keep the room that the view gave."""

    def dress(self) -> None:
        """Take the colours of the theme."""
        super().dress()
        self.set_font(font(10))
        t = current()
        self.setTickPen(ink(mixed(t.muted, t.plot, 0.4).name()))
        self._name()

    def _name(self) -> None:
        self.setLabel(self.what, **{"color": current().text, "font-size": "12px"})

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        if not self.counted:
            return []
        # the picture has several pixels for one of a small matrix: ticks stand among those of the picture
        low, high = (end * self.scale for end in sorted((low, high)))
        step, metrics = self.length or _round_step(max(1, self.count)), QFontMetricsF(self.font)
        pixel = size / (high - low) if high > low else 1.0
        room = (metrics.height() if self.upright else metrics.horizontalAdvance(str(self.count))) + 6
        every = max(1, math.ceil(room / (step * pixel)))  # so many ticks to one number
        places = [k * step for k in range(math.ceil(self.count / step)) if low - 0.5 <= k * step <= high + 0.5]
        middle = 0.0 if self.length else 0.5  # a number is that of a line where rows begin, else of the whole cell
        numbered = [(at + middle) / self.scale for at in places if at % (every * step) == 0]
        between = [(at + middle) / self.scale for at in places if at % (every * step)]
        return [(every * step / self.scale, numbered), (step / self.scale, between)]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        return [self.text(math.floor(v * self.scale + 1e-6)) for v in values]


class MatrixView(FrameView[str]):
    """One of the layer's matrices at a time, beside that of the second model: on a symmetric scale, or from 0 on."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.choice = QComboBox()
        self.choice.setAccessibleName("Matrix")
        self.choice.setToolTip("Which of the layer's matrices is drawn")
        # else titles of the next network are cut
        self.choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.choice.currentTextChanged.connect(self._choose)
        self._scale, self._signed = 1.0, True
        self._chosen = ""
        self.grids = (MapGrid(), MapGrid())
        self.axes = tuple((PixelAxis("bottom"), PixelAxis("left")) for _ in self.grids)
        side = QHBoxLayout()
        side.setSpacing(0)
        for i, grid in enumerate(self.grids):
            grid.margins = (ROOM[0], 12.0, 12.0, ROOM[1])
            for axis in self.axes[i]:
                grid.addItem(axis)
                axis.linkToView(grid.item.box)
            grid.pointed.connect(lambda place, i=i: self._point(i, place))
            grid.resized.connect(self._place_axes)
            side.addWidget(grid)
        self._choices = ControlRow("Matrix", self.choice, margins=(12, 8, 12, 2))
        self._all = QWidget()
        column = QVBoxLayout(self._all)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._choices)
        column.addLayout(side, 1)
        self._pages = Pages(self, self._all, NOTHING)
        self.apply_theme()

    def parts(self) -> list[str]:
        """Return the titles of the layer's matrices."""
        return list(dict.fromkeys(t for s in self.squares for t, m in s.matrices.items() if m.size))

    def reason(self, parts: list[str]) -> str:
        return "" if parts else _sentence(self.squares)

    def show_empty(self, sentence: str) -> None:
        self._pages.say(sentence)
        self._offer([])
        self._draw_matrix()

    def draw(self, parts: list[str]) -> None:
        self._pages.say("")
        self._offer(parts)
        self._draw_matrix()

    def _offer(self, titles: list[str]) -> None:
        if [self.choice.itemText(i) for i in range(self.choice.count())] != titles:
            self.choice.blockSignals(True)
            self.choice.clear()
            self.choice.addItems(titles)
            # the same matrix as before where there is one: a change of layer or model must not lose it
            self.choice.setCurrentIndex(max(0, self.choice.findText(self._chosen)))
            self.choice.blockSignals(False)
        self._choices.setVisible(len(titles) > 1)

    def forget_choices(self) -> None:
        self._chosen = ""
        if self.choice.count():
            self.choice.setCurrentIndex(0)
        self._chosen = ""

    def _choose(self, title: str) -> None:
        self._chosen = title
        for grid in self.grids:
            grid.camera.reset()
        self._draw_matrix()

    def _draw_matrix(self) -> None:
        squares, title = self.squares, self.choice.currentText()
        matrices = [s.matrices.get(title) for s in squares]
        self._scale = symmetric_scale(matrices)
        known = [m for m in matrices if m is not None and m.size]
        # who is near whom, how often, or which share: no sign, so from the ground colour on, as in Attention and pairs
        self._signed = not known or not (all(map(counted, known)) or all(map(shares, known)))
        low, kind = (-self._scale, "signed") if self._signed else (0.0, "error")
        for i, (grid, axes) in enumerate(zip(self.grids, self.axes)):
            grid.setVisible(i < len(squares))
            if i >= len(squares):
                continue
            square, matrix = squares[i], matrices[i]
            name = f"{square.title}, {title}" if len(squares) > 1 else title  # a network's, whatever layer is looked at
            role = ("first", "second")[i] if len(squares) > 1 else ""
            if matrix is None or matrix.size == 0:
                grid.set_title(f"{square.title}: {NONE.lower()}", role)
                grid.set_values(None)
                continue
            rows, columns = matrix.shape
            # what rows and columns are is said at the axes too
            size, short = f"{rows}×{columns}", name.rsplit(": ", 1)[0]
            grid.set_title(f"{name}, {size}", role, (f"{short}, {size}", short))
            grid.set_values(matrix[None], low, self._scale, kind)
            tiled = TILED.search(title)
            for axis, count, named in zip(axes, (columns, rows), named_in(title)):
                axis.show_pixels(count, 0 if tiled else row_length(count, square, guess=not named), named, not tiled)
            grid.arrange()
        self._place_axes()

    def _place_axes(self) -> None:
        for grid, axes in zip(self.grids, self.axes):
            item = grid.item
            for axis in axes:
                axis.setVisible(item.values is not None)
                if item.tiling is not None:
                    axis.setScale(1 / item.tiling.cell)  # a pixel of data is several of the mosaic
                    axis.place(item.frame().translated(item.pos()), item.pixel())

    def _point(self, index: int, place: Place | None) -> None:
        value = self.grids[index].item.value_at(place) if place is not None else None
        if place is None or value is None:
            self.hovered.emit("")
            return
        _, row, column = place
        across, up = self.axes[index]
        wide, high = across.length, up.length
        if not up.counted:  # a number within a tile
            self.hovered.emit(f"{self.choice.currentText()}:  {precise(value)}")
            return
        outputs = f"{up.what} {row}" + (f" ({row // high}, {row % high})" if high else "")
        inputs = f"{across.what} {column}" + (f" ({column // wide}, {column % wide})" if wide else "")
        self.hovered.emit(f"{self.choice.currentText()}, {outputs}, {inputs}:  {precise(value)}")

    def apply_theme(self) -> None:
        for grid in self.grids:
            grid.apply_theme()
        for axis in (axis for axes in self.axes for axis in axes):
            axis.dress()
        self._pages.apply_theme()
        self._choices.apply_theme()
        palette = self._all.palette()
        palette.setColor(self._all.backgroundRole(), colour("panel"))
        self._all.setPalette(palette)
        self._all.setAutoFillBackground(True)

    def numbers(self) -> dict[str, NDArray[Any]]:
        return numbers_of((s, s.matrices) for s in self.squares)

    def caption(self) -> str:
        title = self.choice.currentText()
        parts = [f"{s.model}, matrix {title}" for s in self.squares if title in s.matrices]
        colours = f"±{figure(self._scale)}" if self._signed else f"0 to {figure(self._scale)}"
        return f"{'; '.join(parts)}, colours {colours}" if parts else ""


def named_in(title: str) -> tuple[str, str]:
    """Return what the columns and the rows are by a title like "α: filters × unit peaks", "" where it does not say."""
    if (tiled := TILED.search(title)) is not None:
        return tiled["across"], tiled["down"]
    rows, cross, columns = title.rpartition(": ")[2].partition(" × ")
    return (columns, rows) if cross else ("", "")


def row_length(pixels: int, square: Square, guess: bool = True) -> int:
    """Return the length of a row of the image that is flattened to so many pixels; 0 when unknown.

    A square number of them may be `guess`ed to be a square image that is not shown.

    Data that are no pictures are flattened to none, however many numbers they have.
    """
    kind = kinds().get(square.domain)
    if kind is not None and (not kind.pictured or hands_of(square.domain).kind_of_x):
        return 0
    shapes = [square.x.shape[-2:], square.fx.shape[-2:], square.layer.shape[-2:]]
    for h, w in (shape for shape in shapes if len(shape) == 2):
        if pixels == h * w and w > 1:
            return int(w)
    side = math.isqrt(pixels)
    return side if guess and side * side == pixels and side > 1 else 0


def _round_step(count: int) -> int:
    """Return a round number of pixels, of which at most ten fit into `count`."""
    return next(s * 10**power for power in range(20) for s in (1, 2, 5) if count <= 10 * s * 10**power)


def _sentence(squares: tuple[Square, ...]) -> str:
    if not squares:
        return NOTHING
    return f"{NONE} for {squares[0].layer.name}.\nModels built of explicit matrices do; see the gallery."


VIEW = ViewSpec("matrix", "Matrix", MatrixView, "center", 2, "The layer's linear operator, pixel by pixel.")


if __name__ == "__main__":
    from widgets.base.preview import preview

    preview(MatrixView, lambda view, samples: view.set_frame(samples.make_frame()))
