"""Representations that somebody's own module declares for the channels of volumes, as escnn's layers in space do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.declare.groups import Matrix
from explorer.declare.types.declared import NEAR, Declared, declared_of
from explorer.declare.types.fields import Representation, Scalar
from explorer.spaces.volume.cube import NAMES, cube_group
from explorer.spaces.volume.fields import SPATIAL, Fibre, Orientations, Vector

# theirs counts slices downwards (escnn's `get_grid_coords` turns y and z round), ours upwards
_BASIS = np.diag([1.0, 1.0, -1.0])


@dataclass(frozen=True, slots=True)
class DeclaredFibre(Declared, Fibre):
    """Channels that are mixed by the matrices that their author declares."""

    def acts(self, h: Matrix) -> bool:
        return self.find(h) is not None


def rep_of(declared: Any, channels: int) -> Representation | None:
    """Return a declared type as one of ours where it acts alike, tried on every element; else by its own matrices."""
    found = declared_of(declared, channels, SPATIAL, _BASIS)
    if found is None:
        return None
    cube = cube_group(NAMES[-1])
    spaces = [np.array(rows) for rows in found.space]
    mixes = [found.matrix(h) for h in spaces]
    if all(mix is not None and np.abs(mix - np.eye(channels)).max() < NEAR for mix in mixes):
        return Scalar()
    ours: tuple[Fibre, ...] = (*(Orientations(cube_group(name)) for name in NAMES), Vector(), Vector(axial=True))
    for rep in ours:
        if channels % rep.size == 0 and all(cube.find(h) is not None and rep.acts(h) for h in spaces):
            if isinstance(rep, Orientations) and len(spaces) != rep.group.order:
                continue
            if all(_alike(rep, h, mix) for h, mix in zip(spaces, mixes, strict=True)):
                return rep
    return DeclaredFibre(found.label, found.space, found.blocks)


def _alike(rep: Fibre, h: Matrix, mix: Matrix | None) -> bool:
    """Say whether a representation of ours mixes channels as a matrix does."""
    import torch

    if mix is None:
        return False
    moved = rep.mixed(torch.eye(len(mix), dtype=torch.float64, device="cpu"), h).T.numpy()
    return bool(np.abs(moved - mix).max() < NEAR)
