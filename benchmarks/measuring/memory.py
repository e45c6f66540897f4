"""Memory over 10,000 slider steps: resident size after a warm-up and at the end (target: within 5 %)."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any


def resident() -> float:
    """Return this process's resident size in MiB (Linux)."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 2**20


def run(steps: int = 10_000) -> list[dict[str, Any]]:
    """Turn and shift one digit through the plain network `steps` times, as a drag does."""
    import gc

    import models
    from explorer.app.answering.engine import LocalEngine
    from explorer.declare.elements import Step
    from explorer.declare.registry import scan
    from explorer.state.state import State
    from explorer.work.threads import leave_a_core

    leave_a_core()  # as the window does
    engine = LocalEngine(scan(models, "CARD"))
    gc.collect()
    threads = threading.active_count()
    early = 0.0
    for k in range(steps):
        angle = (k * 7.3) % 360
        state = State(model="plain-cnn", sample="digit-3", steps=(Step("rotate", (angle,)),))
        engine.answer(state, lambda: False)
        if k == steps // 10:
            early = resident()
    late = resident()
    return [{
        "what": f"{steps} slider steps", "early_mib": early, "late_mib": late, "ratio": late / early, "target": 1.05,
        "new_threads": threading.active_count() - threads,
    }]  # fmt: skip
