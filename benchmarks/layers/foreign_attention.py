"""Attention of somebody else's network at 16,384 tokens: a row, a tile and the error of the layer, without the matrix.

The network calls `scaled_dot_product_attention` and knows nothing of this program. Each way runs in a process of its
own, so that the peak of memory is its own: the network alone, then with the attention of one head watched, with rows
and tiles of it drawn, and with its error under a renumbering measured. Aimed at: less than 200 MB beside the network.

    python -m benchmarks.layers.foreign_attention
"""

from __future__ import annotations

import json
import resource
import sys
import time
from typing import Any

from benchmarks.parts.apart import apart

TOKENS, WIDTH = 16_384, 64
TARGET_MIB = 200 * 1e6 / 2**20
WAYS = ("network alone", "watched", "drawn", "measured")
SHORT = 1024  # tokens at which rows are compared with the whole matrix
TOLERANCE = 1e-6


def run() -> list[dict[str, Any]]:
    """Measure each way and return its row; `extra_mib` is what it takes beside the network alone.

    Raises:
        AssertionError: a row is not that of the explicit formula.
    """
    rows = []
    for way in WAYS:
        for causal in (False, True):
            rows.append(apart("benchmarks.layers.foreign_attention", way, str(int(causal))))
    alone = {row["causal"]: row["mib"] for row in rows if row["way"] == WAYS[0]}
    for row in rows:
        row["extra_mib"] = row["mib"] - alone[row["causal"]]
        row["target_mib"] = TARGET_MIB
    return rows


def network(causal: bool) -> Any:
    """Return one block with one head, as a person writes it."""
    from torch import nn
    from torch.nn import functional as F

    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.q, self.k, self.v = (nn.Linear(WIDTH, WIDTH) for _ in range(3))

        def forward(self, x: Any) -> Any:
            q, k, v = (m(x)[None, None] for m in (self.q, self.k, self.v))
            return F.scaled_dot_product_attention(q, k, v, is_causal=causal)[0, 0]

    return Attention().eval()


def measure(way: str, causal: bool) -> dict[str, Any]:
    """Run the network once and do what that way says."""
    import numpy as np
    import torch

    from explorer.declare.types.fields import PAIR
    from explorer.equivariance import measure as measuring
    from explorer.network.inner.factors import Factors
    from explorer.network.tracing.capture import capture
    from explorer.spaces.sequence.elements.time_map import TimeMap
    from explorer.square.drawing.pair_rows import on_demand

    torch.manual_seed(0)
    model = network(causal)
    name = "attention"
    with torch.inference_mode():
        short = torch.randn(SHORT, WIDTH)
        found, fed = capture(model, short, [name], inputs=True)
        query, key = fed[name]
        formed = Factors(query, key, causal=causal).rows(0, SHORT)
        assert float((found[name] - formed).abs().max()) == 0.0
        x = torch.randn(TOKENS, WIDTH)
        before = _peak()
        start = time.perf_counter()
        if way == WAYS[0]:
            model(x)
        else:
            found, fed = capture(model, x, [name], inputs=True)
        forward = time.perf_counter() - start
        start = time.perf_counter()
        if way == "drawn":
            planes = on_demand(found[name]).planes
            row = planes[0][TOKENS // 2]
            times = [time.perf_counter() - start]
            for k in range(20):
                start = time.perf_counter()
                planes[0][k * 700 + 5]
                times.append(time.perf_counter() - start)
            exact = found[name].factors.rows(TOKENS // 2, TOKENS // 2 + 1)[0, 0, 0].numpy()
            assert float(np.abs(row - exact).max()) < TOLERANCE
            planes[0][:512, :512]  # a tile
            start, times = 0.0, [min(times)]
        elif way == "measured":
            element = TimeMap(backwards=True)
            moved, _ = capture(model, x.flip(0), [name])
            expected = element.act(found[name], PAIR)
            where = measuring.mask(element, found[name], PAIR)
            error = float(measuring.distance(expected, moved[name], where, PAIR).relative)
            assert (error < 1e-5) != causal, f"{error:.1e}"
            times = [time.perf_counter() - start]
        else:
            times = [0.0]
    return {
        "what": f"{way}, {TOKENS:,} tokens, {'causal' if causal else 'not masked'}", "way": way, "causal": causal,
        "threads": torch.get_num_threads(), "forward_s": forward, "ms": 1e3 * min(times),
        "mib": (_peak() - before) / 2**20, "matrix_mib": TOKENS**2 * 4 / 2**20,
    }  # fmt: skip


def _peak() -> int:
    """Return the most memory that this process has held, in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def main() -> None:
    if len(sys.argv) == 3:
        print(json.dumps(measure(sys.argv[1], sys.argv[2] == "1")))
        return
    print(f"{'what':<46} forward s       ms  peak MiB  extra MiB  target  matrix MiB")
    for r in run():
        print(
            f"{r['what']:<46} {r['forward_s']:>9.2f} {r['ms']:>8.2f}  {r['mib']:>8.0f}  {r['extra_mib']:>9.0f}  "
            f"{r['target_mib']:>6.0f}  {r['matrix_mib']:>10.0f}"
        )


if __name__ == "__main__":
    main()
