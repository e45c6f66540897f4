"""Request -> Frame: a pure function of what was prepared and the State. Only what is drawn leaves the device."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from explorer.declare.elements import Element, NoAction, chain_element
from explorer.declare.inputs import Inputs
from explorer.declare.telling.excerpt import Excerpt
from explorer.declare.types.fields import FieldType, Regular
from explorer.equivariance import measure
from explorer.equivariance.attribution import PROBES, Effect, attributed
from explorer.equivariance.trial.inert import remembered
from explorer.equivariance.trial.precision.vanishing import settled
from explorer.equivariance.trial.remembered import Remembered
from explorer.network.changing.moved_network import following
from explorer.network.describing.source_lines import excerpts
from explorer.network.describing.statistics import exact, first_strange, strange_layer
from explorer.network.inner.tiled import Tiled
from explorer.network.opening.global_state import reseed
from explorer.network.tracing.layers import Layer, LayerError
from explorer.network.tracing.running import evaluating
from explorer.square.analyses.figures import at_once
from explorer.square.analyses.latent.making import at_once as latent_now
from explorer.square.both_ways import BothWays
from explorer.square.drawing.layers import (
    NOTHING,
    drawn,
    drawn_filters,
    frozen,
    matrices,
    receptive_field,
    scores_of,
)
from explorer.square.drawing.masks import bound_of
from explorer.square.drawing.weights import weights_of
from explorer.square.frame import Array, InputPicture, LayerInfo, Measure, Square
from explorer.square.judging import constants_in, cut_off, judged, limit, vanishing_in
from explorer.square.preparing.kept import Kept, kept
from explorer.square.preparing.prepare import Prepared, meet_chance
from explorer.square.space import space_of
from explorer.state.state import State
from explorer.work.progress import step

MEASURE_SECONDS = 0.025  # what all-layer errors may add to a frame; slower ones follow when idle
MOST_PICTURES = 16  # of the arguments of a network that takes many images
ATTRIBUTE_SECONDS = 0.05  # what the backward passes of an attribution may take in idle time


@kept()
def layer_infos(p: Prepared) -> tuple[LayerInfo, ...]:
    """Return what the layer tree shows; the same tuple for the whole epoch."""
    return tuple(
        LayerInfo(
            w.name, w.kind, w.shape, w.params, str(w.field) if w.field else "unknown",
            bool(w.field and w.field.guessed), w.call, w.name.count("."), w.leaf,
            str(p.values[w.name].dtype).removeprefix("torch."),
            p.values[w.name].numel() * p.values[w.name].element_size(), w.reason, w.module, w.names,
            None if w.within is None else w.within * (w.within in p.trace.by_name),
        )
        for w in p.watched
    )  # fmt: skip


def measured(
    p: Prepared, element: Element, layer: Layer, answer: Tensor, *, local: bool, channels: bool = False,
    least: float = 0.0,
) -> Measure:  # fmt: skip
    """Return one layer's measure for one element, given F(rho(g) x) at that layer.

    Values are zero up to the norm `least`; what is broken with 0 is measured anew where they are rounding alone.

    Raises:
        LayerError: F(rho(g) x) is not finite there.
    """
    value, f, floor = p.values[layer.name], layer.field, p.float_floor[layer.name]
    if layer.name == p.trouble.layer:
        return Measure(math.nan, None, floor, None, False, "no law", 0.0)
    expected = measure.expected_after(element, layer, value)
    if expected is None or f is None or expected.shape != answer.shape or not measure.finite(value):
        floor = floor if math.isfinite(floor) else 0.0
        return Measure(None, None, floor, None, False, "no law", 0.0)  # −∞ in scores that are masked has no distance
    plain = element.element if isinstance(element, Remembered) else element  # masks are kept by element
    where = measure.mask(plain, value, f, layer.sees)
    if where.kept == 0.0:  # an error over no place would read as 0
        return Measure(None, None, floor, None, False, "no law", 0.0, emptied=True)
    exact = measure.judged(plain, p.inputs, layer, value, where)
    fed = p.fed.get(layer.called, ())
    vague = exact and layer.alone and not measure.fed_exactly(plain, layer, fed)
    alone = measure.local_answer(p.model, p.trace, layer, element, fed, value) if local and not vague else None
    expected, answer = settled(least, expected), settled(least, answer)
    alone = None if alone is None else settled(least, alone)
    most = constants_in(p).get(layer.name) if p.chance else None
    d = measure.distance(expected, answer, where, f, most)
    other = p.chance.get(layer.name)
    size = measure.compared(expected, where, f)
    found = {"relative": d.relative, "max_abs": d.max_abs, "mean_abs": d.mean_abs, "decibel": d.decibel}
    if other is not None and other.shape != expected.shape:
        other = measure.expected_after(element, layer, other)  # sides that the element exchanges
    for name, instead in (("alone", alone), ("other", other)):
        if instead is not None and instead.shape == expected.shape:
            found[name] = (
                measure.relative(size, measure.compared(expected - instead, where, f)) if most is None
                else measure.apart(expected, instead, where, f, most)
            )  # fmt: skip
    if not exact:
        found["floor"] = measure.there_and_back(element, value, f, layer.sees)
    # one transfer from the device for all of them
    figures = dict(zip(found, torch.cat(list(found.values())).tolist()))
    relative, here, chance = figures["relative"], figures.get("alone"), figures.get("other", math.nan)
    if not math.isfinite(relative):
        raise LayerError(layer.name, f"layer {layer.name} of {p.card.name} gave NaN or infinity on the moved data")
    if here is not None and not math.isfinite(here):
        told = f"layer {layer.name} of {p.card.name} gave NaN or infinity when it was fed its moved input alone"
        raise LayerError(layer.name, told)
    tolerance = limit(p, layer, plain, relative) if exact else 0.0
    if not exact:
        verdict = "no law"
    elif element.identity and (plain.identity or torch.equal(expected, value)):
        verdict = "unmoved"
    elif vague and relative > tolerance:
        verdict = "no law"  # of the layer alone: what it is given is resampled, and has none
    elif here is None:
        verdict = "broken" if relative > tolerance else "holds"
    else:
        verdict = "broken" if here > limit(p, layer, plain, here, alone=True) else "holds"
    if verdict == "broken" and not least and (found_least := vanishing_in(p).get(layer.name)):
        return measured(p, element, layer, answer, local=local, channels=channels, least=found_least)
    return Measure(
        relative, here, max(floor, figures.get("floor", 0.0)), chance if math.isfinite(chance) else None, exact,
        verdict, where.kept, figures["max_abs"], figures["mean_abs"], figures["decibel"],
        frozen(measure.channel_errors(expected, answer, where, f)) if channels else None, tolerance=tolerance,
    )  # fmt: skip


def square(
    p: Prepared,
    state: State,
    *,
    fraction: float | None = None,
    cancelled: Callable[[], bool] | None = None,
    seconds: float = MEASURE_SECONDS,
) -> tuple[Square, dict[str, Tensor]]:
    """Return the commuting square at the selected layer, and F(rho(g) x) at every watched layer (for `refine`).

    Raises:
        LayerError: a layer raised, or gave NaN; `.where` names it.
        Cancelled: nobody waits any more.
    """
    selected = p.layer(state.layer, fraction)
    space_of(p.inputs).look_at(p)  # before the network follows the signal
    with p.unrecorded(), evaluating(p.model), following(p.model) as changed:
        element, gx = remembered(chain_element(state.steps).on(p.inputs), p.inputs)
        # F(x') is F(x) where the network is given the very same: of a mesh carried through space no length changes
        same = element.identity or measure.unmoved(p.inputs.arguments, gx.arguments)
        answers = dict(p.values) if same and not changed else p.run(gx, cancelled)
        start = time.perf_counter()
        try:
            first = measured(
                p, element, selected, answers[selected.name], local=selected.name in p.innermost, channels=True
            )
            measures = {selected.name: first}
            for w in (*(p.trace[n] for n in state.watched if n in p.trace.by_name), *p.watched):
                if time.perf_counter() - start > seconds and w.name not in state.watched:
                    break
                if w.name in p.innermost and w.name not in measures:
                    measures[w.name] = measured(p, element, w, answers[w.name], local=True)
        except LayerError as error:
            raise _of_first(p, answers) or error from None
        result = at_once(p, _picture(_answered(p, state, element, selected, gx, answers), measures), answers)
    if state.pixel is not None and p.inputs.batched:
        result = replace(result, field_of_view=receptive_field(p, selected, state.pixel, state.channel))
    result = replace(result, weights=weights_of(p, selected, state.gradient))
    result = replace(result, cut_off=cut_off(p, element))
    return judged(p, result, measures, element, idle=False), answers


def _of_first(p: Prepared, answers: Mapping[str, Tensor]) -> LayerError | None:
    """Return the error of the first layer that is not finite on the moved data, None where all are."""
    name = strange_layer(
        {w.name: answers[w.name] for w in p.watched if w.name != p.trouble.layer and measure.finite(p.values[w.name])}
    )
    if not name:
        return None
    clause = first_strange({name: exact(answers[name])})
    return LayerError(name, f"layer {name} of {p.card.name} gave NaN or infinity on the moved data: {clause}")


def refine(
    p: Prepared, state: State, answers: Mapping[str, Tensor], have: Mapping[str, Measure]
) -> Iterator[dict[str, Measure]]:
    """Yield the measures that did not fit into the frame, a few milliseconds of work at a time.

    Last comes what each guilty layer's own error does to the output.
    """
    with p.unrecorded():
        element, _ = remembered(chain_element(state.steps).on(p.inputs), p.inputs)
    measures = dict(have)
    if not p.chance:
        meet_chance(p)
        with p.unrecorded():
            measures = {name: replace(m, chance=_chance(p, element, p.trace[name], m)) for name, m in have.items()}
    todo = [w for w in reversed(p.watched) if w.name not in measures]
    alone, contained = set(p.innermost), False
    began = time.perf_counter()
    while todo or not contained:
        if not todo:
            # what goes wrong within a container may be its own doing, and what it inherits is none of it
            contained, todo = True, [p.trace[name] for name in reversed(_containers_of_faults(p, measures))]
            alone |= {w.name for w in todo}
            continue
        start = time.perf_counter()
        # to enter and to leave takes as long as a network has modules, so parts are longer where there are many of them
        part = max(MEASURE_SECONDS, (start - began) / 10)
        with p.unrecorded(), evaluating(p.model), following(p.model):
            while todo and time.perf_counter() - start <= part:
                step("Measuring", 1 - len(todo) / len(p.watched))  # a newer request ends it here
                w = todo.pop()
                drawn_by_channel = w.name in have and have[w.name].channels is not None  # that of a container stays
                measures[w.name] = measured(
                    p, element, w, answers[w.name], local=w.name in alone, channels=drawn_by_channel
                )
        if todo:
            yield dict(measures)
    yield dict(measures)
    effects = effects_on_output(p, element.element, [n for n, m in measures.items() if m.verdict == "broken"])
    if effects:
        for name, effect in effects.items():
            measures[name] = replace(measures[name], attributed=effect.value, attributed_within=effect.within)
        yield measures


def _containers_of_faults(p: Prepared, measures: Mapping[str, Measure]) -> list[str]:
    """Return the modules that hold others and can be fed alone, and in or within which a fault is seen."""
    seen = {p.trace[name].module for name, m in measures.items() if m.seen}
    around = {module[:at] for module in seen for at, sign in enumerate(module) if sign == "."} | seen
    return [w.name for w in p.watched if w.alone and w.name not in p.innermost and w.module in around]


def _chance(p: Prepared, element: Element, layer: Layer, found: Measure) -> float | None:
    """Return the chance of a layer that was measured before the unrelated input was met."""
    value, f, other = p.values[layer.name], layer.field, p.chance.get(layer.name)
    expected = measure.expected_after(element, layer, value)
    if found.cumulative is None or f is None or expected is None or other is None or other.shape != expected.shape:
        return None
    plain = element.element if isinstance(element, Remembered) else element
    where = measure.mask(plain, value, f, layer.sees)
    chance = float(measure.apart(expected, other, where, f, constants_in(p).get(layer.name)))
    return chance if math.isfinite(chance) else None


def effects_on_output(p: Prepared, element: Element, names: Sequence[str]) -> dict[str, Effect]:
    """Return {layer: relative change of the output that the layer's own error makes}, for those that can be fed.

    A network whose backward passes would be felt is left to `check`: it gives none.
    """
    passes = int(ATTRIBUTE_SECONDS / max(3 * p.forward_seconds, 1e-6))
    errors: dict[str, Tensor] = {}
    # not in inference mode, whose tensors cannot take part in a backward pass
    with torch.no_grad(), evaluating(p.model), following(p.model):
        for name in names if passes else ():
            layer, value = p.trace[name], p.values[name]
            expected = measure.expected_after(element, layer, value)
            alone = measure.local_answer(p.model, p.trace, layer, element, p.fed.get(layer.called, ()))
            if name in p.innermost and layer.field and expected is not None and alone is not None:
                where = measure.mask(element, value, layer.field, layer.sees)
                errors[name] = measure.masked(alone - expected, where, layer.field)
        if not errors:
            return {}
        gx = p.inputs.moved(element)
        reseed(p.seed)
        # three passes together, and one backward of a backward for each layer
        exactly = None if passes >= 3 + len(errors) else ()
        return attributed(p.model, p.trace, gx, errors, exactly, min(PROBES, passes), p.seed)


def _answered(
    p: Prepared, state: State, element: Remembered, layer: Layer, gx: Inputs, answers: Mapping[str, Tensor]
) -> BothWays:
    """Return the answer with what the field of the layer expects in its place, or why it expects nothing."""
    one = BothWays(p, state, element.element, layer, gx, answers)
    if not one.answer.numel() and one.value.numel():
        told = f"layer {layer.name} of {p.card.name} gave no value on the moved data, where it gave some before"
        raise LayerError(layer.name, f"{told}: its shape there is {tuple(one.answer.shape)}")
    if layer.field is None:
        return replace(one, no_action="the field type of this layer is unknown; set it in the Layers panel")
    try:
        expected = element.act(one.value, layer.field)
    except NoAction as error:
        return replace(one, no_action=str(error))
    if expected.shape != one.answer.shape:
        return replace(one, no_action="the transformed input gives another output size")
    back = None
    if state.untransform:
        with suppress(NoAction):  # what was left out does not come back
            back = element.element.inverse().act(one.answer, layer.field)
    return replace(one, expected=expected, difference=expected - one.answer, back=back)


def _picture(one: BothWays, measures: Mapping[str, Measure]) -> Square:
    p, state, element, layer, f = one.p, one.state, one.element, one.layer, one.layer.field
    fixed = _fixed(p, layer)
    f_gx, _ = drawn(one.answer, f)
    rho_fx = difference_a = map_a = known_a = None
    if one.expected is not None and one.difference is not None and f is not None:
        rho_fx, _ = drawn(one.expected, f)
        difference_a, _ = drawn(one.difference, f)
        grid = f.domain.spread(one.difference)
        if grid.ndim == 4 and not isinstance(grid, Tiled):
            map_a = frozen(grid[0].square().mean(0).sqrt())
            known = measure.mask(element, one.value, f, layer.sees).places
            known_a = None if known is None else frozen(known)
    shown = [a for a in (fixed.fx, f_gx, rho_fx) if a is not None and a.size]
    scale = max((_largest(a, fixed.barred) for a in shown), default=0.0)
    last = (bool(p.labels), p.trace[p.trace.output].field, state.node)
    ends = (p.output, one.answers[p.trace.output])
    own, scores = (scores_of(v, *last, e) if p.answers else NOTHING for v, e in zip(ends, (None, element), strict=True))
    if not np.isfinite(scores).all():
        raise LayerError(p.trace.output, f"the output of {p.card.name} is NaN or infinite on the moved data")
    infos, space = layer_infos(p), space_of(p.inputs)
    return Square(
        model=p.card.name, title=p.card.title, layer=next(i for i in infos if i.name == layer.name),
        layers=infos, measures=measures, x=fixed.x, gx=drawn(one.gx.x, shown_as(p))[0], fx=fixed.fx, f_gx=f_gx,
        rho_fx=rho_fx, difference=difference_a, error_map=map_a, no_action=one.no_action, scale=scale,
        group=f.rep.group.name if f and isinstance(f.rep, Regular) else "",
        output=own, output_g=scores, labels=p.labels, probabilities=bool(p.labels),
        back=None if one.back is None else drawn(one.back, f)[0], known=known_a, filters=fixed.filters,
        filter_labels=fixed.labels, filter_columns=fixed.columns, matrices=fixed.matrices, shown=fixed.total,
        interventions=p.interventions, source=_source(p, layer.owner),
        part=space.part(one), latent=latent_now(one), kind=space.kinds[0].name, message=p.trouble.sentence,
        places=p.inputs.numbered, inputs=_all_pictures(p, one.gx),
    )  # fmt: skip


def _all_pictures(p: Prepared, gx: Inputs) -> tuple[InputPicture, ...]:
    """Return the pictures of all arguments with places of the kind that x has; () where there is none beside x."""
    if not p.inputs.batched:
        return ()
    pairs = list(zip(p.inputs.names, p.inputs.arguments, gx.arguments, p.inputs.fields))
    alike = [one for one in pairs if one[3].batched and one[3].domain.name == p.inputs.field.domain.name]
    if len(alike) < 2:
        return ()
    first = shown_as(p)
    return tuple(
        InputPicture(name, drawn(x, f if k else first)[0], drawn(moved, f if k else first)[0])
        for k, (name, x, moved, f) in enumerate(alike[:MOST_PICTURES])
    )


def moved_picture(inputs: Inputs, field: FieldType | None, state: State) -> Array:
    """Return the picture of rho(g) x, drawn as such a field, without running the network."""
    with torch.inference_mode():
        return drawn(inputs.moved(chain_element(state.steps).on(inputs)).x, field)[0]


def shown_as(p: Prepared) -> FieldType | None:
    """Return the field that x is drawn as, None for a picture."""
    return None if p.inputs.batched else p.x_field


@dataclass(frozen=True, slots=True)
class _Fixed:
    """The pictures of a layer that do not depend on the element."""

    x: Array
    fx: Array
    total: int
    filters: Array | None
    labels: tuple[str, ...]
    columns: int
    matrices: Mapping[str, Array]
    barred: float  # magnitude beyond which entries are masks


def _fixed(p: Prepared, layer: Layer) -> _Fixed:
    """Return what is drawn of the layer, made once; of one layer at a time, because pictures are large."""
    return _drawn_once(p, layer.name)


@kept()
def _drawn_once(p: Prepared, name: str) -> _Fixed:
    layer = p.trace[name]
    fx, total = drawn(p.values[name], layer.field)
    barred = bound_of(fx)
    return _Fixed(drawn(p.x, shown_as(p))[0], fx, total, *drawn_filters(p, layer), _matrices(p), barred)


def _largest(values: Array, barred: float) -> float:
    """Return the largest magnitude of what is finite and no mask: beside −1e9 all other scores have one colour."""
    most = max(float(values.max()), -float(values.min()))
    if most <= barred and np.isfinite(most):
        return most
    return float(np.abs(values[np.isfinite(values) & (np.abs(values) <= barred)]).max(initial=0.0))


@kept(most=64)
def _source(p: Prepared, name: str) -> tuple[Excerpt, ...]:
    return excerpts(p.model, name)


_matrices = Kept(matrices)
