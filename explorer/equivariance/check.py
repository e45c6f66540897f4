"""Audit a network: every layer's square, over samples and group elements, with a verdict on exact elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.parameter import is_lazy

from explorer.declare.elements import Element
from explorer.declare.inputs import Inputs
from explorer.declare.symmetries import Situation, find_symmetry
from explorer.declare.telling.hints import SAMPLING, of_kind
from explorer.declare.types.fields import FieldType
from explorer.equivariance.audit import Audit
from explorer.equivariance.coarser import coarser, windowed
from explorer.equivariance.data_forms import Data, given_inputs, require_options
from explorer.equivariance.few import beyond, enough, wakened
from explorer.equivariance.ties import faults, unjudged, untied
from explorer.equivariance.trial.amid import follows_amid
from explorer.equivariance.trial.calling import caller
from explorer.equivariance.trial.hidden.exchanges import Exchange
from explorer.equivariance.trial.hidden.linear import following
from explorer.equivariance.trial.mending.refuting import refuted, unguessed
from explorer.equivariance.trial.otherwise import kept_otherwise
from explorer.equivariance.trial.precision import lifting, rounding, storing
from explorer.equivariance.trial.repeating import Repeats
from explorer.equivariance.verdict import sentences
from explorer.equivariance.verdict.hints import NORMS_AND_DROPOUT
from explorer.equivariance.verdict.outcome import Report, in_turn
from explorer.network.changing.conduct import IN_PLACE, unmeasured
from explorer.network.changing.convolving import convolving
from explorer.network.changing.precision import converted, copied, device_of, precision_of
from explorer.network.describing.statistics import exact, first_strange
from explorer.network.input.absent import without_none
from explorer.network.input.arguments import require_call, require_module
from explorer.network.input.inputs import called, noticing
from explorer.network.input.typed_tensors import untested
from explorer.network.space import NetworkSpace, space_of
from explorer.network.tracing.capture import capture
from explorer.network.tracing.layers import LayerError, NotFiniteError, Trace, without_chosen
from explorer.network.tracing.running import evaluating, undisturbed
from explorer.network.tracing.trace import trace
from explorer.network.tracing.walking import named_modules, named_tensors
from explorer.work.budget import held_bytes
from explorer.work.memory import give_back
from explorer.work.words import first_line

LARGE = 64 * 2**20  # bytes of the values of all layers from which on freed memory is given back after each element


@undisturbed()
def check_equivariance(
    model: nn.Module,
    inputs: Data,
    group: str = "D4",
    *,
    x_field: FieldType | None = None,
    overrides: Mapping[str, str] | None = None,
    declared: bool = False,
    boundary: str = "circular",
    dtype: torch.dtype | None = torch.float64,
    tol: float | None = None,
    count: int = 6,
    seed: int = 0,
    name: str = "",
    details: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Report:
    """Measure every layer of `model` under `group` and return a `Report`.

    Args:
        model: any module that maps images (batch, channel, y, x) or a graph to a tensor; it is left as it was found.
        inputs: images (batch, channel, height, width), at least one; or a shape, for band-limited noise; or a graph as
            the arguments of the network, (x, edge_index, ...), of which some may be None; or one or several
            `Inputs`, as `equiscope.sequence`, `graph`, `mesh` and `image` make them.
        group: "C4", "D4", "C8", ..., "translation", "SO2", "O2"; "permutation" for graphs and sets.
        x_field: field type of a tensor alone; default: a grid of scalars.
        overrides: {layer: field text} where the inferred field is wrong, as in {"conv1": "grid regular(C4)"}.
        declared: treat inferred fields as declared by the author (no guesses).
        boundary: for shifts: "circular", or "zero" (compared where determined).
        dtype: precision of the measurement (a copy of the model is converted); None keeps the model's own.
        tol: relative tolerance on exact elements; default 64 eps sqrt(weighted layers so far), with the eps of the
            measurement, or where filters have to be symmetric themselves of those that are stored so far, if it is
            coarser; and what is no more than rounding of this run may not be a sizeable share of the variation.
        count: number of elements of an infinite group.
        details: also attribute errors to the output and take Lie derivatives.
        progress: called with (done, total) elements.

    Raises:
        TypeError: the model is no module, or an option of another type.
        ValueError: unknown group or option, near-constant or non-finite input, a form or shape that is not understood.
        KeyError: an override names no layer; LayerError: a layer raised, and `.where` names it.
    """
    measure = partial(
        _checked, model, inputs, group, x_field=x_field, overrides=overrides, declared=declared, boundary=boundary,
        dtype=dtype, tol=tol, count=count, seed=seed, name=name, details=details, progress=progress,
    )  # fmt: skip

    def told(without: frozenset[str]) -> Report:
        report = measure(without=without)
        return _told(report, sentences.uncalled(sorted(without))) if without else report

    return without_chosen(told)


def _checked(
    model: nn.Module,
    inputs: Data,
    group: str,
    *,
    x_field: FieldType | None,
    overrides: Mapping[str, str] | None,
    declared: bool,
    boundary: str,
    dtype: torch.dtype | None,
    tol: float | None,
    count: int,
    seed: int,
    name: str,
    details: bool,
    progress: Callable[[int, int], None] | None,
    without: frozenset[str],
) -> Report:
    """Return what `check_equivariance` does, of a trace without these modules."""
    require_module(model)
    model, inputs = without_none(model, inputs)
    again = partial(
        check_equivariance, model, group=group, overrides=overrides, declared=declared, boundary=boundary, tol=tol,
        count=count, seed=seed, name=name, details=details, progress=progress,
    )  # fmt: skip
    require_options(group, x_field, overrides, boundary, dtype, tol, count)
    symmetry = find_symmetry(group)
    given = given_inputs(inputs, symmetry, group, x_field, seed, model)
    first = given[0]
    if first.turns:
        turns = replace(first, turns=()), *first.turns
        return in_turn([again(one, dtype=dtype) for one in turns], [_what_moves(one, turns) for one in turns])
    space = space_of(first)
    model = copied(model)
    if first.call is None:
        require_call(model, len(first.arguments))
    if any(is_lazy(v) for _, v in named_tensors(model)):
        with evaluating(model), torch.no_grad():
            # lazy layers get their shapes of the data that they first meet
            called(model, first.to(dtype=precision_of(model)), clone=True)
    stored = rounding.counted(rounding.stored(model), model, symmetry)
    device = device_of(model)
    notes, in_steps = [], []
    own = precision_of(model)
    if dtype is not None and dtype != own and (said := _fails(model, given, dtype, device)):
        word = str(own).removeprefix("torch.")
        notes.append(f"the network runs in {word} only, so its laws are tested to that precision ({said})")
        dtype = own
    kind = dtype or own
    low = rounding.lowest_cast(model, first.to(device, own)) if kind != own else None
    if dtype is not None:
        model = converted(model, dtype)
    given = [x.to(device, kind) for x in given]
    first = given[0]
    training = [n for n, m in named_modules(model) if m.training and isinstance(m, NORMS_AND_DROPOUT)]
    with evaluating(model), torch.no_grad(), convolving(first.x):
        repeats = Repeats(model, first, seed)
        traced = plain = trace(model, first, overrides=overrides, declared=declared, parts=True, without=without)
        _require_answer(model, given, traced, space, repeats.began_finite)
        notes += traced.left_out
        if traced.changes_input:
            notes.append(IN_PLACE)
        repeats.require_one_shape()
        step = common_step(traced.spacings)
        size = space.inference(first).size(first)

        def situation(spacing: int) -> Situation:
            rng = np.random.default_rng(seed)
            return Situation(size, spacing, boundary, rng, count, space.kinds[0].name)

        def made(spacing: int) -> list[tuple[str, Element]]:
            return symmetry.elements(group, situation(spacing))

        elements = made(step)

        def audited(traced: Trace, given: Sequence[Inputs] = given) -> Audit:
            audit = Audit(model, traced, given, seed, kind, stored)
            large = held_bytes([audit.cases[0].values]) > LARGE
            with noticing(not declared) as seen:
                for done, (label, element) in enumerate(elements):
                    audit.add(label, element)
                    if large:  # what figures keep lies between the freed values of layers, whose pages would stay
                        give_back()
                    if progress:
                        progress(done + 1, len(elements))
            notes.extend(note for note in seen if note not in notes)
            if tol is None:  # before anything is asked of it: what numbers in low precision excuse may hide a fault
                audit.of_filters, audit.of_own_filters = storing.excuses(audit, stored)
            return audit

        try:
            audit = audited(traced)
            if audit.coarse is not None and kind == torch.float64 and tol is None and lifting.undecided():
                return lifting.without_casts(
                    partial(again, inputs, x_field=x_field, dtype=dtype), audit.coarse, details
                )
        except NotFiniteError as error:
            if unsteady := repeats.unsteady():  # it is not for the element that it gives none
                raise LayerError(error.where, f"{unsteady}: it has no verdict") from error
            if kind == own:
                raise
            # as of a mask that holds the least number of one precision and is read in the other
            here, there = (str(d).removeprefix("torch.") for d in (kind, own))
            return _told(
                again(inputs, x_field=x_field, dtype=own), f"in {here} {error}: the laws are tested in {there}"
            )
        except Exception:
            repeats.require_one_shape()  # says more than what a library has made of it
            raise
        if not declared and audit.doubtful(tol):
            tried = audit.with_exchanges(elements)
            if tried is not traced:
                traced, audit = tried, audited(tried)
                notes += [
                    f"elements exchange channels of {n}, as trials showed: it is judged so" for n in traced.outputs
                    if isinstance(getattr(traced[n].field, "rep", None), Exchange)
                ]  # fmt: skip
        if (other := wakened(audit)) is not None:
            audit = audited(traced, [*given, *other[0]])
            notes.append(sentences.wakened(other[1], len(traced.outputs) > 1))
        if (beside := untied(audit, elements)) is not None:
            apart = audited(audit.trace, beside.given)
            if not declared and faults(apart)[0]:  # how elements move a tensor did not show where values tie either
                fresh = audited(plain, beside.given)
                fresh = audited(fresh.with_exchanges(elements), beside.given)
                apart = apart if faults(fresh)[0] else fresh
            if faults(apart) != faults(audit):  # the same ones are no matter of ties
                traced, audit = apart.trace, apart
                notes.append(beside.told)
        if not symmetry.mixes and (more := enough(audit, elements)) is not None:
            larger = trace(model, more.given[0], overrides=overrides, declared=declared, parts=True, without=without)
            grown = audited(larger, more.given)
            shown, alone = faults(grown)
            if more.shows != shown and more.shows not in alone:  # no other element shows it there either
                traced, audit = larger, grown
                notes.append(more.told)
        if not declared and (hidden := following(audit, audit.rows(tol), elements)):
            audit = audited(unguessed(audit, hidden.residuals, hidden.given), [one.inputs for one in audit.cases])
            traced, audit.lawful = audit.trace, {*hidden.residuals}
            audit.first = hidden.first[0] if hidden.first else ""
            notes.append(sentences.linear(hidden.residuals, hidden.first))
        if not declared and (wrong := refuted(audit.sufficing, audit.trace, audit.rows(tol))):
            before = audit
            audit = audited(unguessed(audit, wrong), [one.inputs for one in audit.cases])
            traced, audit.lawful, audit.first = audit.trace, before.lawful, before.first
            notes.append(sentences.refuted(wrong))
        if step > 1 and (fine := made(1)) and fine[0][0] not in dict(elements):
            coarsest = max((n for n in traced.layers if n.field and not n.shares), key=lambda n: _finite(n.field))
            in_steps.append(sentences.in_steps(step, coarsest.name, fine[0][0], unjudged(audit, fine[0][1])))
            notes += in_steps
        if details and first.x.is_floating_point():
            audit.attribute()
        unsteady = repeats.unsteady(audit.coarse)
        if low not in (None, audit.coarse):
            notes.append(sentences.spared(own, low, kind))
    notes += untested(model, {n.module for n in traced.layers if n.field and not n.field.guessed})
    lie: dict[str, dict[str, float]] = {}
    if details:
        try:
            lie = space.lie_derivatives(model, first, traced)
        except LayerError as error:
            missing = isinstance(error.__cause__, NotImplementedError)
            why = sentences.no_derivative(error.where) if missing else first_line(error)
            notes.append(f"no Lie derivative: {why}")
    report = audit.report(name or type(model).__name__, group, tol, lie, training, notes)
    by_itself = {row.name for row in report.layers if row.breaks_alone}
    if report.verdict == "broken" and (owner := caller(audit.trace, report.guilty, by_itself)):
        said = sentences.several_calls(audit.trace[report.guilty[0]].module, len(report.guilty), owner)
        report = replace(report, warnings=(*report.warnings, said))
    if report.holds and not symmetry.mixes:
        with evaluating(model), torch.no_grad():
            count, label = beyond(audit, elements) if kind == torch.float64 else (0, "")
        if count:
            said = sentences.beyond(audit.cases[0].inputs.places, count, label)
            report = replace(report, beyond=count, warnings=(*report.warnings, said))
    if report.verdict == "broken" and not declared:
        with evaluating(model), torch.no_grad():
            other_field = kept_otherwise(audit)
        if other_field is not None:
            report = replace(report, warnings=(*report.warnings, sentences.otherwise(*other_field)))
    if report.holds and (blank := space.inference(first).hidden(given)):
        report = replace(report, warnings=(*report.warnings, blank))
    if report.verdict == "broken" and (coarse := coarser(audit, report.guilty, made, step)) is not None:
        # windows have the fields that they were taken for
        guesses = [sentences.guess(report[n].name, report[n].field) for n in coarse[1]]
        told = [note for note in report.warnings if note not in guesses]
        report = replace(report, warnings=(*told, sentences.in_coarser_steps(*coarse)))
    elif report.verdict == "broken" and (windows := windowed(audit, report.guilty, made, step)) is not None:
        elements = made(windows[0])
        with evaluating(model), torch.no_grad(), convolving(first.x):
            audit = audited(traced)
            if details and first.x.is_floating_point():
                audit.attribute()
        kept = [note for note in notes if note not in in_steps] + [sentences.windows(step, *windows)]
        found = audit.report(name or type(model).__name__, group, tol, lie, training, kept)
        if found.verdict == "broken" and found.guilty and not {*found.guilty} & {*windows[1]}:
            report = found
    if report.verdict == "broken" and any(s % step for s in size) and any(g.wraps for _, g in elements):
        if not of_kind(report.hints, SAMPLING):  # of one layer more is told
            report = replace(report, hints=(*report.hints, sentences.between_steps(size, step)))
    if unsteady:
        return unrepeated(report, unsteady)
    if details and report.verdict == "broken":
        with evaluating(model), torch.no_grad():
            zeros = follows_amid(audit)
        report = replace(report, hints=(*report.hints, *([sentences.amid_zeros(zeros)] if zeros else [])))
    untried = report.verdict == "no law" and audit.elements and not audit.constant
    if details and (report.verdict == "broken" or untried):

        def trial(other: str) -> Report:
            ask = partial(again, group=other, dtype=dtype, details=False, progress=None)
            # most laws near a broken one are broken too, or have nothing left to compare: one sample and element tell
            one = first.with_x(first.x[:1]) if first.batched and len(first.values) == 1 else first
            return ask(given) if (found := ask([one], count=1)).holds else found

        nearby = _that_hold if report.verdict == "broken" else _that_tell
        return replace(report, hints=(*report.hints, *nearby(symmetry.nearby, trial)))
    return report


def _what_moves(one: Inputs, turns: Sequence[Inputs]) -> str:
    """Return the name of the argument whose members are moved, and the axis where there are several of them."""
    name, axis = one.names[0], getattr(one.field.domain, "axis", None)
    alone = axis is None or [other.names[0] for other in turns].count(name) == 1
    return name if alone else f"{name} along axis {axis}"


def _that_hold(groups: Sequence[str], trial: Callable[[str], Report]) -> Iterator[str]:
    """Yield a sentence about each group whose law a trial finds to hold."""
    for other in groups:
        if trial(other).holds:
            yield f"it holds under {other}, {find_symmetry(other).title}"


def _that_tell(groups: Sequence[str], trial: Callable[[str], Report]) -> Iterator[str]:
    """Yield a sentence about each group that a trial comes to a verdict under."""
    for other in groups:
        if (found := trial(other)).verdict != "no law":
            does = "holds" if found.holds else "is broken"
            yield f"a verdict is given under {other}, {find_symmetry(other).title}: there it {does}"


def _told(report: Report, note: str) -> Report:
    return replace(report, warnings=(note, *report.warnings))


def unrepeated(report: Report, told: str) -> Report:
    """Return the report of a network that does not repeat itself: it has no law, but it may have a fault.

    Args:
        told: how its answers differ.
    """
    if report.verdict == "broken":
        return replace(report, warnings=(*report.warnings, told))
    return replace(report, verdict="no law", warnings=(*report.warnings, f"{told}: it has no verdict"))


def _require_answer(model: nn.Module, given: Sequence[Inputs], traced: Trace, space: NetworkSpace, began: bool) -> None:
    """Raise LayerError where the answer of a network is nothing that can be compared, on any of its inputs.

    Args:
        began: its first answer to the first one was finite: where a later one is not, it does not repeat itself.
    """
    names = [layer.name for layer in traced.layers]
    for k, x in enumerate(given):
        values, fed = capture(model, x, names, clone=True, inputs=True, ends=traced.outputs)
        for name in traced.outputs:
            if (values[name].numel() or not space.inference(x).may_be_empty()) and (wrong := unmeasured(values[name])):
                raise LayerError(name, f"the network's {name} {wrong}")
            if not (values[name].isfinite().all() or (began and not k)):
                strange = first_strange({n: exact(v) for n, v in values.items()}, fed)
                raise LayerError(name, f"the network gives NaN or infinite values on this input: {strange}")


def _fails(model: nn.Module, given: Sequence[Inputs], dtype: torch.dtype, device: torch.device) -> str:
    """Return in a few words why a network cannot run in `dtype` while it can in its own precision, or ""."""
    own = precision_of(model)
    said = ""
    for kind in (dtype, own):
        trial = converted(copied(model), kind)
        with evaluating(trial), torch.no_grad():
            try:
                called(trial, given[0].to(device, kind), clone=True)
            except torch.OutOfMemoryError:
                raise
            except (Exception, SystemExit) as error:
                if kind == own:
                    return ""  # it fails for another reason, which the trace says in full
                said = first_line(error, 120)
            else:
                return said
    return said


def assert_equivariant(model: nn.Module, inputs: Data, group: str = "D4", **options: Any) -> Report:
    """Check as `check_equivariance` does, with its options, and return the report.

    Raises:
        AssertionError: the law does not hold, or nothing could be judged; what fails and where, with the report.
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    report = check_equivariance(model, inputs, group, **options)
    if not report.holds:
        raise AssertionError(f"{report.sentence()}\n{report.text()}")
    return report


def _finite(field: FieldType | None) -> float:
    return field.spacing if field is not None and math.isfinite(field.spacing) else 0.0


def common_step(spacings: Sequence[float]) -> int:
    """Return the least number of input pixels that is a whole number of steps at every finite spacing."""
    common = Fraction(1)
    for spacing in filter(math.isfinite, spacings):
        step = Fraction(spacing).limit_denominator(64)
        common = Fraction(math.lcm(common.numerator, step.numerator), math.gcd(common.denominator, step.denominator))
    return common.numerator
