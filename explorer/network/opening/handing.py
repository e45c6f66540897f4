"""Hand on the network that was made to see what it takes to who makes it next, where it is still as it was made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

from torch import nn
from torch.nn.modules.module import register_module_forward_hook
from torch.nn.parameter import is_lazy

from explorer.network.changing.conduct import writes
from explorer.network.input.recognise import Recognised
from explorer.network.tracing.walking import named_tensors


@contextmanager
def handing_on(
    own: Recognised, build: Callable[..., nn.Module]
) -> Iterator[tuple[Recognised, Callable[..., nn.Module]]]:
    """Give both again, so that `build` gives the network that `own` has made meanwhile when it is called first.

    Trials put back what they change, but not all that somebody's code can change: a network of which a layer has run in
    a trial is made anew. To make one of many layers takes as long as to run it several times.
    """
    once = _Once(own, build)
    handle = register_module_forward_hook(once.seen)
    try:
        yield replace(own, network=once.network), once
    finally:
        handle.remove()
        once.take()


class _Once:
    """Makes a network; the first one may be there already."""

    def __init__(self, own: Recognised, build: Callable[..., nn.Module]) -> None:
        self._own, self._build = own, build
        self._ran = False
        self._ready: nn.Module | None = None

    def network(self) -> nn.Module:
        """Return the network that is looked at."""
        return self._made[0]

    @cached_property
    def _made(self) -> tuple[nn.Module, list[int]]:
        made = self._own.network()
        return made, _written(made)

    def seen(self, *_: Any) -> None:
        """Note that a module has run."""
        self._ran = True

    def take(self) -> None:
        """Keep the network for who makes it, if one was made and nothing of it has run."""
        if not self._ran and (found := self.__dict__.get("_made")) is not None:
            made, before = found
            # a forward that was left by an exception may have written to its weights
            self._ready = made if _written(made) == before else None
        self.__dict__.pop("_made", None)

    def __call__(self, **values: Any) -> nn.Module:
        ready, self._ready = self._ready, None
        return ready if ready is not None and not values else self._build(**values)


def _written(network: nn.Module) -> list[int]:
    """Return how often each of its tensors was written to; -1 of one that has no values yet."""
    return [-1 if is_lazy(v) else writes(v) for _, v in named_tensors(network)]
