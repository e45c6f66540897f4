"""Judge the layers of an epoch by the limits that the audit has."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor, nn

from explorer.declare.elements import Element
from explorer.declare.inputs import Inputs
from explorer.declare.symmetries import find_symmetry
from explorer.equivariance import measure
from explorer.equivariance.trial.inert import says_nothing
from explorer.equivariance.trial.precision import rounding, storing
from explorer.equivariance.trial.precision.floors import in_precision
from explorer.equivariance.trial.precision.vanishing import OTHER, constants, ruled, vanishing
from explorer.equivariance.verdict import guilt, sentences
from explorer.equivariance.verdict.hints import hints
from explorer.network.changing.precision import converted, copied
from explorer.network.input.inputs import called
from explorer.network.opening.global_state import reseed
from explorer.network.tracing.capture import capture
from explorer.network.tracing.layers import Layer
from explorer.square.frame import Measure, Square
from explorer.square.preparing.kept import kept
from explorer.square.preparing.prepare import Prepared, meet_chance
from explorer.work.progress import waited

PLAIN = 1e-9  # relative error in double precision up to which an answer obeys its law


def limit(p: Prepared, layer: Layer, element: Element, error: float, alone: bool = False) -> float:
    """Return the relative error up to which the law of an element holds at a layer.

    Args:
        error: what was measured; what costs further runs of the network is only asked where it can matter.
        alone: it is that of the layer alone, which filters of earlier layers do not excuse.
    """
    of_run = run_rounding(p)[layer.name]
    of_filters = _of_filters(p, alone, element.group).get(layer.name, 0.0)
    if of_run < error <= of_filters:
        of_filters = _tried(p, element, layer.name, of_filters, alone)
    if error > max(of_run, of_filters):
        of_run = max(of_run, measure.tolerance(_lowest(p), layer.rank))
    if of_filters <= of_run:
        return of_run
    return rounding.limit(of_run, of_filters, variation(p).get(layer.name))


@kept()
def run_rounding(p: Prepared) -> dict[str, float]:
    """Return up to which relative error the rounding of a run excuses each layer."""
    return rounding.of_run(p.trace, p.dtype, p.float_floor)


@kept(most=64)
def _of_filters(p: Prepared, alone: bool, group: str) -> dict[str, float]:
    """Return what stored filters and constants excuse; {} where a network obeys a group by none."""
    made = _counted(p, group)
    return rounding.of_filters(made, p.trace, alone) if made else {}


@kept(most=16)
def _counted(p: Prepared, group: str) -> dict[str, float]:
    """Return with what precision the numbers were made that the laws of a group rest on."""
    try:
        found = [find_symmetry(name) for name in group.split("+")]
    except ValueError:
        return {}  # no group that a network could be built for
    made: dict[str, float] = {}
    for symmetry in found:
        made |= rounding.counted(p.stored, p.model, symmetry)
    return made


def _tried(p: Prepared, element: Element, name: str, most: float, alone: bool = False) -> float:
    """Return what stored numbers explain of an error at a layer, at most so much, as an audit tries it."""
    cumulative, local = _of_storing(p, element).get(name, (math.inf, math.inf))
    return storing.excused(most, local if alone else cumulative)


@kept(most=16)
def _of_storing(p: Prepared, element: Element) -> dict[str, tuple[float, float | None]]:
    """Return per layer what error moved numbers make under an element, in double precision."""
    if (model := _double(p)) is None:
        return {}
    inputs = p.inputs.to(dtype=torch.float64)
    with p.unrecorded():
        acted = [(element, inputs.moved(element))]
        return storing.shown(model, _counted(p, element.group), p.trace, inputs, acted, p.seed)


@kept()
def _lowest(p: Prepared) -> torch.dtype:
    """Return the lowest precision that the network's own code turns numbers of the run into."""
    casts = rounding.Casts(p.dtype)
    with p.unrecorded(), casts:
        reseed(p.seed)
        called(p.model, p.inputs, clone=True)  # a network may work in place in what it is given
    return casts.lowest or p.dtype


