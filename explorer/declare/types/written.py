"""Say how the domains and representations of a space are written."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from explorer.declare.types.fields import Domain, Representation


@dataclass(frozen=True, slots=True)
class Written:
    """The notation of a representation: a word, and perhaps arguments in brackets after it.

    Attributes:
        make: the arguments' text -> the representation; raises ValueError.
        homes: first words of the domains that it is for; () for all without a batch axis.
        arguments: regular expression of what stands in the brackets; "" for no brackets.
        anywhere: whether it is for domains with a batch axis too.
        fits: which domains it is for, where neither of these tells.
        refusal: said where it is not for a domain, instead of the general sentence.
    """

    make: Callable[[str], Representation]
    homes: tuple[str, ...] = ()
    arguments: str = ""
    refusal: str = ""
    anywhere: bool = False
    fits: Callable[[Domain], bool] | None = None


def bare(domain: Domain) -> Callable[[str], Domain]:
    """Return the reader of a domain that has nothing more to say; it raises LookupError where there is more."""

    def read(rest: str) -> Domain:
        if rest:
            raise LookupError(rest)
        return domain

    return read


def spacing_and_sides(rest: str, axes: int) -> tuple[float, tuple[int, ...] | None]:
    """Read "/2 flat 3x4", what stands after a representation on a grid: its spacing, and the sides of flattened places.

    Raises:
        LookupError: it is nothing of the kind; ValueError: the spacing is not positive.
    """
    number, sides = r"[0-9.]+(?:e[+-]?[0-9]+)?|inf", "x".join(["[1-9][0-9]*"] * axes)
    found = re.fullmatch(rf"(?:/(?P<spacing>{number}))?(?:(?:^| )flat (?P<sides>{sides}))?", rest)
    if found is None:
        raise LookupError(rest)
    try:
        spacing = float(found["spacing"] or 1.0)
    except ValueError:
        spacing = 0.0
    if spacing <= 0.0:
        raise ValueError(f"the spacing must be a positive number, not {found['spacing']!r}")
    return spacing, tuple(map(int, found["sides"].split("x"))) if found["sides"] else None
