"""Infer fields on graphs and sets: a tensor with a row for each node is a node field, and so on."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import PAIR, Domain, FieldType, Pairs, Point
from explorer.network.space import Inference, Known
from explorer.spaces.graph.elements.relabelling import GraphMap, listed_edges
from explorer.spaces.graph.fields import EDGE, GRAPH, NODE, Edges, Graphs, NodeIndex, Nodes, Numbered, Pairwise

_POINTWISE = (
    nn.ReLU, nn.LeakyReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Tanh, nn.Sigmoid, nn.Softplus, nn.Identity, nn.Dropout,
    nn.LayerNorm, nn.Softmax, nn.LogSoftmax,
)  # fmt: skip


SCATTER = 0.5  # of the spread of numbers: by how much those of an added element differ from those of its pattern
FEW = 4  # nodes: of fewer, none is left out in a trial


def _once(value: Tensor, field: FieldType) -> tuple[tuple[int, ...], Tensor] | None:
    """Return the axes of members, and which of their real numbers occur but once; None of anything else."""
    if not (isinstance(field.domain, Nodes) and value.is_floating_point()):
        return None
    _, which, often = value.unique(return_inverse=True, return_counts=True)
    axis = field.domain.axis
    return (axis, axis + 1) if isinstance(field.domain, Pairwise) else (axis,), torch.eq(often, 1)[which]


class GraphInference(Inference):
    """A graph with so many nodes and listed edges; a set has none of the latter."""

    def __init__(self, inputs: Inputs) -> None:
        index = listed_edges(inputs)
        self.nodes, self.edges = inputs.places, -1 if index is None else index.shape[1]
        self.fewer: tuple[tuple[Domain, int, int], ...] = ()

    def fits(self, field: FieldType, value: Tensor) -> bool:
        shape = tuple(value.shape)
        match field.domain:
            case Pairwise(axis=axis):
                return shape[axis : axis + 2] == (self.nodes, self.nodes)
            case Nodes(axis=axis):
                return shape[axis : axis + 1] == (self.nodes,)
            case Edges(axis=axis):
                return (shape[-1:] if isinstance(field.rep, NodeIndex) else shape[axis : axis + 1]) == (self.edges,)
            case Pairs():
                return shape[-2:] == (self.nodes, self.nodes)
            case Graphs() | Point():
                return True
            case _:
                return False

    def own(self, field: FieldType) -> FieldType:
        # what belongs to no node belongs to the graph as a whole
        return replace(field, domain=Graphs()) if isinstance(field.domain, Point) else field

    def infer(
        self, module: nn.Module, in_field: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...]
    ) -> FieldType | None:
        declared = getattr(module, "out_field", None)
        if isinstance(declared, FieldType):
            return self.own(declared)
        found = self._placed(module, in_field, shape_in, shape)
        rep = getattr(module, "out_rep", None)
        return found if found is None or rep is None else replace(found, rep=rep, guessed=False)

    def _placed(
        self, module: nn.Module, in_field: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...]
    ) -> FieldType | None:
        """Return the field with the place of its values, as scalars."""
        guessed = not isinstance(module, _POINTWISE) or in_field is None or in_field.guessed
        if in_field is not None:
            if isinstance(in_field.domain, Pairs):
                rows = shape[-2:] == shape_in[-2:]
            else:
                axis = in_field.domain.axis if isinstance(in_field.domain, Numbered) else 0
                end = axis + 1 + isinstance(in_field.domain, Pairwise)
                rows = shape[axis:end] == shape_in[axis:end]
            if rows and not isinstance(in_field.rep, NodeIndex):
                return FieldType(in_field.domain, guessed=guessed)
        return self.functional(shape)

    def functional(self, shape: tuple[int, ...]) -> FieldType | None:
        if len(shape) > 2 and shape[-2:] == (self.nodes, self.nodes):
            return PAIR.guess()
        if shape[:1] == (self.nodes,):
            return (PAIR if shape == (self.nodes, self.nodes) and self.nodes > 1 else NODE).guess()
        if shape[:1] == (self.edges,):
            return EDGE.guess()
        return GRAPH.guess() if shape and len(shape) <= 2 else None

    def coincide(self) -> bool:
        return self.nodes == self.edges

    def resized(self, inputs: Inputs) -> Inputs | None:
        few = self.nodes < FEW
        if few and not (self.coincide() and self.edges > 1):
            return None
        out, edges = self.nodes // 2, listed_edges(inputs)
        nodes, listed = np.delete(np.arange(self.nodes), out), np.arange(max(self.edges, 0))
        if few:  # an edge less tells those apart, and leaves all nodes something to join
            nodes, listed = np.arange(self.nodes), listed[1:]
        elif edges is not None:
            listed = listed[(edges != out).all(0)]
            while len(listed) > 2 and len(listed) in (self.edges, len(nodes)):  # no size is to coincide with another
                listed = listed[1:]
        fewer = inputs.moved(GraphMap(nodes, listed, 1.0, self.nodes, max(self.edges, 0)))
        if any(_gone(v) and not _gone(u) for u, v in zip(inputs.values, fewer.values, strict=True)):
            return None  # a number of the node that is left out: not every product looks whether it is one
        self.fewer = ((Nodes(), self.nodes, len(nodes)), (Edges(), self.edges, len(listed)))
        return fewer

    def grown(self, inputs: Inputs, count: int, seed: int) -> Inputs | None:
        """Return a set of so many elements, each near one of those that there are; None of a graph, or of none alone.

        Numbers that occur twice stay: masks, and who belongs to whom, mean nothing else, and whoever looks for the
        first of those that are equal is to find several.
        """
        if self.edges >= 0 or not 0 < self.nodes < count:
            return None
        once = [_once(v, f) for v, f in zip(inputs.values, inputs.fields, strict=True)]
        alone = torch.zeros(self.nodes, dtype=torch.bool, device="cpu")
        for axes, free in filter(None, once):
            for axis in axes:
                alone |= free.cpu().movedim(axis, 0).flatten(1).any(1)
        if not bool(alone.any()):
            return None  # copies would be equal, and any of them be first
        patterns = np.concatenate([np.arange(self.nodes), np.resize(np.flatnonzero(alone), count - self.nodes)])
        generator = torch.Generator().manual_seed(seed)

        def changed(value: Tensor, found: tuple[tuple[int, ...], Tensor] | None) -> Tensor:
            if found is None:
                return value
            axes, free = found
            by = torch.randn(value.shape, generator=generator, device="cpu", dtype=torch.float64).to(value)
            old = by
            for axis in axes:
                free = free.index_select(axis, torch.as_tensor(patterns, device=value.device))
                old = old.narrow(axis, 0, self.nodes)
            by *= free
            old.zero_()
            return value + SCATTER * (float(value.std()) or float(value.abs().mean())) * by

        moved = inputs.moved(GraphMap(patterns, np.arange(0), 1.0, self.nodes, 0))
        return replace(moved, values=tuple(map(changed, moved.values, once)))

    def placed(self, shape: tuple[int, ...], resized: tuple[int, ...]) -> FieldType | None:
        if len(shape) != len(resized):
            return None
        moved = [axis for axis, (size, now) in enumerate(zip(shape, resized, strict=True)) if size != now]
        kinds = [next((d for d, *sizes in self.fewer if sizes == [shape[axis], resized[axis]]), None) for axis in moved]
        if not moved:
            return self.functional(shape) if self.fewer[0][1] == self.fewer[0][2] else GRAPH.guess()
        if len(moved) == 2 and moved == [len(shape) - 2, len(shape) - 1] and all(isinstance(k, Nodes) for k in kinds):
            return PAIR.guess()
        if len(moved) == 2 and moved[1] == moved[0] + 1 and all(isinstance(k, Nodes) for k in kinds):
            return FieldType(Pairwise(moved[0]), guessed=True)
        if len(moved) > 1 or kinds[0] is None:
            return None
        domain = kinds[0]
        return self.own(FieldType(replace(domain, axis=moved[0]) if isinstance(domain, Numbered) else domain).guess())

    def numbering(self, field: FieldType) -> tuple[FieldType, ...]:
        """Return numbers of nodes: one end of each edge, or a neighbour of each node."""
        return (replace(field, rep=NodeIndex()),) if isinstance(field.domain, Nodes | Edges) else ()

    def along(self, axis: int, size: int) -> FieldType | None:
        return FieldType(Nodes(axis), guessed=True) if size == self.nodes > 1 else None

    def receptive(
        self, module: nn.Module, in_field: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...],
        radius: float,
    ) -> float:  # fmt: skip
        # nothing is cut off at an edge of a graph: no mask needs the radius
        return math.inf

    def alike(self, shape: tuple[int, ...], seen: tuple[int, ...], known: Known) -> Known | None:
        if (found := self.functional(shape)) is None or isinstance(found.domain, Graphs):
            return None
        return found, math.inf, known[2]

    def may_be_empty(self) -> bool:
        return self.edges == 0

    def another(self, inputs: Inputs, seed: int) -> Inputs:
        """Return the same graph with the attributes of other nodes: the nodes no longer are what their edges say.

        A set, or a graph whose nodes are all alike, gets noise instead: other numbers would be the same set again.
        """
        x = inputs.x
        other = x.roll(max(1, len(x) // 3), 0) if len(x) and self.edges > 0 else x
        if not x.is_floating_point():
            return inputs.with_x(other)
        size = float(x.norm())
        if size == 0.0 or float((other - x).norm()) <= 1e-3 * size:
            generator = torch.Generator().manual_seed(seed)
            drawn = torch.randn(x.shape, generator=generator, device="cpu", dtype=torch.float64).to(x)
            other = drawn * max(float(x.abs().mean()), 1e-3) + x
        return inputs.with_x(other)


def _gone(values: Tensor) -> bool:
    """Say whether there are numbers that no place has."""
    return not values.is_floating_point() and bool((values < 0).any())
