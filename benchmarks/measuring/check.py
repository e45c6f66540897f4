"""Time `check` of every card, in seconds of one thread, beside as many plain forwards as would take as long.

A person waits for it. Seconds are of the processor, so that another program's share of the machine does not count.
"""

from __future__ import annotations

from typing import Any

TARGET = 10.0


def run(names: list[str] | None = None) -> list[dict[str, Any]]:
    """Return a row per card, the slowest first: seconds of its check, of one forward, their ratio."""
    import time

    import torch

    import models
    from explorer.app.answering.engine import LocalEngine
    from explorer.app.command.audit import audit
    from explorer.declare.registry import scan
    from explorer.state.state import State
    from explorer.work.threads import leave_a_core

    leave_a_core()  # as the command does
    engine = LocalEngine(scan(models, "CARD"))
    rows: list[dict[str, Any]] = []
    for name in names or sorted(engine.cards):
        start = time.process_time()
        reports = audit(engine, State(model=name), "", "float64", None, {})
        seconds = time.process_time() - start
        p = engine.prepared(State(model=name, dtype="float64"), name)
        with torch.no_grad():
            start = time.process_time()
            p.model(*p.inputs.arguments)
            forward = time.process_time() - start
        rows.append(
            {
                "what": name,
                "groups": " ".join(report.group for report in reports),
                "seconds": seconds,
                "forward_s": forward,
                "ratio": seconds / max(forward, 1e-9),
                "target": TARGET,
            }
        )
        engine.close()
    return sorted(rows, key=lambda row: -row["seconds"])
