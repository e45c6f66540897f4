"""Audit a model under the groups that it claims: the reports of `check`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
import torch
from torch import nn

from explorer.app.command.input_trial import settled, text_of
from explorer.app.command.noise import with_noise
from explorer.app.command.rival_layouts import agreed, other_readings
from explorer.data.choosing import several
from explorer.data.finding import find_sample
from explorer.declare.card import Card
from explorer.declare.inputs import Inputs
from explorer.declare.samples import Sample
from explorer.declare.space import domain_word, kinds
from explorer.declare.symmetries import Situation, find_symmetry, typed_groups
from explorer.declare.telling.summaries import Law
from explorer.equivariance import measure
from explorer.equivariance.check import check_equivariance, common_step, unrepeated
from explorer.equivariance.verdict.declaring import known_to
from explorer.equivariance.verdict.laws import laws
from explorer.equivariance.verdict.outcome import Report
from explorer.network.changing.precision import copied, precision_of
from explorer.network.input.inputs import called, inputs_from
from explorer.network.space import inference_of
from explorer.network.tracing.capture import calls_alike, capture
from explorer.network.tracing.layers import LayerError, UncalledError
from explorer.square.preparing.prepare import DTYPES, Prepared
from explorer.square.space import Space, space_of, space_of_kind
from explorer.state.state import State
from explorer.work.budget import held_bytes

LARGER = 5  # times the sides of data that nobody chose, at most, for steps of the network to fit
MOST = 512 * 2**20  # bytes of the values of all layers on all samples, of which an audit holds up to twenty
WINDOWS = (1, 2, 4, 8)  # steps of the network along each side of one of its windows, as it may need them whole
SEVERAL = 4  # steps of the other layers, on which one that leaves a single place of small data leaves more


class Networks(Protocol):
    """Whoever makes networks and prepares epochs: the engine."""

    def card(self, name: str) -> Card: ...

    def network(self, state: State, name: str) -> nn.Module: ...

    def prepared(self, state: State, name: str) -> Prepared: ...

    def sample(self, state: State, card: Card) -> Sample: ...

    def intervened(self, state: State, base: Prepared) -> nn.Module: ...


def audit(
    engine: Networks,
    state: State,
    group: str,
    dtype: str,
    tol: float | None,
    overrides: Mapping[str, str],
    count: int = 4,
    details: bool = True,
) -> list[Report]:
    """Check a model under `group`, or under each group that it claims, else that of its kind of data."""
    asked = state
    state, found = settled(engine, state, group)
    card = engine.card(state.model)
    groups = [group] if group else list(card.groups) or [kinds()[card.domain].group]
    for g in groups:
        _require(g, card)
    model, given, p, first = _given(engine, state, dtype, overrides, count)
    notes = (*((found,) if found else ()), *space_of_kind(card.domain).left_open(card.input), *p.notes)
    if not (group or card.groups):
        smaller, why = known_to(p.trace, p.values, p.inputs, groups[0], card.boundary)
        groups, notes = [smaller], (*notes, *((why,) if why else ()))
    if state.interventions:
        model = engine.intervened(first, p.base or p)
        notes = (*notes, f"the network was intervened in: {'; '.join(one.told for one in state.interventions)}")
    # data that nobody chose may have any size
    own = dict.fromkeys(groups, given) if state.sample else _in_steps(given, p, groups, card.boundary)

    def checked(given: list[Inputs], g: str) -> Report:
        return check_equivariance(
            model, given, g, overrides=overrides, declared=not card.own, boundary=card.boundary, dtype=DTYPES[dtype],
            tol=tol, seed=state.seed, name=card.name, details=details,
        )  # fmt: skip

    reports = [checked(own[g], g) for g in groups]
    if not state.sample:  # nobody chose that there are so few
        reports = [_on_more(r, own[r.group][0], checked, state.seed) if r.beyond else r for r in reports]
    for row in (row for report in reports for row in report.layers):
        if row.cumulative_max is not None and math.isnan(row.cumulative_max):
            raise LayerError(row.name, f"layer {row.name} of {card.name} gave NaN on moved data")
    if others := other_readings(engine, asked, state):
        text = text_of(space_of_kind(card.domain), card.domain, card.input)
        reports = agreed(
            reports, text, others, lambda other: audit(engine, other, group, dtype, tol, overrides, count, details)
        )
    told = p.trouble.sentence.partition(",")[0]
    if p.trouble and not any(told in warning for report in reports for warning in report.warnings):
        reports = [unrepeated(report, p.trouble.sentence) for report in reports]
    return [
        replace(r, warnings=tuple(n for n in dict.fromkeys((*r.warnings, *notes)) if n not in r.hints)) for r in reports
    ]


def _require(group: str, card: Card) -> None:
    """Raise ValueError, with the groups that do, where a group does not act on what a network takes."""
    symmetry = find_symmetry(group)
    own = {kind.name for kind in space_of_kind(card.domain).kinds}
    if not own.isdisjoint(symmetry.domains):
        return
    where, word = " or ".join(map(domain_word, symmetry.domains)), domain_word(card.domain)
    names = ", ".join(typed_groups(own))
    said = f"{group} acts on a {where}, and the input is a {word}"
    if card.own:
        how = f"--input '{symmetry.domains[-1]}'"
        said += f": it runs with no {where} that was tried; if it takes one, say how, as in {how}"
    raise ValueError(f"{said}; groups of a {word} are {names}")


def _given(
    engine: Networks, state: State, dtype: str, overrides: Mapping[str, str], count: int
) -> tuple[nn.Module, list[Inputs], Prepared, State]:
    """Return the network, what it is checked on, its epoch, and the state of that."""
    card = engine.card(state.model)
    texts = _parts(state, card, count) if state.sample else several(card, count)
    # says what is wrong with the network, the data or the overrides, before anything is measured
    first = replace(state, sample=texts[0], dtype=dtype, overrides=tuple(overrides.items()))
    model = engine.network(first, state.model)
    try:
        p = engine.prepared(first, state.model).whole()
    except LayerError:
        own = str(precision_of(model)).removeprefix("torch.")
        if own not in DTYPES or own == dtype:
            raise
        p = engine.prepared(replace(first, dtype=own), state.model).whole()  # it may run in its own precision only
    given, size = [p.inputs], held_bytes([p.values, p.fed])
    most = max(1, MOST // max(1, size))
    if len(texts) > most:
        told = f"{most} of {len(texts)} samples were taken: the values of all layers on one are {size / 2**20:.0f} MB"
        p.notes = tuple(dict.fromkeys((*p.notes, told)))
    for text in texts[1:most]:
        more = inputs_from(engine.sample(replace(state, sample=text), card), card.input, p.x.device, p.dtype)
        if more.x.shape == p.x.shape or (not p.inputs.batched and calls_alike(p.model, more, p.trace)):
            given.append(more)
    if p.inputs.batched and len(p.inputs.values) == 1:
        batch = p.inputs.with_x(torch.cat([g.x for g in given]))
        given = [batch] if _runs_on(p, batch) else given
    if not state.sample:
        given = _answered(p, _in_general_position(p, given, state.seed))
    # one that is kept stays where it is
    return model if p.x.device.type == "cpu" else copied(model).to(p.x.device), given, p, first


def _answered(p: Prepared, given: list[Inputs]) -> list[Inputs]:
    """Return those of the data that nobody chose to which a network gives numbers; all of them where it does to none.

    As of frames that are made of the data, which symmetric ones leave open.
    """

    def finite(x: Inputs) -> bool:
        try:
            return all(map(measure.finite, capture(p.model, x, list(p.trace.outputs), clone=True)[0].values()))
        except UncalledError:
            return True  # the check finds out which other layers answer

    with torch.no_grad():
        kept = [x for x in given if finite(x)]
    if not kept or len(kept) == len(given):
        return given
    told = (
        f"on {len(given) - len(kept)} of {len(given)} samples the network gives NaN or infinite values, as where a "
        "symmetric input leaves a direction open: it was tested on the others"
    )
    p.notes = tuple(dict.fromkeys((*p.notes, told)))
    return kept


def _in_general_position(p: Prepared, given: list[Inputs], seed: int) -> list[Inputs]:
    """Return what a network is tested on: where the data would hide a fault, what shows it in place of the last."""
    inference, first, kept = inference_of(p.inputs), given[0], given
    if not inference.hidden(given):
        return with_noise(p, given, seed)
    if len(given) > 1:
        kept = given[:-1]
    elif first.batched and len(first.x) > 1:
        kept = [first.with_x(first.x[:-1])]
    found = inference.in_general_position(kept, seed)
    runs = calls_alike(p.model, found[-1], p.trace) if found[0] is kept[0] else _runs_on(p, found[0])
    # noise is in a batch already
    return found if runs and first.batched else with_noise(p, found if runs else given, seed)


def _on_more(report: Report, few: Inputs, checked: Callable[[list[Inputs], str], Report], seed: int) -> Report:
    """Return the report on as many members of a set as show what the few of them hide."""
    more = inference_of(few).grown(few, report.beyond, seed)
    found = report if more is None else checked([more], report.group)
    return report if found.verdict != "broken" else replace(found, warnings=(*found.warnings, report.warnings[-1]))


def _in_steps(given: list[Inputs], p: Prepared, groups: Sequence[str], boundary: str) -> dict[str, list[Inputs]]:
    """Return inputs for each group, with sides of whole steps of the network where elements wrap round the edge.

    Raises:
        ValueError: the steps of the network are too large for data that nobody chose.
    """
    space = space_of(p.inputs)
    size = space.inference(p.inputs).size(p.inputs)
    step = _step(p, space, max(size))
    if step == 1:
        return dict.fromkeys(groups, given)
    # on one step alone every shift by a step is the identity
    least = step if step < min(size) else 2 * step
    rows, columns = (math.ceil(n / least) * least for n in size)
    situation = Situation((rows, columns), step, boundary, np.random.default_rng(0), 1, space.kinds[0].name)
    wrapping = [g for g in groups if any(e.wraps for _, e in find_symmetry(g).elements(g, situation))]
    if not wrapping:
        return dict.fromkeys(groups, given)
    if least > LARGER * max(size):
        raise ValueError(
            f"the layers of {p.card.name} take steps of {step}, and shifts by so many need data of {least} along each "
            f"side: say which with --data; {', '.join(wrapping)} cannot be tested on less"
        )
    fitting = [k * least for k in WINDOWS if k == 1 or k * least <= LARGER * max(size)]
    taken = next((k for k in fitting if _runs_on(p, space.in_steps(given[0], k))), 0)
    found = [space.in_steps(x, taken) for x in given] if taken else given  # it may take this size and no other
    return {g: found if g in wrapping else given for g in groups}


def _runs_on(p: Prepared, given: Inputs) -> bool:
    """Say whether a network runs on other inputs than those that it has run on: so large, or so many."""
    with torch.no_grad():
        try:
            called(p.model, given, clone=True)
        except torch.OutOfMemoryError:
            raise
        except Exception:
            return False
    return True


def _step(p: Prepared, space: Space, size: int) -> int:
    """Return a whole number of steps of every layer, in places of the input.

    Layers that leave one place only since the data is small, as the last of a pyramid, are tried on larger data: on
    that they leave more where they are strided, and no more where they take all places.
    """
    step = common_step(p.trace.spacings)
    ones = {layer.name: layer.field for layer in p.trace.layers if layer.field and math.isinf(layer.field.spacing)}
    ones = {name: field for name, field in ones.items() if not set(field.axes) <= {"batch", "channel"}}
    side = 0
    while ones:
        side = max(2 * side, SEVERAL * step)
        while side < 2 * size:
            side *= 2
        if side > 2 * LARGER * size:
            break
        try:
            larger, _ = capture(p.model, space.in_steps(p.inputs, side), ones, clone=True)
        except torch.OutOfMemoryError:
            raise
        except LayerError:  # it takes this size and no other
            break
        most = {n: max(f.sides(larger[n].shape)) for n, f in ones.items()}
        ones = {n: f for n, f in ones.items() if most[n] == 1}
        if all(count == 1 for count in most.values()):
            break
        step = common_step([step, *(side / count for count in most.values() if count > 1)])
    return step


def explored(
    engine: Networks, state: State, dtype: str, overrides: Mapping[str, str], count: int = 4, group: str = ""
) -> list[Law]:
    """Return the law of every candidate group of the model's space, which `group` may tell."""
    state, _ = settled(engine, state, group)
    card = engine.card(state.model)
    model, given, p, first = _given(engine, state, dtype, overrides, count)
    if state.interventions:
        model = engine.intervened(first, p.base or p)
    found = laws(
        model, given[0], overrides=overrides, declared=not card.own, boundary=card.boundary, dtype=DTYPES[dtype],
        seed=state.seed, name=card.name,
    )  # fmt: skip
    return list(found)


def _parts(state: State, card: Card, count: int) -> list[str]:
    """Return the sample that was asked for, or where it holds several things the names of the first ones."""
    space = space_of_kind(card.domain)
    parts = space.parts(find_sample(state.sample, state.seed)) if space.parted else 1
    return [f"{state.sample}#{k + 1}" for k in range(min(parts, count))] if parts > 1 else [state.sample]
