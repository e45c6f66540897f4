"""Recurrent networks, and the simplest of them: one update shared by all steps, and what shifts do to it.

Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.7, eq. (38) and (39):

    h(t) = R(z(t), h(t-1)),    R(z, h) = sigma(W z + U h + b)

A right shift pads with zeros on the left. From h(0) = 0 the padding moves the state, and the law of shifts fails; from
the fixed point h* = R(0, h*), found by iteration (eq. 42), padding does nothing and the law is exact.

Parameters have the names, shapes and order of torch.nn's cells (RNNCell, LSTMCell, GRUCell). Values of all steps are
written into one tensor and pass their taps once, after the last step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor, nn
from torch.autograd import forward_ad
from torch.nn import functional as F

from explorer.card import Card, SequenceInput
from explorer.fields import STEP
from explorer.params import Param
from models.taps import Tap

ZERO, FIXED = STARTS = ("zero", "fixed point")
ACTIVATIONS = ("tanh", "relu")
PATIENCE = 500  # plain iterations; what is slower is finished by Newton's method
INPUT = SequenceInput(channels=1)
UNITS = Param("units", "Units", 16, 4, 32, whole=True)
START = Param("start", "Initial state", 1, 0, 1, choices=STARTS)

States = tuple[Tensor, ...]
Room = Sequence[Tensor]
N = TypeVar("N", bound=nn.Module)


class Recurrence(nn.Module):
    """One layer of a recurrent network, (T, inputs) -> (T, units): subclasses say what happens in one step.

    Attributes:
        shown: the values of a step in the order in which they are computed, each the name of a tap; the last `states`
            of them are the state, and the very last is the summary h.
        blocks: into how many parts of `units` rows W and U are divided.
        paced: whether it has gates that a change of pace can rescale (eq. 53).
        start: "zero" or "fixed point", the state before the first step.
        reverse: whether it reads from the last step to the first.
        rate: what the pace of time is multiplied by (`models.leaky_gated.rescaled`).
    """

    out_field = STEP
    shown: ClassVar[tuple[str, ...]] = ("hidden",)
    states: ClassVar[int] = 1
    blocks: ClassVar[int] = 1
    paced: ClassVar[bool] = False

    def __init__(self, inputs: int, units: int, start: str = FIXED, reverse: bool = False) -> None:
        super().__init__()
        if start not in STARTS:
            raise ValueError(f"start must be one of {', '.join(STARTS)}, not {start!r}")
        self.inputs, self.units, self.start, self.reverse, self.rate = inputs, units, start, reverse, 1.0
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
        self._found: tuple[list[Tensor], float, FixedPoint] | None = None

    def projected(self, x: Tensor) -> Tensor:
        """Return W z + b of all steps at once; (T, B, inputs) -> (T, B, blocks * units)."""
        return F.linear(x, self.weight_ih, self.bias_ih + self.bias_hh)

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
        now = [self.resting(), *(p.detach() for p in self.parameters())]
        if self._found is None or self._found[1] != self.rate or not all(map(_same, self._found[0], now)):
            self._found = [p.clone() for p in now], self.rate, fixed_point(self)
        found = self._found[2]
        return tuple(s.expand(batch, -1) for s in found.state) if found.converged else zeros

    def run(self, x: Tensor, wanted: Sequence[str] = ()) -> dict[str, Tensor]:
        """Return the values of all steps by name, all or those `wanted`; (T, B, inputs) -> (T, B, units) each.

        Where nobody asks for derivatives, each value is written where it will stay.
        """
        given = self.projected(x.flip(0) if self.reverse else x)
        state = self.beginning(x.shape[1])
        names = wanted or self.shown
        if self._differentiated(given) or not len(x):
            steps = []
            for now in given.unbind(0):
                values = self.step(now, state)
                state = values[-self.states :]
                steps.append(values)
            none = given.new_empty(0, x.shape[1], self.units)
            columns = dict(zip(self.shown, zip(*steps, strict=True), strict=True)) if steps else {}
            found = {n: torch.stack(columns[n]) if steps else none for n in names}
        else:
            rooms = self.rooms(given)
            for now, *room in zip(given.unbind(0), *(r.unbind(0) for r in rooms), strict=True):
                state = self.step(now, state, room)[-self.states :]
            whole = dict(zip(self.shown, rooms, strict=True))
            found = {n: whole[n] for n in names}
        return {n: v.flip(0) for n, v in found.items()} if self.reverse else found

    def _differentiated(self, given: Tensor) -> bool:
        learning = torch.is_grad_enabled() and any(p.requires_grad for p in self.parameters())
        return learning or given.requires_grad or forward_ad.unpack_dual(given).tangent is not None

    def forward(self, x: Tensor) -> Tensor:
        values = self.run(x[:, None])
        for name in self.shown:
            out: Tensor = self.get_submodule(name)(values[name][:, 0])
        return out

    def batched(self, x: Tensor) -> Tensor:
        """Return h of many sequences, for training; (B, T, inputs) -> (B, T, units). Taps see nothing of it."""
        return self.run(x.transpose(0, 1), ("hidden",))["hidden"].transpose(0, 1)


def _same(one: Tensor, other: Tensor) -> bool:
    return one.dtype == other.dtype and one.device == other.device and torch.equal(one, other)


class SimpleRNN(Recurrence):
    """h(t) = sigma(W z(t) + U h(t-1) + b), eq. (39), torch.nn.RNN; (T, inputs) -> (T, units).

    With a `gain` U starts as so many times an orthogonal matrix: below 1, R(0, .) is a contraction.
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
        if gain is not None:
            nn.init.orthogonal_(self.weight_hh, gain)

    def step(self, given: Tensor, state: States, room: Room | None = None) -> States:
        into = room[0] if room else None
        z = torch.addmm(given, state[0], self.weight_hh.t(), out=into)
        if self.activation == "tanh":
            return (torch.tanh(z, out=into),)
        return (torch.relu(z) if into is None else torch.clamp_min(z, 0.0, out=into),)


