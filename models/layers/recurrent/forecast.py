"""A network that answers at each step from the summary of a recurrent layer, and what the cards of such networks share.

The answer is y(t) = V h(t) + a (Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.7).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.declare.telling.equations import Equation, at_step, fixed
from explorer.spaces.sequence.network.form import SequenceInput
from models.layers.recurrent.recurrence import STARTS, Recurrence
from models.layers.seeded import seeded

INPUT = SequenceInput(channels=1)
UNITS = Param("units", "Units", 16, 4, 32, whole=True)
START = Param("start", "Initial state", 1, 0, 1, choices=STARTS)


class Forecast(nn.Module):
    """An answer at each step from the summary of all values up to now, V h(t) + a; (T, inputs) -> (T, outputs)."""

    def __init__(self, recurrent: nn.Module, units: int, outputs: int = 1) -> None:
        super().__init__()
        self.recurrent = recurrent
        self.prediction = nn.Linear(units, outputs)

    equations = (Equation(at_step("prediction", "y⁽ᵗ⁾"), fixed("V") @ at_step("recurrent", "h⁽ᵗ⁾") + fixed("a")),)

    @property
    def constants(self) -> Mapping[str, Tensor]:
        """Return V and a."""
        return {"V": self.prediction.weight, "a": self.prediction.bias}

    def forward(self, x: Tensor) -> Tensor:
        return self.prediction(self.recurrent(x))

    def batched(self, x: Tensor) -> Tensor:
        """Return the predictions for many sequences, for training; (B, T, inputs) -> (B, T, outputs)."""
        batched: Any = self.recurrent.batched
        return self.prediction(batched(x))


def forecast(
    layer: type[Recurrence],
    units: float = 16,
    start: float = 1,
    alpha: float = 1.0,
    inputs: int = 1,
    outputs: int = 1,
    **settings: Any,
) -> Forecast:
    """Build a network that answers at each step from one recurrent layer of `units`."""

    def network() -> Forecast:
        recurrent = layer(inputs, int(units), STARTS[int(start)], **settings)
        recurrent.alpha = alpha
        return Forecast(recurrent, int(units), outputs)

    return seeded(network)


def weight_matrices(model: nn.Module) -> Mapping[str, Tensor]:
    """Return W and U of every recurrent layer, all blocks below each other."""
    found = {}
    for name, layer in model.named_modules():
        if isinstance(layer, Recurrence):
            found[f"{name} W"] = layer.weight_ih.detach()
            found[f"{name} U"] = (layer.gain * layer.weight_hh).detach()
    return found


sequence_card = partial(
    Card,
    domain="sequence",
    input=INPUT,
    groups=("shift",),
    sample="sine",
    matrix=weight_matrices,
    params=(UNITS, START),
)
