"""Say by which elements the data were moved that a network runs on: a change at a place of the data goes along.

A channel or a head is a part of the network, and stays what it is. Node 4 is a part of the data: on rho(g) x the same
member of the graph has another number, which the element's own action on the layer's field tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from explorer.declare.types.fields import FieldType

if TYPE_CHECKING:
    from explorer.declare.inputs import Moving

Word = Sequence["Moving"]  # the first acts first
_MOVED: ContextVar[tuple[Word, ...]] = ContextVar("moved", default=())
NEAR = 1e-6  # shares nearer to 0 or 1 are rounding


@contextmanager
def moved_by(each: Sequence[Word]) -> Iterator[None]:
    """Let the network run on data that these words have moved: one for each sample of the batch, or one for all."""
    token = _MOVED.set(tuple(each))
    try:
        yield
    finally:
        _MOVED.reset(token)


def words_here() -> tuple[Word, ...]:
    """Return the words that the data of this run were moved by, () where they are as they were given."""
    return _MOVED.get()


def places_after(words: Sequence[Word], mask: Tensor, field: FieldType) -> Tensor:
    """Return where marked places of a layer lie after each word, a share from 0 to 1 where it resamples.

    Args:
        mask: of the unmoved layer, True at what is marked.
        field: of the layer.

    Raises:
        NoAction: an element has no action there, so that nothing tells.
    """
    plain, ones = FieldType(field.domain), torch.ones(mask.shape, device=mask.device)

    def after(word: Word) -> Tensor:
        # an element may scale values as well, or add to them, which says nothing of where they are
        nothing, all_, here = (_acted(word, v, plain) for v in (ones * 0, ones, mask.to(ones)))
        whole = all_ - nothing
        share = torch.where(whole == 0, 0.0, (here - nothing) / torch.where(whole == 0, 1.0, whole)).clamp(0, 1)
        return torch.where(share < NEAR, 0.0, torch.where(share > 1 - NEAR, 1.0, share))

    return torch.cat([after(word) for word in words]) if len(words) > 1 else after(words[0])


def values_after(words: Sequence[Word], values: Tensor, field: FieldType) -> Tensor:
    """Return rho'(g) of what a layer gave unmoved data, for each word; NoAction where there is none."""
    found = [_acted(word, values, field) for word in words]
    return torch.cat(found) if len(found) > 1 else found[0]


def _acted(word: Word, values: Tensor, field: FieldType) -> Tensor:
    for element in word:
        values = field.rep.acted(element, values, field)
    return values
