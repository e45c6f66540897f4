"""Recurrent layers: one update for all steps, the state before the first one, and the gradient through time.

Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.7, eq. (38):

    h(t) = R(z(t), h(t-1))

A right shift pads with zeros on the left. From h(0) = 0 the padding moves the state, and the law of shifts fails; from
the fixed point h* = R(0, h*), found by iteration (eq. 42), padding does nothing and the law is exact.

Parameters have the names, shapes and order of torch.nn's cells (RNNCell, LSTMCell, GRUCell). Values of all steps are
written into one tensor and pass their taps once, after the last step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import ClassVar

import torch
from torch import Tensor, nn

from explorer.declare.telling.equations import Equation, Number, Term, Value, at_step, beside, fixed, given
from explorer.spaces.sequence.fields import STEP
from models.layers.derivatives import differentiated
from models.layers.recurrent.fixed_point import FixedPoint, States, fixed_point
from models.layers.recurrent.packed_product import Product, linear, packed
from models.layers.taps import Tap

ZERO, FIXED = STARTS = ("zero", "fixed point")

Room = Sequence[Tensor]


class Recurrence(nn.Module):
    """One layer of a recurrent network, (T, inputs) -> (T, units): subclasses say what happens in one step.

    Attributes:
        shown: the values of a step in the order in which they are computed, each the name of a tap; the last `states`
            of them are the state, and the very last is the summary h.
        blocks: into how many parts of `units` rows W and U are divided.
        paced: whether it has gates that a change of pace can rescale (eq. 53).
        start: "zero" or "fixed point", the state before the first step.
        reverse: whether it reads from the last step to the first.
        rate: what the pace of time is multiplied by (`models.layers.recurrent.leaky_gated.rescaled`).
        alpha: what it is multiplied by besides while the moved sequence is read (`following`).
        detach_every: after how many steps the state is detached, None for never: truncated backpropagation through
            time (Williams and Peng, 1990). Values stay the same.
        gain: what weight_hh is multiplied by to be U.
        rows: what the blocks of W, U and b are called in the equations, from above.
    """

    out_field = STEP
    shown: ClassVar[tuple[str, ...]] = ("hidden",)
    states: ClassVar[int] = 1
    blocks: ClassVar[int] = 1
    paced: ClassVar[bool] = False
    rows: ClassVar[tuple[str, ...]] = ("",)

    def __init__(self, inputs: int, units: int, start: str = FIXED, reverse: bool = False) -> None:
        super().__init__()
        if start not in STARTS:
            raise ValueError(f"start must be one of {', '.join(STARTS)}, not {start!r}")
        self.inputs, self.units, self.start, self.reverse = inputs, units, start, reverse
        self.rate = self.alpha = 1.0
        self.detach_every: int | None = None
        self.gain = 1.0
        rows = self.blocks * units
        self.weight_ih = nn.Parameter(torch.empty(rows, inputs))
        self.weight_hh = nn.Parameter(torch.empty(rows, units))
        self.bias_ih = nn.Parameter(torch.empty(rows))
        self.bias_hh = nn.Parameter(torch.empty(rows))
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -(units**-0.5), units**-0.5)
        for name in self.shown:
            self.add_module(name, Tap(STEP))
        self.fed_by: tuple[Recurrence, ...] = ()  # the layers whose summaries are its input, in a stack
        self._found: tuple[list[Tensor], dict[float, FixedPoint]] | None = None
        self.product: Product | None = None  # with U, while a run of many steps lasts

    def projected(self, x: Tensor) -> Tensor:
        """Return W z + b of all steps at once; (T, B, inputs) -> (T, B, blocks * units)."""
        return linear(x, self.weight_ih, self.bias_ih + self.bias_hh)

    def driven(self, given: Tensor, hidden: Tensor, into: Tensor | None = None) -> Tensor:
        """Return given + U h of one step; it need not be written into `into`, which serves as scratch."""
        if self.product is not None:
            return self.product(given, hidden)
        return torch.addmm(given, hidden, self.weight_hh.t(), alpha=self.gain, out=into)

    def rooms(self, given: Tensor) -> Sequence[Tensor]:
        """Return where the shown values of all steps are written, (T, B, units) each; `given` may be overwritten."""
        return (given,)

    def step(self, given: Tensor, state: States, room: Room | None = None) -> States:
        """Return the shown values of one step, (B, units) each, written into `room` where there is one.

        `given` is W z + b of the step, (B, blocks * units). With a `room` it serves as scratch.
        """
        raise NotImplementedError

    def resting(self) -> Tensor:
        """Return the input before the first step: zero, or the fixed points of the layers below; (1, inputs)."""
        if not self.fed_by:
            return self.weight_ih.detach().new_zeros(1, self.inputs)
        return torch.cat([layer.beginning(1)[-1] for layer in self.fed_by], 1)

    def beginning(self, batch: int) -> States:
        """Return the state before the first step, (batch, units) each; no gradient flows into it.

        Where iteration finds no fixed point it is zero, as without one.
        """
        zeros = (self.weight_hh.detach().new_zeros(batch, self.units),) * self.states
        if self.start == ZERO:
            return zeros
        found = self.rest()
        return tuple(s.expand(batch, -1) for s in found.state) if found.converged else zeros

    def rest(self) -> FixedPoint:
        """Return the fixed point of R(0, .); found anew when a parameter has changed."""
        now = [self.resting(), *(p.detach() for p in self.parameters())]
        if self._found is None or not all(map(_same, self._found[0], now)):
            self._found = [p.clone() for p in now], {}
        if self.rate not in self._found[1]:
            self._found[1][self.rate] = fixed_point(self)
        return self._found[1][self.rate]

    def settling(self) -> tuple[str, FixedPoint]:
        """Return the name of the tap that h passes and how h settles: what the window draws of it."""
        return self.shown[-1], self.rest()

    def run(self, x: Tensor, wanted: Sequence[str] = ()) -> dict[str, Tensor]:
        """Return the values of all steps by name, all or those `wanted`; (T, B, inputs) -> (T, B, units) each.

        Where nobody asks for derivatives, each value is written where it will stay.
        """
        given = self.projected(x.flip(0) if self.reverse else x)
        state = self.beginning(x.shape[1])
        names = wanted or self.shown
        if self._differentiated(given) or not len(x):
            steps = []
            for t, now in enumerate(given.unbind(0)):
                if self.detach_every and t and t % self.detach_every == 0:
                    state = tuple(s.detach() for s in state)
                values = self.step(now, state)
                state = values[-self.states :]
                steps.append(values)
            none = given.new_empty(0, x.shape[1], self.units)
            columns = dict(zip(self.shown, zip(*steps, strict=True), strict=True)) if steps else {}
            found = {n: torch.stack(columns[n]) if steps else none for n in names}
        else:
            rooms = self.rooms(given)
            with self._packed(x.shape[1], len(x)):
                for now, *room in zip(given.unbind(0), *(r.unbind(0) for r in rooms), strict=True):
                    state = self.step(now, state, room)[-self.states :]
            whole = dict(zip(self.shown, rooms, strict=True))
            found = {n: whole[n] for n in names}
        return {n: v.flip(0) for n, v in found.items()} if self.reverse else found

    @contextmanager
    def following(self) -> Iterator[None]:
        """Let the gates be multiplied by alpha: what the engine asks for while it computes F(rho(g) x)."""
        rate, self.rate = self.rate, self.rate * self.alpha
        try:
            yield
        finally:
            self.rate = rate

    @contextmanager
    def _packed(self, batch: int, steps: int) -> Iterator[None]:
        u = self.weight_hh if self.gain == 1.0 else self.gain * self.weight_hh.detach()
        self.product = packed(u, batch, steps)
        try:
            yield
        finally:
            self.product = None

    def _differentiated(self, given: Tensor) -> bool:
        return differentiated(given, *self.parameters())

    def forward(self, x: Tensor) -> Tensor:
        values = self.run(x[:, None])
        for name in self.shown:
            out: Tensor = self.get_submodule(name)(values[name][:, 0])
        return out

    def batched(self, x: Tensor) -> Tensor:
        """Return h of many sequences, for training; (B, T, inputs) -> (B, T, units). Taps see nothing of it."""
        return self.run(x.transpose(0, 1), ("hidden",))["hidden"].transpose(0, 1)

    # what its equations are made of -------------------------------------------------------------------------------
    @property
    def equations(self) -> tuple[Equation, ...]:
        """Return what happens in one step, in terms of the taps."""
        return ()

    @property
    def constants(self) -> Mapping[str, Tensor]:
        """Return W, U and both biases as b by row ("W_i", ...), the pace α, and the first state by its taps' names."""
        named = (("W", self.weight_ih), ("U", self.weight_hh), ("b", self.bias_ih + self.bias_hh))
        found = {
            indexed(name, row): part
            for name, whole in named
            for row, part in zip(self.rows, whole.chunk(self.blocks), strict=True)
        }
        begin = zip(self.shown[-self.states :], self.beginning(1), strict=True)
        return {**found, "α": torch.tensor(self.rate), **{name: state[0] for name, state in begin}}

    def before(self, name: str, symbol: str) -> Value:
        """Return a state at the step that was read before, at the first one where it begins."""
        by, sign = (1, "⁺") if self.reverse else (-1, "⁻")
        return beside(name, f"{symbol}⁽ᵗ{sign}¹⁾", by, fixed(name))

    def drive(self, row: str = "") -> Term:
        """Return W x + U h + b of one row."""
        w, u, b = (fixed(indexed(name, row)) for name in "WUb")
        return w @ PRESENT + u @ self.before("hidden", "h") + b

    def taken(self, gate: Term) -> Term:
        """Return the gate of what is new at the pace of this layer."""
        return gate if self.rate == self.alpha == 1.0 else fixed("α") * gate

    def kept(self, gate: Term) -> Term:
        """Return the gate of what is old at the pace of this layer."""
        return gate if self.rate == self.alpha == 1.0 else fixed("α") * gate + (Number(1.0) - fixed("α"))


