"""Tell by trial whether a law fails on ties alone, as of scores that are equal, of which the first ones are taken.

Then the answer jumps at this very input. A fault that layers make changes as little as the input does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from explorer.declare.elements import Element
from explorer.declare.inputs import Inputs
from explorer.equivariance import measure
from explorer.equivariance.audit import Audit
from explorer.equivariance.sampled import Case
from explorer.equivariance.verdict import sentences
from explorer.network.space import inference_of
from explorer.network.tracing.layers import LayerError, Trace

APART = 1e-4  # share of the size of its numbers by which an input is changed: scores then differ by more than rounding
JUMP = 0.1  # share by which an error then changes, if the answer jumps


class Untied(NamedTuple):
    """Inputs that differ from the given ones by little and tie nowhere, what is said of that, and of which layer."""

    given: list[Inputs]
    told: str
    shows: str


def apart(
    trace: Trace, run: Callable[[Inputs], Mapping[str, Tensor]], x: Inputs, values: Mapping[str, Tensor],
    element: Element, names: Sequence[str],
) -> dict[str, Tensor]:  # fmt: skip
    """Return the relative errors of layers under an element, of those where it is judged.

    Args:
        run: the network.
        values: what it gives for x.
    """
    found: dict[str, Tensor] = {}
    if not x.exact(element := element.on(x)):
        return found
    answers = run(x.moved(element))
    for layer in map(trace.__getitem__, names):
        expected, answer = measure.expected_after(element, layer, values[layer.name]), answers[layer.name]
        if expected is None or layer.field is None or answer.shape != expected.shape:
            continue
        if element.exact(layer.field, tuple(expected.shape)):
            where = measure.mask(element, expected, layer.field, layer.sees)
            found[layer.name] = measure.apart(expected, answer, where, layer.field)
    return found


def unjudged(audit: Audit, element: Element, other: bool = False) -> float | None:
    """Return the relative error of the outputs under an unjudged element; the largest on unrelated `other` ones."""
    case = audit.cases[0]
    x = inference_of(case.inputs).another(case.inputs, audit.seed) if other else case.inputs
    values = audit.run(x)[0] if other else case.values
    found = apart(audit.trace, lambda of: audit.run(of)[0], x, values, element, audit.trace.outputs)
    if len(found) < len(audit.trace.outputs):
        return None
    return max((float(e.max() if other else e.median()) for e in found.values()), default=0.0)


def untied(audit: Audit, elements: Sequence[tuple[str, Element]]) -> Untied | None:
    """Return inputs to measure on in place of those of an audit, where it is on ties that the network breaks its law.

    None where all layers keep the law, and where it is broken as much beside them.
    """
    errors = {key: error for of in audit.errors.values() for key, error in of.items()}
    least = max((audit.rounding[name] for name in audit.errors), default=0.0)
    if audit.random or audit.unsteady or (max(errors.values(), default=0.0) <= least and not faults(audit)[0]):
        return None  # what ties do to a layer may be gone in the answer, as in a mean over all members
    for number, case in enumerate(audit.cases):
        worst = max(((e, key[0]) for key, e in errors.items() if key[1] == number), default=(0.0, ""))[1]
        for label in dict.fromkeys(filter(None, (worst, _worst_of_first(audit)))):
            if (found := _first_jump(audit, case, dict(elements)[label])) is not None:
                others = (beside(c.inputs, audit.seed) for c in audit.cases)
                return Untied([x for x in others if x is not None], sentences.ties(found, label, APART), found)
    return None


def faults(audit: Audit) -> tuple[str, frozenset[str]]:
    """Return the first layer that shows a fault, "" for none, and those that make one of what they are given."""
    figures, least = audit.figures, audit.rounding
    alone = {n for n in audit.names if (w := figures[n].worst) is not None and w[0] > least[n]}
    shown = (n for n in audit.names if any(float(e.max()) > least[n] for e in figures[n].cumulative))
    return next(shown, ""), frozenset(alone)


def _worst_of_first(audit: Audit) -> str:
    """Return the label of the worst element for the first layer that shows a fault."""
    for name in audit.names:
        errors = {label: error for label, (error, _) in audit.table[name].items() if error is not None}
        if errors and max(errors.values()) > audit.rounding[name]:
            return max(errors, key=errors.__getitem__)
    return ""


def _first_jump(audit: Audit, case: Case, element: Element) -> str | None:
    """Return the name of the first layer whose error under an element is another one beside an input, None of none.

    A fault of the output may hide what ties do to it, and not what they do to a layer before it.
    """
    if (x := beside(case.inputs, audit.seed)) is None:
        return None

    def errors(of: Inputs, values: Mapping[str, Tensor]) -> dict[str, float]:
        found = apart(audit.trace, lambda x: audit.run(x)[0], of, values, element, audit.names)
        return {name: float(e.max()) for name, e in found.items()}

    def first(one: Mapping[str, float], other: Mapping[str, float]) -> str | None:
        jumps = (n for n, e in one.items() if e > audit.rounding[n] and abs(e - other.get(n, 0.0)) > JUMP * e)
        return next(jumps, None)

    try:
        here = errors(case.inputs, case.values)
        found = first(here, errors(x, audit.run(x)[0]))
        if found is None:
            return None
        # what changes from run to run is no tie
        again = errors(case.inputs, audit.run(case.inputs)[0])
        return found if first(here, again) is None else None
    except LayerError:  # as of a product that takes no other numbers than those of the given input
        return None


def beside(inputs: Inputs, seed: int) -> Inputs | None:
    """Return inputs with numbers that differ by little from these, each by another amount; None of whole numbers."""
    chance = torch.Generator().manual_seed(seed)

    def nudge(values: Tensor) -> Tensor:
        if not values.is_floating_point() or not values.numel():
            return values
        noise = torch.randn(values.shape, generator=chance, device="cpu", dtype=torch.float64).to(values)
        return values + APART * float(values.abs().mean()) * noise

    found = inference_of(inputs).nudged(inputs, nudge)
    return None if all(one is other for one, other in zip(found.values, inputs.values, strict=True)) else found
