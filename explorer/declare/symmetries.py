"""Symmetry groups as lists of elements to test a network with.

A family of symmetries is ONE file in this package that exports ONE constant, SYMMETRY (a `Symmetry` or a tuple).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

import numpy as np

from explorer.declare.elements import Element
from explorer.declare.registry import known_names, scan, scanned


@dataclass(frozen=True, slots=True)
class Situation:
    """The input that elements may depend on: its (height, width), the step that all layers share, the boundary.

    `spacing` is the least number of input pixels that is a whole number of steps on every grid in the network. `kind`
    is the kind of data, for a name that groups of several spaces have.
    """

    size: tuple[int, int]
    spacing: int
    boundary: str
    rng: np.random.Generator
    count: int
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Symmetry:
    """A named group.

    Attributes:
        pattern: regular expression for its names on the command line ("[CD][0-9]+").
        elements: (name, situation) -> [(label, element)], the identity left out.
        filters: a network obeys it by filters that are symmetric themselves, as far as these are stored; else it
            holds to the precision of the run, whatever the weights.
        constants: a network obeys it by constants that it holds beside its weights, as far as these are stored, such
            as coefficients of coupling.
        mixes: elements make other numbers of those of an input, and do not only reorder them: no network keeps such a
            law to rounding by accident.
        trials: groups of it that are tried where somebody asks which laws a network keeps, each with its elements in
            words; () stands for (name, title).
        nearby: groups that are tried where this one is broken; what holds under one of them is said.
        within: smaller groups, the largest first, of which one takes its place where nobody has asked for a group and
            a network declares types of which this one is more than they know.
    """

    name: str
    title: str
    domains: tuple[str, ...]
    pattern: str
    elements: Callable[[str, Situation], list[tuple[str, Element]]]
    filters: bool = False
    constants: bool = False
    mixes: bool = False
    trials: tuple[tuple[str, str], ...] = ()
    nearby: tuple[str, ...] = ()
    within: tuple[str, ...] = ()

    @property
    def typed(self) -> str:
        """Return what a person types for it; groups of several spaces may be typed alike, as E3 is."""
        return self.name if re.fullmatch(self.pattern, self.name) else self.pattern


def typed_groups(domains: Collection[str] = ()) -> dict[str, str]:
    """Return {what a person types: title} of the groups that act on one of some kinds of data; of all by default."""
    every = symmetries().values()
    found: dict[str, str] = {}
    for symmetry in every:
        if not domains or not set(domains).isdisjoint(symmetry.domains):
            found.setdefault(symmetry.typed, symmetry.title)
    return found


@scanned
def symmetries() -> dict[str, Symmetry]:
    """Return every symmetry by its name."""
    import explorer.spaces as package

    return scan(package, "SYMMETRY", "symmetries")


def find_symmetry(name: str) -> Symmetry:
    """Return the symmetry that `name` belongs to; raise ValueError with one clear sentence.

    Several spaces may call a group by the same name: E3 moves meshes and points. What is returned then acts on all of
    their data, by the elements of the space that the situation is in.
    """
    found = [symmetry for symmetry in symmetries().values() if re.fullmatch(symmetry.pattern, name)]
    if len(found) == 1:
        return found[0]
    if found:

        def elements(name: str, situation: Situation) -> list[tuple[str, Element]]:
            here = next((s for s in found if situation.kind in s.domains), found[0])
            return here.elements(name, situation)

        domains = tuple(dict.fromkeys(domain for symmetry in found for domain in symmetry.domains))
        return replace(found[0], domains=domains, elements=elements, filters=any(s.filters for s in found),
                       constants=any(s.constants for s in found), mixes=all(s.mixes for s in found))  # fmt: skip
    raise ValueError(f"unknown group {name!r}; {known_names(name, typed_groups(), 'list groups')}")
