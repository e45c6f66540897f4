"""One batched forward over many elements, with every layer's error reduced inside the hooks.

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

from explorer.capture import capture
from explorer.equivariance import measure
from explorer.fields import FieldType, Grid, Point, Regular, Scalar
from explorer.grid_action import Orbit, lattice_index, real, resampling_at, spline_coefficients
from explorer.prepare import Prepared
from explorer.trace import Layer
from explorer.transforms import Element, NoAction
from explorer.transforms.affine import Affine, fibre_matrix

PLACES = 32  # compared in a survey, per layer and element

Figures = dict[str, NDArray[np.float64]]


def survey(p: Prepared, elements: Sequence[Element], gx: Tensor, layers: Sequence[Layer]) -> tuple[Figures, Tensor]:
    """Return ({layer: relative error per element, estimated at `PLACES` places}, outputs).

    Elements that are no plain affine map (a circular shift before a true rotation) are compared everywhere.
    """
    if not all(isinstance(e, Affine) and (e.boundary == "zero" or e.shift == (0.0, 0.0)) for e in elements):
        return sweep(p, elements, gx, layers)
    turns = tuple(e for e in elements if isinstance(e, Affine))
    actions = _Actions(elements)

    def figures(name: str, answer: Tensor) -> Tensor:
        value, field = p.values[name], p.trace[name].field
        assert field is not None
        if not isinstance(field.domain, Grid) or math.isinf(field.domain.spacing):
            return _relative(actions.act(value, field).flatten(1), answer.flatten(1))
        size = field.domain.flat or (value.shape[-2], value.shape[-1])
        if size[0] != size[1] and any(e.lattice for e in turns):
            return _everywhere(actions, p, name, answer)
        plain = FieldType(Grid(field.domain.spacing))
        plan = _plan(turns, size, plain, p.trace[name].receptive, str(value.device), real(value))
        return plan.errors(value, answer, field)

    return _run(p, gx, layers, len(elements), figures)


def sweep(p: Prepared, elements: Sequence[Element], gx: Tensor, layers: Sequence[Layer]) -> tuple[Figures, Tensor]:
    """Return ({layer: relative error per element}, outputs), compared at every place that is determined."""
    actions = _Actions(elements)
    return _run(p, gx, layers, len(elements), lambda name, answer: _everywhere(actions, p, name, answer))


def _run(p: Prepared, gx: Tensor, layers: Sequence[Layer], count: int, figures: object) -> tuple[Figures, Tensor]:
    wanted = {w.name for w in layers} | {p.trace.output}
    output: list[Tensor] = []

    def reduce(name: str, answer: Tensor) -> Tensor:
        if name == p.trace.output:
            output.append(answer)
        if p.trace[name].field is None or answer.shape[1:] != p.values[name].shape[1:]:
            return torch.full((count,), math.nan)
        try:
            found: Tensor = figures(name, answer)  # type: ignore[operator]
        except NoAction:
            return torch.full((count,), math.nan)
        return found

    found, _ = capture(p.model, gx, wanted, reduce=reduce)
    return {w.name: found[w.name].double().cpu().numpy() for w in layers}, output[0]


def _relative(expected: Tensor, answer: Tensor) -> Tensor:
    """Return ||answer - expected|| / ||expected|| per row."""
    size, wrong = expected.norm(dim=1), (answer - expected).norm(dim=1)
    relative = wrong / size.clamp_min(torch.finfo(size.dtype).tiny)
    return torch.where(size > 0, relative, (wrong > 0).to(size.dtype))


def _everywhere(actions: _Actions, p: Prepared, name: str, answer: Tensor) -> Tensor:
    value, field = p.values[name], p.trace[name].field
    assert field is not None
    expected = actions.act(value, field)
    masks = actions.masks(value, field, p.trace[name].receptive)
    if masks is not None:
        masks = masks.flatten(1)[:, None]  # (elements, 1, places)
        shape = (len(masks), -1, masks.shape[-1])
        expected, answer = expected.reshape(shape) * masks, answer.reshape(shape) * masks
    return _relative(expected.flatten(1), answer.flatten(1))


class _Plan:
    """Where each element is compared on one grid size, and how the expected values there come from the coefficients."""

    def __init__(
        self, elements: Sequence[Affine], size: tuple[int, int], field: FieldType, receptive: float, device: str,
        dtype: torch.dtype,
    ) -> None:  # fmt: skip
        h, w = size
        self.elements, self.size = elements, size
        like = torch.empty((), dtype=dtype, device=device).expand(1, 1, h, w)
        # the same scattered order for every element, so that neighbours on the curve are compared alike
        order = np.random.default_rng(0).permutation(h * w)
        places = np.zeros((len(elements), PLACES), dtype=np.int64)
        counts = np.zeros((len(elements), PLACES))
        for k, element in enumerate(elements):
            known = measure.mask(element, like, field, receptive).places
            kept = order if known is None else order[known.flatten().cpu().numpy()[order] > 0]
            chosen = kept[:PLACES]
            places[k, : len(chosen)], counts[k, : len(chosen)] = chosen, 1.0
        self.places = torch.from_numpy(places).to(device)
        self.counts = torch.from_numpy(counts).to(device=device, dtype=dtype)[..., None]  # (elements, places, 1)
        shifts = [(e.shift[0] / field.spacing, e.shift[1] / field.spacing) for e in elements]
        self.matrix = resampling_at(places, size, [e.matrix for e in elements], shifts, device, dtype)
        exact = [(k, lattice_index(e.matrix)) for k, e in enumerate(elements) if e.shift == (0.0, 0.0)]
        # quarter turns stay bit-exact: they gather the values themselves
        self.exact = [(k, index) for k, index in exact if index is not None]
        self._mixes: dict[str, Tensor] = {}

    def errors(self, value: Tensor, answer: Tensor, field: FieldType) -> Tensor:
        """Return the relative error per element, (elements,)."""
        planes = value.reshape(-1, *self.size)
        coefficients = spline_coefficients(planes).flatten(1).t().contiguous()  # channels last
        expected: Tensor = torch.sparse.mm(self.matrix, coefficients)  # (elements * places, channels)
        expected = expected.view(*self.places.shape, -1)
        for k, (turns, mirrored) in self.exact:
            turned = torch.rot90(planes.flip(-1) if mirrored else planes, turns, (-2, -1))
            expected[k] = turned.flatten(1).index_select(1, self.places[k]).t()
        if isinstance(field.rep, Regular):
            mix = self._mix(field.rep, expected)
            expected = (expected.reshape(len(mix), -1, field.rep.group.order) @ mix).view(expected.shape)
        at = self.places[:, None].expand(-1, len(planes), -1)
        got = answer.reshape(len(self.elements), len(planes), -1).gather(2, at).transpose(1, 2)
        return _relative((expected * self.counts).flatten(1), (got * self.counts).flatten(1))

    def _mix(self, rep: Regular, like: Tensor) -> Tensor:
        """Return the transposed fibre matrices, (elements, |H|, |H|)."""
        if rep.group.name not in self._mixes:
            mix = np.stack([fibre_matrix(rep.group, e.orthogonal).T for e in self.elements])
            self._mixes[rep.group.name] = torch.from_numpy(mix).to(like)
        return self._mixes[rep.group.name]


@lru_cache(maxsize=64)
def _plan(
    elements: tuple[Affine, ...], size: tuple[int, int], field: FieldType, receptive: float, device: str,
    dtype: torch.dtype,
) -> _Plan:  # fmt: skip
    return _Plan(elements, size, field, receptive, device, dtype)


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


@lru_cache(maxsize=8)  # of one network's grid sizes; each holds 16 entries for every place of every element
def _orbit(elements: tuple[Affine, ...], size: tuple[int, int], device: str, dtype: torch.dtype) -> Orbit:
    return Orbit([e.matrix for e in elements], size, device, dtype)
