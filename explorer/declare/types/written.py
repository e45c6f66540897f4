"""Say how the domains and representations of a space are written."""

from __future__ import annotations

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
