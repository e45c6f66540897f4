"""Describe the modules of a network as a tree: what each is, what it holds, how often it was called, what it costs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from explorer.declare.inputs import Inputs
from explorer.declare.telling.summaries import ModuleInfo
from explorer.network.input.inputs import called
from explorer.network.tracing.layers import Layer
from explorer.network.tracing.running import evaluating
from explorer.network.tracing.walking import modules_of, named_modules


def module_infos(
    model: nn.Module,
    layers: Sequence[Layer] | None = (),
    values: Mapping[str, Tensor] | None = None,
    whole: bool = True,
    without: Collection[str] = (),
) -> tuple[ModuleInfo, ...]:
    """Return all modules but the network itself, in the order in which it holds them; a few steps for each.

    Args:
        layers, values: of a run; without one nothing was called. None: how often they are called is not known yet.
        whole: whether these are all layers of the run; of what is not among them nothing is known else.
        without: what is no layer, as it is not called on every input, or not as often.
    """
    uncalled, layers = -1 if layers is None or not whole else 0, layers or ()
    calls: dict[str, int] = {}
    nbytes: dict[str, int] = {}
    for layer in layers:
        if not layer.part:
            calls[layer.module] = calls.get(layer.module, 0) + 1
            value = (values or {}).get(layer.name)
            if value is not None:
                nbytes[layer.module] = nbytes.get(layer.module, 0) + value.numel() * value.element_size()
    named = [(n, m) for n, m in named_modules(model, each_name=True) if n]
    first: dict[nn.Module, str] = {}
    names: dict[nn.Module, int] = {}
    for name, module in named:
        first.setdefault(module, name)
        names[module] = names.get(module, 0) + 1
    known = {layer.module: layer.params for layer in layers}
    weights = {m: [p for p in m._parameters.values() if p is not None] for m in first}
    # by identity: to a tensor a mapping asks for its hash by way of Python
    own = {m: {id(p): _numbers(p) for p in held} for m, held in weights.items()}
    held: dict[nn.Module, dict[int, int]] = {}
    params = {m: known[n] if n in known else sum(_held(m, own, held).values()) for m, n in first.items()}
    return tuple(
        ModuleInfo(
            name, type(module).__name__, params[module], sum(own[module].values()),
            calls.get(first[module], uncalled), first[module] if first[module] != name else "", names[module],
            nbytes.get(first[module], 0), first[module] in without,
        )
        for name, module in named
    )  # fmt: skip


def _held(
    module: nn.Module, own: Mapping[nn.Module, dict[int, int]], known: dict[nn.Module, dict[int, int]]
) -> dict[int, int]:
    """Return {identity of a parameter: its numbers} of all parameters in a module, each once."""
    if not module._modules:
        return own[module]
    if module not in known:
        inside = [_held(child, own, known) for child in module._modules.values() if child is not None]
        known[module] = dict(own[module]) if inside else own[module]
        for some in inside:
            known[module].update(some)
    return known[module]


def _numbers(parameter: Tensor) -> int:
    plain = type(parameter) is nn.Parameter  # what torch answers about another class is asked by way of Python
    return 0 if not plain and isinstance(parameter, nn.parameter.UninitializedParameter) else parameter.numel()


class _Counter(TorchDispatchMode):
    """Hands on what each operation costs by the formulas of torch.utils.flop_counter.

    The counter there imports torch's compiler, which takes seconds.
    """

    supports_higher_order_operators = True

    def __init__(self, add: Callable[[int], None]) -> None:
        from torch.utils.flop_counter import flop_registry, sdpa_flop_count

        super().__init__()  # type: ignore[no-untyped-call]

        def attention(query: Any, key: Any, value: Any, *more: Any, out_val: Any = None, **named: Any) -> int:
            return int(sdpa_flop_count(query.shape, key.shape, value.shape))

        # the kernel for processors is missing in the list of formulas
        self.costs = {**flop_registry, torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: attention}
        self.add = add

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Tell torch not to import its compiler for the sake of switching it off."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        packet = getattr(func, "_overloadpacket", func)
        cost = self.costs.get(packet)
        if cost is None and hasattr(func, "decompose"):
            with self:
                made = func.decompose(*args, **kwargs)
            if made is not NotImplemented:
                return made
        made = func(*args, **kwargs)
        if cost is not None:
            self.add(int(cost(*args, **kwargs, out_val=made)))
        return made


def flops(model: nn.Module, inputs: Inputs) -> dict[str, int]:
    """Return how many floating-point operations each module makes in one run, its children's included.

    torch.utils.flop_counter counts: two for each multiply-add of convolutions, matrix products and attention, nothing
    for what works value by value. Fused kernels that it does not know are switched off meanwhile.
    """
    # to the counter a fused recurrent layer is one operation of no known cost
    recurrent = any(isinstance(m, nn.RNNBase) for m in modules_of(model))
    found = {"": 0} | {name: 0 for name, _ in named_modules(model)}
    within: list[str] = []

    def leave(*_: object) -> None:
        within.pop()

    handles = [
        handle
        for name, module in named_modules(model)
        for handle in (
            module.register_forward_pre_hook(lambda *_, name=name: within.append(name)),
            module.register_forward_hook(leave, always_call=True),
        )
    ]

    def add(operations: int) -> None:
        for name in {"", *within}:
            found[name] += operations

    fast = torch.backends.mha.get_fastpath_enabled()
    try:
        torch.backends.mha.set_fastpath_enabled(False)
        with ExitStack() as apart, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns of switches for devices that are not there
            for backend in (torch.backends.mkldnn, torch.backends.cudnn) if recurrent else ():
                apart.enter_context(backend.flags(enabled=False))
            with evaluating(model), torch.no_grad(), _Counter(add):
                called(model, inputs, clone=True)
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        for handle in handles:
            handle.remove()
    return {name: operations for name, operations in found.items() if operations or not name}
