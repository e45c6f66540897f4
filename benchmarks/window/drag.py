"""A ten-second scripted drag of the ring in the real window: how long the GUI thread was blocked, and what it showed.

A timer asks for a turn of the event loop every 2 ms; what a turn comes later than that is how long a click would have
waited (target: p99 at most 16 ms). With a quick network, alone and beside a busy process for each core, and with one
that takes two seconds for a forward pass; every frame that was computed is to be shown. Two figures tell what of a
delay is whose: the processor time that the GUI thread itself used between two turns, and what a bare event loop, in a
process beside this one, waited at the same time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.parts.apart import surroundings

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 10.0
TICK_MS = 2


def run(seconds: float = SECONDS) -> list[dict[str, Any]]:
    """Run both drags in processes of their own (Qt wants the main thread) and return their rows."""
    environment = surroundings()
    rows = []
    for network, busy in (("d4-cnn", 0), ("d4-cnn", os.cpu_count() or 1), ("slow", 0)):
        others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
        bare = _started("bare", seconds, environment)
        try:
            # the bare loop waits with its figures until the drag is over
            found = json.loads(_started(network, seconds, environment).communicate()[0].splitlines()[-1])
            quiet = json.loads(bare.communicate("over\n")[0].splitlines()[-1])
        finally:
            processes: list[subprocess.Popen[Any]] = [*others, bare]
            for process in processes:
                process.kill()
                process.wait()
        rows.append({"busy_processes": busy, **found, "bare_loop_p99_ms": quiet["p99_ms"]})
    return rows


def _started(what: str, seconds: float, environment: dict[str, str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.window.drag", what, str(seconds)]
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def bare(seconds: float) -> dict[str, float]:
    """Return how long an event loop without any work waited for its turns, in the last `seconds` before a line came."""
    import threading

    from PySide6.QtCore import QCoreApplication, Qt, QTimer

    app = QCoreApplication([])
    turns: list[float] = []
    timer = QTimer(interval=TICK_MS, timerType=Qt.TimerType.PreciseTimer)
    timer.timeout.connect(lambda: turns.append(time.perf_counter()))
    timer.start()
    threading.Thread(target=lambda: (sys.stdin.readline(), app.quit()), daemon=True).start()
    app.exec()
    last = [turn for turn in turns if turn > turns[-1] - seconds]
    gaps = sorted(max(0.0, 1e3 * (b - a) - TICK_MS) for a, b in pairwise(last))
    return {"p99_ms": gaps[int(0.99 * len(gaps))]}


def drag(network: str, seconds: float) -> dict[str, Any]:
    """Open the window on `network`, turn the ring for `seconds`, and return what was measured."""
    from PySide6.QtCore import QSettings, Qt, QTimer

    import main
    from explorer.app.answering.engine import LocalEngine
    from explorer.state.state import State
    from explorer.work.threads import leave_a_core
    from widgets.base.view import Wish
    from widgets.window.app import Collector, application
    from widgets.window.main_window import MainWindow

    app = application(())
    collector = Collector()
    computed = 0

    class Counting(LocalEngine):
        def answer(self, state: Any, cancelled: Any) -> Any:
            nonlocal computed
            frame = super().answer(state, cancelled)
            computed += 1
            return frame

    def start() -> LocalEngine:
        cards = dict(main.cards())
        if network == "slow":
            cards["slow"] = slow_card(cards["plain-cnn"])
        leave_a_core()  # as the window of the program does
        return Counting(cards)

    with tempfile.TemporaryDirectory() as folder:
        settings = QSettings(str(Path(folder, "settings.ini")), QSettings.Format.IniFormat)
        window = MainWindow(start, State(model=network, sample="digit-3"), settings)
        window.resize(1280, 800)
        window.show()
        turns: list[float] = []
        used: list[float] = []  # of the processor, by this thread
        shown = 0
        begun = 0.0
        ticking = QTimer(interval=TICK_MS, timerType=Qt.TimerType.PreciseTimer)
        moving = QTimer(interval=8)

        def tick() -> None:
            turns.append(time.perf_counter())
            used.append(time.thread_time())
            if begun and turns[-1] - begun > seconds:
                ticking.stop()
                moving.stop()
                app.quit()

        def move() -> None:
            angle = ((time.perf_counter() - begun) * 90) % 360 - 180
            window.controller.grant(Wish(step=("rotate", (angle,)), tag="ring"))

        def settled() -> bool:
            """Say whether all that is seen was made, and the lists have their pictures."""
            window.panes.complete()
            catalogue = window.controller.catalogue
            return catalogue is not None and all(model.source for model in catalogue.models)

        def frame_came(_: object) -> None:
            nonlocal shown, begun, computed
            if not begun and not settled():
                return
            if not begun:
                collector.settle()
                begun = time.perf_counter()
                turns.clear()
                used.clear()
                computed = 0
                moving.start()
            else:
                shown += 1

        ticking.timeout.connect(tick)
        moving.timeout.connect(move)
        window.controller.frame_ready.connect(frame_came)
        window.controller.catalogue_ready.connect(lambda _: window.controller.refresh() if settled() else None)
        ticking.start()
        window.controller.begin()
        app.exec()
        answered = computed
        window.close()
        collector.stop()
    gaps = sorted(max(0.0, 1e3 * (b - a) - TICK_MS) for a, b in pairwise(turns))
    own = sorted(1e3 * (b - a) for a, b in pairwise(used))
    return {
        "network": network, "gui_p50_ms": gaps[len(gaps) // 2], "gui_p99_ms": gaps[int(0.99 * len(gaps))],
        "gui_max_ms": gaps[-1], "target_p99_ms": 16.0, "own_p99_ms": own[int(0.99 * len(own))], "own_max_ms": own[-1],
        "frames_shown": shown, "frames_computed": answered, "seconds": seconds,
    }  # fmt: skip


def slow_card(card: Any) -> Any:
    """Return the card with a network that takes two seconds for each forward pass."""
    from dataclasses import replace

    import torch
    from torch import nn

    class Slow(nn.Module):
        def __init__(self, inner: nn.Module) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            end = time.perf_counter() + 2.0
            work = torch.ones(256, 256)
            while time.perf_counter() < end:
                work = (work @ work).clamp(-1, 1)  # torch lets go of the interpreter lock meanwhile, as in a real layer
            out: torch.Tensor = self.inner(x)
            return out

    return replace(card, name="slow", build=lambda: Slow(card.build()), weights=None, params=())


if __name__ == "__main__":
    made = bare(float(sys.argv[2])) if sys.argv[1] == "bare" else drag(sys.argv[1], float(sys.argv[2]))
    print(json.dumps(made))