@dataclass(frozen=True, slots=True)
class FixedPoint:
    """What iterating h <- R(0, h) from h = 0 came to (eq. 42).

    Attributes:
        state: h*, (1, units), or (c*, h*) of an LSTM.
        iterations: how many were made.
        contraction: by what factor the distance to another orbit shrank in an iteration, at the end; 1 or more: this is
            no contraction, and zeros on the left move the state wherever it starts.
        converged: whether R(0, h*) is h* to rounding.
    """

    state: States
    iterations: int
    contraction: float
    converged: bool


@torch.inference_mode(False)  # the state serves in training too
@torch.no_grad()
def fixed_point(cell: Recurrence, limit: int = PATIENCE) -> FixedPoint:
    """Find h* = R(0, h*) by iteration from 0, and measure how fast two orbits come together.

    Where orbits come together, but too slowly for `limit` iterations (a forgetting time of hundreds of steps), Newton's
    method finishes. Banach's theorem: a contraction has exactly one fixed point ("Geometric Deep Learning", eq. 42).
    In a stack the input 0 is what the layers below send at rest.
    """
    given = cell.projected(cell.resting()[None])[0]

    def update(h: Tensor) -> Tensor:
        state = h.chunk(cell.states, 1)
        return torch.cat(cell.step(given.expand(len(h), -1), state)[-cell.states :], 1)

    orbits = torch.zeros(2, cell.states * cell.units).to(given)
    orbits[1] = 1.0  # the other orbit: with h* = 0 the first one would not move at all
    tiny = torch.finfo(given.dtype).eps
    apart, done, iterations = [float(orbits[1].norm())], False, 0
    while iterations < limit and not (done and apart[-1] <= 1e3 * tiny):
        after = update(orbits)
        size = max(1.0, float(after[0].norm()))
        if not math.isfinite(size):
            break
        iterations += not done
        done = done or float((after[0] - orbits[0]).norm()) <= 2 * tiny * size
        apart.append(float((after[1] - after[0]).norm()))
        orbits = after
        if done and len(apart) > limit:
            break  # another orbit has another fixed point
    contraction, here = _shrinkage(apart, tiny), orbits[:1]
    if not done and contraction < 1.0:
        here, done = _newton(update, here)
    return FixedPoint(tuple(s.clone() for s in here.chunk(cell.states, 1)), iterations, contraction, done)


