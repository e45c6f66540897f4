"""Slices: a volume and what a layer answers, cut across z, y and x at one voxel, on both sides of the square."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QComboBox, QGridLayout, QHBoxLayout, QLabel, QSlider, QVBoxLayout, QWidget

from explorer.spaces.volume.drawing.values import VolumePart
from explorer.square.frame import BACK, Square
from widgets.base.frame_view import FrameView, Pages
from widgets.base.look import theme
from widgets.base.text.words import figure, subject
from widgets.base.view import ViewSpec, Wish
from widgets.maps.linking import precise
from widgets.maps.mosaic import symmetric_scale
from widgets.spaces.volume.cursor import PLANES, Panel, Place, panels
from widgets.spaces.volume.slice_grid import SliceGrid

ACROSS = ("across z", "across y", "across x")
MOST_PANELS = 6
MOST_CHANNELS = 512  # that are listed


class SlicesView(FrameView[tuple[Square, VolumePart]]):
    """Up to six panels of three slices. A click moves the voxel that all of them are cut at."""

    POINTS_AT = "voxel"
    NOTHING = "Choose a volume and a network on volumes: its slices are drawn here."
    NONE = "This model does not live on volumes."

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.place: Place | None = None
        self._of: tuple[int, ...] = ()  # the sides of the volume that it is a place of
        self.panels: list[Panel] = []
        self.channel = QComboBox()
        self.channel.setAccessibleName("Channel")
        self.channel.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.channel.setMinimumContentsLength(12)  # the window can be 1000 pixels wide
        self.channel.activated.connect(lambda k: self.wished.emit(Wish(changes={"channel": int(k)})))
        self.sliders = tuple(QSlider(Qt.Orientation.Horizontal) for _ in PLANES)
        self._numbers = tuple(QLabel() for _ in PLANES)
        chrome = QWidget()
        chrome.setProperty("chrome", True)  # left out of exported figures
        row = QHBoxLayout(chrome)
        row.setContentsMargins(8, 4, 8, 0)
        row.setSpacing(6)
        self._whose = QLabel("Layer's")
        row.addWidget(self._whose)
        row.addWidget(self.channel)
        for axis, (name, slider, number) in enumerate(zip(PLANES, self.sliders, self._numbers, strict=True)):
            slider.setAccessibleName(f"Voxel along {name}")
            slider.setMinimumWidth(50)
            slider.valueChanged.connect(lambda value, axis=axis: self._slid(axis, value))
            number.setMinimumWidth(number.fontMetrics().horizontalAdvance(" z 000"))
            row.addWidget(number)
            row.addWidget(slider, 1)
        maps = QWidget()
        self.grids = tuple(SliceGrid(maps) for _ in range(MOST_PANELS))
        self._lines = QGridLayout()
        self._lines.setContentsMargins(0, 0, 0, 0)
        self._lines.setSpacing(0)
        for k, grid in enumerate(self.grids):
            grid.enlarges = False
            grid.margins = (10.0, 8.0, 8.0, 6.0)
            grid.picked.connect(lambda which, r, c, k=k: self._picked(k, which, r, c))
            grid.pointed.connect(lambda at, k=k: self._hover(k, at))
        maps.setLayout(self._lines)
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(chrome)
        column.addWidget(maps, 1)
        self.pages = Pages(self, content, self.NOTHING)
        self._shown: tuple[str, ...] = ()
        self.pointer.moved.connect(self._point)
        self.apply_theme()
        self.refresh()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer to change the layer that is drawn, or the channel of it that is selected."""
        if self.parts():
            self.ask_menu_of(self.parts()[0][0], event.globalPos())

    # what is shown ----------------------------------------------------------------------------------------------
    def parts(self) -> list[tuple[Square, VolumePart]]:
        return self.with_part(VolumePart)

    def looks(self) -> dict[str, Any]:
        return {"voxel": list(self.place)} if self.place is not None else {}

    def see(self, looks: Mapping[str, Any]) -> None:
        match looks.get("voxel"):
            case [int() as z, int() as y, int() as x]:
                if all(0 <= at < side for at, side in zip((z, y, x), self._of, strict=False)):
                    self._go((z, y, x))

    def show_empty(self, sentence: str) -> None:
        self.panels = []
        self.pages.say(sentence)

    def draw(self, parts: list[tuple[Square, VolumePart]]) -> None:
        assert self.frame is not None
        self.pages.say("")
        identity = not self.frame.state.steps
        found = [(square, panel) for square, part in parts for panel in panels(part, identity)]
        if len(parts) > 1:
            # two models: x and ρ(g)x, then of each its answer and how far it is from what the law says
            wanted = ("F(x)",) if identity else ("F(ρ(g)x)", BACK, "difference")
            first = [(s, p) for s, p in found if s is parts[0][0] and p.name in ("x", "ρ(g)x")]
            found = first + [(s, p) for s, p in found if p.name in wanted]
        self.panels = [panel for _, panel in found[:MOST_PANELS]]
        sides = parts[0][1].sides
        if self.place is None or sides != self._of:  # the middle of a larger volume is the corner of a smaller one
            self._of = sides
            z, y, x = (n // 2 for n in sides)
            self.place = z, y, x
        self._titles = [
            panel.name if len(parts) == 1 or panel.name in ("x", "ρ(g)x") else f"{panel.name} · {square.title}"
            for square, panel in found[:MOST_PANELS]
        ]
        self._scales(found)
        self._offer(parts[0][1])
        self._arrange()
        self._cut()

    _titles: list[str]
    levels: list[tuple[float, float, str]]

    def _scales(self, found: list[tuple[Square, Panel]]) -> None:
        """Choose one scale for x and ρ(g)x, and one for what the layer of each network answers."""
        grey = [p.values for _, p in found if p.name in ("x", "ρ(g)x")]
        low, high = min(float(v.min()) for v in grey), max(float(v.max()) for v in grey)
        if low == high:  # one value, as 0: its scale says so
            low, high = min(low, 0.0), max(high, 0.0)
        answers = [(s, p.values) for s, p in found if p.name not in ("x", "ρ(g)x")]
        # each its own: the differences of two networks are to be seen beside their answers
        most = {id(s): symmetric_scale([values for of, values in answers if of is s]) for s, _ in answers}
        self.levels = [
            (low, high, "grey") if p.name in ("x", "ρ(g)x") else (-most[id(s)], most[id(s)], "signed") for s, p in found
        ]

    def _offer(self, part: VolumePart) -> None:
        names = [part.name_of(k) for k in range(min(part.channels, MOST_CHANNELS))]
        with QSignalBlocker(self.channel):
            if [self.channel.itemText(k) for k in range(self.channel.count())] != names:
                self.channel.clear()
                self.channel.addItems(names)
            self.channel.setCurrentIndex(part.channel)
        self.channel.setEnabled(len(names) > 1)
        for widget in (self._whose, self.channel):
            widget.setVisible(bool(names))  # an answer for the whole volume has none
        for slider, side in zip(self.sliders, part.sides, strict=True):
            with QSignalBlocker(slider):
                slider.setRange(0, side - 1)

    def _arrange(self) -> None:
        """Place as many panels as there are, two in a row."""
        for k, grid in enumerate(self.grids):
            grid.setVisible(k < len(self.panels))
        if self._shown != (shown := tuple(self._titles)):
            self._shown = shown
            high, wide = (len(shown), 1) if len(shown) == 2 else (-(-len(shown) // 2), 2)
            for line in range(MOST_PANELS):  # all of one size, whatever they hold
                self._lines.setRowStretch(line, int(line < high))
                self._lines.setColumnStretch(line, int(line < wide))
            for k, grid in enumerate(self.grids):
                self._lines.removeWidget(grid)
                if k < len(shown):
                    self._lines.addWidget(grid, *((k, 0) if len(shown) == 2 else (k // 2, k % 2)))

    def _cut(self) -> None:
        """Show the slices through the voxel."""
        assert self.place is not None
        for grid, panel, title, levels in zip(self.grids, self.panels, self._titles, self.levels, strict=False):
            told = self._told(panel)
            grid.set_title(f"{title} · {told}" if told else title, brief=(title,) if told else ())
            grid.set_values(panel.slices(self.place), *levels, 3, ACROSS)
            grid.set_marks(panel.mark(self.place))
            grid.set_ends(panel.ends())
            grid.arrange()
        for slider, number, name, value in zip(self.sliders, self._numbers, PLANES, self.place, strict=True):
            number.setText(f"{name} {value}")
            with QSignalBlocker(slider):
                slider.setValue(value)

    def _told(self, panel: Panel) -> str:
        """Return how long the voxels of x are, where its file says it."""
        long = dict.fromkeys(map(figure, panel.part.voxel if panel.name == "x" else ()))
        told = next(iter(long), "") if len(long) == 1 else "×".join(map(figure, panel.part.voxel))
        return f"voxels of {told} mm" if long else ""

    # what the person does ---------------------------------------------------------------------------------------
    def _go(self, place: Place) -> None:
        if place != self.place and self.panels:
            self.place = place
            self._cut()
            self.pointer.moved.emit(int(np.ravel_multi_index(place, self.panels[0].part.sides)))

    def _slid(self, axis: int, value: int) -> None:
        if self.place is not None:
            place = list(self.place)
            place[axis] = value
            self._go((place[0], place[1], place[2]))

    def _picked(self, k: int, which: int, row: int, column: int) -> None:
        if k < len(self.panels) and self.place is not None:
            place = self.panels[k].clicked(which, row, column, self.place)
            if place is not None:
                self._go(place)

    def _point(self, place: int | None) -> None:
        """Follow the voxel that another view points at."""
        if place is not None and self.panels:
            z, y, x = (int(k) for k in np.unravel_index(place, self.panels[0].part.sides))
            if (z, y, x) != self.place:
                self.place = z, y, x
                self._when_visible("place", self._cut)

    def _hover(self, k: int, at: tuple[int, int, int] | None) -> None:
        value = self.grids[k].item.value_at(at) if at is not None else None
        if at is None or value is None or k >= len(self.panels) or not np.isfinite(value) or self.place is None:
            self.hovered.emit("")
            return
        place = self.panels[k].clicked(*at, self.place)
        where = "from outside" if place is None else f"voxel z {place[0]}, y {place[1]}, x {place[2]} of x"
        self.hovered.emit(f"{self.panels[k].name}, {where}:  {precise(value)}")

    # exports ----------------------------------------------------------------------------------------------------
    def numbers(self) -> dict[str, NDArray[Any]]:
        return {title: panel.values for title, panel in zip(getattr(self, "_titles", []), self.panels, strict=False)}

    def caption(self) -> str:
        if not self.panels or self.frame is None or self.place is None:
            return ""
        part, square = self.panels[0].part, self.parts()[0][0]
        layer = f"layer {square.layer.name}, {part.name_of(part.channel)}" if part.values is not None else ""
        scales = dict.fromkeys(f"{kind} {figure(low)} to {figure(high)}" for low, high, kind in self.levels)
        at = ", ".join(f"{name} {k}" for name, k in zip(PLANES, self.place, strict=True))
        ends = "letters at the ends of axes as in its file" if part.ends else ""
        told = "".join(f", {words}" for words in (self._told(self.panels[0]), ends) if words)
        return f"Slices at {at}{told}{'; ' if layer else ''}{layer}: {subject(self.frame)}; {', '.join(scales)}."

    def apply_theme(self) -> None:
        for grid in self.grids:
            grid.apply_theme()
        self.pages.apply_theme()
        self.setStyleSheet(f"SlicesView {{ background: {theme.current().panel}; }}")


VIEW = ViewSpec(
    "slices", "Slices", SlicesView, "center", 0,
    "A volume and a layer's answer, cut across z, y and x at one voxel, on both sides of the square.",
    domains=("volume",),
)  # fmt: skip