def _unclear(p: Prepared, measures: Mapping[str, Measure]) -> str:
    """Say that an error of an output may be rounding or a fault, in a precision that cannot tell; else ""."""
    for name, error in ((n, measures[n].cumulative or 0.0) for n in p.trace.outputs if measures[n].exact):
        if rounding.unclear(error, torch.float16, 1) and rounding.unclear(error, _lowest(p), p.trace[name].rank):
            return sentences.unclear(name, error, _lowest(p))
    return ""


@kept()
def vanishing_in(p: Prepared) -> dict[str, float]:
    """Return {layer: up to which norm its values are rounding alone}, as a run in another precision tells."""
    if p.least is not None:
        return p.least
    again = _in_another_precision(p)
    return {} if again is None else vanishing(p.trace, p.values, again, p.fed)


@kept()
def constants_in(p: Prepared) -> dict[str, float]:
    """Return {layer: size of values from which on they are constants} of the layers that constants rule.

    The unrelated input must have been met.
    """
    again = _in_another_precision(p) if ruled(p.trace, p.values, p.chance) else None
    return {} if again is None else constants(p.trace, p.values, p.chance, again)


def _in_another_precision(p: Prepared) -> dict[str, Tensor] | None:
    """Return the values of all layers in the other of float32 and float64; None where there is none, or no run."""
    if (instead := OTHER.get(p.dtype)) is None:
        return None
    with p.unrecorded():
        reseed(p.seed)
        other, names = converted(copied(p.model), instead), [layer.name for layer in p.trace.layers]
        return in_precision(other, p.inputs, names, instead)


@kept()
def _in_double(p: Prepared) -> tuple[nn.Module, dict[str, Tensor]] | None:
    """Return the network in double precision with what it answers; None where it is so, or does not run so."""
    if p.dtype == torch.float64:
        return None
    with p.unrecorded():
        reseed(p.seed)
        other = converted(copied(p.model), torch.float64)
        answers = in_precision(other, p.inputs, list(p.trace.outputs), torch.float64)
    return None if answers is None else (other, answers)


def _double(p: Prepared) -> nn.Module | None:
    """Return the network in double precision; None where it does not run so."""
    if p.dtype == torch.float64:
        return p.model
    there = _in_double(p)
    return None if there is None else there[0]


@kept(most=16)
def _seen_in_double(p: Prepared, element: Element) -> bool:
    """Say whether the output breaks its law in double precision, by more than what is stored excuses.

    Where all answers are nearly alike, as before a training, a fault may be less than the rounding of a short run.
    """
    if (there := _in_double(p)) is None:
        return False
    return _breaks(p, element, p.inputs, *there)


@kept(most=16)
def _seen_on_others(p: Prepared, element: Element) -> bool:
    """Say whether the output breaks its law on other numbers than these, in double precision.

    A fault at the border is not seen where x is empty there, and nothing inside of the network is there to show it.
    """
    found = _on_others(p)
    return found is not None and _breaks(p, element, *found)


@kept()
def _on_others(p: Prepared) -> tuple[Inputs, nn.Module, dict[str, Tensor]] | None:
    """Return other numbers than these, and what the network in double precision answers to them."""
    made, model = rounding.drawn_anew(p.inputs, p.seed), _double(p)
    if made is None or model is None:
        return None
    with p.unrecorded():
        reseed(p.seed)
        answers = in_precision(model, made, list(p.trace.outputs), torch.float64)
    return None if answers is None else (made, model, answers)


