"""Wrap a triangle mesh as a sample."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Array, Sample, Signal
from explorer.spaces.mesh.fields import FACES, VERTEX, VERTEX_POSITION


def mesh_sample(
    name: str,
    vertices: NDArray[np.floating],
    faces: NDArray[np.integer],
    *,
    labels: NDArray[np.integer] | None = None,
    label_names: tuple[str, ...] = (),
    poses: Mapping[str, NDArray[np.floating]] | None = None,
    more: Mapping[str, Array] | None = None,
    title: str = "",
    source: str = "",
    notes: tuple[str, ...] = (),
) -> Sample:
    """Wrap a triangle mesh, without checking that it is a surface (`explorer.spaces.mesh.surface.repair` does).

    Args:
        vertices: (vertices, 3) positions.
        faces: (faces, 3) numbers of vertices, counter-clockwise seen from outside.
        labels: (vertices,) known classes; -1 where unknown.
        label_names: what class 0, 1, ... is called.
        poses: other positions of the same vertices by name; they become the signals "pose:<name>".
        more: further values at each vertex by the name of their signal: "scalar:height", "label:side".

    Raises:
        ValueError: shapes that do not fit each other, a position that is not finite, a face with a vertex that is not
            there or twice the same.
    """
    places, corners = np.array(vertices, np.float64), np.array(faces, np.int64)
    for what, array in (("vertices", places), ("faces", corners)):
        if array.ndim != 2 or array.shape[1] != 3:
            raise ValueError(f"{name}: {what} must be ({what}, 3), got shape {array.shape}")
    outside = ((corners < 0) | (corners >= len(places))).any(1)
    twice = (corners == np.roll(corners, 1, 1)).any(1)
    for wrong, says in ((outside, f"but there are {len(places)} vertices (from 0)"), (twice, "twice the same")):
        if wrong.any():
            bad = int(np.argmax(wrong))
            raise ValueError(f"{name}: face {bad} joins vertices {', '.join(map(str, corners[bad]))}, {says}")
    if not len(corners):
        raise ValueError(f"{name}: there are no faces, and a mesh has at least one")
    signals = {"position": Signal(places, VERTEX_POSITION), "faces": Signal(corners, FACES)}
    given: dict[str, Array] = {} if labels is None else {"label": np.array(labels, np.int64)}
    given |= {f"pose:{key}": np.array(values, np.float64) for key, values in (poses or {}).items()}
    given |= {key: values.copy() for key, values in (more or {}).items()}
    for key, values in given.items():
        shape = places.shape if key.startswith("pose:") else (len(places), *values.shape[1:])
        if values.shape != shape:
            raise ValueError(f"{name}: {key} has shape {values.shape}, and there are {len(places)} vertices")
        signals[key] = Signal(values, VERTEX_POSITION if key.startswith("pose:") else VERTEX)
    for key, signal in signals.items():
        if not np.isfinite(signal.values).all():
            row = int(np.argwhere(~np.isfinite(signal.values))[0][0])
            raise ValueError(f"{name}: the {key} of vertex {row} is not finite")
    if label_names and labels is not None and int(np.max(labels, initial=-1)) >= len(label_names):
        raise ValueError(f"{name}: there is a class {int(np.max(labels))}, and {len(label_names)} names of classes")
    return Sample(
        name, "mesh", MappingProxyType(signals), title or name, None, source, notes, label_names=tuple(label_names)
    )
