"""Choose other samples on which a network is checked as well."""

from __future__ import annotations

from explorer.data.finding import fitted, samples
from explorer.declare.card import Card
from explorer.declare.samples import Sample
from explorer.declare.space import space_of_kind

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
        if width in (0, wanted or width) and len(sample.x.values) <= SMALL and _taken(sample, card):
            found.append(spec.name)
    return found


def _taken(sample: Sample, card: Card) -> bool:
    try:
        fitted(sample, card.input)
    except ValueError:  # too many nodes, no coordinates
        return False
    return True
