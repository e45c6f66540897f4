"""List the orders in which networks of other people exchange orientations, for trials."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from explorer.declare.elements import Element
from explorer.declare.groups import group
from explorer.spaces.grid.elements.affine import Affine

_GROUPS = ("C4", "D4", "C2", "D1", "D2")  # that permute pixels


def orientations(channels: tuple[int, ...], elements: Sequence[Element]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield orders of channels for the elements: blocks of one channel a group element, counted either way."""
    if not all(isinstance(g, Affine) for g in elements):
        return
    points = [g.orthogonal for g in elements if isinstance(g, Affine)]
    for name in _GROUPS:
        own = group(name)
        found = [own.find(m) for m in points]
        known = [k for k in found if k is not None]
        if len(known) < len(found):
            continue
        inverse = np.array([own.find(np.linalg.inv(m)) for m in own.matrices], dtype=int)
        for before, after in _places(channels, own.order):
            for turned in (False, True):
                orders = []
                for k in known:
                    p = np.asarray(own.regular_permutation(k))
                    p = inverse[p[inverse]] if turned else p
                    index = np.arange(before * own.order * after).reshape(before, own.order, after)
                    orders.append(tuple(int(i) for i in index[:, p].ravel()))
                yield tuple(orders)


def _places(channels: tuple[int, ...], order: int) -> Iterator[tuple[int, int]]:
    """Yield how many channels lie outside and inside of an axis of orientations, wherever it may be."""
    if len(channels) == 1:
        if channels[0] % order == 0:
            yield channels[0] // order, 1
            yield 1, channels[0] // order
        return
    for axis, size in enumerate(channels):
        if size == order:
            yield int(np.prod(channels[:axis], dtype=int)), int(np.prod(channels[axis + 1 :], dtype=int))
