"""Carry the inputs of a network to another process, where rho(g) x is drawn while the network takes its time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from explorer.declare.types.fields import FieldType

if TYPE_CHECKING:
    from explorer.declare.inputs import Inputs
    from explorer.square.frame import Array
    from explorer.square.preparing.prepare import Prepared
    from explorer.state.state import State

Sent = tuple[tuple[NDArray[Any], ...], tuple[FieldType, ...], tuple[str, ...], int, FieldType | None]


@dataclass(frozen=True, slots=True, eq=False)
class Movable:
    """The inputs of a network, and the field that x is drawn as."""

    inputs: Inputs
    field: FieldType | None

    def picture(self, state: State) -> Array:
        """Return the picture of rho(g) x.

        Raises:
            NoAction: what is changed has to be made anew, which only the process of the network can.
        """
        from explorer.square.evaluate import moved_picture

        return moved_picture(self.inputs, self.field, state)


def sent(p: Prepared) -> Sent:
    """Return what `movable_from` makes inputs of: arrays and values alone."""
    from explorer.square.evaluate import shown_as

    values = tuple(np.ascontiguousarray(value.detach().cpu().numpy()) for value in p.inputs.values)
    return values, p.inputs.fields, p.inputs.names, p.inputs.aside, shown_as(p)


def movable_from(found: Sent) -> Movable:
    """Return the inputs that were sent."""
    import torch

    from explorer.declare.inputs import Inputs

    values, fields, names, aside, field = found
    tensors = tuple(torch.from_numpy(np.array(value)) for value in values)
    return Movable(Inputs(tensors, fields, names, aside), field)
