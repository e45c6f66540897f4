"""Request -> Frame: a pure function of what was prepared and the State. Only what is drawn leaves the device."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from explorer.capture import capture
from explorer.equivariance import measure
from explorer.equivariance.attribution import attributed
from explorer.equivariance.hints import hints
from explorer.fields import FieldType, Grid, Regular
from explorer.frame import Array, LayerInfo, Measure, Square
from explorer.prepare import Prepared
from explorer.state import State
from explorer.trace import Layer, evaluating
from explorer.transforms import Element, NoAction, chain_element

MOST_VALUES = 2**21  # of one picture; more than a 2560x1440 screen can show
MOST_CHANNELS = 512
MEASURE_SECONDS = 0.025  # what all-layer errors may add to a frame; slower ones follow when idle


def drawn(values: Tensor, field: FieldType | None) -> tuple[Array, int]:
    """Return one sample as it is drawn, (channels, h, w) float32 read-only, and how many channels it really has."""
    v = values[0]
    if field and isinstance(field.domain, Grid) and field.domain.flat:
        v = v.unflatten(0, (-1, *field.domain.flat))
    if v.ndim == 1:
        v = v[:, None, None]
    elif v.ndim == 2:
        v = v[None]
    elif v.ndim > 3:
        v = v.flatten(0, -3)
    total = len(v)
    v = v[:MOST_CHANNELS]
    if v.numel() > MOST_VALUES:
        if max(v.shape[-2:]) > 256:
            size = (min(256, v.shape[-2]), min(256, v.shape[-1]))
            v = torch.nn.functional.adaptive_avg_pool2d(v[None], size)[0]
        v = v[: max(1, MOST_VALUES // (v.shape[-1] * v.shape[-2]))]
    return frozen(v), total


def frozen(values: Tensor) -> Array:
    array: Array = values.detach().to("cpu", torch.float32).contiguous().numpy().copy()
    array.flags.writeable = False
    return array


def layer_infos(p: Prepared) -> tuple[LayerInfo, ...]:
    return tuple(
        LayerInfo(
            w.name, w.kind, w.shape, w.params, str(w.field) if w.field else "unknown",
            bool(w.field and w.field.guessed), w.call, w.name.count("."), w.receptive, w.leaf,
        )
        for w in p.watched
    )  # fmt: skip


def measured(
    p: Prepared, element: Element, layer: Layer, answer: Tensor, *, local: bool, channels: bool = False
) -> Measure:
    """Return one layer's measure for one element, given F(rho(g) x) at that layer."""
    value = p.values[layer.name]
    expected = measure.expected_after(element, layer, value)
    floor = p.float_floor[layer.name]
    if expected is None or layer.field is None or expected.shape != answer.shape:
        return Measure(None, None, floor, None, False, "no law", 0.0)
    f = layer.field
    where = measure.mask(element, value, f, layer.receptive)
    exact = measure.judged(element, p.x, p.x_field, layer, value, where)
    d = measure.distance(expected, answer, where, f)
    alone = measure.local_answer(p.model, p.trace, layer, element, p.fed.get(layer.name, ())) if local else None
    here = None if alone is None else float(measure.distance(expected, alone, where, f).relative)
    chance = None
    if layer.name in p.chance:
        chance = float(measure.distance(expected, p.chance[layer.name], where, f).relative)
    if not element.exact(f, tuple(value.shape)):
        floor = max(floor, float(measure.there_and_back(element, value, f, layer.receptive)))
    tolerance = max(measure.tolerance(value.dtype, layer.rank), 8 * p.float_floor[layer.name])
    relative = float(d.relative)
    judged = here if here is not None else relative
    verdict = "no law" if not exact else "broken" if judged > tolerance else "holds"
    errors = frozen(measure.channel_errors(expected, answer, where, f)) if channels else None
    return Measure(
        relative, here, floor, chance, exact, verdict, where.kept, float(d.max_abs), float(d.mean_abs),
        float(d.decibel), errors,
    )  # fmt: skip


