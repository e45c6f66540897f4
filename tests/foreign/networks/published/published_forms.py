"""Networks in styles of the literature, from files and on the data that the program itself finds for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tests.foreign.case import REFUSED, Case, Given, drawn
from tests.foreign.their_files import their_file

THEIRS = Path(__file__).parent / "theirs"


def made(file: str, name: str, **options: int) -> nn.Module:
    found: nn.Module = getattr(their_file(THEIRS / f"{file}.py"), name)(**options)
    return found


def both(
    file: str, name: str, culprit: str, given: Callable[[], Given], group: str, *out: str, **more: Any
) -> list[Case]:
    """Return a sound network, and the one with a fault."""
    door = f"{THEIRS / file}.py:{name}"
    sound = Case(name, partial(made, file, name), given, group, out, hooks=False, door=f"{door}(fault=0)", **more)
    faulty = sound.broken("a fault", partial(made, file, name, fault=1), *culprit.split(), door=f"{door}(fault=1)")
    return [sound, faulty]


def refused(file: str, name: str, tells: str, x: Tensor, group: str) -> Case:
    return Case(
        name, partial(made, file, name), lambda: Given((x,), ("fixed",)), group, ("fixed",), truth=REFUSED,
        tells=tells, door=f"{THEIRS / file}.py:{name}",
    )  # fmt: skip


def images(*channels: int, side: int = 16, step: int = 1) -> Given:
    return Given(tuple(drawn(1, c, side, side, seed=c) for c in channels), ("grid",) * len(channels), step=step)


def ids(*seeds: int) -> Given:
    made = (torch.randint(0, 30, (1, 40), generator=torch.Generator().manual_seed(s)) for s in seeds)
    return Given(tuple(made), ("steps@1",) * len(seeds))


def ring(nodes: int = 6) -> Tensor:
    at = torch.arange(nodes)
    return torch.stack([torch.cat([at, (at + 1) % nodes]), torch.cat([(at + 1) % nodes, at])])


def weighted() -> Given:
    weights = drawn(8, 8).abs()
    return Given((drawn(8, 5), weights + weights.t()), ("nodes", "pairs"))


def series(layout: str) -> Given:
    shape = {"NCT": (1, 1, 128), "NTC": (1, 128, 1)}[layout]
    return Given((drawn(*shape),), (f"steps@{layout.index('T')}",))


def styled() -> Given:
    return Given((drawn(1, 3, 16, 16), drawn(1, 12)), ("grid", "fixed"))


def conditioned() -> Given:
    x, t, y = drawn(2, 4, 16, 16), torch.tensor([0.5, 0.2]), torch.tensor([3, 1])
    return Given((x, t, y), ("grid", "fixed", "fixed"), step=2)


def placed(axis: int) -> Given:
    if axis == 0:
        return Given((drawn(6, 4), drawn(6, 3, seed=1), ring()), ("fixed", "places@1", "fixed"))
    return Given((drawn(1, 6, 5), drawn(1, 6, 3, seed=1)), ("fixed", "places@2"))


def members(width: int) -> Given:
    return Given((drawn(1, 12, width),), ("nodes@1",))


PICTURES = partial(both, "pictures")
SERIES = partial(both, "series")
RELATIONS = partial(both, "relations")
VECTOR = "no group moves a vector"
WINDOW = "INPUT_LAYOUT = 'CT', INPUT_CHANNELS = 1 and INPUT_STEPS = 20"
CASES = (
    *PICTURES("CodeBook", "decoder.3", partial(images, 3, side=32, step=4), "translation", "grid"),
    *PICTURES("Detector", "fpn.output.1", partial(images, 3, side=128, step=64), "translation",
              "grid@4", "grid@16", "grid@32", "grid@64"),
    *PICTURES("StyleTransfer", "noise2", styled, "translation", "grid"),
    *PICTURES("Patches", "x_embedder qkv", conditioned, "translation", "grid"),
    *PICTURES("HyperNet", "dynamic dynamic.gen", partial(images, 3), "translation", "grid"),
    *PICTURES("DeformNet", "c2", partial(images, 1), "translation", "grid"),
    *PICTURES("SmallRAFT", "corr", lambda: Given((drawn(1, 3, 16, 16), drawn(1, 3, 16, 16, seed=1)), ("grid",) * 2),
              "translation", "grid"),
    *PICTURES("FNO2d", "fc0", partial(images, 1), "translation", "grid"),
    *PICTURES("DEQ", "f.conv2 f.conv2#2 f.conv2#3 f.conv2#4 f.conv2#5 f.conv2#6 f.conv2#7 f.conv2#8 f.conv2#9 "
              "f.conv2#10 f.conv2#11 f.conv2#12", partial(images, 3), "translation", "grid"),
    *PICTURES("RealNVP", "couplings.1", partial(images, 3), "translation", "grid", "fixed"),
    *PICTURES("CapsNet", "routed.conv", partial(images, 1), "translation", "grid", "grid"),
    *PICTURES("SegNet", "mid", partial(images, 1, step=2), "translation", "grid"),
    refused("pictures", "Painter", VECTOR, drawn(1, 32), ""),
    *SERIES("TCN", "network.1.norm", partial(series, "NCT"), "shift", "steps@1", inside=29),
    *SERIES("S4Model", "s4_2", partial(series, "NTC"), "shift", "steps@1"),
    *SERIES("WaveNet", "blocks.2", partial(series, "NCT"), "shift", "steps@2", inside=17),
    *SERIES("TimeKAN", "kan2", partial(series, "NCT"), "circular-shift", "steps@1"),
    *SERIES("Letters", "c2", partial(ids, 0), "circular-shift", "steps@1"),
    *SERIES("Matching", "pos", partial(ids, 0, 1), "circular-shift", "fixed"),
    refused("series", "Residuals", WINDOW, drawn(1, 20), "shift"),
    *RELATIONS("Places", "gcl_1 gcl_1[1]", partial(placed, 0), "E3", "fixed", "places@1"),
    *RELATIONS("EGNNNetwork", "layers.1 layers.1[1]", partial(placed, 1), "E3", "fixed", "places@2"),
    *RELATIONS("SwitchTransformer", "moe2", partial(members, 3), "permutation", "nodes@1"),
    *RELATIONS("SlotNet", "slots", partial(members, 4), "permutation", "fixed"),
    *RELATIONS("GGNN", "gru gru#2", lambda: Given((drawn(6, 5), ring()), ("nodes", "index")), "permutation", "nodes"),
    *RELATIONS("GraphUNets", "up", weighted, "permutation", "nodes"),
    *RELATIONS("Walks", "", lambda: Given((drawn(6, 4), ring()), ("nodes", "index")), "permutation", "nodes"),
)  # fmt: skip
