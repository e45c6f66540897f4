"""Judge the two stages of a network that draws digits in a style, as a caption says."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from explorer.spaces.grid.samples.digit_styles import NUMBERS, STYLES, all_styles, read
from models.training.adversarial.quality import features, frechet

MADE = 900
BATCH = 150


def _rounded(value: float) -> float:
    return round(value, 4)


def stack_figures(network: Any) -> dict[str, float]:
    """Return how many of 900 pictures are what was ordered, as the nearest training picture of their size is named.

    first, second: of each stage, style and digit both; style and digit of the second alone. distance: the Fréchet
    distance of each stage from the test digits, the first enlarged, and of training digits from them.
    """
    number = torch.arange(MADE) % (len(STYLES) * len(NUMBERS))
    wanted = torch.stack([number // len(NUMBERS), number % len(NUMBERS)], 1)
    chance = torch.Generator().manual_seed(0)
    pairs = [network.made(part, chance) for part in wanted.split(BATCH)]
    first, second = (torch.cat(stage) for stage in zip(*pairs, strict=True))
    right = {}
    for name, images in (("first", first), ("second", second)):
        found = torch.from_numpy(read(images.numpy())) == wanted
        right[name] = _rounded(float(found.all(1).double().mean()))
        right[f"{name}_style"], right[f"{name}_digit"] = map(_rounded, found.double().mean(0).tolist())
    enlarged = torch.nn.functional.interpolate(first, second.shape[2:], mode="bilinear", align_corners=True)
    test, learned = (features(torch.tensor(all_styles(split)[0])) for split in ("test", "train"))
    apart: dict[str, Tensor] = {"first": features(enlarged), "second": features(second), "data": learned}
    return right | {f"frechet_{name}": _rounded(frechet(made, test)) for name, made in apart.items()}
