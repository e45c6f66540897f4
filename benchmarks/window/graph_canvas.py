"""The graph canvas: layout against networkx, panning of 10,000 nodes, opening of 100,000 nodes with a million edges.

Each row is measured in a process of its own, in a real window (Xvfb or a screen) or, without a display, offscreen.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from benchmarks.parts.apart import apart

SIZE = (1280, 800)


def run(networkx: bool = True) -> list[dict[str, Any]]:
    """Return the rows; `networkx` False leaves its minutes out, and with them the ratio."""
    rows = []
    for what in ("pan", "open", *(["layout"] if networkx else [])):
        rows.append(apart("benchmarks.window.graph_canvas", what))
    return rows


def made(nodes: int, edges: int) -> Any:
    """Return (2, 2 edges) of communities of about a hundred nodes, each edge in both directions."""
    import numpy as np

    rng = np.random.default_rng(0)
    start = rng.integers(0, nodes, edges)
    near = start // 100 * 100 + rng.integers(0, 100, edges)
    end = np.where(rng.random(edges) < 0.8, near, rng.integers(0, nodes, edges)) % nodes
    keep = start != end
    return np.stack([np.r_[start[keep], end[keep]], np.r_[end[keep], start[keep]]])


def frame_of(edges: Any, nodes: int) -> Any:
    """Return a frame of a layer with 8 channels on that graph, nodes reversed."""
    import numpy as np

    from explorer.spaces.graph.drawing.values import GraphPart, Structure
    from explorer.square.frame import Frame, LayerInfo, Square
    from explorer.state.state import State

    rng = np.random.default_rng(0)
    order = np.arange(nodes)[::-1].copy()
    values = rng.standard_normal((nodes, 8)).astype(np.float32)
    e = edges.shape[1]
    part = GraphPart(
        Structure(nodes, edges, "benchmark"), order, np.arange(e), "node", values, values[::-1], values, values[::-1],
        values[::-1], np.zeros_like(values), {"attention": rng.random((e, 1), dtype=np.float32)},
    )  # fmt: skip
    layer = LayerInfo("conv", "Conv", (nodes, 8), 0, "node", False)
    none = np.zeros((1, 1, 1), np.float32)
    square = Square(
        "model", "model", layer, (layer,), {}, none, none, none, none, None, None, None, "", 1.0, "", none[0, 0],
        none[0, 0], (), False, part=part,
    )  # fmt: skip
    return Frame(State(channel=0), (square,), 0.0, 0.0, "cpu")


def opened(nodes: int, edges: int) -> tuple[Any, Any, float, float]:
    """Open a view; return the program, the view, seconds to the first picture and to the final places."""
    from widgets.spaces.graph.views.graph import GraphView
    from widgets.window.app import application

    app = application(())
    frame = frame_of(made(nodes, edges), nodes)
    view = GraphView()
    view.resize(*SIZE)
    view.show()
    app.processEvents()
    start = time.perf_counter()
    view.set_frame(frame)
    first = 0.0
    while not first or view.placing.running:
        app.processEvents()
        if not first and view.canvas.pictures.kept:
            first = time.perf_counter() - start
        time.sleep(0.002)
    view.settle()
    return app, view, first, time.perf_counter() - start


def pan(nodes: int = 10_000, edges: int = 50_000, moves: int = 300) -> dict[str, Any]:
    """Drag the ground to and fro by 6 pixels a time, every move painted; the hand rests nowhere."""
    from PySide6.QtCore import QEvent, QPointF, Qt
    from PySide6.QtGui import QMouseEvent
    from PySide6.QtWidgets import QApplication

    app, view, _, _ = opened(nodes, edges)
    canvas, none = view.canvas, Qt.KeyboardModifier.NoModifier

    def send(kind: QEvent.Type, at: QPointF, held: Qt.MouseButton) -> None:
        button = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseMove else Qt.MouseButton.MiddleButton
        where = QPointF(canvas.mapToGlobal(at))
        QApplication.sendEvent(canvas, QMouseEvent(kind, at, where, button, held, none))

    at = QPointF(200, 200)
    send(QEvent.Type.MouseButtonPress, at, Qt.MouseButton.MiddleButton)
    times = []
    for k in range(moves):
        at += QPointF(6 if (k // 60) % 2 == 0 else -6, 2 if (k // 30) % 2 == 0 else -2)
        start = time.perf_counter()
        send(QEvent.Type.MouseMove, at, Qt.MouseButton.MiddleButton)
        app.processEvents()
        canvas.repaint()
        times.append(time.perf_counter() - start)
    send(QEvent.Type.MouseButtonRelease, at, Qt.MouseButton.MiddleButton)
    view.close()
    return {
        "what": f"pan {nodes} nodes, {edges} edges", "frames_per_s": moves / sum(times), "target": 30.0,
        "slowest_ms": 1e3 * max(times), "median_ms": 1e3 * sorted(times)[moves // 2],
    }  # fmt: skip


def open_large(nodes: int = 100_000, edges: int = 1_000_000) -> dict[str, Any]:
    """Open a large graph; then the time of one zoom by the wheel while it moves, and when it is painted anew."""
    _, view, first, whole = opened(nodes, edges)
    canvas = view.canvas
    canvas.redraw()
    start = time.perf_counter()
    canvas.repaint()
    window = time.perf_counter() - start
    view.settle()
    anew = time.perf_counter() - start
    canvas.eye = canvas.eye.zoomed((300, 300), 1.25, *SIZE)
    canvas._rest.start()
    start = time.perf_counter()
    canvas.repaint()
    moving = time.perf_counter() - start
    view.close()
    return {
        "what": f"open {nodes} nodes, {edges} edges", "first_s": first, "settled_s": whole, "target_s": 10.0,
        "repaint_ms": 1e3 * anew, "window_held_ms": 1e3 * window, "zooming_ms": 1e3 * moving,
    }  # fmt: skip


def layouts(nodes: int = 10_000, edges: int = 50_000) -> dict[str, Any]:
    """Lay the same graph out here and by networkx.spring_layout with its own settings, once: it takes minutes."""
    import networkx as nx

    from explorer.spaces.graph.drawing.layout.springs import layout

    index = made(nodes, edges)
    layout(made(1000, 5000), 1000)  # imports
    start = time.perf_counter()
    layout(index, nodes)
    mine = time.perf_counter() - start
    graph = nx.Graph(list(zip(*index.tolist())))
    graph.add_nodes_from(range(nodes))
    start = time.perf_counter()
    nx.spring_layout(graph, seed=0)
    theirs = time.perf_counter() - start
    return {
        "what": f"layout of {nodes} nodes", "s": mine, "peer": "networkx.spring_layout", "peer_s": theirs,
        "times_faster": theirs / mine, "target": 20.0,
    }  # fmt: skip


if __name__ == "__main__":
    works = {"pan": pan, "open": open_large, "layout": layouts}
    if len(sys.argv) > 1:
        print(json.dumps(works[sys.argv[1]]()))
    else:
        for one in run():
            print(json.dumps(one))
