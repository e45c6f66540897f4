"""Forward hooks that change what layers give. They stay on a network only as long as somebody holds them there."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields as fields_of
from dataclasses import is_dataclass, replace
from functools import partial
from typing import Any

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from explorer.network.inner.watching import Inside, Standing
from explorer.network.input.typed_tensors import retyped, tensor_of
from explorer.network.tracing.layers import FORWARD, OUTPUT, Layer, LayerError
from explorer.network.tracing.running import readable, tensors_in
from explorer.network.tracing.walking import modules_of, named_modules

_CALL: ContextVar[int] = ContextVar("call", default=0)  # which call a layer that is fed alone stands for

# (what the layer gave, the module, its arguments and keyword arguments) -> what it gives instead
Change = Callable[[Tensor, nn.Module, tuple[Any, ...], dict[str, Any]], Tensor]


@contextmanager
def standing_for(call: int) -> Iterator[None]:
    """Let a layer that is run alone be that call of it, counted from 0."""
    token = _CALL.set(call)
    try:
        yield
    finally:
        _CALL.reset(token)


class Hooks:
    """The changes of one network; they act in every run of it until `remove`.

    Calls of a layer are counted from the start of each run of the network, so that the second one can be changed
    alone. A copy of the network has hooks of its own, with the same changes.
    """

    def __init__(self, model: nn.Module, changes: Sequence[tuple[Layer, Change]]) -> None:
        self._running = False
        self._counts: dict[str, int] = {}
        self._handles: list[RemovableHandle] = []
        by_module: dict[str, list[tuple[int, int, str, Change]]] = {}
        inside: dict[str, Callable[[Tensor], Tensor]] = {}
        for layer, change in changes:
            if layer.within is not None:
                owner = model.get_submodule(layer.within)
                inside[layer.name] = partial(_made_of, change, owner, layer.name, inside.get(layer.name))
                continue
            by_module.setdefault(layer.module, []).append((layer.call, layer.part, layer.name, change))
        modules = dict(named_modules(model))
        for base, wanted in by_module.items():
            hook = Hook(self, base, tuple(wanted))
            handle = modules[base].register_forward_hook(hook, with_kwargs=True)
            self._handles.append(handle)
        if inside:
            owners = {layer.within or "" for layer, _ in changes if layer.within is not None}
            doors = {"", *(o[:k] for o in owners for k in range(len(o) + 1) if k == len(o) or o[k] == ".")}
            self._handles += Standing(model, Inside(inside), doors, _CALL.get).handles
        if by_module:
            self._handles.append(model.register_forward_pre_hook(self._enter))
            self._handles.append(model.register_forward_hook(self._leave, always_call=True))

    def _enter(self, *_: Any) -> None:
        self._running = True
        self._counts.clear()

    def _leave(self, *_: Any) -> None:
        self._running = False

    def counted(self, base: str) -> int:
        """Return which call of a module this is."""
        call = self._counts.get(base, 0)
        self._counts[base] = call + 1
        return call if self._running else _CALL.get()

    def remove(self) -> None:
        """Take every hook away."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()


def _made_of(
    change: Change, module: nn.Module, name: str, before: Callable[[Tensor], Tensor] | None, given: Tensor
) -> Tensor:
    given = given if before is None else before(given)
    made = change(given, module, (), {})
    if made.shape != given.shape:
        raise LayerError(name, f"{name} is {_sizes(given)} here, in whose place {_sizes(made)} cannot be put")
    return made


class Hook:
    """Changes one module's results."""

    def __init__(self, owner: Hooks, base: str, wanted: tuple[tuple[int, int, str, Change], ...]) -> None:
        self._owner, self._base, self._wanted = owner, base, wanted

    def __call__(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Any:
        """Return the result with the changes of this call."""
        call = self._owner.counted(self._base)
        for number, part, name, change in self._wanted:
            if number != call:
                continue
            found = list(tensors_in(result))
            if part >= len(found):
                raise LayerError(name, f"layer {name} gave no tensor on this input that could be changed")
            made = change(found[part], module, args, kwargs)
            if made.shape != found[part].shape:
                raise LayerError(
                    name,
                    f"layer {name} gives {_sizes(found[part])} here, in whose place {_sizes(made)} cannot be put",
                )
            result = with_tensor(result, part, made)
        return result


def _sizes(tensor: Tensor) -> str:
    return "×".join(map(str, tensor.shape)) or "a number"


def changed_layer(layers: Mapping[str, Layer], name: str, model: nn.Module) -> Layer:
    """Return the layer of that name with the module that a hook is put on; the root for the network's own result."""
    layer = layers[name]
    if name in (OUTPUT, FORWARD) and name not in dict(named_modules(model)):
        return replace(layer, module="")
    return layer


@contextmanager
def without_hooks(module: nn.Module) -> Iterator[None]:
    """Run a module without the hooks of others, which would count a call that the network did not make."""
    saved = [(m, m._forward_hooks, m._forward_pre_hooks) for m in modules_of(module)]
    try:
        for m, hooks, before in saved:
            m._forward_hooks, m._forward_pre_hooks = type(hooks)(), type(before)()
        yield
    finally:
        for m, hooks, before in saved:
            m._forward_hooks, m._forward_pre_hooks = hooks, before


def with_tensor(result: Any, part: int, made: Tensor) -> Any:
    """Return a module's result with its tensor number `part` replaced; what is around it stays what it was."""
    left = part

    def visit(value: Any) -> Any:
        nonlocal left
        if isinstance(value, Tensor):
            left -= readable(value)
            if left != -1 or not readable(value):
                return value
            return made if value.ndim else made.reshape(())
        if (inside := tensor_of(value)) is not None:
            inner = visit(inside)
            return value if inner is inside else retyped(value, inner)
        if isinstance(value, Mapping):
            found = copy.copy(value)
            for key in list(value):
                inner = visit(value[key])
                if inner is not value[key]:
                    found[key] = inner  # type: ignore[index]
            return found
        if isinstance(value, list | tuple):
            items = [visit(item) for item in value]
            if all(a is b for a, b in zip(items, value, strict=True)):
                return value
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        if is_dataclass(value) and not isinstance(value, type):
            filled: Any = copy.copy(value)
            for field in fields_of(value):
                object.__setattr__(filled, field.name, visit(getattr(value, field.name)))
            return filled
        return value

    return visit(result)
