"""Find out whether a law tests nothing: an element moves nothing, such as a full turn, or an answer is constant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

import torch
from torch import Tensor

from explorer.declare.elements import Element, NoAction
from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import FieldType
from explorer.equivariance import measure
from explorer.equivariance.measure import unmoved
from explorer.equivariance.trial.remembered import Remembered
from explorer.network.tracing.layers import Layer


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


class Given(Protocol):
    """The values of all layers on one input."""

    @property
    def values(self) -> Mapping[str, Tensor]: ...


def says_nothing(
    layer: Layer,
    error: float,
    limit: float,
    variation: float | None,
    given: Sequence[Given],
    acted: Iterable[Element],
    anew: Callable[[], Mapping[str, Tensor]],
) -> bool:
    """Say whether what a layer gives is the same for all data and under all elements: then any law holds of it.

    What is made of the edges of a graph alone is not: it moves with them, or differs between graphs.

    Args:
        error: of its law; limit: up to which it is rounding.
        variation: of its values on numbers of x that are drawn anew and on unrelated ones, None where it is not known.
        given: the data; of the first of them `acted` are elements.
        anew: -> the values of layers on the first data drawn anew, all of them, {} where these are no such data.
    """
    value = given[0].values[layer.name]

    def tells(other: Tensor) -> bool:
        """Say whether the value differs from another one by so much that its error says something."""
        if layer.field is None or other.shape != value.shape or not measure.finite(other):
            return False  # data of another size have a constant of another size
        apart = float(measure.apart(value, other, measure.EVERYWHERE, layer.field).max())
        return apart > limit and error <= measure.SIZEABLE * apart

    if not value.numel():
        return False  # as of what lies on the edges of a graph that has none
    if layer.field is None or variation is None or (variation > limit and error <= measure.SIZEABLE * variation):
        return False
    if any(tells(one.values[layer.name]) for one in given[1:]):
        return False
    for element in acted:
        expected = measure.expected_after(element, layer, value)
        if expected is not None and tells(expected):
            return False
    drawn = anew().get(layer.name)
    return drawn is not None and not tells(drawn)  # else it is not known


def why_idle(field: FieldType | None, values: Tensor, elements: Iterable[Element]) -> str:
    """Return why elements have no action on values of a field, in words of their own, "" where none says it."""
    if field is not None:
        for element in elements:
            try:
                field.rep.acted(element, values, field)
            except NoAction as error:
                return str(error)
    return ""
