"""Fields on graphs and sets: on nodes, on listed edges, on pairs of nodes, on whole graphs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.declare.types.fields import Domain, FieldType, Pairs, Representation, Scalar

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Numbered(Domain):
    """Places that are numbered: one axis counts them, all others together are the channels.

    It is axis 0, except in somebody else's network with a batch axis: (1, nodes, channels), (1, channels, nodes).
    """

    axis: int = 0
    batched = False

    def text(self, rep: Representation) -> str:
        return f"{self.name} {rep}" + (f" on axis {self.axis}" if self.axis else "")

    def channels(self, shape: tuple[int, ...]) -> int:
        return math.prod(shape[: self.axis]) * math.prod(shape[self.axis + 1 :])

    def places_first(self, values: Tensor) -> Tensor:
        return values.movedim(self.axis, 0) if self.axis else values

    def as_given(self, values: Tensor) -> Tensor:
        return values.movedim(0, self.axis) if self.axis else values


@dataclass(frozen=True, slots=True)
class Nodes(Numbered):
    """The nodes of a graph or the elements of a set."""

    name = "node"
    space = "graph"
    counted = True

    @property
    def axes(self) -> tuple[str, ...]:
        return ("node", "channel")


@dataclass(frozen=True, slots=True)
class Pairwise(Nodes):
    """Ordered pairs of nodes on two axes that follow each other, channels behind them: (nodes, nodes, channels)."""

    name = "pairwise"
    paired = True


@dataclass(frozen=True, slots=True)
class Edges(Numbered):
    """The listed edges of a graph, each direction its own entry."""

    name = "edge"

    @property
    def axes(self) -> tuple[str, ...]:
        return ("edge", "channel")

    def table(self, values: Tensor, rep: Representation) -> Tensor:
        return values.t() if isinstance(rep, NodeIndex) else Numbered.table(self, values, rep)

    def picture(self, values: Tensor, rep: Representation, most: int) -> tuple[Tensor, int]:
        if isinstance(rep, NodeIndex):
            return values.float()[None], values[:1].numel()
        return Numbered.picture(self, values, rep, most)


@dataclass(frozen=True, slots=True)
class Adjacency(Pairs):
    """A matrix between nodes that is all that a network is given of a graph."""

    space = "graph"


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
    """The values are numbers of nodes, as in edge_index: relabelling the nodes relabels the values.

    Attributes:
        end: of edges between two sets, which end has numbers of these nodes: 0 where they come from, 1 where they lead.
    """

    end: int | None = None

    @property
    def other(self) -> NodeIndex:
        """Return what the same values are where the nodes of the other set are renumbered."""
        return NodeIndex(None if self.end is None else 1 - self.end)

    def axes(self, domain: Domain) -> tuple[str, ...]:
        return ("node", "edge") if isinstance(domain, Edges) else ()

    def __str__(self) -> str:
        return "index" if self.end is None else f"index {ENDS[self.end]}"


ENDS = ("from", "to")  # of an edge
NODE = FieldType(Nodes())  # (nodes, ...)
EDGE = FieldType(Edges())  # (edges, ...)
GRAPH = FieldType(Graphs())  # (graphs, ...)
BETWEEN = FieldType(Edges(), NodeIndex(0))  # (2, edges): from these nodes, to those of another set
NODE_INPUT = FieldType(Nodes(), Scalar(intensity=True))
EDGE_INPUT = FieldType(Edges(), Scalar(intensity=True))
EDGE_INDEX = FieldType(Edges(), NodeIndex())  # (2, edges): from, to


def numbered(domain: type[Numbered]) -> Callable[[str], Domain]:
    """Return a reader of what stands after the representation of such a field: "on axis 1"."""

    def parse(rest: str) -> Domain:
        found = re.fullmatch(r"(?:on axis (?P<axis>[0-9]))?", rest)
        if found is None:
            raise LookupError(rest)
        return domain(int(found["axis"] or 0))

    return parse
