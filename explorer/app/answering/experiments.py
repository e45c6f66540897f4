"""Try symmetric versions of a guilty layer: what would each of them do to the law at the output?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from explorer.app.answering.subpixel_shifts import softened
from explorer.app.command.audit import Networks, audit
from explorer.declare.elements import chain_element
from explorer.declare.states.interventions import Intervention
from explorer.declare.symmetries import find_symmetry
from explorer.equivariance.symmetric.blur import stride_of
from explorer.equivariance.symmetric.setting import experiments
from explorer.equivariance.verdict.outcome import Report
from explorer.network.tracing.layers import LayerError
from explorer.square.analyses.outcome import Outcome
from explorer.square.preparing.intervening import group_of
from explorer.state.catalogue import Busy
from explorer.state.state import State


def outcomes(
    engine: Networks, state: State, group: str, dtype: str, before: Report, layer: str,
    overrides: Mapping[str, str] | None = None, strided: bool = False, quick: bool = False,
) -> Iterator[Outcome]:  # fmt: skip
    """Yield what each experiment on a layer would do, the one that changes least first.

    Args:
        before: the report without it, under the same group.
        strided: a layer that is not guilty is tried for its stride alone.
        quick: what may search for long comes last.
    """
    for way in sorted(experiments().values(), key=lambda way: quick and way.slow):
        one = Intervention(layer, "symmetrise", f"{way.name},{group}")
        alone = _breaks_alone(before, layer)
        known = Outcome(
            str(one), layer, group, way.title, way.told, was=_ends(before), own_was=_own(before, layer, alone)
        )
        if way.softens:
            yield softened(engine, state, known, layer, dtype)
            continue
        if before.verdict != "broken" or (strided and layer not in before.guilty):
            continue  # only what shifts between the steps do is left to be lowered
        if not alone and not way.around:
            yield replace(known, reason=f"{layer} obeys its law by itself; the fault is made before it")
            continue
        changed = replace(state, interventions=(*state.interventions, one))
        try:
            report = audit(engine, changed, group, dtype, None, overrides or {}, details=False)[0]
        except (LayerError, ValueError) as error:
            yield replace(known, reason=str(error).rpartition(f"{way.name}: ")[2])
            continue
        yield replace(
            known, verdict=report.verdict, guilty=report.guilty, now=_ends(report), own_now=_own(report, layer, alone),
            mended=before.verdict == "broken" and layer not in report.guilty and report[layer].verdict == "holds",
        )  # fmt: skip


def tried(
    engine: Networks, state: State, reports: Sequence[Report], dtype: str, overrides: Mapping[str, str]
) -> list[Outcome]:
    """Return what each experiment would do on every guilty layer of these reports."""
    return [
        outcome
        for report in reports
        for layer in _worth_trying(engine, state, report)
        for outcome in outcomes(engine, state, report.group, dtype, report, layer, overrides, strided=True)
    ]


def _worth_trying(engine: Networks, state: State, report: Report) -> tuple[str, ...]:
    """Return the guilty layers, and under shifts those with a stride, between whose steps no law is tested.

    In place of a value that no module returns stands the layer whose forward makes it, if there is one.
    """
    strided: tuple[str, ...] = ()
    guilty = report.guilty if report.verdict == "broken" else ()
    p = engine.prepared(state, state.model)
    within = {one.name: one.within for one in p.trace.layers if one.within is not None}
    guilty = tuple(maker for name in guilty if (maker := within.get(name, name)) in p.trace.by_name)
    if report.group == "translation":
        strided = tuple(
            one.name for one in p.trace.layers
            if one.leaf and one.within is None and stride_of(p.model.get_submodule(one.module))
        )  # fmt: skip
    return tuple(dict.fromkeys((*guilty, *strided)))


def proposals(engine: Networks, state: State, layer: str) -> Iterator[Busy | tuple[Outcome, ...]]:
    """Yield what is being done, and the outcomes on a layer of the network that is shown: each time all so far."""
    card = engine.card(state.model)
    group = _group(state) or group_of(card)
    one = replace(state, compare="", sample=state.sample or card.sample)
    yield Busy(f"Measuring {layer} under {group}…")
    before = audit(engine, one, group, "float64", None, dict(state.overrides), details=False)[0]
    found: list[Outcome] = []
    ways = len(experiments())
    tried = outcomes(engine, one, group, "float64", before, layer, dict(state.overrides), quick=True)
    for k, outcome in enumerate(tried):
        found.append(outcome)
        yield Busy(f"Trying symmetric versions of {layer}…", (k + 1) / ways)
        yield tuple(found)
    if not found:
        yield ()


def _group(state: State) -> str:
    """Return the group of the element at hand, where it is one under which layers can be judged."""
    name = chain_element(state.steps).group
    try:
        find_symmetry(name)
    except ValueError:
        return ""
    return "" if name in ("SO2", "O2", "identity") else name


def told(found: list[Outcome]) -> str:
    """Return the outcomes as text for a terminal."""
    lines = []
    for layer in dict.fromkeys(one.layer for one in found):
        lines.append(f"try a symmetric {layer}:")
        for one in (one for one in found if one.layer == layer):
            lines.append(f"  {one.title}: {one.sentence}")
            if one.useful:
                lines.append(f"    --intervene '{one.intervention}'")
    return "\n".join(lines)


def as_json(found: list[Outcome]) -> list[dict[str, Any]]:
    """Return the outcomes as plain values."""
    return [{**asdict(one), "guilty": list(one.guilty), "sentence": one.sentence} for one in found]


def _ends(report: Report) -> float | None:
    """Return the largest error at the network's end, its last layer that has a law."""
    return next((row.cumulative_max for row in reversed(report.layers) if row.cumulative_max is not None), None)


def _breaks_alone(report: Report, layer: str) -> bool:
    """Say whether a layer breaks its law when it is fed alone, or cannot be fed so."""
    row = report[layer]
    return row.local_max is None or row.local_max > row.local_tolerance


def _own(report: Report, layer: str, alone: bool) -> float | None:
    row = report[layer]
    return row.local_max if alone and row.local_max is not None else row.cumulative_max
