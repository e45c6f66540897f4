"""Sort what scanners tell of each point beside its place: colours and intensities become values, normals arrows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
COLOUR = ("red", "green", "blue")
PACKED = ("rgb", "rgba")  # three or four bytes in one number, blue first
NORMALS = (("nx", "ny", "nz"), ("normal_x", "normal_y", "normal_z"))
MOST = 16  # values at a point


@dataclass(frozen=True, slots=True)
class Beside:
    """Values (points, channels) or None, vectors {name: (points, 3)}, and what is told of both."""

    values: Floats | None
    vectors: Mapping[str, Floats] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def beside(columns: Mapping[str, NDArray[np.generic]], kept: NDArray[np.bool_]) -> Beside:
    """Sort the columns of a cloud other than its places; of a column with several numbers a point is (points, many).

    Args:
        kept: the points that have a place.
    """
    unread = [name for name, column in columns.items() if column.ndim > 1]
    single: dict[str, Floats] = {}
    for name, column in columns.items():
        if name.lower() in PACKED and column.ndim == 1 and column.dtype.itemsize == 4:
            single |= dict(zip(COLOUR, _unpacked(column[kept]).T, strict=True))
        elif column.ndim == 1:
            single[name] = np.asarray(column[kept], np.float64)
    unread += [f"{name} (not finite)" for name, column in single.items() if not np.isfinite(column).all()]
    single = {name: column for name, column in single.items() if np.isfinite(column).all()}
    low = {name.lower(): name for name in single}
    vectors = {}
    for axes in NORMALS:
        if all(axis in low for axis in axes):
            vectors = {"normal": np.stack([single.pop(low[axis]) for axis in axes], 1)}
            break
    colours = [low[colour] for colour in COLOUR if colour in low]
    names = [*colours, *(name for name in single if name not in colours)]
    unread += names[MOST:]
    names = names[:MOST]
    told = [f"values at each point: {', '.join(names)}"] if names else []
    told += ["normal: an arrow at each point"] if vectors else []
    told += [f"not read: {', '.join(unread)}"] if unread else []
    return Beside(np.stack([single[name] for name in names], 1) if names else None, vectors, tuple(told))


def _unpacked(packed: NDArray[np.generic]) -> Floats:
    """Return red, green and blue, (points, 3), of bytes that stand in one number, as the Point Cloud Library packs."""
    whole = np.ascontiguousarray(packed)
    bits = whole.view(np.uint32) if whole.dtype.kind in "fu" else whole.astype(np.int64).astype(np.uint32)
    return np.stack([(bits >> shift) & 255 for shift in (16, 8, 0)], 1).astype(np.float64)
