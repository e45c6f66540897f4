"""The mesh canvas: orbiting with frames at every vertex, a million triangles, and other colours on the same mesh.

Each row is measured in a process of its own, in a real window (Xvfb or a screen) or, without a display, offscreen.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from typing import Any

from benchmarks.parts.apart import apart

SIZE = (1280, 640)


def run() -> list[dict[str, Any]]:
    """Return the rows; `ratio` is the figure over its target, at least 1 for a rate and at most 1 for a time."""
    rows: list[dict[str, Any]] = []
    for what in WORKS:
        rows += apart("benchmarks.window.mesh_canvas", what)
    return rows


def torus(around: int, across: int) -> tuple[Any, Any]:
    """Return a torus of around · across vertices and twice as many faces."""
    import numpy as np

    u, v = np.meshgrid(np.arange(around) * 2 * np.pi / around, np.arange(across) * 2 * np.pi / across, indexing="ij")
    ring = 1 + 0.38 * np.cos(v)
    vertices = np.stack([ring * np.sin(u), 0.38 * np.sin(v), ring * np.cos(u)], -1).reshape(-1, 3)
    i, j = (k.ravel() for k in np.meshgrid(np.arange(around), np.arange(across), indexing="ij"))
    a, b = i * across + j, (i + 1) % around * across + j
    c, d = (i + 1) % around * across + (j + 1) % across, i * across + (j + 1) % across
    return vertices, np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])


def frames_of(vertices: Any, faces: Any, most: int) -> tuple[Any, ...]:
    """Return the glyphs of frames at so many vertices."""
    import numpy as np

    from widgets.spaces.mesh.drawing.glyphs import frame_glyphs, vertex_normals

    normals = vertex_normals(vertices, faces)
    x = np.cross(np.array([0.0, 1.0, 0.1]), normals)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return frame_glyphs(vertices, faces, np.stack([x, np.cross(normals, x)], 1), most)


def opened(looks: list[Any]) -> tuple[Any, Any, dict[str, float]]:
    """Show the looks; return the program, the canvas, and the seconds to the first picture and of pyvista's import.

    The import is over before, as in a window that was idle or whose network had to be opened first.
    """
    from widgets.spaces.mesh.drawing import pyvista_import
    from widgets.spaces.mesh.drawing.canvas import MeshCanvas
    from widgets.window.app import application

    app = application(())
    canvas = MeshCanvas()
    canvas.resize(*SIZE)
    canvas.show()
    app.processEvents()
    start = time.perf_counter()
    pyvista_import.wait()
    imported = time.perf_counter()
    canvas.show_looks(looks)
    canvas.repaint()
    return app, canvas, {"first_s": time.perf_counter() - imported, "import_s": imported - start}


def orbit(app: Any, canvas: Any, moves: int) -> list[float]:
    """Drag by 5 pixels a time, every move painted; return the seconds of each."""
    from PySide6.QtCore import QEvent, QPointF, Qt
    from PySide6.QtGui import QMouseEvent
    from PySide6.QtWidgets import QApplication

    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier

    def send(kind: QEvent.Type, at: QPointF) -> None:
        where = QPointF(canvas.mapToGlobal(at))
        QApplication.sendEvent(canvas, QMouseEvent(kind, at, where, left, left, none))

    at, times = QPointF(300, 300), []
    send(QEvent.Type.MouseButtonPress, at)
    for k in range(moves):
        at += QPointF(5 if (k // 30) % 2 == 0 else -5, 2 if (k // 15) % 2 == 0 else -2)
        start = time.perf_counter()
        send(QEvent.Type.MouseMove, at)
        canvas.repaint()
        times.append(time.perf_counter() - start)
    send(QEvent.Type.MouseButtonRelease, at)
    return times


def rate(what: str, times: list[float], target: float) -> dict[str, Any]:
    settled = times[len(times) // 5 :]  # the sharpness that fits is found first
    figure = len(settled) / sum(settled)
    return {"what": what, "frames_per_s": figure, "target": target, "ratio": figure / target,
            "slowest_ms": 1e3 * max(settled)}  # fmt: skip


def small() -> list[dict[str, Any]]:
    """Orbit two panels of about 10,242 vertices with a frame at each."""
    from widgets.spaces.mesh.drawing.look import MeshLook

    vertices, faces = torus(161, 64)
    look = MeshLook(vertices, faces, scalars=vertices[:, 0], glyphs=frames_of(vertices, faces, len(vertices)))
    app, canvas, first = opened([look, look])
    row = rate(f"orbit {len(vertices)} vertices with frames, two panels", orbit(app, canvas, 60), 5.0)
    canvas.close()
    return [row | first]


def large() -> list[dict[str, Any]]:
    """A million triangles with scalars and 100,000 frames: the first picture, sharp ones, those while it moves."""
    from widgets.spaces.mesh.drawing.look import MeshLook
    from widgets.spaces.mesh.drawing.pictures import DETAILS

    vertices, faces = torus(1000, 500)
    start = time.perf_counter()
    sets = frames_of(vertices, faces, 100_000)
    chosen = time.perf_counter() - start
    app, canvas, first = opened([MeshLook(vertices, faces, scalars=vertices[:, 0], glyphs=sets)])
    what, rows = f"{len(faces)} triangles, 100,000 frames", []
    whole = sum(first.values())
    rows.append({"what": f"open {what}", **first, "target": 5.0, "ratio": whole / 5.0, "frames_s": chosen})
    rows.append(rate(f"orbit {what}", orbit(app, canvas, 30), 5.0))
    names = ("twice as large as shown", "as large", "as large, stand-in", "half as large, stand-in")
    for name, detail in zip(names, DETAILS, strict=True):
        times = []
        for k in range(5):
            start = time.perf_counter()
            canvas.pictures.drawn(canvas.eye.orbited(0.1 * k, 0.0), canvas.cells()[0], 1.0, detail)
            times.append(time.perf_counter() - start)
        rows.append({"what": f"one picture, {name}", "ms": 1e3 * statistics.median(times)})
    canvas.close()
    return rows


def scalars() -> list[dict[str, Any]]:
    """Other scalars on the same mesh: the upload alone, and with the picture."""
    from widgets.spaces.mesh.drawing.look import MeshLook

    rows = []
    for around, across, target in ((161, 64, 5.0), (500, 200, 20.0)):
        vertices, faces = torus(around, across)
        looks = [MeshLook(vertices, faces, scalars=vertices[:, k % 3] * (1 + 0.1 * k)) for k in range(20)]
        _, canvas, _ = opened(looks[:1])
        uploads, whole = [], []
        for look in looks[1:]:
            start = time.perf_counter()
            canvas.show_looks([look])
            canvas.pictures.ready()
            uploads.append(time.perf_counter() - start)
            canvas.repaint()
            whole.append(time.perf_counter() - start)
        ms = 1e3 * statistics.median(uploads)
        rows.append({"what": f"other scalars, {len(vertices)} vertices", "ms": ms, "target": target,
                     "ratio": ms / target, "with_picture_ms": 1e3 * statistics.median(whole)})  # fmt: skip
        canvas.close()
    return rows


WORKS = {"small": small, "large": large, "scalars": scalars}

if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(WORKS[sys.argv[1]]()))
    else:
        for one in run():
            print(json.dumps(one))
