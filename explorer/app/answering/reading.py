"""Keep the data of states, read each file once, and show what large data are before a network answers."""

from __future__ import annotations

from explorer.data.finding import base_of, find_sample, fitted, samples
from explorer.declare.card import Card
from explorer.declare.samples import Sample
from explorer.square.frame import Glimpse
from explorer.square.space import space_of_kind
from explorer.state.state import State
from explorer.work.budget import Shared, Table
from explorer.work.files.stamps import stamp
from explorer.work.progress import seen

LARGE = 30_000  # numbers; with fewer the first frame is there as soon as a picture of the data
SIDE = 240  # pixels
READ, FITTED = 2, 8  # kept


class Readings:
    """Keeps the files that were read last as they are, and samples that were fitted to networks.

    Args:
        shared: the bytes that they share with what else is kept.
    """

    def __init__(self, shared: Shared) -> None:
        self._read: Table[object, Sample] = Table(shared, READ)
        self._fitted: Table[object, Sample] = Table(shared, FITTED)

    def __len__(self) -> int:
        return len(self._fitted)

    def sample(self, text: str, seed: int, quietly: bool = False) -> Sample:
        """Return the sample that a text means; a file is read again when it has changed.

        Args:
            quietly: without a picture of large data, for who shows one anyway.

        Raises:
            ValueError: it cannot be read, in one sentence.
        """
        mark = _mark(text)
        if mark is None:  # nothing is read
            return find_sample(text, seed)
        key = (text, seed, mark)
        if (kept := self._read.used(key)) is not None:
            return kept
        made = find_sample(text, seed)
        self._read.store(key, made, 0)  # what is fitted is in use, and often holds the same arrays
        if not quietly and sum(signal.values.size for signal in made.signals.values()) >= LARGE:
            picture = space_of_kind(made.domain).thumbnail(made, SIDE)
            if picture is not None:
                seen(Glimpse(made.title or base_of(text), picture))
        return made

    def key(self, state: State, card: Card) -> tuple[object, ...]:
        """Return what a state's sample, fitted to what a card eats, is known by."""
        text = state.sample or card.sample
        return (text, state.seed, card.input, _mark(text))

    def fitted(self, state: State, card: Card) -> Sample:
        """Return a state's sample, fitted to what the card eats.

        Raises:
            ValueError: it cannot be read or fitted, in one sentence.
        """
        key = self.key(state, card)
        if (kept := self._fitted.used(key)) is not None:
            return kept
        made = fitted(self.sample(state.sample or card.sample, state.seed), card.input)
        self._fitted.store(key, made)
        return made

    def keep(self, state: State, card: Card, made: Sample) -> None:
        """Keep a state's sample that was fitted elsewhere."""
        self._fitted[self.key(state, card)] = made

    def clear(self) -> None:
        self._read.clear()
        self._fitted.clear()


def _mark(text: str) -> object:
    """Return what changes with the file that a text means; None where it means none."""
    name = base_of(text)
    return None if name in samples() else stamp(name)
