"""The pictures of the mesh canvas: drawn as sharply as there is time for, kept, and asked what a ray meets.

pyvista is imported when a picture is wanted, in a thread, so that the window is there before and goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from widgets.base.look import theme
from widgets.spaces.mesh.drawing import pyvista_import
from widgets.spaces.mesh.drawing.camera import Eye, ball, fitted
from widgets.spaces.mesh.drawing.coarse import bearable
from widgets.spaces.mesh.drawing.look import MeshLook, Slice

if TYPE_CHECKING:
    from widgets.spaces.mesh.drawing.picking import Hit, Picker
    from widgets.spaces.mesh.drawing.scene import MeshScene

Array = NDArray[Any]
Detail = tuple[float, bool]  # pixels drawn to one shown, across, and whether a stand-in is drawn for many faces
DETAILS: tuple[Detail, ...] = ((2.0, False), (1.0, False), (1.0, True), (0.5, True))
FULL, FIRST = DETAILS[:2]  # at rest, and of the first picture, which is to be there soon
BUDGET_MS = 60.0  # of a picture while a hand moves
FADE = 0.97  # of a time that is left with each picture in another detail
AGAIN_MS = 40  # after which it is tried again while pyvista is imported
LARGEST = 8192  # pixels across a picture, which every driver can make
HIDDEN = 0.02  # radii of the mesh that a point may lie under the surface and be seen
PROBED = 2000  # vertices of a mesh that are asked whether they are in sight


class MeshPictures:
    """Draws the looks of one canvas. The scene goes when the canvas is destroyed."""

    def __init__(self, canvas: QWidget) -> None:
        self.canvas = canvas
        self.looks: tuple[MeshLook, ...] = ()
        self.slice: Slice | None = None
        self.flipped = False  # whether wireframes are shown where a look has none
        self.scene: MeshScene | None = None
        self.trouble = ""  # why nothing can be drawn here
        self.times: dict[Detail, float] = {}  # of the latest picture in that detail, in ms
        self._pickers: list[Picker] = []
        self._ball: tuple[tuple[Array, ...], Array, float] | None = None
        self._again = QTimer(canvas, singleShot=True, interval=AGAIN_MS)
        self._again.timeout.connect(canvas.update)
        self._kept: tuple[tuple[object, ...], Detail, QImage] | None = None
        self._stamp = 0
        self._uploaded: tuple[object, ...] = ()
        self._seen: dict[tuple[object, ...], bool] = {}

    def take(self, looks: Sequence[MeshLook]) -> None:
        """Take what is to be shown."""
        self.looks = tuple(bearable(look, self.looks) for look in looks)

    def change(self) -> None:
        """Forget what no longer holds: looks, slice or wireframe are others."""
        self._stamp += 1
        self._seen.clear()

    def ready(self, wait: bool = False) -> bool:
        """Make the scene if there is none, give it what has changed.

        Return False if nothing can be drawn: never, with `trouble`, or not yet, and then the canvas is painted again
        soon. With `wait` it is waited for.
        """
        if self.scene is None and not self.trouble:
            if wait:
                pyvista_import.wait()
            elif not pyvista_import.done():
                pyvista_import.begin()
                self._again.start()
                return False
            self._open()
        key = (self._stamp, theme.current().name)
        if self.scene is not None and key != self._uploaded:
            self.scene.show(self.looks, self.flipped)
            self.scene.cut(self.slice)
            self._uploaded = key
        return self.scene is not None

    def _open(self) -> None:
        try:
            from widgets.spaces.mesh.drawing.scene import CannotDraw, MeshScene
        except ImportError as error:
            self.trouble = f"Meshes are drawn by pyvista, which cannot be imported ({error}). Try: pip install pyvista"
            return
        try:
            scene = self.scene = MeshScene()
        except CannotDraw as error:
            self.trouble = str(error)
            return
        self.canvas.destroyed.connect(lambda *_: scene.close())

    def fitted(self, axes: Array, box: QRectF) -> Eye:
        """Return the eye that sees all of the meshes in a panel like `box`."""
        centre, radius = self.ball()
        away = [np.nanmax(np.abs(places - centre), axis=0) for places in self._places() if len(places)]
        half = np.max(away, 0) if away else None
        return fitted(centre, radius, axes, half, (box.width(), box.height()))

    def out(self, eye: Eye, box: QRectF) -> float:
        """Return how much more than such a panel has room for meshes need: above 1, a part of them is out of sight."""
        some = (places[:: 1 + len(places) // PROBED] for places in self._places())
        reach = max((eye.reach(places, box.width(), box.height()) for places in some), default=0.0)
        return max(self.fitted(eye.axes, box).distance / eye.distance, reach)

    def _places(self) -> tuple[Array, ...]:
        around = (look.around for look in self.looks if look.around is not None)
        return (*(look.vertices for look in self.looks), *around)

    def ball(self) -> tuple[Array, float]:
        """Return the centre and the radius of a ball that holds all meshes."""
        shown = self._places()
        if (
            self._ball is None
            or len(shown) != len(self._ball[0])
            or any(a is not b for a, b in zip(shown, self._ball[0]))
        ):
            self._ball = (shown, *ball(shown))
        return self._ball[1:]

    def kept(self, eye: Eye, box: QRectF, ratio: float, moving: bool) -> tuple[QImage, bool]:
        """Return the pictures of all panels side by side, and whether they are as sharp as at rest."""
        key = (self._stamp, eye, box.width(), box.height(), ratio, theme.current().name)
        # what is too much already is not drawn larger
        best = FIRST if any(look.shown is not None for look in self.looks) else FULL
        if self._kept is None or self._kept[0] != key or (self._kept[1] != best and not moving):
            detail = self._hurried() if moving else best if self.times else FIRST
            self._kept = key, detail, self.drawn(eye, box, ratio, detail)
        return self._kept[2], self._kept[1] == best

    def _hurried(self) -> Detail:
        """Return the most detail in which a picture can be drawn in time."""
        return next((one for one in DETAILS if self.guess(one) <= BUDGET_MS), DETAILS[-1])

    def guess(self, detail: Detail) -> float:
        """Return the milliseconds of a picture, at most in proportion to its pixels where there was none like it."""
        if not self.times or detail in self.times:
            return self.times.get(detail, BUDGET_MS if detail != FULL else np.inf)
        place = DETAILS.index(detail)
        near = min(self.times, key=lambda one: abs(DETAILS.index(one) - place))
        return self.times[near] * max(1.0, (detail[0] / near[0]) ** 2)

    def drawn(self, eye: Eye, box: QRectF, ratio: float, detail: Detail = FULL) -> QImage:
        """Return new pictures of all panels side by side, `ratio` pixels to one of a box."""
        assert self.scene is not None
        start = perf_counter()
        width, height = max(1, round(box.width() * ratio)), max(1, round(box.height() * ratio))
        part = min(detail[0], LARGEST / (width * len(self.looks)), LARGEST / height)
        size = max(1, round(width * part)), max(1, round(height * part))
        pixels = self.scene.image(eye, *size, ratio * part, detail[1], self.ball()[1])
        rows, across = pixels.shape[:2]
        image = QImage(pixels.data, across, rows, 3 * across, QImage.Format.Format_RGB888)
        image = image.convertToFormat(QImage.Format.Format_RGB32)
        whole = QSize(width * len(self.looks), height)
        if image.size() != whole:
            smooth, free = Qt.TransformationMode.SmoothTransformation, Qt.AspectRatioMode.IgnoreAspectRatio
            image = image.scaled(whole, free, smooth)
        # a picture may have been slow for once: what has not been drawn for long is tried again
        self.times = {one: FADE * ms for one, ms in self.times.items()} | {detail: 1e3 * (perf_counter() - start)}
        return image

    # rays -------------------------------------------------------------------------------------------------------
    def cast(self, panel: int, start: Array, end: Array) -> Hit | None:
        """Return what the way from start to end meets first of a panel's mesh."""
        if not self.ready() or self.scene is None:
            return None
        from widgets.spaces.mesh.drawing.picking import Picker

        while len(self._pickers) < len(self.looks):
            self._pickers.append(Picker())
        mesh = self.scene.panels[panel].surface.mesh
        return self._pickers[panel].hit(mesh, self.looks[panel], start, end, self.slice)

    def seen(self, panel: int, point: Array, eye: Eye) -> bool:
        """Say whether a point of the surface is before the eye, not cut away, and nothing lies between."""
        name = (panel, point.tobytes(), eye)
        if name not in self._seen:
            if len(self._seen) > 4096:
                self._seen.clear()
            away = HIDDEN * eye.radius
            cut = self.slice is not None and float(np.dot(self.slice.normal, point)) > self.slice.offset
            gone = cut or float((eye.position - point) @ eye.axes[2]) <= 0  # cut away, or behind the eye
            hit = None if gone else self.cast(panel, eye.position, point)
            self._seen[name] = not gone and (hit is None or bool(np.linalg.norm(hit.point - point) < away))
        return self._seen[name]
