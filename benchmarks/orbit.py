"""An orbit of 64 rotations with every layer's error, beside the batched forward of the same 64 inputs."""

from __future__ import annotations

from typing import Any

ELEMENTS = 64


def run(rounds: int = 15) -> list[dict[str, Any]]:
    """Return rows per network for the survey (target 1.3) and, without a target, for the complete comparison."""
    import numpy as np
    import torch

    import models
    from benchmarks.timing import interleaved, row
    from explorer.data.finding import find_sample
    from explorer.declare.elements import transforms
    from explorer.declare.registry import scan
    from explorer.network.loading import load_model
    from explorer.spaces.grid.analysis.survey import survey, sweep
    from explorer.spaces.grid.network.fit import fit
    from explorer.square.orbits import orbit_elements
    from explorer.square.prepare import prepare
    from explorer.state.state import State
    from explorer.work.threads import leave_a_core

    leave_a_core()  # as the window does
    cards = scan(models, "CARD")
    rows: list[dict[str, Any]] = []
    for name in ("plain-cnn", "d4-cnn", "resnet18"):
        card = cards[name]
        sample = fit(find_sample(card.sample), card.input.shape)
        p = prepare(card, load_model(card), sample, device=torch.device("cpu"), dtype=torch.float32)
        angles = np.linspace(-180, 180, ELEMENTS, endpoint=False)
        elements = orbit_elements(State(model=name), transforms()["rotate"], angles)
        layers = [w for w in p.watched if w.leaf and w.field is not None]
        with torch.no_grad():
            gx = torch.cat([e.act(p.x, p.x_field) for e in elements])
            times = interleaved(
                {
                    "batched forward": lambda: p.model(gx),  # noqa: B023 (called before the loop goes on)
                    "survey": lambda: survey(p, elements, gx, layers),  # noqa: B023
                    "complete": lambda: sweep(p, elements, gx, layers),  # noqa: B023
                },
                rounds if name != "resnet18" else 3,
                warmup=1,
            )
        for what, target in (("survey", 1.3), ("complete", float("nan"))):
            rows.append({"network": name, "elements": ELEMENTS, **row(times, what, "batched forward", target)})
    return rows
