"""View boxes: pyqtgraph's, with a whole range and a menu of our own, drags of marks, a camera."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QPoint, QPointF, Qt

from widgets.base.camera import Camera
from widgets.base.controls.panel_menu import panel_menu
from widgets.charts.library import pg

CLOSEST = 500  # the whole range is at most this often as wide as what can be zoomed to

Range = tuple[float, float]


class Box(pg.ViewBox):
    """Shows the whole range until somebody zooms; items are not asked for their bounds on a frame.

    `grabbed` is asked at the start of a drag with the left button whether something in the chart moves with it, and
    `dragged` then follows; else the drag pans.
    """

    def __init__(self, grabbed: Callable[[QPointF], bool], dragged: Callable[[QPointF, bool], None]) -> None:
        self._whole: list[Range] = [(0.0, 1.0), (0.0, 1.0)]
        self._grabbed, self._dragged, self._held = grabbed, dragged, False
        self.keys = Qt.KeyboardModifier.NoModifier  # of the drag
        self.asked: Callable[[QPoint], bool] = lambda at: False  # whether a menu of its own opens there, on screen
        super().__init__(enableMenu=False, defaultPadding=0.0)
        self.state["autoRange"] = [False, False]
        self.setMouseEnabled(x=True, y=False)
        # pyqtgraph moves what is inside no sooner than it is painted, which then asks for a second painting of it all
        self.sigRangeChanged.connect(self._place_inside)

    def _place_inside(self, *changed: Any) -> None:
        self.updateMatrix()

    # the range ------------------------------------------------------------------------------------------------
    def set_whole(self, x: Range | None = None, y: Range | None = None) -> None:
        """Set the whole range of the axes; a zoom is kept unless the range is another one."""
        limits: dict[str, float] = {}
        ranges: dict[str, Range] = {}
        for k, (axis, found) in enumerate((("x", x), ("y", y))):
            if found is not None and found != self._whole[k]:
                self._whole[k] = found
                low, high = found
                limits |= {f"{axis}Min": low, f"{axis}Max": high, f"max{axis.upper()}Range": high - low}
                limits[f"min{axis.upper()}Range"] = (high - low) / CLOSEST
                ranges[f"{axis}Range"] = found
        if limits and not self.round:
            self.setLimits(**limits)
        if ranges:
            self.setRange(**ranges, padding=0)

    def keep_round(self, on: bool = True) -> None:
        """Keep one scale for both axes: more than the whole range is seen along one of them."""
        if on == self.round:
            return
        self.setAspectLocked(on)
        self._whole = [(0.0, 0.0), (0.0, 0.0)]  # the next whole range is another one
        if on:
            self.setLimits(**{f"{end}{axis}Range": None for end in ("min", "max") for axis in "XY"})
            self.setLimits(xMin=None, xMax=None, yMin=None, yMax=None)

    @property
    def round(self) -> bool:
        """Return whether both axes have one scale."""
        return bool(self.state["aspectLocked"])

    @property
    def whole(self) -> tuple[Range, Range]:
        return self._whole[0], self._whole[1]

    @property
    def zoomed(self) -> bool:
        """Return whether less than the whole range is shown."""
        return any(abs(a - b) > 1e-9 * abs(w[1] - w[0]) for v, w in zip(self.state["targetRange"], self._whole)
                   for a, b in zip(v, w))  # fmt: skip

    def autoRange(self, *rest: Any, **more: Any) -> None:
        """Show the whole range."""
        self.setRange(xRange=self._whole[0], yRange=self._whole[1], padding=0)

    def enableAutoRange(self, axis: Any = None, enable: Any = True, x: Any = None, y: Any = None) -> None:
        """Show the whole range when asked for an "automatic" one; ranges never follow the data of a single frame."""
        named = {None: (0, 1), "xy": (0, 1), self.XYAxes: (0, 1), "x": (0,), "y": (1,), 0: (0,), 1: (1,)}
        wanted = [x, y] if x is not None or y is not None else [enable if k in named[axis] else None for k in (0, 1)]
        for k, on in enumerate(wanted):
            if on:
                self.setRange(**{("xRange", "yRange")[k]: self._whole[k]}, padding=0)

    def autoRangeEnabled(self) -> list[bool]:
        """Return [True, True] while the whole is shown: the button "A" appears when there is something to undo."""
        return [not self.zoomed] * 2

    def zoom(self, factor: float) -> None:
        """Show a range so many times as wide, round its middle, along the axes that the wheel zooms."""
        self.childTransform()
        across, up = (factor if on else 1.0 for on in self.state["mouseEnabled"])
        self.scaleBy(x=across, y=up)

    def pan(self, across: float, up: float) -> None:
        """Move by a share of what is seen."""
        (left, right), (low, high) = self.viewRange()
        self.translateBy(x=across * (right - left), y=up * (high - low))

    # the mouse ------------------------------------------------------------------------------------------------
    def mouseDragEvent(self, event: Any, axis: int | None = None) -> None:
        if event.button() != Qt.MouseButton.LeftButton or axis is not None:
            super().mouseDragEvent(event, axis)
            return
        if event.isStart():
            self._held = self._grabbed(self.mapSceneToView(event.buttonDownScenePos()))
        if not self._held:
            super().mouseDragEvent(event, axis)
            return
        event.accept()
        self.keys, self._held = event.modifiers(), not event.isFinish()
        self._dragged(self.mapSceneToView(event.scenePos()), event.isFinish())

    def wheelEvent(self, event: Any, axis: int | None = None) -> None:
        self.childTransform()  # brings it up to date: several notches may come between two paints
        super().wheelEvent(event, axis)

    def mouseClickEvent(self, event: Any) -> None:
        if event.button() != Qt.MouseButton.RightButton:
            super().mouseClickEvent(event)
            return
        event.accept()
        self.open_menu(event.screenPos().toPoint())

    def open_menu(self, at: QPoint) -> None:
        """Open the menu of what lies at a place of the screen, else that of the panel."""
        if not self.asked(at):
            panel_menu(self.getViewWidget(), at, self.autoRange if self.zoomed else None)


class CameraBox(Box):
    """Shows what a camera sees of a picture whose rows run downwards; boxes of one camera zoom and pan together.

    A notch of the wheel zooms by `notch`; with Shift the wheel scrolls, with Alt too sideways.
    """

    def __init__(
        self,
        camera: Camera,
        notch: float = 1.25,
        grabbed: Callable[[QPointF], bool] = lambda at: False,
        dragged: Callable[[QPointF, bool], None] = lambda at, done: None,
    ) -> None:
        self.camera = camera
        self._following = False
        super().__init__(grabbed, dragged)
        self.setMouseEnabled(True, True)
        self.invertY(True)
        self.state["wheelScaleFactor"] = -math.log(notch) / math.log(1.02) / 120
        camera.changed.connect(self.follow)
        self.sigRangeChanged.connect(self._lead)

    def show_size(self, width: float, height: float) -> None:
        """Show a picture of that size, the part that the camera sees."""
        self._following = True
        self.set_whole((0.0, width), (0.0, height))
        self.setLimits(minXRange=width / self.camera.most, minYRange=height / self.camera.most)
        self._following = False
        self.follow()

    def follow(self) -> None:
        """Show the part that the camera sees."""
        if self.isVisible():
            half, (wide, high) = 0.5 / self.camera.zoom, (end for _, end in self.whole)
            x, y = self.camera.x, self.camera.y
            self._following = True
            self.setRange(
                xRange=(wide * (x - half), wide * (x + half)), yRange=(high * (y - half), high * (y + half)), padding=0
            )
            self._following = False

    def _lead(self, *changed: object) -> None:
        """Turn the camera to a range that somebody zoomed or moved to."""
        if self._following or not self.isVisible():
            return
        ((left, right), (top, bottom)), (wide, high) = self.viewRange(), (end for _, end in self.whole)
        before, camera = (self.camera.zoom, self.camera.x, self.camera.y), self.camera
        zoom = round(1 / max((right - left) / wide, (bottom - top) / high), 9)
        camera.set(zoom, (left + right) / (2 * wide), (top + bottom) / (2 * high))
        if before == (camera.zoom, camera.x, camera.y):
            self.follow()  # one box must not leave the others

    def wheelEvent(self, event: Any, axis: int | None = None) -> None:
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        # Shift turns the wheel sideways on some systems already
        sideways = event.orientation() == Qt.Orientation.Horizontal
        if not shift and not sideways:
            super().wheelEvent(event, axis)
            return
        low, high = self.viewRange()[0]
        by = -0.15 * (high - low) * event.delta() / 120
        aside = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier) or (sideways and not shift)
        self.translateBy(x=by if aside else None, y=None if aside else by)
        event.accept()
