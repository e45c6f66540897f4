"""Remember which layers networks choose by their input: they have no values on every one, and are no layers of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from explorer.network.tracing.layers import without_chosen

T = TypeVar("T")


class Chosen:
    """Names of such layers for each network; what is made of it is made anew without those that it did not call."""

    def __init__(self) -> None:
        self._names: dict[str, frozenset[str]] = {}

    def of(self, name: str) -> frozenset[str]:
        return self._names.get(name, frozenset())

    def forget(self, name: str) -> None:
        self._names.pop(name, None)

    def found(self, name: str, make: Callable[[], T]) -> T:
        """Return what `make` does, which asks for `of` and is asked again after each input that other layers answer."""

        def once(known: frozenset[str]) -> T:
            if known:
                self._names[name] = self.of(name) | known
            return make()

        return without_chosen(once, self.of(name))
