"""Field types: what a tensor inside a network is a field *of*, and over *what*.

A captured tensor alone says nothing about how it should be drawn or how it should move. A `FieldType` pairs a
domain (where the values sit) with a representation (how the values at one place mix under the point group).
From that pair follow the group action (`explorer.declare.elements`), the view that draws it, and linked selection.
Nothing here imports torch: declarations are cheap values that the window can read before torch has arrived.

The action is the induced representation (Cohen et al., "A General Theory of Equivariant CNNs on Homogeneous
Spaces", 2019): (rho(g) f)(u) = rho_fibre(h) f(g^-1 u), where h is the point part of g.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from explorer.declare.groups import FiniteGroup, group


@dataclass(frozen=True, slots=True)
class Grid:
    """A regular grid sampled every `spacing` input pixels; `flat` = (height, width) after nn.Flatten.

    A single place that summarises the whole image (global pooling) has infinite spacing: no shift moves it.
    """

    spacing: float = 1.0
    flat: tuple[int, int] | None = None
    name = "grid"

    @property
    def axes(self) -> tuple[str, ...]:
        return ("batch", "channel") if self.flat else ("batch", "channel", "y", "x")


@dataclass(frozen=True, slots=True)
class Point:
    """No domain left: one value per sample and channel (class scores, pooled vectors)."""

    name = "point"

    @property
    def axes(self) -> tuple[str, ...]:
        return ("batch", "channel")


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes of a graph or the elements of a set: axis 0 is the node, all others together are the channels."""

    name = "node"

    @property
    def axes(self) -> tuple[str, ...]:
        return ("node", "channel")


@dataclass(frozen=True, slots=True)
class Edges:
    """The listed edges of a graph, each direction its own entry: axis 0 is the edge, the others the channels."""

    name = "edge"

    @property
    def axes(self) -> tuple[str, ...]:
        return ("edge", "channel")


@dataclass(frozen=True, slots=True)
class Pairs:
    """Ordered pairs of nodes (attention, adjacency): the last two axes are (to, from), those before the channels."""

    name = "pair"

    @property
    def axes(self) -> tuple[str, ...]:
        return ("channel", "node", "node")


