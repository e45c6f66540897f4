"""Name in idle time the layers that have to be mended for a network to keep its law, by the trial of an audit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from torch import Tensor

from explorer.declare.elements import chain_element
from explorer.declare.inputs import Inputs
from explorer.equivariance.trial.sufficing import Square as Broken
from explorer.equivariance.trial.sufficing import Sufficing
from explorer.network.tracing.capture import capture
from explorer.network.tracing.running import evaluating
from explorer.square import judging
from explorer.square.frame import Square
from explorer.square.preparing.prepare import Prepared, reseed
from explorer.state.state import State


def blame(p: Prepared, state: State, square: Square) -> Iterator[Square]:
    """Yield the square with other guilty layers where a trial tells better than measures of guessed fields do."""
    measures = square.measures
    if square.verdict != "broken" or p.trouble or any(name not in measures for name in p.trace.by_name):
        return
    declared = {n for n in square.guilty if (f := p.trace[n].field) is not None and not f.guessed}
    if declared.issuperset(square.guilty):
        return
    element = chain_element(state.steps).on(p.inputs)
    if not p.inputs.exact(element) or element.known(p.inputs.x, p.inputs.field) is not None:
        return  # what is cut off would have to be left out of the trial
    limits = {n: measures[n].tolerance for n in p.trace.outputs if measures[n].cumulative is not None}
    gx = p.inputs.moved(element)

    def run(x: Inputs) -> Mapping[str, Tensor]:
        reseed(p.seed)
        return capture(p.model, x, list(limits), clone=True)[0]

    with p.unrecorded(), evaluating(p.model):
        reseed(p.seed)
        given = capture(p.model, gx, list(p.trace.by_name), clone=True, inputs=True)[1]
        trial = Sufficing(
            p.model, p.trace, judging.rows(p, measures), [Broken(element, p.inputs, gx, p.values, p.fed, given)],
            run, limits,
        )  # fmt: skip
        mended = trial.among(square.guilty)
    if mended is not None and mended != list(square.guilty) and declared.issubset(mended):
        yield replace(square, guilty=tuple(mended), hints=judging.causes(p, mended, element.group))