PRESENT = at_step(given(0), "x⁽ᵗ⁾")


def indexed(name: str, row: str) -> str:
    """Return "W_i", or "W" where there is one row alone."""
    return f"{name}_{row}" if row else name


def _same(one: Tensor, other: Tensor) -> bool:
    return one.dtype == other.dtype and one.device == other.device and torch.equal(one, other)


def recurrence_of(model: nn.Module) -> Recurrence:
    """Return the one recurrent layer in `model`, or itself; raise ValueError where there are several or none."""
    found = [m for m in model.modules() if isinstance(m, Recurrence)]
    if len(found) != 1:
        raise ValueError(f"the network has {len(found)} recurrent layers; pass one of them")
    return found[0]


def gradient_norms(model: nn.Module, x: Tensor, step: int = -1, truncation: int | None = None) -> Tensor:
    """Return |d h(step) / d state(t)| for every t: how far back in time the gradient reaches; (T, inputs) -> (T,).

    The norm is the largest singular value; the state is h, or c and h together of an LSTM. Steps after `step` have
    none, nor have those more than `truncation` steps before it (truncated backpropagation through time, Williams and
    Peng, 1990). Powers of U and of sigma' make the rest vanish or explode (Pascanu, Mikolov, Bengio, 2013).

    Raises:
        ValueError: the network has several recurrent layers or none, or it reads backwards.
        IndexError: there is no such step.
    """
    layer = recurrence_of(model)
    if layer.reverse:
        raise ValueError("the layer reads backwards: turn the sequence and pass a layer that reads forwards")
    steps = len(x)
    if not -steps <= step < steps:
        raise IndexError(f"there is no step {step} in a sequence of {steps}")
    step %= steps
    first = 0 if truncation is None else max(0, step - truncation)
    with torch.inference_mode(False), torch.enable_grad():
        given = layer.projected(x.detach().clone()[:, None])
        joined, seen = torch.cat(layer.beginning(1), 1).clone(), []
        for t in range(step + 1):
            joined = torch.cat(layer.step(given[t], joined.chunk(layer.states, 1))[-layer.states :], 1)
            if t <= first:
                joined = joined.detach().requires_grad_()  # what came before is cut off
            if t >= first:
                seen.append(joined)
        unit = torch.eye(layer.units).to(joined)
        slopes = torch.autograd.grad(joined[0, -layer.units :], seen, unit, is_grads_batched=True)
        norms = given.new_zeros(steps)
        norms[first : step + 1] = torch.linalg.matrix_norm(torch.stack(slopes)[:, :, 0], 2)
    return norms.detach()
