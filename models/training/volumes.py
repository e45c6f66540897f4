"""Train networks on volumes: which of eight bodies of four cubes is it? Learned upright, judged in every position.

Each volume is drawn anew: the body is shifted by part of a voxel, made smaller or larger, and noise is added. Nothing
is turned while a network learns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from explorer.spaces.volume.cube import cube_group
from explorer.spaces.volume.samples.tetris import NAMES, SIDE, tetris
from models.training.learning import Progress, learning
from models.training.upright import Recipe, learned, shares_of

RECIPE = Recipe(steps=400, batch=16, rate=3e-3, decay=1e-3)
KNOWN = 640  # volumes that are learned
JUDGED = 240  # volumes
NOISE, SHIFT, SIZES = 0.1, 0.08, (0.9, 1.1)
TURNS = ("upright", "turned by the cube", "turned by any angle")


def volumes(count: int, seed: int, turns: str = "upright") -> tuple[Tensor, Tensor]:
    """Return volumes (count, 1, 13, 13, 13) and which body each one is, of a stream of random numbers of their own."""
    from scipy.spatial.transform import Rotation

    rng = np.random.default_rng(seed)
    kinds = np.arange(count) % len(NAMES)
    group = cube_group("O")
    made = np.zeros((count, 1, SIDE, SIDE, SIDE), np.float32)
    for k, kind in enumerate(kinds):
        rotation: NDArray[np.float64] | None = None
        if turns == TURNS[1]:
            rotation = group.matrices[int(rng.integers(group.order))]
        elif turns == TURNS[2]:
            rotation = Rotation.random(rng=rng).as_matrix()
        shift = rng.uniform(-SHIFT, SHIFT, 3)
        made[k, 0] = tetris(int(kind), rotation, shift, float(rng.uniform(*SIZES)))
    made += NOISE * rng.standard_normal(made.shape, np.float32)
    return torch.from_numpy(made), torch.from_numpy(kinds)


def train(
    build: Callable[[], nn.Module], epochs: int | None = None, seed: int = 0, progress: Progress | None = None
) -> tuple[nn.Module, dict[str, float]]:
    """Build a network, train it on upright bodies, and return it with its shares of right answers."""
    with learning():
        network = learned(build, volumes(KNOWN, 1), RECIPE, epochs, seed, progress)
        return network, shares(network)


def shares(network: nn.Module, count: int = JUDGED) -> dict[str, float]:
    """Return the share of bodies that are named right: upright, turned by the cube, turned by any angle."""
    return shares_of(network, {turns: partial(volumes, turns=turns) for turns in TURNS}, count, 60)


def measured(found: tuple[float, float, float]) -> tuple[str, ...]:
    """Return the notes of a card with shipped weights."""
    upright, cube, angle = (f"{100 * share:.1f} %" for share in found)
    return (
        f"trained on {KNOWN} upright bodies of four cubes; named right of {JUDGED} others: {upright} upright, {cube} "
        f"turned by rotations of the cube, {angle} by any angle.",
    )
