"""Long recordings in short: means and extremes over buckets of steps, so that any zoom reads few values. Numpy only.

A bucket is a power of two of steps. Below `BASE` it is read from the values themselves, above from the nearest
finer of the levels BASE, 4 BASE, 16 BASE, ... which are built once, in slices that can be left at any time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

BASE = 32  # steps in a bucket of the finest level: all levels together take an eighth of the values' memory
FACTOR = 4
SLICE = 1 << 21  # values that are summed up at a time
AT_ONCE = 1 << 19  # values up to which building takes a few milliseconds


@dataclass(frozen=True, slots=True)
class Buckets:
    """Mean, lowest and highest value of each bucket, (n, C), NaN where no value is known.

    `rough`: the levels are not built yet, so one step stands for each bucket.
    """

    mean: NDArray[Any]
    low: NDArray[Any]
    high: NDArray[Any]
    rough: bool = False

    @property
    def peak(self) -> NDArray[Any]:
        """The extreme that lies farther from zero."""
        return np.where(np.abs(self.low) > np.abs(self.high), self.low, self.high)


class Pyramid:
    """Values (T, C) and what is needed to see any stretch of them at any width."""

    def __init__(self, values: NDArray[Any]) -> None:
        values = np.asarray(values)
        self.values = values.reshape(len(values), -1)
        self.steps, self.channels = self.values.shape
        self.levels: list[Buckets] = []
        self.done = 0.0
        if self.values.size <= AT_ONCE:
            for _ in self.build():
                pass

    @property
    def ready(self) -> bool:
        return self.done >= 1.0

    def build(self) -> Iterator[float]:
        """Build the levels, yielding the fraction done after each slice; nothing is used before the end."""
        levels: list[Buckets] = []
        rows, done, total = self.steps, 0, max(1.0, self.values.size * (1 + 3 / BASE / (FACTOR - 1)))
        finer = None
        while rows > 1:
            size = BASE if finer is None else FACTOR
            made = _empty(-(-rows // size), self.channels)
            every = max(1, SLICE // (size * max(1, self.channels)))  # buckets a slice
            for first in range(0, len(made.mean), every):
                part = slice(first * size, (first + every) * size)
                source = _raw(self.values[part]) if finer is None else _cut(finer, part)
                folded = fold(source, size)
                for name in ("mean", "low", "high"):
                    getattr(made, name)[first : first + every] = getattr(folded, name)
                done += (source.mean.size) * (1 if finer is None else 3)
                yield min(0.999, done / total)
            levels.append(made)
            finer, rows = made, len(made.mean)
        self.levels, self.done = levels, 1.0
        yield 1.0

    def buckets(self, first: int, bucket: int, count: int, extremes: bool = True) -> Buckets:
        """Return `count` buckets (fewer at the end) of `bucket` steps from step `first`, a multiple of `bucket`.

        Without `extremes` the lowest and highest are the mean, which takes a third of the time.
        """
        end = min(self.steps, first + bucket * count)
        first = max(0, min(first, end))
        if bucket < BASE:
            source = _raw(self.values[first:end])
            return fold(source, bucket, extremes) if bucket > 1 else source
        if not self.ready:
            picked = self.values[first:end:bucket]
            return Buckets(picked, picked, picked, True)
        level, size = 0, BASE
        while size * FACTOR <= bucket and level + 1 < len(self.levels):
            level, size = level + 1, size * FACTOR
        if not self.levels:
            return _raw(self.values[first:end])
        source = _cut(self.levels[level], slice(first // size, -(-end // size)))
        return fold(source, bucket // size, extremes) if bucket > size else source

    def span(self) -> tuple[float, float]:
        """Return the lowest and highest finite value; while the levels are not built, of a sample of steps."""
        part = self.levels[-1] if self.ready and self.levels else _raw(self.values[:: 1 + self.values.size // 100_000])
        low, high = part.low[np.isfinite(part.low)], part.high[np.isfinite(part.high)]
        if not (low.size and high.size):
            return 0.0, 0.0
        return float(low.min()), float(high.max())


def bucket_for(steps_per_pixel: float) -> int:
    """Return the largest power of two of steps that is not wider than a pixel, at least one."""
    return 1 << max(0, int(np.floor(np.log2(max(1.0, steps_per_pixel) * (1 + 1e-9)))))


def fold(part: Buckets, size: int, extremes: bool = True) -> Buckets:
    """Return every `size` neighbours as one; the last may be of fewer."""
    n = len(part.mean) // size * size
    whole = [getattr(part, name)[:n] for name in ("mean", "low", "high")]
    c = part.mean.shape[1]
    mean, low, high = (v.reshape(n // size, size, c) for v in whole)
    folded = _fold_blocks(mean, low, high, extremes)
    if n == len(part.mean):
        return folded
    rest = _fold_blocks(part.mean[None, n:], part.low[None, n:], part.high[None, n:], extremes)
    return Buckets(
        np.concatenate([folded.mean, rest.mean]),
        np.concatenate([folded.low, rest.low]),
        np.concatenate([folded.high, rest.high]),
    )


def _fold_blocks(mean: NDArray[Any], low: NDArray[Any], high: NDArray[Any], extremes: bool) -> Buckets:
    with np.errstate(invalid="ignore", over="ignore"):
        middle = mean.mean(axis=1)
        gaps = np.isnan(middle)
        if gaps.any():  # gaps are rare: only what they touch is worked out with care
            rows = np.flatnonzero(gaps.any(axis=1))
            block = mean[rows]
            known = np.isfinite(block)
            count = known.sum(axis=1)
            total = np.where(known, block, 0).sum(axis=1)
            middle[rows] = np.where(count > 0, total / np.maximum(count, 1), np.nan)
        if not extremes:
            return _raw(middle)
        return Buckets(middle, np.fmin.reduce(low, axis=1), np.fmax.reduce(high, axis=1))


def _raw(values: NDArray[Any]) -> Buckets:
    return Buckets(values, values, values)


def _cut(part: Buckets, rows: slice) -> Buckets:
    return Buckets(part.mean[rows], part.low[rows], part.high[rows])


def _empty(rows: int, channels: int) -> Buckets:
    mean, low, high = (np.empty((rows, channels), np.float32) for _ in range(3))
    return Buckets(mean, low, high)
