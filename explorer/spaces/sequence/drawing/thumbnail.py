"""A small picture of a sequence: its course as lines, or a bar in the colour of each symbol."""

from __future__ import annotations

import colorsys

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample
from explorer.spaces.sequence.network.fit import kind_of

_FINER = 3  # drawn that much larger and averaged
_MOST_LINES = 4
_MOST_STEPS = 2**16  # of a longer one only some are looked at
_GROUND = (250, 250, 250)
# Okabe and Ito, told apart by colour-blind eyes too
_COLOURS = ((52, 101, 164), (230, 120, 0), (0, 158, 115), (204, 121, 167), (86, 180, 233), (213, 94, 0), (240, 200, 40))
_BASES = ((0, 158, 115), (52, 101, 164), (240, 200, 40), (213, 94, 0))  # A, C, G, T
_TURN = 0.618  # of the circle of hues from one symbol to the next


def sequence_thumbnail(sample: Sample, side: int = 48) -> NDArray[np.uint8]:
    """Return a picture (side, side, 3) uint8, the same for the same sample."""
    x = sample.x.values
    steps = len(x)
    if not steps or not x.shape[1]:
        return np.full((side, side, 3), _GROUND, np.uint8)
    if steps > _MOST_STEPS:
        x = x[:: -(-steps // _MOST_STEPS)]
    kind = "values" if steps > _MOST_STEPS and x.shape[1] == 1 else kind_of(sample)
    whole = side * _FINER
    picture = _lines(np.asarray(x, np.float64), sample, whole) if kind == "values" else _bars(x, kind, whole)
    return np.asarray(picture.reshape(side, _FINER, side, _FINER, 3).mean((1, 3)).round(), np.uint8)


def _lines(x: NDArray[np.float64], sample: Sample, whole: int) -> NDArray[np.float64]:
    """Draw up to four channels; each column of the picture is filled from the least to the greatest value in it."""
    picture = np.full((whole, whole, 3), _GROUND, np.float64)
    steps = len(x)
    at = np.arange(steps, dtype=np.float64)
    if "time" in sample.signals and "batch" not in sample.signals and len(sample.x.values) == steps:
        at = np.asarray(sample.signals["time"].values, np.float64)
    if steps == 1:
        x, at, steps = np.repeat(x, 2, 0), np.array([0.0, 1.0]), 2
    span = at[-1] - at[0]
    at = (at - at[0]) / (span or 1.0) * whole
    edges = np.arange(whole + 1, dtype=np.float64)
    first = np.searchsorted(at, edges[:-1])
    last = np.searchsorted(at, edges[1:], "right")
    shown = x[:, :_MOST_LINES]
    low, high = float(shown.min()), float(shown.max())
    margin = 3.0
    scale = (whole - 2 * margin) / ((high - low) or 1.0)
    rows = np.arange(whole)[:, None]
    for channel in reversed(range(shown.shape[1])):
        y = whole - margin - (shown[:, channel] - low) * scale if high > low else np.full(steps, whole / 2)
        ends = np.interp(edges, at, y)
        top, bottom = np.minimum(ends[:-1], ends[1:]), np.maximum(ends[:-1], ends[1:])
        filled = np.flatnonzero(last > first)
        pairs = np.stack([first[filled], np.minimum(last[filled], steps)], 1).ravel()
        padded = np.append(y, y[-1])
        top[filled] = np.minimum(top[filled], np.minimum.reduceat(padded, pairs)[::2])
        bottom[filled] = np.maximum(bottom[filled], np.maximum.reduceat(padded, pairs)[::2])
        picture[(rows >= top - 2) & (rows <= bottom + 1)] = _COLOURS[channel]
    return picture


def _bars(x: NDArray[np.floating] | NDArray[np.integer], kind: str, whole: int) -> NDArray[np.float64]:
    """Draw each step as an upright bar; what is not known for certain is a mixture of the colours."""
    colours = np.array(_BASES if kind == "dna" else _palette(x.shape[1]), np.float64)
    steps = len(x)
    if steps > 4 * whole:
        steps, x = 4 * whole, x[np.arange(4 * whole) * len(x) // (4 * whole)]
    bars = np.asarray(x, np.float64) @ colours
    picture = np.empty((whole, whole, 3))
    picture[:] = bars[np.arange(whole) * steps // whole]
    picture[: whole // 6] = picture[-(whole // 6) :] = _GROUND
    return picture


def _palette(count: int) -> list[tuple[float, ...]]:
    if count <= len(_COLOURS):
        return [tuple(map(float, colour)) for colour in _COLOURS[:count]]
    made = []
    for k in range(count):
        light = (0.45, 0.6, 0.35)[k // 12 % 3]
        made.append(tuple(255 * c for c in colorsys.hls_to_rgb(k * _TURN % 1, light, 0.65)))
    return made
