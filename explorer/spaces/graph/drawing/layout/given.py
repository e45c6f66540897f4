"""Draw nodes where their data say that they are: in the plane, or seen from a side; others amid their neighbours."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.graph.drawing.layout.axes import axes_of_spread

Places = NDArray[Any]

SOLID = 0.01  # least spread of a cloud in space divided by its largest, from which it is not flat
ASIDE = np.array([[0.878, 0.209], [-0.479, 0.382], [0.0, 0.9]])  # as small pictures of samples have it


def projected(positions: Places, edges: NDArray[np.integer]) -> Places | None:
    """Return the data's own places in the plane, in a unit of their own; None where they say nothing."""
    known: NDArray[np.bool_] = np.asarray(np.isfinite(positions).all(axis=1), bool)
    if not known.any() or positions.ndim != 2 or positions.shape[1] not in (2, 3):
        return None
    places: Places = np.where(known[:, None], positions, 0.0).astype(float)
    # their squares must be numbers whatever they are measured in; a power of two rounds nothing
    places = np.ldexp(places, -int(np.frexp(np.abs(places).max())[1]))
    places = places - places[known].mean(axis=0)
    if places.shape[1] == 3:
        axes = axes_of_spread(places[known])
        spread = ((places[known] @ axes) ** 2).sum(axis=0)
        if not edges.shape[1] and spread[2] > SOLID * spread[0]:
            places = places @ ASIDE
        else:
            places = places @ axes[:, :2]
    if not np.ptp(places[known], axis=0).any() and known.sum() > 1:
        return None
    ends = np.concatenate([edges, edges[::-1]], axis=1)
    for _ in range(8):  # those without a place go amid their neighbours
        if known.all():
            return places
        towards = ends[:, known[ends[0]] & ~known[ends[1]]]
        if not towards.size:
            break
        count = np.bincount(towards[1], minlength=len(places))
        found = count > 0
        for axis in range(2):
            sums = np.bincount(towards[1], places[towards[0], axis], len(places))
            places[found, axis] = sums[found] / count[found]
        known |= found
    places[~known] = [0.0, places[known][:, 1].min() - 1.0] if known.any() else 0.0
    return places


def set_apart(places: Places, graph_of: NDArray[np.integer] | None) -> Places:
    """Return places with the graphs of a batch in rows where any would be drawn over another; else as they are.

    Only what is drawn is moved: a network and a file hear of a molecule where the data say that it is.
    """
    if graph_of is None or not len(places) or not np.isfinite(places).all():
        return places
    parts = [np.flatnonzero(graph_of == k) for k in np.unique(graph_of)]
    low, high = (np.stack([end(places[part], axis=0) for part in parts]) for end in (np.min, np.max))
    meet = (low[:, None] <= high[None]).all(-1) & (high[:, None] >= low[None]).all(-1)
    if meet.sum() == len(parts):  # each with itself
        return places
    out = places.astype(float)
    step = 1.25 * float((high - low).max()) or 1.0
    across = math.ceil(math.sqrt(len(parts)))
    for k, part in enumerate(parts):
        out[part] -= out[part].mean(0)
        out[part, 0] += step * (k % across)
        out[part, 1] -= step * (k // across)
    return out


def scaled(places: Places, edges: NDArray[np.integer]) -> NDArray[np.float32]:
    """Return places round their centre with a median edge (without edges: room of a node) of length 1."""
    lengths = np.hypot(*(places[edges[0]] - places[edges[1]]).T)
    lengths = lengths[lengths > 0]
    room = math.sqrt(float(np.ptp(places, axis=0).prod()) / max(1, len(places)))
    unit = float(np.median(lengths)) if lengths.size else room
    centre = (places.min(axis=0) + places.max(axis=0)) / 2
    return np.asarray((places - centre) / (unit if unit > 0 else 1.0), np.float32)
