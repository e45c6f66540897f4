"""State what a network on points takes."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.network.input.ways import Called

SIGNALS = ("x", "position", "edge_index", "edge_attr", "velocity", "charge", "number", "batch", "frames")
FEATURES = ("elements", "charge", "speed", "values", "constant", "number")
AXES = ("NC", "1NC", "1CN")  # points and channels, with a batch of one or none
EDGES = ("all", "near", "nearest", "bonds")


@dataclass(frozen=True, slots=True)
class PointsInput(Called):
    """Call a network on points in space with `signals`, in this order.

    Attributes:
        channels: width of x, (points, channels); None takes what is made.
        signals: "x", "position" (points, 3), "edge_index" (2, edges), "edge_attr" (edges, 1) the product of the
            charges at the ends of an edge, "velocity" (points, 3), "charge" (points, 1), "number" (points,) atomic
            numbers, "batch" (points,) zeros, "frames" (points, 72) eight rotations at each point, as arrows. The first
            one is what is drawn as the input.
        features: what x is made of: "elements" (one column each, `explorer.spaces.graph.chemistry.atoms`), "charge",
            "speed" (the length of the velocity), "values" of the file, "constant", or "number".
        edges: which points are joined: "all" pairs, those "near" each other (nearer than `reach`), the "nearest"
            `neighbours` of each point, or what "bonds" join.
        reach: in units of the points.
        most, least: the largest and the smallest number of points that the network is made for, or None.
        axes: one of AXES: points and channels, with a batch of one or none, where there are no edges.
    """

    space = "points"
    data = "points"

    channels: int | None = None
    signals: tuple[str, ...] = ("x", "position", "edge_index")
    features: str = "elements"
    edges: str = "near"
    reach: float = 5.0
    neighbours: int = 8
    most: int | None = 2000
    axes: str = AXES[0]
    least: int | None = None

    @property
    def drawn(self) -> str:
        """Return the first that is not a list of edges."""
        return next(s for s in self.signals if s != "edge_index")
