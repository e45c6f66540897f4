"""Describe the modules of a network as a tree: what each is, what it holds, how often it was called, what it costs."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn

from explorer.declare.summaries import ModuleInfo
from explorer.network.inputs import Inputs
from explorer.network.layers import Trace
from explorer.network.running import evaluating

DEEPEST = 999  # modules within modules


def module_infos(model: nn.Module, trace: Trace, values: Mapping[str, Tensor]) -> tuple[ModuleInfo, ...]:
    """Return all modules but the network itself, in the order in which it holds them; a few steps for each."""
    calls: dict[str, int] = {}
    nbytes: dict[str, int] = {}
    for layer in trace.layers:
        if not layer.part:
            calls[layer.module] = calls.get(layer.module, 0) + 1
            value = values.get(layer.name)
            if value is not None:
                nbytes[layer.module] = nbytes.get(layer.module, 0) + value.numel() * value.element_size()
    named = [(n, m) for n, m in model.named_modules(remove_duplicate=False) if n]
    first: dict[nn.Module, str] = {}
    names: dict[nn.Module, int] = {}
    for name, module in named:
        first.setdefault(module, name)
        names[module] = names.get(module, 0) + 1
    known = {layer.module: layer.params for layer in trace.layers}
    params = {m: known[n] if n in known else _numbers(m.parameters()) for m, n in first.items()}
    return tuple(
        ModuleInfo(
            name, type(module).__name__, params[module], _numbers(module.parameters(recurse=False)),
            calls.get(first[module], 0), first[module] if first[module] != name else "", names[module],
            nbytes.get(first[module], 0),
        )
        for name, module in named
    )  # fmt: skip


def _numbers(parameters: Iterable[Tensor]) -> int:
    return sum(p.numel() for p in parameters if not isinstance(p, nn.parameter.UninitializedParameter))


def flops(model: nn.Module, inputs: Inputs) -> dict[str, int]:
    """Return how many floating-point operations each module makes in one run, its children's included.

    torch.utils.flop_counter counts: two for each multiply-add of convolutions, matrix products and attention, nothing
    for what works value by value. Fused kernels that it does not know are switched off meanwhile.
    """
    from torch.utils.flop_counter import FlopCounterMode, sdpa_flop_count

    # to the counter a fused recurrent layer is one operation of no known cost
    recurrent = any(isinstance(m, nn.RNNBase) for m in model.modules())

    def attention(query: Any, key: Any, value: Any, *more: Any, out_shape: Any = None, **named: Any) -> int:
        return int(sdpa_flop_count(query, key, value))

    # the kernel for processors is missing in the counter's own list
    more = {torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: attention}
    counter = FlopCounterMode(display=False, depth=DEEPEST, custom_mapping=more)
    fast = torch.backends.mha.get_fastpath_enabled()
    try:
        torch.backends.mha.set_fastpath_enabled(False)
        with ExitStack() as apart, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns of switches for devices that are not there
            for backend in (torch.backends.mkldnn, torch.backends.cudnn) if recurrent else ():
                apart.enter_context(backend.flags(enabled=False))
            with evaluating(model), torch.no_grad(), counter:
                inputs.run(model, clone=True)
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
    # the counter calls a module by the last of its names
    first: dict[nn.Module, str] = {}
    other = {}
    for name, module in model.named_modules(remove_duplicate=False):
        other[name] = first.setdefault(module, name)
    found: dict[str, int] = {"": counter.get_total_flops()}
    root = type(model).__name__
    for name, operations in counter.get_flop_counts().items():
        if name.startswith(f"{root}."):
            own = name.removeprefix(f"{root}.")
            found[other.get(own, own)] = sum(int(n) for n in operations.values())
    return found
