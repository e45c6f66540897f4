"""Panels of meshes drawn off-screen by pyvista into one array of pixels, all seen by one eye.

No window of VTK's own is opened: what is drawn goes through GLX where there is an X server, through EGL or OSMesa where
there is no display at all, and is painted by whoever asks. Imported when the first mesh is drawn.
"""

from __future__ import annotations

import ctypes.util
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyvista as pv
import pyvista.plotting  # otherwise imported with the first plotter, which is not to wait
from numpy.typing import NDArray

from widgets.spaces.mesh.drawing.actors import PanelActors, name_of
from widgets.spaces.mesh.drawing.camera import ANGLE, FRONT, Eye
from widgets.spaces.mesh.drawing.look import GROUND, MOST, MeshLook, Slice

Array = NDArray[Any]
LIGHT = (-0.28, 0.4, 1.0)  # where the light is, beside the eye


class CannotDraw(Exception):
    """Raised where no mesh can be drawn; says in one sentence what is missing."""


def make_plotter() -> pv.Plotter:
    # VTK tells of each way to draw that it tries in vain
    with pv.vtk_verbosity("off"):
        plotter = pv.Plotter(off_screen=True, notebook=False, shape=(1, MOST), border=False, lighting="none")
    # VTK's last resort is there even if its library is not, and would crash
    window: Any = plotter.render_window
    if window.GetClassName() == "vtkOSOpenGLRenderWindow" and not ctypes.util.find_library("OSMesa"):
        how = " (Debian: libegl1 and libgl1-mesa-dri)" if sys.platform.startswith("linux") else ""
        raise CannotDraw(f"Meshes need OpenGL, and none was found here. Install a driver with EGL{how}, or OSMesa.")
    # what is at rest is drawn twice as large instead: dearer per pixel, not per triangle
    plotter.disable_anti_aliasing()
    return plotter


class MeshScene:
    """One off-screen plotter with a subplot for each panel, side by side, of equal size."""

    def __init__(self) -> None:
        self.plotter = make_plotter()
        self.camera = pv.Camera()
        self.camera.view_angle = ANGLE
        self.panels: list[PanelActors] = []
        for renderer in self.plotter.renderers:
            renderer.camera = self.camera
            renderer.add_light(pv.Light(position=LIGHT, light_type="camera light"))
            renderer.SetDraw(False)

    def show(self, looks: Sequence[MeshLook], flipped: bool = False) -> None:
        """Upload what has changed; `flipped` shows wireframes where there are none, and the other way round."""
        while len(self.panels) < len(looks):
            panel, renderer = PanelActors(), self.plotter.renderers[len(self.panels)]
            for one in panel.drawn:
                renderer.add_actor(one.actor, reset_camera=False, render=False)
            self.panels.append(panel)
        while len(self.panels) > len(looks):
            self.panels.pop()
            self.plotter.renderers[len(self.panels)].clear_actors()
        for k, renderer in enumerate(self.plotter.renderers):
            renderer.SetDraw(k < len(looks))
            if k < len(looks):
                renderer.viewport = k / len(looks), 0.0, (k + 1) / len(looks), 1.0
                renderer.set_background(name_of(GROUND))
                self.panels[k].show(looks[k], looks[k].wireframe != flipped)

    def cut(self, at: Slice | None) -> None:
        """Take away what lies beyond a plane, in all panels."""
        for panel in self.panels:
            for one in panel.drawn:
                one.cut(at)

    def image(self, eye: Eye, width: int, height: int, ratio: float, coarse: bool, radius: float) -> Array:
        """Return the pixels (height, panels · width, 3) uint8 of all panels side by side.

        `width` and `height` are those of a panel in pixels of the picture, `ratio` its pixels to one of the screen.
        `coarse` draws meshes of many faces by a stand-in. `radius` is that of a ball that holds all meshes.
        """
        camera = self.camera
        camera.focal_point, camera.position, camera.up = eye.focus, eye.position, eye.axes[1]
        camera.SetUseHorizontalViewAngle(width < height)
        near, far = eye.depths([np.asarray(panel.surface.mesh.points) for panel in self.panels], radius)
        camera.clipping_range = near, far
        # what the depth buffer counts between two points that are as far apart in depth as two pixels across
        step = near * far / (far - near) / (near / FRONT) / eye.pixels(width, height)
        for panel in self.panels:
            panel.sharpen(ratio, coarse, step)
        self.plotter.suppress_rendering = True  # another size is no reason to draw twice
        self.plotter.window_size = width * len(self.panels), height
        self.plotter.suppress_rendering = False
        self.plotter.render()  # nothing before the first screenshot, which renders by itself
        return np.asarray(self.plotter.screenshot(return_img=True))

    def close(self) -> None:
        """Give back what the graphics driver holds. Nothing can be drawn afterwards."""
        self.panels.clear()
        self.plotter.close()
