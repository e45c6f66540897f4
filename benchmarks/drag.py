"""A ten-second scripted drag of the ring in the real window: how long the GUI thread was blocked, and what it showed.

A timer asks for a turn of the event loop every 2 ms; what a turn comes later than that is how long a click would have
waited (target: p99 at most 16 ms). Once with a quick network, once with one that takes two seconds for a forward
pass; every frame that was computed is to be shown.
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

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 10.0
TICK_MS = 2


def run(seconds: float = SECONDS) -> list[dict[str, Any]]:
    """Run both drags in processes of their own (Qt wants the main thread) and return their rows."""
    environment = dict(os.environ)
    if not environment.get("DISPLAY") and not environment.get("WAYLAND_DISPLAY"):
        environment["QT_QPA_PLATFORM"] = "offscreen"
    rows = []
    for network in ("d4-cnn", "slow"):
        command = [sys.executable, "-m", "benchmarks.drag", network, str(seconds)]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        rows.append(json.loads(done.stdout.splitlines()[-1]))
    return rows


def drag(network: str, seconds: float) -> dict[str, Any]:
    """Open the window on `network`, turn the ring for `seconds`, and return what was measured."""
    from PySide6.QtCore import QSettings, Qt, QTimer

    import main
    from explorer.app.engine import LocalEngine
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
        shown = 0
        begun = 0.0
        ticking = QTimer(interval=TICK_MS, timerType=Qt.TimerType.PreciseTimer)
        moving = QTimer(interval=8)

        def tick() -> None:
            turns.append(time.perf_counter())
            if begun and turns[-1] - begun > seconds:
                ticking.stop()
                moving.stop()
                app.quit()

        def move() -> None:
            angle = ((time.perf_counter() - begun) * 90) % 360 - 180
            window.controller.grant(Wish(step=("rotate", (angle,)), tag="ring"))

        def frame_came(_: object) -> None:
            nonlocal shown, begun, computed
            if not begun:
                collector.settle()
                begun = time.perf_counter()
                turns.clear()
                computed = 0
                moving.start()
            else:
                shown += 1

        ticking.timeout.connect(tick)
        moving.timeout.connect(move)
        window.controller.frame_ready.connect(frame_came)
        ticking.start()
        window.controller.begin()
        app.exec()
        answered = computed
        window.close()
        collector.stop()
    gaps = sorted(max(0.0, 1e3 * (b - a) - TICK_MS) for a, b in pairwise(turns))
    return {
        "network": network, "gui_p50_ms": gaps[len(gaps) // 2], "gui_p99_ms": gaps[int(0.99 * len(gaps))],
        "gui_max_ms": gaps[-1], "target_p99_ms": 16.0, "frames_shown": shown, "frames_computed": answered,
        "seconds": seconds,
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
    print(json.dumps(drag(sys.argv[1], float(sys.argv[2]))))
