"""Tell by trial whether a network follows a delay amid nothing: then what it begins and ends with breaks its law.

A state that starts at zero is moved by the zeros of a delay, and attention hears them, and misses what leaves at the
end. With the same data between so many zeros that nothing but zeros comes in or leaves, neither makes a difference. A
clock or a table of places still does.
"""

from __future__ import annotations

from explorer.declare.elements import Element
from explorer.declare.inputs import Inputs
from explorer.equivariance import measure
from explorer.equivariance.audit import Audit
from explorer.network.space import inference_of
from explorer.network.tracing.layers import LayerError

TIMES = (1, 4, 16)  # as many zeros as there are steps, on either side
MOST = 2048  # steps on either side
FOLLOWS = 1e-9  # relative error up to which the answer follows
FADES = 0.5  # share of the error before from which on more zeros are no use
EASED = 1e-3  # share of the error without zeros


def follows_amid(audit: Audit) -> int:
    """Return how many zeros on either side make the outputs follow the worst of the exact elements, 0 where none do."""
    worst = {label: max(audit.errors_of(label), default=0.0) for label in audit.acted}
    label = max(worst, key=worst.__getitem__, default="")
    if not worst.get(label) or audit.random or audit.unsteady:
        return 0
    inputs, element = audit.cases[0].inputs, audit.acted[label][0][0]
    before = worst[label]
    for times in TIMES:
        zeros = min(times * inputs.places, MOST)
        error = _error(audit, inputs, element, zeros)
        if error is not None and error < min(FOLLOWS, EASED * worst[label]):
            return zeros
        if error is None or error > FADES * before or zeros == MOST:
            return 0
        before = error
    return 0


def _error(audit: Audit, inputs: Inputs, element: Element, zeros: int) -> float | None:
    """Return the relative error of the outputs where the data are, amid so many zeros; None where it is not known."""
    if (amid := inference_of(inputs).amid_zeros(inputs, zeros)) is None:
        return None
    wide, within = amid
    try:
        here, there = audit.run(wide)[0], audit.run(wide.moved(element))[0]
    except LayerError:  # it takes so many steps and no more
        return None
    errors = []
    for name in audit.trace.outputs:
        layer = audit.trace[name]
        expected = measure.expected_after(element, layer, here[name])
        if expected is None or layer.field is None or expected.shape != there[name].shape:
            return None
        kept = [within(values, layer.field) for values in (expected, there[name])]
        if kept[0] is None or kept[1] is None or not measure.finite(kept[1]):
            return None
        size = float(kept[0].norm())
        errors.append(float((kept[1] - kept[0]).norm()) / size if size else 0.0)
    return max(errors, default=None)
