"""Words for a value that a file of somebody's holds where another one is meant."""

from __future__ import annotations

from itertools import islice
from typing import Any

_LENGTH = 60  # letters
_BITS = 200  # of a number whose digits are shown
_DEPTH = 3  # of containers in containers that are shown


def told_value(value: object) -> str:
    """Return a value as it is told in a sentence: numbers, texts and containers of these as Python writes them.

    Of all else the type is told. What an object says of itself is not asked: it may be anything, and no words for a
    person.
    """
    said = _said(value, _DEPTH)
    return said if len(said) <= _LENGTH else said[: _LENGTH - 1].rstrip() + "…"


def _said(value: Any, depth: int) -> str:
    plain = type(value) in (bool, int, float, complex, str, bytes, list, tuple, dict, type(None))
    match value if plain else None:
        case int() if value.bit_length() > _BITS:
            return f"a number of about {round(value.bit_length() * 0.30103)} digits"
        case str() | bytes():
            return repr(value[:_LENGTH])
        case list() | tuple() | dict() if not depth:
            return "…"
        case dict():
            pairs = (f"{_said(k, depth - 1)}: {_said(v, depth - 1)}" for k, v in islice(value.items(), _LENGTH))
            return f"{{{', '.join(pairs)}}}"
        case list():
            return f"[{_inside(value, depth)}]"
        case tuple():
            return f"({_inside(value, depth)}{',' if len(value) == 1 else ''})"
    return repr(value) if plain else f"a value of the type {type(value).__name__[:_LENGTH]}"


def _inside(items: list[Any] | tuple[Any, ...], depth: int) -> str:
    return ", ".join(_said(one, depth - 1) for one in islice(items, _LENGTH))


def told_kind(value: object) -> str:
    """Return the name of a value's class, as a sentence has it; of None that it is nothing."""
    return "nothing (None)" if value is None else type(value).__name__
