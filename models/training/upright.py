"""Train networks on things that stand upright, and judge them in every position: nothing is turned while they learn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from explorer.work.training.course import Course
from explorer.work.training.losses import CLASSES
from models.layers.seeded import round_to_half, seeded
from models.training.learning import Progress, one_cycle

Made = Callable[[int, int], tuple[Tensor, Tensor]]  # (count, seed) -> things, and of which kind each one is


@dataclass(frozen=True, slots=True)
class Recipe:
    """Settings of a training: steps in all and in an epoch, things at a time, rate, decay of weights."""

    steps: int
    batch: int
    rate: float
    decay: float
    an_epoch: int = 50


def learned(
    build: Callable[[], nn.Module], known: tuple[Tensor, Tensor], recipe: Recipe, epochs: int | None, seed: int,
    progress: Progress | None,
) -> nn.Module:  # fmt: skip
    """Build a network and return it when it has learned the kinds of known things, its weights stored in halves."""
    x, kinds = known
    network = seeded(build, seed)
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(network.parameters(), lr=recipe.rate, weight_decay=recipe.decay)
    network.train()
    course = Course(
        network, optimizer, one_cycle(0.2), generator, steps=recipe.an_epoch, losses=CLASSES, progress=progress,
        epochs=recipe.steps // recipe.an_epoch if epochs is None else epochs,
    )  # fmt: skip
    for _ in course:
        chosen = torch.randint(len(x), (recipe.batch,), generator=generator)
        course.learn(course.loss(network(x[chosen]), kinds[chosen]))
    network.eval()
    round_to_half(network)
    return network


def shares_of(network: nn.Module, judged: Mapping[str, Made], count: int, at_once: int) -> dict[str, float]:
    """Return the share of things that are named right, {how they are turned: share}; the kth of seed 100 + k."""
    found = {}
    for k, (turns, made) in enumerate(judged.items()):
        x, kinds = made(count, 100 + k)
        with torch.no_grad():
            right = torch.cat([network(part).argmax(1) for part in x.split(at_once)]) == kinds
        found[turns] = float(right.double().mean())
    return found
