"""What the core must know of one kind of data: images, graphs. One file each; capture and measurement ask no further.

A space says what a tensor inside of a network is a field of, which unrelated input serves as the baseline of chance,
and how values are laid out for drawing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from torch import Tensor, nn

from explorer.declare.fields import FieldType

if TYPE_CHECKING:
    from explorer.network.inputs import Inputs

Known = tuple[FieldType, float, int]  # field, receptive radius, weighted layers so far


class Space(ABC):
    """The kind of domain that one network's inputs live on, with that domain's sizes."""

    @abstractmethod
    def fits(self, field: FieldType, value: Tensor) -> bool:
        """Whether a tensor of that shape can be such a field."""

    def own(self, field: FieldType) -> FieldType:
        """Return a declared field as this space says it."""
        return field

    @abstractmethod
    def infer(
        self, module: nn.Module, in_field: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...]
    ) -> FieldType | None:
        """Return the field type of a module's output; `guessed` unless the module declares it."""

    @abstractmethod
    def receptive(
        self, module: nn.Module, in_field: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...],
        radius: float,
    ) -> float:  # fmt: skip
        """Return the radius in input places that one output value can depend on, given its input's radius."""

    @abstractmethod
    def alike(self, shape: tuple[int, ...], seen: tuple[int, ...], known: Known) -> Known | None:
        """Return what is known of a tensor that functional code made of one of the shape `seen`, or None."""

    @abstractmethod
    def functional(self, shape: tuple[int, ...]) -> FieldType | None:
        """Return the field type of what functional code at the network's end gives, by its shape alone."""

    @abstractmethod
    def another(self, inputs: Inputs, seed: int) -> Inputs:
        """Return unrelated inputs of the same shapes: what chance would give is measured on them."""


def space_of(inputs: Inputs) -> Space:
    """Return the space that some inputs live in."""
    if inputs.domain == "mesh":
        from explorer.spaces.mesh.space import MeshSpace

        return MeshSpace(inputs)
    if inputs.relational:
        from explorer.spaces.graph.space import GraphSpace

        return GraphSpace(inputs)
    if inputs.unbatched:
        from explorer.spaces.sequence.space import SequenceSpace

        return SequenceSpace(inputs)
    from explorer.spaces.grid.space import GridSpace

    return GridSpace()
