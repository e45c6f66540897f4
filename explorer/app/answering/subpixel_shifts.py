"""Measure what shifts by less than a stride do to the output of a network, before and after it blurs."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from statistics import fmean

import torch

from explorer.app.command.audit import Networks
from explorer.declare.elements import chain_element, parse_chain
from explorer.declare.states.interventions import parse_intervention
from explorer.equivariance import measure
from explorer.equivariance.symmetric.blur import stride_of
from explorer.network.tracing.layers import LayerError
from explorer.network.tracing.running import evaluating
from explorer.square.analyses.outcome import Outcome
from explorer.square.preparing.prepare import Prepared
from explorer.state.state import State


def softened(engine: Networks, state: State, known: Outcome, layer: str, dtype: str) -> Outcome:
    """Return the outcome of an experiment that blurs, with what it does to shifts between the steps of the stride."""
    plain = replace(state, compare="", dtype=dtype)
    changed = replace(plain, interventions=(*plain.interventions, parse_intervention(known.intervention)))
    try:
        before = engine.prepared(plain, plain.model).whole()
        module = before.model.get_submodule(before.trace[layer].owner)
        shifts = _shifts(before, max(stride_of(module), default=1))
        after = engine.prepared(changed, plain.model).whole()
        was, now = apart(before, shifts), apart(after, shifts)
    except (LayerError, ValueError, KeyError) as error:
        return replace(known, reason=str(error).rpartition("blur: ")[2])
    if was is None or now is None:
        return replace(known, reason="the output has no law for shifts by less than its stride")
    return replace(known, shift_was=was, shift_now=now)


def _shifts(p: Prepared, step: int) -> list[str]:
    """Return shifts between the steps of a layer's stride, in the places that it is fed."""
    if not p.inputs.batched:
        return []
    # a stride behind another one drops places that lie farther apart in the input
    few = range(min(step, 3)) if step > 1 else ()
    return [f"translate:{right},{down}" for right, down in product(few, few) if right or down]


def apart(p: Prepared, shifts: list[str]) -> float | None:
    """Return the mean over shifts of the relative error at the output, None where it has no law for them."""
    layer, found = p.trace[p.trace.output], []
    if layer.field is None:
        return None
    with torch.inference_mode(), evaluating(p.model):
        for text in shifts:
            g = chain_element(parse_chain(text)).on(p.inputs)
            expected = measure.expected_after(g, layer, p.output)
            answer = p.run(p.inputs.moved(g))[p.trace.output]
            if expected is None or expected.shape != answer.shape:
                continue
            where = measure.mask(g, p.output, layer.field, layer.sees)
            found.append(float(measure.apart(expected, answer, where, layer.field).max()))
    return fmean(found) if found else None
