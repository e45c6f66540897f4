"""The simplest recurrent layer: the state is computed anew from the input and the state before it.

Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.7, eq. (39); Elman, "Finding Structure
in Time", 1990:

    h(t) = sigma(W z(t) + U h(t-1) + b)
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from explorer.declare.telling.equations import Equation, at_step, relu, tanh
from models.layers.recurrent.fixed_point import States
from models.layers.recurrent.recurrence import FIXED, Recurrence, Room

ACTIVATIONS = ("tanh", "relu")


class SimpleRNN(Recurrence):
    """h(t) = sigma(W z(t) + U h(t-1) + b), eq. (39), torch.nn.RNN; (T, inputs) -> (T, units).

    With a `gain` U is so many times weight_hh, which starts orthogonal: with a gain below 1 R(0, .) is a contraction
    then. The gain is no parameter and stays what it is when weights are read.
    """

    def __init__(
        self,
        inputs: int,
        units: int,
        start: str = FIXED,
        reverse: bool = False,
        activation: str = "tanh",
        gain: float | None = None,
    ) -> None:
        super().__init__(inputs, units, start, reverse)
        if activation not in ACTIVATIONS:
            raise ValueError(f"activation must be one of {', '.join(ACTIVATIONS)}, not {activation!r}")
        self.activation = activation
        self.gain = 1.0 if gain is None else gain
        if gain is not None:
            nn.init.orthogonal_(self.weight_hh)

    @property
    def equations(self) -> tuple[Equation, ...]:
        return (Equation(at_step("hidden", "h⁽ᵗ⁾"), (tanh if self.activation == "tanh" else relu)(self.drive())),)

    @property
    def constants(self) -> Mapping[str, Tensor]:
        """Return what stands in the equation; U with its gain."""
        found = super().constants
        return {**found, "U": self.gain * found["U"]}

    def step(self, given: Tensor, state: States, room: Room | None = None) -> States:
        into = room[0] if room else None
        z = self.driven(given, state[0], into)
        if self.activation == "tanh":
            return (torch.tanh(z, out=into),)
        return (torch.relu(z) if into is None else torch.clamp_min(z, 0.0, out=into),)
