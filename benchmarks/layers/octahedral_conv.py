"""Time a layer on O or O_h beside the plain convolutions that it consists of, one for each orientation.

The filters are transformed anew in every pass. Times are those of the process, in turn: read the ratios. Of the plain
convolutions, which take as long as each other, two are timed and count for all: at 128³ on a busy machine all of them
took minutes. A layer is timed once at least, and again while its time lasts.

    python -m benchmarks.layers.octahedral_conv
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

SIDE, TARGET = 128, 2.0
FEW = 2  # of the plain convolutions
LONGEST = 60.0  # seconds by the clock after which a layer is not timed again
LAYERS = (("lift", "O"), ("lift", "Oh"), ("conv", "O"))


def run(side: int = SIDE, rounds: int = 3) -> list[dict[str, float | str]]:
    """Time layers from one field to one, and as many plain convolutions; return a row for each."""
    import torch
    from torch.nn import functional as F

    from benchmarks.parts.timing import interleaved, row
    from explorer.spaces.volume.cube import cube_group
    from models.layers.convolution.volumes import GroupConv3d, LiftingConv3d

    rows = []
    for kind, name in LAYERS:
        group = cube_group(name)
        with torch.device("cpu"):  # the tables of a group are
            layer = (LiftingConv3d if kind == "lift" else GroupConv3d)(group, 1, 1).eval()
        layer = layer.to(torch.get_default_device())
        x = torch.randn(1, 1 if kind == "lift" else group.order, side, side, side)
        theta = layer.filters()[0].detach()

        def some(x: torch.Tensor = x, theta: torch.Tensor = theta) -> list[torch.Tensor]:
            return [F.conv3d(x, filters[None], padding=1) for filters in theta[:FEW]]

        def at_once(x: torch.Tensor = x, layer: torch.nn.Module = layer) -> torch.Tensor:
            return layer(x)

        def plain(x: torch.Tensor = x, theta: torch.Tensor = theta) -> torch.Tensor:
            return F.conv3d(x, theta, padding=1)

        with torch.inference_mode():
            peer, other = f"{group.order} plain convolutions", f"one with {group.order} channels"
            what = f"{kind} on {name}, {side}³"
            timed: dict[str, Callable[[], object]] = {what: at_once, peer: some, other: plain}
            times: dict[str, list[float]] = {name: [] for name in timed}
            end = time.perf_counter() + LONGEST
            while not times[what] or (len(times[what]) < rounds and time.perf_counter() < end):
                for name, found in interleaved(timed, 1, int(not times[what]), time.process_time).items():
                    times[name] += found
        times[peer] = [seconds * group.order / FEW for seconds in times[peer]]
        rows += [row(times, what, peer, TARGET), row(times, what, other, TARGET)]
    return rows


def main() -> None:
    for r in run(int(sys.argv[1]) if len(sys.argv) > 1 else SIDE):
        print(
            f"{r['what']:<16} {r['ms']:>9.0f} ms   {r['peer']:<22} {r['peer_ms']:>9.0f} ms   "
            f"ratio {r['ratio']:.2f}, at most {r['target']:g}"
        )


if __name__ == "__main__":
    main()
