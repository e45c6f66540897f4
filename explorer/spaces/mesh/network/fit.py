"""Samples of meshes fitted to what a network takes: features of vertices, lengths, angles, transporters, patches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from explorer.data.kinds import of_another_kind
from explorer.declare.samples import Sample, Signal
from explorer.declare.telling.counting import number_of
from explorer.declare.types.fields import FieldType
from explorer.spaces.graph.fields import EDGE_INDEX
from explorer.spaces.mesh.fields import (
    EDGE_DIRECTION,
    EDGE_METRIC,
    EDGE_TRANSPORTER,
    FACES,
    PATCH_CORNER,
    PATCH_WEIGHT,
    VERTEX_FRAME,
    VERTEX_INPUT,
    VERTEX_METRIC,
    VERTEX_POSITION,
    Tangent,
    Vertices,
)
from explorer.spaces.mesh.network.form import MeshInput
from explorer.spaces.mesh.surface import Surface
from explorer.work.budget import Table, materials

Floats = NDArray[np.float64]
KEPT = 6  # surfaces beside each other, as long as they have room: factors of one of 10,000 vertices take 130 MB
IN_USE = 2  # the upright one and the moved one
HKS_TIMES = np.geomspace(0.005, 1.0, 16)  # of heat kernel signatures, in units of area / 4 pi


def fit_mesh(sample: Sample, wanted: MeshInput) -> Sample:
    """Return the sample with every signal that a network on meshes is called with, made from its surface.

    The positions, the faces, the edges and the axes of the frames always come along: what moves the mesh needs them.

    Raises:
        ValueError: no mesh, more vertices than the network takes, or features that this mesh does not have.
    """
    if sample.domain != "mesh":
        raise of_another_kind(sample, "mesh")
    position = np.asarray(sample.signals["position"].values, np.float64)
    if wanted.most is not None and len(position) > wanted.most:
        raise ValueError(
            f"{sample.name!r} has {len(position):,} vertices, and this network takes at most {wanted.most:,}; "
            "open a coarser mesh"
        )
    return refitted(sample, wanted, position, np.asarray(sample.signals["faces"].values))


def refitted(
    sample: Sample, wanted: MeshInput, position: Floats, faces: NDArray[np.int64], axes: Floats | None = None
) -> Sample:
    """Return the sample with its signals made anew on other positions, faces, or (vertices, 2, 3) axes of frames."""
    surface = surface_of(position, faces, wanted.gauge)
    if axes is not None:
        surface = surface.turned(angle_between(surface.frames, axes, surface.normals))
    notes = []
    made: dict[str, Signal] = {}
    for name in dict.fromkeys((*wanted.signals, "position", "faces", "axes", "edge_index")):
        made.update(_signal(name, surface, sample, wanted))
    if wanted.gauge != "edge" and (open_to := int((surface.ambiguity > 0.9).sum())):
        notes.append(f"the {wanted.gauge} gauge is not determined at {open_to} of {len(position)} vertices")
    first = {name: made.pop(name) for name in ("x", "position") if name in made}
    kept = {name: signal for name, signal in sample.signals.items() if name not in made and name not in first}
    return replace(sample, signals=MappingProxyType(first | made | kept), notes=sample.notes + tuple(notes))


def derived(name: str, wanted: MeshInput) -> bool:
    """Return whether a signal follows from the surface, so that another surface gives another one."""
    return not name.startswith("pose:") and (name != "x" or wanted.features in {*_FEATURES, "position", "gradient"})


_surfaces: Table[tuple[int, ...], Surface] = Table(materials, KEPT)


def surface_of(position: Floats, faces: NDArray[np.int64], gauge: str = "edge") -> Surface:
    """Return the surface of these vertices and faces; the last few are kept, for they hold what is dear to make."""
    from hashlib import blake2b

    digest = blake2b(np.ascontiguousarray(position).tobytes(), digest_size=12)
    digest.update(np.ascontiguousarray(faces).tobytes())
    key = (*digest.digest(), *gauge.encode())
    surface = _surfaces.used(key)
    if surface is None:
        surface = Surface(position, faces, gauge)
        _surfaces.store(key, surface, in_use=IN_USE)
    return surface


def angle_between(frames: Floats, others: Floats, normals: Floats) -> Floats:
    """Return by how much each frame (vertices, 2, 3) must be turned about its normal to point as the other does."""
    along = others[:, 0] - (others[:, 0] * normals).sum(1, keepdims=True) * normals
    found: Floats = np.arctan2((along * frames[:, 1]).sum(1), (along * frames[:, 0]).sum(1))
    return found


def _signal(name: str, surface: Surface, sample: Sample, wanted: MeshInput) -> dict[str, Signal]:
    if name.startswith("patch"):
        reach = wanted.reach * float(np.sqrt(surface.mass.sum()))
        index, weight = surface.patch_arrays(wanted.radii, wanted.directions, reach)
        return {"patch_index": Signal(index, PATCH_CORNER), "patch_weight": Signal(weight, PATCH_WEIGHT)}
    match name:
        case "x":
            return {"x": _features(surface, sample, wanted)}
        case "position":
            return {name: Signal(np.array(surface.vertices), VERTEX_POSITION)}
        case "faces":
            return {name: Signal(np.array(surface.faces), FACES)}
        case "axes":
            return {name: Signal(np.array(surface.frames), VERTEX_FRAME)}
        case "edge_index":
            return {name: Signal(np.array(surface.edges), EDGE_INDEX)}
        case _:
            fields: dict[str, FieldType] = {
                "radius": EDGE_METRIC, "angle": EDGE_DIRECTION, "transport": EDGE_TRANSPORTER, "cotan": EDGE_METRIC,
                "mass": VERTEX_METRIC,
            }  # fmt: skip
            return {name: Signal(np.array(getattr(surface, name)), fields[name])}


def _hks(surface: Surface, sample: Sample) -> Floats:
    """Heat kernel signatures, logarithmic, each time with mean 0 and deviation 1 over the surface."""
    found = np.log(np.maximum(surface.heat_kernel_signature(HKS_TIMES), 1e-12))
    return _standard(found, surface.mass)


def _curvature(surface: Surface, sample: Sample) -> Floats:
    """Gaussian curvature times area, squashed: tanh of the angle defect over its own deviation."""
    defect = surface.angle_defect / np.maximum(surface.mass, 1e-12) * surface.mass.mean()
    found: Floats = np.tanh(defect / max(float(defect.std()), 1e-12))[:, None]
    return found


def _standard(values: Floats, mass: Floats) -> Floats:
    weight = mass[:, None] / mass.sum()
    centred = values - (weight * values).sum(0)
    found: Floats = centred / np.maximum(np.sqrt((weight * centred**2).sum(0)), 1e-9)
    return found


_FEATURES: Mapping[str, Callable[[Surface, Sample], Floats]] = {
    "hks": _hks,
    "curvature": _curvature,
    "constant": lambda surface, sample: np.ones((len(surface.vertices), 1)),
}


def _features(surface: Surface, sample: Sample, wanted: MeshInput) -> Signal:
    kind = wanted.features
    if kind == "position":
        return Signal(np.array(surface.vertices), VERTEX_POSITION)
    if kind == "gradient":
        return Signal(gradient_field(surface), FieldType(Vertices(), Tangent((1,))))
    if kind in _FEATURES:
        values = _FEATURES[kind](surface, sample)
    elif kind in sample.signals:
        values = np.asarray(sample.signals[kind].values, np.float64)
        values = values[:, None] if values.ndim == 1 else values
    else:
        known = ", ".join([*_FEATURES, "position", "gradient"])
        raise ValueError(f"{sample.name!r} has no {kind!r} at its vertices; known features are {known}")
    if wanted.channels is not None and values.shape[1] != wanted.channels:
        if values.shape[1] < wanted.channels:
            raise ValueError(
                f"{kind!r} has {number_of(values.shape[1], 'channel')}, and this network takes {wanted.channels}"
            )
        # equally spaced, so that short and long times of heat are both there
        values = values[:, np.linspace(0, values.shape[1] - 1, wanted.channels).round().astype(int)]
    return Signal(np.ascontiguousarray(values), VERTEX_INPUT)


def gradient_field(surface: Surface) -> Floats:
    """Return the direction in which the middle heat kernel signature grows, (vertices, 2) in each vertex's frame.

    Least squares over the edges: the tangent vector g that best says f_j - f_i = g . log_i(j) for all neighbours j.
    """
    f = _hks(surface, Sample("", "mesh", {}))[:, len(HKS_TIMES) // 2]
    source, target = surface.edges
    along = surface.radius[:, None] * np.stack([np.cos(surface.angle), np.sin(surface.angle)], 1)
    n = len(surface.vertices)
    normal, right = np.zeros((n, 2, 2)), np.zeros((n, 2))
    np.add.at(normal, target, along[:, :, None] * along[:, None, :])
    np.add.at(right, target, along * (f[source] - f[target])[:, None])
    scale = np.trace(normal, axis1=1, axis2=2)[:, None, None]
    found: Floats = np.linalg.solve(normal + (1e-9 * scale + 1e-30) * np.eye(2), right[..., None])[..., 0]
    found *= np.sqrt(surface.mass.sum()) / 4
    return found
