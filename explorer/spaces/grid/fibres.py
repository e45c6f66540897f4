"""Representations that somebody's own module declares for its channels, as a matrix for each element of its group."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.declare.elements import NoAction
from explorer.declare.groups import Matrix, group
from explorer.declare.types.fields import Regular, Representation, Scalar

if TYPE_CHECKING:
    from torch import Tensor, nn

_NEAR = 1e-6
MOST = 512  # channels of a declared type
Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Fibre(Representation):
    """A representation on all channels together: one matrix for each point-group element.

    Attributes:
        label: as its author wrote it.
        known: (matrix of the plane, matrix of the channels), row by row.
    """

    label: str
    known: tuple[tuple[Rows, Rows], ...]

    @property
    def size(self) -> int:
        return len(self.known[0][1])

    def __str__(self) -> str:
        return f"declared({self.label})"

    def matrix(self, h: Matrix) -> Matrix | None:
        """Return the matrix of the channels for one of the plane, None where the group has no such element."""
        found = next((m for plane, m in self.known if np.abs(np.array(plane) - h).max() < _NEAR), None)
        return None if found is None else np.array(found)

    def mixed(self, values: Tensor, h: Matrix) -> Tensor:
        """Return values with the channels, on axis 1, changed.

        Raises:
            NoAction: the group has no such element.
        """
        import torch

        if np.abs(h - np.eye(2)).max() < _NEAR:
            return values
        mix = self.matrix(h)
        if mix is None:
            raise NoAction(f"a {self} field has no action of this element, which is not in its group")
        mixed: Tensor = torch.einsum("rs,bs...->br...", torch.as_tensor(mix, device="cpu").to(values), values)
        return mixed


def declared_rep(module: nn.Module, shape: tuple[int, ...]) -> Representation | None:
    """Return the representation that a module declares as `out_type`; None where it declares none of the plane."""
    from explorer.network.input.typed import declares

    if not declares(module) or len(shape) != 4:
        return None
    return rep_of(module.out_type, shape[1])


def rep_of(declared: Any, channels: int) -> Representation | None:
    """Return a declared type as one of ours where it acts alike, tried on every element; else by its own matrices."""
    if declared.size != channels or channels > MOST:
        return None
    names = [str(getattr(rep, "name", rep)) for rep in declared.representations]
    pairs = tuple(_pairs(declared))
    if not pairs:
        return None
    if all(np.abs(np.array(m) - np.eye(channels)).max() < _NEAR for _, m in pairs):
        return Scalar()
    ours = _regular(str(getattr(declared.gspace.fibergroup, "name", "")), pairs, channels)
    label = " + ".join(f"{count} {name}" for name, count in Counter(names).items())
    return ours or Fibre(label, pairs)


def _pairs(declared: Any) -> Iterator[tuple[Rows, Rows]]:
    """Yield what each element of a declared type's group does to the plane and to the channels."""
    space, acting = declared.gspace, declared.gspace.fibergroup
    action = getattr(space, "basespace_action", None)
    if action is None:
        return
    elements = acting.testing_elements() if getattr(acting, "continuous", False) else acting.elements
    for g in elements:
        plane = np.asarray(action(g), np.float64)
        if plane.shape != (2, 2):
            return
        yield _rows(plane), _rows(np.asarray(declared.representation(g), np.float64))


def _rows(matrix: Matrix) -> Rows:
    near = np.round(matrix)
    return tuple(tuple(float(v) + 0.0 for v in row) for row in np.where(np.abs(matrix - near) < _NEAR, near, matrix))


def _regular(name: str, pairs: tuple[tuple[Rows, Rows], ...], channels: int) -> Representation | None:
    """Return our regular representation where it does just the same to every channel, by trial."""
    if not re.fullmatch(r"[CD][1-9][0-9]*", name):
        return None
    ours = group(name)
    if channels % ours.order or len(pairs) != ours.order:
        return None
    for plane, mix in pairs:
        index = ours.find(np.array(plane), _NEAR)
        if index is None:
            return None
        one = np.eye(ours.order)[ours.regular_permutation(index)]
        if np.abs(np.kron(np.eye(channels // ours.order), one) - np.array(mix)).max() > _NEAR:
            return None
    return Regular(ours)
