"""Choose other samples on which a network is checked as well, networks for a sample, and what stays with another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from explorer.data.finding import base_of, fitted, samples
from explorer.declare.card import Card
from explorer.declare.elements import Step, chain_element, transforms
from explorer.declare.samples import Sample
from explorer.declare.space import same_space, space_of_kind, spaces

SMALL = 256  # places of a sample that a check takes besides the one that was asked for


def several(card: Card, count: int) -> list[str]:
    """Return the card's sample and others on which the network is checked as well, by name."""
    found = space_of_kind(card.domain).several(card, count)
    return found if found is not None else [card.sample, *others_that_fit(card, count - 1)]


def others_that_fit(card: Card, count: int) -> list[str]:
    """Return other small samples of its kind that the network takes, those with most tags in common first."""
    alike = [s for s in samples().values() if s.domain == card.domain and s.name != card.sample]
    tags = set(samples()[card.sample].tags) if card.sample in samples() else set()
    found: list[str] = []
    for spec in sorted(alike, key=lambda s: -len(tags & set(s.tags))):
        if len(found) == count:
            break
        sample = spec.make()
        # what is made for one width, or is too large to be measured in passing, is left out
        width, wanted = sample.x.values.shape[-1], getattr(card.input, "channels", None)
        if width in (0, wanted or width) and len(sample.x.values) <= SMALL and taken(sample, card):
            found.append(spec.name)
    return found


def first_taking(text: str, sample: Sample, asked: Mapping[str, Card], cards: Mapping[str, Card]) -> tuple[str, Sample]:
    """Return the name of the first of several networks that a sample can be fitted to, and the sample as it is then.

    Behind the first that is asked come those of `cards` whose space would rather have what a file holds, and of all
    the others first those that are about such data, and of these those that keep most of them. A sample of the program
    is listed under its kind, and stays there.

    Raises:
        ValueError: there is none; in the words of the second that is asked, or of the only one.
    """
    names = list(asked)
    rather = [] if base_of(text) in samples() else _preferring(sample, cards)
    known = {**{name: cards[name] for name in rather}, **asked}
    others = [name for name in dict.fromkeys([*rather, *names]) if name not in names[:1]]
    others.sort(key=lambda name: (not _suits(sample, known[name]), _lost(sample, known[name])))
    refused: dict[str, ValueError] = {}
    for name in [*names[:1], *others]:
        try:
            return name, fitted(sample, known[name].input)
        except ValueError as error:
            refused[name] = error
    raise refused[names[:2][-1]]


def taken_along(
    steps: tuple[Step, ...], text: str, read: Callable[[str], Sample], card: Card, before: Card | None
) -> dict[str, Any]:
    """Return the steps and the sample that stay where a network is opened in place of another one.

    There are no steps where those of before were for other data. Data of one's own stay where the network takes them;
    in place of a sample of the program it shows what it chooses.
    """
    # what renumbers nodes renumbers points as well, and would say little of a network in space
    alike = before is None or same_space(before.domain, card.domain)
    fits = alike and all(card.domain in transforms()[step.name].domains for step in steps)
    moved = fits and not chain_element(steps).identity
    found: dict[str, Any] = {"steps": steps if moved else ()}
    if not text or base_of(text) in samples():
        return found
    try:
        sample = read(text)
        takes = taken(sample, card)
    except (ValueError, OSError):
        return found
    return {**found, "sample": text} if takes and _suits(sample, card) else found


def _suits(sample: Sample, card: Card) -> bool:
    return spaces()[card.input.space].suits(sample, card.input)


def _lost(sample: Sample, card: Card) -> float:
    return spaces()[card.input.space].lost(sample, card.input)


def _preferring(sample: Sample, cards: Mapping[str, Card]) -> list[str]:
    """Return the networks of other spaces that would rather have the sample, trained ones first."""
    eager = {kind.name for space in spaces().values() if space.prefers(sample) for kind in space.kinds}
    found = [card for card in cards.values() if card.domain in eager - {sample.domain}]
    return [card.name for card in sorted(found, key=lambda card: (not card.weights, not card.groups))]


def taken(sample: Sample, card: Card) -> bool:
    """Return whether a network takes a sample."""
    try:
        fitted(sample, card.input)
    except ValueError:  # too many nodes, no coordinates
        return False
    return True
