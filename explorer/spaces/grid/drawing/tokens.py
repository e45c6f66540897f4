"""Images as tokens, as views draw them: attention between patches, codes of a code book, pictures made code by code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.grid.drawing.patches import PatchesPart
from explorer.spaces.grid.fields import TokenPairs, Tokens

if TYPE_CHECKING:
    from torch import Tensor

    from explorer.square.both_ways import BothWays

Array = NDArray[np.float32]
Whole = NDArray[np.int64]
NEAR = 1e-3  # of 1: what a row of attention may miss, in low precision


@dataclass(frozen=True, slots=True, eq=False)
class AttentionPart(PatchesPart):
    """Attention among the patches of x and of rho(g) x, in each layer, (heads, to, from).

    Attributes:
        size: rows and columns of patches.
        extra, after: how many tokens that have no place come before them and behind them.
    """

    data: ClassVar[str] = "grid"

    size: tuple[int, int] = (1, 1)
    extra: int = 0
    after: int = 0
    of_x: Mapping[str, Array] = field(default_factory=dict)
    of_gx: Mapping[str, Array] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class CodebookPart:
    """An image as codes of a book.

    Attributes:
        codes, codes_g: of x and of rho(g) x, (rows, columns).
        shares: probability of every code at every place of x, (rows, columns, codes).
        entries: mean of the pixels that each code stood for, (codes, channels, height, width).
        usage: share of each code among those of the pictures it was learned from.
        temperature: of the Gumbel softmax; 0 takes the likeliest code.
        title: of the temperature and of what else was chosen, for the caption.
    """

    data: ClassVar[str] = "grid"

    codes: Whole
    codes_g: Whole
    shares: Array
    entries: Array
    usage: Array
    temperature: float = 0.0

    @property
    def perplexity(self) -> float:
        """Return exp of the entropy of the usage: how many codes there would be if all were used alike."""
        return perplexity(self.usage)


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """One picture that was made for a caption, (channels, height, width), and the score that it is ranked by."""

    picture: Array
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class CanvasPart:
    """A picture that is made code by code from a caption.

    Attributes:
        words: of the caption.
        codes: (rows, columns); those from number `given` on are made, and from `done` on still to come.
        next: probability of each code at each place, given all before it, (places, codes).
        attention: of each place when its code is chosen to the words, {layer: (heads, places, words)}.
        picture: what is decoded so far, (channels, height, width).
        entries: see CodebookPart.
        candidates: pictures made for the same caption, the best first; none where only one is asked for.
    """

    data: ClassVar[str] = "grid"

    words: tuple[str, ...]
    codes: Whole
    given: int
    done: int
    next: Array
    attention: Mapping[str, Array]
    picture: Array
    entries: Array
    candidates: tuple[Candidate, ...] = ()


def perplexity(shares: NDArray[np.floating]) -> float:
    """Return exp of the entropy of shares that sum to 1."""
    used = np.asarray(shares, np.float64)
    used = used[used > 0]
    return float(np.exp(-(used * np.log(used)).sum())) if used.size else 0.0


def rollout(attention: list[Array]) -> NDArray[np.float64]:
    """Return how much of each token of the input is in each token behind all layers, (to, from).

    Abnar, Zuidema, "Quantifying Attention Flow in Transformers", 2020, section 3: heads are averaged, the residual is
    half of every layer, and the matrices are multiplied.

    Args:
        attention: (heads, to, from), the first layer first.
    """
    flow: NDArray[np.float64] = np.eye(attention[0].shape[-1])
    for layer in attention:
        mixed = 0.5 * np.asarray(layer, np.float64).mean(0) + 0.5 * np.eye(layer.shape[-1])
        flow = (mixed / mixed.sum(-1, keepdims=True)) @ flow
    return flow


def attention_part(one: BothWays, found: PatchesPart | None) -> PatchesPart | None:
    """Return the matrices between patches with the attention among them, where there is any and it is in reach."""
    # torch comes with them, and the window imports this file
    from explorer.network.inner.tiled import Tiled
    from explorer.square.drawing.layers import frozen

    of_x: dict[str, Array] = {}
    of_gx: dict[str, Array] = {}
    tokens: Tokens | None = None
    for layer in one.p.trace.layers if found is not None else ():
        value, answer = one.p.values.get(layer.name), one.answers.get(layer.name)
        domain = None if layer.field is None else layer.field.domain
        if value is None or answer is None or not isinstance(domain, TokenPairs) or isinstance(value, Tiled):
            continue
        if (tokens is None or domain.tokens.count == tokens.count) and value.ndim == 4 and _shares(value):
            tokens = domain.tokens
            of_x[layer.name], of_gx[layer.name] = frozen(value[0]), frozen(answer[0])
    if found is None or tokens is None:
        return found
    known = {one.name: getattr(found, one.name) for one in fields(found)}
    return AttentionPart(**known, size=tokens.size, extra=tokens.extra, after=tokens.after, of_x=of_x, of_gx=of_gx)


def _shares(values: Tensor) -> bool:
    """Return whether every row has shares of 1."""
    return bool((values >= 0).all()) and bool(((values.sum(-1) - 1).abs() < NEAR).all())
