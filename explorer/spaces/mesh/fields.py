"""Fields on meshes: at vertices, in their frames, at faces; and what a surface is described by."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.declare.types.fields import Domain, FieldType, Representation, Scalar
from explorer.spaces.graph.fields import Edges, NodeIndex, Nodes


@dataclass(frozen=True, slots=True)
class Vertices(Nodes):
    """The vertices of a triangle mesh: axis 0 is the vertex; a renumbering moves them as it moves nodes."""

    name = "vertex"
    space = "mesh"
    fibred = True

    @property
    def axes(self) -> tuple[str, ...]:
        return ("vertex", "channel")


@dataclass(frozen=True, slots=True)
class Faces(Domain):
    """The triangles of a mesh: axis 0 is the face."""

    name = "face"
    batched = False

    @property
    def axes(self) -> tuple[str, ...]:
        return ("face", "channel")


@dataclass(frozen=True, slots=True)
class Tangent(Representation):
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
class Ambient(Representation):
    """Three coordinates in space, which motions of space move: a "position" is shifted too, a "vector" only turned."""

    kind: str = "position"
    size = 3

    def __str__(self) -> str:
        return self.kind


@dataclass(frozen=True, slots=True)
class Direction(Representation):
    """Angles in radians, seen in the frame of the vertex that an edge leads to: a turned frame lowers them."""

    def __str__(self) -> str:
        return "direction"


@dataclass(frozen=True, slots=True)
class Transporter(Representation):
    """Angles in radians by which a tangent vector turns when it is carried along an edge, from frame to frame."""

    def __str__(self) -> str:
        return "transporter"


@dataclass(frozen=True, slots=True)
class Patch(Representation):
    """The values at each place of a geodesic patch, (vertices, radii, directions, 3).

    `holds` says whether these are the "corner"s of the faces in which the geodesics end (numbers of vertices) or the
    "weight"s of these corners. Directions are counted from the frame's first axis.
    """

    holds: str = "weight"

    def axes(self, domain: Domain) -> tuple[str, ...]:
        return ("vertex", "radius", "direction", "corner")

    def __str__(self) -> str:
        return f"patch {self.holds}"


@dataclass(frozen=True, slots=True)
class Metric(Representation):
    """Lengths, areas and weights that follow from them: only what stretches the surface changes them."""

    def __str__(self) -> str:
        return "metric"


@dataclass(frozen=True, slots=True)
class TangentFrame(Representation):
    """The two axes of the tangent plane in space, (vertices, 2, 3)."""

    size = 6

    def axes(self, domain: Domain) -> tuple[str, ...]:
        return ("vertex", "axis", "coordinate")

    def __str__(self) -> str:
        return "frame"


VERTEX = FieldType(Vertices())  # (vertices, ...)
VERTEX_INPUT = FieldType(Vertices(), Scalar(intensity=True))
VERTEX_POSITION = FieldType(Vertices(), Ambient("position"))  # (vertices, 3)
FACES = FieldType(Faces(), NodeIndex())  # (faces, 3): corners
EDGE_DIRECTION = FieldType(Edges(), Direction())  # (edges,)
EDGE_TRANSPORTER = FieldType(Edges(), Transporter())  # (edges,)
EDGE_METRIC = FieldType(Edges(), Metric())  # (edges,)
VERTEX_METRIC = FieldType(Vertices(), Metric())  # (vertices,)
VERTEX_FRAME = FieldType(Vertices(), TangentFrame())  # (vertices, 2, 3)
PATCH_CORNER = FieldType(Vertices(), Patch("corner"))  # (vertices, radii, directions, 3)
PATCH_WEIGHT = FieldType(Vertices(), Patch("weight"))
