"""A small picture of a mesh: its triangles shaded by a light beside the eye, the near ones over the far ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample

Floats = NDArray[np.float64]

_FINER = 2  # drawn that much larger and averaged
_MOST_FACES = 40_000  # of more, only some are drawn, as points
_PER_PIXEL = 4  # faces, at most; fewer would leave holes in what is seen
_MARGIN = 0.08  # of the picture's side
_GROUND, _BODY = (250, 250, 250), (110, 150, 205)
# Okabe and Ito, told apart by colour-blind eyes too
_COLOURS = (
    (86, 180, 233), (230, 120, 0), (0, 158, 115), (204, 121, 167), (240, 200, 40), (52, 101, 164), (213, 94, 0),
    (120, 124, 134),
)  # fmt: skip
TURN, LEAN = 0.5, 0.35  # radians: looked at from that much aside and above
_LIGHT = np.array([-0.4, -0.75, 0.55]) / np.linalg.norm([-0.4, -0.75, 0.55])  # right, away, up


def mesh_thumbnail(sample: Sample, side: int = 48) -> NDArray[np.uint8]:
    """Return a picture (side, side, 3) uint8, the same for the same sample; z is up, and the body looks at us."""
    finer = _FINER if len(sample.signals["faces"].values) <= _MOST_FACES else 1  # each face is a point or two there
    whole = side * finer
    seen = _turned(np.asarray(sample.signals["position"].values, np.float64))
    faces = np.asarray(sample.signals["faces"].values)
    faces = faces[:: -(-len(faces) // max(_MOST_FACES, _PER_PIXEL * whole**2))]
    low, high = seen.min(0), seen.max(0)
    reach = float((high - low)[[0, 2]].max()) or 1.0
    scale = whole * (1 - 2 * _MARGIN) / reach
    at = (seen - (low + high) / 2) * scale + whole / 2
    at[:, 2] = whole - at[:, 2]
    a, b, c = (at[faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a) * (-1, -1, 1)  # rows run downwards
    length = np.sqrt(np.einsum("fi,fi->f", normal, normal))
    bright = 0.35 + 0.65 * np.abs(normal @ _LIGHT) / np.maximum(length, 1e-30)
    away = normal[:, 1] > 0  # the back of an open sheet is darker
    colour = (bright * np.where(away, 0.6, 1.0))[:, None] * _painted(sample, faces)
    return _reduced(_rastered(a, b, c, colour, whole), side)


def _turned(position: Floats) -> Floats:
    """Return (V, 3) to the right, away from the eye, up; the eye stands where y is large."""
    x, y, z = position.T
    right, away = -np.cos(TURN) * x + np.sin(TURN) * y, -np.sin(TURN) * x - np.cos(TURN) * y
    return np.stack([right, np.cos(LEAN) * away - np.sin(LEAN) * z, np.cos(LEAN) * z + np.sin(LEAN) * away], 1)


def _painted(sample: Sample, faces: NDArray[Any]) -> Floats:
    """Return (F, 3) the colour of each face: by its class where there are classes."""
    if "label" not in sample.signals:
        return np.broadcast_to(np.array(_BODY, np.float64), (len(faces), 3))
    kinds = sample.signals["label"].values[faces[:, 0]]
    palette = np.array([*_COLOURS, _BODY], np.float64)
    return np.asarray(palette[np.where(kinds < 0, len(_COLOURS), kinds % len(_COLOURS))])


def _rastered(a: Floats, b: Floats, c: Floats, colour: Floats, whole: int) -> Floats:
    """Return (whole, whole, 3): each face as points so close that no pixel is missed, the nearest point wins."""
    picture = np.full((whole * whole, 3), _GROUND, np.float64)
    flat = np.abs(np.stack([b - a, c - b, a - c]))[..., [0, 2]].max((0, 2))  # pixels, the longest extent
    steps = np.maximum(np.ceil(1.2 * flat).astype(np.int64), 1)
    coarse = steps > 8  # few different numbers of points
    steps[coarse] = np.exp2(np.ceil(np.log2(steps[coarse]))).astype(np.int64)
    pixels, depths, owners = [], [], []
    for count in np.unique(steps):
        some = np.flatnonzero(steps == count)
        i, j = np.divmod(np.arange((count + 1) ** 2), count + 1)
        share = np.stack([i, j, count - i - j], 1)[i + j <= count] / count
        if count == 1:
            share = np.full((1, 3), 1 / 3)
        across, deep, down = (np.stack([a[some, k], b[some, k], c[some, k]], 1) @ share.T for k in range(3))
        pixels.append((down.astype(np.int64) * whole + across.astype(np.int64)).ravel())
        depths.append(deep.ravel())
        owners.append(np.repeat(some, len(share)))
    pixel, depth, owner = np.concatenate(pixels), np.concatenate(depths), np.concatenate(owners)
    nearest = np.full(whole * whole, np.inf)
    np.minimum.at(nearest, pixel, depth)
    front = depth <= nearest[pixel]
    picture[pixel[front]] = colour[owner[front]]
    return picture.reshape(whole, whole, 3)


def _reduced(picture: Floats, side: int) -> NDArray[np.uint8]:
    finer = len(picture) // side
    mean = picture.reshape(side, finer, side, finer, 3).mean((1, 3))
    return np.asarray(mean.round().clip(0, 255), np.uint8)
