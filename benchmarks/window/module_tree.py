"""The tree of layers of a network of 20,000 modules: how long it takes to open, to search, and to scroll.

The network is made up: what is timed is the view. Times are those of the process, which other programs do not change
much; a quiet machine has the same on the clock.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from typing import Any

from benchmarks.parts.apart import apart

MODULES = 20_000
FRAME_MS = 16.0  # a screen's time for one picture


def described(count: int) -> Any:
    """Return a frame of a network of about so many modules: stages of blocks of four layers."""
    import numpy as np

    from explorer.declare.telling.summaries import LayerFigures, ModuleInfo, Statistics
    from explorer.square.frame import Frame, LayerInfo, Measure, Square
    from explorer.state.state import State

    layers, modules = [], []
    kinds = ("Conv2d", "BatchNorm2d", "ReLU", "Conv2d")
    blocks = count // 5
    for b in range(blocks):
        above = f"stages.{b * 40 // blocks}.{b % max(1, blocks // 40)}"
        for k, (name, kind) in enumerate(zip(("conv", "norm", "act", "last"), kinds, strict=True)):
            path = f"{above}.{name}"
            layers.append(LayerInfo(path, kind, (1, 8, 14, 14), 72 if k != 2 else 0, "grid scalar", True, depth=3,
                                    dtype="float32", nbytes=6272, module=path))  # fmt: skip
            modules.append(ModuleInfo(path, kind, 72, 72, 1, nbytes=6272))
        layers.append(LayerInfo(above, "Block", (1, 8, 14, 14), 216, "grid scalar", True, leaf=False, module=above))
        modules.append(ModuleInfo(above, "Block", 216, 0, 1))
    some = Statistics(0.1, 1.0, -3.0, 3.0, 0.0, 0, 0, 1568)
    figures = LayerFigures(tuple(modules), {m.name: 1000 for m in modules}, {n.name: some for n in layers})
    measure = Measure(3e-7, 2e-7, 2e-7, 1.2, True, "holds", tolerance=1e-5)
    maps = np.zeros((1, 4, 4), np.float32)
    square = Square(
        "net", "net", layers[0], tuple(layers), {n.name: measure for n in layers}, maps, maps, maps, maps, maps, maps,
        maps[0], "", 1.0, "", maps[0, 0], maps[0, 0], (), False, kind="grid", figures=figures,
    )  # fmt: skip
    return Frame(State(model="net"), (square,), 1.0, 1.0, "cpu")


def run() -> list[dict[str, Any]]:
    """Return the rows of `measured`, which needs a main thread of its own."""
    rows: list[dict[str, Any]] = apart("benchmarks.window.module_tree", str(MODULES))
    return rows


def measured(count: int, turns: int = 100) -> list[dict[str, Any]]:
    """Return rows: opening (target 1 s), all calls in order, a search, a frame of other numbers, scrolling."""
    from PySide6.QtWidgets import QApplication

    from widgets.views.layer_tree.layers import LayersView

    app = QApplication.instance() or QApplication([])
    frame = described(count)
    view = LayersView()
    view.bar.chosen = ("error", "field", "shape", "kind", "flops", "mean", "std")
    view.resize(1100, 900)
    view.show()
    app.processEvents()

    def seconds(work: Any) -> float:
        start = time.process_time()
        work()
        view.tree.viewport().repaint()
        return time.process_time() - start

    rows = [{"what": f"opening {len(frame.squares[0].layers)} layers", "s": seconds(lambda: view.set_frame(frame)),
             "target": 1.0}]  # fmt: skip

    def searched(text: str) -> None:
        view.bar.line.setText(text)
        view.bar.changed.emit()

    rows.append({"what": "all calls in order", "s": seconds(lambda: view.bar.in_order.setChecked(True)), "target": 1.0})
    rows.append(_scrolled("scrolling all calls", view, turns))
    rows.append({"what": "a search", "s": seconds(lambda: searched("stages.7 conv")), "target": 1.0})
    searched("")
    view.bar.in_order.setChecked(False)
    rows.append({"what": "opening every row", "s": seconds(view.tree.expandAll), "target": 1.0})
    rows.append(_scrolled("scrolling the open tree", view, turns))
    rows.append(_scrolled("turning its pages", view, turns, 40))
    again = [seconds(lambda: view.set_frame(frame)) for _ in range(20)]
    rows.append({"what": "a frame of other numbers", "ms": 1e3 * statistics.median(again), "target": FRAME_MS})
    view.close()
    return rows


def _scrolled(what: str, view: Any, turns: int, rows: int = 3) -> dict[str, Any]:
    """Scroll by some rows at a time, as a wheel does, from places all over the list; return what a picture takes."""
    from PySide6.QtWidgets import QApplication

    bar, high = view.tree.verticalScrollBar(), view.tree.sizeHintForRow(0)
    took = []
    bar.setValue(rows * high)
    QApplication.processEvents()  # the first turn still does what opening the rows has left
    for k in range(turns):
        if k % 20 == 0:
            bar.setValue(bar.maximum() * k // turns)
            QApplication.processEvents()
        start = time.process_time()
        bar.setValue(bar.value() + rows * high)
        QApplication.processEvents()
        took.append(1e3 * (time.process_time() - start))
    took.sort()
    return {"what": what, "ms": statistics.median(took), "p99_ms": took[int(0.99 * turns)], "target": FRAME_MS}


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measured(int(sys.argv[1]))))
    else:
        for one in run():
            print(json.dumps(one))
