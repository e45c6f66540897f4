"""Find out whether an element moves nothing of some inputs, such as a full turn: then it tests no law."""

from __future__ import annotations

import torch

from explorer.declare.elements import Element
from explorer.declare.inputs import Inputs
from explorer.equivariance.measure import unmoved
from explorer.equivariance.trial.remembered import Remembered


def inert(element: Element, inputs: Inputs, moved: Inputs) -> bool:
    """Return whether an element bound to these inputs leaves them as they are, whatever numbers they hold.

    Args:
        moved: rho(g) of the inputs. A constant image is the same after a turn; another image would not be.
    """
    if element.identity:
        return True
    if not unmoved(inputs.values, moved.values):
        return False
    made = torch.Generator().manual_seed(0)
    other = [
        torch.rand(v.shape, generator=made, device="cpu").to(v) if v.is_floating_point() or v.is_complex() else v
        for v in inputs.values
    ]
    if not (inputs.x.is_floating_point() or inputs.x.is_complex()):  # tokens, of which all could be the same
        other[0] = torch.arange(inputs.x.numel(), device="cpu").reshape(inputs.x.shape).to(inputs.x)
    acted = (element.act(v, f) for v, f in zip(other, inputs.fields, strict=True))
    return unmoved(other, [a if isinstance(a, torch.Tensor) else v for a, v in zip(acted, other, strict=True)])


def remembered(element: Element, inputs: Inputs) -> tuple[Remembered, Inputs]:
    """Return an element bound to these inputs, which keeps its work and counts as the identity if inert; and rho(g)."""
    once = Remembered(element)
    moved = inputs.moved(once)
    once.inert = inert(element, inputs, moved)
    return once, moved
