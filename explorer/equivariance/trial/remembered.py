"""An element whose work is kept: what one layer answers is what the next is fed."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from torch import Tensor

from explorer.declare.elements import Element
from explorer.declare.types.fields import FieldType

if TYPE_CHECKING:
    from explorer.declare.inputs import Inputs

REMEMBERED = 16  # moved tensors; skip connections reach back a few layers


class Remembered(Element):
    """An element that acts once on each tensor: what one layer answers is what the next is fed.

    Attributes:
        inert: whether it leaves the inputs as they are, whatever numbers they hold: it then counts as the identity.
    """

    def __init__(self, element: Element) -> None:
        self.element = element
        self.inert = False
        # the tensors are kept with what became of them: an id is only unique while they live
        self._acted: OrderedDict[tuple[int, FieldType], tuple[Tensor, Tensor]] = OrderedDict()

    def __eq__(self, other: object) -> bool:
        return self.element == (other.element if isinstance(other, Remembered) else other)

    def __hash__(self) -> int:
        return hash(self.element)

    def __str__(self) -> str:
        return str(self.element)

    def __len__(self) -> int:
        return len(self._acted)

    @property
    def resamples(self) -> bool:  # type: ignore[override]
        return self.element.resamples

    @property
    def group(self) -> str:
        return self.element.group

    def place_of(self, place: int, count: int) -> int:
        return self.element.place_of(place, count)

    def act(self, values: Tensor, field: FieldType) -> Tensor:
        key = (id(values), field)
        if key not in self._acted:
            self._acted[key] = values, self.element.act(values, field)
            if len(self._acted) > REMEMBERED:
                self._acted.popitem(last=False)
        return self._acted[key][1]

    def moved(self, inputs: Inputs) -> Inputs:
        if type(self.element).moved is Element.moved:
            return inputs.map(self.act)
        return self.element.moved(inputs)

    def inverse(self) -> Element:
        return self.element.inverse()

    def merge(self, first: Element) -> Element | None:
        return self.element.merge(first)

    @property
    def identity(self) -> bool:
        return self.inert or self.element.identity

    def exact(self, field: FieldType, shape: tuple[int, ...]) -> bool:
        return self.element.exact(field, shape)

    def known(self, values: Tensor, field: FieldType) -> Tensor | None:
        return self.element.known(values, field)
