"""Choose a group that the types know which a network declares: a law of another one was never claimed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from torch import Tensor

from explorer.declare.inputs import Inputs
from explorer.declare.symmetries import Situation, find_symmetry
from explorer.equivariance.measure import expected_after
from explorer.network.space import inference_of, space_of
from explorer.network.tracing.layers import Layer, Trace


def known_to(trace: Trace, values: Mapping[str, Tensor], inputs: Inputs, group: str, boundary: str) -> tuple[str, str]:
    """Return a group that every declared field has an action of, with a sentence where it is not the one given.

    Args:
        values: of every layer.
        group: that a network of this kind of data is tested with; it stays where no smaller one does.
    """
    declared = [layer for layer in trace.layers if layer.field is not None and not layer.field.guessed]

    def lacking(name: str) -> tuple[Layer, str] | None:
        """Return the first layer that an element of a group does not act on, with that element."""
        size = inference_of(inputs).size(inputs)
        situation = Situation(size, 1, boundary, np.random.default_rng(0), 1, space_of(inputs).kinds[0].name)
        elements = [(label, g.on(inputs)) for label, g in find_symmetry(name).elements(name, situation)]
        return next(
            ((n, label) for n in declared for label, g in elements if expected_after(g, n, values[n.name]) is None),
            None,
        )

    within = find_symmetry(group).within
    if not declared or not within or (found := lacking(group)) is None:
        return group, ""
    smaller = next((name for name in within if lacking(name) is None), None)
    if smaller is None:
        return group, ""
    layer, label = found
    why = f"{layer.name} declares a {layer.field} field, on which {label} of {group} has no action"
    return smaller, f"{why}, so {smaller} was tested; --group {group} asks for the other"
