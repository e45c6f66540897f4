"""Judge networks that translate digits into outlines and back, by pairs that they have never seen."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import torch
from torch import Tensor

from explorer.spaces.grid.samples import digit_images
from explorer.spaces.grid.samples.digit_styles import FILLED, OUTLINED, read, styled

NEAR = 2  # pixels: no loss says where exactly a translated picture lies


def _through(network: Callable[[Tensor], Tensor], images: Tensor) -> Tensor:
    return torch.cat([network(part) for part in images.split(100)])


def _apart(one: Tensor, other: Tensor) -> float:
    return float((one - other).abs().mean())


def shift_of(made: Tensor, true: Tensor) -> tuple[int, int]:
    """Return by how many pixels right and down pictures lie from those that they should be, one shift for all."""
    steps = range(-NEAR, NEAR + 1)
    return min(product(steps, steps), key=lambda s: _apart(made, _shifted(true, s)))


def _shifted(images: Tensor, by: tuple[int, int], sign: int = 1) -> Tensor:
    return images.roll((sign * by[1], sign * by[0]), (2, 3))


def translation_figures(network: Any) -> dict[str, float]:
    """Return how 500 test digits are translated.

    right, down: pixels by which G shifts all pictures and which F takes back; what follows is without this shift.
    there, back: share of the translated pictures that are read as the other style and the same digit. kept: share of
    those there and back that are read as they were. cycle, cycle_back: mean |F(G(x)) - x| and |G(F(y)) - y|. pair,
    pair_back: mean distance from the digit as it really is in the other style. alone: that distance where nothing is
    translated.
    """
    digits, labels = digit_images.load("test")
    x, y = torch.tensor(digits), torch.from_numpy(styled(digits, OUTLINED))
    made_y, made_x = _through(network.to_outlined, x), _through(network.to_filled, y)
    there, back = shift_of(made_y, y), shift_of(made_x, x)
    there_and_back, back_and_there = _through(network.to_filled, made_y), _through(network.to_outlined, made_x)

    made_y, made_x = _shifted(made_y, there, -1), _shifted(made_x, back, -1)

    def right(images: Tensor, style: int) -> float:
        found = read(images.numpy())
        return float(((found[:, 0] == style) & (found[:, 1] == labels)).mean())

    return {
        "there": right(made_y, OUTLINED),
        "back": right(made_x, FILLED),
        "kept": right(there_and_back, FILLED),
        "cycle": _apart(there_and_back, x),
        "cycle_back": _apart(back_and_there, y),
        "right": float(there[0]),
        "down": float(there[1]),
        "pair": _apart(made_y, y),
        "pair_back": _apart(made_x, x),
        "alone": _apart(x, y),
    }
