"""Inputs of a network, from plain tensors or arrays: what `check_equivariance` takes as its data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import FieldType, Representation, Scalar
from explorer.network.input.inputs import inputs_from
from explorer.spaces.graph.fields import EDGE, EDGE_INDEX, GRAPH, NODE, NODE_INPUT
from explorer.spaces.grid.fields import grid
from explorer.spaces.mesh.network.fit import fit_mesh
from explorer.spaces.mesh.network.form import MESH_SIGNALS, MeshInput
from explorer.spaces.mesh.sample import mesh_sample
from explorer.spaces.points.fields import POSITION, VECTOR, Particles
from explorer.spaces.points.network.inputs import KNOWN as POINT_SIGNALS
from explorer.spaces.sequence.network.form import LAYOUTS
from explorer.spaces.sequence.network.inputs import sequence_inputs

Values = Tensor | NDArray[np.generic]
# what a graph may have beside x and edge_index
SIGNALS = {"edge_attr": EDGE, "edge_weight": EDGE, "position": NODE, "batch": NODE, "u": GRAPH}


def image(x: Values, field: FieldType | None = None) -> Inputs:
    """Return images as inputs.

    Args:
        x: (batch, channel, height, width); without a batch it is one image, without channels a grey one.
        field: what the channels are, such as `equiscope.fields.regular("C4")`; default: scalars.

    Raises:
        TypeError: no tensor, or a field that is none.
        ValueError: another number of axes, or whole numbers.
    """
    values = _real(x, "image", "x.float() / 255 makes an image of bytes real")
    if not 2 <= values.ndim <= 4:
        raise ValueError(f"an image has the shape (batch, channel, height, width), and x has {_shape(values)}")
    return Inputs((values[(None,) * (4 - values.ndim)],), (field or grid(Scalar()),))


def sequence(x: Values, layout: str = "TC", rep: Representation | None = None) -> Inputs:
    """Return one sequence as inputs.

    Args:
        x: (steps, channels), or (steps,) for one channel; symbols are one-hot.
        layout: the axes in which the network takes it, T steps, C channels and N a batch of one: "TC", "CT", "NTC",
            "TNC" or "NCT".
        rep: what the channels are, such as `equiscope.fields.Strands()` of DNA; default: scalars.

    Raises:
        ValueError: another number of axes, whole numbers, or no such layout.
    """
    values = _real(x, "sequence", "torch.nn.functional.one_hot(x).float() makes numbers of symbols")
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2:
        one = "; give one sequence of a batch, x[0], and its layout" if values.ndim == 3 else ""
        raise ValueError(f"a sequence has the shape (steps, channels), and x has {_shape(values)}{one}")
    if layout not in LAYOUTS:
        raise ValueError(f"the layout of a sequence is one of {', '.join(LAYOUTS)}, not {layout!r}")
    return sequence_inputs(values, layout, rep)


def graph(x: Values, edge_index: Values | None = None, **signals: Values) -> Inputs:
    """Return a graph as inputs, or a set where it has no edges; the network is called with x, edge_index, signals.

    Args:
        x: (nodes, channels).
        edge_index: (2, edges), the node that an edge comes from and the one that it leads to; None where the network
            takes no edges.
        signals: in the order of the call, `edge_attr` (edges, channels), `edge_weight` (edges,), `position` (nodes,
            dimensions), `batch` (nodes,) and `u` (graphs, channels).

    Raises:
        ValueError: another shape, an edge to a node that is not there, or a name that is none of these.
    """
    nodes = _real(x, "graph", "x.float() makes its attributes real")
    if nodes.ndim != 2:
        raise ValueError(f"x of a graph has the shape (nodes, channels), and this one has {_shape(nodes)}")
    values, fields, names = [nodes], [NODE_INPUT], ["x"]
    edges = 0
    if edge_index is not None:
        index = _tensor(edge_index, "edge_index")
        if index.ndim != 2 or index.shape[0] != 2 or index.is_floating_point():
            kind = "real" if index.is_floating_point() else "whole"
            raise ValueError(f"edge_index has whole numbers of shape (2, edges), not {kind} ones of {_shape(index)}")
        if index.numel() and not 0 <= int(index.min()) <= int(index.max()) < len(nodes):
            raise ValueError(
                f"edge_index names the nodes {int(index.min())} to {int(index.max())}, and x has {len(nodes)}, from 0"
            )
        edges = index.shape[1]
        values, fields, names = [*values, index.long()], [*fields, EDGE_INDEX], [*names, "edge_index"]
    for name, signal in signals.items():
        if name not in SIGNALS:
            raise ValueError(f"a graph has no {name!r}, but {', '.join(SIGNALS)}; Inputs takes a tensor of any field")
        value, field = _tensor(signal, name), SIGNALS[name]
        rows = {EDGE: edges, NODE: len(nodes)}.get(field)
        if value.ndim == 0 or (rows is not None and len(value) != rows):
            of = "edges" if field == EDGE else "nodes"
            raise ValueError(f"{name} has the shape {_shape(value)}, and there are {rows or 0} {of}")
        values, fields, names = [*values, value], [*fields, field], [*names, name]
    return Inputs(tuple(values), tuple(fields), tuple(names))


def points(**signals: Values) -> Inputs:
    """Return points in space as inputs; the network is called with the signals in this order.

    Args:
        signals: `position` (points, 3), which a motion moves; `velocity` (points, 3), which it turns; `x` (points,
            channels), `charge` (points, 1), `number` (points,) and `batch` (points,), which it leaves alone;
            `edge_index` (2, edges), and `edge_attr` (edges, channels), which it leaves alone.

    Raises:
        ValueError: no position, another shape, or a name that is none of these.
    """
    if "position" not in signals:
        raise ValueError("points need position=, (points, 3), where they are")
    values = {name: _tensor(value, name) for name, value in signals.items()}
    count = len(values["position"])
    for name, value in values.items():
        if name not in POINT_SIGNALS:
            known = ", ".join(POINT_SIGNALS)
            raise ValueError(f"points have no {name!r}, but {known}; Inputs takes a tensor of any field")
        field = POINT_SIGNALS[name]
        three = field in (POSITION, VECTOR)
        rows = count if isinstance(field.domain, Particles) else None
        if value.ndim == 0 or (rows is not None and len(value) != rows) or (three and value.shape[1:] != (3,)):
            wanted = "(points, 3)" if three else f"({count}, ...)"
            raise ValueError(f"{name} has the shape {_shape(value)}, and {wanted} is needed")
    return Inputs(tuple(values.values()), tuple(POINT_SIGNALS[name] for name in values), tuple(values))


def mesh(
    vertices: Values,
    faces: Values,
    signals: Sequence[str] = ("x", "edge_index", "radius", "angle", "transport"),
    *,
    x: Values | None = None,
    field: FieldType | None = None,
    features: str = "hks",
    channels: int | None = None,
    gauge: str = "edge",
    radii: int = 4,
    directions: int = 16,
    reach: float = 0.08,
) -> Inputs:
    """Return a triangle mesh as inputs, in double precision: the network is called with `signals`, in this order.

    Args:
        vertices: (vertices, 3) positions.
        faces: (faces, 3) numbers of vertices, counter-clockwise seen from outside.
        signals: "x" first, then any of "edge_index", "radius", "angle", "transport", "cotan", "mass", "patch_index",
            "patch_weight", "faces" and "position"; `equiscope.cards.MeshInput` says what each is.
        x: (vertices, channels) features of one's own, in place of `features`.
        field: what the channels of x are, such as a `Tangent` field; default: scalars.
        features, channels: what x is made of ("hks", "curvature", "constant", "position" or "gradient"), and how wide.
        gauge: the rule that chooses the frames: "edge", "principal" or "gradient".
        radii, directions, reach: places and radius of a geodesic patch.

    Raises:
        ValueError: shapes that do not fit, no surface, or a signal that a mesh does not have.
    """
    unknown = [name for name in signals if name not in MESH_SIGNALS]
    if isinstance(signals, str) or unknown or tuple(signals[:1]) != ("x",):
        raise ValueError(f"signals of a mesh begin with 'x' and are some of {', '.join(MESH_SIGNALS)}, not {signals!r}")
    more = {}
    if x is not None:
        own = _real(x, "mesh", "x.float() makes its features real").detach().cpu().double()
        if own.ndim not in (1, 2) or len(own) != len(vertices):
            raise ValueError(f"x of a mesh has the shape ({len(vertices)}, channels), and this one has {_shape(own)}")
        more["scalar:x"], features = own.numpy(), "scalar:x"
    given = _tensor(vertices, "vertices"), _tensor(faces, "faces")
    if given[1].is_floating_point():
        raise ValueError("faces are whole numbers, those of their vertices, and these are real ones")
    places, corners = (v.detach().cpu().numpy() for v in given)
    spec = MeshInput(channels, tuple(signals), features, gauge, radii, directions, reach)
    sample = fit_mesh(mesh_sample("mesh", places, corners, more=more), spec)
    made = inputs_from(sample, spec, torch.device("cpu"), torch.float64)
    return made if field is None else replace(made, fields=(field, *made.fields[1:]))


def _real(x: Values, what: str, how: str) -> Tensor:
    """Return a tensor of real numbers."""
    values = _tensor(x, f"x of {what}()")
    if not values.is_floating_point():
        kind = str(values.dtype).removeprefix("torch.")
        raise ValueError(f"x of {what}() holds {kind} values, and real numbers are needed; {how}")
    return values


def _tensor(values: Values, name: str) -> Tensor:
    """Return a tensor; lists of numbers are taken too."""
    try:
        return torch.as_tensor(values)
    except (TypeError, ValueError, RuntimeError):
        kind = type(values).__name__
        raise TypeError(f"{name} is a tensor, an array or lists of equal lengths, not this {kind}") from None


def _shape(values: Tensor) -> str:
    return str(tuple(values.shape))
