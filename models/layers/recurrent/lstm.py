"""Long short-term memory: gates decide what the cell takes in, keeps and shows.

Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.8, eq. (43)-(48), after Hochreiter and
Schmidhuber, 1997, in the form of Graves, 2013, without peepholes:

    c~ = tanh(W_c z + U_c h + b_c)          i, f, o = logistic(W z + U h + b), each with its own W, U, b
    c(t) = i * c~ + f * c(t-1)              h(t) = o * tanh(c(t))

The rows of W, U and b are those of torch.nn.LSTM: i, f, c~, o.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from explorer.declare.telling.equations import Equation, at_step, logistic, tanh
from models.layers.recurrent.fixed_point import States
from models.layers.recurrent.recurrence import Recurrence, Room


class LSTM(Recurrence):
    """(T, inputs) -> (T, units); every gate, the cell and the summary h of all steps pass a tap."""

    shown = ("input_gate", "forget_gate", "cell_candidate", "output_gate", "cell", "hidden")
    states = 2  # c and h
    blocks = 4
    paced = True
    rows = ("i", "f", "c", "o")

    @property
    def equations(self) -> tuple[Equation, ...]:
        i, f, g, o, c, h = map(at_step, self.shown, ("i⁽ᵗ⁾", "f⁽ᵗ⁾", "ĉ⁽ᵗ⁾", "o⁽ᵗ⁾", "c⁽ᵗ⁾", "h⁽ᵗ⁾"))
        return (
            Equation(i, self.taken(logistic(self.drive("i")))),
            Equation(f, self.kept(logistic(self.drive("f")))),
            Equation(g, tanh(self.drive("c"))),
            Equation(o, logistic(self.drive("o"))),
            Equation(c, i * g + f * self.before("cell", "c")),
            Equation(h, o * tanh(c)),
        )

    def rooms(self, given: Tensor) -> Sequence[Tensor]:
        cell = given.new_empty(*given.shape[:-1], self.units)
        return (*given.chunk(4, -1), cell, torch.empty_like(cell))

    def step(self, given: Tensor, state: States, room: Room | None = None) -> States:
        i_, f_, g_, o_, c_, h_ = room or (None,) * 6  # where the values go; None: into new tensors
        cell, hidden = state
        z = self.driven(given, hidden, given if room else None)
        z_i, z_f, z_g, z_o = z.chunk(4, 1)
        i, f = torch.sigmoid(z_i, out=i_), torch.sigmoid(z_f, out=f_)
        g, o = torch.tanh(z_g, out=g_), torch.sigmoid(z_o, out=o_)
        if self.rate != 1.0:  # dc/dt = i g - (1 - f) c, at another pace
            i = torch.mul(i, self.rate, out=i_)
            f = torch.add(torch.mul(f, self.rate, out=f_), 1.0 - self.rate, out=f_)
        c = torch.addcmul(torch.mul(f, cell, out=c_), i, g, out=c_)
        h = torch.mul(torch.tanh(c, out=h_), o, out=h_)
        return i, f, g, o, c, h
