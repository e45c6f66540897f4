"""Errors of every layer along a one-parameter family of elements, in batches, a part at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.declare.elements import Element, NoAction, Transform, chain_element, transforms
from explorer.declare.inputs import Inputs
from explorer.equivariance import measure
from explorer.network.changing.moved_network import following
from explorer.network.inner.tiled import Tiled
from explorer.network.tracing.layers import Layer, LayerError
from explorer.network.tracing.running import evaluating
from explorer.square.analyses.sweep import Figures, of_one_size, one_by_one, sweep
from explorer.square.drawing.layers import NOTHING, scores_of
from explorer.square.frame import OrbitCurve
from explorer.square.preparing.prepare import Prepared
from explorer.square.space import space_of
from explorer.state.state import State
from explorer.work.progress import giving_way, waited

COUNT = 72
COUNTS = (COUNT, 36, 24, 12, 8)  # quarter turns are among them
MOST_NUMBERS = 2**31  # that are compared along a curve: half a minute of one processor
PART_SECONDS = 0.1  # of forward passes between two curves
COMPARED = 2**24  # numbers of a layer that are compared at once
TOGETHER = 2**18  # numbers of layers that are moved there and back at once
FULL_SECONDS = 5.0  # of forward passes that a second, complete pass over the orbit may cost


def orbit_values(transform: Transform, sample_size: int, count: int = COUNT) -> NDArray[np.float64]:
    """Return the parameter's values along the orbit: the whole circle, +-half the image, or the parameter's range."""
    assert transform.orbit is not None
    param = transform.params[transform.orbit]
    if param.periodic:
        return np.linspace(param.minimum, param.maximum, count, endpoint=False)
    if transform.along is not None:
        return np.asarray(transform.along(sample_size, count), np.float64)
    if param.default == param.minimum:
        # from nothing to all of it; of what is counted only as many as there are
        if param.whole or param.choices:
            return param.minimum + np.arange(min(count, round(param.maximum - param.minimum) + 1), dtype=np.float64)
        return np.linspace(param.minimum, param.maximum, count)
    if param.minimum < 0:
        # both ways from what does nothing
        both = np.linspace(param.minimum, param.maximum, 2 * (count // 2) + 1)
        return np.unique(np.append(both, param.default).round(0 if param.whole else 9))
    low, high = max(param.minimum, param.default / 4), min(param.maximum, param.default * 4)
    values = np.geomspace(low, high, count) if low > 0 else np.linspace(low, high, count)
    return np.unique(np.append(values.round() if param.whole else values, param.default))


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


def _count(p: Prepared) -> int:
    """Return at how many places a curve is measured: fewer where layers have very many values.

    Their number tells, and no clock, so that the same data has the same curve on every machine.
    """
    numbers = sum(value.numel() for value in p.values.values() if isinstance(value, torch.Tensor))
    return next((c for c in COUNTS if c * numbers <= MOST_NUMBERS), COUNTS[-1])


def orbit(
    p: Prepared, state: State, batch: int | None = None, count: int | None = None, complete: bool = True
) -> Iterator[OrbitCurve | None]:
    """Yield ever more complete curves; each yield is a point where newer work may take over.

    None says that it has taken over in the midst of a part, which begins anew.

    First every layer is surveyed at a few places; with `complete`, networks that are quick enough are then compared
    everywhere, and the floors follow.
    """
    transform = transforms()[state.orbit]
    count = _count(p) if count is None else count
    values = orbit_values(transform, p.x.shape[-1] if p.inputs.batched else p.inputs.places, count)
    words = orbit_elements(state, transform, values)
    layers = [w for w in p.watched if w.name in p.innermost]
    n = len(values)
    errors = {w.name: np.full(n, np.nan) for w in layers}
    lowest = {w.name: np.full(n, np.nan) for w in layers}
    exact, estimated = np.zeros(n, bool), np.zeros(n, bool)
    soft: dict[str, list[int]] = {w.name: [] for w in layers}  # the elements that resample a layer
    outputs: NDArray[np.float64] | None = None
    if batch is None:
        # a batch should take about as long as a person does not notice
        batch = int(min(n, max(1, PART_SECONDS // max(p.forward_seconds, 1e-4))))
    last = (bool(p.labels), p.trace[p.trace.output].field, state.node)
    declared = transform.params[transform.orbit or 0]

    def curve(done: int) -> OrbitCurve:
        return OrbitCurve(
            state, p.card.name, transform.name, declared.name, declared.unit, values,
            {k: v.copy() for k, v in errors.items()}, {k: v.copy() for k, v in lowest.items()}, exact.copy(),
            np.zeros((n, 0)) if outputs is None else outputs.copy(), p.labels, done,
            estimated.copy(),
        )  # fmt: skip

    def bound(part: slice) -> list[Element]:
        # a part at a time: on a large mesh each may be a surface of its own
        return [word.on(p.inputs) for word in words[part] if not waited()]

    def compare(
        part: slice, elements: list[Element], by: Callable[..., tuple[Figures, Sequence[Tensor]]]
    ) -> Sequence[Tensor]:
        """Fill in the errors of a part of the orbit and return the network's answers there."""
        alike: Iterable[tuple[list[int], Inputs | None]] = [(list(range(len(elements))), None)]
        if p.inputs.batched:
            alike = of_one_size(p, elements)
        out: dict[int, Tensor] = {}
        with torch.no_grad(), evaluating(p.model), following(p.model):
            for places, moved in alike:
                relative, answers = by(p, [elements[k] for k in places], moved, layers)
                out.update(zip(places, answers, strict=True))
                for name, figures in relative.items():
                    errors[name][[part.start + k for k in places]] = figures
        return [out[k] for k in range(len(elements))]

    ways = space_of(p.inputs).sweepers()
    quick, full = ways or ((sweep, sweep) if p.inputs.batched else (one_by_one, one_by_one))
    for first in range(0, n, batch):
        part = slice(first, min(first + batch, n))
        elements = yield from giving_way(partial(bound, part))
        exact[part] = [p.inputs.exact(e) for e in elements]
        for w in layers:
            assert w.field is not None
            soft[w.name] += [k for k, e in enumerate(elements, first) if not e.exact(w.field, w.shape)]
        try:
            out = yield from giving_way(partial(compare, part, elements, quick))
        except LayerError:
            if batch == 1:
                raise
            yield from orbit(p, state, 1, count, complete)  # a network may take one sample at a time only
            return
        estimated[part] = quick is not full
        each = [scores_of(o, *last, e) if p.answers else NOTHING for o, e in zip(out, elements, strict=True)]
        if len(lengths := {len(one) for one in each} | ({outputs.shape[1]} if outputs is not None else set())) > 1:
            told = " and ".join(map(str, sorted(lengths)[:2]))
            raise LayerError(p.trace.output, f"the network answers with {told} numbers along the orbit")
        scores = np.stack(each).astype(np.float64)
        outputs = np.full((n, scores.shape[1]), np.nan) if outputs is None else outputs
        outputs[part] = scores
        # complete means with its floors, which are still to come
        yield curve(min(part.stop, n - 1) if complete else part.stop)
    if not complete:
        return
    largest = max((p.values[w.name].numel() for w in layers), default=1)
    few = max(1, min(batch, COMPARED // max(1, largest)))  # what is expected is held beside what was answered
    rough = quick is not full and p.forward_seconds * n < FULL_SECONDS
    for first in range(0, n, few) if rough else ():
        part = slice(first, min(first + few, n))
        elements = yield from giving_way(partial(bound, part))
        yield from giving_way(partial(compare, part, elements, full))
        estimated[part] = False
        yield curve(n - 1)
    start = time.perf_counter()
    for group in _alike(p, layers):
        for w in group:
            lowest[w.name][:] = p.float_floor[w.name]
        if not any(e.resamples for e in words):
            continue
        # the floor changes slowly between exact elements: a dozen of them draw the band
        these = soft[group[0].name]
        some = these[:: max(1, len(these) // 12)]
        found: list[list[float]] = []
        for k in some:
            try:
                found.append((yield from giving_way(partial(_floors, p, words[k], group))))
            except NoAction:
                break
            if time.perf_counter() - start > PART_SECONDS:
                yield curve(n - 1)
                start = time.perf_counter()
        if some and len(found) == len(some):
            for w, floors in zip(group, zip(*found, strict=True), strict=True):
                between = np.interp(values[these], values[some], floors)
                lowest[w.name][these] = np.maximum(between, p.float_floor[w.name])
    yield curve(n)


def _alike(p: Prepared, layers: Sequence[Layer]) -> Iterator[list[Layer]]:
    """Yield groups of layers of one field and shape, small enough to be moved together."""
    groups: dict[tuple[object, ...], list[list[Layer]]] = {}
    for w in layers:
        value, field = p.values[w.name], w.field
        assert field is not None
        apart = not field.batched or isinstance(value, Tiled)
        room = 1 if apart else max(1, TOGETHER // max(1, value.numel()))
        some = groups.setdefault((w.name,) if apart else (field, tuple(value.shape), value.dtype), [[]])
        if len(some[-1]) == room:
            some.append([])
        some[-1].append(w)
    for some in groups.values():
        yield from some


def _floors(p: Prepared, word: Element, layers: Sequence[Layer]) -> list[float]:
    """Return the floors of layers of one field and shape."""
    waited()
    field = layers[0].field
    assert field is not None
    with torch.inference_mode():
        found = measure.all_there_and_back(
            word.on(p.inputs), [p.values[w.name] for w in layers], field, [w.sees for w in layers]
        )
        return [float(floor) for floor in torch.cat(found)]
