"""The adding task: remember two marked values for as long as it takes, with two starts of the same training.

Hochreiter, Schmidhuber, "Long Short-Term Memory", 1997, experiment 4, as in Tallec, Ollivier, "Can recurrent neural
networks warp time?", 2018, experiments: at each step a value and a mark, two steps marked, and at the end the sum of
the two marked values. Whoever always says 1 is wrong by 1/6 in the mean square, and a network that forgets after a few
steps finds nothing better. With chrono initialisation the gradient reaches the marks from the first iteration on.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from explorer.spaces.sequence.network.form import SequenceInput
from explorer.spaces.sequence.samples import tasks
from models.layers.recurrent.chrono import chrono_, standard_
from models.layers.recurrent.forecast import Forecast, forecast, sequence_card
from models.layers.recurrent.lstm import LSTM
from models.layers.recurrent.recurrence import recurrence_of
from models.training.learning import Progress
from models.training.sequences.computed import Recipe, judged_by, train

STEPS = 200
UNITS = 32
COUNT = 1000
CHANNELS = ("value", "mark")
RECIPE = Recipe(
    epochs=44, batch=50, rate=1e-3, clip=float("inf"), optimizer=partial(torch.optim.RMSprop, alpha=0.9), steady=True
)


def build(name: str, units: int = UNITS, longest: float = STEPS) -> Forecast:
    """Build an LSTM with the start of a card: chrono for dependencies of up to `longest` steps, or the usual one."""
    network = forecast(LSTM, units, start=0, inputs=len(CHANNELS))
    layer = recurrence_of(network)
    assert isinstance(layer, LSTM)
    if name == "adding-chrono":
        chrono_(layer, longest, torch.Generator().manual_seed(0))
    else:
        standard_(layer)
    return network


def drawn(chance: np.random.Generator, count: int, steps: int = STEPS) -> tuple[Tensor, Tensor]:
    """Draw values and marks with the sum; (B, T, 2), (B,)."""
    x, total = tasks.adding(chance, count, steps)
    return torch.tensor(x), torch.tensor(total)


def loss(network: Any, x: Tensor, total: Tensor) -> Tensor:
    """Return the mean squared error of what is said after the last step."""
    return (network.prediction(network.recurrent.batched(x)[:, -1])[:, 0] - total).square().mean()


def judge(network: Any) -> dict[str, float]:
    """Return the mean squared error on new sequences."""
    return {"error": float(loss(network, *drawn(judged_by(), COUNT)))}


def trained(
    name: str, epochs: int | None = None, seed: int = 0, progress: Progress | None = None
) -> tuple[nn.Module, Mapping[str, float]]:
    """Train the network of a card as the paper does: RMSprop, no clipping, the rate as it is."""
    return train(partial(build, name), drawn, loss, judge, RECIPE, epochs, seed, progress)


NOTES = {
    "adding-standard": (
        "4,641 parameters, 44 epochs of 100 iterations, 50 sequences of 200 steps each, RMSprop, no clipping. Mean "
        "squared error on 1,000 new sequences: 0.163; saying 1 always has 0.167. It begins to learn after some 4,800.",
        "With 128 units, as published, the usual start has 0.1665 after 6,000 iterations, and was never below 0.16.",
    ),
    "adding-chrono": (
        "4,641 parameters, 44 epochs of 100 iterations, 50 sequences of 200 steps each, RMSprop, no clipping. Mean "
        "squared error on 1,000 new sequences: 0.024; saying 1 always has 0.167. It begins to learn after some 1,900.",
        "With 128 units, as published, chrono has 0.0046 after 6,000 iterations, and is below 0.16 from 2,000 on.",
    ),
}

_card = partial(
    sequence_card,
    rows=("R4",),
    groups=(),  # both begin at zero, and the state that zeros lead to is none that they were trained from
    reference=(
        'Tallec, Ollivier, "Can recurrent neural networks warp time?", 2018, experiments; '
        'Hochreiter, Schmidhuber, "Long Short-Term Memory", 1997, experiment 4'
    ),
    input=SequenceInput(channels=len(CHANNELS)),
    sample=f"adding-{STEPS}",
    params=(),
)

CARD = (
    _card(
        name="adding-standard",
        title="Adding task, LSTM with the usual start",
        equation=(
            "y = V h⁽ᵀ⁾ + a  ≈  x⁽ˢ⁾ + x⁽ᵗ⁾,   marks at s and t\n"
            "b_f = 1,   b_i = 0\n1 / (1 − f) = 3.7   steps until forgotten"
        ),
        summary=(
            "Two of 200 values are marked, and after the last step their sum is to be said. This network started with "
            "forget gates at 1, as usual, and says 1 whatever it was shown. Put adding-chrono beside it: see the cell "
            "over time, and the gradient from the last step, which dies out before it reaches a mark."
        ),
        build=partial(build, "adding-standard"),
        weights="adding-standard.safetensors",
        train=partial(trained, "adding-standard"),
        source=(standard_, LSTM),
        notes=NOTES["adding-standard"],
    ),
    _card(
        name="adding-chrono",
        title="Adding task, LSTM with chrono initialisation",
        equation=("y = V h⁽ᵀ⁾ + a  ≈  x⁽ˢ⁾ + x⁽ᵗ⁾,   marks at s and t\nb_f = log u,   u ~ U(1, T − 1),   b_i = −b_f"),
        summary=(
            "The same network, examples and number of iterations as adding-standard; the biases alone began elsewhere, "
            "where units forget in 2 to 200 steps. See cells step up at each mark and stay, and the spectrum of "
            "forgetting times in Gates; select the last step, and the gradient reaches back to the marks."
        ),
        build=partial(build, "adding-chrono"),
        weights="adding-chrono.safetensors",
        train=partial(trained, "adding-chrono"),
        source=(chrono_, LSTM),
        notes=NOTES["adding-chrono"],
    ),
)