def _breaks(
    p: Prepared, element: Element, inputs: Inputs, other: nn.Module, answers: Mapping[str, Tensor]
) -> bool:  # fmt: skip
    """Say whether answers of the network in double precision to some inputs break their law."""
    with p.unrecorded():
        reseed(p.seed)
        moved = in_precision(other, inputs.to(dtype=torch.float64).moved(element), list(answers), torch.float64)
        for name, value in answers.items():
            layer = p.trace[name]
            expected = measure.expected_after(element, layer, value)
            if moved is None or expected is None or layer.field is None or expected.shape != moved[name].shape:
                continue
            where = measure.mask(element, value, layer.field, layer.sees)
            if not measure.judged(element, inputs, layer, value, where):
                continue
            most = constants_in(p).get(name) if p.chance else None
            error = float(measure.apart(expected, moved[name], where, layer.field, most).max())
            if error > _limit_in_double(p, layer, element, error):
                return True
    return False


def _limit_in_double(p: Prepared, layer: Layer, element: Element, error: float, alone: bool = False) -> float:
    """Return what `limit` does, for a run in double precision."""
    stored = _of_filters(p, alone, element.group).get(layer.name, 0.0)
    if PLAIN < error <= stored:
        stored = _tried(p, element, layer.name, stored, alone)
    most = rounding.limit(PLAIN, stored, variation(p).get(layer.name)) if stored > PLAIN else PLAIN
    if error > most and (coarse := measure.tolerance(_lowest(p), layer.rank)) > run_rounding(p)[layer.name]:
        most = max(most, coarse)  # its own code rounds more than a run in single precision does
    return most


@kept(most=16)
def _guilty_in_double(p: Prepared, element: Element) -> list[str]:
    """Return the layers that make a fault in double precision, each fed alone, as an audit finds them."""
    if (model := _double(p)) is None:
        return []
    inputs, names = p.inputs.to(dtype=torch.float64), [layer.name for layer in p.trace.layers]
    found: list[guilt.Finding] = []
    with p.unrecorded():
        reseed(p.seed)
        values, fed = capture(model, inputs, names, clone=True, inputs=True, cancelled=waited)
        reseed(p.seed)
        answers, _ = capture(model, inputs.moved(element), names, clone=True, cancelled=waited)
        for layer in p.trace.layers:
            given = fed.get(layer.called, ())
            found.append(
                _row_in_double(p, element, inputs, model, layer, values[layer.name], answers[layer.name], given)
            )
    return guilt.guilty_layers(p.trace, found)


def _row_in_double(
    p: Prepared, element: Element, inputs: Inputs, model: nn.Module, layer: Layer, value: Tensor, answer: Tensor,
    given: tuple[Tensor, ...],
) -> _Row:  # fmt: skip
    """Return what is known of one layer of a network in double precision, as `measured` finds it in single."""
    guessed = bool(layer.field and layer.field.guessed)
    expected = measure.expected_after(element, layer, value)
    if expected is None or layer.field is None or expected.shape != answer.shape:
        return _Row(layer.name, "no law", None, guessed, False)
    where = measure.mask(element, value, layer.field, layer.sees)
    if not measure.judged(element, inputs, layer, value, where):
        return _Row(layer.name, "no law", None, guessed, False)
    most = constants_in(p).get(layer.name) if p.chance else None
    apart = float(measure.apart(expected, answer, where, layer.field, most).max())
    seen = apart > _limit_in_double(p, layer, element, apart)
    alone = None
    if layer.alone and measure.fed_exactly(element, layer, given):
        alone = measure.local_answer(model, p.trace, layer, element, given, value)
    if alone is None or alone.shape != expected.shape:
        return _Row(layer.name, "broken" if seen else "holds", None, guessed, seen)
    local = float(measure.apart_alone(expected, alone, where, layer.field, most).max())
    bad = local > _limit_in_double(p, layer, element, local, alone=True)
    return _Row(layer.name, "broken" if bad else "holds", local, guessed, seen)


@kept()
def variation(p: Prepared) -> dict[str, float]:
    """Return per layer the relative distance of its values on unrelated inputs."""
    meet_chance(p)
    found = rounding.variation(p.trace, p.values, p.chance)
    for name, apart in rounding.variation_anew(p.trace, p.values, p.inputs, p.seed, partial(_run, p)).items():
        found[name] = max(apart, found.get(name, 0.0))
    return found


