"""The elements of sequences: shifts with padding, reversal (of DNA: of the other strand), warps of time.

x'(t) = x(tau(t)), t counted in steps from 0. Whole shifts and reversals move values; everything else interpolates
linearly between two steps, and is compared where tau(t) lies within the sequence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from explorer.declare.elements import Element, NoAction
from explorer.declare.types.fields import FieldType, Pairs, Scalar
from explorer.spaces.sequence.fields import STEP, Steps, Strands

if TYPE_CHECKING:
    from torch import Tensor

DOMAINS = ("sequence",)
_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class TimeMap(Element):
    """x'(t) = x(tau(t)); a bent tau is a monotone cubic spline through its handles.

    Attributes:
        shift: whole or broken steps by which the sequence is delayed, applied last.
        rate: speed: x'(t) = x(rate t); 2 is twice as fast.
        bend: offsets of tau at inner places, as shares of the sequence; tau stays monotone.
        places: where these handles are, ascending shares in (0, 1); () means equally spaced.
        backwards: the last step comes first.
        complement: channels are exchanged end to end too (A with T, C with G).
        boundary: what stands where nothing comes from: "zero", "circular", or "edge" (the nearest value).
    """

    shift: float = 0.0
    rate: float = 1.0
    bend: tuple[float, ...] = ()
    backwards: bool = False
    complement: bool = False
    boundary: str = "zero"
    places: tuple[float, ...] = ()

    @property
    def domains(self) -> tuple[str, ...]:  # type: ignore[override]
        return DOMAINS

    @property
    def group(self) -> str:
        return "shift"

    def place_of(self, place: int, count: int) -> int:
        return _place_of(self, place, count)

    @property
    def bent(self) -> bool:
        return any(abs(b) > _TINY for b in self.bend)

    @property
    def moves(self) -> bool:
        """Return whether values are moved and not interpolated."""
        return abs(self.rate - 1) < _TINY and not self.bent and abs(self.shift - round(self.shift)) < _TINY

    @property
    def identity(self) -> bool:
        return self.moves and not self.backwards and not self.complement and abs(self.shift) < _TINY

    def inverse(self) -> Element:
        if self.backwards:
            if self.shift or not self.moves:
                raise NoAction("a warp that runs backwards has no inverse of its own kind")
            return self
        if self.bent:
            return Unwarp(self)
        return TimeMap(-self.shift * self.rate, 1.0 / self.rate, (), False, self.complement, self.boundary)

    def merge(self, first: Element) -> TimeMap | None:
        if not isinstance(first, TimeMap) or not (self.moves and first.moves) or self.boundary != first.boundary:
            return None
        if self.backwards or first.backwards:
            both = self.backwards and first.backwards and not self.shift and not first.shift
            return TimeMap(complement=self.complement != first.complement, boundary=self.boundary) if both else None
        if self.boundary != "circular" and self.shift * first.shift < 0:
            return None  # what was pushed out does not come back
        return TimeMap(self.shift + first.shift, complement=self.complement != first.complement, boundary=self.boundary)

    def exact(self, field: FieldType, shape: tuple[int, ...]) -> bool:
        return self.moves and self._on(field)

    def _on(self, field: FieldType) -> bool:
        """Say whether a whole shift is one by whole places of a field, which may have fewer places than steps."""
        places = self.shift / field.spacing
        return abs(places - round(places)) < _TINY

    def tau(self, steps: int) -> NDArray[np.float64]:
        """Return tau(t) for every step, (steps,): where the value at t comes from."""
        return self.source(np.arange(steps, dtype=np.float64), steps)

    def source(self, t: NDArray[np.float64], steps: int) -> NDArray[np.float64]:
        """Return tau(t) at any t, also between the steps of a sequence of so many."""
        if self.backwards:
            return steps - 1 - t
        u = t - self.shift
        if self.bent and steps > 1:
            u = u + self.warp(u / (steps - 1)) * (steps - 1)
        return u * self.rate

    def warp(self, share: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the offset of tau at each share of the sequence, through the bend's handles; tau stays monotone."""
        at = np.array([0.0, *self.places, 1.0]) if self.places else np.linspace(0, 1, len(self.bend) + 2)
        to = np.maximum.accumulate(np.clip(at + np.array([0.0, *self.bend, 0.0]), 0.0, 1.0))
        inside = np.clip(share, 0, 1)
        found: NDArray[np.float64] = _monotone(tuple(at), tuple(to))(inside) - inside
        return found

    def act(self, values: Tensor, field: FieldType) -> Tensor:
        axes, apart = _axes(field), field.spacing
        _require_whole(self, values, field)
        if self.boundary == "circular" and isinstance(field.domain, Steps) and field.domain.cut and self.shift:
            raise NoAction("it has other steps than the sequence, as without padding; try shift")
        if self.moves and not self._on(field):
            raise NoAction(f"a shift by {self.shift:g} steps moves no place of a field that has one every {apart:g}")
        for axis in axes:
            values = sampled(values, _coarse(self.source, values.shape[axis], apart), axis, self.boundary)
        if self.complement and axes and isinstance(field.domain, Steps):
            values = _complemented(values, field)
        return values

    def known(self, values: Tensor, field: FieldType) -> Tensor | None:
        axes = _axes(field)
        if not axes or self.boundary == "circular" or self.identity or self.backwards:
            return None
        sizes = [values.shape[axis] for axis in axes]
        inside = [_inside(_coarse(self.source, size, field.spacing), size) for size in sizes]
        return _places(values, inside)


