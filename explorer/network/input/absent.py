"""Leave out arguments that a forward has no default for and that are given None, as where edges have no attributes."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, islice
from types import MethodType
from typing import Any

import torch
from torch import Tensor, nn

from explorer.network.changing.copying import duplicate
from explorer.network.input.recognise import Recognised

MOST = 7  # sets of arguments that are tried


def without(network: nn.Module, names: Sequence[str]) -> nn.Module:
    """Let a network, which is changed in its place, be called without these arguments: it is given None for them.

    Raises:
        ValueError: one is no argument of its forward.
    """
    own: Any = network.forward
    whole = inspect.signature(own)
    if wrong := next((name for name in names if name not in whole.parameters), ""):
        raise ValueError(f"its forward takes ({', '.join(whole.parameters)}), and {wrong!r:.40} is none of them")
    if not isinstance(own, MethodType) or own.__self__ is not network or isinstance(network, torch.jit.ScriptModule):
        raise ValueError("its forward is no method of its class, and none of its arguments can be given None")
    function = own.__func__
    called = whole.replace(parameters=[p for p in whole.parameters.values() if p.name not in names])

    def forward(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        given = {**called.bind(*args, **kwargs).arguments, **dict.fromkeys(names)}
        ordered: Any = {name: given[name] for name in whole.parameters if name in given}
        bound = inspect.BoundArguments(whole, ordered)
        return function(self, *bound.args, **bound.kwargs)

    here = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    told: Any = forward
    told.__signature__ = called.replace(parameters=[here, *called.parameters.values()])
    network.forward = MethodType(forward, network)
    return network


def without_none(network: nn.Module, data: Any) -> tuple[nn.Module, Any]:
    """Return a network and its data as they are where no argument is None, else a copy that is called without those.

    Raises:
        ValueError: its forward has no argument there.
    """
    if (
        not isinstance(data, list | tuple)
        or not any(isinstance(v, Tensor) for v in data)
        or all(v is not None for v in data)
    ):
        return network, data
    known = tuple(inspect.signature(network.forward).parameters)
    places = [k for k, v in enumerate(data) if v is None]
    if places[-1] >= len(known):
        raise ValueError(f"argument {places[-1]} of the data is None, and the forward takes ({', '.join(known)})")
    return without(duplicate(network), [known[k] for k in places]), [v for v in data if v is not None]


def with_absent(own: Recognised) -> Iterator[tuple[tuple[str, ...], Recognised]]:
    """Yield arguments that might be None, fewest first, and the network as it is called without them."""
    needed = own.required()
    if len(needed) < 2:
        return
    optional = own.optional()
    # the first is what it is about; of others those come first that are said to be None at times, then the last ones
    rest = sorted(needed[1:], key=lambda name: (name not in optional, -needed.index(name)))
    some = (names for count in range(1, len(needed)) for names in combinations(rest, count))
    for names in islice(some, MOST):
        try:
            network = without(duplicate(own.network()), names)
        except ValueError:
            return
        fresh: dict[str, Any] = {name: [] for name in ("doubts", "last_resort", "reads_nothing", "unproven")}
        yield names, replace(own, made=network, network=partial(_same, network), why={}, sparing=True, **fresh)


def _same(network: nn.Module) -> nn.Module:
    return network
