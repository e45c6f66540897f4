"""Name in idle time the layers that have to be mended for a network to keep its law, by the trial of an audit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch

from explorer.declare.elements import Element, chain_element
from explorer.equivariance.trial.mending.mends import Square as Broken
from explorer.equivariance.trial.mending.sufficing import Sufficing
from explorer.equivariance.trial.precision import rounding
from explorer.network.opening.global_state import reseed
from explorer.network.tracing.capture import capture
from explorer.network.tracing.layers import LayerError
from explorer.network.tracing.running import evaluating
from explorer.square import judging
from explorer.square.frame import Square
from explorer.square.preparing.double import double_run
from explorer.square.preparing.prepare import Prepared
from explorer.state.state import State
from explorer.work.progress import waited


def blame(p: Prepared, state: State, square: Square) -> Iterator[Square]:
    """Yield the square with other guilty layers where a trial tells better than measures of guessed fields do."""
    measures = square.measures
    if square.verdict != "broken" or p.trouble or any(name not in measures for name in p.trace.by_name):
        return
    declared = {n for n in square.guilty if (f := p.trace[n].field) is not None and not f.guessed}
    if declared.issuperset(square.guilty):
        return
    element = chain_element(state.steps).on(p.inputs)
    if not p.inputs.exact(element):
        return
    try:
        mended = _mended(p, element, square)
    except (LayerError, ValueError):  # it does not run in double precision
        return
    if mended is not None and mended != list(square.guilty) and declared.issubset(mended):
        yield replace(square, guilty=tuple(mended), hints=judging.causes(p, mended, element.group))


def _mended(p: Prepared, element: Element, square: Square) -> list[str] | None:
    """Return the layers that have to be mended, in double precision: a weak fault is no rounding there."""
    ends = [n for n in p.trace.outputs if square.measures[n].cumulative is not None]
    model, x, values, fed = double_run(p)
    gx = x.moved(element)
    with p.unrecorded(), evaluating(model):
        reseed(p.seed)
        given = capture(model, gx, list(p.trace.by_name), clone=True, inputs=True, cancelled=waited)[1]
        limits = rounding.of_run(p.trace, torch.float64)
        broken = Broken(element, x, gx, values, fed, given, element.known(x.x, x.field) is None)
        trial = Sufficing(model, p.trace, judging.rows(p, square.measures), [broken], p.seed, ends, limits)
        return trial.among(square.guilty)
