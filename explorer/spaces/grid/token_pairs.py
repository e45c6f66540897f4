"""Fields on pairs of the tokens of a grid: attention between patches, and between them and tokens without a place."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from explorer.declare.types.fields import Domain, FieldType, Representation, shortest
from explorer.spaces.grid.fields import Grid, Tokens

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class TokenPairs(Domain):
    """Ordered pairs of tokens, (batch, heads, to, from); `extra` tokens that no place has come first."""

    size: tuple[int, int]
    step: float = 1.0
    extra: int = 0
    name = "tokenpair"
    space = "grid"
    remembers = True

    @property
    def axes(self) -> tuple[str, ...]:
        return ("batch", "channel", "token", "token")

    @property
    def spacing(self) -> float:
        return self.step

    def at_spacing(self, spacing: float) -> Domain:
        return replace(self, step=spacing)

    @property
    def tokens(self) -> FieldType:
        """Return the field of one row: what one token gives or takes."""
        return FieldType(Tokens(self.size, self.step, self.extra))

    @property
    def count(self) -> int:
        """Return how many tokens there are."""
        return math.prod(self.size) + self.extra

    def text(self, rep: Representation) -> str:
        more = f"+{self.extra}" if self.extra else ""
        return f"tokenpair {rep} /{shortest(self.step)} of {self.size[0]}x{self.size[1]}{more}"

    def moved(self, values: Tensor, act: Callable[[Tensor, FieldType], Tensor]) -> Tensor:
        """Return values whose rows and columns an element has moved as it moves tokens."""
        for _ in range(2):
            rows = act(values.flatten(0, 1), self.tokens)
            values = rows.unflatten(0, values.shape[:2]).transpose(-1, -2)
        return values

    def between(self, places: Tensor) -> Tensor:
        """Return the pairs of which both places are known, (tokens, tokens), of known places, (height, width)."""
        every = places.new_ones(self.count)
        every[self.extra :] = places.flatten()
        return every[:, None] * every

    def ones(self, values: Tensor) -> Tensor:
        return values.new_ones((1, 1, self.count, self.count))

    def as_places(self, plain: Tensor) -> Tensor:
        return plain.flatten(0, -3)[0]

    def from_places(self, places: Tensor) -> Tensor:
        return places[None, None]

    def shrunk(self, places: Tensor, receptive: float) -> Tensor:
        if not math.isfinite(receptive):
            return places.new_zeros(places.shape)
        seen = Grid(self.step).shrunk(places.diagonal()[self.extra :].reshape(self.size), receptive)
        return self.between(seen)


def parse_token_pairs(rest: str) -> TokenPairs:
    """Read what stands after the representation of pairs of tokens: "/4 of 3x3+1"; raise LookupError otherwise."""
    found = re.fullmatch(r"/([0-9.]+) of ([1-9][0-9]*)x([1-9][0-9]*)(?:\+([0-9]+))?", rest)
    if found is None or not float(found[1]):
        raise LookupError(rest)
    return TokenPairs((int(found[2]), int(found[3])), float(found[1]), int(found[4] or 0))
