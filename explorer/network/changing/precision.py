"""Copy a network that is to be measured, and change the precision of the copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from explorer.network.changing.conduct import require_values
from explorer.network.changing.copying import duplicate
from explorer.network.opening.scripts import UNWATCHED, Script
from explorer.network.tracing.walking import modules_of, named_modules, named_tensors, parameters_of

_COMPLEX = {torch.float64: torch.complex128, torch.float32: torch.complex64, torch.float16: torch.complex32}


def precision_of(model: nn.Module, otherwise: torch.dtype = torch.float32) -> torch.dtype:
    """Return the precision that a network was made in; of one without real parameters `otherwise`."""
    return next((p.dtype for p in parameters_of(model) if p.is_floating_point()), otherwise)


def device_of(model: nn.Module) -> torch.device:
    """Return where a network's parameters lie, else its buffers; of one with neither the processor."""
    return next((value.device for _, value in named_tensors(model)), torch.device("cpu"))


def copied(model: nn.Module) -> nn.Module:
    """Return a copy of a network, of any that can be run: without what compiles it, with tensors that it has derived.

    Raises:
        ValueError: it is a script, whose layers cannot be watched.
        LayerError: one of its tensors is on the meta device, without values.
    """
    model = _eager(model)
    if isinstance(model, torch.jit.ScriptModule):
        raise ValueError(UNWATCHED)
    require_values(model)
    found = duplicate(model)
    for name, module in named_modules(found):
        if (inside := _eager(module)) is not module:
            found.set_submodule(name, inside)
    _watch_scripts(found)
    return found


def _watch_scripts(model: nn.Module) -> None:
    """Make one layer of each script within a network: torch takes no hooks on what lies in it."""
    scripts = {n: m for n, m in named_modules(model, each_name=True) if isinstance(m, torch.jit.ScriptModule)}
    layers: dict[int, Script] = {}
    for name, script in scripts.items():
        if not any(name.startswith(f"{other}.") for other in scripts):
            model.set_submodule(name, layers.setdefault(id(script), Script(script)))


def _eager(module: nn.Module) -> nn.Module:
    """Return what torch.compile has wrapped, or what is run on several devices at once: hooks see no copies."""
    inside = getattr(module, "_orig_mod", None)
    if isinstance(module, nn.DataParallel | nn.parallel.DistributedDataParallel):
        inside = module.module
    return _eager(inside) if isinstance(inside, nn.Module) else module


def converted(model: nn.Module, dtype: torch.dtype) -> nn.Module:
    """Change the precision of a network in place and return it; complex numbers stay complex."""

    def change(value: Tensor) -> Tensor:
        if value.is_complex():
            return value.to(_COMPLEX.get(dtype, torch.complex64))
        return value.to(dtype) if value.is_floating_point() else value

    if not _all(model, lambda v: change(v) is v):
        model._apply(change)
    return model


def on_device(model: nn.Module, device: torch.device) -> Any:
    """Return what `model.to(device)` gives, at once where nothing of it lies elsewhere."""
    there = type(model).to is nn.Module.to and _all(model, lambda v: v.device == device)
    return model if there else model.to(device)


def _all(model: nn.Module, settled: Callable[[Tensor], bool]) -> bool:
    """Say whether that is so of all tensors of a network, which has no others; walking is quicker than `_apply`."""
    # a class that keeps tensors where torch does not look says so by an `_apply` of its own
    general = all(type(m)._apply is nn.Module._apply for m in modules_of(model))
    return general and all(settled(v) and v.grad is None for _, v in named_tensors(model))
