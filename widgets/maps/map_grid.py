"""A grid of maps as a widget: mosaic, colour bar, zoom and pan, and the value under the cursor."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QGraphicsScene, QWidget

from widgets.base.camera import Camera
from widgets.charts.scene.sheet import Sheet
from widgets.maps.colour_bar import ColourBar
from widgets.maps.diagram import Label
from widgets.maps.map_item import MapItem, Place

NARROW = 3 * ColourBar.WIDTH  # pixels of width that a bar would take too much of


class Canvas(Sheet):
    """A scene in screen pixels, one to one; it keeps neither keys nor dropped files to itself."""

    turned = Signal(float)  # notches of the wheel with Ctrl
    resized = Signal()
    moved = Signal()  # the mouse, over the scene

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setCentralItem(None)
        self.scene().setItemIndexMethod(QGraphicsScene.ItemIndexMethod.NoIndex)
        self.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAcceptDrops(False)
        self.viewport().setAcceptDrops(False)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.turned.emit(event.angleDelta().y() / 120)
            event.accept()
        else:
            super().wheelEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self.moved.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit()


class MapGrid(Canvas):
    """Shows (channels, height, width), read-only. A click enlarges a channel, Esc or another click goes back.

    Wheel: zoom about the cursor. Drag: pan. Double-click: all of it again.
    """

    ITEM = MapItem  # that draws the values and the marks

    picked = Signal(int, int, int)  # channel, row, column of a click
    pointed = Signal(object)  # (channel, row, column) under the cursor, or None

    def __init__(self, parent: QWidget | None = None, title: str = "") -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.enlarges = True
        self.levels_elsewhere = False  # whether the view tells them too, so that the bar may give way to the maps
        self.camera = Camera(self)
        self.item = self.ITEM(self.camera)
        self.title = Label(12, "text")
        self.title.bold = True
        self.margins = (14.0, 12.0, 12.0, 12.0)  # left, top, right, bottom: room for axes
        for part in (self.item, self.title):
            self.addItem(part)
        self.title.set_text(title)
        self.resized.connect(self.arrange)
        self.item.hovered.connect(self.pointed)
        self.item.picked.connect(self._pick)
        self.apply_theme()

    @cached_property
    def bar(self) -> ColourBar:
        """Return the colour bar, made when there is something to show: half the grids never have a second model."""
        made = ColourBar()
        made.adopt(self)
        self.addItem(made)
        made.dress()
        return made

    def set_values(
        self, values: NDArray[Any] | None, low: float = -1.0, high: float = 1.0, kind: str = "signed",
        order: int = 1, labels: Sequence[str] = (), names: Sequence[str] = (),
    ) -> None:  # fmt: skip
        """Show maps between two levels; see `MapItem.set_values`."""
        self.item.set_values(values, low, high, kind, order, labels, names)
        if values is not None or "bar" in self.__dict__:
            self.bar.set_levels(low, high, kind)
            self._show_bar()

    def _show_bar(self) -> bool:
        """Show the bar where there is something to show and room for it; return whether there is room."""
        narrow = self.levels_elsewhere and self.viewport().width() < NARROW
        if "bar" in self.__dict__:
            self.bar.setVisible(not narrow and self.item.values is not None and self.item.values.size > 0)
        return not narrow

    def set_title(self, text: str, dot: str = "", brief: Sequence[str] = ()) -> None:
        """Set the heading; `dot` is the theme's colour before it, `brief` is said where it has no room."""
        shown = bool(self.title.text)
        self.title.dot = dot
        self.title.set_text(text, *brief)
        if shown != bool(text):
            self.arrange()

    def set_channel(self, channel: int | None) -> None:
        """Show one channel alone, or all."""
        self.camera.reset()
        self.item.set_channel(channel)

    def set_marks(self, marks: tuple[Place, ...]) -> None:
        self.item.set_marks(marks)

    def arrange(self) -> None:
        width, height = float(self.viewport().width()), float(self.viewport().height())
        self.scene().setSceneRect(0, 0, width, height)
        left, top, right, bottom = self.margins
        heading = 24.0 if self.title.text else 0.0
        beside = ColourBar.WIDTH + 10 if self._show_bar() else 0
        box = QRectF(left, top + heading, max(20.0, width - left - right - beside),
                     max(20.0, height - top - bottom - heading))  # fmt: skip
        self.item.place(box)
        # beside the picture itself, which may be narrower than its box
        frame = self.item.frame().translated(self.item.pos())
        above = frame.top() - self.item.strip() - 24
        self.title.place(QRectF(frame.left(), above, max(0.0, width - frame.left() - right), 20))
        if "bar" in self.__dict__:
            self.bar.place(QRectF(frame.right() + 10, frame.top(), ColourBar.WIDTH, min(frame.height(), 320.0)))

    def apply_theme(self) -> None:
        self.item.refresh_colours()
        if "bar" in self.__dict__:
            self.bar.dress()
        self.scene().update()

    def _pick(self, channel: int, row: int, column: int) -> None:
        if self.enlarges and self.item.values is not None and len(self.item.values) > 1:
            self.set_channel(channel if self.item.channel is None else None)
        self.picked.emit(channel, row, column)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and (self.camera.zoom > 1 or self.item.channel is not None):
            # one step back at a time: first the zoom, then the channel
            if self.camera.zoom > 1:
                self.camera.reset()
            else:
                self.set_channel(None)
        else:
            event.ignore()  # a view of graphics would scroll by the arrows
