"""Representations of the plane that somebody's own module declares, as one of ours where it acts just alike."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.declare.groups import group
from explorer.declare.types.declared import NEAR, Declared, declared_of
from explorer.declare.types.fields import Regular, Representation, Scalar

if TYPE_CHECKING:
    from torch import nn


def declared_rep(module: nn.Module, shape: tuple[int, ...]) -> Representation | None:
    """Return the representation that a module declares as `out_type`; None where it declares none of the plane."""
    from explorer.network.input.typed_tensors import declares

    if not declares(module) or len(shape) != 4:
        return None
    return rep_of(module.out_type, shape[1])


def rep_of(declared: Any, channels: int) -> Representation | None:
    """Return a declared type as one of ours where it acts alike, tried on every element; else by its own matrices."""
    found = declared_of(declared, channels, 2)
    if found is None:
        return None
    pairs = [(np.array(plane), found.matrix(np.array(plane))) for plane in found.space]
    if all(mix is not None and np.abs(mix - np.eye(channels)).max() < NEAR for _, mix in pairs):
        return Scalar()
    return _regular(str(getattr(declared.gspace.fibergroup, "name", "")), found, channels) or found


def _regular(name: str, found: Declared, channels: int) -> Representation | None:
    """Return our regular representation where it does just the same to every channel, by trial."""
    if not re.fullmatch(r"[CD][1-9][0-9]*", name):
        return None
    ours = group(name)
    if channels % ours.order or len(found.space) != ours.order:
        return None
    for rows in found.space:
        plane = np.array(rows)
        index, mix = ours.find(plane, NEAR), found.matrix(plane)
        if index is None or mix is None:
            return None
        one = np.eye(ours.order)[ours.regular_permutation(index)]
        if np.abs(np.kron(np.eye(channels // ours.order), one) - mix).max() > NEAR:
            return None
    return Regular(ours)
