"""Letters that are repeated: what a network without gates, with constant gates and with computed gates makes of a warp.

Tallec, Ollivier, "Can recurrent neural networks warp time?", 2018, experiments and figure 1: which letter was the one
before the present one? Undisturbed, one step of memory will do. When every letter is repeated k times, time runs k
times slower, and it takes a network with another, constant pace: leaky units. When each letter is repeated 1 to k
times, anew for every letter, the pace changes, and it must be computed from the data: gates.

No letter follows itself, so that "the letter before" is well defined. Gates start as chrono initialisation has it, with
forgetting times of 2 to k steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.spaces.sequence.network.form import SequenceInput
from explorer.spaces.sequence.samples import tasks
from models.layers.recurrent.chrono import chrono_
from models.layers.recurrent.forecast import START, Forecast, forecast, sequence_card
from models.layers.recurrent.leaky_gated import ALPHA, GatedRNN, LeakyRNN
from models.layers.recurrent.recurrence import Recurrence, recurrence_of
from models.layers.recurrent.simple_rnn import SimpleRNN
from models.training.learning import Progress
from models.training.sequences.computed import Recipe, judged_by, train

LETTERS = tasks.WARPED
LABELS = (*LETTERS, "none")
KINDS: dict[str, type[Recurrence]] = {"warp-rnn": SimpleRNN, "warp-leaky": LeakyRNN, "warp-gated": GatedRNN}
UNITS = 48
STEPS = 100
MOST = 32
COUNT = 500


def build(name: str, units: int = UNITS, longest: float = MOST, start: float = 0, alpha: float = 1.0) -> Forecast:
    """Build the network of a card; the gates' forgetting times are spread over 2 to `longest` steps."""
    network = forecast(KINDS[name], units, start, alpha, len(LETTERS), len(LABELS))
    layer = recurrence_of(network)
    if layer.paced:
        chrono_(layer, max(3.0, longest), torch.Generator().manual_seed(0))
    return network


def drawn(
    chance: np.random.Generator, count: int, most: int = MOST, even: bool = False, steps: int = STEPS
) -> tuple[Tensor, Tensor]:
    """Draw letters with the letter before, NOTHING before the second one; (B, T, 10), (B, T)."""
    x, wanted = tasks.warped(chance, count, steps, most, even)
    return torch.tensor(x), torch.tensor(wanted)


def loss(network: Any, x: Tensor, wanted: Tensor) -> Tensor:
    """Return the mean cross-entropy over all steps, in nats."""
    return F.cross_entropy(network.batched(x).flatten(0, 1), wanted.flatten())


