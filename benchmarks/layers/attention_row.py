"""Time a row of attention among 16,384 steps, made of the queries and keys that are kept, beside the whole matrix.

Both in a process of their own, so that the peak of memory is that of one alone: with the matrix at 4,096 steps, where
it can be formed, without it there and at 16,384. Aimed at: a row in 50 ms, and memory that holds no T x T values.

    python -m benchmarks.layers.attention_row
"""

from __future__ import annotations

import json
import resource
import sys
import time
from typing import Any

from benchmarks.parts.apart import apart

WIDTH, HEADS = 32, 2
SHORT, LONG = 4096, 16_384
TARGET_MS = 50.0
REPEATS = 20
TOLERANCE = 1e-6
MIB = 2**20
WAYS = (("matrix", SHORT), ("row", SHORT), ("row", LONG))


def run() -> list[dict[str, Any]]:
    """Measure each way, causal and not; return a row for each.

    `ms` is the least time of the row alone, the matrix being formed for it where it is, `forward_s` that of the whole
    attention, `mib` how far it raises the peak of memory, `matrix_mib` what the matrix would take.

    Raises:
        AssertionError: the row is not that of the matrix.
    """
    rows = []
    for causal in (False, True):
        for way, steps in WAYS:
            rows.append(apart("benchmarks.layers.attention_row", way, str(steps), str(int(causal))))
    return rows


def measure(way: str, steps: int, causal: bool) -> dict[str, Any]:
    """Run one attention and read out a row, with the matrix or without it."""
    import torch

    from models.layers.attention import steps as attention_steps
    from models.layers.attention.steps import Attention

    torch.manual_seed(0)
    attention = Attention(WIDTH, HEADS, causal).eval()
    with torch.inference_mode():
        attention(*2 * (torch.randn(64, WIDTH),))  # whatever is loaded at first use is no cost of the sequence
        x, step = torch.randn(steps, WIDTH), steps // 2
        before = _peak()
        attention_steps.MOST_PAIRS = steps**2 if way == "matrix" else 0
        start = time.perf_counter()
        attention(x, x)
        forward = time.perf_counter() - start
        query, key = attention.query(x), attention.key(x)
        times = []
        for _ in range(3 if way == "matrix" else REPEATS):
            start = time.perf_counter()
            row = _formed(attention, query, key)[:, step] if way == "matrix" else attention.row(query, key, step)
            times.append(time.perf_counter() - start)
        peak = _peak() - before
        if way == "row" and steps == SHORT:
            difference = float((row - _formed(attention, query, key)[:, step]).abs().max())
            assert difference <= TOLERANCE, f"{difference:.1e}"
    return {
        "what": f"{way}, {steps:,} steps, {'causal' if causal else 'not masked'}",
        "threads": torch.get_num_threads(),
        "ms": 1e3 * min(times),
        "target": TARGET_MS if way == "row" else None,
        "forward_s": forward,
        "mib": peak / MIB,
        "matrix_mib": HEADS * steps**2 * 4 / MIB,
    }


def _formed(attention: Any, query: Any, key: Any) -> Any:
    """Return the whole matrix, (H, T, T), by its steps."""
    logits = attention.logits(query, key)
    return attention.attention(logits if attention.masked_logits is None else attention.masked_logits(logits))


def _peak() -> int:
    """Return the most memory that this process has held, in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def main() -> None:
    if len(sys.argv) == 4:
        print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), sys.argv[3] == "1")))
        return
    print(f"{'what':<34} row ms  target  forward s  peak MiB  matrix MiB")
    for r in run():
        target = "" if r["target"] is None else f"{r['target']:.0f}"
        print(
            f"{r['what']:<32} {r['ms']:>8.2f}  {target:>6}  {r['forward_s']:>9.2f}  {r['mib']:>8.0f}  "
            f"{r['matrix_mib']:>10.0f}"
        )


if __name__ == "__main__":
    main()
