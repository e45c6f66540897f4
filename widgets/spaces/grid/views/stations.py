"""Pictures that a network makes one after the other: there and back again, or a rough one and then a fine one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from explorer.spaces.grid.drawing.stations import Station, StationsPart
from explorer.square.frame import Square
from widgets.base.frame_view import FrameView, Pages
from widgets.base.text.words import figure, subject
from widgets.base.view import ViewSpec
from widgets.spaces.grid.tokens.tiles import Tile, TileBoard


class StationsView(FrameView[tuple[Square, StationsPart]]):
    """A row of pictures for x and one for rho(g) x; those of an error share one scale."""

    NOTHING = "Open a network that makes one picture of another to see each on the way."
    NONE = "This network makes no pictures on the way."

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = QLabel()
        self.words.setWordWrap(True)
        self.board = TileBoard()
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(8, 4, 8, 4)
        column.addWidget(self.words)
        column.addWidget(self.board, 1)
        self.pages = Pages(self, content, self.NOTHING)
        self.board.pointed.connect(self._point)
        self.apply_theme()

    def parts(self) -> list[tuple[Square, StationsPart]]:
        return self.with_part(StationsPart)[:1]

    def show_empty(self, sentence: str) -> None:
        self.pages.say(sentence)
        self.board.show_tiles(())

    def draw(self, parts: list[tuple[Square, StationsPart]]) -> None:
        self.pages.say("")
        square, part = parts[0]
        highest = _highest(part)
        rows = [("x", square.x, False)]
        if not np.array_equal(square.x, square.gx):
            rows.append(("ρ(g) x", square.gx, True))
        self.board.columns = 1 + len(part.stations)
        self.board.show_tiles(
            [
                tile
                for title, picture, moved in rows
                for tile in (Tile(title, picture), *(_tile(s, moved, highest) for s in part.stations))
            ]
        )
        scale = f"; errors from 0 to {figure(highest)}" if highest else ""
        self.words.setText(f"{part.told}: what is made of x{', and of ρ(g) x below' * (len(rows) > 1)}{scale}.")

    def _point(self, at: tuple[int, int, int] | None) -> None:
        if at is None:
            self.hovered.emit("")
            return
        tile = self.board.tiles[at[0]]
        above = self.board.tiles[at[0] % self.board.columns]  # it has the title of its column
        values = tile.picture if tile.picture is not None else tile.heat
        assert values is not None
        numbers = np.atleast_3d(values.T).T[:, at[1], at[2]]
        title = tile.title or f"{above.title}, of ρ(g) x"
        self.hovered.emit(f"{title}, row {at[1]}, {at[2]}: {', '.join(figure(float(v)) for v in numbers)}")

    def apply_theme(self) -> None:
        self.pages.apply_theme()
        self.board.update()

    def numbers(self) -> dict[str, NDArray[Any]]:
        return {
            f"{square.model}: {station.title}{suffix}": values
            for square, part in self.parts()
            for station in part.stations
            for suffix, values in ((", of x", station.of_x), (", of ρ(g) x", station.of_gx))
        }

    def caption(self) -> str:
        return f"{self.words.text()} {subject(self.frame)}." if self.frame is not None and self.parts() else ""


def _highest(part: StationsPart) -> float:
    """Return the largest error of all stations."""
    errors = [np.nanmax(v) for s in part.stations if s.error for v in (s.of_x, s.of_gx)]
    return float(max(errors, default=0.0))


def _tile(station: Station, moved: bool, highest: float) -> Tile:
    """Return the picture of a station; titles stand over the first row alone."""
    values, title = (station.of_gx, "") if moved else (station.of_x, station.title)
    if not station.error:
        return Tile(title, values)
    return Tile(title, None, values.mean(0), highest, note=f"mean {figure(float(values.mean()))}")


VIEW = ViewSpec(
    "stations",
    "Stations",
    StationsView,
    "center",
    3,
    "The pictures that a network makes on its way.",
    domains=("grid",),
    fits=lambda square: square.of(StationsPart) is not None,
)
