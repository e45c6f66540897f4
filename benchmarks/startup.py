"""From process start to a window that answers, beside `python -c "import torch"` (target: 1.0 s)."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

# the window reports when it is painted and its event loop has turned once, then leaves
_WINDOW = """
import sys
import main
import widgets.window.app as app
real = app.run_window
def timed(*args, **kwargs):
    def ready(window):
        from PySide6.QtCore import QTimer
        def said():
            print("ready", flush=True)
            import os
            os._exit(0)
        QTimer.singleShot(0, said)
    return real(*args, **kwargs, on_ready=ready)
app.run_window = timed
main.main(["--seed", "0"])
"""


def run(rounds: int = 5) -> list[dict[str, Any]]:
    """Return the median seconds to the window and to torch, in turn."""
    environment = {**os.environ, "EQUISCOPE_SETTINGS": os.devnull}
    if not environment.get("DISPLAY") and not environment.get("WAYLAND_DISPLAY"):
        # without a display main.py draws one picture and quits; any chosen platform makes it open the window
        environment["QT_QPA_PLATFORM"] = "minimal"

    def seconds(code: str) -> float:
        start = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-c", code], cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert process.stdout is not None
        process.stdout.readline()
        passed = time.perf_counter() - start
        process.kill()
        process.wait()
        return passed

    window, torch = [], []
    seconds(_WINDOW), seconds("import torch; print()")
    for _ in range(rounds):
        window.append(seconds(_WINDOW))
        torch.append(seconds("import torch; print()"))
    return [{
        "what": "window answers", "seconds": statistics.median(window), "peer": "import torch",
        "peer_seconds": statistics.median(torch), "ratio": statistics.median(window) / statistics.median(torch),
        "target_seconds": 1.0,
    }]  # fmt: skip
