"""Acquit in idle time a network that breaks its law on ties alone, or on few elements, by the trials of an audit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import torch
from torch import Tensor

from explorer.declare.elements import Element, chain_element
from explorer.declare.inputs import Inputs
from explorer.equivariance.few import keeps, many, unrelated
from explorer.equivariance.ties import APART, apart, beside
from explorer.equivariance.trial.precision import rounding
from explorer.equivariance.verdict import sentences
from explorer.network.opening.global_state import reseed
from explorer.network.tracing.capture import capture
from explorer.network.tracing.layers import LayerError
from explorer.network.tracing.running import evaluating
from explorer.square.frame import Square
from explorer.square.preparing.double import double_run
from explorer.square.preparing.kept import kept
from explorer.square.preparing.prepare import Prepared
from explorer.state.state import State
from explorer.work.progress import waited

TIED = "values tie, and beside these numbers the law holds"
FEW = "there are few members, and on more of them the law holds"


def tied(p: Prepared, state: State, square: Square) -> Iterator[Square]:
    """Yield the square without a verdict where the law holds on all numbers beside these, which tie."""
    if square.verdict != "broken" or p.trouble:
        return
    element = chain_element(state.steps)
    if not p.inputs.exact(element.on(p.inputs)):
        return
    try:
        told, brief = _why(p, element)
    except (LayerError, ValueError):  # it does not run in double precision, or on other numbers
        return
    if told:
        # an error on these numbers there is, and it is shown; it is no layer's fault
        measures = {
            name: replace(m, verdict="no law") if m.seen or m.verdict == "broken" else m
            for name, m in square.measures.items()
        }
        yield replace(
            square, measures=measures, verdict="no law", guilty=(), shows="", hints=(), message=told, brief=brief
        )


@kept(most=16)
def _why(p: Prepared, element: Element) -> tuple[str, str]:
    """Return why the law breaks on these numbers and not on others, whole and in a few words; "" where it does."""
    model, x, values, _ = double_run(p)
    names, least = list(p.trace.by_name), rounding.of_run(p.trace, torch.float64)

    def run(of: Inputs) -> Mapping[str, Tensor]:
        reseed(p.seed)
        return capture(model, of, names, clone=True, cancelled=waited)[0]

    def broken(of: Inputs, given: Mapping[str, Tensor]) -> list[str] | None:
        """Return the layers that break the law, None where it is judged at no output."""
        errors = {n: float(e.max()) for n, e in apart(p.trace, run, of, given, element, names).items()}
        return None if errors.keys().isdisjoint(p.trace.outputs) else [n for n, e in errors.items() if e > least[n]]

    with p.unrecorded(), evaluating(model):
        if not (found := broken(x, values)):
            return "", ""
        other = beside(x, p.seed)
        if other is not None and broken(other, run(other)) == []:
            return sentences.tied(found[0], APART), TIED
        for more in many(x, p.seed, values):
            if not keeps(p.trace, run, more, [element], found[0], least[found[0]]) or broken(more, run(more)) != []:
                continue
            if all(keeps(p.trace, run, o, [element], found[0], least[found[0]]) for o in unrelated(x, more, p.seed)):
                return sentences.too_few(found[0], x.places, more.places), FEW
    return "", ""
