"""Gated recurrent unit: one gate mixes old and new, another hides the past from the candidate.

Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder", 2014, in the form of torch.nn.GRU:

    r, z = logistic(W x + b + U h + d), each with its own W, U, b, d
    n = tanh(W_n x + b_n + r * (U_n h + d_n))
    h(t) = (1 - z) * n + z * h(t-1)

The rows of W, U, b and d are r, z, n. Section 5.8 of Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning",
2021, names it beside the LSTM; 1 - z is the gate of eq. (53).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from explorer.declare.telling.equations import Equation, Number, at_step, fixed, logistic, tanh
from models.layers.recurrent.fixed_point import States
from models.layers.recurrent.packed_product import linear
from models.layers.recurrent.recurrence import PRESENT, Recurrence, Room


class GRU(Recurrence):
    """(T, inputs) -> (T, units); both gates, the candidate and h of all steps pass a tap."""

    shown = ("reset", "update", "candidate", "hidden")
    blocks = 3
    paced = True
    rows = ("r", "z", "n")

    @property
    def equations(self) -> tuple[Equation, ...]:
        r, z, n, h = map(at_step, self.shown, ("r⁽ᵗ⁾", "z⁽ᵗ⁾", "n⁽ᵗ⁾", "h⁽ᵗ⁾"))
        old = self.before("hidden", "h")
        return (
            Equation(r, logistic(self.drive("r"))),
            Equation(z, self.kept(logistic(self.drive("z")))),
            Equation(n, tanh(fixed("W_n") @ PRESENT + fixed("b_n") + r * (fixed("U_n") @ old + fixed("d_n")))),
            Equation(h, (Number(1.0) - z) * n + z * old),
        )

    @property
    def constants(self) -> Mapping[str, Tensor]:
        """Return what stands in the equations; the two biases of the candidate are apart."""
        _, _, b_n = self.bias_ih.chunk(3)
        _, _, d_n = self.bias_hh.chunk(3)
        return {**super().constants, "b_n": b_n, "d_n": d_n}

    def projected(self, x: Tensor) -> Tensor:
        # the other bias is multiplied by r in one of the blocks, so it stays with U h
        return linear(x, self.weight_ih, self.bias_ih)

    def rooms(self, given: Tensor) -> Sequence[Tensor]:
        return (*given.chunk(3, -1), given.new_empty(*given.shape[:-1], self.units))

    def step(self, given: Tensor, state: States, room: Room | None = None) -> States:
        r_, z_, n_, h_ = room or (None,) * 4  # where the values go; None: into new tensors
        (hidden,) = state
        x_r, x_z, x_n = given.chunk(3, 1)
        u_r, u_z, u_n = self.driven(self.bias_hh, hidden).chunk(3, 1)
        r = torch.sigmoid(torch.add(x_r, u_r, out=r_), out=r_)
        z = torch.sigmoid(torch.add(x_z, u_z, out=z_), out=z_)
        n = torch.tanh(torch.addcmul(x_n, r, u_n, out=n_), out=n_)
        if self.rate != 1.0:  # dh/dt = (1 - z) (n - h), at another pace
            z = torch.add(torch.mul(z, self.rate, out=z_), 1.0 - self.rate, out=z_)
        return r, z, n, torch.lerp(n, hidden, z, out=h_)
