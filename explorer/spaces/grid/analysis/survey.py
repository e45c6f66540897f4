"""Measure every layer of images along an orbit, with all elements in one batch.

Two ways to the same figure. `sweep` compares every place of every layer. `survey` compares a few dozen places of each,
spread evenly over those that are determined: an estimate within a few per cent of the norm, for a fraction of a forward
pass, which is what a curve that follows the hand needs; the orbit is then completed by the first way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.declare.elements import Element
from explorer.declare.inputs import Given
from explorer.declare.types.fields import FieldType, Point, Regular, Scalar
from explorer.equivariance import measure
from explorer.network.tracing.layers import Layer
from explorer.spaces.grid.elements.affine import Affine, fibre_matrix
from explorer.spaces.grid.elements.resampling import StackedElements, by_place, real, resampling_by_place
from explorer.spaces.grid.fields import Grid
from explorer.square.analyses.sweep import Figures, in_a_batch, norms_of
from explorer.square.preparing.kept import kept
from explorer.square.preparing.prepare import Prepared
from explorer.work.budget import budgeted

VALUES = 1024  # compared in a survey, per layer and element, in all channels together
PLACES = (16, 32)  # at least and at most
KEPT_VALUES = 2**20  # of a layer whose coefficients are kept for the next part of the orbit


def survey(
    p: Prepared, elements: Sequence[Element], gx: Given | None, layers: Sequence[Layer]
) -> tuple[Figures, list[Tensor]]:
    """Return ({layer: relative error per element, estimated at `PLACES` places}, outputs).

    Elements that are no plain affine map (a circular shift before a true rotation) are compared everywhere.
    """
    if not all(isinstance(e, Affine) and (e.boundary == "zero" or e.shift == (0.0, 0.0)) for e in elements):
        return sweep(p, elements, gx, layers)
    actions = _Actions(elements)
    plans = _plans(tuple(e for e in elements if isinstance(e, Affine)))

    def norms(name: str, answer: Tensor) -> Tensor:
        value, field = p.values[name], p.trace[name].field
        assert field is not None
        if not isinstance(field.domain, Grid) or math.isinf(field.domain.spacing):
            return norms_of(actions.act(value, field), answer)
        size = field.domain.flat or (value.shape[-2], value.shape[-1])
        if size[0] != size[1] and plans.lattice:
            return _everywhere(actions, p, name, answer)
        places = min(max(VALUES * size[0] * size[1] // value.numel(), PLACES[0]), PLACES[1])
        receptive = p.trace[name].receptive
        plan = plans.on(size, field.domain.spacing, receptive, places, str(value.device), real(value))
        return plan.norms(_by_place(p, name, size), answer, field)

    return in_a_batch(p, elements, gx, layers, norms)


def sweep(
    p: Prepared, elements: Sequence[Element], gx: Given | None, layers: Sequence[Layer]
) -> tuple[Figures, list[Tensor]]:
    """Return ({layer: relative error per element}, outputs), compared at every place that is determined."""
    actions = _Actions(elements)
    return in_a_batch(p, elements, gx, layers, lambda name, answer: _everywhere(actions, p, name, answer))


def _everywhere(actions: _Actions, p: Prepared, name: str, answer: Tensor) -> Tensor:
    value, field = p.values[name], p.trace[name].field
    assert field is not None
    expected = actions.act(value, field)
    masks = actions.masks(value, field, p.trace[name].receptive)
    if masks is not None:
        masks = masks.flatten(1)[:, None]  # (elements, 1, places)
        shape = (len(masks), -1, masks.shape[-1])
        expected, answer = expected.reshape(shape) * masks, answer.reshape(shape) * masks
    return norms_of(expected, answer)


def _by_place(p: Prepared, name: str, size: tuple[int, int]) -> Tensor:
    """Return the coefficients of F(x) at one layer; they belong to the epoch, and small ones are kept with it."""
    few = p.values[name].numel() <= KEPT_VALUES
    return _coefficients(p, name, size) if few else by_place(p.values[name].reshape(-1, *size))


@kept(most=256)
def _coefficients(p: Prepared, name: str, size: tuple[int, int]) -> Tensor:
    return by_place(p.values[name].reshape(-1, *size))


@lru_cache(maxsize=32)
def spread_evenly(h: int, w: int) -> NDArray[np.int64]:
    """Return the numbers of all places of a grid in an order whose first ones, however many, are spread over all of it.

    They follow the additive recurrence with the inverse powers of the plastic number (the R2 sequence). Places drawn at
    random leave gaps, and a norm estimated from as many of them is up to twice as far off.
    """
    plastic = 1.32471795724474602596
    n = np.arange(1, 4 * h * w + 1)
    y, x = (((0.5 + n / plastic**k) % 1 * side).astype(np.int64) for k, side in ((1, h), (2, w)))
    met = y * w + x
    _, first = np.unique(met, return_index=True)
    chosen = met[np.sort(first)]
    return np.concatenate([chosen, np.setdiff1d(np.arange(h * w), chosen)])


class _Plan:
    """The places where each element is compared on one grid, and the way from given values to expected ones."""

    def __init__(
        self, elements: Sequence[Affine], size: tuple[int, int], field: FieldType, receptive: float, most: int,
        device: str, dtype: torch.dtype,
    ) -> None:  # fmt: skip
        h, w = size
        self.elements, self.size = elements, size
        like = torch.empty((), dtype=dtype, device=device).expand(1, 1, h, w)
        # the same scattered order for every element, so that neighbours on the curve are compared alike
        order = spread_evenly(h, w)
        places = np.zeros((len(elements), most), dtype=np.int64)
        counts = np.zeros((len(elements), most))
        for k, element in enumerate(elements):
            known = measure.mask(element, like, field, receptive).places
            kept = order if known is None else order[known.flatten().cpu().numpy()[order] > 0]
            chosen = kept[:most]
            places[k, : len(chosen)], counts[k, : len(chosen)] = chosen, 1.0
        shifts = [(e.shift[0] / field.spacing, e.shift[1] / field.spacing) for e in elements]
        # quarter turns stay bit-exact: they gather the values themselves
        self.matrix = resampling_by_place(places, size, [e.matrix for e in elements], shifts, device, dtype)
        self.places = torch.from_numpy(places).to(device)
        self.counts = None if counts.all() else torch.from_numpy(counts).to(device=device, dtype=dtype)[..., None]
        self._mixes: dict[str, Tensor] = {}

    def norms(self, given: Tensor, answer: Tensor, field: FieldType) -> Tensor:
        """Return ||answer - expected|| and ||expected|| at the places, per element, (2, elements).

        Args:
            given: what `by_place` makes of F(x).
        """
        expected: Tensor = torch.sparse.mm(self.matrix, given)  # (elements * places, channels)
        expected = expected.view(*self.places.shape, -1)
        if isinstance(field.rep, Regular):
            mix = self._mix(field.rep, expected)
            expected = (expected.reshape(len(mix), -1, field.rep.group.order) @ mix).view(expected.shape)
        channels = given.shape[1]
        at = self.places[:, None].expand(-1, channels, -1)
        got = answer.reshape(len(self.elements), channels, -1).gather(2, at).transpose(1, 2)
        if self.counts is not None:
            expected, got = expected.mul_(self.counts), got.mul_(self.counts)
        size = torch.linalg.vector_norm(expected, dim=(1, 2))
        # in place, because to touch fresh memory takes longer than the subtraction
        return torch.stack([torch.linalg.vector_norm(expected.sub_(got), dim=(1, 2)), size])

    def _mix(self, rep: Regular, like: Tensor) -> Tensor:
        """Return the transposed fibre matrices, (elements, |H|, |H|)."""
        if rep.group.name not in self._mixes:
            mix = np.stack([fibre_matrix(rep.group, e.orthogonal).T for e in self.elements])
            self._mixes[rep.group.name] = torch.from_numpy(mix).to(like)
        return self._mixes[rep.group.name]


class _Plans:
    """The plans of one set of elements, by grid size, spacing and receptive field."""

    def __init__(self, elements: tuple[Affine, ...]) -> None:
        self.elements = elements
        self.lattice = any(e.lattice for e in elements)

    def on(
        self, size: tuple[int, int], spacing: float, receptive: float, places: int, device: str, dtype: torch.dtype
    ) -> _Plan:
        return _plan(self.elements, size, FieldType(Grid(spacing)), receptive, places, device, dtype)


_plan, _plans = budgeted(_Plan), lru_cache(maxsize=8)(_Plans)


class _Actions:
    """The same elements on many layers: what depends on the grid's size alone is made once."""

    def __init__(self, elements: Sequence[Element]) -> None:
        self.elements = elements
        affine = [e for e in elements if isinstance(e, Affine) and e.shift == (0.0, 0.0)]
        self._turns = affine if len(affine) == len(elements) and any(not e.lattice for e in affine) else None
        self._masks: dict[tuple[object, ...], Tensor | None] = {}

    def act(self, value: Tensor, field: FieldType) -> Tensor:
        """Return rho(g) value for every element, (1, channels, ...) -> (elements, channels, ...)."""
        if isinstance(field.domain, Point) and isinstance(field.rep, Scalar):
            return value.expand(len(self.elements), *value.shape[1:])
        if self._turns is None or not isinstance(field.domain, Grid):
            return torch.cat([e.act(value, field) for e in self.elements])
        size = field.domain.flat or (value.shape[-2], value.shape[-1])
        orbit = _orbit(tuple(self._turns), size, str(value.device), real(value))
        moved = orbit.act(value.reshape(-1, *size))  # (elements, channels, h, w)
        if isinstance(field.rep, Regular):
            order = field.rep.group.order
            mix = np.stack([fibre_matrix(field.rep.group, e.orthogonal) for e in self._turns])
            mixing = torch.as_tensor(mix, dtype=moved.dtype, device=moved.device)[:, None]  # (elements, 1, |H|, |H|)
            blocks = moved.reshape(len(mix), -1, order, size[0] * size[1])
            moved = (mixing @ blocks).reshape(moved.shape)
        return moved.reshape(len(self.elements), *value.shape[1:])

    def masks(self, value: Tensor, field: FieldType, receptive: float) -> Tensor | None:
        """Return where each element's comparison is made, (elements, h, w), or None for everywhere."""
        if not isinstance(field.domain, Grid):
            return None
        size = field.domain.flat or tuple(value.shape[-2:])
        key = (size, field.domain.spacing, receptive)
        if key not in self._masks:
            plain = FieldType(Grid(field.domain.spacing))
            like = value.new_zeros((1, 1, *size))
            each = [measure.mask(e, like, plain, receptive).places for e in self.elements]
            ones = like[0, 0] + 1
            self._masks[key] = (
                None if all(m is None for m in each) else torch.stack([ones if m is None else m for m in each])
            )
        return self._masks[key]


@budgeted  # it holds 16 entries for every place of every element
def _orbit(elements: tuple[Affine, ...], size: tuple[int, int], device: str, dtype: torch.dtype) -> StackedElements:
    return StackedElements([e.matrix for e in elements], size, device, dtype)
