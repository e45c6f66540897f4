"""Train a generator and a discriminator on a density that can be drawn.

Which of them learns, and by which loss of G, is one of the losses of the training: it can be exchanged while it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from explorer.work.progress import step
from explorer.work.training.course import Course, Loss
from models.layers.adversarial.densities import Densities
from models.layers.adversarial.losses import LOSSES, SATURATED, SQUARES, discriminator_loss, generator_loss
from models.layers.seeded import round_to_half, seeded
from models.training.adversarial.in_turn import D_ALONE, G_ALONE, falling
from models.training.learning import Progress, learning

EPOCH = 100  # rounds
BETAS = (0.5, 0.9)
TOLD = "Playing the rounds"
LEAST = 0.05  # of the learning rates, at the end


@dataclass(frozen=True, slots=True)
class Recipe:
    """The training of a pair: how often each half steps in a round, and at which rate.

    Attributes:
        settle: the share of the rounds, at the end, in which G stands still and D comes to its optimum.
    """

    loss: str = SATURATED
    d_steps: int = 1
    g_steps: int = 1
    rate: float = 2e-3
    g_rate: float = 2e-3
    batch: int = 128
    epochs: int = 20
    settle: float = 0.0


def optimizer_of(network: Densities, recipe: Recipe) -> torch.optim.Adam:
    """Return one optimizer of both halves; it moves the half that has gradients."""
    halves = ((network.discriminator, recipe.rate), (network.generator, recipe.g_rate))
    return torch.optim.Adam([{"params": list(half.parameters()), "lr": rate} for half, rate in halves], betas=BETAS)


def played(
    network: Densities, optimizer: torch.optim.Optimizer, recipe: Recipe, turns: str, chance: torch.Generator
) -> dict[str, float]:
    """Let D and G learn in the order of `turns`, such as "DDG", but for the last step, which the caller makes."""

    def made() -> Tensor:
        return network.generator(2 * torch.rand(recipe.batch, network.latent, generator=chance) - 1)

    def seen(fake: Tensor) -> Tensor:
        scores: nn.Module = network.discriminator
        return discriminator_loss(scores(network.data.draw(chance, recipe.batch)), scores(fake), recipe.loss)

    losses: dict[str, float] = {}
    for k, who in enumerate(turns):
        optimizer.zero_grad()
        if who == "D":
            with torch.no_grad():
                fake = made()
            loss = seen(fake)
            loss.backward()
        else:
            loss = generator_loss(network.discriminator(made()), recipe.loss)
            loss.backward(inputs=list(network.generator.parameters()))
        losses[who] = loss.item()
        if k + 1 < len(turns):
            optimizer.step()
    if "D" not in losses:
        with torch.no_grad():
            losses["D"] = seen(made()).item()
    return losses


def choices(recipe: Recipe) -> dict[str, Loss]:
    """Return what the training can be told to do, the recipe's own first; the functions are the losses of G."""
    names = (SQUARES,) if recipe.loss == SQUARES else (recipe.loss, *(n for n in LOSSES if n != recipe.loss))
    ways: dict[str, Loss] = {name: partial(generator_loss, loss=name) for name in names}
    return ways | {way: partial(generator_loss, loss=recipe.loss) for way in (D_ALONE, G_ALONE)}


def train(
    build: Callable[[], Densities],
    recipe: Recipe,
    epochs: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> tuple[Densities, Mapping[str, float]]:
    """Train a pair from nothing; the same seed gives the same parameters on the same kind of machine.

    At the end G stands still for a share of the rounds, so that D can come to its optimum. Parameters are rounded to
    half precision, so that a small file holds exactly what was judged.
    """
    epochs = recipe.epochs if epochs is None else epochs
    rounds = epochs * EPOCH
    with learning():
        network = seeded(build, seed).train()
        chance = torch.Generator().manual_seed(seed)
        optimizer = optimizer_of(network, recipe)
        course = Course(
            network, optimizer, falling(LEAST), chance, epochs=epochs, steps=EPOCH, losses=choices(recipe),
            judge=_figures, progress=progress, told="-V {:.4f}".format,
        )  # fmt: skip
        for _ in course:
            way = course.loss_name
            last = course.at >= rounds * (1 - recipe.settle)
            learned = "G" if way == G_ALONE else "D" * recipe.d_steps + "G" * recipe.g_steps * (not last)
            learned = learned.replace("G", "") if way == D_ALONE else learned
            by = recipe.loss if way in (D_ALONE, G_ALONE) else way
            losses = played(network, optimizer, _with_loss(recipe, by), learned, chance)
            # what is made small: the better G does against a D that stands still, the larger D's own loss
            course.descend(losses["G" if way == G_ALONE else "D"], parts=losses)
        round_to_half(network)
        network.eval()
        return network, dict(network.figures())


def _with_loss(recipe: Recipe, loss: str) -> Recipe:
    return Recipe(loss, recipe.d_steps, recipe.g_steps, recipe.rate, recipe.g_rate, recipe.batch)


def _figures(network: nn.Module) -> dict[str, float]:
    assert isinstance(network, Densities)
    return dict(network.figures())


def by_turns(
    network: Densities, recipe: Recipe, rounds: int, turns: str, seed: int, part: tuple[float, float] = (0.0, 1.0)
) -> None:
    """Let a pair learn at constant rates.

    Args:
        part: from which share of all that is done to which, for those who wait.
    """
    chance, optimizer = torch.Generator().manual_seed(seed), optimizer_of(network, recipe)
    for k in range(rounds):
        step(TOLD, part[0] + (part[1] - part[0]) * k / rounds)
        played(network, optimizer, recipe, turns, chance)
        optimizer.step()
