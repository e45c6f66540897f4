"""Orientations: every orientation channel of a field, and to which other one the element has brought it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Signal
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from explorer.spaces.volume.drawing.values import VolumePart
from explorer.square.frame import Square
from widgets.base.frame_view import FrameView, Pages
from widgets.base.look import theme
from widgets.base.text.words import figure, subject
from widgets.base.view import ViewSpec, Wish, numbers_of
from widgets.charts.beside import Beside
from widgets.maps.colour_bar import ColourBar
from widgets.maps.map_grid import MapGrid
from widgets.maps.mosaic import symmetric_scale
from widgets.spaces.volume.cursor import Panel, Place

HEADING = 24.0  # pixels above the tiles
HINT = "Point at an orientation: where it has gone is outlined. A click chooses its channel."


class OrientationRow(QWidget):
    """The orientations of one network: F(x), F(ρ(g)x), and the permutation between them.

    `pointed` and `picked` tell of the orientation of F(x) that is pointed at (or None) and of one that is chosen.
    """

    pointed, picked = Signal(object), Signal(int)
    fitted = Signal()  # another number of tiles in a row would make them larger

    def __init__(self) -> None:
        super().__init__()
        self.before, self.after, self.matrix = MapGrid(), MapGrid(), MapGrid()
        self.part: VolumePart | None = None
        self.hot: int | None = None  # the orientation of F(x) that is pointed at
        self.scale, self.columns, self._whose = 1.0, 8, ""
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        for grid, stretch in ((self.before, 5), (self.after, 5), (self.matrix, 4)):
            grid.enlarges = False
            grid.setToolTip(HINT)
            row.addWidget(grid, stretch)
        self.words = QLabel()
        self.words.setContentsMargins(12, 0, 12, 6)
        self.words.setWordWrap(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row, 1)
        column.addWidget(self.words)
        self.before.pointed.connect(lambda at: self._hover(None if at is None else at[0]))
        self.after.pointed.connect(lambda at: self._hover(None if at is None else self._came(at[0])))
        self.matrix.pointed.connect(lambda at: self._hover(None if at is None else at[2]))
        self.before.picked.connect(lambda h, row, column: self._pick(h))
        self.after.picked.connect(lambda h, row, column: self._pick(self._came(h)))
        self.before.resized.connect(self._resized)

    def show_part(self, part: VolumePart, place: Place | None, whose: str) -> None:
        """Show the orientations of a field, cut at a voxel; `whose` is the network where several are compared."""
        self.part, self._whose = part, whose
        assert part.gallery is not None and part.gallery_moved is not None
        self.scale = symmetric_scale([part.gallery, part.gallery_moved])
        here, there = cuts(part, place)
        self.columns = self._columns(*here.shape)
        for grid, values, title in ((self.before, here, "F(x)"), (self.after, there, "F(ρ(g)x)")):
            grid.set_values(values, -self.scale, self.scale, "signed", self.columns)
            grid.set_title(f"{title}, field {part.field}")
            grid.arrange()
        order = len(part.labels)
        permutation = np.zeros((1, order, order), np.float32)
        if part.order:
            permutation[0, list(part.order), range(order)] = 1.0
        self.matrix.setVisible(bool(part.order))
        self.matrix.set_values(permutation, 0.0, 1.0, "error")
        self.matrix.set_title("h → gh")
        self.matrix.bar.setVisible(False)
        self.matrix.arrange()
        self._mark()

    def _columns(self, count: int, rows: int, columns: int) -> int:
        """Return how many of so many tiles to place in a row, so that they are as large as the room allows."""
        room, (left, top, right, bottom) = self.before.viewport().size(), self.before.margins
        wide, high = room.width() - left - right - ColourBar.WIDTH, room.height() - top - bottom - HEADING
        sizes = {
            c: min(wide / (c * columns), high / (count // c * rows)) for c in range(1, count + 1) if count % c == 0
        }
        return max(sizes, key=lambda c: (sizes[c], c))

    def _resized(self) -> None:
        values = self.before.item.values
        if values is not None and self.part is not None and self._columns(*values.shape) != self.columns:
            self.fitted.emit()

    def _mark(self) -> None:
        part = self.part
        if part is None:
            return
        hot = self.hot if self.hot is not None else part.channel % len(part.labels)
        went = part.order[hot] if part.order else None
        for grid, channel in ((self.before, hot), (self.after, went)):
            values = grid.item.values
            if values is None or channel is None:
                grid.set_marks(())
                continue
            rows, columns = values.shape[1:]
            rim = [(r, c) for r in range(rows) for c in (0, columns - 1)]
            rim += [(r, c) for c in range(columns) for r in (0, rows - 1)]
            grid.set_marks(tuple((channel, r, c) for r, c in rim))
        self.matrix.set_marks(() if went is None else ((0, went, hot),))
        where = "has no place under this element" if went is None else f"goes to {part.labels[went]}"
        said = f"rientation {part.labels[hot]} of field {part.field} {where}."
        # where there is room for all of its name: those of networks that are compared often begin alike
        self.words.setText(f"{self._whose}: o{said}" if self._whose else f"O{said}")

    def _came(self, h: int) -> int | None:
        """Return the orientation of F(x) that is h of F(ρ(g)x)."""
        order = self.part.order if self.part is not None else ()
        return order.index(h) if h in order else None

    def _hover(self, h: int | None) -> None:
        if h != self.hot:
            self.hot = h
            self._mark()
        self.pointed.emit(h)

    def _pick(self, h: int | None) -> None:
        if h is not None:
            self.picked.emit(h)

    def apply_theme(self) -> None:
        for grid in (self.before, self.after, self.matrix):
            grid.apply_theme()
        t = theme.current()
        self.words.setStyleSheet(f"color: {t.muted}; background: {t.panel};")


def cuts(part: VolumePart, place: Place | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the slices across z at the voxel, of F(x) and where it has gone."""
    assert part.gallery is not None and part.gallery_moved is not None
    stride = part.strides[2]
    slices = []
    for name, values in (("F(x)", part.gallery), ("F(ρ(g)x)", part.gallery_moved)):
        panel = Panel(name, values[0], part, part.spacing, stride)
        at = panel.at(place) if place is not None else None
        slices.append(values[:, values.shape[1] // 2 if at is None else min(at[0], values.shape[1] - 1)])
    return slices[0], slices[1]


class OrientationsView(FrameView[tuple[Square, VolumePart]]):
    """The middle slices of all orientations of F(x) and of F(ρ(g)x), and the permutation between them.

    Of two networks that are compared each has a row, if its layer has orientations.
    """

    POINTS_AT = "voxel"
    NOTHING = "Choose a volume and a network with orientations: they are drawn here."
    NONE = "This model does not live on volumes."

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.place: Place | None = None
        self.beside = Beside(self._row, QVBoxLayout, gap=0)
        self.rows = self.beside.charts
        self.pages = Pages(self, self.beside, self.NOTHING)
        self.pointer.moved.connect(self._point)
        self.apply_theme()
        self.refresh()

    def _row(self) -> OrientationRow:
        row = OrientationRow()
        row.pointed.connect(lambda h: self.hovered.emit(row.words.text() if h is not None else ""))
        row.picked.connect(lambda h: self._picked(h, self.rows.index(row)))
        row.fitted.connect(self.refresh)
        row.apply_theme()
        return row

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to change the layer that is drawn, and the channel under the mouse."""
        at = event.globalPos()
        for row, (square, part) in zip(self.rows, self.turned(), strict=False):
            if row.rect().contains(row.mapFromGlobal(at)):
                unit = ("channel", part.field * len(part.labels) + row.hot) if row.hot is not None else ("", -1)
                self.ask_menu_of(square, at, *unit)

    # what is shown ----------------------------------------------------------------------------------------------
    def parts(self) -> list[tuple[Square, VolumePart]]:
        return self.with_part(VolumePart)

    def turned(self) -> list[tuple[Square, VolumePart]]:
        """Return the parts whose layers have orientations."""
        return [(s, p) for s, p in self.parts() if p.gallery is not None and p.gallery_moved is not None]

    def missing(self, parts: list[tuple[Square, VolumePart]]) -> str:
        if self.turned():
            return ""
        return f"Layer {parts[0][0].layer.name} has no orientations; choose one of a field regular(O) or regular(Oh)."

    def show_empty(self, sentence: str) -> None:
        self.pages.say(sentence)

    def draw(self, parts: list[tuple[Square, VolumePart]]) -> None:
        self.pages.say("")
        found = self.turned()
        for row, (square, part) in zip(self.beside.first(len(found)), found, strict=True):
            row.show_part(part, self.place, square.title if len(parts) > 1 else "")

    # what the person does ---------------------------------------------------------------------------------------
    def _picked(self, h: int, row: int) -> None:
        found = self.turned()
        if row < len(found):
            part = found[row][1]
            self.wished.emit(Wish(changes={"channel": part.field * len(part.labels) + h}))

    def _point(self, place: int | None) -> None:
        """Follow the voxel that another view points at."""
        found = self.parts()
        if place is not None and found:
            z, y, x = (int(k) for k in np.unravel_index(place, found[0][1].sides))
            self.place = z, y, x
            self._when_visible("place", self.refresh)

    # exports ----------------------------------------------------------------------------------------------------
    def numbers(self) -> dict[str, NDArray[Any]]:
        sides = []
        for square, part in self.turned():
            assert part.gallery is not None and part.gallery_moved is not None
            known = {"F(x)": part.gallery, "F(ρ(g)x)": part.gallery_moved, "order": np.array(part.order)}
            sides.append((square, known))
        return numbers_of(sides)

    def caption(self) -> str:
        found = self.turned()
        if not found or self.frame is None:
            return ""
        of = " and ".join(
            f"{part.group} in field {part.field} of layer {square.layer.name} (colours ±{figure(row.scale)})"
            for row, (square, part) in zip(self.rows, found, strict=False)
        )
        return f"Orientations of {of}: {subject(self.frame)}."

    def apply_theme(self) -> None:
        for row in self.rows:
            row.apply_theme()
        self.pages.apply_theme()


VIEW = ViewSpec(
    "orientations", "Orientations", OrientationsView, "center", 2,
    "Every orientation channel of a field, and to which other one the element has brought it.", domains=("volume",),
)  # fmt: skip
