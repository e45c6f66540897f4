"""Train networks on the sphere: which of four solids is seen from within? Learned upright, judged in every position.

Each solid is stretched anew along its three axes, and its coefficients get noise. Nothing is turned while a network
learns.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from explorer.spaces.sphere.samples.solids import NAMES, solid
from explorer.work.training.course import Course
from explorer.work.training.losses import CLASSES
from models.layers.seeded import round_to_half, seeded
from models.training.learning import Progress, learning, one_cycle

STEPS, BATCH, RATE, DECAY = 600, 32, 1e-2, 1e-4
STEPS_AN_EPOCH = 50
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
    epochs = STEPS // STEPS_AN_EPOCH if epochs is None else epochs
    with learning():
        x, kinds = solids(KNOWN, 1)
        network = seeded(build, seed)
        generator = torch.Generator().manual_seed(seed)
        optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
        network.train()
        course = Course(
            network, optimizer, one_cycle(0.2), generator, epochs=epochs, steps=STEPS_AN_EPOCH, losses=CLASSES,
            progress=progress,
        )  # fmt: skip
        for _ in course:
            chosen = torch.randint(KNOWN, (BATCH,), generator=generator)
            course.learn(course.loss(network(x[chosen]), kinds[chosen]))
        network.eval()
        round_to_half(network)
        return network, shares(network)


def shares(network: nn.Module, count: int = JUDGED) -> dict[str, float]:
    """Return the share of solids that are named right: upright, and turned by any rotation."""
    found = {}
    for k, turns in enumerate(TURNS):
        x, kinds = solids(count, 100 + k, turned=bool(k))
        with torch.no_grad():
            right = torch.cat([network(part).argmax(1) for part in x.split(100)]) == kinds
        found[turns] = float(right.double().mean())
    return found


def measured(found: tuple[float, float]) -> tuple[str, ...]:
    """Return the notes of a card with shipped weights."""
    upright, turned = (f"{100 * share:.1f} %" for share in found)
    return (
        f"trained on {KNOWN} upright solids; named right of {JUDGED} others: {upright} upright, {turned} turned by any "
        "rotation.",
    )