def square(
    p: Prepared,
    state: State,
    *,
    fraction: float | None = None,
    cancelled: Callable[[], bool] | None = None,
    seconds: float = MEASURE_SECONDS,
) -> tuple[Square, dict[str, Tensor]]:
    """Return the commuting square at the selected layer, and F(rho(g) x) at every watched layer (for `refine`)."""
    element = chain_element(state.steps)
    selected = p.layer(state.layer, fraction)
    with torch.no_grad(), evaluating(p.model):
        gx = element.act(p.x, p.x_field)
        names = [w.name for w in p.watched]
        if state.steps and not element.identity:
            answers, _ = capture(p.model, gx, names, clone=p.trace.clones, cancelled=cancelled)
        else:
            answers = {n: p.values[n] for n in names}
        start = time.perf_counter()
        first = measured(p, element, selected, answers[selected.name], local=selected.leaf, channels=True)
        measures = {selected.name: first}
        for w in p.watched:
            if time.perf_counter() - start > seconds:
                break
            if w.leaf and w.name not in measures:
                measures[w.name] = measured(p, element, w, answers[w.name], local=True)
        result = _picture(p, state, element, selected, gx, answers, measures)
    if state.pixel is not None:
        result = replace(result, field_of_view=receptive_field(p, selected, state.pixel, state.channel))
    return result, answers


def refine(
    p: Prepared, state: State, answers: Mapping[str, Tensor], have: Mapping[str, Measure]
) -> Iterator[dict[str, Measure]]:
    """Yield the measures that did not fit into the frame, a few milliseconds of work at a time.

    Last comes what each guilty layer's own error does to the output.
    """
    element = chain_element(state.steps)
    measures = dict(have)
    start = time.perf_counter()
    for w in p.watched:
        if w.name in measures:
            continue
        with torch.no_grad(), evaluating(p.model):
            measures[w.name] = measured(p, element, w, answers[w.name], local=w.leaf)
        if time.perf_counter() - start > MEASURE_SECONDS:
            yield dict(measures)
            start = time.perf_counter()
    yield dict(measures)
    effects = effects_on_output(p, element, [n for n, m in measures.items() if m.verdict == "broken"])
    if effects:
        yield {n: replace(m, attributed=effects[n]) if n in effects else m for n, m in measures.items()}


def effects_on_output(p: Prepared, element: Element, names: Sequence[str]) -> dict[str, float]:
    """Return {layer: relative change of the output that the layer's own error makes}, for those that can be fed."""
    errors: dict[str, Tensor] = {}
    with torch.no_grad(), evaluating(p.model):
        for name in names:
            layer = p.trace[name]
            expected = measure.expected_after(element, layer, p.values[name])
            alone = measure.local_answer(p.model, p.trace, layer, element, p.fed.get(name, ()))
            if layer.leaf and expected is not None and alone is not None:
                errors[name] = alone - expected
        gx = element.act(p.x, p.x_field)
    with evaluating(p.model):
        return attributed(p.model, p.trace, gx, errors) if errors else {}


def _picture(
    p: Prepared,
    state: State,
    element: Element,
    layer: Layer,
    gx: Tensor,
    answers: Mapping[str, Tensor],
    measures: Mapping[str, Measure],
) -> Square:
    value, answer, f = p.values[layer.name], answers[layer.name], layer.field
    fx, total = drawn(value, f)
    f_gx, _ = drawn(answer, f)
    rho = difference = error_map = back = known = None
    rho_fx = difference_a = map_a = back_a = known_a = None
    reason = "the field type of this layer is unknown; set it in the Layers panel" if f is None else ""
    if f is not None:
        try:
            rho = element.act(value, f)
        except NoAction as error:
            reason = str(error)
        if rho is not None and rho.shape != answer.shape:
            reason, rho = "the transformed input gives another output size", None
    if rho is not None and f is not None:
        rho_fx, _ = drawn(rho, f)
        difference = rho - answer
        difference_a, _ = drawn(difference, f)
        flat = f.domain.flat if isinstance(f.domain, Grid) else None
        grid = difference.unflatten(1, (-1, *flat)) if flat else difference
        if grid.ndim == 4:
            error_map = grid[0].square().mean(0).sqrt()
            map_a = frozen(error_map)
            known = measure.mask(element, value, f, layer.receptive).places
            known_a = None if known is None else frozen(known)
        if state.untransform:
            back = element.inverse().act(answer, f)
            back_a, _ = drawn(back, f)
    shown = [a for a in (fx, f_gx, rho_fx) if a is not None]
    scale = max((float(np.abs(a).max()) for a in shown if a.size), default=0.0)
    out, out_g = p.output, answers[p.trace.output]
    probabilities = bool(p.card.labels) and out.ndim == 2 and out.shape[1] > 1
    infos = layer_infos(p)
    guilty = [n for n, m in measures.items() if m.verdict == "broken" and p.trace[n].leaf]
    filters, labels, columns = drawn_filters(p, layer)
    return Square(
        model=p.card.name, title=p.card.title, layer=next(i for i in infos if i.name == layer.name),
        layers=infos, measures=measures, x=drawn(p.x, None)[0], gx=drawn(gx, None)[0], fx=fx, f_gx=f_gx,
        rho_fx=rho_fx, difference=difference_a, error_map=map_a, no_action=reason, scale=scale,
        group=f.rep.group.name if f and isinstance(f.rep, Regular) else "",
        output=scores_of(out, probabilities), output_g=scores_of(out_g, probabilities), labels=p.card.labels,
        probabilities=probabilities, back=back_a, known=known_a, filters=filters, filter_labels=labels,
        filter_columns=columns, matrices=matrices(p), shown=total,
        hints=tuple(h for n in guilty for h in hints(p.model, p.trace, n)),
    )  # fmt: skip


