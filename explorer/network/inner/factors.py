"""A matrix of attention as the queries and keys that it is made of: whole where it is small, else row by row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

MOST_FORMED = 2**22  # entries of all heads together; a larger matrix is never formed


@dataclass(frozen=True, eq=False)
class Factors:
    """softmax(scale q k^T + masks) over the last axis.

    Attributes:
        query, key: (..., heads, T, d) and (..., groups, S, d); each group of keys serves heads / groups heads.
        masks: that broadcast to (..., heads, T, S): bool, where False bars, or numbers that are added.
        causal: whether a query sees the keys up to its own number only.
        scale: 1 / sqrt(d) if None.
        order: the numbers of the queries and of the keys where `causal` counts others than 0, 1, 2, ...
    """

    query: Tensor
    key: Tensor
    masks: tuple[Tensor, ...] = ()
    causal: bool = False
    scale: float | None = None
    order: tuple[Tensor, Tensor] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.query.shape[:-1], self.key.shape[-2])

    @property
    def factor(self) -> float:
        return 1.0 / math.sqrt(self.query.shape[-1]) if self.scale is None else self.scale

    @cached_property
    def keys(self) -> Tensor:
        """Return the keys with one group for each head, without a copy of any."""
        if self.query.ndim < 3 or self.key.shape[-3] == self.query.shape[-3]:
            return self.key
        every = self.query.shape[-3] // self.key.shape[-3]
        return self.key.repeat_interleave(every, -3)

    def rows(self, start: int, stop: int) -> Tensor:
        """Return some rows of every head, (..., heads, stop - start, S)."""
        logits = (self.query[..., start:stop, :] @ self.keys.transpose(-1, -2)) * self.factor
        for mask in self.masks:
            part = mask[..., start:stop, :] if mask.ndim > 1 and mask.shape[-2] > 1 else mask
            if part.dtype == torch.bool:
                logits = logits.masked_fill(~part, -math.inf)
            else:
                logits = logits + part
        if self.causal:
            to, of = self.numbers()
            logits = logits.masked_fill(of > to[start:stop, None], -math.inf)
        found = logits.softmax(-1)
        # a row that sees nothing has no weights
        barred = (logits == -math.inf).all(-1, keepdim=True) if self.masks or self.causal else None
        return found if barred is None or not bool(barred.any()) else found.masked_fill(barred, 0.0)

    def numbers(self) -> tuple[Tensor, Tensor]:
        """Return the numbers of the queries and of the keys."""
        if self.order is not None:
            return self.order
        return tuple(torch.arange(t.shape[-2], device=t.device) for t in (self.query, self.key))  # type: ignore[return-value]

    def picked(self, axis: int, index: Tensor) -> Factors:
        """Return the factors of the matrix with other rows (axis -2) or columns (axis -1), by number."""
        masks = tuple(m.index_select(axis, index) if m.ndim >= -axis and m.shape[axis] > 1 else m for m in self.masks)
        to, of = self.numbers()
        if axis == -2:
            return replace(self, query=self.query.index_select(-2, index), masks=masks, order=(to[index], of))
        return replace(self, key=self.key.index_select(-2, index), masks=masks, order=(to, of[index]))

    def head(self, number: int) -> Factors:
        """Return one head alone, counted over all leading axes: (T, d) and (S, d)."""
        lead = self.query.shape[:-2]
        q = self.query.reshape(-1, *self.query.shape[-2:])[number]
        k = self.keys.expand(*lead, *self.keys.shape[-2:])
        k = k[_unravelled(number, lead)]
        masks = tuple(
            m if m.ndim < 3 else m.expand(*lead, *m.shape[-2:])[_unravelled(number, lead)] for m in self.masks
        )
        return replace(self, query=q, key=k, masks=masks)


def _unravelled(number: int, lead: Sequence[int]) -> tuple[int, ...]:
    found: list[int] = []
    for size in reversed(lead):
        number, at = divmod(number, size)
        found.append(at)
    return tuple(reversed(found))
