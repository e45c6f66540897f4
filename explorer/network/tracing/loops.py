"""Find the modules that a loop of the network's own calls once for each step: their calls are one value together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import FieldType
from explorer.network.input.inputs import called
from explorer.network.opening.global_state import reseed
from explorer.network.tracing.layers import Layer
from explorer.network.tracing.running import tried
from explorer.network.tracing.walking import named_modules

FEW = 3  # calls of a module that are layers of their own
LOOPS = 8  # through one module


def once_a_step(model: nn.Module, inputs: Inputs, calls: Mapping[str, int]) -> dict[str, int]:
    """Return {module: by how many loops it is called} of those that are called once less for one step less by each.

    Args:
        calls: {module: how often it is called with these inputs}.
    """
    axis = getattr(inputs.field.domain, "axis", None)
    places = 0 if axis is None or axis >= inputs.x.ndim else inputs.x.shape[axis]
    if axis is None or places <= FEW:
        return {}
    many = {n: count // places for n, count in calls.items() if n and count and not count % places}
    many = {n: loops for n, loops in many.items() if loops <= LOOPS}
    found = tried(model, partial(_counted, model, _less(inputs, axis, places), list(many))) if many else None
    return {n: loops for n, loops in many.items() if found is not None and found[n] == loops * (places - 1)}


class Late:
    """Layers over all steps, which are known when the run is over and lie where the last of their calls ended.

    Args:
        layers: all others, in the order in which they end, to which these are added.
    """

    def __init__(self, layers: list[Layer]) -> None:
        self.layers, self.steps = layers, dict[str, int]()
        self.found: list[Layer] = []
        self.ends: dict[str, int] = {}

    def watched(self, model: nn.Module, steps: Mapping[str, int]) -> list[RemovableHandle]:
        """Return hooks that note where calls end of modules, each called by so many loops."""
        self.steps, modules = dict(steps), dict(named_modules(model)) if steps else {}
        return [modules[name].register_forward_hook(partial(self._ended, name)) for name in self.steps]

    def _ended(self, name: str, *_: Any) -> None:
        self.ends[name] = len(self.layers)

    def add(self, layer: Layer) -> None:
        """Add a layer; which way each of several loops goes is not known, and so no field of it."""
        owner = layer.within or ""
        self.found.append(layer if self.steps.get(owner) == 1 else replace(layer, field=None))

    def settle(self) -> None:
        """Put the layers where they belong."""
        for layer in sorted(self.found, key=lambda one: self.ends[one.within or ""])[::-1]:
            self.layers.insert(self.ends[layer.within or ""], layer)
        self.found.clear()


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
