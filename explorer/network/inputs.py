"""What a network is called with: one tensor (an image) or several (nodes and edges of a graph), with their fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from explorer.spaces.graph.fields import EDGE, EDGE_INDEX, GRAPH, NODE, NODE_INPUT
from explorer.declare.fields import FieldType, Representation, Scalar
from explorer.spaces.sequence.fields import Steps
from explorer.spaces.mesh.fields import Vertices

if TYPE_CHECKING:
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
    """

    values: tuple[Tensor, ...]
    fields: tuple[FieldType, ...]
    names: tuple[str, ...] = ("x",)
    aside: int = 0
    remake: Callable[[Inputs, Tensor, Tensor, Tensor | None], Inputs] | None = None

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
    def relational(self) -> bool:
        """Whether they describe a graph, a set or a mesh."""
        return self.fields[0].relational

    @property
    def unbatched(self) -> bool:
        """Whether they are one graph or one sequence, without a batch axis."""
        return self.fields[0].unbatched

    @property
    def places(self) -> int:
        """Return how many nodes or steps x has."""
        return len(places_first(self.x, self.field))

    @property
    def domain(self) -> str:
        """Return "grid", "graph" (sets included), "mesh" or "time"."""
        if isinstance(self.fields[0].domain, Vertices):
            return "mesh"
        return "graph" if self.relational else "time" if self.unbatched else "grid"

    def get(self, name: str) -> Tensor | None:
        """Return the tensor called `name`, or None."""
        return self.values[self.names.index(name)] if name in self.names else None

    def moved(self, element: Element) -> Inputs:
        """Return rho(g) of every argument."""
        return element.moved(self)

    def exact(self, element: Element) -> bool:
        """Whether the element permutes places in every argument."""
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
    """Return values on one graph or sequence with nodes, edges or steps on axis 0: time is moved there."""
    if field is not None and isinstance(field.domain, Steps) and field.domain.axis:
        return values.movedim(field.domain.axis, 0)
    return values


def as_given(values: Tensor, field: FieldType | None) -> Tensor:
    """Undo `places_first`."""
    if field is not None and isinstance(field.domain, Steps) and field.domain.axis:
        return values.movedim(0, field.domain.axis)
    return values


def inputs_of(given: Given, kind: FieldType | None = None) -> Inputs:
    """Return `given`, or a single tensor with its field, as Inputs."""
    if isinstance(given, Inputs):
        return given
    if kind is None:
        raise TypeError("a tensor alone needs its field type")
    return Inputs((given,), (kind,))


def graph_inputs(values: Sequence[Tensor]) -> Inputs:
    """Return the arguments of a network on graphs, their fields read off their shapes.

    Args:
        values: x (nodes, channels) first; (2, edges) of whole numbers is edge_index, what else has a row for each edge
            is an edge field, for each node a node field.

    Raises:
        ValueError: x is no matrix, or a tensor fits neither nodes nor edges.
    """
    if not values or values[0].ndim != 2 or not values[0].is_floating_point():
        raise ValueError("a graph is given as (x, edge_index, ...), with x real numbers of shape (nodes, channels)")
    nodes = len(values[0])
    index = next((v for v in values[1:] if _is_index(v)), None)
    edges = -1 if index is None else index.shape[1]
    fields, names = [NODE_INPUT], ["x"]
    for k, v in enumerate(values[1:], 1):
        if v is index:
            fields.append(EDGE_INDEX)
            names.append("edge_index")
        elif v.ndim and len(v) == edges and (edges != nodes or v.is_floating_point()):
            fields.append(EDGE)
            names.append("edge_attr" if v.ndim > 1 else "edge_weight")
        elif v.ndim and len(v) == nodes:
            fields.append(NODE)
            names.append("position" if v.is_floating_point() else "batch")
        elif v.ndim == 2 and len(v) == 1:
            fields.append(GRAPH)
            names.append("u")
        else:
            raise ValueError(
                f"argument {k} has the shape {tuple(v.shape)}, which fits neither {nodes} nodes nor "
                f"{max(edges, 0)} edges"
            )
    return Inputs(tuple(values), tuple(fields), tuple(names))


LAYOUTS = ("NTC", "TNC", "NCT", "TC", "CT")  # of a sequence: N is the batch, which is 1, T the steps, C the channels


def sequence_inputs(x: Tensor, layout: str = "TC", rep: Representation | None = None) -> Inputs:
    """Return a sequence as a network takes it that has its axes in another order; (steps, channels) -> one of LAYOUTS.

    Raises:
        ValueError: x is no matrix, or there is no such layout.
    """
    if x.ndim != 2 or layout not in LAYOUTS:
        raise ValueError(f"a sequence is (steps, channels) and its layout one of {', '.join(LAYOUTS)}, not {layout!r}")
    axes = [letter for letter in "NTC" if letter in layout]
    batched = x[None] if "N" in layout else x
    field = FieldType(Steps(layout.index("T")), Scalar(intensity=True) if rep is None else rep)
    return Inputs((batched.permute([axes.index(letter) for letter in layout]).contiguous(),), (field,))


def _is_index(value: Tensor) -> bool:
    return value.ndim == 2 and value.shape[0] == 2 and value.dtype == torch.int64
