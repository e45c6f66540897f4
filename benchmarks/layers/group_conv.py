"""Time a group convolution beside a plain convolution with the same number of orientation channels.

In eval mode the transformed filters are kept, so that only F.conv2d is left to run. The layers that are
compared take turns, because the speed of a machine drifts by more than what is to be seen: read the ratios.

    python -m benchmarks.layers.group_conv
"""

from __future__ import annotations

import statistics
from functools import partial
from typing import Any

SIZE = 64
CHANNELS = {"C4": (8, 16), "D4": (4, 8)}  # fields in and out: the same number, 32 or 64 channels
BATCHES = (1, 8)


def run(repeats: int = 60) -> list[dict[str, Any]]:
    """Time C4 and D4 group convolutions (3x3, 64x64) in turn with nn.Conv2d; return a row per comparison.

    A row holds medians in ms (`group_ms`, `plain_ms`), `ratio`, the median over rounds of one time divided by
    the other of the same round, and `train_ratio`, forward with filters that are transformed for every pass.
    """
    import torch
    from torch import nn

    from benchmarks.parts.timing import interleaved, ratio
    from explorer.declare.groups import group
    from models.layers.convolution.groups import GroupConv2d

    there = torch.get_default_device()
    rows: list[dict[str, Any]] = []
    for name, widths in CHANNELS.items():
        order = group(name).order
        for fields in widths:
            for batch in BATCHES:
                with torch.device("cpu"):  # the tables of a group are
                    kept, anew = (GroupConv2d(group(name), fields, fields) for _ in range(2))
                layers = {
                    "group": kept.eval().to(there),
                    "plain": nn.Conv2d(fields * order, fields * order, 3, padding=1).eval(),
                    "train": anew.train().to(there),
                }
                x = torch.randn(batch, fields * order, SIZE, SIZE)
                with torch.inference_mode():
                    times = interleaved({label: partial(layer, x) for label, layer in layers.items()}, repeats)
                ms = {label: 1e3 * statistics.median(values) for label, values in times.items()}
                rows.append(
                    {
                        "group": name,
                        "channels": fields * order,
                        "batch": batch,
                        "size": SIZE,
                        "threads": torch.get_num_threads(),
                        "group_ms": ms["group"],
                        "plain_ms": ms["plain"],
                        "ratio": ratio(times, "group", "plain"),
                        "train_ratio": ratio(times, "train", "plain"),
                    }
                )
    return rows


def main() -> None:
    print("group  channels  batch   plain ms   group ms   ratio   filters anew")
    for r in run():
        print(
            f"{r['group']:<5}  {r['channels']:>8}  {r['batch']:>5}  {r['plain_ms']:>9.3f}  "
            f"{r['group_ms']:>9.3f}  {r['ratio']:>6.3f}  {r['train_ratio']:>12.3f}"
        )


if __name__ == "__main__":
    main()
