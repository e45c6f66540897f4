"""Measure every layer under many elements, with the errors reduced inside the hooks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.declare.elements import Element, NoAction
from explorer.declare.inputs import Given, Inputs
from explorer.equivariance import measure
from explorer.equivariance.trial.remembered import Remembered
from explorer.network.changing.interventions.moving import moved_by
from explorer.network.opening.global_state import reseed
from explorer.network.tracing.capture import capture
from explorer.network.tracing.layers import Layer, LayerError
from explorer.square.judging import constants_in
from explorer.square.preparing.prepare import Prepared
from explorer.work.progress import waited

Figures = dict[str, NDArray[np.float64]]
Norms = Callable[[str, Tensor], Tensor]  # (layer, its answer) -> (2, elements): of the error, and of what was expected


def sweep(
    p: Prepared, elements: Sequence[Element], gx: Given | None, layers: Sequence[Layer]
) -> tuple[Figures, list[Tensor]]:
    """Return ({layer: relative error per element}, outputs), compared at every place that is determined."""

    def norms(name: str, answer: Tensor) -> Tensor:
        layer, value, each = p.trace[name], p.values[name], []
        assert layer.field is not None
        for k, element in enumerate(elements):
            waited()
            where = measure.mask(element, value, layer.field, layer.sees)
            expected = measure.masked(element.act(value, layer.field), where, layer.field)
            each.append(norms_of(expected, measure.masked(answer[k : k + 1], where, layer.field)))
        return torch.cat(each, 1)

    return in_a_batch(p, elements, gx, layers, norms)


def one_by_one(
    p: Prepared, elements: Sequence[Element], gx: None, layers: Sequence[Layer]
) -> tuple[Figures, list[Tensor]]:
    """Return the same for inputs that make no batch, such as graphs and sequences: one forward pass an element."""
    if any(element.resamples for element in elements):
        p.trace.find_radii()
    most = constants_in(p) if p.chance else {}
    figures: dict[str, list[float]] = {w.name: [] for w in layers}
    outputs = []
    for element in elements:
        once = Remembered(element)

        def reduce(name: str, answer: Tensor, once: Remembered = once, element: Element = element) -> Tensor:
            layer, value = p.trace[name], p.values[name]
            if layer.field is None or (name == p.trace.output and layer not in layers):
                return answer.new_tensor(math.nan)
            expected = measure.expected_after(once, layer, value)
            if expected is None or expected.shape != answer.shape:
                return answer.new_tensor(math.nan)
            where = measure.mask(element, value, layer.field, layer.sees)
            if where.kept == 0.0:  # an error over no place would read as 0
                return answer.new_tensor(math.nan)
            return measure.apart(expected, answer, where, layer.field, most.get(name)).max()

        def both(name: str, answer: Tensor) -> Tensor:
            if name == p.trace.output:
                outputs.append(answer)
            return reduce(name, answer)

        wanted = {w.name for w in layers} | {p.trace.output}
        moved = p.inputs.moved(once)
        if measure.unmoved(p.inputs.arguments, moved.arguments):
            found = {name: both(name, p.values[name]) for name in wanted}
        else:
            reseed(p.seed)
            found = dict(capture(p.model, moved, wanted, reduce=both, cancelled=waited)[0])
        for w in layers:
            figures[w.name].append(float(found[w.name]))
    return {name: np.array(values) for name, values in figures.items()}, outputs


def in_a_batch(
    p: Prepared, elements: Sequence[Element], gx: Given | None, layers: Sequence[Layer], norms: Norms
) -> tuple[Figures, list[Tensor]]:
    """Run the batch; a layer whose field has no such action, or whose size changes, has NaN for every element."""
    wanted = {w.name for w in layers} | {p.trace.output}
    if any(e.resamples for e in elements):
        p.trace.find_radii()
    moved = gx
    if moved is None or (isinstance(moved, Tensor) and (p.inputs.call is not None or len(p.inputs.values) > 1)):
        moved = p.inputs.map(lambda v, f: torch.cat([e.act(v, f) for e in elements]))
    output: list[Tensor] = []

    def reduce(name: str, answer: Tensor) -> Tensor | None:
        if name == p.trace.output:
            output.append(answer)
        if p.trace[name].field is None or answer.numel() != len(elements) * p.values[name].numel():
            return None
        try:
            return norms(name, answer)
        except NoAction:
            return None

    with moved_by([(e,) for e in elements]):
        found, _ = capture(p.model, moved, wanted, reduce=reduce, cancelled=waited)
    answers = list(output[0].split(1)) if output[0].ndim else [output[0]]
    count = len(output[0]) if output[0].ndim else 1  # an empty tensor is split into one part, of nothing
    if count != len(elements):
        told = f"the network gave {count} answers to a batch of {len(elements)}"
        raise LayerError(p.trace.output, f"{told}: the first axis of its answer must be the batch")
    known = [w.name for w in layers if found[w.name] is not None]
    unknown = np.full(len(elements), math.nan)
    if not known:
        return {w.name: unknown for w in layers}, answers
    stacked = torch.stack([found[name].double() for name in known])  # (layers, 2, elements)
    relative = dict(zip(known, measure.quotient(stacked[:, 0], stacked[:, 1]).cpu().numpy(), strict=True))
    return {w.name: relative.get(w.name, unknown) for w in layers}, answers


def of_one_size(p: Prepared, elements: Sequence[Element]) -> Iterator[tuple[list[int], Inputs]]:
    """Yield which elements can run as one batch, with the batch: a quarter turn makes other sizes of a rectangle."""
    alike: dict[tuple[tuple[int, ...], ...], dict[int, tuple[Tensor, ...]]] = {}
    for k, element in enumerate(elements):
        waited()
        moved = tuple(element.act(v, f) for v, f in zip(p.inputs.values, p.inputs.fields, strict=True))
        alike.setdefault(tuple(tuple(v.shape) for v in moved), {})[k] = moved
    for group in alike.values():
        yield (
            list(group),
            replace(p.inputs, values=tuple(torch.cat(each) for each in zip(*group.values(), strict=True))),
        )


def norms_of(expected: Tensor, answer: Tensor) -> Tensor:
    """Return ||answer - expected|| and ||expected|| of each sample, (2, samples).

    Raises:
        NoAction: the two are of different sizes, so that nothing says which places correspond.
    """
    if expected.shape[1:] != answer.shape[1:]:
        raise NoAction("the layer has other places after the element than the element makes of its own")
    # each sample may be one number, without an axis of its own
    return torch.stack([values.reshape(len(values), -1).norm(dim=1) for values in (answer - expected, expected)])
