"""Find the coarser steps in which a network keeps a law that it breaks in the steps of its layers.

Windows of attention, and patches of code, lie farther apart than the places of any layer tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch

from explorer.declare.elements import Element
from explorer.declare.inputs import Inputs
from explorer.equivariance import measure
from explorer.equivariance.audit import Audit
from explorer.equivariance.ties import unjudged
from explorer.equivariance.trial.hidden.exchanges import Seen
from explorer.equivariance.trial.precision import rounding
from explorer.network.space import inference_of
from explorer.network.tracing.layers import Layer
from explorer.network.tracing.running import evaluating

MULTIPLES = (2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16)  # of the steps of a network, tried where it breaks its law in its own

Made = Callable[[int], list[tuple[str, Element]]]


def coarser(audit: Audit, guilty: Sequence[str], made: Made, step: int) -> tuple[int, list[str]] | None:
    """Return the least multiple of the steps by which elements leave the law of the output whole; None for none.

    Beside it, which of the guilty layers keep the law by themselves then.

    Where half of the finer steps keep the law as well, as on pictures that are empty where the fault looks, that
    coarser ones keep it says nothing.

    Args:
        made: makes the elements in steps of so many places.
    """
    labels = [label for label, _ in made(step)]
    kept = [0 < len(errors) and max(errors) < rounding.LEAST for errors in map(audit.errors_of, labels)]
    if 2 * sum(kept) >= len(kept):
        return None
    for coarse, found in _multiples(made, step, audit.cases[0].inputs):
        with evaluating(audit.model), torch.no_grad():
            # also on data that are nowhere empty
            errors = (unjudged(audit, element, other) for other in (False, True) for _, element in found)
            if all(error is not None and error < rounding.LEAST for error in errors):
                return coarse, _keeping(audit, guilty, found, _seen(audit) if guilty else [])
    return None


def windowed(audit: Audit, guilty: Sequence[str], made: Made, step: int) -> tuple[int, list[str]] | None:
    """Return coarser steps in which the most of these layers keep the law by themselves, and which; None for none.

    The rest of them breaks it for another reason than that of windows: None as well where there is no rest.
    """
    best: tuple[int, list[str]] | None = None
    seen: list[tuple[Inputs, Seen]] = []
    for coarse, found in _multiples(made, step, audit.cases[0].inputs) if len(guilty) > 1 else ():
        with evaluating(audit.model), torch.no_grad():
            seen = seen or _seen(audit)
            kept = _keeping(audit, guilty, found, seen)
        if kept and (best is None or len(kept) > len(best[1])):
            best = coarse, kept
    return None if best is None or len(best[1]) == len(guilty) else best


def _multiples(made: Made, step: int, x: Inputs) -> Iterator[tuple[int, list[tuple[str, Element]]]]:
    """Yield multiples of the steps with the elements in them, none where elements know of no steps, or move nothing."""
    finest = [label for label, _ in made(step)]
    for times in MULTIPLES:
        found = made(step * times)
        if (
            not found
            or [label for label, _ in found] == finest
            or all(torch.equal(x.moved(g).x, x.x) for _, g in found)
        ):
            return
        yield step * times, found


def _seen(audit: Audit) -> list[tuple[Inputs, Seen]]:
    """Return what all layers give and are given on the data and on unrelated ones: one run for all layers and steps."""
    x = audit.cases[0].inputs
    both = x, inference_of(x).another(x, audit.seed)
    return [(given, audit.run(given, inputs=True)) for given in both]


def _keeping(
    audit: Audit, names: Sequence[str], elements: Sequence[tuple[str, Element]], seen: Sequence[tuple[Inputs, Seen]]
) -> list[str]:
    """Return which of the layers keep the law by themselves under all elements, on all inputs."""
    return [
        name for name in names
        if all(keeps_alone(audit, audit.trace[name], g, given, run) for _, g in elements for given, run in seen)
    ]  # fmt: skip


def keeps_alone(audit: Audit, layer: Layer, element: Element, given: Inputs, seen: Seen) -> bool:
    """Say whether a layer by itself keeps the law under an element on these inputs, on which the network was run."""
    (values, fed), bound = seen, element.on(given)
    value = values[layer.name]
    expected = measure.expected_after(bound, layer, value)
    alone = measure.local_answer(audit.model, audit.trace, layer, bound, fed.get(layer.called, ()))
    if layer.field is None or expected is None or alone is None or alone.shape != expected.shape:
        return False
    where = measure.mask(bound, value, layer.field, layer.sees)
    return float(measure.apart_alone(expected, alone, where, layer.field).max()) <= rounding.LEAST
