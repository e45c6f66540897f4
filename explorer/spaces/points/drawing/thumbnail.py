"""A small picture of points: discs, the near ones over the far ones, in the colours of their elements."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample
from explorer.spaces.points.drawing.chemistry import colours, radii

_FINER = 3  # drawn that much larger and averaged
_MOST = 4000  # points that are drawn
_MARGIN = 0.1
_GROUND = 250
_VIEW = np.array([[0.88, 0.0, -0.47], [0.16, 0.94, 0.3], [0.45, -0.34, 0.83]])  # right, up, towards us


def points_thumbnail(sample: Sample, side: int = 48) -> NDArray[np.uint8]:
    """Return a picture (side, side, 3) uint8, the same for the same sample."""
    whole = side * _FINER
    places = np.asarray(sample.signals["position"].values, np.float64)
    step = -(-len(places) // _MOST)
    given = sample.signals.get("number")
    numbers = np.zeros(len(places), np.int64) if given is None else np.asarray(given.values, np.int64)
    seen, numbers = (places @ _VIEW.T)[::step], numbers[::step]
    low, high = seen.min(0), seen.max(0)
    atoms = bool(numbers.any())
    size = radii(numbers) * 0.45 if atoms else np.full(len(seen), 0.0)
    reach = float((high - low)[:2].max()) + 2 * float(size.max(initial=0)) or 1.0
    scale = whole * (1 - 2 * _MARGIN) / reach
    at = (seen - (low + high) / 2) * (scale, -scale, scale) + whole / 2
    pixels = size * scale if atoms else np.full(len(seen), max(1.2, 0.5 * whole / np.sqrt(len(seen)) * 0.35))
    picture = np.full((whole, whole, 3), _GROUND, np.float64)
    rows, columns = np.mgrid[:whole, :whole]
    paint = colours(numbers).astype(np.float64)
    depth = (seen[:, 2] - low[2]) / (float(high[2] - low[2]) or 1.0)
    for k in np.argsort(seen[:, 2]):
        r = float(pixels[k])
        x, y = at[k, 0], at[k, 1]
        part = (slice(max(0, int(y - r)), int(y + r) + 2), slice(max(0, int(x - r)), int(x + r) + 2))
        away = (rows[part] - y) ** 2 + (columns[part] - x) ** 2
        inside = away <= r * r
        bright = (0.6 + 0.4 * depth[k]) * (1.0 - 0.45 * np.clip(away / (r * r), 0, 1) ** 2)
        picture[part][inside] = (paint[k] * bright[..., None])[inside]
    mean = picture.reshape(side, _FINER, side, _FINER, 3).mean((1, 3))
    return np.asarray(mean.round().clip(0, 255), np.uint8)