def _run(p: Prepared, x: Inputs) -> Mapping[str, Tensor]:
    reseed(p.seed)
    with p.unrecorded():
        return capture(p.model, x, [layer.name for layer in p.trace.layers], clone=p.trace.clones, cancelled=waited)[0]


@kept()
def _all_anew(p: Prepared) -> Mapping[str, Tensor]:
    return rounding.all_anew(p.inputs, p.seed, partial(_run, p))


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    verdict: str
    local: float | None
    guessed: bool
    seen: bool


def judged(
    p: Prepared, square: Square, measures: Mapping[str, Measure], element: Element, idle: bool = True
) -> Square:  # fmt: skip
    """Return the square with these measures, the verdict on the network, the layers that make the fault, and hints.

    As in an audit, a layer is not guilty by a guess of its field alone while the output obeys its law.

    Args:
        element: that was measured; an output that rounding may have acquitted is asked in double precision.
        idle: there is time to run a network that shows nothing but its answer on other numbers too.
    """
    found = rows(p, measures)
    guilty = guilt.guilty_layers(p.trace, found)
    acquitted = guilt.inheriting(p.trace, found).difference(guilty)
    measures = {n: replace(m, verdict="holds") if n in acquitted else m for n, m in measures.items()}
    guesses = {row.name for row in found if row.guessed}
    ends = [measures.get(name) for name in p.trace.outputs]
    verdict = "broken"
    seen = any(end is not None and (end.seen or end.verdict == "broken") for end in ends)
    if not seen and guilty and None not in ends and guesses.issuperset(guilty):
        seen = _seen_in_double(p, element)
    # a layer within shows what is less than rounding in the answer of a run in single precision
    inside = idle and not seen and not guilty and None not in ends and any(m.seen for m in measures.values())
    hidden = inside and _seen_in_double(p, element)
    if hidden:
        seen, guilty = True, list(_guilty_in_double(p, element))
        measures = {n: replace(m, verdict="broken") if n in guilty else m for n, m in measures.items()}
    if not seen and guesses.issuperset(guilty):
        guilty = []
        exact = [m for m in measures.values() if m.exact]
        if exact and all(m.verdict == "unmoved" for m in exact):
            verdict = "unmoved"
        elif None in ends:
            verdict = ""
        else:
            verdict = "holds" if any(end is not None and end.exact for end in ends) else "no law"
        if verdict == "holds" and (unclear := _unclear(p, measures)):
            verdict, square = "no law", replace(square, message=unclear, brief="too coarse to tell a fault")
        elif verdict == "holds" and _constant(p, measures, element):
            measures = {n: replace(m, verdict="no law") if n in p.trace.outputs else m for n, m in measures.items()}
            constant = sentences.same_answer(p.trace.output, len(p.trace.outputs) > 1)
            verdict, square = "no law", replace(square, message=constant, brief="the output is the same for all data")
    ask = _seen_on_others if idle else _seen_on_others.there
    closed, holds = _closed(p), verdict == "holds"
    # a network that keeps what one input gave is no test of others
    foreign = p.card.own and not p.interventions and not p.trouble
    elsewhere = holds and (closed or foreign) and bool(ask(p, element))
    if elsewhere and closed:
        verdict, guilty = "broken", list(p.trace.outputs)
    if p.trouble.verdict == "undefined" or (p.trouble and verdict in ("holds", "")):
        verdict = p.trouble.verdict
    told = causes(p, guilty, element.group)
    shows = guilt.first_seen(p.trace, found) if verdict == "broken" and not guilty else ""
    alone = next(iter(guilty), "") if len(guilty) == 1 else ""
    untested = alone if alone in measures and measures[alone].local is None and alone != p.trace.layers[0].name else ""
    if (shows or untested) and idle:
        told = (*told, *_between(p, measures, shows or untested, element))
    if elsewhere or hidden:
        told = (sentences.ELSEWHERE if elsewhere else sentences.HIDDEN, *told)
    if p.trouble and not p.trouble.layer and verdict == "broken":
        told = (p.trouble.sentence, *told)
    return replace(square, measures=measures, verdict=verdict, guilty=tuple(guilty), shows=shows, hints=told)


