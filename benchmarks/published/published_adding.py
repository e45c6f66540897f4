"""The adding task with LSTMs of 128 units over 200 steps: chrono initialisation against the usual one.

Tallec, Ollivier, "Can recurrent neural networks warp time?", 2018, experiments: a value and a mark at each step, two
steps marked, and after the last one the sum of the two marked values is asked for. Whoever always says 1 is wrong by
1/6 in the mean square. Both networks start from the same weights and differ in their biases: forget gates at 1 (usual),
or at log U(1, T - 1) with the input gates at the opposite (chrono). RMSprop, 10^-3, smoothing 0.9, batches of 50, no
clipping, as published. The paper shows curves and no table: the usual start stays near 1/6 for long, chrono does not.

    python -m benchmarks.published.published_adding [--steps 200] [--iterations 6000]
"""

from __future__ import annotations

import argparse
import time
from typing import Any

STEPS, UNITS, ITERATIONS, BATCH = 200, 128, 6000, 50
JUDGED, EVERY = 1000, 200
BASELINE = 1 / 6  # the variance of the sum of two numbers drawn evenly from [0, 1]
LEARNED = 0.16  # clearly better than saying 1


def run(
    steps: int = STEPS, units: int = UNITS, iterations: int = ITERATIONS, every: int = EVERY, seed: int = 0
) -> list[dict[str, Any]]:
    """Train both; return a row each with the final `error`, the `curve` of errors and the seconds.

    `curve` is [(iteration, mean squared error on 1000 sequences that were not learned from)], and `learned_at` the
    first of these iterations with an error below LEARNED for good, or None.
    """
    import numpy as np
    import torch
    from torch import nn

    from explorer.spaces.sequence.samples import tasks
    from models.layers.recurrent.chrono import chrono_, standard_
    from models.layers.recurrent.lstm import LSTM
    from models.training.learning import one_thread
    from models.training.sequences.computed import judged_by

    def batch(chance: np.random.Generator, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        x, total = tasks.adding(chance, count, steps)
        return torch.tensor(x), torch.tensor(total)

    judged, answers = batch(judged_by(), JUDGED)
    rows: list[dict[str, Any]] = []
    for start in ("usual", "chrono"):
        torch.manual_seed(seed)
        layer = LSTM(2, units, "zero")
        readout = nn.Linear(units, 1)
        if start == "chrono":
            chrono_(layer, steps, torch.Generator().manual_seed(seed))
        else:
            standard_(layer)
        fast = nn.LSTM(2, units, batch_first=True)  # the same numbers, without recording a gate
        fast.load_state_dict({f"{name}_l0": value for name, value in layer.named_parameters()})
        parameters = [*fast.parameters(), *readout.parameters()]
        optimizer = torch.optim.RMSprop(parameters, lr=1e-3, alpha=0.9)
        chance, curve, began = np.random.default_rng(seed), [], time.perf_counter()
        with one_thread():
            for k in range(iterations + 1):
                if k % every == 0 or k == iterations:
                    with torch.no_grad():
                        found = readout(fast(judged)[0][:, -1])[:, 0]
                    curve.append((k, float((found - answers).square().mean())))
                if k < iterations:
                    x, total = batch(chance, BATCH)
                    loss = (readout(fast(x)[0][:, -1])[:, 0] - total).square().mean()
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
        late = max((n for n, (_, error) in enumerate(curve) if error >= LEARNED), default=-1) + 1
        rows.append(
            {
                "what": f"LSTM of {units} units, {steps} steps, {start} start",
                "error": curve[-1][1],
                "saying_1": BASELINE,
                "learned_at": curve[late][0] if late < len(curve) else None,
                "iterations": iterations,
                "curve": curve,
                "seconds": time.perf_counter() - began,
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--units", type=int, default=UNITS)
    parser.add_argument("--iterations", type=int, default=ITERATIONS)
    given = parser.parse_args()
    rows = run(given.steps, given.units, given.iterations)
    print("iteration " + " ".join(f"{r['what'].split()[-2]:>8}" for r in rows))
    for points in zip(*(r["curve"] for r in rows), strict=True):
        print(f"{points[0][0]:>9} " + " ".join(f"{error:8.4f}" for _, error in points))
    for r in rows:
        print(f"{r['what']}: {r['error']:.4f}, below {LEARNED} from {r['learned_at']}, {r['seconds']:.0f} s")


if __name__ == "__main__":
    main()
