"""Train networks on whole molecules: boiling points of the alkanes from their carbon skeletons.

The forty alkanes of one to eight carbons are real and few: a fifth of them is held out, and the error on these is
set beside a straight line through the number of carbons and the Wiener index, which is what was known in 1947.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.spaces.graph.chemistry.boiling_points import Alkane, alkanes, wiener
from explorer.work.training.course import Course, Loss
from models.layers.seeded import round_to_half, seeded
from models.training.learning import Progress, learning, one_cycle

CHANNELS, CARBON = 8, 1  # columns of the "atoms" features, and which of them is carbon
BOND_KINDS = 4  # the first of them is a single bond
FOLDS = 5
HELD = 3  # the fold that the shipped weights have not seen
ALWAYS = 3  # methane, ethane and propane are never held out: nothing like them would be left to learn from


@dataclass(frozen=True, slots=True)
class Recipe:
    """The training of a network: every step sees all molecules that are not held out."""

    head: str  # the last linear layer, which is made to speak in °C
    bonds: bool = False  # the network also takes edge_attr
    steps: int = 1000
    rate: float = 3e-3
    decay: float = 1e-2


def fold(k: int) -> tuple[list[Alkane], list[Alkane]]:
    """Return (learned, held out): every fifth from butane on is held out, of a table that is ordered by size."""
    table = alkanes()
    held = table[ALWAYS + k :: FOLDS]
    return [a for a in table if a not in held], list(held)


def together(molecules: Sequence[Alkane], bonds: bool = False) -> tuple[Tensor, ...]:
    """Return x (N, 8), edge_index (2, E), with `bonds` edge_attr (E, 4), and batch (N,) of several molecules."""
    sizes = torch.tensor([a.carbons for a in molecules])
    start = sizes.cumsum(0) - sizes
    pairs = [torch.tensor(a.bonds, dtype=torch.long).reshape(-1, 2) + s for a, s in zip(molecules, start)]
    one_way = torch.cat(pairs).T
    index = torch.cat([one_way, one_way.flip(0)], dim=1)
    x = torch.zeros(int(sizes.sum()), CHANNELS)
    x[:, CARBON] = 1.0
    batch = torch.arange(len(molecules)).repeat_interleave(sizes)
    if not bonds:
        return x, index, batch
    kinds = torch.zeros(index.shape[1], BOND_KINDS)
    kinds[:, 0] = 1.0
    return x, index, kinds, batch


def boiling(molecules: Sequence[Alkane]) -> Tensor:
    """Return (molecules, 1) boiling points in °C."""
    return torch.tensor([[a.boiling] for a in molecules])


def train(
    build: Callable[[], nn.Module],
    recipe: Recipe,
    epochs: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    held: int = HELD,
) -> tuple[nn.Module, dict[str, float]]:
    """Build a network, train it on the alkanes outside one fold and return it with its mean errors in °C.

    An epoch is a hundred steps. The network learns standardised values; their scale is folded into its last layer.
    Parameters are rounded to half precision where the errors are judged, so that a small file holds what was judged.
    """
    epochs = recipe.steps // 100 if epochs is None else epochs
    learned, _ = fold(held)
    with learning():
        network = seeded(build, seed)
        inputs, target = together(learned, recipe.bonds), boiling(learned)
        mean, scale = target.mean(), target.std()
        target = (target - mean) / scale
        optimizer = torch.optim.AdamW(network.parameters(), lr=recipe.rate, weight_decay=recipe.decay)
        network.train()
        losses: dict[str, Loss] = {
            "Huber": partial(F.huber_loss, delta=0.2),
            "squared error": F.mse_loss,
            "absolute error": F.l1_loss,
        }
        course = Course(
            network, optimizer, one_cycle(), epochs=epochs, steps=100, losses=losses, progress=progress,
            told="loss {:.5f}".format,
        )  # fmt: skip
        for _ in course:
            course.learn(course.loss(network(*inputs), target), clip=1.0)
        head = network.get_submodule(recipe.head)
        assert isinstance(head, nn.Linear)
        with torch.no_grad():
            head.weight.mul_(scale)
            head.bias.mul_(scale).add_(mean)
            round_to_half(network)
        network.eval()
        return network, {**errors(network, recipe, held), "baseline_error": baseline(held)}


def errors(network: nn.Module, recipe: Recipe, held: int = HELD) -> dict[str, float]:
    """Return the mean absolute errors in °C on the molecules that were learned and on those held out."""
    with torch.no_grad():
        learned_error, test_error = (
            float((network(*together(part, recipe.bonds)) - boiling(part)).abs().mean()) for part in fold(held)
        )
    return {"learned_error": learned_error, "test_error": test_error}


def baseline(held: int = HELD, terms: int = 2) -> float:
    """Return the mean error in °C, on the same molecules, of a linear regression on carbons and Wiener index.

    `terms` 1 leaves the Wiener index out.
    """
    learned, judged = fold(held)
    solution = np.linalg.lstsq(_described(learned, terms), boiling(learned)[:, 0].double().numpy(), rcond=None)[0]
    apart = _described(judged, terms) @ solution - boiling(judged)[:, 0].double().numpy()
    return float(np.abs(apart).mean())


def _described(molecules: Sequence[Alkane], terms: int) -> NDArray[np.float64]:
    rows = [(1.0, float(a.carbons), float(wiener(a))) for a in molecules]
    return np.array(rows)[:, : terms + 1]


def cross_validated(build: Callable[[], nn.Module], recipe: Recipe, seed: int = 0) -> float:
    """Return the mean error in °C over the alkanes from butane on, each held out once."""
    found = [train(build, recipe, seed=seed, held=k)[1]["test_error"] for k in range(FOLDS)]
    return float(np.average(found, weights=[len(fold(k)[1]) for k in range(FOLDS)]))


def measured(parameters: int, found: Mapping[str, float], crossed: float) -> tuple[str, ...]:
    """Return the notes of a card with shipped weights (seed 0): what it learned, and its errors beside a line's."""
    return (
        f"{parameters:,} parameters, trained on the boiling points of 32 of the 40 alkanes of up to 8 carbons "
        f"(Wiener, 1947). Mean error on the 8 held out {found['test_error']:.1f} °C, on those learned "
        f"{found['learned_error']:.1f} °C; a line through carbons and Wiener index errs by "
        f"{found['baseline_error']:.1f} °C on the same 8. With each fifth held out in turn: {crossed:.1f} °C.",
        "The output is a boiling point in °C, with the readout by a sum. It has seen carbons and single bonds alone: "
        "what it says of other molecules means nothing.",
    )
