"""An orbit of 64 rotations with every layer's error, beside the batched forward of the same 64 inputs."""

from __future__ import annotations

from typing import Any

ELEMENTS = 64
EXACT = 1e-3  # relative errors up to this are rounding, or next to it


def run(rounds: int = 15, names: tuple[str, ...] = ("plain-cnn", "d4-cnn", "resnet18")) -> list[dict[str, Any]]:
    """Return rows per network for the survey (target 1.3) and, without a target, for the complete comparison.

    Beside the survey stands how far its errors are from the complete ones, as shares of these.
    """
    import numpy as np
    import torch

    import models
    from benchmarks.parts.timing import interleaved, row
    from explorer.data.finding import find_sample
    from explorer.declare.elements import transforms
    from explorer.declare.registry import scan
    from explorer.network.opening.loading import load_model
    from explorer.spaces.grid.analysis.survey import survey, sweep
    from explorer.spaces.grid.network.fit import fit
    from explorer.square.analyses.orbits import orbit_elements
    from explorer.square.preparing.prepare import prepare
    from explorer.state.state import State
    from explorer.work.threads import leave_a_core

    leave_a_core()  # as the window does
    cards = scan(models, "CARD")
    rows: list[dict[str, Any]] = []
    for name in names:
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
            (surveyed, _), (complete, _) = (way(p, elements, gx, layers) for way in (survey, sweep))
        # of layers and elements whose law does not hold but for rounding
        pairs = [(surveyed[w.name], complete[w.name]) for w in layers]
        off = np.concatenate([np.abs(a[b > EXACT] / b[b > EXACT] - 1) for a, b in pairs])
        wrong = {f"off_{name}": float(np.quantile(off, share)) for name, share in (("median", 0.5), ("p95", 0.95))}
        for what, target in (("survey", 1.3), ("complete", float("nan"))):
            more = wrong | {"off_target": 0.05} if what == "survey" else {}
            rows.append({"network": name, "elements": ELEMENTS, **row(times, what, "batched forward", target), **more})
    return rows
