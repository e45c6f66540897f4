"""The code book of a discrete autoencoder: what each code stands for, how often it is used, and where x has it."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from PySide6.QtWidgets import QLabel, QSplitter, QVBoxLayout, QWidget

from explorer.spaces.grid.drawing.tokens import CodebookPart
from explorer.square.frame import Square
from widgets.base.controls.row import hint_label
from widgets.base.frame_view import FrameView, Pages
from widgets.base.look.theme import current
from widgets.base.text.words import figure, percent, subject
from widgets.base.view import ViewSpec
from widgets.spaces.grid.tokens.tiles import Tile, TileBoard

NOTHING = "Open a picture with a discrete autoencoder to see its code book."
NONE = "This network has no code book."


class CodebookView(FrameView[tuple[Square, CodebookPart]]):
    """x and rho(g) x with a grid of places, and the book; a click on a place asks for the distribution there."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._place: tuple[int, int] | None = None
        self.words = QLabel()
        self.words.setWordWrap(True)
        self.hint = hint_label("Click a place of x for the distribution there, a code for its places.")
        self.pictures, self.book = TileBoard(), TileBoard()
        self.pictures.columns = 1
        both = QSplitter()
        both.addWidget(self.pictures)
        both.addWidget(self.book)
        both.setSizes([250, 750])
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(8, 4, 8, 4)
        column.addWidget(self.words)
        column.addWidget(self.hint)
        column.addWidget(both, 1)
        self.pages = Pages(self, content, NOTHING)
        self.pictures.picked.connect(self._pick)
        self.pictures.pointed.connect(self._point)
        self.book.picked.connect(self._seek)
        self.book.pointed.connect(self._point_at_code)
        self._code: int | None = None
        self.apply_theme()

    def parts(self) -> list[tuple[Square, CodebookPart]]:
        return self.with_part(CodebookPart)[:1]

    def reason(self, parts: list[tuple[Square, CodebookPart]]) -> str:
        return "" if parts else NONE if self.squares else NOTHING

    def show_empty(self, sentence: str) -> None:
        self.pages.say(sentence)
        self.pictures.show_tiles(())
        self.book.show_tiles(())

    def draw(self, parts: list[tuple[Square, CodebookPart]]) -> None:
        self.pages.say("")
        square, part = parts[0]
        shape = part.codes.shape
        heats = [None if self._code is None else (c == self._code) * 1.0 for c in (part.codes, part.codes_g)]
        size = (int(shape[0]), int(shape[1]))
        self.pictures.show_tiles(
            [
                Tile("x", square.x, heats[0], 1.0, size, self._place),
                Tile("ρ(g) x", square.gx, heats[1], 1.0, size),
            ]
        )
        chosen = None if self._place is None else int(part.codes[self._place])
        values = part.usage if self._place is None else part.shares[self._place]
        marked = chosen if self._place is not None else self._code
        self.book.show_tiles(
            [
                Tile(
                    str(k), entry, None, 0.0, (1, 1), (0, 0) if k == marked else None, note=percent(float(values[k])),
                    role="bad" if k == marked else "text",
                )
                for k, entry in enumerate(part.entries)
            ]
        )  # fmt: skip
        used = int((part.usage > 0).sum())
        told = (
            f"below each code: its probability in row {self._place[0]}, column {self._place[1]} of x, where {chosen} "
            "is chosen"
            if self._place is not None
            else "below each code: its share of the pictures that it was learned from"
        )
        drawn = f", drawn at temperature {figure(part.temperature)}" if part.temperature > 0 else ""
        self.words.setText(
            f"{len(part.entries)} codes, {used} of them used, perplexity {part.perplexity:.1f}{drawn}; {told}."
        )

    def _pick(self, tile: int, row: int, column: int) -> None:
        self._place = None if tile or self._place == (row, column) else (row, column)
        self._code = None
        self.refresh()

    def _seek(self, tile: int, row: int, column: int) -> None:
        self._code, self._place = None if self._code == tile else tile, None
        self.refresh()

    def _point(self, place: tuple[int, int, int] | None) -> None:
        parts = self.parts()
        if place is None or not parts:
            self.hovered.emit("")
            return
        codes = parts[0][1].codes_g if place[0] else parts[0][1].codes
        self.hovered.emit(f"row {place[1]}, {place[2]}: code {int(codes[place[1], place[2]])}")

    def _point_at_code(self, place: tuple[int, int, int] | None) -> None:
        parts = self.parts()
        self.hovered.emit(
            ""
            if place is None or not parts
            else f"code {place[0]}: {figure(float(parts[0][1].usage[place[0]]))} of all"
        )

    def apply_theme(self) -> None:
        self.pages.apply_theme()
        self.hint.setStyleSheet(f"color: {current().muted};")
        self.pictures.update()
        self.book.update()

    def numbers(self) -> dict[str, NDArray[Any]]:
        return {
            f"{square.model}: {name}": values
            for square, part in self.parts()
            for name, values in (
                ("codes of x", part.codes), ("codes of ρ(g) x", part.codes_g), ("usage", part.usage),
                ("probabilities at each place", part.shares), ("entries", part.entries),
            )
        }  # fmt: skip

    def caption(self) -> str:
        return f"{self.words.text()} {subject(self.frame)}." if self.frame is not None and self.parts() else ""


VIEW = ViewSpec(
    "codebook",
    "Code book",
    CodebookView,
    "center",
    4,
    "The codes of a discrete autoencoder, one by one.",
    domains=("grid",),
    fits=lambda square: square.of(CodebookPart) is not None,
)
