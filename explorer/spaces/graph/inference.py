"""What the core must know of graphs and sets: a tensor with a row for each node is a node field, and so on."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor, nn

from explorer.declare.fields import PAIR, FieldType, Pairs, Point
from explorer.declare.space import Inference, Known
from explorer.network.inputs import Inputs
from explorer.spaces.graph.fields import EDGE, GRAPH, NODE, Edges, Graphs, NodeIndex, Nodes

_POINTWISE = (
    nn.ReLU, nn.LeakyReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Tanh, nn.Sigmoid, nn.Softplus, nn.Identity, nn.Dropout,
    nn.LayerNorm, nn.Softmax, nn.LogSoftmax,
)  # fmt: skip


class GraphInference(Inference):
    """A graph with so many nodes and listed edges; a set has none of the latter."""

    def __init__(self, inputs: Inputs) -> None:
        index = inputs.get("edge_index")
        self.nodes, self.edges = len(inputs.x), -1 if index is None else index.shape[1]

    def fits(self, field: FieldType, value: Tensor) -> bool:
        shape = tuple(value.shape)
        match field.domain:
            case Nodes():
                return shape[:1] == (self.nodes,)
            case Edges():
                return (shape[-1:] if isinstance(field.rep, NodeIndex) else shape[:1]) == (self.edges,)
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
            places = -2 if isinstance(in_field.domain, Pairs) else None
            rows = shape[places:] == shape_in[places:] if places else shape[:1] == shape_in[:1]
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
        size = float(x.norm())
        if size == 0.0 or float((other - x).norm()) <= 1e-3 * size:
            generator = torch.Generator().manual_seed(seed)
            drawn = torch.randn(x.shape, generator=generator, dtype=torch.float64).to(x)
            other = drawn * max(float(x.abs().mean()), 1e-3) + x
        return inputs.with_x(other)