@lru_cache(maxsize=64)
def _monotone(at: tuple[float, ...], to: tuple[float, ...]) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """Return the cubic through these points that rises where they do; its slope is smooth (Fritsch, Butland, 1984)."""
    from scipy.interpolate import PchipInterpolator

    # two handles at one place would be a jump: the later one says where the curve goes on; both ends stay
    places = [0]
    for k in range(1, len(at)):
        if at[k] - at[places[-1]] > 1e-6:
            places.append(k)
        elif len(places) > 1:
            places[-1] = k
    places[-1] = len(at) - 1 if len(places) > 1 else places[-1]
    spline: Callable[[NDArray[np.float64]], NDArray[np.float64]] = PchipInterpolator(
        [at[k] for k in places], [to[k] for k in places]
    )
    return spline


@dataclass(frozen=True, slots=True)
class Unwarp(Element):
    """The inverse of a bend: tau is solved for."""

    warp: TimeMap

    @property
    def group(self) -> str:
        return "shift"

    def place_of(self, place: int, count: int) -> int:
        return _place_of(self, place, count)

    @property
    def domains(self) -> tuple[str, ...]:  # type: ignore[override]
        return DOMAINS

    @property
    def identity(self) -> bool:
        return False

    def inverse(self) -> Element:
        return self.warp

    def merge(self, first: Element) -> None:
        return None

    def exact(self, field: FieldType, shape: tuple[int, ...]) -> bool:
        return False

    def tau(self, steps: int) -> NDArray[np.float64]:
        there = self.warp.tau(steps)
        # a handle can hold time still; the least slope keeps the way back unique
        rising = np.maximum.accumulate(there + 1e-6 * np.arange(steps))
        t = np.arange(steps, dtype=np.float64)
        back: NDArray[np.float64] = np.interp(t, rising, t, left=-1.0, right=float(steps))
        return back

    def act(self, values: Tensor, field: FieldType) -> Tensor:
        _require_whole(self, values, field)
        for axis in _axes(field):
            values = sampled(values, self.tau(values.shape[axis]), axis, self.warp.boundary)
        return values

    def known(self, values: Tensor, field: FieldType) -> Tensor | None:
        axes = _axes(field)
        if not axes:
            return None
        inside = [_inside(self.tau(values.shape[axis]), values.shape[axis]) for axis in axes]
        return _places(values, inside)


