"""The timeline of a million steps of 512 units: frames per second while it is dragged and zoomed, and time to open.

Each row is measured in a process of its own, in a real window (Xvfb or a screen) or, without a display, offscreen.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from benchmarks.parts.apart import apart

SIZE = (1280, 800)


def run(units: int = 512) -> list[dict[str, Any]]:
    """Return the rows: one state of `units`, and then an LSTM's six gates of 64 units, before and after a shift."""
    rows = []
    for what in (f"state {units}", "gates 64"):
        rows.append(apart("benchmarks.window.timeline", *what.split()))
    return rows


def recording(steps: int, units: int, seed: int = 0) -> Any:
    """Return (T, units) float32 that looks like a state: slow waves and noise, made of a repeated block."""
    import numpy as np

    rng = np.random.default_rng(seed)
    block = rng.standard_normal((8192, units), dtype=np.float32) * 0.3
    made = np.empty((steps, units), np.float32)
    phase = rng.random(units, dtype=np.float32) * 6
    for first in range(0, steps, len(block)):
        part = made[first : first + len(block)]
        part[:] = block[: len(part)] + np.sin(first / 40_000 + phase)
    return np.tanh(made, out=made)


def frame_of(steps: int, units: int, gates: int) -> Any:
    """Return a frame of a state of `units` units and `gates` gates, shifted by one step when there are gates."""
    import numpy as np

    from explorer.declare.elements import Step
    from explorer.spaces.sequence.drawing.values import TimePart
    from explorer.square.frame import Frame, LayerInfo, Square
    from explorer.state.state import State

    x = recording(steps, 1, 9)
    state = recording(steps, units)
    kept = {f"lstm.gate_{k}": (recording(steps, units, k + 1) + 1) / 2 for k in range(gates)}
    moved = {name: np.roll(values, 1, 0) for name, values in kept.items()}
    order = np.arange(steps) + 1.0
    order[-1] = np.nan
    part = TimePart(
        steps, None, (), "step", x, np.roll(x, 1, 0) if gates else x, order if gates else np.arange(steps, dtype=float),
        state, np.roll(state, 1, 0) if gates else state, state, np.zeros((steps, 1), np.float32), kept, moved,
    )  # fmt: skip
    layer = LayerInfo("hidden", "Tap", (steps, units), 0, "step", False)
    none = np.zeros((1, 1, 1), np.float32)
    square = Square(
        "model", "model", layer, (layer,), {}, none, none, none, none, None, None, None, "", 1.0, "", none[0, 0],
        none[0, 0], (), False, part=part,
    )  # fmt: skip
    chain = (Step("translate", (0.0, 0.0, 0.0)),) if gates else ()
    return Frame(State(steps=chain), (square,), 0.0, 0.0, "cpu")


def measured(units: int, gates: int, steps: int = 1_000_000, moves: int = 240) -> dict[str, Any]:
    """Open, drag the ground by 9 pixels a move at three widths, and zoom in and out by the wheel; all painted."""
    from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
    from PySide6.QtGui import QMouseEvent, QWheelEvent
    from PySide6.QtWidgets import QApplication

    from widgets.spaces.sequence.views.timeline import TimelineView
    from widgets.window.app import application

    app = application(())
    frame = frame_of(steps, units, gates)
    view = TimelineView()
    view.resize(*SIZE)
    view.show()
    app.processEvents()
    start = time.perf_counter()
    view.set_frame(frame)
    view.canvas.viewport().repaint()
    first = time.perf_counter() - start
    longest = 0.0
    while view.building.running:
        turn = time.perf_counter()
        app.processEvents()
        view.canvas.viewport().repaint()
        longest = max(longest, time.perf_counter() - turn)
        time.sleep(0.005)
    built = time.perf_counter() - start
    canvas, port, none = view.canvas, view.canvas.viewport(), Qt.KeyboardModifier.NoModifier

    def send(kind: QEvent.Type, at: QPointF, held: Qt.MouseButton) -> None:
        button = Qt.MouseButton.NoButton if kind == QEvent.Type.MouseMove else Qt.MouseButton.MiddleButton
        where = QPointF(port.mapToGlobal(at))
        QApplication.sendEvent(port, QMouseEvent(kind, at, where, button, held, none))

    def wheel(notches: float) -> None:
        at = QPointF(700, 300)
        where = QPointF(port.mapToGlobal(at))
        turn = QPoint(0, round(120 * notches))
        phase, button = Qt.ScrollPhase.NoScrollPhase, Qt.MouseButton.NoButton
        QApplication.sendEvent(port, QWheelEvent(at, where, QPoint(), turn, button, none, phase, False))

    def timed(act: Any) -> float:
        begin, before = time.perf_counter(), canvas.painted
        act()
        app.processEvents()
        if canvas.painted == before:
            port.repaint()
        return time.perf_counter() - begin

    pans: dict[str, list[float]] = {}
    for width in (500_000, 50_000, 4_000):
        canvas.fit()
        while canvas.axis.high - canvas.axis.low > width:
            wheel(1)
        app.processEvents()
        port.repaint()
        at = QPointF(900, 400)
        send(QEvent.Type.MouseButtonPress, at, Qt.MouseButton.MiddleButton)
        times = pans.setdefault(str(width), [])
        for k in range(moves):
            at = at + QPointF(-9 if (k // 60) % 2 == 0 else 9, 0)
            times.append(timed(lambda at=at: send(QEvent.Type.MouseMove, at, Qt.MouseButton.MiddleButton)))
        send(QEvent.Type.MouseButtonRelease, at, Qt.MouseButton.MiddleButton)
    canvas.fit()
    zooms = [timed(lambda k=k: wheel(1 if (k // 30) % 2 == 0 else -1)) for k in range(120)]
    view.close()
    return {
        "what": f"{steps} steps x {units} units" + (f", {gates} gates on both sides" if gates else ""),
        "pan_frames_per_s": {width: round(len(t) / sum(t), 1) for width, t in pans.items()},
        "pan_slowest_ms": {width: round(1e3 * max(t), 1) for width, t in pans.items()},
        "zoom_frames_per_s": len(zooms) / sum(zooms), "zoom_slowest_ms": 1e3 * max(zooms), "target": 30.0,
        "first_s": first, "built_s": built, "longest_turn_ms": 1e3 * longest,
    }  # fmt: skip


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measured(int(sys.argv[2]), 6 if sys.argv[1] == "gates" else 0)))
    else:
        for one in run():
            print(json.dumps(one))