def judge(network: Any) -> dict[str, float]:
    """Return the share of steps answered right: at a changing pace, and where every letter stands for 16 steps."""
    found = {}
    for name, most, even in (("changing", MOST, False), ("even", MOST // 2, True)):
        x, wanted = drawn(judged_by(), COUNT, most, even)
        found[name] = float((network.batched(x).argmax(-1) == wanted).double().mean())
    return found


RECIPE = Recipe(
    epochs=30, batch=32, rate=1e-3, clip=float("inf"), optimizer=partial(torch.optim.RMSprop, alpha=0.9), steady=True
)


def trained(
    name: str, epochs: int | None = None, seed: int = 0, progress: Progress | None = None
) -> tuple[nn.Module, Mapping[str, float]]:
    """Train the network of a card at a changing pace, from the zero state."""
    return train(partial(build, name), drawn, loss, judge, RECIPE, epochs, seed, progress)


_TRAINED = "30 epochs of 100 iterations, 32 sequences of 100 steps each. Right of the steps of 500 new ones, letters"
_SLOW = "Answers at a quarter of the pace, from those that are expected:"
NOTES = {
    "warp-rnn": (
        f"3,419 parameters, {_TRAINED} standing 1 to 32 steps: 50.2 %, 16 steps: 59.3 %.",
        f"{_SLOW} 0.669.",
    ),
    "warp-leaky": (
        f"3,467 parameters, {_TRAINED} standing 1 to 32 steps: 87.5 %, 16 steps: 97.4 %.",
        f"{_SLOW} 0.814 as it is, 0.123 with α = 0.25.",
    ),
    "warp-gated": (
        f"6,299 parameters, {_TRAINED} standing 1 to 32 steps: 95.9 %, 16 steps: 99.2 %.",
        f"{_SLOW} 1.144 as it is, 0.198 with α = 0.25.",
    ),
}
_REFERENCE = (
    'Tallec, Ollivier, "Can recurrent neural networks warp time?", 2018, experiments; '
    'Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.8, eq. (49)-(53)'
)
ZERO_START = replace(START, default=0.0)  # they were trained from there
_card = partial(
    sequence_card,
    groups=(),
    reference=_REFERENCE,
    input=SequenceInput(channels=len(LETTERS), kind="tokens"),
    sample="changing-warp",
    labels=LABELS,
)

CARD = (
    _card(
        name="warp-rnn",
        title="No gates: the letter before, under a warp",
        rows=("R4",),
        equation="h⁽ᵗ⁾ = tanh( W z⁽ᵗ⁾ + U h⁽ᵗ⁻¹⁾ + b )\nγ = 1 at every step",
        summary=(
            "Which letter was the one before the present one, where each stands for 1 to 32 steps? All of the state is "
            "written anew at each step: nothing in the network can be slowed down when the letters are. Rescale time "
            "and see the answers fail; no factor helps."
        ),
        build=partial(build, "warp-rnn"),
        params=(ZERO_START,),
        weights="warp-rnn.safetensors",
        train=partial(trained, "warp-rnn"),
        source=(SimpleRNN, Recurrence),
        notes=NOTES["warp-rnn"],
    ),
    _card(
        name="warp-leaky",
        title="Constant gates: the letter before, under a warp",
        rows=("R4",),
        equation=(
            "h⁽ᵗ⁾ = γ ⊙ tanh( W z⁽ᵗ⁾ + U h⁽ᵗ⁻¹⁾ + b ) + (1 − γ) ⊙ h⁽ᵗ⁻¹⁾\nγ = logistic(λ),   one constant for each unit"
        ),
        summary=(
            "The same task with one pace for each unit, learned once for all. Rescale time by 0.5 and see the answers "
            "fail; then set α to 0.5, which halves the gates that ρ(g)x meets, and see them follow."
        ),
        build=partial(build, "warp-leaky"),
        params=(ZERO_START, ALPHA),
        weights="warp-leaky.safetensors",
        train=partial(trained, "warp-leaky"),
        source=(LeakyRNN, Recurrence),
        notes=NOTES["warp-leaky"],
    ),
    _card(
        name="warp-gated",
        title="Computed gates: the letter before, under a warp",
        rows=("R4",),
        equation=(
            "h⁽ᵗ⁾ = Γ⁽ᵗ⁾ ⊙ tanh( W z⁽ᵗ⁾ + U h⁽ᵗ⁻¹⁾ + b ) + (1 − Γ⁽ᵗ⁾) ⊙ h⁽ᵗ⁻¹⁾\n"
            "Γ⁽ᵗ⁾ = logistic( W_Γ z⁽ᵗ⁾ + U_Γ h⁽ᵗ⁻¹⁾ + b_Γ )  ≈  dτ/dt"
        ),
        summary=(
            "The same task with a pace that is computed at each step. In recurrent.gate see the gates change where a "
            "new letter begins, and come to rest while it stands: the network finds the warp in the data alone. "
            "Rescale time by 0.25, then set α to 0.25 as well."
        ),
        build=partial(build, "warp-gated"),
        params=(ZERO_START, ALPHA),
        weights="warp-gated.safetensors",
        train=partial(trained, "warp-gated"),
        source=(GatedRNN, Recurrence),
        notes=NOTES["warp-gated"],
    ),
)
