"""Panels of meshes drawn off-screen by VTK into one array of pixels, all seen by one eye.

No window of VTK's own is opened: what is drawn goes through GLX where there is an X server, through EGL or OSMesa where
there is no display at all, and is painted by whoever asks. Imported when the first mesh is drawn.
"""

from __future__ import annotations

import ctypes.util
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import vtkmodules.vtkRenderingOpenGL2  # noqa: F401  fills the factory that vtkRenderWindow asks
from numpy.typing import NDArray
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkLogger, vtkUnsignedCharArray
from vtkmodules.vtkCommonDataModel import vtkPlane, vtkPlaneCollection
from vtkmodules.vtkRenderingCore import vtkCamera, vtkLight, vtkRenderer, vtkRenderWindow

from widgets.mesh.drawing.actors import PanelActors, share
from widgets.mesh.drawing.camera import ANGLE, FRONT, Eye
from widgets.mesh.drawing.look import GROUND, MeshLook, Slice

Array = NDArray[Any]
LIGHT = (-0.28, 0.4, 1.0)  # where the light is, beside the eye


class CannotDraw(Exception):
    """What is missing so that no mesh can be drawn, in one sentence."""


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep VTK from telling of each way that it tries in vain while it looks for one to draw."""
    before = vtkLogger.GetCurrentVerbosityCutoff()
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)
    try:
        yield
    finally:
        vtkLogger.SetStderrVerbosity(vtkLogger.ConvertToVerbosity(before))


def _window() -> vtkRenderWindow:
    with _quiet():
        window = vtkRenderWindow()
    # VTK's last resort is there even if its library is not, and would crash
    if window.GetClassName() == "vtkOSOpenGLRenderWindow" and not ctypes.util.find_library("OSMesa"):
        how = " (Debian: libegl1 and libgl1-mesa-dri)" if sys.platform.startswith("linux") else ""
        raise CannotDraw(f"Meshes need OpenGL, and none was found here. Install a driver with EGL{how}, or OSMesa.")
    window.SetOffScreenRendering(True)
    window.SetMultiSamples(0)  # what is at rest is drawn twice as large instead: dearer per pixel, not per triangle
    window.SetAlphaBitPlanes(False)
    return window


class MeshScene:
    """One off-screen window with a renderer for each panel, side by side, of equal size."""

    def __init__(self) -> None:
        self.window = _window()
        self.camera = vtkCamera()
        self.camera.SetViewAngle(ANGLE)
        self.panels: list[PanelActors] = []
        self.renderers: list[vtkRenderer] = []
        self.cuts = vtkPlaneCollection()
        self._pixels = vtkUnsignedCharArray()
        self._ball: tuple[tuple[Array, ...], Array, float] | None = None

    def show(self, looks: Sequence[MeshLook], flipped: bool = False) -> None:
        """Upload what has changed; `flipped` shows wireframes where there are none, and the other way round."""
        while len(self.panels) < len(looks):
            self._add()
        while len(self.panels) > len(looks):
            self.panels.pop()
            self.window.RemoveRenderer(self.renderers.pop())
        for k, (panel, renderer, look) in enumerate(zip(self.panels, self.renderers, looks)):
            renderer.SetViewport(k / len(looks), 0.0, (k + 1) / len(looks), 1.0)
            renderer.SetBackground(*share(GROUND))
            panel.show(look, look.wireframe != flipped)

    def _add(self) -> None:
        panel, renderer, light = PanelActors(), vtkRenderer(), vtkLight()
        light.SetLightTypeToCameraLight()
        light.SetPosition(*LIGHT)
        renderer.AddLight(light)
        renderer.AutomaticLightCreationOff()
        renderer.SetActiveCamera(self.camera)
        for actor in panel.actors:
            renderer.AddActor(actor)
        panel.cut(self.cuts)
        self.window.AddRenderer(renderer)
        self.panels.append(panel)
        self.renderers.append(renderer)

    def cut(self, at: Slice | None) -> None:
        """Take away what lies beyond a plane, in all panels."""
        self.cuts.RemoveAllItems()
        if at is not None:
            normal = np.array(at.normal)
            plane = vtkPlane()
            plane.SetOrigin(*(normal * at.offset / (normal @ normal)))
            plane.SetNormal(*-normal)
            self.cuts.AddItem(plane)

    def ball(self) -> tuple[Array, float]:
        """Return the centre and the radius of a ball that holds all meshes."""
        shown = [panel.surface.look.vertices for panel in self.panels if panel.surface.look is not None]
        if (
            self._ball is None
            or len(shown) != len(self._ball[0])
            or any(a is not b for a, b in zip(shown, self._ball[0]))
        ):
            self._ball = (tuple(shown), *ball(shown))
        return self._ball[1:]

    def image(self, eye: Eye, width: int, height: int, ratio: float, coarse: bool = False) -> Array:
        """Return (height, panels · width, 4) uint8, first row at the bottom; valid until the next picture.

        `width` and `height` are those of a panel in pixels of the picture, `ratio` its pixels to one of the screen.
        `coarse` draws meshes of many faces by a stand-in.
        """
        camera = self.camera
        camera.SetFocalPoint(*eye.focus)
        camera.SetPosition(*eye.position)
        camera.SetViewUp(*eye.axes[1])
        camera.SetUseHorizontalViewAngle(width < height)
        near, far = eye.depths([vtk_to_numpy(panel.surface.points) for panel in self.panels], self.ball()[1])
        camera.SetClippingRange(near, far)
        # what the depth buffer counts between two points that are as far apart in depth as two pixels across
        step = near * far / (far - near) / (near / FRONT) / eye.pixels(width, height)
        for panel in self.panels:
            panel.sharpen(ratio, coarse, step)
        across = width * len(self.panels)
        self.window.SetSize(across, height)
        self.window.Render()
        self.window.GetRGBACharPixelData(0, 0, across - 1, height - 1, 0, self._pixels, 0)
        return np.asarray(vtk_to_numpy(self._pixels)).reshape(height, across, 4)

    def close(self) -> None:
        """Give back what the graphics driver holds. Nothing can be drawn afterwards."""
        self.panels.clear()
        while self.renderers:
            self.window.RemoveRenderer(self.renderers.pop())
        self.window.Finalize()


def ball(meshes: Sequence[Array]) -> tuple[Array, float]:
    """Return the centre (3,) and the radius of a ball that holds the vertices of all meshes."""
    known = [mesh[np.isfinite(mesh).all(1)] for mesh in meshes]
    known = [mesh for mesh in known if len(mesh)]
    if not known:
        return np.zeros(3), 1.0
    low, high = np.min([mesh.min(0) for mesh in known], 0), np.max([mesh.max(0) for mesh in known], 0)
    centre = (low + high) / 2
    radius = max(float(np.sqrt(((mesh - centre) ** 2).sum(1).max())) for mesh in known)
    return centre, radius or 1.0
