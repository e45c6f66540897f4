"""Hold the last pulse: a task on which gates can be read, for the recurrent networks that are shown with it.

Pulses of 0.5 to 1.5 stand in noise (explorer.spaces.sequence.samples.tasks.held); at every step the height of the
last one is asked for. Between two pulses nothing of the state may be replaced, and at a pulse all of it: gates that do
this open at pulses and are shut in between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from explorer.spaces.sequence.samples import tasks
from models.training.learning import Progress
from models.training.sequences.computed import Recipe, judged_by, train

SAMPLE = "held-pulses"
STEPS = 64
COUNT = 500
RECIPE = Recipe(epochs=24, batch=48, rate=1e-2)


_TRAINED = "24 epochs of 100 steps, 48 sequences of 64 steps each. Error (root mean square) on 500 new ones:"
_MEAN = "saying the mean has 0.473. Contraction at the fixed point:"
NOTES = {
    "simple-rnn": (f"321 parameters, {_TRAINED} 0.211; {_MEAN} 0.915, so that a pulse is forgotten.",),
    "lstm": (f"1,233 parameters, {_TRAINED} 0.119; {_MEAN} 0.969.",),
    "gru": (f"929 parameters, {_TRAINED} 0.039; {_MEAN} 0.9999.",),
}


def drawn(chance: np.random.Generator, count: int) -> tuple[Tensor, Tensor]:
    """Draw pulses in noise with what is to be held; (B, T, 1) twice."""
    x, wanted = tasks.held(chance, count, STEPS)
    return torch.tensor(x), torch.tensor(wanted)


def loss(network: Any, x: Tensor, wanted: Tensor) -> Tensor:
    """Return the mean squared error over all steps."""
    return (network.batched(x) - wanted).square().mean()


def judge(network: Any) -> dict[str, float]:
    """Return root mean squared errors: of the network, and of one that always says the mean."""
    x, wanted = drawn(judged_by(), COUNT)
    return {"error": float(loss(network, x, wanted).sqrt()), "saying_the_mean": float(wanted.std())}


def trained(
    build: Callable[..., nn.Module], epochs: int | None = None, seed: int = 0, progress: Progress | None = None
) -> tuple[nn.Module, Mapping[str, float]]:
    """Train what `build` makes, from its fixed point, which is found anew at each iteration."""
    return train(build, drawn, loss, judge, RECIPE, epochs, seed, progress)
