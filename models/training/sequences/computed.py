"""Train and judge networks on sequences whose right answer can be computed: one loop for all of them.

Examples are drawn anew for every step (explorer.spaces.sequence.samples.tasks), so that nothing can be learned by
heart; what a network is judged on is drawn from another seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from explorer.work.training.course import Course
from models.layers.seeded import round_to_half, seeded
from models.training.learning import Progress, learning, one_cycle

EPOCH = 100  # steps
TEST_SEED = 1_000_003  # no training has this seed by chance
Network = TypeVar("Network", bound=nn.Module)
Drawn = tuple[Tensor, ...]


@dataclass(frozen=True, slots=True)
class Recipe:
    """The training of a network: epochs of 100 steps of Adam, the rate rising once and falling to nothing.

    With `steady` the rate stays as it is; `clip` is the longest gradient, infinite for any.
    """

    epochs: int = 30
    batch: int = 64
    rate: float = 4e-3
    clip: float = 1.0
    optimizer: Callable[..., torch.optim.Optimizer] = torch.optim.Adam
    steady: bool = False


def train(
    build: Callable[[], Network],
    draw: Callable[[np.random.Generator, int], Drawn],
    loss: Callable[..., Tensor],
    judge: Callable[[Network], Mapping[str, float]],
    recipe: Recipe,
    epochs: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> tuple[Network, dict[str, float]]:
    """Build a network, train it and return it with what `judge` says of it.

    `draw(generator, count)` gives a batch, `loss(network, *batch)` is what is made small. The same seed gives the same
    parameters on the same kind of machine; the global random state is left alone. Parameters are rounded to half
    precision at the end, so that a small file holds exactly what was judged. `progress(epoch, epochs, text)` is called
    after every epoch; what it raises ends the training.
    """
    epochs = recipe.epochs if epochs is None else epochs
    # the caller may be looking at another network without gradients
    with learning():
        network = seeded(build, seed).train()
        chance = np.random.default_rng(seed)
        optimizer = recipe.optimizer(network.parameters(), lr=recipe.rate)
        schedule = None if recipe.steady else one_cycle(0.2)
        course = Course(network, optimizer, schedule, chance, epochs=epochs, steps=EPOCH, progress=progress)
        for _ in course:
            course.learn(loss(network, *draw(chance, recipe.batch)), clip=recipe.clip)
        round_to_half(network)
        network.eval()
        with torch.no_grad():
            return network, dict(judge(network))


def judged_by() -> np.random.Generator:
    """Return the generator that examples to judge by are drawn from."""
    return np.random.default_rng(TEST_SEED)


def right(found: Tensor, wanted: Tensor) -> tuple[float, float]:
    """Return how many steps are right, and how many sequences are right from end to end; (B, T), (B, T) of ints."""
    same = found == wanted
    return float(same.double().mean()), float(same.all(-1).double().mean())
