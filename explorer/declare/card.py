"""What a model file says of itself. A model is ONE file in models/ that exports ONE constant, CARD."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from explorer.declare.fields import FieldType, Scalar, grid
from explorer.declare.params import Param

if TYPE_CHECKING:
    from torch import nn


IMAGE = grid(Scalar(intensity=True))


@dataclass(frozen=True, slots=True)
class InputSpec:
    """What the network eats: a grid signal of `shape` (channels, height, width); None means any size."""

    shape: tuple[int, int | None, int | None] = (1, None, None)
    field: FieldType = IMAGE


@dataclass(frozen=True, slots=True)
class GraphInput:
    """What a network on graphs or sets eats: it is called with `signals` of the sample, in this order.

    Attributes:
        channels: width of x, (nodes, channels); None takes what the sample has.
        signals: "x", "edge_index", "edge_attr", "edge_weight", "position", "batch". Missing weights are ones, a
            missing batch is all zeros, and a missing edge_attr is one column of the weights.
        edge_channels: width of edge_attr, where it is asked for.
        features: what x is made of ("seeds", "atoms", "degree", "position", "constant":
            `explorer.spaces.graph.features`) where the sample has no attributes of that width.
        columns: names of the columns of x, found by name where the sample names its own; with `channels` None they
            are the first ones, and all others of the sample follow.
        most: the largest number of nodes that the network is made for (dense attention), or None.
    """

    channels: int | None = None
    signals: tuple[str, ...] = ("x", "edge_index")
    edge_channels: int | None = None
    features: str = "seeds"
    most: int | None = None
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SequenceInput:
    """What a network on sequences eats: x of shape (steps, channels), without a batch axis unless `layout` has one.

    Attributes:
        channels: width of x; None takes what the sample has.
        kind: "values" (a time series), "tokens" (one-hot symbols) or "dna" (one-hot A, C, G, T).
        most: the largest number of steps that the network is made for, or None.
        layout: the axes of x: T steps, C channels, N a batch of one; "NTC", "TNC" or "NCT" for a network that has one.
        columns: names of the columns of tokens, found by name where the sample names its own.
        unknown: which of them takes the tokens that are none of them.
    """

    channels: int | None = None
    kind: str = "values"
    most: int | None = None
    layout: str = "TC"
    columns: tuple[str, ...] = ()
    unknown: str | None = None


@dataclass(frozen=True, slots=True)
class MeshInput:
    """What a network on meshes eats: it is called with `signals` of the surface, in this order.

    Attributes:
        channels: width of x, (vertices, channels).
        signals: "x", "edge_index" (2, E), "radius", "angle" and "transport" (E,): polar coordinates of the neighbour
            in the frame of the vertex that an edge leads to, and what carries tangent vectors there; "cotan" (E,) and
            "mass" (vertices,) of the Laplacian; "patch_index" and "patch_weight" (vertices, radii, directions, 3);
            "position" (vertices, 3).
        features: what x is made of (`explorer.spaces.mesh.fit`): "hks", "curvature", "constant", "position",
            "gradient" (a tangent field), or signals of the sample such as "scalar:height".
        gauge: the rule that chooses the frames: "edge" (an arbitrary edge of each vertex), "principal" (the direction
            of the largest curvature) or "gradient" (of an intrinsic function).
        radii, directions: places of a geodesic patch.
        reach: radius of a patch, as a share of the square root of the surface's area.
        most: the largest number of vertices that the network is made for, or None.
    """

    channels: int | None = None
    signals: tuple[str, ...] = ("x", "edge_index", "radius", "angle", "transport")
    features: str = "hks"
    gauge: str = "edge"
    radii: int = 4
    directions: int = 16
    reach: float = 0.08
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """A model's self-description.

    Attributes:
        name: unique, lower case, words joined by '-'; the name on the command line.
        title: a few words for the gallery.
        rows: ids of docs/systems.md that this model covers, such as ("G7",).
        groups: the symmetries the network *claims*, checked by `check` and by the contract tests; each is the
            name of a finite point group ("C4", "D4") or "translation". Empty: no law is claimed.
        reference: author, title, year, section or equation.
        equation: the defining equations, as plain text with Unicode mathematics, one per line.
        summary: two or three sentences: what it is and what to look for in the window.
        build: makes the network with fresh parameters; takes the values of `params` as keywords.
        input: what the network eats.
        domain: "grid", "graph", "set", "mesh" or "time".
        weights: file name in resources/weights of the trained parameters, or None.
        labels: names of the outputs, in order, or empty.
        params: what can be set when building (depth, step size, pooling, ...); each becomes a control.
        sample: the sample shown first.
        boundary: the boundary on which its translation law is exact: "circular" or "zero".
        train: trains and returns (network, metrics by name); takes epochs, seed and a progress callback.
        source: the classes and functions whose source the equation page shows; default: `build`.
        matrix: returns {title: 2-D array} of the linear operators worth drawing (the weight-matrix view).
        notes: lines shown under the summary, such as measured test errors.
    """

    name: str
    title: str
    rows: tuple[str, ...]
    reference: str
    equation: str
    summary: str
    build: Callable[..., nn.Module]
    groups: tuple[str, ...] = ()
    input: InputSpec | GraphInput | SequenceInput | MeshInput = InputSpec()
    domain: str = "grid"
    weights: str | None = None
    labels: tuple[str, ...] = ()
    params: tuple[Param, ...] = ()
    sample: str = "digit-3"
    boundary: str = "circular"
    train: Callable[..., tuple[nn.Module, Mapping[str, float]]] | None = None
    source: tuple[Any, ...] = ()
    matrix: Callable[[nn.Module], Mapping[str, Any]] | None = None
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """The part of a card that crosses to the window and to `list models --json`: plain values only."""

    name: str
    title: str
    domain: str
    groups: tuple[str, ...]
    rows: tuple[str, ...]
    reference: str
    equation: str
    summary: str
    notes: tuple[str, ...]
    params: tuple[Param, ...]
    sample: str
    labels: tuple[str, ...]
    input_shape: tuple[int | str | None, ...]
    trained: bool
    trainable: bool
    source: str = ""
