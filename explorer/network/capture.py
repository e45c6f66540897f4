"""Temporary forward hooks on just the watched layers: values, or reductions of them, without wrapping the model."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_flatten, tree_unflatten

from explorer.network.inputs import Given, Inputs
from explorer.network.layers import FORWARD, OUTPUT, LayerError, Trace, layer_error, named_error
from explorer.network.running import attended, first_tensor, tensors_in
from explorer.work.crumbs import within
from explorer.work.progress import Cancelled

Reduce = Callable[[str, Tensor], Any]


def capture(
    model: nn.Module,
    x: Given,
    layers: Iterable[str],
    *,
    reduce: Reduce | None = None,
    clone: bool = False,
    inputs: bool = False,
    cancelled: Callable[[], bool] | None = None,
) -> tuple[dict[str, Any], dict[str, tuple[Tensor, ...]]]:
    """Run the network and return ({layer: value}, {layer: input tensors}) for the watched layers.

    Args:
        x: one tensor, or all the arguments.
        layers: names as in `Trace` ("conv1", "conv1#2", "output").
        reduce: what to keep of a layer's output, computed on the device inside the hook; default: the tensor itself.
        clone: let the network go on with a copy of what is kept, because something in it works in place.
        inputs: also keep each watched module's tensor inputs.
        cancelled: asked between modules; True raises Cancelled there.

    Raises:
        LayerError: a module raised, or a watched layer was not called; `.where` names it.
    """
    wanted = set(layers)
    by_module: dict[str, dict[int, list[tuple[str, int]]]] = {}
    for name in wanted:
        base, call, part = _parsed(name)
        by_module.setdefault(base, {}).setdefault(call, []).append((name, part))
    outputs: dict[str, Any] = {}
    fed: dict[str, tuple[Tensor, ...]] = {}
    handles = []
    modules = dict(model.named_modules())

    def watch(module: nn.Module, base: str, calls: Mapping[int, list[tuple[str, int]]]) -> None:
        count = 0

        def before(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            if count in calls:
                name = base if count == 0 else f"{base}#{count + 1}"
                fed[name] = Fed.of(args, kwargs, clone)

        def after(_: nn.Module, args: tuple[Any, ...], result: Any) -> Tensor | None:
            nonlocal count
            count += 1
            if count - 1 not in calls or (first := first_tensor(result)) is None:
                return None
            rest = [first] if first is result else list(tensors_in(result))
            for name, part in calls[count - 1]:
                if part >= len(rest):
                    continue
                tensor = rest[part]
                if reduce:
                    outputs[name] = reduce(name, tensor)
                elif clone and tensor is result:
                    # the network goes on with the copy: what is kept stays in the graph, and gradients reach it
                    outputs[name] = tensor
                    passed_on: Tensor = tensor.clone()
                    return passed_on
                else:
                    outputs[name] = tensor.clone() if clone else tensor
            return None

        if inputs:
            # before hooks of its own, which run again when it is fed alone
            handles.append(module.register_forward_pre_hook(before, prepend=True, with_kwargs=True))
        handles.append(module.register_forward_hook(after))

    try:
        handles += attended(model, cancelled)
        for base, module in modules.items():
            if base in by_module and base:
                watch(module, base, by_module[base])
        try:
            result = x.run(model, clone) if isinstance(x, Inputs) else model(x.clone() if clone else x)
        except (Cancelled, KeyboardInterrupt, torch.OutOfMemoryError):
            raise
        except BaseException as error:  # somebody else's network may raise anything
            raise layer_error(model, error) from error
        for base in {OUTPUT, FORWARD} & by_module.keys() - modules.keys():
            found = list(tensors_in(result))
            for name, part in by_module[base].get(0, []):
                if part < len(found):
                    tensor = found[part]
                    outputs[name] = reduce(name, tensor) if reduce else tensor.clone() if clone else tensor
            if not found:
                name = base
                raise LayerError(name, f"the network returned {type(result).__name__}, which holds no tensor")
    finally:
        for handle in handles:
            handle.remove()
    missing = wanted - set(outputs)
    if missing:
        name = sorted(missing)[0]
        raise LayerError(name, f"layer {name} was not called on this input")
    return outputs, fed


class Fed(tuple[Tensor, ...]):
    """The tensors that a module was called with, and the form of its arguments around them."""

    form: tuple[Any, tuple[Any, ...]] | None = None  # how they lie in (args, kwargs), None for tensors in their order

    @classmethod
    def of(cls, args: tuple[Any, ...], kwargs: Mapping[str, Any], clone: bool) -> Fed:
        """Keep the arguments of a call."""
        plain = not kwargs and all(isinstance(a, Tensor) for a in args)
        leaves, spec = (list(args), None) if plain else tree_flatten((args, dict(kwargs)))
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        found = cls(t.clone() for t in tensors) if clone else cls(tensors)
        if not plain:
            found.form = spec, tuple(None if isinstance(leaf, Tensor) else (leaf,) for leaf in leaves)
        return found

    def filled(self, tensors: tuple[Tensor, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return (args, kwargs) with other tensors in the place of these."""
        if self.form is None:
            return tensors, {}
        spec, leaves = self.form
        left = iter(tensors)
        found: tuple[tuple[Any, ...], dict[str, Any]] = tree_unflatten(
            [next(left) if leaf is None else leaf[0] for leaf in leaves], spec
        )
        return found


