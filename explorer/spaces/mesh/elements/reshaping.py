"""Change a surface itself: bent round an axis, another pose, shaken vertices, flipped edges; numpy only."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from explorer.declare.elements import NoAction
from explorer.work.eigenspaces import ranks

if TYPE_CHECKING:
    from explorer.declare.inputs import Inputs

Floats = NDArray[np.float64]
Index = NDArray[np.int64]

ALIKE = 1e-6  # share of its length by which a side must be longer than another


def bent(position: Floats, degrees: float) -> Floats:
    """Return the vertices (V, 3) with the longest side of their box rolled into an arc of that many degrees.

    Planes across the longest axis are turned, and none is stretched along it at the height of the centre: a flat sheet
    is bent without any change of length, a thin body with little (A. Barr, "Global and local deformations", 1984).
    """
    angle = math.radians(degrees)
    low, high = position.min(0), position.max(0)
    # sides of one length but for rounding are taken in their order
    long, _, thin = np.argsort(ranks(low - high, ALIKE * float((high - low).max())), kind="stable")
    length = float(high[long] - low[long])
    if angle == 0.0 or length == 0.0:
        return position.copy()
    middle = (low + high) / 2
    radius = length / angle
    along, height = position[:, long] - middle[long], position[:, thin] - middle[thin]
    there = position.copy()
    there[:, long] = middle[long] + (radius - height) * np.sin(along / radius)
    there[:, thin] = middle[thin] + radius - (radius - height) * np.cos(along / radius)
    return there


def posed(inputs: Inputs, position: Floats, number: int, share: float) -> Floats:
    """Return the vertices moved towards another pose that comes with the mesh.

    Raises:
        NoAction: the mesh comes in one pose only, or its vertices have been renumbered before.
    """
    poses = [n for n in inputs.names if n.startswith("pose:")]
    if not poses:
        raise NoAction("this mesh comes in one pose only")
    other = inputs.values[inputs.names.index(poses[min(number, len(poses)) - 1])].double().cpu().numpy()
    return position + share * (other - position)


def shaken(position: Floats, faces: Index, amount: float, seed: int) -> Floats:
    """Return the vertices moved at random, by `amount` mean edge lengths (standard deviation per coordinate)."""
    corners = position[faces]
    edge = float(np.linalg.norm(corners - np.roll(corners, 1, 1), axis=2).mean()) if len(faces) else 0.0
    return position + amount * edge * np.random.default_rng(seed).standard_normal(position.shape)


def flipped(position: Floats, faces: Index, share: float, seed: int) -> Index:
    """Return other triangles (F, 3) on the same vertices: a share of the inner edges is replaced by the other diagonal.

    An edge is left where its two triangles do not lie nearly flat and convex, where the other diagonal is there
    already, and where one of the triangles has been changed before.
    """
    n = len(position)
    made = faces.copy()
    half = np.stack([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]], 1).reshape(-1, 2)
    key = half[:, 0] * n + half[:, 1]
    opposite = faces[:, [2, 0, 1]].reshape(-1)
    order = np.argsort(key)
    twin_key = half[:, 1] * n + half[:, 0]
    at = np.searchsorted(key[order], twin_key).clip(0, max(len(key) - 1, 0))
    twin = np.where(key[order][at] == twin_key, order[at], -1)
    listed = set(np.concatenate([key, twin_key]).tolist())
    rng = np.random.default_rng(seed)
    free = np.ones(len(faces), bool)
    wanted = round(share * len(key) / 2)
    for k in rng.permutation(len(key)):
        if wanted == 0:
            break
        j = int(twin[k])
        f, g = k // 3, j // 3
        if j < 0 or not (free[f] and free[g]):
            continue
        a, b = int(half[k, 0]), int(half[k, 1])
        c, d = int(opposite[k]), int(opposite[j])
        if c == d or c * n + d in listed or not _flat_and_convex(position, a, b, c, d):
            continue
        made[f], made[g] = (a, d, c), (d, b, c)
        listed.update((c * n + d, d * n + c))
        free[f] = free[g] = False
        wanted -= 1
    return made


def _flat_and_convex(p: Floats, a: int, b: int, c: int, d: int) -> bool:
    """Return whether the triangles abc and bad make a quadrilateral a-d-b-c that can be cut along cd as well."""
    before = [np.cross(p[b] - p[a], p[c] - p[a]), np.cross(p[a] - p[b], p[d] - p[b])]
    after = [np.cross(p[d] - p[a], p[c] - p[a]), np.cross(p[b] - p[d], p[c] - p[d])]
    size = [float(np.linalg.norm(v)) for v in (*before, *after)]
    if min(size[2:]) < 0.2 * max(size[:2]):
        return False
    mean = before[0] + before[1]
    return all(float(v @ mean) > 0.8 * s * float(np.linalg.norm(mean)) for v, s in zip((*before, *after), size))
