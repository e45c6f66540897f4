"""Take arguments that are given by name: in a mapping, or as one object with tensors such as a torch_geometric Data."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class Named:
    """Tensors by name, and how a network is called with others in their place.

    Attributes:
        tensors: in the order in which they were given.
        what: what they came in, for sentences.
        call: (network, names, tensors) -> what the network returns; all else is as it was given.
    """

    tensors: Mapping[str, Tensor]
    what: str
    call: Callable[[nn.Module, Sequence[str], Sequence[Tensor]], Any]


def named(data: object, model: nn.Module) -> Named | None:
    """Return the arguments that `data` gives by name, or None for what has no names.

    Raises:
        ValueError: names that are no texts, or nothing that holds a tensor; in one sentence.
    """
    kind = type(data).__name__
    if isinstance(data, Mapping):
        items: dict[Any, Any] = dict(data)
        alone = not _takes(model, items)

        def call(network: nn.Module, names: Sequence[str], tensors: Sequence[Tensor]) -> Any:
            given = {**items, **dict(zip(names, tensors, strict=True))}
            return network(given) if alone else network(**given)
    elif not isinstance(data, nn.Module | type) and callable(to_dict := getattr(data, "to_dict", None)):
        items = to_dict()
        needed = needed_arguments(model)
        apart = len(needed) > 1 and set(needed) <= set(items)

        def call(network: nn.Module, names: Sequence[str], tensors: Sequence[Tensor]) -> Any:
            if apart:
                given = {**items, **dict(zip(names, tensors, strict=True))}
                return network(**{name: given[name] for name in needed})
            made = copy.copy(data)
            for name, tensor in zip(names, tensors, strict=True):
                setattr(made, name, tensor)
            return network(made)
    else:
        return None
    tensors = {name: value for name, value in items.items() if isinstance(value, Tensor)}
    if not all(isinstance(name, str) for name in items) or not tensors:
        listed = ", ".join(f"{k!r}: {type(v).__name__}" for k, v in list(items.items())[:6])
        raise ValueError(f"the data is a {kind} of {{{listed}}}; give tensors by name, as in {{'x': x}}")
    return Named(tensors, f"a {kind} of {', '.join(tensors)}", call)


@dataclass(frozen=True)
class ByName:
    """Call a network with arguments of these names: else in their order, or with a dict where it takes one argument.

    Attributes:
        order: which of what is given each name stands for; () where that is in the order of the names.
    """

    names: tuple[str, ...]
    order: tuple[int, ...] = ()

    def __call__(self, network: nn.Module, given: tuple[Tensor, ...]) -> Any:
        given = tuple(given[k] for k in self.order) if self.order else given
        items = dict(zip(self.names, given, strict=True))
        if _takes(network, items):
            return network(**items)
        return network(*given) if len(needed_arguments(network)) == len(given) > 1 else network(items)


def _takes(model: nn.Module, items: Mapping[str, Any]) -> bool:
    """Say whether a network is called with these names; else it takes the mapping itself."""
    try:
        inspect.signature(model.forward).bind(**items)
    except TypeError:
        return False
    return True


def needed_arguments(model: nn.Module) -> tuple[str, ...]:
    """Return the arguments of a forward that have no default."""
    varied = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(model.forward).parameters.values()
    return tuple(p.name for p in parameters if p.default is p.empty and p.kind not in varied)


def only_by_name(model: nn.Module) -> bool:
    """Say whether an argument of a forward can only be given by name, and must be."""
    parameters = inspect.signature(model.forward).parameters.values()
    return any(p.kind is p.KEYWORD_ONLY and p.default is p.empty for p in parameters)


def require_call(model: nn.Module, count: int) -> None:
    """Raise ValueError, with what to give, where a network is not called with so many tensors in their order."""
    try:
        inspect.signature(model.forward).bind(*range(count))
    except TypeError as error:
        names = ", ".join(f"{name!r}: ..." for name in needed_arguments(model)) or "..."
        raise ValueError(
            f"the network is not called with {count} tensor(s) in their order ({error}); give them by name, {{{names}}}"
        ) from None


def require_module(model: object) -> None:
    """Refuse what is no network.

    Raises:
        TypeError: with how to make one, where its class was given.
    """
    if not isinstance(model, nn.Module):
        call = f"; {model.__name__}() makes one" if isinstance(model, type) else ""
        raise TypeError(f"the model must be a torch.nn.Module, not of type {type(model).__name__}{call}")
