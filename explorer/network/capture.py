"""Temporary forward hooks on just the watched layers: values, or reductions of them, without wrapping the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from explorer.network.inputs import Given, Inputs
from explorer.network.trace import FORWARD, OUTPUT, LayerError, Trace, first_tensor, layer_error
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
    by_module: dict[str, set[int]] = {}
    for name in wanted:
        base, _, number = name.partition("#")
        by_module.setdefault(base, set()).add(int(number or 1) - 1)
    outputs: dict[str, Any] = {}
    fed: dict[str, tuple[Tensor, ...]] = {}
    handles = []
    modules = dict(model.named_modules())

    def watch(module: nn.Module, base: str, calls: set[int]) -> None:
        count = 0

        def before(_: nn.Module, args: tuple[Any, ...]) -> None:
            if count in calls:
                name = base if count == 0 else f"{base}#{count + 1}"
                tensors = tuple(a for a in args if isinstance(a, Tensor))
                fed[name] = tuple(t.clone() for t in tensors) if clone else tensors

        def after(_: nn.Module, args: tuple[Any, ...], result: Any) -> Tensor | None:
            nonlocal count
            count += 1
            if count - 1 not in calls or (tensor := first_tensor(result)) is None:
                return None
            name = base if count == 1 else f"{base}#{count}"
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
            handles.append(module.register_forward_pre_hook(before))
        handles.append(module.register_forward_hook(after))

    def step(_: nn.Module, __: Any) -> None:
        if cancelled is not None and cancelled():
            raise Cancelled

    try:
        for base, module in modules.items():
            if cancelled is not None:
                handles.append(module.register_forward_pre_hook(step))
            if base in by_module and base:
                watch(module, base, by_module[base])
        try:
            given = x.arguments if isinstance(x, Inputs) else (x,)
            result = model(*(v.clone() for v in given) if clone else given)
        except (Cancelled, torch.OutOfMemoryError):
            raise
        except Exception as error:
            raise layer_error(model, error) from error
        for name in {OUTPUT, FORWARD} & wanted - modules.keys():
            tensor = first_tensor(result)
            if tensor is None:
                raise LayerError(name, f"the network returned {type(result).__name__}, which holds no tensor")
            outputs[name] = reduce(name, tensor) if reduce else tensor.clone() if clone else tensor
    finally:
        for handle in handles:
            handle.remove()
    missing = wanted - set(outputs)
    if missing:
        name = sorted(missing)[0]
        raise LayerError(name, f"layer {name} was not called on this input")
    return outputs, fed


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


def feed(model: nn.Module, trace: Trace, name: str, tensors: tuple[Tensor, ...]) -> Tensor:
    """Run one layer alone on `tensors` and return its (first) output tensor."""
    module = model.get_submodule(trace[name].module)
    try:
        result = first_tensor(module(*(t.clone() for t in tensors) if trace.clones else tensors))
    except torch.OutOfMemoryError:
        raise
    except Exception as error:
        raise LayerError(name, f"layer {name} raised {type(error).__name__}: {error}") from error
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