@dataclass(frozen=True, slots=True)
class Graphs:
    """Whole graphs: axis 0 says which graph of the batch; nothing moves when nodes are renumbered."""

    name = "graph"

    @property
    def axes(self) -> tuple[str, ...]:
        return ("graph", "channel")


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a sequence: one axis is time, all others together are the channels.

    Time is axis 0, except in somebody else's network with a batch axis: (1, steps, channels), (1, channels, steps).
    """

    axis: int = 0
    name = "step"

    @property
    def axes(self) -> tuple[str, ...]:
        return ("step", "channel")


@dataclass(frozen=True, slots=True)
class Vertices(Nodes):
    """The vertices of a triangle mesh: axis 0 is the vertex; a renumbering moves them as it moves nodes."""

    name = "vertex"

    @property
    def axes(self) -> tuple[str, ...]:
        return ("vertex", "channel")


@dataclass(frozen=True, slots=True)
class Faces:
    """The triangles of a mesh: axis 0 is the face."""

    name = "face"

    @property
    def axes(self) -> tuple[str, ...]:
        return ("face", "channel")


Domain = Grid | Point | Nodes | Edges | Pairs | Graphs | Steps | Vertices | Faces


@dataclass(frozen=True, slots=True)
class Scalar:
    """Every channel is a scalar field: the point group moves places, never mixes channels.

    `intensity` marks measured grey values (an input image): brightness acts on these alone.
    """

    intensity: bool = False

    @property
    def size(self) -> int:
        return 1

    def __str__(self) -> str:
        return "intensity" if self.intensity else "scalar"


@dataclass(frozen=True, slots=True)
class Regular:
    """Channels come in blocks of |H|, one per group element, permuted by h: channel = field * |H| + index."""

    group: FiniteGroup

    @property
    def size(self) -> int:
        return self.group.order

    def __str__(self) -> str:
        return f"regular({self.group.name})"


@dataclass(frozen=True, slots=True)
class NodeIndex:
    """The values are numbers of nodes, as in edge_index: relabelling the nodes relabels the values."""

    size = 1

    def __str__(self) -> str:
        return "index"


@dataclass(frozen=True, slots=True)
class Strands:
    """Channels come in pairs, one for each strand of DNA: channel c and its mirror from the end belong together."""

    size = 2

    def __str__(self) -> str:
        return "strands"


@dataclass(frozen=True, slots=True)
class Tangent:
    """Channels come in blocks of tangent features of these orders, in the frame of their vertex.

    Order 0 is a scalar, one channel; order m > 0 is a pair of channels that turns by m a when the frame turns by -a:
    rho_m(a) = [[cos ma, -sin ma], [sin ma, cos ma]] (de Haan et al., "Gauge Equivariant Mesh CNNs", 2021, section 3).
    """

    orders: tuple[int, ...] = (1,)

    @property
    def size(self) -> int:
        return sum(1 if m == 0 else 2 for m in self.orders)

    def __str__(self) -> str:
        return f"tangent({','.join(map(str, self.orders))})"


@dataclass(frozen=True, slots=True)
class Ambient:
    """Three coordinates in space, which motions of space move: a "position" is shifted too, a "vector" only turned."""

    kind: str = "position"
    size = 3

    def __str__(self) -> str:
        return self.kind


@dataclass(frozen=True, slots=True)
class Direction:
    """Angles in radians, seen in the frame of the vertex that an edge leads to: a turned frame lowers them."""

    size = 1

    def __str__(self) -> str:
        return "direction"


@dataclass(frozen=True, slots=True)
class Transporter:
    """Angles in radians by which a tangent vector turns when it is carried along an edge, from frame to frame."""

    size = 1

    def __str__(self) -> str:
        return "transporter"


@dataclass(frozen=True, slots=True)
class Patch:
    """What stands at each place of a geodesic patch, (vertices, radii, directions, 3).

    `holds` says whether these are the "corner"s of the faces in which the geodesics end (numbers of vertices) or the
    "weight"s of these corners. Directions are counted from the frame's first axis.
    """

    holds: str = "weight"
    size = 1

    def __str__(self) -> str:
        return f"patch {self.holds}"


@dataclass(frozen=True, slots=True)
class Metric:
    """Lengths, areas and weights that follow from them: only what stretches the surface changes them."""

    size = 1

    def __str__(self) -> str:
        return "metric"


@dataclass(frozen=True, slots=True)
class Frame:
    """The two axes of the tangent plane in space, (vertices, 2, 3)."""

    size = 6

    def __str__(self) -> str:
        return "frame"


Representation = (
    Scalar | Regular | NodeIndex | Strands | Tangent | Ambient | Direction | Transporter | Patch | Metric | Frame
)


@dataclass(frozen=True, slots=True)
class FieldType:
    """A domain and a representation; `guessed` when inferred rather than declared by the model."""

    domain: Domain
    rep: Representation = Scalar()
    guessed: bool = False

    @property
    def axes(self) -> tuple[str, ...]:
        match self.rep:
            case Patch():
                return ("vertex", "radius", "direction", "corner")
            case Frame():
                return ("vertex", "axis", "coordinate")
            case NodeIndex() if isinstance(self.domain, Edges):
                return ("node", "edge")
            case _:
                return self.domain.axes

    @property
    def relational(self) -> bool:
        """Whether it lies on a graph or a mesh: on nodes or vertices, edges, faces, pairs, or the graph as a whole."""
        return isinstance(self.domain, Nodes | Edges | Pairs | Graphs | Faces)

    @property
    def unbatched(self) -> bool:
        """Whether axis 0 is no batch: one graph or one sequence at a time."""
        return self.relational or isinstance(self.domain, Steps)

    @property
    def invariant(self) -> bool:
        """Whether nothing moves under any point-group element."""
        return isinstance(self.domain, Point | Graphs) and isinstance(self.rep, Scalar)

    @property
    def spacing(self) -> float:
        return self.domain.spacing if isinstance(self.domain, Grid) else 1.0

    def at_spacing(self, spacing: float) -> FieldType:
        return replace(self, domain=replace(self.domain, spacing=spacing)) if isinstance(self.domain, Grid) else self

    def guess(self) -> FieldType:
        return replace(self, guessed=True)

    def declared(self) -> FieldType:
        return replace(self, guessed=False)

    def __str__(self) -> str:
        if isinstance(self.domain, Point):
            return "invariant" if self.rep == Scalar() else f"point {self.rep}"
        if not isinstance(self.domain, Grid):
            axis = f" on axis {self.domain.axis}" if isinstance(self.domain, Steps) and self.domain.axis else ""
            return f"{self.domain.name} {self.rep}{axis}"
        flat = f" flat {self.domain.flat[0]}x{self.domain.flat[1]}" if self.domain.flat else ""
        spacing = f" /{_shortest(self.domain.spacing)}" if self.domain.spacing != 1.0 else ""
        return f"grid {self.rep}{spacing}{flat}"


def _shortest(value: float) -> str:
    """Return the shortest text that float() reads as `value`: 2, not 2.0, and all digits of 1/3."""
    return text if float(text := f"{value:g}") == value else repr(float(value))


INVARIANT = FieldType(Point())
NODE = FieldType(Nodes())  # (nodes, ...)
EDGE = FieldType(Edges())  # (edges, ...)
PAIR = FieldType(Pairs())  # (..., nodes, nodes)
STEP = FieldType(Steps())  # (steps, ...)
STEP_INPUT = FieldType(Steps(), Scalar(intensity=True))
GRAPH = FieldType(Graphs())  # (graphs, ...)
NODE_INPUT = FieldType(Nodes(), Scalar(intensity=True))
EDGE_INPUT = FieldType(Edges(), Scalar(intensity=True))
EDGE_INDEX = FieldType(Edges(), NodeIndex())  # (2, edges): from, to
VERTEX = FieldType(Vertices())  # (vertices, ...)
VERTEX_INPUT = FieldType(Vertices(), Scalar(intensity=True))
VERTEX_POSITION = FieldType(Vertices(), Ambient("position"))  # (vertices, 3)
FACES = FieldType(Faces(), NodeIndex())  # (faces, 3): corners
EDGE_DIRECTION = FieldType(Edges(), Direction())  # (edges,)
EDGE_TRANSPORTER = FieldType(Edges(), Transporter())  # (edges,)
EDGE_METRIC = FieldType(Edges(), Metric())  # (edges,)
VERTEX_METRIC = FieldType(Vertices(), Metric())  # (vertices,)
VERTEX_FRAME = FieldType(Vertices(), Frame())  # (vertices, 2, 3)
PATCH_CORNER = FieldType(Vertices(), Patch("corner"))  # (vertices, radii, directions, 3)
PATCH_WEIGHT = FieldType(Vertices(), Patch("weight"))


def domain_word(domain: str) -> str:
    """Return what the domain of a sample, card or transform is called in a sentence: "grid", "graph", "sequence"."""
    return "sequence" if domain == "time" else domain


def grid(rep: Representation | None = None, spacing: float = 1.0) -> FieldType:
    """Return a grid field, scalar unless `rep` says otherwise."""
    return FieldType(Grid(spacing), rep or Scalar())


def regular(name: str, spacing: float = 1.0) -> FieldType:
    """Return a grid field in the regular representation of the group called `name`."""
    return FieldType(Grid(spacing), Regular(group(name)))
