"""Values that an epoch keeps: declared once beside the code that makes them, made when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Concatenate, Generic, ParamSpec, TypeVar

if TYPE_CHECKING:
    from explorer.square.preparing.prepare import Prepared

T = TypeVar("T")
P = ParamSpec("P")


class Kept(Generic[P, T]):
    """A value for each key of an epoch, of which the newest ones are kept.

    Calling it returns the value, made at the first call; `there` returns what was made already.

    Args:
        make: (prepared, *key) -> the value; None is a value too.
        most: how many are kept: one belongs to the epoch, or follows the selected layer, and makes room for the next.
    """

    def __init__(self, make: Callable[Concatenate[Prepared, P], T], most: int = 1) -> None:
        self._make, self._most = make, most
        self.__doc__ = make.__doc__

    def __call__(self, p: Prepared, *key: P.args, **named: P.kwargs) -> T:
        """Return the value of that key."""
        if not self.made(p, *key, **named):
            made = self._make(p, *key, **named)
            store: dict[Hashable, T] = p.kept.setdefault(self, {})
            for old in list(store)[: len(store) + 1 - self._most]:
                del store[old]
            store[key] = made
        found: T = p.kept[self][key]
        return found

    def made(self, p: Prepared, *key: P.args, **named: P.kwargs) -> bool:
        """Say whether the value of that key is there."""
        return key in p.kept.get(self, {})

    def there(self, p: Prepared, *key: P.args, **named: P.kwargs) -> T | None:
        """Return the value of that key if it was made, else None."""
        found: T | None = p.kept.get(self, {}).get(key)
        return found


def kept(most: int = 1) -> Callable[[Callable[Concatenate[Prepared, P], T]], Kept[P, T]]:
    """Make a function of (prepared, *key) keep its values with the epoch."""
    return lambda make: Kept(make, most)
