"""Warps of time: networks without gates, with constant and with computed ones, on letters repeated 1 to k times.

Tallec, Ollivier, "Can recurrent neural networks warp time?", 2018, experiments and figure 1: which letter was the one
before the present one, when every letter stands k times (uniform), or 1 to k times, anew for each letter (variable)? 64
units, ten letters, RMSprop at 10^-3 with a smoothing of 0.9, batches of 32; here over 100 steps. The paper shows curves
and no table: leaky networks keep up with uniform warps and fall behind on variable ones, where gated networks do best
and networks without gates worst.

    python -m benchmarks.published.published_warps [--iterations 1500]
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from typing import Any

STEPS, UNITS, BATCH, ITERATIONS, JUDGED = 100, 64, 32, 1500, 500
WARPS = (1, 4, 16, 32)
NAMES = {"warp-rnn": "RNN", "warp-leaky": "leaky", "warp-gated": "gated"}


def run(
    iterations: int = ITERATIONS, warps: tuple[int, ...] = WARPS, steps: int = STEPS, units: int = UNITS, seed: int = 0
) -> list[dict[str, Any]]:
    """Train all three on every warp; return a row for each warp.

    A row holds the kind of warp, `most`, k, and by network the cross-entropy in nats and the share of right answers on
    500 sequences that were not learned from, with the seconds of training. Without a warp (k = 1) both kinds are one.
    """
    rows: list[dict[str, Any]] = []
    for even in (True, False):
        for most in warps:
            if most == 1 and not even:
                continue
            row: dict[str, Any] = {"warp": "uniform" if even else "variable", "most": most}
            for name, title in NAMES.items():
                found = _trained(name, most, even, iterations, steps, units, seed)
                row |= {f"{title} {key}": value for key, value in found.items()}
            rows.append(row)
            print(_line(row), file=sys.stderr, flush=True)
    return rows


def _trained(name: str, most: int, even: bool, iterations: int, steps: int, units: int, seed: int) -> dict[str, float]:
    import numpy as np
    import torch

    from models.sequences.recurrent import time_warp_task as task
    from models.training.learning import one_thread
    from models.training.sequences.computed import judged_by

    draw = partial(task.drawn, most=most, even=even, steps=steps)
    network = task.build(name, units, longest=most, start=0)
    optimizer = torch.optim.RMSprop(network.parameters(), lr=1e-3, alpha=0.9)
    chance, began = np.random.default_rng(seed), time.perf_counter()
    with one_thread():
        for _ in range(iterations):
            loss = task.loss(network, *draw(chance, BATCH))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        seconds = time.perf_counter() - began
        with torch.no_grad():
            x, wanted = draw(judged_by(), JUDGED)
            right = (network.batched(x).argmax(-1) == wanted).double().mean()
            return {"loss": float(task.loss(network, x, wanted)), "right": float(right), "seconds": seconds}


def _line(row: dict[str, Any]) -> str:
    cells = [f"{row[f'{t} loss']:>8.3f} {100 * row[f'{t} right']:>6.1f} %" for t in NAMES.values()]
    return f"{row['warp']:<9} {row['most']:>3} " + " ".join(cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=ITERATIONS)
    given = parser.parse_args()
    print("warp        k " + " ".join(f"{title:>17}" for title in NAMES.values()) + "   (nats, right answers)")
    rows = run(given.iterations)
    seconds = sum(row[f"{title} seconds"] for row in rows for title in NAMES.values())
    print("\n".join(_line(row) for row in rows) + f"\n{seconds:.0f} s")


if __name__ == "__main__":
    main()
