"""Parts of a drawn graph side by side, each with its nodes about a unit apart; and places that ask for no edges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Places = NDArray[Any]
Box = tuple[NDArray[Any], Places, float, float]  # members, their places, width and height
APART = 1.6  # room between two parts, in rooms of a node
LONG = 1.6  # edges of small graphs side by side, in rooms of a node
PARTED = 500  # nodes of a part up to which none lies over another
LEAST = 0.66  # distance of two nodes, in rooms of a node: what their discs and a little air take
PUSHES = 300  # at most
GRAIN = 2.0**-12  # what places are rounded to: rounding that differs must not show
WIDE = 1.5  # width of the packed whole divided by its height


def disc(nodes: int) -> NDArray[np.float32]:
    """Return places on a disc in the order of the nodes, about a unit apart, (nodes, 2): no edge is asked.

    Source: Vogel, Math. Biosci. 44 (1979) 179.
    """
    index = np.arange(nodes)
    radius, turn = np.sqrt((index + 0.5) / math.pi), index * math.pi * (3 - math.sqrt(5))
    return np.stack([radius * np.cos(turn), radius * np.sin(turn)], 1).astype(np.float32)


def rows(count: int) -> Places:
    """Return isolated nodes in rows of equal length."""
    columns = max(1, math.ceil(math.sqrt(WIDE * count)))
    index = np.arange(count)
    return np.stack([index % columns, -(index // columns)], 1).astype(float)


def boxed(members: NDArray[Any], places: Places, room: float = 0.0, edge: float = 0.0, part: bool = True) -> Box:
    """Return a part with its nodes about a unit apart, from (0, 0), and the room that it takes and is given.

    With `edge`, the usual length of an edge, that is no shorter than LONG afterwards. Places that come with the data
    are not pushed apart: `part` is False.
    """
    # one measure for all parts: the area of a node, so that a large part is not drawn smaller than a small one
    unit = max(math.sqrt(float(np.ptp(places, axis=0).prod()) / len(places)), 1e-9) if len(places) > 3 else 1.0
    spread = np.ptp(places, axis=0).max() / math.sqrt(len(places)) if len(places) > 3 else 0.0
    unit = max(unit, 0.4 * spread)
    scaled = places / (min(unit, edge / LONG) if edge > 0 else unit)
    scaled = parted(scaled) if part else scaled
    scaled = scaled - scaled.min(axis=0)
    across, up = (np.ptp(scaled, axis=0) + APART + room).tolist()
    return members, scaled, across, up


def parted(places: Places, least: float = LEAST) -> Places:
    """Return places of a few hundred nodes, pushed from each other until no two are nearer than `least`."""
    if not 2 <= len(places) <= PARTED:
        return places
    from scipy.spatial import cKDTree

    places = places.copy()
    for _ in range(PUSHES):
        one, other = cKDTree(places).query_pairs(least, output_type="ndarray").T
        if not len(one):
            break
        gap = places[one] - places[other]
        away = np.hypot(*gap.T)
        turn = one * 2.399963  # nodes on one place part in directions that differ
        gap = np.where(away[:, None] > 1e-6, gap, 1e-3 * np.stack([np.cos(turn), np.sin(turn)], 1))
        push = (0.51 * (least - away) / np.maximum(np.hypot(*gap.T), 1e-9))[:, None] * gap
        for axis in range(2):
            places[:, axis] += np.bincount(one, push[:, axis], len(places))
            places[:, axis] -= np.bincount(other, push[:, axis], len(places))
    return np.asarray(np.round(places / GRAIN) * GRAIN)


def packed(boxes: list[Box], nodes: int, ordered: bool = False) -> NDArray[np.float32]:
    """Return all parts side by side in rows, the largest first, or in the order in which they come."""
    if not boxes:
        return np.zeros((nodes, 2), np.float32)
    boxes = boxes if ordered else sorted(boxes, key=lambda box: (-round(box[3], 6), -len(box[0])))
    area = sum(across * up for _, _, across, up in boxes)
    widest = max(math.sqrt(area * WIDE), max(across for _, _, across, _ in boxes))
    if ordered and len(boxes) < 4:  # what is to be compared stands in one row
        widest = sum(across for _, _, across, _ in boxes)
    x = y = high = 0.0
    corners = []
    for _, _, across, up in boxes:
        if x > 0 and x + across > widest * 1.02:
            x, y, high = 0.0, y - high, 0.0
        corners.append((x, y - up))
        x, high = x + across, max(high, up)
    out = np.zeros((nodes, 2))
    lengths = [len(box[0]) for box in boxes]
    out[np.concatenate([box[0] for box in boxes])] = np.concatenate([box[1] for box in boxes]) + np.repeat(
        corners, lengths, axis=0
    )
    out -= (out.min(axis=0) + out.max(axis=0)) / 2
    return _apart(out.astype(np.float32))


def _apart(places: NDArray[np.float32]) -> NDArray[np.float32]:
    """Move nodes that fell on the same place, or so near that single precision does not part them."""
    rng = np.random.default_rng(0)
    for _ in range(8):
        _, first = np.unique(np.ascontiguousarray(places).view(np.int64), return_index=True)
        if len(first) == len(places):
            break
        again = np.setdiff1d(np.arange(len(places)), first)
        places[again] += rng.uniform(-0.1, 0.1, (len(again), 2)).astype(np.float32)
    return places
