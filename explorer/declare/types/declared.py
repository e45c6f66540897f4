"""Representations that somebody's own module declares for its channels, as a matrix for each element of its group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.declare.elements import NoAction
from explorer.declare.groups import Matrix
from explorer.declare.types.fields import Representation

if TYPE_CHECKING:
    from torch import Tensor

NEAR = 1e-6
MOST = 512  # channels of a declared type
Rows = tuple[tuple[float, ...], ...]


class Mixed(Representation):
    """A representation on which an element acts by a matrix on the channels, beside moving along with their place."""

    __slots__ = ()

    def matrix(self, h: Matrix) -> Matrix | None:
        """Return the matrix of the channels that belong together for one of the plane or of space; None for none."""
        raise NotImplementedError

    def mixed(self, values: Tensor, h: Matrix) -> Tensor:
        """Return values with the channels, on axis 1, changed.

        Raises:
            NoAction: there is no such action.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Declared(Mixed):
    """A representation on all channels together: for each element of a point group its matrix, block by block.

    Attributes:
        label: as its author wrote it.
        space: the matrix of each element on the plane or in space, row by row.
        blocks: (how many times it follows itself, its matrix for each of these elements).
    """

    label: str
    space: tuple[Rows, ...]
    blocks: tuple[tuple[int, tuple[Rows, ...]], ...]

    @property
    def size(self) -> int:
        return sum(count * len(matrices[0]) for count, matrices in self.blocks)

    def __str__(self) -> str:
        return f"declared({self.label})"

    def find(self, h: Matrix) -> int | None:
        """Return which of the elements has the matrix h, None where the group has no such element."""
        near = (k for k, m in enumerate(self.space) if len(m) == len(h) and np.abs(np.array(m) - h).max() < NEAR)
        return next(near, None)

    def matrix(self, h: Matrix) -> Matrix | None:
        if (k := self.find(h)) is None:
            return None
        whole, at = np.zeros((self.size, self.size)), 0
        for count, matrices in self.blocks:
            block = np.array(matrices[k])
            for _ in range(count):
                whole[at : at + len(block), at : at + len(block)] = block
                at += len(block)
        return whole

    def mixed(self, values: Tensor, h: Matrix) -> Tensor:
        import torch

        if np.abs(h - np.eye(len(h))).max() < NEAR:
            return values
        if (k := self.find(h)) is None:
            raise NoAction(f"a {self} field has no action of this element, which is not in its group")
        parts, at = [], 0
        for count, matrices in self.blocks:
            mix = torch.tensor(matrices[k], dtype=torch.float64, device="cpu").to(values)
            wide = count * len(mix)
            rows = values[:, at : at + wide].unflatten(1, (count, len(mix)))
            parts.append(torch.einsum("rs,bns...->bnr...", mix, rows).flatten(1, 2))
            at += wide
        return torch.cat(parts, 1)


def declared_of(declared: Any, channels: int, dimensions: int, basis: Matrix | None = None) -> Declared | None:
    """Return what a declared type of so many channels does under each element; None where it says nothing of it.

    Args:
        dimensions: of the space that its elements act on.
        basis: its axes in ours, an orthogonal matrix; the same unless told.
    """
    if declared.size != channels or channels > MOST:
        return None
    acting, action = declared.gspace.fibergroup, getattr(declared.gspace, "basespace_action", None)
    if action is None:
        return None
    elements = list(acting.testing_elements() if getattr(acting, "continuous", False) else acting.elements)
    turn = np.eye(dimensions) if basis is None else basis
    moves = [np.asarray(action(g), np.float64) for g in elements]
    if not moves or any(m.shape != (dimensions, dimensions) for m in moves):
        return None
    names = [str(getattr(rep, "name", rep)) for rep in declared.representations]
    label = " + ".join(f"{count} {name}" for name, count in Counter(names).items())
    return Declared(label, tuple(_rows(turn @ m @ turn.T) for m in moves), tuple(_blocks(declared, elements)))


def _blocks(declared: Any, elements: list[Any]) -> Iterator[tuple[int, tuple[Rows, ...]]]:
    """Yield (how many in a row, matrices) of the parts of a declared type; all as one where they say nothing."""
    parts = list(declared.representations)
    if not all(callable(part) for part in parts) or sum(getattr(part, "size", 0) for part in parts) != declared.size:
        yield 1, tuple(_rows(np.asarray(declared.representation(g), np.float64)) for g in elements)
        return
    for _, same in groupby(parts, key=id):
        run = list(same)
        yield len(run), tuple(_rows(np.asarray(run[0](g), np.float64)) for g in elements)


def _rows(matrix: Matrix) -> Rows:
    near = np.round(matrix)
    return tuple(tuple(float(v) + 0.0 for v in row) for row in np.where(np.abs(matrix - near) < NEAR, near, matrix))
