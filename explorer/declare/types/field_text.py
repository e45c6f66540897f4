"""Field types read back from their text, as on the command line and in sessions: what `str(field)` writes.

A text is the first word of a domain, a representation, and what else the domain says: "grid regular(D4) /2". Which
words there are is for the spaces to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from explorer.declare.groups import group
from explorer.declare.registry import most_alike, scanned
from explorer.declare.types.fields import INVARIANT, Domain, FieldType, Pairs, Point, Regular, Scalar
from explorer.declare.types.written import Written, bare


@scanned
def _domains() -> Mapping[str, Callable[[str], Domain]]:
    from explorer.declare.space import spaces

    found: dict[str, Callable[[str], Domain]] = {"point": bare(Point()), "pair": bare(Pairs())}
    for space in spaces().values():
        found |= space.domains
    return found


@scanned
def _representations() -> Mapping[str, Written]:
    from explorer.declare.space import spaces

    found: dict[str, Written] = {
        "scalar": Written(lambda _: Scalar(), anywhere=True),
        "intensity": Written(lambda _: Scalar(intensity=True), anywhere=True),
        "regular": Written(
            lambda name: Regular(group(name)), arguments="[A-Za-z0-9]+", fits=lambda domain: domain.fibred
        ),
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
    if on not in _domains():
        raise _unknown(text)
    # the longest first: "patch corner" before a "patch" that there may be
    for word, written in sorted(_representations().items(), key=lambda item: -len(item[0])):
        brackets = rf"\((?P<arguments>{written.arguments})\)" if written.arguments else ""
        found = re.fullmatch(rf"{re.escape(word)}{brackets}(?: (?P<rest>[^\n]+))?", of)
        if found is None:
            continue
        try:
            domain = _domains()[on](found["rest"] or "")
        except LookupError:
            break
        except ValueError as error:
            raise ValueError(f"field type {text!r}: {error}") from None
        if not _at_home(written, domain):
            if domain.batched:
                break
            there = [d for read in _domains().values() if (d := _plainest(read)) is not None]
            where = " or ".join(d.name for d in there if not d.batched and _at_home(written, d))
            told = f"{word!r} is for values at each {where}, not at each {on}"
            raise ValueError(f"field type {text!r}: {written.refusal or told}")
        return FieldType(domain, written.make(found["arguments"] if brackets else ""))
    raise _unknown(text)


def _plainest(read: Callable[[str], Domain]) -> Domain | None:
    """Return the domain about which nothing more is said; None where something has to be."""
    try:
        return read("")
    except LookupError:
        return None


def _at_home(written: Written, domain: Domain) -> bool:
    if written.fits is not None:
        return written.fits(domain)
    return domain.name in written.homes if written.homes else written.anywhere or not domain.batched


def _unknown(text: str) -> ValueError:
    from explorer.declare.space import spaces

    examples = [example for space in reversed(spaces().values()) for example in space.examples]
    examples = ["invariant", *examples, "pair scalar"]
    *most, last = (repr(e) for e in most_alike(text, examples))
    return ValueError(f"unknown field type {text!r}; write something like {', '.join(most)} or {last}")