def scores_of(out: Tensor, probabilities: bool) -> Array:
    """Return the network's answer as a vector: probabilities, raw scores, or per-channel means of maps."""
    v = out[0]
    v = v.softmax(0) if probabilities else v if v.ndim == 1 else v.flatten(1).mean(1) if v.ndim > 1 else v[None]
    return frozen(v)


def receptive_field(p: Prepared, layer: Layer, pixel: tuple[int, int], channel: int | None) -> Array:
    """Return |d unit / d x| summed over input channels, (height, width): what the clicked unit really looks at."""
    was = {q: q.requires_grad for q in p.model.parameters()}
    try:
        for q in was:
            q.requires_grad_(False)
        with torch.enable_grad(), evaluating(p.model):
            x = p.x.detach().clone().requires_grad_(True)
            outputs, _ = capture(p.model, x, [layer.name], clone=p.trace.clones)
            value = outputs[layer.name]
            if layer.field and isinstance(layer.field.domain, Grid) and layer.field.domain.flat:
                value = value.unflatten(1, (-1, *layer.field.domain.flat))
            unit = value[0] if channel is None else value[0, min(channel, value.shape[1] - 1)]
            if unit.ndim >= 2:
                row, column = min(pixel[0], unit.shape[-2] - 1), min(pixel[1], unit.shape[-1] - 1)
                unit = unit[..., row, column]
            (grad,) = torch.autograd.grad(unit.sum(), x, allow_unused=True)
    finally:
        for q, flag in was.items():
            q.requires_grad_(flag)
    return frozen(torch.zeros_like(p.x[0, 0]) if grad is None else grad[0].abs().sum(0))


def drawn_filters(p: Prepared, layer: Layer, most: int = 256) -> tuple[Array | None, tuple[str, ...], int]:
    """Return the layer's filters, (n, h, w), with labels and columns: a row a filter, its transformed copies beside.

    Of filters with many input channels the first one is drawn.
    """
    module = p.model.get_submodule(layer.module) if layer.module else None
    make = getattr(module, "filters", None)
    if callable(make):
        with torch.no_grad():
            made = make()
            weight = made[0] if isinstance(made, tuple) else made
        rep = getattr(module, "out_rep", None)
        if isinstance(weight, Tensor) and weight.ndim == 4 and isinstance(rep, Regular):
            n = rep.group.order
            kept = weight[: most // n * n, 0]
            labels = tuple(f"{k // n} · {rep.group.labels[k % n]}" for k in range(len(kept)))
            return frozen(kept), labels, n
    weight = getattr(module, "weight", None)
    if not isinstance(weight, Tensor) or weight.ndim != 4 or weight.shape[-1] * weight.shape[-2] == 1:
        return None, (), 0
    inputs = min(weight.shape[1], 16)
    kept = weight[: max(1, most // inputs), :inputs].flatten(0, 1)
    labels = tuple(f"{k // inputs} ← {k % inputs}" for k in range(len(kept)))
    return frozen(kept), labels, inputs


def matrices(p: Prepared) -> dict[str, Array]:
    """Return the linear operators that the card draws, {title: (rows, columns)}."""
    if p.card.matrix is None:
        return {}
    result = {}
    for title, matrix in p.card.matrix(p.model).items():
        array = np.ascontiguousarray(matrix, dtype=np.float32)
        array.flags.writeable = False
        result[title] = array
    return result
