"""Audit a model under the groups that it claims: the reports of `check`."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import replace

import torch

from explorer.app.engine import LocalEngine
from explorer.data.finding import find_sample, fitted, samples
from explorer.data.samples import Sample, SampleSpec
from explorer.declare.card import Card, GraphInput
from explorer.declare.symmetries import find_symmetry
from explorer.equivariance.check import Report, check_equivariance
from explorer.network.trace import LayerError
from explorer.spaces.sequence.fit import sequences_in
from explorer.square.prepare import DTYPES, inputs_from
from explorer.state.state import State

# where no law is claimed
_USUAL = {"grid": "D4", "graph": "permutation", "set": "permutation", "time": "shift", "mesh": "gauge"}
SMALL_GRAPH = 256  # nodes of a graph or a set that a check takes besides the one that was asked for


def audit(
    engine: LocalEngine,
    state: State,
    group: str,
    dtype: str,
    tol: float | None,
    overrides: Mapping[str, str],
    count: int = 4,
) -> list[Report]:
    """Check a model under `group`, or under each group that it claims (D4 when it claims none)."""
    card = engine.card(state.model)
    groups = [group] if group else list(card.groups) or [_USUAL[card.domain]]
    for g in groups:
        find_symmetry(g)
    texts = _parts(state, card, count) if state.sample else sample_names(card, count)
    # says what is wrong with the network, the data or the overrides, before anything is measured
    first = replace(state, sample=texts[0], dtype=dtype, overrides=tuple(overrides.items()))
    p = engine.prepared(first, state.model)
    given = [p.inputs]
    for text in texts[1:]:
        more = inputs_from(engine.sample(replace(state, sample=text), card), card.input, p.x.device, p.x.dtype)
        if p.inputs.unbatched or more.x.shape == p.x.shape:
            given.append(more)
    if not p.inputs.unbatched:
        given = [p.inputs.with_x(torch.cat([g.x for g in given]))]
    model = copy.deepcopy(p.model).to(p.weights_dtype)  # as stored: it says what precision a law can be held to
    reports = [
        check_equivariance(
            model, given, g, overrides=overrides, declared=".py:" not in card.name,
            boundary=card.boundary, dtype=DTYPES[dtype], tol=tol, seed=state.seed, name=card.name,
        )
        for g in groups
    ]  # fmt: skip
    for row in (row for report in reports for row in report.layers):
        if row.cumulative_max is not None and math.isnan(row.cumulative_max):
            raise LayerError(row.name, f"layer {row.name} of {card.name} gave NaN on moved data")
    return reports


def _parts(state: State, card: Card, count: int) -> list[str]:
    """Return the sample that was asked for, or where it holds several sequences the names of the first ones."""
    several = sequences_in(find_sample(state.sample, state.seed)) if card.domain == "time" else 1
    return [f"{state.sample}#{k + 1}" for k in range(min(several, count))] if several > 1 else [state.sample]


def sample_names(card: Card, count: int) -> list[str]:
    """Return the card's sample and others of its kind: real data of the sort that the network was made for."""
    alike = [s for s in samples().values() if s.domain == card.domain and s.name != card.sample]
    if card.domain != "grid":
        return [card.sample, *_other_graphs(card, alike, count - 1)]
    kind = card.sample.split("-")[0]
    return [card.sample, *[s.name for s in alike if s.name.split("-")[0] == kind][: count - 1]]


def _other_graphs(card: Card, alike: list[SampleSpec], count: int) -> list[str]:
    """Return other small graphs or sets that the network takes, those of the same kind first."""
    tags = set(samples()[card.sample].tags) if card.sample in samples() else set()
    found: list[str] = []
    for spec in sorted(alike, key=lambda s: -len(tags & set(s.tags))):
        if len(found) == count:
            break
        sample = spec.make()
        # what is made for one width, or is too large to be measured in passing, is left out
        width = sample.x.values.shape[1]
        fits = not isinstance(card.input, GraphInput) or width in (0, card.input.channels or width)
        if fits and len(sample.x.values) <= SMALL_GRAPH and _taken(sample, card):
            found.append(spec.name)
    return found


def _taken(sample: Sample, card: Card) -> bool:
    try:
        fitted(sample, card.input)
    except ValueError:  # too many nodes, no coordinates
        return False
    return True
