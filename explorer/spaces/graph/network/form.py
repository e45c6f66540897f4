"""State what a network on graphs or sets takes."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.declare.telling.asking import Named
from explorer.network.input.ways import Called

SIGNALS = (
    *("x", "edge_index", "edge_attr", "edge_weight", "position", "batch", "adjacency", "number", "mask"),
    *("other", "between"),
)  # fmt: skip
OF_A_GRAPH = ("edge_index", "adjacency", "between")  # no set has them
DRAWN = ("x", "number", "adjacency")  # the first of these that a network takes is drawn as its input
AXES = ("NC", "1NC", "1CN", "N", "1N")  # nodes and channels, with a batch of one or none; numbers without channels
FEATURES = ("seeds", "atoms", "degree", "position", "constant")


@dataclass(frozen=True, slots=True)
class GraphInput(Called):
    """Call a network on graphs or sets with `signals` of the sample, in this order.

    Attributes:
        channels: width of x, (nodes, channels); None takes what the sample has.
        signals: "x", "edge_index", "edge_attr", "edge_weight", "position", "batch". Missing weights are ones, a
            missing batch is all zeros, and a missing edge_attr is one column of the weights. "adjacency" is (nodes,
            nodes), the weight of the edge to the row's node from the column's; "number" is a whole number for each
            node: of the atom, else how many edges end there. "mask" is true at two of three nodes, "other" a second
            set, (elements, channels), which is renumbered by itself, and "between" the edges from x to it, (2, edges).
        edge_channels: width of edge_attr, where it is asked for.
        other_channels: width of the second set, where it is asked for; None takes that of x.
        features: what x is made of ("seeds", "atoms", "degree", "position", "constant":
            `explorer.spaces.graph.network.features`) where the sample has no attributes of that width.
        columns: names of the columns of x, found by name where the sample names its own; with `channels` None they
            are the first ones, and all others of the sample follow.
        axes: those of x, one of AXES; an adjacency has a batch of one where x has.
        most: the largest number of nodes that the network is made for (dense attention), or None.
        tables: name and axes of each argument, ("1xAx3",), of a network that takes several tables of numbers, of which
            a letter counts the members of a set (`explorer.spaces.graph.network.tables`); () for what `signals` say.
        beside: name and axes of what it is given besides the signals, all by name: "Nx7" a row a node, "Ex3" a row an
            edge, "1x4" one of the whole graph (`explorer.spaces.graph.network.beside`).
    """

    space = "graph"
    data = "graph"

    channels: int | None = None
    signals: tuple[str, ...] = ("x", "edge_index")
    edge_channels: int | None = None
    other_channels: int | None = None
    features: str = "seeds"
    most: int | None = None
    columns: tuple[str, ...] = ()
    axes: str = AXES[0]
    tables: Named = ()
    beside: Named = ()

    @property
    def drawn(self) -> str:
        """Return x, else numbers of the nodes, else a matrix between them."""
        if self.tables:
            return self.tables[0][0]
        return next((s for s in DRAWN if s in self.signals), self.signals[0])
