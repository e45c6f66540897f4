"""Find the nearest element that permutes places, for one that does not and so gives no verdict."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from explorer.declare.elements import Element, Step, chain_element, transforms
from explorer.declare.params import Param
from explorer.square.preparing.prepare import Prepared

MOST = 600  # elements that are tried


def nearest_exact(p: Prepared, steps: tuple[Step, ...]) -> tuple[Step, ...] | None:
    """Return the steps nearest to these that are exact at every layer, else on the input; None where there are none.

    The identity is exact and proves nothing, so it is not returned.
    """
    on_input: tuple[Step, ...] | None = None
    for found in itertools.islice(_near(steps), MOST):
        element = chain_element(found).on(p.inputs)
        if element.identity or not p.inputs.exact(element):
            continue
        if _everywhere(p, element):
            return _without_idle(p, found)
        on_input = on_input or found
    return None if on_input is None else _without_idle(p, on_input)


def _without_idle(p: Prepared, steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Leave out steps that do nothing: "rotate:90", not "rotate:90+translate:0"."""
    return tuple(step for step in steps if not chain_element((step,)).on(p.inputs).identity)


def _everywhere(p: Prepared, element: Element) -> bool:
    """Return whether an element is exact at every layer whose field is known."""
    return all(w.field is None or element.exact(w.field, tuple(p.values[w.name].shape)) for w in p.watched)


def _near(steps: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    """Yield chains of the same transforms, the nearest first."""
    choices: list[list[tuple[float, tuple[float, ...]]]] = []  # of what is chosen together: how far, and the values
    for step in steps:
        transform = transforms()[step.name]
        if transform.near is None:
            pairs = zip(transform.params, step.values, strict=True)
            choices += [[(cost, (other,)) for cost, other in _candidates(param, value)] for param, value in pairs]
        else:
            found = transform.near(*step.values)
            choices.append([(k / max(1, len(found)), values) for k, values in enumerate(found)])
    while math.prod(map(len, choices)) > 20 * MOST:
        choices[max(range(len(choices)), key=lambda k: len(choices[k]))].pop()
    for picked in sorted(itertools.product(*choices), key=lambda one: sum(cost for cost, _ in one)):
        left = iter(value for _, values in picked for value in values)
        yield tuple(Step(step.name, tuple(next(left) for _ in step.values)) for step in steps)


def _candidates(param: Param, value: float) -> list[tuple[float, float]]:
    """Return (distance, value) of values that could be exact: fractions of a turn, whole numbers; choices stay."""
    span = param.maximum - param.minimum
    if param.choices or not 0 < span < math.inf:
        return [(0.0, value)]
    found = {value, param.default}
    for quantum in (span / 4, span / 6, span / 8) if param.periodic else (1.0, 2.0, 4.0, 8.0):
        found |= {quantum * math.floor(value / quantum), quantum * math.ceil(value / quantum)}
    admissible = {param.clamp(v) for v in found}

    def far(other: float) -> float:
        apart = abs(other - value)
        return min(apart, span - apart) / span if param.periodic else apart / span

    return sorted((far(other), other) for other in admissible)
