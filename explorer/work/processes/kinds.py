"""Say of what kind a value must be, by an annotation; values of another process are looked at before use."""

from __future__ import annotations

import collections.abc
import numbers
import sys
import types
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import numpy as np

Kind = Callable[[Any], bool]

_NUMBERS = (int, float, np.integer, np.floating, np.bool_)
_QUICK: Mapping[Any, frozenset[type]] = {
    str: frozenset({str}), int: frozenset({int, bool}), float: frozenset({float, int, bool}),
    bool: frozenset({bool}), type(None): frozenset({type(None)}), None: frozenset({type(None)}),
}  # fmt: skip


def anything(value: object) -> bool:
    return True


def kind_of(hint: Any) -> Kind:
    """Return whether a value is what an annotation says; what the annotation leaves open is anything."""
    try:
        return _kind(hint)
    except TypeError:  # a hint that cannot be hashed
        return _kind.__wrapped__(hint)


@cache
def _kind(hint: Any) -> Kind:
    hint = getattr(hint, "__value__", hint) if type(hint).__name__ == "TypeAliasType" else hint
    if hint is None or hint is type(None):
        return lambda value: value is None
    if hint is Any or hint is object or isinstance(hint, TypeVar | str):
        return anything
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Union or origin is types.UnionType:
        several = tuple(map(kind_of, inner))
        return lambda value: any(kind(value) for kind in several)
    if origin is Literal:
        return lambda value: any(value == one and type(value) is type(one) for one in inner)
    if origin is tuple:
        return _tuple(inner)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        key, value = map(kind_of, inner)
        return lambda given: isinstance(given, Mapping) and all(key(k) and value(v) for k, v in given.items())
    if isinstance(origin, type) and issubclass(origin, collections.abc.Collection) and origin is not np.ndarray:
        (one,) = map(kind_of, inner)
        return lambda given: isinstance(given, origin) and not isinstance(given, str) and all(map(one, given))
    return _plain(origin if isinstance(origin, type) else hint)


def _tuple(inner: tuple[Any, ...]) -> Kind:
    if len(inner) == 2 and inner[1] is Ellipsis:
        one, quick = kind_of(inner[0]), _quick(inner[0])
        return lambda given: isinstance(given, tuple) and all(type(v) in quick or one(v) for v in given)
    each = tuple(map(kind_of, inner))
    return lambda given: (
        isinstance(given, tuple) and len(given) == len(each) and all(k(v) for k, v in zip(each, given, strict=True))
    )


def _plain(hint: Any) -> Kind:
    if hint is collections.abc.Callable:
        return lambda value: False  # nothing that can be called comes from another process
    if hint is float:
        return lambda value: isinstance(value, _NUMBERS)
    if hint is int:
        return lambda value: isinstance(value, int | np.integer | np.bool_)
    if hint is complex:
        return lambda value: isinstance(value, numbers.Number | np.generic)
    if hint is bool:
        return lambda value: isinstance(value, bool | np.bool_)
    if not isinstance(hint, type) or getattr(hint, "_is_protocol", False):
        return anything
    return lambda value: isinstance(value, hint)


def _quick(hint: Any) -> frozenset[type]:
    try:
        found = _QUICK.get(hint, frozenset())
    except TypeError:
        return frozenset()
    if not found and (get_origin(hint) is Union or get_origin(hint) is types.UnionType):
        return frozenset().union(*map(_quick, get_args(hint)))
    return found


def of_field(cls: type, name: str) -> tuple[frozenset[type], Kind]:
    """Return the classes that a field of a data class may have without a closer look, and its kind.

    Names that only a type checker imports are not known here: such a field holds anything that can be sent.
    """
    for base in cls.__mro__:
        hint = vars(base).get("__annotations__", {}).get(name)
        if hint is not None:
            if isinstance(hint, str):
                try:
                    hint = eval(hint, dict(vars(sys.modules[base.__module__])))  # of our own code, not of a message
                except (NameError, TypeError, AttributeError):
                    return frozenset(), anything
            return _quick(hint), kind_of(hint)
    return frozenset(), anything
