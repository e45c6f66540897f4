"""State what a network on meshes takes."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.network.input.ways import Called

# what a surface alone has; whoever asks for one of these is called with a mesh
OF_A_SURFACE = ("radius", "angle", "transport", "cotan", "mass", "patch_index", "patch_weight", "faces")
MESH_SIGNALS = ("x", "edge_index", *OF_A_SURFACE, "position")
GAUGES = ("edge", "principal", "gradient")
CORNERS = ("rows", "columns")
FEATURES = ("hks", "curvature", "constant", "position", "gradient")


@dataclass(frozen=True, slots=True)
class MeshInput(Called):
    """Call a network on meshes with `signals` of the surface, in this order.

    Attributes:
        channels: width of x, (vertices, channels).
        signals: "x", "edge_index" (2, E), "radius", "angle" and "transport" (E,): polar coordinates of the neighbour
            in the frame of the vertex that an edge leads to, and what carries tangent vectors there; "cotan" (E,) and
            "mass" (vertices,) of the Laplacian; "patch_index" and "patch_weight" (vertices, radii, directions, 3);
            "position" (vertices, 3); "faces" (faces, 3), numbers of vertices. The first of x and position is drawn as
            the input.
        features: what x is made of (`explorer.spaces.mesh.network.fit`): "hks", "curvature", "constant", "position",
            "gradient" (a tangent field), or signals of the sample such as "scalar:height".
        gauge: the rule that chooses the frames: "edge" (an arbitrary edge of each vertex), "principal" (the direction
            of the largest curvature) or "gradient" (of an intrinsic function).
        radii, directions: places of a geodesic patch.
        reach: radius of a patch, as a share of the square root of the surface's area.
        corners: those of a face lie in "rows", (faces, 3), or in "columns", (3, faces), as torch_geometric has them.
        most: the largest number of vertices that the network is made for, or None.
    """

    space = "mesh"
    data = "mesh"

    channels: int | None = None
    signals: tuple[str, ...] = ("x", "edge_index", "radius", "angle", "transport")
    features: str = "hks"
    gauge: str = "edge"
    radii: int = 4
    directions: int = 16
    reach: float = 0.08
    most: int | None = None
    corners: str = CORNERS[0]

    @property
    def drawn(self) -> str:
        """Return the first of x and position, or what is first."""
        return next((s for s in self.signals if s in ("x", "position")), self.signals[0])
