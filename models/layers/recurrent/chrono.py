"""Chrono initialisation: the biases of the gates say how long a unit remembers before anything was learned.

Tallec, Ollivier, "Can recurrent neural networks warp time?", 2018, section 4:

    b_f = log u,  u ~ U(1, T_max - 1),    b_i = -b_f

A unit with forget gate f forgets in 1 / (1 - f) steps, which is 1 + e^b for f = logistic(b): the times are spread
evenly between 2 and T_max, the longest dependency that is expected. The usual start, b_f = 1, remembers 3.7 steps.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from models.layers.recurrent.gru import GRU
from models.layers.recurrent.leaky_gated import GatedRNN, LeakyRNN
from models.layers.recurrent.lstm import LSTM
from models.layers.recurrent.recurrence import Recurrence


def chrono_(layer: Recurrence, longest: float, chance: torch.Generator | None = None) -> None:
    """Set the biases of the gates for dependencies of up to `longest` steps; all other biases become zero.

    The gate Gamma of eq. (53) is 1 - f, as is that of a leaky network and 1 - z of a GRU.

    Raises:
        ValueError: `longest` is below 3 or not finite.
        TypeError: the layer has no gate that keeps the past.
    """
    if not 3.0 <= longest < math.inf:
        raise ValueError(f"the longest dependency must be 3 steps or more, not {longest}")
    drawn = torch.rand(layer.units, generator=chance, dtype=torch.float64)
    keep = torch.log(1.0 + drawn * (longest - 2.0)).to(layer.bias_ih)
    _place(layer, keep, -keep)


def standard_(layer: LSTM, forget: float = 1.0) -> None:
    """Set the biases to zero and those of the forget gates to `forget`: the usual start, to compare chrono with."""
    same = torch.full_like(layer.bias_ih[: layer.units], forget)
    _place(layer, same, torch.zeros_like(same))


@torch.no_grad()
def _place(layer: Recurrence, keep: Tensor, take: Tensor) -> None:
    nn.init.zeros_(layer.bias_ih)
    nn.init.zeros_(layer.bias_hh)
    match layer:
        case LSTM():
            i, f, _, _ = layer.bias_ih.chunk(4)
            i.copy_(take)
            f.copy_(keep)
        case GRU():
            layer.bias_ih.chunk(3)[1].copy_(keep)
        case GatedRNN():
            layer.bias_ih.chunk(2)[0].copy_(-keep)
        case LeakyRNN():
            layer.leak.copy_(-keep)
        case _:
            raise TypeError(f"{type(layer).__name__} has no gate that keeps the past")


@torch.no_grad()
def forgetting_times(layer: Recurrence) -> Tensor:
    """Return 1 / (1 - f) in steps for every unit, as its biases alone place it (no input, h = 0); (units,).

    Raises:
        TypeError: the layer has no gate that keeps the past.
    """
    bias = layer.bias_ih + layer.bias_hh
    match layer:
        case LSTM():
            keep = bias.chunk(4)[1]
        case GRU():
            keep = bias.chunk(3)[1]
        case GatedRNN():
            keep = -bias.chunk(2)[0]
        case LeakyRNN():
            keep = -layer.leak
        case _:
            raise TypeError(f"{type(layer).__name__} has no gate that keeps the past")
    return (1.0 + keep.exp()) / layer.rate


def measured_times(forget: Tensor) -> Tensor:
    """Return 1 / (1 - f) in steps for recorded forget gates of any shape; infinite where a gate is at 1."""
    return 1.0 / (1.0 - forget)