def _parsed(name: str) -> tuple[str, int, int]:
    """Return (module, call, tensor of its result) of a layer's name, counted from 0."""
    base, _, rest = name.partition("#")
    head, bracket, part = name.rpartition("[")
    if bracket and part.endswith("]") and part[:-1].isdigit():
        base, _, rest = head.partition("#")
        return base, int(rest or 1) - 1, int(part[:-1])
    return base, int(rest or 1) - 1, 0


@contextmanager
def gradients_to_inputs(model: nn.Module) -> Iterator[None]:
    """Record gradients with respect to what is fed to the network alone: its parameters take none until the end."""
    was = {p: p.requires_grad for p in model.parameters()}
    try:
        for p in was:
            p.requires_grad_(False)
        with torch.enable_grad():
            yield
    finally:
        for p, flag in was.items():
            p.requires_grad_(flag)


def differentiable(x: Tensor) -> Tensor:
    """Return a copy of x that gradients are taken with respect to."""
    return x.detach().clone().requires_grad_(True)


def feed(
    model: nn.Module, trace: Trace, name: str, tensors: tuple[Tensor, ...], like: tuple[Tensor, ...] = ()
) -> Tensor:
    """Run one layer alone on `tensors` and return its output tensor of that name.

    Args:
        like: what `capture` kept of its inputs: the form that its arguments have around the tensors.
    """
    module = model.get_submodule(trace[name].module)
    tensors = tuple(t.clone() for t in tensors) if trace.clones else tensors
    args, kwargs = like.filled(tensors) if isinstance(like, Fed) else (tensors, {})
    try:
        with within(name):
            result = next(itertools.islice(tensors_in(module(*args, **kwargs)), trace[name].part, None), None)
    except (Cancelled, KeyboardInterrupt, torch.OutOfMemoryError):
        raise
    except BaseException as error:
        raise LayerError(name, f"layer {name} raised {named_error(error)}") from error
    assert result is not None
    return result


def thumbnails(side: int = 32, channels: int = 16) -> Reduce:
    """Return a reduction to what a gallery tile draws: at most `channels` maps of at most `side` pixels."""

    def reduce(name: str, value: Tensor) -> Tensor:
        if value.ndim == 4:
            # strided picking costs one small copy (averaging would read the whole map), and one view is cheaper to make
            # than the four slices that say the same
            _, c, h, w = value.shape
            sy, sx = -(-h // side), -(-w // side)
            size, steps = (min(c, channels), -(-h // sy), -(-w // sx)), value.stride()
            picked = value.as_strided(size, (steps[1], steps[2] * sy, steps[3] * sx), value.storage_offset())
            return picked.clone()
        return (value[0, :channels] if value.ndim > 1 else value).clone()

    return reduce


def state_values(values: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return captures as contiguous CPU tensors that share no memory, ready for safetensors."""
    return {name: value.detach().cpu().contiguous().clone() for name, value in values.items()}
