"""Zooming and scrolling in pair matrices of 16,384 nodes: frames a second, and how long the slowest frame took.

A scripted hand turns the wheel from the whole matrix to single values while it scrolls, and back, first over tiles that
were never made and then over the same way again. Aimed at: 30 frames a second, every tile made on the way included.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from typing import Any

import numpy as np

from benchmarks.parts.apart import apart

NODES, EDGES = 16_384, 500_000
STEPS = 90  # frames of one way, in and out again
KINDS = ("sparse", "uint8", "float16", "float16 permuted")


def run() -> list[dict[str, Any]]:
    """Measure each kind of matrix in a process of its own (Qt wants the main thread) and return their rows."""
    rows = []
    for kind in KINDS:
        rows.append(apart("benchmarks.window.pair_matrix", kind))
    return rows


def make(kind: str) -> Any:
    """Return a matrix of that kind."""
    from explorer.spaces.graph.drawing.pairs.matrix import DensePairs
    from explorer.spaces.graph.drawing.pairs.sparse import EdgePattern, SparsePairs

    rng = np.random.default_rng(0)
    if kind == "sparse":
        edges = rng.integers(0, NODES, (2, EDGES))
        return SparsePairs(EdgePattern(NODES, edges), rng.random((EDGES, 1), np.float32))
    values = np.zeros((1, NODES, NODES), np.uint8 if kind == "uint8" else np.float16)
    block = rng.integers(0, 200, (512, NODES), np.uint8)
    for start in range(0, NODES, 512):
        values[0, start : start + 512] = np.roll(block, start, axis=1)
    return DensePairs(values, rng.permutation(NODES) if kind.endswith("permuted") else None)


def measure(kind: str) -> dict[str, Any]:
    """Draw both ways at 1280 x 800 and return frames a second."""
    from PySide6.QtWidgets import QApplication

    from widgets.base.look import theme
    from widgets.spaces.pairs.canvas import PairCanvas
    from widgets.spaces.pairs.fields import Ordered
    from widgets.spaces.pairs.panel import Panel

    app = QApplication([])
    theme.use("light")
    begun = time.perf_counter()
    matrix = make(kind)
    built = time.perf_counter() - begun
    places = np.arange(NODES)
    view = Ordered(places, places, None, places[:0], places)
    canvas = PairCanvas()
    canvas.resize(1280, 800)
    panels = [Panel(matrix, 0, kind, view, ()), Panel(matrix, 0, f"{kind}, mean", view, (), pool="mean")]
    begun = time.perf_counter()
    canvas.show_panels([[panel] for panel in panels])
    canvas.show()
    app.processEvents()
    opened = time.perf_counter() - begun
    ways = {}
    for way in ("first", "again"):
        times = []
        for k in [*range(STEPS), *reversed(range(STEPS))]:
            share = k / (STEPS - 1)
            start = time.perf_counter()
            canvas.camera.set(canvas.camera.most**share, 0.3 + 0.15 * share, 0.6 - 0.2 * share)
            canvas.viewport().repaint()
            times.append(time.perf_counter() - start)
        ways[way] = times
    begun = time.perf_counter()
    while not canvas.complete:
        app.processEvents()
    settled = time.perf_counter() - begun
    canvas.close()
    first = ways["first"]
    return {
        "matrix": f"{kind}, {NODES} x {NODES}, two beside each other",
        "made_ms": 1e3 * built, "opened_ms": 1e3 * opened,
        "frames_per_second": len(first) / sum(first), "again": len(first) / sum(ways["again"]), "target": 30.0,
        "p50_ms": 1e3 * statistics.median(first), "slowest_ms": 1e3 * max(first), "whole_sharp_ms": 1e3 * settled,
    }  # fmt: skip


if __name__ == "__main__":
    for found in [measure(" ".join(sys.argv[1:]))] if sys.argv[1:] else run():
        print(json.dumps(found))
