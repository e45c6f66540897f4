"""From the command to a window that answers, and to the first picture that means something.

The window answers beside `python -c "import torch"` (target: 1.0 s). The first picture is that of the default model, in
the view in front, beside napari's window with one image (target: 0.5 of its time). napari is run by the interpreter
that EQUISCOPE_NAPARI names, or by this one if it has it; without a display both get an Xvfb of their own.

    EQUISCOPE_NAPARI=/path/to/python python benchmarks/window/startup.py
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
NAPARI = "EQUISCOPE_NAPARI"  # environment: an interpreter that has napari

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
    return real(*args, **{**kwargs, "on_ready": ready})
app.run_window = timed
main.main(["--seed", "0"])
"""
# the same after the view in front has drawn the first frame; with EQUISCOPE_LINGER later, and how much memory it takes
_PICTURE = """
import os
import main
import widgets.window.app as app
real = app.run_window
def timed(*args, **kwargs):
    def ready(window):
        from PySide6.QtCore import QTimer
        def said():
            pages = int(open("/proc/self/statm").read().split()[1]) if os.path.exists("/proc/self/statm") else 0
            print(pages * 4096 / 2**20, flush=True)
            os._exit(0)
        def came(frame):
            window.controller.frame_ready.disconnect(came)
            window.panes.repaint()
            QTimer.singleShot(int(os.environ.get("EQUISCOPE_LINGER", "0")), said)
        window.controller.frame_ready.connect(came)
    return real(*args, **{**kwargs, "on_ready": ready})
app.run_window = timed
main.main(["--seed", "0"])
"""
_NAPARI = """
import os
import numpy, napari
from qtpy.QtCore import QTimer
viewer = napari.Viewer()
viewer.add_image(numpy.random.default_rng(0).random((28, 28)))
def drawn(event):
    print("drawn", flush=True)
    os._exit(0)
viewer.window._qt_viewer.canvas._scene_canvas.events.draw.connect(drawn, position="last")
napari.run()
"""


class Run(NamedTuple):
    """Cost of a process until it spoke: seconds, those of the processor, and what it said."""

    seconds: float
    processor: float
    said: str


def run(rounds: int = 5) -> list[dict[str, Any]]:
    """Return the median seconds to the window and to the picture, in turn with their peers."""
    from benchmarks.parts.apart import warm

    with tempfile.TemporaryDirectory() as folder, screen() as display:
        own = {"EQUISCOPE_SETTINGS": f"{folder}/settings.ini", "EQUISCOPE_CACHE": folder, "XDG_CONFIG_HOME": folder}
        environment = warm(os.environ | own | display)
        return [_answers(environment, rounds), *_pictures(environment, rounds)]


def _answers(environment: dict[str, str], rounds: int) -> dict[str, Any]:
    window, torch = [], []
    for k in range(rounds + 1):
        pair = [_timed(sys.executable, code, environment) for code in (_WINDOW, "import torch; print()")]
        if k:  # the first is for the disk
            window.append(pair[0].seconds)
            torch.append(pair[1].seconds)
    return {
        "what": "window answers", "seconds": statistics.median(window), "peer": "import torch",
        "peer_seconds": statistics.median(torch), "ratio": _ratio(window, torch), "target_seconds": 1.0,
    }  # fmt: skip


def _pictures(environment: dict[str, str], rounds: int) -> Iterator[dict[str, Any]]:
    peer = os.environ.get(NAPARI) or (sys.executable if find_spec("napari") else "")
    ours, theirs = [], []
    for k in range(rounds + 1):
        here = _timed(sys.executable, _PICTURE, environment)
        there = _timed(peer, _NAPARI, environment) if peer else None
        if k:
            ours.append(here)
            theirs += [there] if there else []
    row = {"what": "first picture", "seconds": statistics.median(r.seconds for r in ours),
           "processor_seconds": statistics.median(r.processor for r in ours)}  # fmt: skip
    if theirs:
        row |= {
            "peer": "napari", "peer_seconds": statistics.median(r.seconds for r in theirs),
            "peer_processor_seconds": statistics.median(r.processor for r in theirs),
            "ratio": _ratio([r.seconds for r in ours], [r.seconds for r in theirs]),
            "processor_ratio": _ratio([r.processor for r in ours], [r.processor for r in theirs]), "target": 0.5,
        }  # fmt: skip
    yield row
    idle = _timed(sys.executable, _PICTURE, environment | {"EQUISCOPE_LINGER": "8000"})
    yield {"what": "eight seconds later", "resident_mib": float(idle.said)}


def _timed(python: str, code: str, environment: dict[str, str]) -> Run:
    """Run code until it says a line."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [python, "-c", code], cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    said = process.stdout.readline()
    passed = time.perf_counter() - start
    process.kill()
    process.stdout.close()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    if not said:
        raise RuntimeError(f"{python} ended without having shown anything")
    return Run(passed, used.ru_utime + used.ru_stime, said.strip())


def _ratio(ours: list[float], theirs: list[float]) -> float:
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))


@contextmanager
def screen() -> Iterator[dict[str, str]]:
    """Yield the environment of a display: the one there is, else an Xvfb, else a platform without pictures."""
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        yield {}
    elif (server := shutil.which("Xvfb")) is None:
        # without a display main.py draws one picture and quits; any chosen platform makes it open the window
        yield {"QT_QPA_PLATFORM": "minimal"}
    else:
        reading, writing = os.pipe()
        words = [server, "-displayfd", str(writing), "-screen", "0", "1600x1000x24", "-nolisten", "tcp"]
        process = subprocess.Popen(words, pass_fds=[writing], stderr=subprocess.DEVNULL)
        try:
            with open(reading) as number:
                yield {"DISPLAY": f":{number.readline().strip()}"}
        finally:
            os.close(writing)
            process.terminate()
            process.wait()


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    for found in run():
        print("  ".join(f"{k} {v:.2f}" if isinstance(v, float) else f"{k} {v}" for k, v in found.items()))
