"""The state that a row of zeros does not change: found by iteration, with the factor that it contracts by.

Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.7, eq. (41) and (42): with h* = R(0, h*)
before the first step, padding does nothing, and a recurrent network commutes with shifts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

States = tuple[Tensor, ...]  # (batch, units) each: h, or c and h of an LSTM

PATIENCE = 500  # plain iterations; what is slower is finished by Newton's method


@dataclass(frozen=True, slots=True)
class FixedPoint:
    """Result of iterating h <- R(0, h) from h = 0 (eq. 42).

    Attributes:
        state: h*, (1, units), or (c*, h*) of an LSTM.
        iterations: how many were made.
        contraction: the spectral radius of the Jacobian of R(0, .) at h*: in the long run small distances shrink by it.
            Without an h* the factor by which two orbits approached at the end. 1 or more: this is no
            contraction, or it has another fixed point, and zeros on the left can move the state.
        converged: whether R(0, h*) is h* to rounding.
        orbit: every h_k of the iteration, (iterations + 1, units), without c of an LSTM.
    """

    state: States
    iterations: int
    contraction: float
    converged: bool
    orbit: Tensor


class Cell(Protocol):
    """One update of a recurrent layer, of which a fixed point is asked for.

    Attributes:
        states: of how many tensors its state is made; h is the last.
        units: the width of each.
    """

    @property
    def states(self) -> int: ...
    @property
    def units(self) -> int: ...

    def resting(self) -> Tensor:
        """Return the input before the first step, (1, inputs)."""

    def projected(self, x: Tensor) -> Tensor:
        """Return W z + b of all steps at once; (T, B, inputs) -> (T, B, ...)."""

    def step(self, given: Tensor, state: States) -> States:
        """Return the values of one step, the new state last."""


@torch.inference_mode(False)  # the state serves in training too
@torch.no_grad()
def fixed_point(cell: Cell, limit: int = PATIENCE) -> FixedPoint:
    """Find h* = R(0, h*) by iteration from 0, and how fast states come together there.

    Where orbits come together, or the one from 0 comes to rest, but too slowly for `limit` iterations (a forgetting
    time of hundreds of steps), Newton's method finishes. Banach's theorem: a contraction has exactly one fixed point
    ("Geometric Deep Learning", eq. 42). In a stack the input 0 is what the layers below send at rest.
    """
    given = cell.projected(cell.resting()[None])[0]

    def update(h: Tensor) -> Tensor:
        state = h.chunk(cell.states, 1)
        return torch.cat(cell.step(given.expand(len(h), -1), state)[-cell.states :], 1)

    orbits = torch.zeros(2, cell.states * cell.units).to(given)
    orbits[1] = 1.0  # the other orbit: with h* = 0 the first one would not move at all
    tiny = torch.finfo(given.dtype).eps
    apart, done, iterations = [float(orbits[1].norm())], False, 0
    path, moves = [orbits[0]], []
    while iterations < limit and not (done and apart[-1] <= 1e3 * tiny):
        after = update(orbits)
        size = max(1.0, float(after[0].norm()))
        if not math.isfinite(size):
            break
        iterations += not done
        if not done:
            path.append(after[0])
            moves.append(float((after[0] - orbits[0]).norm()))
            done = moves[-1] <= 2 * tiny * size
        apart.append(float((after[1] - after[0]).norm()))
        orbits = after
        if done and len(apart) > limit:
            break  # another orbit has another fixed point
    contraction, here = _shrinkage(apart, tiny), orbits[:1]
    # a network that remembers for good has several fixed points: its orbits stay apart, and yet each may come to rest
    if not done and (contraction < 1.0 or moves[-1] < 0.5 * moves[len(moves) // 2]):
        here, done = _newton(update, here)
    if done:
        contraction = _radius(update, here)
        if not _unique(update, here, orbits[1:], contraction):
            contraction = max(contraction, 1.0)
    state = tuple(s.clone() for s in here.chunk(cell.states, 1))
    return FixedPoint(state, iterations, contraction, done, torch.stack(path)[:, -cell.units :].clone())


def _shrinkage(apart: Sequence[float], tiny: float) -> float:
    """Return the factor an iteration in the second half of the distances, as far as they are above rounding."""
    clear = next((k for k, d in enumerate(apart) if d <= 1e4 * tiny), len(apart))
    last, middle = clear - 1, (clear - 1) // 2
    if last <= middle:
        return apart[1] / apart[0] if len(apart) > 1 else 1.0
    return float((apart[last] / apart[middle]) ** (1 / (last - middle)))


def _radius(update: Callable[[Tensor], Tensor], h: Tensor) -> float:
    """Return the spectral radius of the Jacobian at h; all of its rows in one backward pass."""
    with torch.enable_grad():
        copies = h.detach().expand(h.shape[1], -1).clone().requires_grad_(True)
        (jacobian,) = torch.autograd.grad((update(copies) + 0 * copies).diagonal().sum(), copies)
    return float(torch.linalg.eigvals(jacobian.double()).abs().max())


def _unique(update: Callable[[Tensor], Tensor], here: Tensor, orbit: Tensor, radius: float) -> bool:
    """Return whether the other orbit leads to this fixed point too, as far as is known."""
    there, rests = _newton(update, orbit)
    if not rests:
        return True
    tiny, size = torch.finfo(here.dtype).eps, max(1.0, float(here.norm()))
    # where distances shrink slowly, rounding moves a fixed point by 1 / (1 - radius) as much
    return float((there - here).norm()) <= 64 * tiny * size / max(abs(1.0 - radius), tiny)


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
        step, singular = torch.linalg.solve_ex(unit - jacobian, gap[0])
        better = h + step
        if int(singular) or not torch.isfinite(better).all():  # a whole line of fixed points has no nearest one
            break
        h = better
    return h, False
