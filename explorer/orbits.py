"""Errors of every layer along a one-parameter family of elements, in batches, a part at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.capture import capture
from explorer.equivariance import measure
from explorer.evaluate import scores_of
from explorer.fields import FieldType, Grid, Point, Regular, Scalar
from explorer.frame import OrbitCurve
from explorer.grid_action import Orbit, real
from explorer.prepare import Prepared
from explorer.state import State
from explorer.trace import Layer, evaluating
from explorer.transforms import Element, NoAction, Transform, chain_element, transforms
from explorer.transforms.affine import Affine, fibre_matrix

COUNT = 72


def orbit_values(transform: Transform, sample_size: int, count: int = COUNT) -> NDArray[np.float64]:
    """Return the parameter's values along the orbit: the whole circle, +-half the image, or the parameter's range."""
    assert transform.orbit is not None
    param = transform.params[transform.orbit]
    if param.periodic:
        return np.linspace(param.minimum, param.maximum, count, endpoint=False)
    if transform.name == "translate":
        half = sample_size // 2
        step = max(1.0, 2 * half / (count - 1))
        return np.arange(-half, half + 1e-9, math.ceil(step)).astype(np.float64)
    low, high = max(param.minimum, param.default / 4), min(param.maximum, param.default * 4)
    values = np.geomspace(low, high, count) if low > 0 else np.linspace(low, high, count)
    return np.unique(np.append(values, param.default))


def orbit_elements(state: State, transform: Transform, values: NDArray[np.float64]) -> list[Element]:
    """Return one element per value: the state's whole chain with that one parameter running."""
    step = state.step(transform.name)
    running = list(step.values if step else transform.defaults)
    elements = []
    assert transform.orbit is not None
    for value in values:
        running[transform.orbit] = float(value)
        elements.append(chain_element(state.with_step(transform.name, tuple(running)).steps))
    return elements


def orbit(p: Prepared, state: State, batch: int | None = None, count: int = COUNT, floors: bool = True) -> Iterator[OrbitCurve]:
    """Yield ever more complete curves; each yield is a point where newer work may take over."""
    transform = transforms()[state.orbit]
    values = orbit_values(transform, p.x.shape[-1], count)
    elements = orbit_elements(state, transform, values)
    layers = [w for w in p.watched if w.leaf and w.field is not None]
    n = len(values)
    errors = {w.name: np.full(n, np.nan) for w in layers}
    lowest = {w.name: np.full(n, np.nan) for w in layers}
    exact = np.array([e.exact(p.x_field, tuple(p.x.shape)) for e in elements])
    outputs: NDArray[np.float64] | None = None
    if batch is None:
        # a batch should take about as long as a person does not notice
        batch = int(min(n, max(1, 0.1 // max(p.forward_seconds, 1e-4))))
    probabilities = bool(p.card.labels) and p.output.ndim == 2
    declared = transform.params[transform.orbit or 0]

    def curve(done: int) -> OrbitCurve:
        return OrbitCurve(
            state, p.card.name, transform.name, declared.name, declared.unit, values,
            {k: v.copy() for k, v in errors.items()}, {k: v.copy() for k, v in lowest.items()}, exact,
            np.zeros((n, 0)) if outputs is None else outputs.copy(), p.card.labels, done,
        )  # fmt: skip

    for first in range(0, n, batch):
        part = slice(first, min(first + batch, n))
        with torch.no_grad(), evaluating(p.model):
            gx = torch.cat([e.act(p.x, p.x_field) for e in elements[part]])
            relative, out = sweep(p, elements[part], gx, layers)
        for name, figures in relative.items():
            errors[name][part] = figures
        scores = np.stack([scores_of(out[k : k + 1], probabilities) for k in range(len(out))]).astype(np.float64)
        outputs = np.full((n, scores.shape[1]), np.nan) if outputs is None else outputs
        outputs[part] = scores
        # complete means with its floors, which are still to come
        yield curve(min(part.stop, n - 1) if floors else part.stop)
    if not floors:
        return
    for w in layers:
        assert w.field is not None
        lowest[w.name][:] = p.float_floor[w.name]
        soft = [k for k in range(n) if not elements[k].exact(w.field, w.shape)]
        if not soft:
            continue
        # the floor changes slowly between exact elements: a dozen of them draw the band
        some = soft[:: max(1, len(soft) // 12)]
        with torch.no_grad():
            figures = [
                float(measure.there_and_back(elements[k], p.values[w.name], w.field, w.receptive)) for k in some
            ]
        lowest[w.name][soft] = np.maximum(np.interp(values[soft], values[some], figures), p.float_floor[w.name])
    yield curve(n)


def sweep(
    p: Prepared, elements: Sequence[Element], gx: Tensor, layers: Sequence[Layer]
) -> tuple[dict[str, NDArray[np.float64]], Tensor]:
    """Return ({layer: relative error per element}, outputs): one batched forward, errors reduced inside the hooks."""
    actions = _Actions(elements)
    wanted = {w.name for w in layers} | {p.trace.output}
    output: list[Tensor] = []

    def reduce(name: str, answer: Tensor) -> Tensor:
        if name == p.trace.output:
            output.append(answer)
        field = p.trace[name].field
        unknown = torch.full((len(elements),), math.nan)
        if field is None:
            return unknown
        try:
            expected = actions.act(p.values[name], field)
        except NoAction:
            return unknown
        if expected.shape != answer.shape:
            return unknown
        masks = actions.masks(p.values[name], field, p.trace[name].receptive)
        error = answer - expected
        if masks is not None:
            masks = masks.flatten(1)[:, None]  # (elements, 1, places)
            shape = (len(elements), -1, masks.shape[-1])
            error, expected = error.reshape(shape) * masks, expected.reshape(shape) * masks
        size, wrong = expected.flatten(1).norm(dim=1), error.flatten(1).norm(dim=1)
        relative = wrong / size.clamp_min(torch.finfo(size.dtype).tiny)
        return torch.where(size > 0, relative, (wrong > 0).to(size.dtype))

    figures, _ = capture(p.model, gx, wanted, reduce=reduce)
    return {w.name: figures[w.name].double().cpu().numpy() for w in layers}, output[0]


class _Actions:
    """The same elements on many layers: what depends on the grid's size alone is made once."""

    def __init__(self, elements: Sequence[Element]) -> None:
        self.elements = elements
        affine = [e for e in elements if isinstance(e, Affine) and e.shift == (0.0, 0.0)]
        self._turns = affine if len(affine) == len(elements) and any(not e.lattice for e in affine) else None
        self._orbits: dict[tuple[int, ...], Orbit] = {}
        self._masks: dict[tuple[object, ...], Tensor | None] = {}

    def act(self, value: Tensor, field: FieldType) -> Tensor:
        """Return rho(g) value for every element, (1, channels, ...) -> (elements, channels, ...)."""
        if isinstance(field.domain, Point) and isinstance(field.rep, Scalar):
            return value.expand(len(self.elements), *value.shape[1:])
        if self._turns is None or not isinstance(field.domain, Grid):
            return torch.cat([e.act(value, field) for e in self.elements])
        size = field.domain.flat or (value.shape[-2], value.shape[-1])
        if size not in self._orbits:
            self._orbits[size] = Orbit([e.matrix for e in self._turns], size, str(value.device), real(value))
        moved = self._orbits[size].act(value.reshape(-1, *size))  # (elements, channels, h, w)
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
