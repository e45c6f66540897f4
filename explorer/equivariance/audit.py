"""Collect the squares of every layer, element by element, and say who made the fault."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from explorer.declare.elements import Element
from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import Scalar
from explorer.equivariance import measure
from explorer.equivariance.attribution import Effect, attributed
from explorer.equivariance.figures import Figures, summary
from explorer.equivariance.presets import preset_figures
from explorer.equivariance.sampled import Case, restore_random_state
from explorer.equivariance.trial.border import heard_from_the_border
from explorer.equivariance.trial.depending import Hearers, nearest
from explorer.equivariance.trial.hearing import heard_alone
from explorer.equivariance.trial.hidden.exchanges import exchanged
from explorer.equivariance.trial.inert import inert, says_nothing, why_idle
from explorer.equivariance.trial.mending.mends import Square
from explorer.equivariance.trial.mending.sufficing import Sufficing
from explorer.equivariance.trial.moving import misread, moving, numbered
from explorer.equivariance.trial.precision import rounding
from explorer.equivariance.trial.precision.floors import float_floor
from explorer.equivariance.trial.precision.vanishing import settled
from explorer.equivariance.trial.remembered import Remembered
from explorer.equivariance.verdict import sentences
from explorer.equivariance.verdict.guilt import first_before, first_seen, guilty_layers, unknown_before
from explorer.equivariance.verdict.hints import hints
from explorer.equivariance.verdict.outcome import LayerReport, Report, model_hash, versions
from explorer.network.describing.statistics import first_nan, statistics
from explorer.network.opening.global_state import reseed
from explorer.network.space import inference_of
from explorer.network.tracing.capture import capture
from explorer.network.tracing.layers import Layer, NotFiniteError, Trace
from explorer.network.tracing.running import evaluating
from explorer.work.progress import step

MENDED = 3  # elements that layers are mended under, to find out which make a fault
TIED = 1e-6  # share by which an error must be worse than another to be the worst one


class Audit:
    """The measurement of one network (in eval mode, without gradients) on some samples; `add` elements, then `report`.

    Args:
        samples: one batch of images, or graphs one by one; all have the layers of `traced`.
        dtype: precision of the run.
        stored: with what precision each parameter was made that symmetric filters may be made of.
    """

    def __init__(
        self,
        model: nn.Module,
        traced: Trace,
        samples: Sequence[Inputs],
        seed: int,
        dtype: torch.dtype,
        stored: Mapping[str, float],
    ) -> None:
        self.model, self.trace, self.seed, self.dtype = model, traced, seed, dtype
        self.of_filters = rounding.of_filters(stored, traced)
        self.of_own_filters = rounding.of_filters(stored, traced, alone=True)
        self.names = [layer.name for layer in traced.layers]
        self.cases = [Case(self, inputs) for inputs in samples]
        self.x = samples[0].x
        self.figures = {name: Figures() for name in self.names}
        self.errors: dict[str, dict[tuple[str, int, int], float]] = {name: {} for name in traced.outputs}
        self.elements: list[tuple[str, bool]] = []
        self.acted: dict[str, list[tuple[Element, Inputs]]] = {}  # exactly, on each sample
        self.table: dict[str, dict[str, tuple[float | None, float | None]]] = {name: {} for name in self.names}
        self.found: dict[str, dict[str, tuple[list[Tensor], list[Tensor]]]] = {name: {} for name in self.names}
        self.presets: dict[str, float] = {}
        self.worst_on: dict[str, tuple[Case, Element]] = {}
        self.statistics = {n: s.to_json() for n, s in statistics(self.cases[0].values).items()}
        self.float_floor = float_floor(self.model, traced, self.cases, dtype, self.seed)
        self.rounding = rounding.of_run(traced, dtype, self.float_floor)
        self.coarse = self.cases[0].casts.lowest  # what the network's own code turns numbers of the run into
        if self.coarse is not None:
            least = rounding.of_run(traced, self.coarse)
            self.rounding = {n: max(self.rounding[n], least[n]) for n in self.names}
        self.constant = False  # the output is the same for all data, as `report` finds
        self.attributed: dict[str, Effect] = {}
        self.lawful, self.first = set[str](), ""  # what trials acquit, and accuse, as `Following` has it
        self.heard: dict[str, float] = {}  # how far layers see by themselves, where it was asked for
        self.random = next((case.random for case in self.cases if case.random), [])
        self.before = next((case.before for case in self.cases if case.random), False)
        self.unsteady = next((case.unsteady for case in self.cases if case.unsteady), [])

    @property
    def samples(self) -> int:
        return len(self.x) if self.cases[0].inputs.batched else len(self.cases)

    def run(
        self, x: Inputs, seed: int | None = None, inputs: bool = False
    ) -> tuple[dict[str, Tensor], dict[str, tuple[Tensor, ...]]]:
        # every run draws the same random numbers, so that noise inside the network is no fault by itself
        reseed(self.seed if seed is None else seed)
        return capture(self.model, x, self.names, clone=True, inputs=inputs, ends=self.trace.outputs)

    def add(self, label: str, element: Element) -> None:
        """Measure every layer under one element, unless it moves nothing: then it tests nothing."""
        own = [element.on(case.inputs) for case in self.cases]
        moved = [case.inputs.moved(g) for case, g in zip(self.cases, own, strict=True)]
        if all(inert(g, case.inputs, gx) for case, g, gx in zip(self.cases, own, moved, strict=True)):
            return
        self.elements.append((label, all(case.inputs.exact(element) for case in self.cases)))
        if self.elements[-1][1]:
            self.acted[label] = list(zip(own, moved, strict=True))
        for number, (case, g, gx) in enumerate(zip(self.cases, own, moved, strict=True)):
            self._add(case, number, label, g, gx, element.on(case.other))
        for name in self.names:
            if found := self.found[name].pop(label, None):
                cumulative, local = found
                here = None if not local else float(torch.cat(local).median())
                self.table[name][label] = (float(torch.cat(cumulative).median()), here)

    def _add(self, case: Case, number: int, label: str, element: Element, gx: Inputs, of_other: Element) -> None:
        answers, _ = self.run(gx)
        others: dict[str, Tensor] = {}

        def chance(layer: Layer, held: bool) -> Tensor | None:
            """Return what a layer gives for the unrelated input, moved: where it keeps the law, what it gave, moved."""
            if held and (value := case.unrelated.get(layer.name)) is not None:
                return measure.expected_after(of_other, layer, value)
            if not others:
                others.update(self.run(case.other.moved(of_other))[0])
            return others[layer.name]

        once = Remembered(element)  # masks and figures are kept by the element itself
        for layer in self.trace.layers:
            step("Measuring", 0.0)
            value = case.values[layer.name]
            expected = measure.expected_after(once, layer, value)
            if expected is None or layer.field is None:
                self.figures[layer.name].idle.append(label)
                continue
            f, answer, figures = layer.field, answers[layer.name], self.figures[layer.name]
            # as of 2x5 places, which a turn makes 5x2, or as of scores whose masked ones are infinite
            if layer.name in self.trace.outputs and measure.finite(value) and not measure.finite(answer):
                first = first_nan(case.values, answers) or layer.name
                begins = f"; NaN begins in layer {first}" if first != layer.name else ""
                told = f"layer {layer.name} gave NaN or infinity on the moved data ({label}){begins}"
                raise NotFiniteError(first, told)
            if expected.shape != answer.shape or not (measure.finite(value) and measure.finite(answer)):
                figures.leave_out(label, expected.shape, answer.shape)
                continue
            where = here = measure.mask(element, value, f, layer.sees)
            if where.kept == 0.0:
                continue  # nothing here is determined by the input
            exact = measure.judged(element, case.inputs, layer, value, where)
            if layer.called in case.states:
                restore_random_state(self.x, case.states[layer.called])
            alone = measure.local_answer(self.model, self.trace, layer, once, case.fed.get(layer.called, ()))
            least = case.least.get(layer.name, 0.0)
            expected, answer = settled(least, expected), settled(least, answer)
            alone = None if alone is None else settled(least, alone)
            most = case.most.get(layer.name)
            d = measure.distance(expected, answer, where, f, most)
            local = None if alone is None else measure.apart_alone(expected, alone, where, f, most)
            if local is not None and float(local.max()) > self.rounding[layer.name]:
                here = self._where_alone(element, case, layer, value, where)
                if here is not where and alone is not None:
                    local = measure.apart_alone(expected, alone, here, f, most)
            (figures.cumulative if exact else figures.soft_cumulative).append(d.relative)
            if local is not None and alone is not None:
                clean = exact and measure.fed_exactly(element, layer, case.fed.get(layer.called, ()))
                (figures.local if clean else figures.soft_local).append(local)
                # the first of those that are equally bad but for rounding
                if clean and (figures.worst is None or float(local.max()) > (1 + TIED) * figures.worst[0]):
                    figures.worst = (float(local.max()), measure.masked(alone - expected, here, f))
                    self.worst_on[layer.name] = (case, element)
            other = chance(layer, exact and bool((d.relative <= self.rounding[layer.name]).all()))
            if other is not None and other.shape == expected.shape:
                figures.chance.append(measure.apart(expected, other, where, f, most))
            figures.floor.append(measure.there_and_back(once, value, f, layer.sees))
            figures.distances.append(d)
            figures.kept.append(where.kept)
            if exact and (errors := self.errors.get(layer.name)) is not None:
                errors |= {(label, number, k): error for k, error in enumerate(d.relative.tolist())}
            collected = self.found[layer.name].setdefault(label, ([], []))
            collected[0].append(d.relative)
            collected[1].extend([] if local is None else [local])
            if layer.name == self.trace.output:
                all_known = measure.mask(element, value, f)
                pair = measure.masked(expected, all_known, f), measure.masked(answer, all_known, f)
                for key, figure in preset_figures(*pair, all_known.kept).items():
                    keep = min if key.startswith("eq-") else max
                    self.presets[key] = keep(self.presets.get(key, figure), figure)

    def _where_alone(
        self, element: Element, case: Case, layer: Layer, value: Tensor, where: measure.Mask
    ) -> measure.Mask:
        """Return where a layer alone is compared: near a border a layer hears of it, whatever came before."""
        if where.places is None or not math.isinf(layer.receptive) or layer.field is None:
            return where
        if layer.name not in self.heard:
            fed = case.fed.get(layer.called, ())
            self.heard[layer.name] = heard_alone(self.model, self.trace, layer, fed, self.seed)
        own = measure.mask(element, value, layer.field, self.heard[layer.name])
        return own if own.sure else where

    def doubtful(self, tol: float | None) -> bool:
        """Return whether a layer does not follow the field that it was taken for."""
        return any(row.guessed and (row.seen or row.verdict == "broken") for row in self.rows(tol))

    def rows(self, tol: float | None, lie: Mapping[str, Mapping[str, float]] | None = None) -> list[LayerReport]:
        """Return what was found of each layer, as `report` does."""
        own = [{along: v[n] for along, v in (lie or {}).items() if n in v} for n in self.names]
        return [self._row(layer, tol, lies) for layer, lies in zip(self.trace.layers, own, strict=True)]

    def errors_of(self, label: str) -> list[float]:
        """Return the relative errors of all outputs under an element on the first inputs, none where it is inexact."""
        return [error for of in self.errors.values() for (name, k, _), error in of.items() if (name, k) == (label, 0)]

    def with_exchanges(self, elements: Sequence[tuple[str, Element]]) -> Trace:
        """Return the trace with the representations that trials under these elements tell."""
        case = min(self.cases, key=lambda one: len(one.least))  # of what is zero by symmetry nothing can be told
        own = [g.on(case.inputs) for _, g in elements]
        exact = [g for g in own if case.inputs.exact(g) and g.known(case.inputs.x, case.inputs.field) is None]
        if not exact or case.random or case.unsteady:
            return self.trace
        run = partial(self.run, inputs=True)
        known = numbered(self.trace, case.inputs, case.fed, exact, run)
        trace = moving(self.model, known, case.inputs, exact, run)
        return exchanged(self.model, trace, (case.inputs, case.other), exact, run)

    def attribute(self) -> None:
        """Push each layer's worst local error to the output: exactly where it is more than rounding."""
        by_element: dict[tuple[int, int], tuple[Case, Element, list[str]]] = {}
        for name, (case, element) in self.worst_on.items():
            by_element.setdefault((id(case), id(element)), (case, element, []))[2].append(name)
        for case, element, names in by_element.values():
            errors = {n: w[1] for n in names if (w := self.figures[n].worst) is not None}
            gx = case.inputs.moved(element)
            faults = {n for n in names if (w := self.figures[n].worst) is not None and w[0] > self.rounding[n]}
            self.attributed |= attributed(self.model, self.trace, gx, errors, faults, seed=self.seed)

    def report(
        self, name: str, group: str, tol: float | None, lie: Mapping[str, Mapping[str, float]],
        training: Sequence[str], notes: Sequence[str] = (),
    ) -> Report:  # fmt: skip
        """Return what was found; `tol` replaces the tolerances that follow from rounding."""
        rows = self.rows(tol, lie)
        with evaluating(self.model), torch.no_grad():  # trials tell who makes a fault
            verdict, guilty, said, made = self._verdict(rows)
        if self.constant:
            rows = [replace(row, verdict="no law") if row.name in self.trace.outputs else row for row in rows]
        said += notes
        if training:
            was = "were in train mode; they were" if len(training) > 1 else "was in train mode; it was"
            said.append(f"{sentences.listed(training)} {was} measured in eval mode")
        causes = [h for g in guilty for h in hints(self.model, self.trace, g, group)]
        if drawn := sentences.draws(self.random, self.unsteady, self.before):
            (causes if verdict == "broken" else said).append(drawn)
        return Report(
            name, group, verdict, tuple(guilty), tuple(rows), tuple(e for e, _ in self.elements),
            tuple(exact for _, exact in self.elements), self.table, tuple(causes), self.presets, self.samples,
            self.seed, str(self.dtype).removeprefix("torch."), str(self.x.device), model_hash(self.model), versions(),
            tuple(said), made,
        )  # fmt: skip

    def _verdict(self, rows: Sequence[LayerReport]) -> tuple[str, list[str], list[str], bool]:
        """Return the network's verdict, the layers that make the fault, other notes, and `Report.made`."""
        guilty, notes, made = guilty_layers(self.trace, rows), [], True
        first = self.cases[0]
        hears = Hearers(self.model, self.names, first.values, lambda: self.run(first.inputs)[0])
        by_name = {row.name: row for row in rows}
        law = self.lawful | {name for name, figures in self.figures.items() if figures.cumulative}
        ends = [by_name[name] for name in self.trace.outputs]
        seen = any(end.seen or (end.verdict == "broken" and end.cumulative is None) for end in ends)  # alone says less
        judged = [end for end in ends if end.cumulative is not None and not self.figures[end.name].idle]
        # what is said of one that stays without a verdict is said of the first
        last = (judged or ends)[0]
        # where a representation lacks these elements, no later layer can have made the fault: it was lost there
        turning = [n.name for n in self.trace.layers if n.field is not None and not isinstance(n.field.rep, Scalar)]
        lacking = next((name for name in turning if self.figures[name].idle), "")
        alone = {name for name, row in by_name.items() if row.breaks_alone}
        if lacking and alone.isdisjoint(guilty) and seen:
            guilty, missing = [lacking], self.figures[lacking].idle[0]
            notes.append(f"{lacking} is a {by_name[lacking].field} field, on which {missing} has no action")
        declared = [name for name in guilty if not by_name[name].guessed]
        verdict = "broken" if seen or declared else "no law"
        if judged and verdict == "no law":
            doubtful = rounding.doubtful(judged, self.trace, self.rounding, self.coarse or self.dtype)
            silent = [end for end in judged if end.name not in doubtful and self._says_nothing(end)]
            verdict, self.constant = ("no law", True) if doubtful or silent == judged else ("holds", False)
            notes += [sentences.same_answer(end.name, len(ends) > 1) for end in silent]
            notes += [sentences.unclear(n, e, self.coarse or self.dtype) for n, e in doubtful.items()]
        if verdict == "broken" and self.first and not declared:
            guilty, made = [self.first], False
        guesses = [name for name in guilty if name not in (*declared, self.first)]
        elsewhere, heard, exchanged = list[str](), list[str](), list[str]()
        if verdict == "broken" and guesses and not self.random and not self.unsteady:
            elsewhere, heard = misread(self.trace, guesses, self.cases, list(self.acted.values())[:MENDED], self.run)
            guilty, guesses = ([n for n in of if n not in (*elsewhere, *heard)] for of in (guilty, guesses))
            notes += [sentences.elsewhere(elsewhere)] if elsewhere else []
        trial = self.sufficing(rows) if verdict == "broken" and guesses else None
        if trial is not None and (rest := trial.accused(guesses)) != guesses:
            exchanged, guesses = trial.exchanged, rest
            guilty = [name for name in guilty if name in declared or name in guesses]
            notes.append(sentences.exchanged(exchanged))
        if verdict == "broken" and not guilty:
            # every layer obeys its law alone: code of a forward, between the layers, does not
            guilty = [first_seen(self.trace, rows, {*exchanged, *(self.trace[n].owner for n in elsewhere)})]
            # one whose own parts are acquitted, as of a cell that reads both ways, may break the law alone
            if guilty[0] not in alone and not unknown_before(self.trace, law, guilty[0], hears):
                row, squares = by_name[guilty[0]], self.sufficing(rows).squares
                border = row.local is not None and heard_from_the_border(self.trace, row.name, squares, row.tolerance)
                notes.append(sentences.border(row.name) if border else self._between(row, rows, law))
        elif trial is not None and guesses:
            mended = None if heard else trial.among(guilty)  # of what has no such field, a copy would not mend it
            if mended is None and not (declared or heard) and (shows := trial.left(guilty)):
                notes.append(sentences.left(shows, guilty))
                guilty, made = [shows], False
            elif mended is None or mended == guilty or not set(declared) <= set(mended):
                row = by_name[guesses[0]]
                bare = len(guilty) == 1 and row.local is None
                notes.append(self._between(row, rows, law) if bare else sentences.guess(row.name, row.field))
                made = bool(declared) or mended is not None or not any(square.whole for square in trial.squares)
                earlier = first_before(self.trace, rows, guilty) if mended is None else ""
                notes += [sentences.earlier(earlier)] if earlier else []
            else:
                notes.append(sentences.mended(mended, guilty))
                guilty = mended
        elif guesses:
            notes.append(sentences.failing(guesses, verdict == "holds"))
            guilty = []
        left = [self.trace[end.name] for end in ends if end not in judged and verdict == "holds"]
        notes += [sentences.unjudged(n.name, n.part) for n in left]
        one = verdict == "broken" and len(guilty) == 1 and guilty != [self.first]
        if one and (unknown := unknown_before(self.trace, law, guilty[0], hears)):
            row = by_name[guilty[0]]
            if row.local is None or not row.breaks_alone:
                own = [] if row.local is not None else guilty  # one that obeys its law alone makes no fault
                if (mended := self.sufficing(rows).unknown([*unknown, *own])) is not None:
                    guilty = mended
                    notes.append(sentences.mended(guilty))
                else:
                    notes.append(sentences.perhaps(guilty[0], unknown))
                    guilty = []
        shown = judged if verdict == "broken" else ()
        notes += [note for end in shown for note in sentences.in_part(end.name, self.errors[end.name], end.tolerance)]
        notes += [] if self.coarse is None else [sentences.coarse(self.coarse)]
        if verdict == "no law" and not self.constant:
            labels, exact = [label for label, _ in self.elements], any(exact for _, exact in self.elements)
            places = inference_of(self.cases[0].inputs).size_words(self.cases[0].inputs)
            figures, acted = self.figures[last.name], [on[0][0] for on in self.acted.values()]
            why = why_idle(self.trace[last.name].field, self.cases[0].values[last.name], acted)
            notes.append(sentences.no_law(last, figures.idle, labels, exact, places, why, figures.shapes))
        return verdict, self._calls(guilty, notes), notes, made

    def _says_nothing(self, row: LayerReport) -> bool:
        """Say whether what a layer gives is the same for all data and under all elements: then any law holds of it."""
        known = self.trace[row.name], row.cumulative_max or 0.0, self.rounding[row.name], row.variation
        anew = partial(rounding.all_anew, self.cases[0].inputs, self.seed, lambda x: self.run(x)[0])
        return says_nothing(*known, self.cases, [on[0][0] for on in self.acted.values()], anew)

    def _between(self, row: LayerReport, rows: Sequence[LayerReport], law: Set[str]) -> str:
        """Say between which layers code makes a fault that shows in one."""
        first, run = self.cases[0], partial(self.run, inputs=True)
        sound, unknown = {r.name for r in rows if r.name in law and not r.seen}, set(self.names) - law
        other = first.inputs, first.other
        path = nearest(self.model, self.trace, row.name, sound, unknown, first.values, other, run)
        return sentences.between(row.name, row.local, self.trace, law, path)

    def sufficing(self, rows: Sequence[LayerReport]) -> Sufficing:
        """Return who tells by trial which layers make a fault of the output."""
        ends = [n for n in self.trace.outputs if self.figures[n].cumulative]
        faults = [(e, key[1], key[0]) for n in ends for key, e in self.errors[n].items() if e > self.rounding[n]]
        # on a sample that does not show the fault mending any layer would seem to be enough
        number = max(faults, key=lambda fault: fault[0], default=(0.0, 0, ""))[1]
        shown = {label for _, k, label in faults if k == number}

        def order(label: str) -> tuple[bool, float]:
            return label not in shown, -max(self.table[n].get(label, (0.0,))[0] or 0.0 for n in ends)

        worst = sorted(self.acted, key=order) if ends else []
        steady = bool(ends) and not self.random and not self.unsteady
        case, squares = self.cases[number], []
        for g, gx in (self.acted[label][number] for label in (worst[:MENDED] if steady else ())):
            given, unknown = self.run(gx, inputs=True)[1], g.known(case.inputs.x, case.inputs.field) is None
            squares.append(Square(g, case.inputs, gx, case.values, case.fed, given, unknown, case.most))
        tolerances = {row.name: row.tolerance for row in rows}
        return Sufficing(self.model, self.trace, rows, squares, self.seed, ends, self.rounding, tolerances)

    def _calls(self, guilty: Sequence[str], notes: list[str]) -> list[str]:
        """Return the layers that returned the guilty tensors; say which tensors, unless they are the first."""
        calls = {self.trace[name].called: name for name in reversed(guilty)}
        for name in guilty:
            if (layer := self.trace[name]).part and layer.called not in guilty:
                notes.append(f"{name} is tensor {layer.part + 1} of what {layer.called} returns")
        return [call if call in self.trace.by_name else name for call, name in reversed(calls.items())]

    def _row(self, layer: Layer, tol: float | None, lie: Mapping[str, float]) -> LayerReport:
        f = self.figures[layer.name]
        local, cumulative, chance = summary(f.local), summary(f.cumulative), summary(f.chance)
        judged = local or cumulative
        variation = self.variation(layer.name)
        limit, alone = (
            rounding.limit(self.rounding[layer.name], filters[layer.name], variation) if tol is None else tol
            for filters in (self.of_filters, self.of_own_filters)
        )
        floors = torch.cat(f.floor) if f.floor else torch.zeros(1, device="cpu")
        effect = self.attributed.get(layer.name)
        lossy = floors[floors > 0]
        return LayerReport(
            name=layer.name,
            kind=layer.kind,
            field=str(layer.field) if layer.field else "unknown",
            guessed=bool(layer.field and layer.field.guessed),
            shape=layer.shape,
            local=local.median if local else None,
            local_p95=local.p95 if local else None,
            local_max=local.most if local else None,
            cumulative=cumulative.median if cumulative else None,
            cumulative_p95=cumulative.p95 if cumulative else None,
            cumulative_max=cumulative.most if cumulative else None,
            attributed=effect.value if effect else None,
            attributed_within=effect.within if effect else None,
            floor=max(self.float_floor[layer.name], 0.0 if f.cumulative else float(floors.median())),
            chance=chance.median if chance else None,
            tolerance=limit,
            max_abs=max((float(d.max_abs.max()) for d in f.distances), default=None),
            mean_abs=float(np.median([float(d.mean_abs.median()) for d in f.distances])) if f.distances else None,
            decibel=measure.middle([float(d.decibel.median()) for d in f.distances]) if f.distances else None,
            kept=float(np.mean(f.kept)) if f.kept else 0.0,
            local_tolerance=alone,
            verdict="no law" if judged is None else "broken" if judged.most > (alone if local else limit) else "holds",
            resampled_cumulative=soft.median if (soft := summary(f.soft_cumulative)) else None,
            resampled_local=soft.median if (soft := summary(f.soft_local)) else None,
            resampled_floor=float(lossy.median()) if f.soft_cumulative and len(lossy) else None,
            variation=variation,
            lie=lie,
            statistics=self.statistics[layer.name],
        )

    def variation(self, name: str) -> float | None:
        """Return how far the values of unrelated inputs are from each other, relative to their size."""
        found = [c.variation[name] for c in self.cases if name in c.variation and name not in c.most]
        if self.figures[name].chance:
            found.append(float(torch.cat(self.figures[name].chance).median()))
        return max(found, default=None)
