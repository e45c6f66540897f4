"""Field types read back from their text, as on the command line and in sessions: what `str(field)` writes.

A text is the first word of a domain, a representation, and what else the domain says: "grid regular(D4) /2". Which
words there are is for the spaces to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from explorer.declare.fields import INVARIANT, Domain, FieldType, Pairs, Point, Regular, Representation, Scalar
from explorer.declare.groups import group


@dataclass(frozen=True, slots=True)
class Written:
    """How a representation is written: a word, and perhaps arguments in brackets after it.

    Attributes:
        make: the arguments' text -> the representation; raises ValueError.
        homes: first words of the domains that it is for; () for all.
        arguments: regular expression of what stands in the brackets; "" for no brackets.
        refusal: said where it is not for a domain, instead of the general sentence.
    """

    make: Callable[[str], Representation]
    homes: tuple[str, ...] = ()
    arguments: str = ""
    refusal: str = ""


def bare(domain: Domain) -> Callable[[str], Domain]:
    """Return the reader of a domain that has nothing more to say."""

    def read(rest: str) -> Domain:
        if rest:
            raise ValueError(f"nothing is known that is called {rest!r}")
        return domain

    return read


@cache
def _domains() -> Mapping[str, Callable[[str], Domain]]:
    from explorer.declare.space import spaces

    found: dict[str, Callable[[str], Domain]] = {"point": bare(Point()), "pair": bare(Pairs())}
    for space in spaces().values():
        found |= space.domains
    return found


@cache
def _representations() -> Mapping[str, Written]:
    from explorer.declare.space import spaces

    found: dict[str, Written] = {
        "scalar": Written(lambda _: Scalar()),
        "intensity": Written(lambda _: Scalar(intensity=True)),
        "regular": Written(lambda name: Regular(group(name)), ("grid", "point", "vertex"), "[A-Za-z0-9]+"),
    }
    for space in spaces().values():
        found |= space.representations
    return found


def parse_field(text: str) -> FieldType:
    """Read what `str(field)` writes, for example "grid regular(D4) /2" or "invariant"; raise ValueError."""
    words = text.strip()
    if words == "invariant":
        return INVARIANT
    on, _, of = words.partition(" ")
    # the longest first: "patch corner" before a "patch" that there may be
    for word, written in sorted(_representations().items(), key=lambda item: -len(item[0])):
        brackets = rf"\((?P<arguments>{written.arguments})\)" if written.arguments else ""
        found = re.fullmatch(rf"{re.escape(word)}{brackets}(?: (?P<rest>.+))?", of)
        if found is None or on not in _domains():
            continue
        if written.homes and on not in written.homes:
            where = " or ".join(written.homes)
            raise ValueError(
                f"field type {text!r}: "
                + (written.refusal or f"{word!r} is for values at each {where}, not at each {on}")
            )
        rep = written.make(found["arguments"] if brackets else "")
        try:
            return FieldType(_domains()[on](found["rest"] or ""), rep)
        except ValueError as error:
            raise ValueError(f"field type {text!r}: {error}") from None
    raise _unknown(text)


def _unknown(text: str) -> ValueError:
    from explorer.declare.space import spaces

    examples = ["invariant", "pair scalar", "point regular(C4)"]
    examples += [example for space in spaces().values() for example in space.examples]
    *most, last = (repr(e) for e in examples)
    return ValueError(f"unknown field type {text!r}; write {', '.join(most)} or {last}")
