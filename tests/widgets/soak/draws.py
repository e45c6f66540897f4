"""Choices of an interaction as plain numbers, so that a sequence of interactions can be repeated, cut and kept."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")
COUNT = 6  # numbers that an interaction is given; who needs more gets the middle


@dataclass(frozen=True, slots=True)
class Interaction:
    """One thing that a person does: its name, and numbers in [0, 1) that settle what is chosen."""

    name: str
    numbers: tuple[float, ...] = ()


class Draws:
    """Takes the numbers of an interaction, one for each choice."""

    def __init__(self, numbers: Sequence[float]) -> None:
        self._numbers = iter(numbers)

    def number(self, low: float = 0.0, high: float = 1.0) -> float:
        """Return a number between two."""
        return low + (high - low) * next(self._numbers, 0.5)

    def whole(self, low: int, high: int) -> int:
        """Return a whole number, both ends included."""
        return min(high, low + int(self.number() * (high - low + 1)))

    def chance(self, share: float) -> bool:
        return self.number() < share

    def pick(self, options: Sequence[T]) -> T | None:
        """Return one of the options, None where there is none."""
        return options[min(len(options) - 1, int(self.number() * len(options)))] if options else None

    def rng(self) -> random.Random:
        """Return a generator for what needs many numbers."""
        return random.Random(self.number())


def sequence(seed: int, weights: Mapping[str, float], count: int) -> list[Interaction]:
    """Return `count` interactions that follow from a seed alone."""
    rng, names = random.Random(seed), sorted(weights)
    shares = [weights[name] for name in names]
    return [
        Interaction(rng.choices(names, shares)[0], tuple(round(rng.random(), 6) for _ in range(COUNT)))
        for _ in range(count)
    ]


def tour(count: int) -> list[Interaction]:
    """Return interactions that use everything once: each of `count` networks, and all there is for its kind of data."""
    found: list[Interaction] = []
    for k in range(count):
        found += (Interaction("model", ((k + 0.5) / count, 1.0)), Interaction("all_of_a_kind"))
    return [*found, *(Interaction(name) for name in ("all_actions", "all_looks", "all_files"))]
