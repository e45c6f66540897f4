"""From a slider's value to new pixels: the whole answer beside the network's own two forwards (target: 33 ms more)."""

from __future__ import annotations

import statistics
from typing import Any


def run(rounds: int = 40) -> list[dict[str, Any]]:
    """Return per network the milliseconds that an answer takes beyond two forwards, at exact and at other angles."""
    import torch

    import models
    from benchmarks.parts.timing import interleaved
    from explorer.app.answering.engine import LocalEngine
    from explorer.declare.elements import Step
    from explorer.declare.registry import scan
    from explorer.state.state import State
    from explorer.work.threads import leave_a_core

    leave_a_core()  # as the window does
    engine = LocalEngine(scan(models, "CARD"))
    rows: list[dict[str, Any]] = []
    for name in ("plain-cnn", "c4-cnn", "d4-cnn"):
        for label, first, step in (("quarter turns", 0.0, 90.0), ("any angle", 1.0, 1.7)):
            state = State(model=name, sample="digit-3")
            p = engine.prepared(state, name)
            angle = first

            def forwards() -> None:
                with torch.no_grad():
                    p.model(p.x)  # noqa: B023 (called before the loop goes on)
                    p.model(p.x)  # noqa: B023

            def answer() -> None:
                nonlocal angle
                angle = (angle + step) % 360  # noqa: B023
                turned = State(model=name, sample="digit-3", steps=(Step("rotate", (angle,)),))  # noqa: B023
                engine.answer(turned, lambda: False)

            times = interleaved({"two forwards": forwards, "answer": answer}, rounds)
            beyond = [1e3 * (a - f) for a, f in zip(times["answer"], times["two forwards"], strict=True)]
            ordered = sorted(beyond)
            rows.append({
                "network": name, "element": label, "forwards_ms": 1e3 * statistics.median(times["two forwards"]),
                "beyond_ms": statistics.median(beyond), "beyond_p95_ms": ordered[int(0.95 * len(ordered))],
                "target_ms": 33.0,
            })  # fmt: skip
    return rows
