"""State what a network on graphs or sets takes."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.declare.card import Form

SIGNALS = ("x", "edge_index", "edge_attr", "edge_weight", "position", "batch")
AXES = ("NC", "1NC", "1CN")  # nodes and channels, with a batch of one or none
FEATURES = ("seeds", "atoms", "degree", "position", "constant")


@dataclass(frozen=True, slots=True)
class GraphInput(Form):
    """Call a network on graphs or sets with `signals` of the sample, in this order.

    Attributes:
        channels: width of x, (nodes, channels); None takes what the sample has.
        signals: "x", "edge_index", "edge_attr", "edge_weight", "position", "batch". Missing weights are ones, a
            missing batch is all zeros, and a missing edge_attr is one column of the weights.
        edge_channels: width of edge_attr, where it is asked for.
        features: what x is made of ("seeds", "atoms", "degree", "position", "constant":
            `explorer.spaces.graph.network.features`) where the sample has no attributes of that width.
        columns: names of the columns of x, found by name where the sample names its own; with `channels` None they
            are the first ones, and all others of the sample follow.
        axes: those of x, one of AXES.
        most: the largest number of nodes that the network is made for (dense attention), or None.
    """

    space = "graph"
    data = "graph"

    channels: int | None = None
    signals: tuple[str, ...] = ("x", "edge_index")
    edge_channels: int | None = None
    features: str = "seeds"
    most: int | None = None
    columns: tuple[str, ...] = ()
    axes: str = AXES[0]
