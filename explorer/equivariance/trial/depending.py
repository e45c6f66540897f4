"""Find by trial which layers hear of a layer, and of which alone what a layer is given is made by code.

The values of a layer are changed a little, and the network runs again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_unflatten

from explorer.declare.inputs import Inputs
from explorer.equivariance.trial.moving import Seen
from explorer.equivariance.verdict.guilt import around
from explorer.network.input.typed_tensors import enrol
from explorer.network.tracing.layers import Layer, LayerError, Trace
from explorer.network.tracing.running import tensors_in
from explorer.network.tracing.walking import named_modules

MOST = 16  # layers that are tried, of a network with more than that unknown
SHARE = 0.1  # of its size, by which a value is changed
NEAREST = 24  # layers that are changed one by one, of those that were called last
INPUT = "the input"


class Hearers:
    """Tells which of some layers hear of a layer; each is tried once, when it is asked for.

    Args:
        of: the layers that are asked about.
        values: of them, as they are.
        run: gives them anew.
    """

    def __init__(
        self, model: nn.Module, of: Collection[str], values: Mapping[str, Tensor],
        run: Callable[[], Mapping[str, Tensor]],
    ) -> None:  # fmt: skip
        self.model, self.of, self.values, self.run = model, set(of), values, run
        self.known: dict[tuple[str, int], set[str]] = {}

    def __call__(self, layer: Layer) -> set[str]:
        """Return the layers that hear of this one; all of them where no trial tells."""
        key = layer.module, layer.part
        if key not in self.known:
            few = len(self.known) < MOST
            found = hear(self.model, *key, self.of, self.values, self.run) if few and layer.module else None
            self.known[key] = self.of if found is None else found
        return self.known[key]


def hear(
    model: nn.Module, module: str, part: int, of: Collection[str], values: Mapping[str, Tensor],
    run: Callable[[], Mapping[str, Tensor]],
) -> set[str] | None:  # fmt: skip
    """Return those layers whose values change when a tensor that `module` gives is changed; None where no run tells."""
    if module not in dict(named_modules(model)):
        return None  # a value that no module returns

    def change(_: nn.Module, __: Any, result: Any) -> None:
        for k, tensor in enumerate(tensors_in(result)):
            if k == part and tensor.is_floating_point():
                with torch.no_grad():
                    tensor.copy_(_disturbed(tensor))

    handle = model.get_submodule(module).register_forward_hook(change)
    try:
        changed = run()
    except (LayerError, RuntimeError):
        return None
    finally:
        handle.remove()
    return {name for name in of if name in changed and not torch.equal(changed[name], values[name])}


def nearest(
    model: nn.Module, trace: Trace, shows: str, sound: Collection[str], unknown: Collection[str],
    values: Mapping[str, Tensor], inputs: Sequence[Inputs], run: Callable[[Inputs], Seen],
) -> tuple[list[str], list[str]]:  # fmt: skip
    """Return of which layers, and `INPUT`, code makes what a layer is given, without others of these between.

    All sound ones keep the values that they have, and one after the other is changed. The second list are those of
    unknown fields in between; all of them with an empty first one where no trial tells.

    Args:
        shows: the layer; of what no module returns, its own value is watched.
        sound: layers in which no fault shows; those that were called before it count.
        unknown: layers of which that is not known.
        values: of all layers, on the first of the inputs.
        inputs: and others of the same shapes.
    """
    layer, named = trace[shows], dict(named_modules(model))
    begun = trace.layers[: trace.layers.index(layer)]
    own = not layer.module or layer.within is not None  # its own value is watched, not what it is given
    outside = [n for n in begun if own or not n.module.startswith(f"{layer.module}.")]
    kept = [n for n in outside if n.called != layer.called and n.within is None and n.module in named and n.module]
    before = [n for n in kept if n.name in sound]
    rest = [n.name for n in begun if n.name in unknown]

    def heard(x: Inputs, changed: Collection[str] = ()) -> list[Tensor]:
        # a container that keeps its value keeps what is inside from being heard
        held = [n for n in kept if n.name in changed or n in before]
        with _holding(named, held, {n.name: _disturbed(values[n.name]) if n.name in changed else values[n.name]
                                    for n in held}):  # fmt: skip
            got, fed = run(x)
        return [got[layer.name]] if own else list(fed.get(layer.called, ()))

    def differs(x: Inputs, changed: Collection[str] = ()) -> bool:
        found = heard(x, changed)
        return len(found) != len(plain) or any(
            a.shape != b.shape or not torch.equal(a, b) for a, b in zip(found, plain)
        )

    try:
        plain = heard(inputs[0])
        far = {n.name for n in before[:-NEAREST]}
        if not plain or differs(inputs[0]) or (far and differs(inputs[0], far)):
            return [], rest
        after = [INPUT] if any(differs(x) for x in inputs[1:]) else []
        after += dict.fromkeys(n.called for n in before[-NEAREST:] if differs(inputs[0], {n.name}))
        tried = {n.name for n in kept if n.name in rest}
        between = [n for n in rest if n not in tried or len(tried) > NEAREST or differs(inputs[0], {n})]
    except (LayerError, RuntimeError, ValueError):
        return [], rest
    # what arises within a module is not heard where all that the module gives is kept
    whole = {n.module for n in before} - {n.module for n in trace.layers if n.module and n.name in rest}
    return after, [n for n in between if n in tried or whole.isdisjoint((*around(trace[n].owner), trace[n].owner))]


def _disturbed(tensor: Tensor) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    drawn = torch.randn(tensor.shape, generator=generator, device="cpu", dtype=torch.float64).to(tensor)
    return tensor + SHARE * (tensor.abs() + 1.0) * drawn


@contextmanager
def _holding(
    named: Mapping[str, nn.Module], layers: Sequence[Layer], held: Mapping[str, Tensor]
) -> Iterator[None]:  # fmt: skip
    """Run modules that give these values, whatever they are given."""
    of: dict[str, dict[int, dict[int, Tensor]]] = {}
    for n in layers:
        of.setdefault(n.module, {}).setdefault(n.call, {})[n.part] = held[n.name]
    calls = dict.fromkeys(of, 0)

    def hook(name: str) -> Callable[..., Any]:
        def give(_: nn.Module, __: Any, result: Any) -> Any:
            parts = of[name].get(calls[name], {})
            calls[name] += 1
            if not parts:
                return None
            enrol([result])
            leaves, spec = tree_flatten(result)
            tensors = [k for k, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
            for part, value in parts.items():
                if part < len(tensors) and leaves[tensors[part]].shape == value.shape:
                    leaves[tensors[part]] = value.clone()
            return tree_unflatten(leaves, spec)

        return give

    handles = [named[name].register_forward_hook(hook(name)) for name in of]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
