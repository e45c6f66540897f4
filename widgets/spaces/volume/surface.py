"""Surfaces of equal value in a volume, by VTK's flying edges; imported when a picture is wanted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyvista
from numpy.typing import NDArray

Array = NDArray[Any]
SINGLE = 1e30  # values beyond which VTK's single precision, and what it multiplies, may be no numbers


def isosurface(volume: Array, level: float) -> tuple[Array, Array]:
    """Return vertices (V, 3) and faces (F, 3), counter-clockwise from outside, where a volume (z, y, x) has a value.

    x is to the right, y up and z along the slices, about the centre, a unit to a voxel. A rim of voxels of the value at
    the far side of the level closes what reaches the border.
    """
    finite = np.isfinite(volume)
    if not (finite.any() and np.isfinite(level)):
        return np.zeros((0, 3)), np.zeros((0, 3), np.int64)
    if not finite.all():  # what is no number is nothing, and what is infinite only large
        low, high = float(volume[finite].min()), float(volume[finite].max())
        volume = np.nan_to_num(volume, nan=low, posinf=max(high, level), neginf=min(low, level))
    if (largest := max(float(np.abs(volume).max()), abs(level))) > SINGLE:
        volume, level = volume / largest, level / largest
    rising = volume.max() > level
    if not rising or volume.min() >= level:
        return np.zeros((0, 3)), np.zeros((0, 3), np.int64)
    rim = np.pad(volume.astype(np.float32), 1, constant_values=float(volume.min()))
    upright = rim[:, ::-1]  # rows are counted downwards
    nz, ny, nx = upright.shape
    grid = pyvista.ImageData(dimensions=(nx, ny, nz), origin=tuple(-(n - 1) / 2 for n in (nx, ny, nz)))
    grid.point_data["values"] = upright.ravel()
    made = grid.contour([level], scalars="values", method="flying_edges", compute_normals=False)
    faces = np.asarray(made.faces, np.int64).reshape(-1, 4)[:, 1:]
    points = np.asarray(made.points, np.float64)
    return points, _outwards(points, faces, volume, level)


def _outwards(points: Array, faces: Array, volume: Array, level: float) -> Array:
    """Return the faces turned so that values fall along their normals: the enclosed volume is positive."""
    if not len(faces):
        return faces
    a, b, c = (points[faces[:, k]] for k in range(3))
    inside = float(np.einsum("ij,ij->", a, np.cross(b, c)))
    return faces if inside >= 0 else faces[:, ::-1].copy()
