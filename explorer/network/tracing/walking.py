"""Walk through the modules and tensors of a network, as torch does, without a generator for each level of the tree.

Every step of torch's own walks goes through as many generators as the module lies deep; a network of 20,000 modules is
walked through some thirty times until it is shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from torch import Tensor, nn

IN_ITSELF = (
    "contains itself, as {}: a network is a tree of layers. Keep a reference to what is above a layer in a tuple, "
    "which makes no layer of it"
)


def modules_of(model: nn.Module) -> list[nn.Module]:
    """Return the modules of a network, itself first, each once, in the order of `model.modules()`."""
    found: dict[int, nn.Module] = {}
    waiting = [model]
    while waiting:
        module = waiting.pop()
        if id(module) in found:
            continue
        found[id(module)] = module
        if inside := module._modules:
            waiting += [m for m in reversed(list(inside.values())) if m is not None]
    return list(found.values())


def named_modules(model: nn.Module, each_name: bool = False) -> list[tuple[str, nn.Module]]:
    """Return names and modules as `model.named_modules()` does.

    Args:
        each_name: give a module that lies in several places once for each of them.

    Raises:
        ValueError: each name is asked for, and a module contains itself, which has no end of names.
    """
    found: list[tuple[str, nn.Module]] = []
    seen: set[int] = set()  # with each name: the module itself and those that it lies in

    def walk(name: str, module: nn.Module) -> None:
        if id(module) in seen:
            if each_name:
                raise ValueError(f"the network {IN_ITSELF.format(name)}")
            return
        seen.add(id(module))
        found.append((name, module))
        if inside := module._modules:
            before = f"{name}." if name else ""
            for own, child in inside.items():
                if child is not None:
                    walk(before + own, child)
        if each_name:
            seen.discard(id(module))

    walk("", model)
    return found


def holds_itself(model: nn.Module) -> str:
    """Return where a module lies that contains what it is a part of, "" where there is none."""
    clear: set[int] = set()  # modules in which there is none: one that lies in many places is looked into once

    def walk(name: str, module: nn.Module, above: frozenset[int]) -> str:
        if id(module) in above:
            return name
        if id(module) not in clear:
            inside, before = above | {id(module)}, f"{name}." if name else ""
            for own, child in list(module._modules.items()):
                if child is not None and (found := walk(before + own, child, inside)):
                    return found
            clear.add(id(module))
        return ""

    return walk("", model, frozenset())


def held_elsewhere(names: Mapping[nn.Module, str]) -> dict[str, frozenset[str]]:
    """Return the names of containers that hold a module under another name than its own, by that, with what is inside.

    Args:
        names: of the modules of a network, each once.
    """
    found: dict[str, set[str]] = {}
    for module, name in names.items():
        for own, child in module._modules.items():
            first = None if child is None else names.get(child)
            if first is None or first == (f"{name}.{own}" if name else own):
                continue
            outside = {name[:at] for at, sign in enumerate(name) if sign == "."} | {name}
            for inside in (n for n in names.values() if n == first or n.startswith(f"{first}.")):
                found.setdefault(inside, set()).update(n for n in outside if n and not inside.startswith(f"{n}."))
    return {name: frozenset(containers) for name, containers in found.items() if containers}


def named_tensors(model: nn.Module) -> list[tuple[str, Tensor]]:
    """Return the parameters of a network, then its buffers, each with its name and once."""
    modules = named_modules(model)
    found: list[tuple[str, Tensor]] = []
    for kind in ("_parameters", "_buffers"):
        seen: set[int] = set()
        for name, module in modules:
            for own, value in getattr(module, kind).items():
                if value is not None and id(value) not in seen:
                    seen.add(id(value))
                    found.append((f"{name}.{own}" if name else own, value))
    return found


def parameters_of(model: nn.Module) -> Iterator[Tensor]:
    """Yield the parameters of a network in the order of `model.parameters()`; one that is shared comes again."""
    for module in modules_of(model):
        if own := module._parameters:
            yield from (p for p in own.values() if p is not None)


def attribute(module: nn.Module, name: str) -> Any:
    """Return an attribute of a module, None where it has none; torch makes a sentence of each that is missing."""
    kind = type(module)
    if name in vars(module) or kind.__getattr__ is not nn.Module.__getattr__ or hasattr(kind, name):
        return getattr(module, name, None)
    held = (module._parameters, module._buffers, module._modules)
    return next((own[name] for own in held if name in own), None)
