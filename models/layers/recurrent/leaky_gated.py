"""Leaky and gated networks: what a network needs to follow when time itself is stretched or warped.

Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.8, eq. (49)-(53), after Tallec,
Ollivier, "Can recurrent neural networks warp time?", 2018:

    h(t) = Gamma R(z(t), h(t-1)) + (1 - Gamma) h(t-1),    R(z, h) = tanh(W z + U h + b)

Gamma stands for dtau/dt, the pace of time. One constant for each unit (leaky) is enough for a rescaling of time; for a
warp it must be computed from the data (gated): Gamma = logistic(W_G z + U_G h + b_G). A SimpleRNN has Gamma = 1.

The equation is one step of Euler's method for dh/dtau = R(z, h) - h. A network at another pace is therefore followed up
to the discretisation floor, which is of the order of the gates.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import torch
from torch import Tensor, nn

from explorer.declare.params import Param
from explorer.declare.telling.equations import Equation, Number, Term, at_step, fixed, logistic, tanh
from models.layers.recurrent.fixed_point import States
from models.layers.recurrent.recurrence import FIXED, Recurrence, Room

N = TypeVar("N", bound=nn.Module)

ALPHA = Param("alpha", "Gates × α", 1.0, 0.1, 2.0, step=0.05, unit="×")


class LeakyRNN(Recurrence):
    """Gamma is one constant for each unit, logistic(leak); (T, inputs) -> (T, units)."""

    shown = ("gate", "candidate", "hidden")
    paced = True

    @property
    def equations(self) -> tuple[Equation, ...]:
        return _mixed(self, logistic(fixed("λ")), "γ", "")

    @property
    def constants(self) -> Mapping[str, Tensor]:
        """Return W, U, b, d, the state before the first step, and the leak λ."""
        return {**super().constants, "λ": self.leak}

    def __init__(
        self, inputs: int, units: int, start: str = FIXED, reverse: bool = False, pace: float | None = None
    ) -> None:
        super().__init__(inputs, units, start, reverse)
        self.leak = nn.Parameter(torch.full((units,), _logit(0.5 if pace is None else pace)))

    def rooms(self, given: Tensor) -> Sequence[Tensor]:
        gate = (torch.sigmoid(self.leak) * self.rate).expand_as(given)  # the same at every step: written by nobody
        return gate, given, torch.empty_like(given)

    def step(self, given: Tensor, state: States, room: Room | None = None) -> States:
        _, r_, h_ = room or (None,) * 3
        (hidden,) = state
        gate = (torch.sigmoid(self.leak) * self.rate).expand_as(hidden)
        r = torch.tanh(self.driven(given, hidden, r_), out=r_)
        return gate, r, torch.lerp(hidden, r, gate, out=h_)


class GatedRNN(Recurrence):
    """Gamma is computed from the data for each unit, eq. (53); (T, inputs) -> (T, units).

    The rows of W, U and b are those of the gate and of the candidate. With a `pace` the gates start near it.
    """

    shown = ("gate", "candidate", "hidden")
    blocks = 2
    paced = True
    rows = ("Γ", "R")

    @property
    def equations(self) -> tuple[Equation, ...]:
        return _mixed(self, logistic(self.drive("Γ")), "Γ⁽ᵗ⁾", "R")

    def __init__(
        self, inputs: int, units: int, start: str = FIXED, reverse: bool = False, pace: float | None = None
    ) -> None:
        super().__init__(inputs, units, start, reverse)
        if pace is not None:
            nn.init.constant_(self.bias_ih[:units], _logit(pace))
            nn.init.zeros_(self.bias_hh[:units])

    def rooms(self, given: Tensor) -> Sequence[Tensor]:
        return (*given.chunk(2, -1), given.new_empty(*given.shape[:-1], self.units))

    def step(self, given: Tensor, state: States, room: Room | None = None) -> States:
        g_, r_, h_ = room or (None,) * 3  # where the values go; None: into new tensors
        (hidden,) = state
        z = self.driven(given, hidden, given if room else None)
        z_g, z_r = z.chunk(2, 1)
        gate, r = torch.sigmoid(z_g, out=g_), torch.tanh(z_r, out=r_)
        if self.rate != 1.0:
            gate = torch.mul(gate, self.rate, out=g_)
        return gate, r, torch.lerp(hidden, r, gate, out=h_)


def _mixed(layer: Recurrence, gate: Term, symbol: str, row: str) -> tuple[Equation, ...]:
    """Return h = Gamma R + (1 - Gamma) h(t-1), and what Gamma and R are."""
    g, r, h = map(at_step, layer.shown, (symbol, "R⁽ᵗ⁾", "h⁽ᵗ⁾"))
    return (
        Equation(g, layer.taken(gate)),
        Equation(r, tanh(layer.drive(row))),
        Equation(h, g * r + (Number(1.0) - g) * layer.before("hidden", "h")),
    )


def _logit(pace: float) -> float:
    if not 0.0 < pace < 1.0:
        raise ValueError(f"the pace must lie between 0 and 1, not {pace}")
    return math.log(pace / (1.0 - pace))


def rescaled(model: N, alpha: float) -> N:
    """Return a copy for the signal c(alpha t) in place of c(t): all gates are multiplied by alpha (zero-shot).

    In an LSTM this is i -> alpha i and 1 - f -> alpha (1 - f), in a GRU 1 - z -> alpha (1 - z). Layers without gates
    (SimpleRNN) have nothing to rescale and stay as they are. Eq. (53) holds for alpha up to about 1.

    Raises:
        ValueError: alpha is not positive and finite.
    """
    if not 0.0 < alpha < math.inf:
        raise ValueError(f"alpha must be a positive number, not {alpha}")
    found = copy.deepcopy(model)
    for layer in found.modules():
        if isinstance(layer, Recurrence) and layer.paced:
            layer.rate *= alpha
    return found


def rescaling_error(model: nn.Module, signal: Callable[[Tensor], Tensor], seconds: float, step: float) -> float:
    """Return how far the answer at half the step is from that at `step`, relative, at the times that both have.

    `model` is made for unit steps; `rescaled` fits it to both. What it tells: a network that follows a rescaling is
    wrong by the discretisation floor alone, which falls with `step`; another one stays wrong.

    Args:
        signal: (T,) times -> (T, inputs), the input as a function of continuous time.
        seconds: how long, in units of the model's own step.
        step: between samples, in the same unit.
    """
    weight = next(model.parameters())
    count = round(seconds / step)
    coarse = torch.arange(1, count + 1, dtype=torch.float64) * step
    fine = torch.arange(1, 2 * count + 1, dtype=torch.float64) * (step / 2)
    with torch.no_grad():
        one = rescaled(model, step)(signal(coarse).to(weight))
        other = rescaled(model, step / 2)(signal(fine).to(weight))[1::2]
    return float((one - other).norm() / one.norm())
