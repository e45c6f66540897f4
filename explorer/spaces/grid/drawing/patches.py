"""Make the part of a frame for views of attention over an image: the matrices between its patches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.declare.elements import Element, NoAction
from explorer.network.inner.tiled import Tiled
from explorer.spaces.grid.fields import TokenPairs, Tokens
from explorer.square.both_ways import BothWays
from explorer.square.drawing.layers import frozen
from explorer.square.drawing.pair_rows import on_demand
from explorer.square.frame import Array
from explorer.square.preparing.kept import kept
from explorer.square.preparing.prepare import Prepared

MOST_PAIRS = 2**22  # values of all matrices of a frame together


@dataclass(frozen=True, slots=True, eq=False)
class PatchesPart:
    """The matrices between tokens of an image, (heads, to, from).

    Attributes:
        tokens: how many there are.
        names: "patch 0, 3" of the one in row 0 and column 3, "extra 1" of a token that is none.
        order: (tokens,) token i of x is token order[i] of rho(g) x; -1 where it was cut off or lies between two.
        pairs: {layer: F(x)}.
        layer: the selected one, where it is a matrix; then values, moved, expected and difference are known of it.
    """

    tokens: int
    names: tuple[str, ...]
    order: NDArray[np.int64]
    pairs: Mapping[str, Array] = field(default_factory=dict)
    layer: str = ""
    values: Array | None = None
    moved: Array | None = None
    expected: Array | None = None
    difference: Array | None = None


def patches_part(one: BothWays) -> PatchesPart | None:
    """Return the matrices between patches; None where a network has none."""
    pairs = _matrices(one.p)
    if not pairs:
        return None
    own = one.layer.field.domain if one.layer.field is not None else None
    chosen = one.layer.name if isinstance(own, TokenPairs) else ""
    tokens = own.tokens if isinstance(own, TokenPairs) else _tokens_of(one.p, next(iter(pairs)))
    held = {name: value for name, value in pairs.items() if value.shape[-1] == tokens.count}
    found = PatchesPart(tokens.count, _names(tokens), _order(one.element, tokens, one.p.x), held)
    if not chosen:
        return found
    return PatchesPart(
        found.tokens, found.names, found.order, {chosen: pairs[chosen], **held} if chosen in pairs else held, chosen,
        _heads(one.value), _heads(one.answer), None if one.expected is None else _heads(one.expected),
        None if one.difference is None else _heads(one.difference),
    )  # fmt: skip


def _tokens_of(p: Prepared, name: str) -> Tokens:
    found = p.trace[name].field
    assert found is not None and isinstance(found.domain, TokenPairs)
    return found.domain.tokens


@kept()
def _matrices(p: Prepared) -> dict[str, Array]:
    """Return {layer: its matrix}, as many as there is room for; made once an epoch."""
    found: dict[str, Array] = {}
    room = MOST_PAIRS
    for layer in p.trace.layers:
        if layer.field is None or not isinstance(layer.field.domain, TokenPairs) or layer.name not in p.values:
            continue
        value = p.values[layer.name]
        size = 0 if isinstance(value, Tiled) else value.numel() // max(1, len(value))
        if size <= room:
            found[layer.name] = _heads(value)
            room -= size
    return found


def _heads(value: Tensor) -> Array:
    """Return the matrices of the first sample, (heads, to, from)."""
    if isinstance(value, Tiled):
        return on_demand(value)  # type: ignore[return-value]
    return frozen(value[0] if value.ndim > 3 else value[:1])


def _names(tokens: Tokens) -> tuple[str, ...]:
    patches = (f"patch {k // tokens.size[1]}, {k % tokens.size[1]}" for k in range(tokens.size[0] * tokens.size[1]))
    before = (f"extra {k + 1}" for k in range(tokens.extra))
    return (*before, *patches, *(f"extra {tokens.extra + k + 1}" for k in range(tokens.after)))


def _order(element: Element, tokens: Tokens, like: Tensor) -> NDArray[np.int64]:
    """Return where each token has gone."""
    from explorer.declare.types.fields import FieldType

    pairs, numbers = TokenPairs(tokens), np.full(tokens.count, -1, np.int64)
    on = FieldType(Tokens(tokens.size, tokens.step))
    values = torch.zeros((), dtype=torch.float64, device=like.device)

    def motion(maps: Tensor) -> Tensor:
        return on.domain.spread(element.act(maps.flatten(2).transpose(1, 2), on))

    try:
        found = pairs.order(motion, values)
    except NoAction:
        return numbers
    if found is None:
        return numbers
    index, there = (t.cpu().numpy() for t in found)
    kept_places = np.flatnonzero(there > 0)
    numbers[index[kept_places].astype(np.int64)] = kept_places
    return numbers
