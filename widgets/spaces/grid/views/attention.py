"""Attention among the patches of an image: each head, their mean, and the roll-out of all layers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QComboBox, QLabel, QVBoxLayout, QWidget

from explorer.spaces.grid.drawing.tokens import AttentionPart, rollout
from explorer.square.frame import Square
from widgets.base.controls.row import ControlRow, hint_label
from widgets.base.frame_view import FrameView, Pages
from widgets.base.look.theme import current
from widgets.base.text.words import figure, subject
from widgets.base.view import ViewSpec, Wish
from widgets.spaces.grid.tokens.tiles import Tile, TileBoard

NOTHING = "Open an image with a vision transformer to see which patches it attends to."
NONE = "This network has no attention between patches of an image."
MOST_HEADS = 12
FIRST, LAST = "what it attends to", "what attends to it"


class AttentionView(FrameView[tuple[Square, AttentionPart]]):
    """The row of one token in every head, drawn over x and over rho(g) x; a click on a patch asks for its row."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._token: tuple[int, int] | None = None  # of the patch asked about; None for the class token
        self._layer = ""
        self.layer, self.side = QComboBox(), QComboBox()
        self.side.addItems([FIRST, LAST])
        self.words = QLabel(wordWrap=True)  # a long line would widen the whole window
        self.hint = hint_label()
        self.board = TileBoard()
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(8, 4, 8, 4)
        self.bar = ControlRow("Layer", self.layer, "of a patch", self.side, margins=(0, 0, 0, 0))
        column.addWidget(self.bar)
        column.addWidget(self.words)
        column.addWidget(self.hint)
        column.addWidget(self.board, 1)
        self.pages = Pages(self, content, NOTHING)
        self.layer.activated.connect(self._choose)
        self.side.activated.connect(self.refresh)
        self.board.picked.connect(self._pick)
        self.board.pointed.connect(self._point)
        self.board.menu_asked.connect(self._ask_menu)
        self.apply_theme()

    def parts(self) -> list[tuple[Square, AttentionPart]]:
        return self.with_part(AttentionPart)

    def reason(self, parts: list[tuple[Square, AttentionPart]]) -> str:
        return "" if parts else NONE if self.squares else NOTHING

    def show_empty(self, sentence: str) -> None:
        self.pages.say(sentence)
        self.board.show_tiles(())

    def draw(self, parts: list[tuple[Square, AttentionPart]]) -> None:
        self.pages.say("")
        square, part = parts[0]
        names = list(part.of_x)
        if [self.layer.itemText(k) for k in range(self.layer.count())] != names:
            self.layer.clear()
            self.layer.addItems(names)
        if square.layer.name in part.of_x:
            self._layer = square.layer.name
        elif self._layer not in part.of_x:
            self._layer = names[-1]
        self.layer.setCurrentText(self._layer)
        if self._token is not None and (self._token[0] >= part.size[0] or self._token[1] >= part.size[1]):
            self._token = None
        placeless = part.extra + part.after  # a class token, registers
        if self._token is None and not placeless:
            self._token = (part.size[0] // 2, part.size[1] // 2)
        tiles = []
        for square, part in parts:
            if self._layer in part.of_x:
                tiles += self._tiles(square, part, len(parts) > 1)
        self.board.columns = len(tiles) // (2 * len(parts)) if tiles else 0
        self.board.show_tiles(tiles)
        asked = (
            "the class token" if self._token is None else f"the patch in row {self._token[0]}, column {self._token[1]}"
        )
        click = "a patch; click it again for the class token." if placeless else "another patch."
        self.words.setText(
            f"{self._layer}: {self.side.currentText().replace('it', asked, 1)}. Roll-out: all layers up to this one, "
            "residuals counted."
        )
        self.hint.setText(f"Click {click}")

    def _row(self, matrix: NDArray[Any], part: AttentionPart) -> NDArray[np.float64]:
        """Return shares of the patches, (rows, columns), of one (to, from) matrix."""
        rows, columns = part.size
        if self._token is None:
            token = 0 if part.extra else rows * columns  # the first that has no place
        else:
            token = part.extra + self._token[0] * columns + self._token[1]
        line = matrix[:, token] if self.side.currentIndex() else matrix[token]
        return np.asarray(line[part.extra : part.extra + rows * columns], np.float64).reshape(part.size)

    def _tiles(self, square: Square, part: AttentionPart, several: bool) -> list[Tile]:
        found = []
        name = f"{square.model}: " if several else ""
        for of, picture, values in (("x", square.x, part.of_x), ("ρ(g) x", square.gx, part.of_gx)):
            heads = values[self._layer]
            until = list(values)[: list(values).index(self._layer) + 1]
            maps = [(f"head {k}", self._row(head, part)) for k, head in enumerate(heads[:MOST_HEADS])]
            maps += [("mean", self._row(heads.mean(0), part))]
            maps += [("roll-out", self._row(rollout([values[n] for n in until]), part))]
            for k, (title, heat) in enumerate(maps):
                first = f"{name}{of}, " if k == 0 else ""
                found.append(
                    Tile(
                        first + title, picture if picture.ndim == 3 else None, heat, float(heat.max()), part.size,
                        self._token, note=f"≤ {figure(float(heat.max()))}",
                    )
                )  # fmt: skip
        return found

    def _choose(self) -> None:
        self._layer = self.layer.currentText()
        self.wished.emit(Wish(changes={"layer": self._layer, "channel": None}, done=True))
        self.refresh()

    def _pick(self, tile: int, row: int, column: int) -> None:
        self._token = None if self._token == (row, column) else (row, column)
        self.refresh()

    def _ask_menu(self, tile: int, at: QPoint) -> None:
        """Ask for the menu of the layer, and of the head under the mouse."""
        parts, (model, k) = self.parts(), divmod(tile, 2 * self.board.columns)
        heads = min(len(parts[0][1].of_x[self._layer]), MOST_HEADS) if model == 0 else 0
        head = k % self.board.columns
        self.menu_asked.emit("" if model else self._layer, "head" if head < heads else "", head, at)

    def _point(self, place: tuple[int, int, int] | None) -> None:
        tile = self.board.tiles[place[0]] if place is not None else None
        if place is None or tile is None or tile.heat is None:
            self.hovered.emit("")
            return
        self.hovered.emit(
            f"{tile.title}, patch in row {place[1]}, column {place[2]}: {figure(tile.heat[place[1], place[2]])}"
        )

    def apply_theme(self) -> None:
        self.bar.apply_theme()
        self.hint.setStyleSheet(f"color: {current().muted};")
        self.pages.apply_theme()
        self.board.update()

    def numbers(self) -> dict[str, NDArray[Any]]:
        found: dict[str, NDArray[Any]] = {}
        for square, part in self.parts():
            if self._layer in part.of_x:
                found[f"{square.model}: {self._layer} of x"] = part.of_x[self._layer]
                found[f"{square.model}: {self._layer} of ρ(g) x"] = part.of_gx[self._layer]
                found[f"{square.model}: roll-out of x"] = rollout(list(part.of_x.values()))
                found[f"{square.model}: roll-out of ρ(g) x"] = rollout(list(part.of_gx.values()))
        return found

    def caption(self) -> str:
        if self.frame is None or not self.parts():
            return ""
        return f"{self.words.text()} {subject(self.frame)}."


VIEW = ViewSpec(
    "attention",
    "Attention over the image",
    AttentionView,
    "center",
    3,
    "Which patches of an image a vision transformer attends to.",
    domains=("grid",),
    fits=lambda square: square.of(AttentionPart) is not None,
)