def _shrinkage(apart: Sequence[float], tiny: float) -> float:
    """Return the factor an iteration in the second half of the distances, as far as they are above rounding."""
    clear = next((k for k, d in enumerate(apart) if d <= 1e4 * tiny), len(apart))
    last, middle = clear - 1, (clear - 1) // 2
    if last <= middle:
        return apart[1] / apart[0] if len(apart) > 1 else 1.0
    return float((apart[last] / apart[middle]) ** (1 / (last - middle)))


def _newton(update: Callable[[Tensor], Tensor], h: Tensor) -> tuple[Tensor, bool]:
    """Solve update(h) = h from nearby; its Jacobian is taken by differences, all columns in one batch."""
    tiny = torch.finfo(h.dtype).eps
    nudge = tiny ** (1 / 3)
    unit = torch.eye(h.shape[1]).to(h)
    for _ in range(20):
        gap = update(h) - h
        if float(gap.norm()) <= 8 * tiny * max(1.0, float(h.norm())):
            return h, True
        jacobian = (update(h + nudge * unit) - update(h - nudge * unit)).t() / (2 * nudge)
        better = h + torch.linalg.solve(unit - jacobian, gap[0])
        if not torch.isfinite(better).all():
            break
        h = better
    return h, False


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


class Forecast(nn.Module):
    """The next value from the summary of all before it: y(t) = V h(t) + a; (T, inputs) -> (T, outputs)."""

    def __init__(self, recurrent: nn.Module, units: int, outputs: int = 1) -> None:
        super().__init__()
        self.recurrent = recurrent
        self.prediction = nn.Linear(units, outputs)

    def forward(self, x: Tensor) -> Tensor:
        return self.prediction(self.recurrent(x))

    def batched(self, x: Tensor) -> Tensor:
        """Return the predictions for many sequences, for training; (B, T, inputs) -> (B, T, outputs)."""
        batched: Any = self.recurrent.batched
        return self.prediction(batched(x))


def seeded(build: Callable[[], N]) -> N:
    """Build a network whose parameters are always the same."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return build()


def forecast(layer: type[Recurrence], units: float = 16, start: float = 1, **settings: Any) -> Forecast:
    """Build a network that predicts the next value from one recurrent layer of `units`."""
    return seeded(lambda: Forecast(layer(1, int(units), STARTS[int(start)], **settings), int(units)))


def build(units: float = 16, start: float = 1, gain: float = 0.9, activation: float = 0) -> Forecast:
    """Build a SimpleRNN that predicts the next value; U is `gain` times an orthogonal matrix."""
    return forecast(SimpleRNN, units, start, gain=gain, activation=ACTIVATIONS[int(activation)])


def weight_matrices(model: nn.Module) -> Mapping[str, Any]:
    """Return W and U of every recurrent layer, all blocks below each other."""
    found = {}
    for name, layer in model.named_modules():
        if isinstance(layer, Recurrence):
            found[f"{name} W"] = layer.weight_ih.detach().cpu().numpy()
            found[f"{name} U"] = layer.weight_hh.detach().cpu().numpy()
    return found


sequence_card = partial(
    Card, domain="time", input=INPUT, groups=("shift",), sample="sine", matrix=weight_matrices, params=(UNITS, START)
)

CARD = sequence_card(
    name="simple-rnn",
    title="Simple recurrent network",
    rows=("R2",),
    reference=(
        'Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.7, eq. (38)-(42); '
        'Elman, "Finding Structure in Time", 1990'
    ),
    equation=(
        "h⁽ᵗ⁾ = σ( W z⁽ᵗ⁾ + U h⁽ᵗ⁻¹⁾ + b )\n"
        "y⁽ᵗ⁾ = V h⁽ᵗ⁾ + a\n"
        "h⁽⁰⁾ = h*,   h* = R(0, h*),   h₀ = 0,  h_(k+1) = R(0, h_k)"
    ),
    summary=(
        "Shift the input: zeros come in from the left. From the fixed point h* they change nothing and the law of "
        "shifts is exact; from zero the state drifts through the padding and the law fails. With a gain of 1 or more "
        "R(0, ·) need not be a contraction, and the gradient through time explodes instead of vanishing (see relu)."
    ),
    build=build,
    params=(
        UNITS,
        START,
        Param("gain", "Size of U", 0.9, 0.1, 2.0, step=0.1),
        Param("activation", "σ", 0, 0, 1, choices=ACTIVATIONS),
    ),
    source=(SimpleRNN, Recurrence, fixed_point),
)
