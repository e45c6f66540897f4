"""Tell a fault of the border, which a layer that hears everything carries on, from one of what it is given."""

from __future__ import annotations

import math
from collections.abc import Sequence

from explorer.declare.elements import NoAction
from explorer.equivariance import measure
from explorer.equivariance.trial.mending.mends import Square
from explorer.network.tracing.layers import Trace


def heard_from_the_border(trace: Trace, name: str, squares: Sequence[Square], tolerance: float) -> bool:
    """Say whether what a layer with an endless reach is given obeys the law wherever no border is heard before it.

    Then what an element brings in at the border makes the fault: zeros that a layer before has made something else of.

    Args:
        squares: elements under which the fault shows.
        tolerance: up to which relative error what it is given obeys the law.
    """
    layer = trace[name]
    if not squares or not math.isinf(layer.receptive):
        return False
    before = trace.layers[: trace.layers.index(layer)]
    seen = max((n.receptive for n in before if n.field is not None), default=0.0)
    return not math.isinf(seen) and all(_obeys(trace, name, square, seen, tolerance) for square in squares)


def _obeys(trace: Trace, name: str, square: Square, seen: float, tolerance: float) -> bool:
    layer = trace[name]
    given = square.fed.get(layer.called, ()), square.given.get(layer.called, ())
    cut = False
    for field, once, moved in zip(layer.inputs, *given, strict=False):
        if field is None or once.shape != moved.shape:
            return False
        try:
            expected = field.rep.acted(square.element, once, field)
        except NoAction:
            return False
        where = measure.mask(square.element, once, field, seen)
        cut = cut or where.places is not None
        # numbers of places, which a table is asked for, are whole
        if not float(measure.apart(expected.double(), moved.double(), where, field).max()) <= tolerance:
            return False
    return cut