def _constant(p: Prepared, measures: Mapping[str, Measure], element: Element) -> bool:
    """Say whether the outputs stay the same for other data, so that nothing can be told of them."""
    if not p.chance:
        return False
    for name in p.trace.outputs:
        found, layer = measures[name], p.trace[name]
        error, limit = found.cumulative, run_rounding(p)[name]
        if not found.exact or error is None or found.chance is None:
            return False
        if found.chance > limit and error <= measure.SIZEABLE * found.chance:
            return False
        apart = max(found.chance, variation(p).get(name, 0.0))
        with p.unrecorded():
            if not says_nothing(layer, error, limit, apart, (p,), (element,), partial(_all_anew, p)):
                return False
            if p.dtype != torch.float64 and _differs_in_double(p, name):
                return False
    return True


def _differs_in_double(p: Prepared, name: str) -> bool:
    """Say whether an output that single precision leaves constant differs between data in double precision."""
    here, there, field = _in_double(p), _on_others(p), p.trace[name].field
    if here is None or there is None or field is None or here[1][name].shape != there[2][name].shape:
        return False
    apart = measure.apart(here[1][name], there[2][name], measure.EVERYWHERE, field).max()
    return float(apart) > rounding.of_run(p.trace, torch.float64)[name]


def _between(p: Prepared, measures: Mapping[str, Measure], shows: str, element: Element) -> tuple[str, ...]:
    """Return a sentence on what makes a fault that no layer makes, () where that is not known (yet)."""
    whole = element.known(p.x, p.inputs.field) is None  # else what comes in at the border may make it
    names = list(p.trace.by_name)
    if not whole or not measures.keys() >= set(names):
        return ()
    if any(measures[name].verdict not in ("holds", "broken") for name in names[: names.index(shows)]):
        return ()  # it may be made in what there is no verdict on
    return (sentences.between(shows, measures[shows].local, p.trace, p.trace.by_name),)


def _closed(p: Prepared) -> bool:
    """Say whether nothing is seen of a network but its answer."""
    return all(layer.name in p.trace.outputs for layer in p.trace.layers)


def rows(p: Prepared, measures: Mapping[str, Measure]) -> list[guilt.Finding]:
    """Return what is known of each layer, for who asks which ones are guilty."""
    found: list[guilt.Finding] = []
    for layer in p.trace.layers:
        m, guessed = measures.get(layer.name), bool(layer.field and layer.field.guessed)
        known = ("", None, guessed, False) if m is None else (m.verdict, m.local, guessed, m.seen)
        found.append(_Row(layer.name, *known))
    return found


def causes(p: Prepared, guilty: Iterable[str], group: str) -> tuple[str, ...]:
    """Return sentences on what in guilty layers could be the cause."""
    return tuple(sentence for name in guilty if name in p.innermost for sentence in _hints(p, name, group))


def cut_off(p: Prepared, element: Element) -> str:
    """Return why an element that permutes places gives no verdict on the answer; "" for all others."""
    if not p.inputs.exact(element) or (known := element.known(p.inputs.x, p.inputs.field)) is None:
        return ""
    if known.numel() and not known.any():
        return "all of x is cut off: nothing is left to compare. Move it less"
    for name in p.trace.outputs:
        layer, value = p.trace[name], p.values[name]
        if layer.field is None:
            return f"the field type of the output {name} is not known, so no law can be tested there: declare it"
        if not element.exact(layer.field, tuple(value.shape)):
            return ""
        where = measure.mask(element, value, layer.field, layer.sees)
        if measure.judged(element, p.inputs, layer, value, where):
            return ""
    return "a part of x that counts in the answer is cut off: there is an error to read, and no verdict"


@kept(most=256)
def _hints(p: Prepared, name: str, group: str) -> tuple[str, ...]:
    return hints(p.model, p.trace, name, group=group)
