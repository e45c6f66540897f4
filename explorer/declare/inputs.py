"""Hold what a network is called with: one tensor (an image) or several (those of a graph), with their fields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, Union

from explorer.declare.types.fields import Acting, FieldType

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn


class Moving(Acting, Protocol):
    """A group element, as inputs know it."""

    def moved(self, inputs: Inputs) -> Inputs: ...

    def exact(self, field: FieldType, shape: tuple[int, ...]) -> bool: ...


def laid_out(tensor: Tensor, like: Tensor) -> Tensor:
    """Return a tensor as one block of memory where what stood in its place is one: a network may rely on that."""
    return tensor.contiguous() if like.is_contiguous() else tensor


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """The positional arguments of a network; the first is x, the one that is drawn and differentiated.

    Attributes:
        values: tensors in the order of the call, then those that only move along.
        fields: what each is a field of: a group element acts on all of them at once.
        names: "x", "edge_index", ...
        aside: how many of the last values are no arguments: where a mesh lies in space, though its network is
            called with lengths and angles alone.
        remake: makes the same arguments anew from (these inputs, positions, faces, axes or None), for what bends or
            remeshes a surface: lengths, angles and patches follow from it. None where nothing can be made anew.
        call: (network, arguments) -> its answer, where they are not given one by one in their order.
        turns: the same arguments once more for each further thing that elements move by itself, such as a second set,
            with that first.
        by: the elements that these were moved by, in their order.
    """

    values: tuple[Tensor, ...]
    fields: tuple[FieldType, ...]
    names: tuple[str, ...] = ("x",)
    aside: int = 0
    remake: Callable[[Inputs, Tensor, Tensor, Tensor | None], Inputs] | None = None
    call: Callable[[nn.Module, tuple[Tensor, ...]], Any] | None = None
    turns: tuple[Inputs, ...] = ()
    by: tuple[Moving, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what would fail far from here.

        Raises:
            TypeError, ValueError: in one sentence.
        """
        from torch import Tensor

        if not isinstance(self.values, tuple) or not all(isinstance(v, Tensor) for v in self.values):
            raise TypeError("the values of Inputs are a tuple of tensors, (x,) for one")
        if not isinstance(self.fields, tuple) or not all(isinstance(f, FieldType) for f in self.fields):
            raise TypeError("the fields of Inputs are a tuple of FieldType, as equiscope.fields has them")
        if len(self.values) != len(self.fields) or not self.values:
            raise ValueError(f"Inputs have a field for each value: {len(self.values)} and {len(self.fields)} are given")

    @property
    def x(self) -> Tensor:
        return self.values[0]

    @property
    def field(self) -> FieldType:
        return self.fields[0]

    @property
    def arguments(self) -> tuple[Tensor, ...]:
        """Return what the network is called with."""
        return self.values[: len(self.values) - self.aside]

    @property
    def batched(self) -> bool:
        """Say whether axis 0 of x counts samples; else they are one sample, such as a graph or a sequence."""
        return self.field.batched

    @property
    def places(self) -> int:
        """Return how many places x has, where it is no batch."""
        return len(self.field.domain.places_first(self.x))

    @property
    def numbered(self) -> int:
        """Return how many places a person can name by their number; 0 where they have none."""
        return 0 if self.batched else self.places

    def get(self, name: str) -> Tensor | None:
        """Return the tensor called `name`, or None."""
        return self.values[self.names.index(name)] if name in self.names else None

    def moved(self, element: Moving) -> Inputs:
        """Return rho(g) of every argument, each as one block of memory where it was one."""
        moved = element.moved(self)
        values = tuple(laid_out(after, before) for after, before in zip(moved.values, self.values, strict=True))
        return replace(moved, values=values, by=(*self.by, element))

    def exact(self, element: Moving) -> bool:
        """Return whether the element permutes places in every argument."""
        return all(element.exact(f, tuple(v.shape)) for v, f in zip(self.values, self.fields, strict=True))

    def map(self, change: Callable[[Tensor, FieldType], Tensor]) -> Inputs:
        return replace(self, values=tuple(change(v, f) for v, f in zip(self.values, self.fields, strict=True)))

    def to(self, device: torch.device | None = None, dtype: torch.dtype | None = None) -> Inputs:
        """Move all tensors; only real numbers change their precision."""
        return self.map(lambda v, _: v.to(device=device, dtype=dtype if v.is_floating_point() else None))

    def with_x(self, x: Tensor) -> Inputs:
        return replace(self, values=(x, *self.values[1:]))

    def with_batch(self, x: Tensor) -> Inputs:
        """Return the inputs with several samples of x, (samples, ...), each beside the same other values."""
        if x.shape[0] == 1:
            return self.with_x(x)
        others = (
            # copies, since somebody else's network may write into them
            v.repeat(x.shape[0], *(1 for _ in v.shape[1:])) if f.batched and v.shape[0] == 1 else v
            for v, f in zip(self.values[1:], self.fields[1:], strict=True)
        )
        return replace(self, values=(x, *others))


Given = Union["Tensor", Inputs]  # a tensor alone is the one argument


def places_first(values: Tensor, field: FieldType | None) -> Tensor:
    """Return values with the places on axis 0; as they are where the field is not known."""
    return values if field is None else field.domain.places_first(values)


def as_given(values: Tensor, field: FieldType | None) -> Tensor:
    """Undo `places_first`."""
    return values if field is None else field.domain.as_given(values)


def inputs_of(given: Given, kind: FieldType | None = None) -> Inputs:
    """Return `given`, or a single tensor with its field, as Inputs."""
    if isinstance(given, Inputs):
        return given
    if kind is None:
        raise TypeError("a tensor alone needs its field type")
    return Inputs((given,), (kind,))
