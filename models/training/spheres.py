"""Train networks on the sphere: which of four solids is seen from within? Learned upright, judged in every position.

Each solid is stretched anew along its three axes, and its coefficients get noise. Nothing is turned while a network
learns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from explorer.spaces.sphere.samples.solids import NAMES, solid
from models.training.learning import Progress, learning
from models.training.upright import Recipe, learned, shares_of

RECIPE = Recipe(steps=600, batch=32, rate=1e-2, decay=1e-4)
KNOWN = 640  # solids that are learned
JUDGED = 400  # solids
NOISE, SIZES = 0.02, (0.85, 1.15)
TURNS = ("upright", "turned by any rotation")


def solids(count: int, seed: int, turned: bool = False) -> tuple[Tensor, Tensor]:
    """Return functions (count, 1, 49) and which solid each one is, of a stream of random numbers of their own."""
    from scipy.spatial.transform import Rotation

    rng = np.random.default_rng(seed)
    kinds = np.arange(count) % len(NAMES)
    made = []
    for kind in kinds:
        rotation = np.asarray(Rotation.random(rng=rng).as_matrix()) if turned else None
        made.append(solid(int(kind), rotation, rng.uniform(*SIZES, 3)))
    values = np.stack(made) + NOISE * rng.standard_normal((count, len(made[0])))
    return torch.from_numpy(values.astype(np.float32))[:, None], torch.from_numpy(kinds)


def train(
    build: Callable[[], nn.Module], epochs: int | None = None, seed: int = 0, progress: Progress | None = None
) -> tuple[nn.Module, dict[str, float]]:
    """Build a network, train it on upright solids, and return it with its shares of right answers."""
    with learning():
        network = learned(build, solids(KNOWN, 1), RECIPE, epochs, seed, progress)
        return network, shares(network)


def shares(network: nn.Module, count: int = JUDGED) -> dict[str, float]:
    """Return the share of solids that are named right: upright, and turned by any rotation."""
    return shares_of(network, {turns: partial(solids, turned=bool(k)) for k, turns in enumerate(TURNS)}, count, 100)


def measured(found: tuple[float, float]) -> tuple[str, ...]:
    """Return the notes of a card with shipped weights."""
    upright, turned = (f"{100 * share:.1f} %" for share in found)
    return (
        f"trained on {KNOWN} upright solids; named right of {JUDGED} others: {upright} upright, {turned} turned by any "
        "rotation.",
    )
