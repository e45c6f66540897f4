"""A network from a file in a process of its own beside the same network here: frames, the spare process, `check`."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

TARGET = 3.0  # milliseconds that a frame may take longer
NETWORK = """
from torch import nn

INPUT_SHAPE = (1, 28, 28)

def net(width={width}, depth={depth}):
    layers = [nn.Conv2d(1, width, 3, padding=1), nn.ReLU()]
    for _ in range(depth - 1):
        layers += [nn.Conv2d(width, width, 3, padding=1), nn.ReLU()]
    return nn.Sequential(*layers)
"""


def run(rounds: int = 40) -> list[dict[str, Any]]:
    """Return the milliseconds that a frame takes longer, and the seconds of a start."""
    with tempfile.TemporaryDirectory() as folder:
        return [*_frames(Path(folder), rounds), *_starts(), *_commands(Path(folder))]


def _frames(folder: Path, rounds: int) -> list[dict[str, Any]]:
    import models
    from benchmarks.parts.timing import interleaved
    from explorer.app.answering.engine import LocalEngine
    from explorer.app.remote.engine import DividedEngine
    from explorer.declare.elements import Step
    from explorer.declare.registry import scan
    from explorer.state.state import State
    from explorer.work.threads import leave_a_core

    leave_a_core()  # as the window does
    here = LocalEngine(scan(models, "CARD"), trust=True)
    there = DividedEngine(LocalEngine({}, trust=True), "main", spare=False)
    rows = []
    for width, depth in ((8, 3), (32, 12)):
        path = folder / f"net{width}.py"
        path.write_text(NETWORK.format(width=width, depth=depth))
        angles = {"here": 1.0, "there": 1.0}
        worked: dict[str, list[float]] = {"here": [], "there": []}

        def answer(name: str, engine: Any, model: str = f"{path}:net") -> None:
            angles[name] = (angles[name] + 1.7) % 360  # noqa: B023 (called before the loop goes on)
            state = State(model=model, sample="digit-3", steps=(Step("rotate", (angles[name],)),))  # noqa: B023
            used = time.process_time() + _worked(there)
            engine.answer(state, lambda: False)
            worked[name].append(time.process_time() + _worked(there) - used)  # noqa: B023

        peers = {"here": lambda: answer("here", here), "there": lambda: answer("there", there)}
        times = interleaved(peers, rounds)
        beyond = [1e3 * (t - h) for t, h in zip(worked["there"][3:], worked["here"][3:], strict=True)]
        more = sorted(1e3 * (t - h) for t, h in zip(times["there"], times["here"], strict=True))
        rows.append({
            "what": f"a frame of {2 * depth} layers, {width} channels", "ms": 1e3 * statistics.median(times["there"]),
            "peer": "in this process", "peer_ms": 1e3 * statistics.median(times["here"]),
            "more_ms": statistics.median(more), "more_of_the_processor_ms": statistics.median(beyond), "target": TARGET,
        })  # fmt: skip
    here.close()
    there.close()
    return rows


def _starts() -> list[dict[str, Any]]:
    """Return the seconds until a process is ready, by the clock and of the processor, and what starting it holds up."""
    from explorer.app.remote.process import Worker

    begun, ready, worked = [], [], []
    for _ in range(3):
        start, used = time.perf_counter(), _used()
        worker = Worker("main", 0)
        begun.append(time.perf_counter() - start)
        worker.ask(("trust", False, (), ()), ())
        ready.append(time.perf_counter() - start)
        worker.kill()
        worked.append(_used() - used)
    return [{
        "what": "a spare process", "held_up_ms": 1e3 * statistics.median(begun), "ready_s": statistics.median(ready),
        "processor_s": statistics.median(worked),
    }]  # fmt: skip


def _commands(folder: Path) -> list[dict[str, Any]]:
    """Return what `check` takes with a process of its own and without, in seconds of the processor."""
    from explorer.work.processes.starting import PROCESS

    words = [sys.executable, "main.py", "check", f"{folder / 'net8.py'}:net", "--trust", "--group", "C4"]
    taken: dict[str, list[float]] = {"1": [], "0": []}
    for _ in range(3):
        for apart in taken:
            used = _used()
            subprocess.run(words, env=os.environ | {PROCESS: apart}, capture_output=True, check=False)
            taken[apart].append(_used() - used)
    there, here = (statistics.median(taken[apart]) for apart in taken)
    return [{
        "what": "check of a file", "processor_s": there, "peer": "in one process", "peer_processor_s": here,
        "more_s": there - here,
    }]  # fmt: skip


def _worked(engine: Any) -> float:
    """Return the seconds of the processor that the process of an engine has taken; 0 where that is not told."""
    worker = engine._worker
    # the one that runs the network, which a guard has started
    pid = None if worker is None else worker._started.working
    try:
        return sum(int(f.read_text().split()[0]) for f in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9
    except OSError:
        return 0.0


def _used() -> float:
    """Return the seconds of the processor that ended children have taken."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
