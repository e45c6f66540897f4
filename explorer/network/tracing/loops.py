"""Find the modules that a loop of the network's own calls once for each step: their calls are one value together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any

from torch import Tensor, nn

from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import FieldType
from explorer.network.input.inputs import called
from explorer.network.opening.global_state import reseed
from explorer.network.tracing.running import tried
from explorer.network.tracing.walking import named_modules

FEW = 3  # calls of a module that are layers of their own


def once_a_step(model: nn.Module, inputs: Inputs, calls: Mapping[str, int]) -> frozenset[str]:
    """Return the modules that are called as often as there are steps, and once less where there is one step less.

    Args:
        calls: {module: how often it is called with these inputs}.
    """
    axis, places = getattr(inputs.field.domain, "axis", None), 0
    if axis is not None and axis < inputs.x.ndim:
        places = inputs.x.shape[axis]
    many = [name for name, count in calls.items() if name and count == places > FEW]
    if not many:
        return frozenset()
    found = tried(model, partial(_counted, model, _less(inputs, axis, places), many))
    return frozenset(name for name in many if found is not None and found[name] == places - 1)


def _less(inputs: Inputs, axis: int, places: int) -> Inputs:
    """Return inputs without their last step."""

    def cut(value: Tensor, field: FieldType) -> Tensor:
        along = getattr(field.domain, "axis", None)
        if along is None or along >= value.ndim or value.shape[along] != places:
            return value
        return value.narrow(along, 0, places - 1)

    return inputs.map(cut)


def _counted(model: nn.Module, inputs: Inputs, names: list[str]) -> Counter[str]:
    """Return how often modules are called with these inputs."""
    found: Counter[str] = Counter()

    def count(name: str, *_: Any) -> None:
        found[name] += 1

    modules = dict(named_modules(model))
    handles = [modules[name].register_forward_pre_hook(partial(count, name)) for name in names]
    try:
        reseed(0)
        called(model, inputs, clone=True)
    finally:
        for handle in handles:
            handle.remove()
    return found