def _place_of(element: Element, step: int, count: int) -> int:
    """Return the step whose value comes from nearest to `step`, -1 where none comes from within a step of it."""
    import torch

    steps = torch.arange(count, dtype=torch.float64, device="cpu")[:, None]
    sources = element.act(steps, STEP)[:, 0]
    at = int((sources - step).abs().argmin()) if count else -1
    known = element.known(steps, STEP)
    inside = known is None or bool(known[at])
    return at if count and inside and abs(float(sources[at]) - step) < 1.0 else -1


def _require_whole(element: Element, values: Tensor, field: FieldType) -> None:
    """Raise NoAction where a matrix that is never formed would be resampled: every row would be made of several."""
    if hasattr(values, "head_rows") and not element.exact(field, tuple(values.shape)):
        raise NoAction("a matrix of so many pairs of steps is moved by whole steps only")


def _places(values: Tensor, inside: list[NDArray[np.bool_]]) -> Tensor:
    """Return 1 where a place is known, and a pair where both of its places are; as factors where they are many."""
    import torch

    from explorer.network.inner.tiled import outer

    known = [torch.as_tensor(one, dtype=values.dtype, device=values.device) for one in inside]
    return known[0] if len(known) == 1 else outer(*known)


def _axes(field: FieldType) -> tuple[int, ...]:
    match field.domain:
        case Steps(axis=axis):
            return (axis,)
        case Pairs():
            return (-2, -1)
        case _:
            return ()


def _coarse(
    source: Callable[[NDArray[np.float64], int], NDArray[np.float64]], places: int, apart: float
) -> NDArray[np.float64]:
    """Return where the value at each place comes from, counted in places; `source` counts in steps."""
    within = (apart - 1) / 2  # a place stands for the middle of its steps
    at: NDArray[np.float64] = np.arange(places, dtype=np.float64) * apart + within
    found: NDArray[np.float64] = (source(at, round(places * apart)) - within) / apart
    return found


def _inside(tau: NDArray[np.float64], steps: int) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (tau >= -_TINY) & (tau <= steps - 1 + _TINY)
    return found


def sampled(values: Tensor, tau: NDArray[np.float64], axis: int, boundary: str) -> Tensor:
    """Return values at tau along one axis: moved where tau is whole, linear between two steps elsewhere."""
    import torch

    steps = values.shape[axis]
    if steps == 0:
        return values
    whole = np.round(tau)
    near = np.abs(tau - whole) < 1e-6
    low = np.where(near, whole, np.floor(tau)).astype(np.int64)
    share = np.where(near, 0.0, tau - low)
    inside = _inside(tau, steps)
    if boundary == "circular":
        first, second = low % steps, (low + 1) % steps
    else:
        first, second = (np.clip(k, 0, steps - 1) for k in (low, low + 1))

    def take(index: NDArray[Any]) -> Tensor:
        return values.index_select(axis, torch.as_tensor(index, device=values.device))

    moved = take(first)
    shape = [1] * values.ndim
    shape[axis] = steps
    if share.any():
        part = torch.as_tensor(share, dtype=values.dtype, device=values.device).view(shape)
        moved = moved * (1 - part) + take(second) * part
    if boundary == "zero" and not inside.all():
        moved = moved * torch.as_tensor(inside, device=values.device).view(shape)
    return moved


def _complemented(values: Tensor, field: FieldType) -> Tensor:
    """Exchange the channels of the two strands: those of the input (A, C, G, T), and of fields that hold both."""
    both = isinstance(field.rep, Strands) or (isinstance(field.rep, Scalar) and field.rep.intensity)
    steps = field.domain.axis if isinstance(field.domain, Steps) else 0
    channels = next((axis for axis in reversed(range(values.ndim)) if axis != steps), None)
    return values if not both or channels is None else values.flip(channels)
