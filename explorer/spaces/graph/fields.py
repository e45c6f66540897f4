"""Fields on graphs and sets: on nodes, on listed edges, on pairs of nodes, on whole graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.declare.fields import Domain, FieldType, Representation, Scalar

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Nodes(Domain):
    """The nodes of a graph or the elements of a set: axis 0 is the node, all others together are the channels."""

    name = "node"
    space = "graph"
    counted = True
    batched = False

    @property
    def axes(self) -> tuple[str, ...]:
        return ("node", "channel")


@dataclass(frozen=True, slots=True)
class Edges(Domain):
    """The listed edges of a graph, each direction its own entry: axis 0 is the edge, the others the channels."""

    name = "edge"
    batched = False

    @property
    def axes(self) -> tuple[str, ...]:
        return ("edge", "channel")

    def picture(self, values: Tensor, rep: Representation, most: int) -> tuple[Tensor, int]:
        if isinstance(rep, NodeIndex):
            return values.float()[None], values[:1].numel()
        return Domain.picture(self, values, rep, most)


@dataclass(frozen=True, slots=True)
class Graphs(Domain):
    """Whole graphs: axis 0 says which graph of the batch; nothing moves when nodes are renumbered."""

    name = "graph"
    batched = False
    placed = False

    @property
    def axes(self) -> tuple[str, ...]:
        return ("graph", "channel")

    def picture(self, values: Tensor, rep: Representation, most: int) -> tuple[Tensor, int]:
        if values.ndim >= 2 and len(values) != 1:
            v, _ = Domain.picture(self, values, rep, most)
            return v, len(v)
        return values.reshape(-1, 1, 1), values.numel()


@dataclass(frozen=True, slots=True)
class NodeIndex(Representation):
    """The values are numbers of nodes, as in edge_index: relabelling the nodes relabels the values."""

    def axes(self, domain: Domain) -> tuple[str, ...]:
        return ("node", "edge") if isinstance(domain, Edges) else ()

    def __str__(self) -> str:
        return "index"


NODE = FieldType(Nodes())  # (nodes, ...)
EDGE = FieldType(Edges())  # (edges, ...)
GRAPH = FieldType(Graphs())  # (graphs, ...)
NODE_INPUT = FieldType(Nodes(), Scalar(intensity=True))
EDGE_INPUT = FieldType(Edges(), Scalar(intensity=True))
EDGE_INDEX = FieldType(Edges(), NodeIndex())  # (2, edges): from, to
