"""Hold what a network is called with: one tensor (an image) or several (those of a graph), with their fields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from explorer.declare.space import spaces
from explorer.declare.types.fields import FieldType
from explorer.network.input.typed import wrapped
from explorer.network.opening.global_state import settled

if TYPE_CHECKING:
    from explorer.data.samples import Sample
    from explorer.declare.card import Form
    from explorer.declare.elements import Element


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
    """

    values: tuple[Tensor, ...]
    fields: tuple[FieldType, ...]
    names: tuple[str, ...] = ("x",)
    aside: int = 0
    remake: Callable[[Inputs, Tensor, Tensor, Tensor | None], Inputs] | None = None
    call: Callable[[nn.Module, tuple[Tensor, ...]], Any] | None = None
    turns: tuple[Inputs, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what would fail far from here.

        Raises:
            TypeError, ValueError: in one sentence.
        """
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

    def run(self, model: nn.Module, clone: bool = False) -> Any:
        """Call a network, with copies of the arguments if `clone` says so, and return what it returns."""
        given = tuple(v.clone() for v in self.arguments) if clone else self.arguments
        with settled():
            return model(*wrapped(model, given)) if self.call is None else self.call(model, given)

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

    def moved(self, element: Element) -> Inputs:
        """Return rho(g) of every argument."""
        return element.moved(self)

    def exact(self, element: Element) -> bool:
        """Return whether the element permutes places in every argument."""
        return all(element.exact(f, tuple(v.shape)) for v, f in zip(self.values, self.fields, strict=True))

    def map(self, change: Callable[[Tensor, FieldType], Tensor]) -> Inputs:
        return replace(self, values=tuple(change(v, f) for v, f in zip(self.values, self.fields, strict=True)))

    def to(self, device: torch.device | None = None, dtype: torch.dtype | None = None) -> Inputs:
        """Move all tensors; only real numbers change their precision."""
        return self.map(lambda v, _: v.to(device=device, dtype=dtype if v.is_floating_point() else None))

    def with_x(self, x: Tensor) -> Inputs:
        return replace(self, values=(x, *self.values[1:]))


Given = Tensor | Inputs


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


def from_signals(
    sample: Sample, names: tuple[str, ...], device: torch.device, dtype: torch.dtype, *, aside: int = 0
) -> Inputs:
    """Return signals of a sample as the arguments of a network; those whose field has a batch axis get one.

    Args:
        aside: how many of the last names are no arguments, but move along.

    Raises:
        ValueError: NaN and infinities.
    """
    values, fields = [], []
    for name in names:
        signal = sample.signals[name]
        if not np.isfinite(signal.values).all():
            bad, title = int((~np.isfinite(signal.values)).sum()), sample.title or sample.name
            raise ValueError(f"{title} holds {bad} NaN or infinite value(s); nothing can be measured on it")
        value = torch.from_numpy(np.array(signal.values)).to(device)
        value = value.to(dtype) if value.is_floating_point() else value
        values.append(value[None] if signal.field.batched else value)
        fields.append(signal.field)
    return Inputs(tuple(values), tuple(fields), names, aside)


def inputs_from(sample: Sample, form: Form, device: torch.device, dtype: torch.dtype) -> Inputs:
    """Return what a network that takes this form is called with.

    Raises:
        ValueError: NaN and infinities.
    """
    return spaces()[form.space].inputs(sample, form, device, dtype)
