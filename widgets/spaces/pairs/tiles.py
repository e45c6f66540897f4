"""Tiles of pair matrices as colour indices: made when they are first seen, kept while there is room. No Qt."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.graph.drawing.pairs.matrix import PairMatrix, Range
from explorer.spaces.graph.drawing.pairs.pooling import Pool
from widgets.maps.mosaic import GAP, MISSING, indices

TILE = 128  # places of a side
HIDDEN = 253  # colour index of what is below the threshold, absent, or not made yet: the ground shows
MASKED = GAP  # of what is a mask and no value: the colour of what lies between maps
KEPT_BYTES = 96_000_000
DECADES = 6.0  # a logarithmic scale goes no further below its upper end


@dataclass(frozen=True, slots=True)
class Style:
    """Rule by which entries become colours: `high` is the upper end, a signed scale goes from -high to high.

    Magnitudes below `threshold` are hidden. A logarithmic scale begins at `low`, where it meets zero.
    """

    high: float
    signed: bool = False
    log: bool = False
    low: float = 0.0
    threshold: float = 0.0

    @property
    def kind(self) -> str:
        """The colour map's name."""
        return "signed" if self.signed else "error"

    def share(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values as shares of the scale: 0 to 1, or -1 to 1."""
        if not self.log:
            return values / self.high
        with np.errstate(all="ignore"):
            size = np.log(np.abs(values) / self.low) / np.log(self.high / self.low)
        return np.where(np.isnan(values), values, np.sign(values) * np.clip(size, 0.0, 1.0))


def make_style(matrix: PairMatrix, log: bool, threshold: float = 0.0, high: float = 0.0) -> Style:
    """Return the scale for a matrix; `high` where it is not the largest magnitude."""
    top = high or matrix.largest
    low = min(max(matrix.range[2], top * 10**-DECADES), top / 10) if log else 0.0
    return Style(top, matrix.signed, log, low, threshold)


def shade(
    values: NDArray[Any], style: Style, sparse: bool, magnitude: NDArray[Any] | None = None,
    masked: NDArray[np.bool_] | None = None,
) -> NDArray[np.uint8]:  # fmt: skip
    """Return colour indices; `magnitude` decides what is hidden where the values are means, `masked` are no values."""
    levels, _ = indices(style.share(values), -1.0 if style.signed else 0.0, 1.0)
    found = np.asarray(levels).astype(np.uint8)
    size = np.abs(values if magnitude is None else magnitude)
    if style.threshold > 0:
        found[(size < style.threshold) & (found != MISSING)] = HIDDEN
    elif sparse:
        found[values == 0] = HIDDEN
    if masked is not None:
        found[masked] = MASKED
    return found


class TileStore:
    """The tiles of all matrices on a canvas, the least recently seen dropped first."""

    def __init__(self) -> None:
        self._tiles: OrderedDict[tuple[Any, ...], NDArray[Any]] = OrderedDict()
        self._shaded: OrderedDict[tuple[Any, ...], NDArray[np.uint8]] = OrderedDict()
        self._bytes = 0
        self._peaks: dict[tuple[int, int], float] = {}
        self.stepped = False  # whether a step was made since `begin`

    def begin(self) -> None:
        """Begin a turn: whatever the clock says, one step is made in it."""
        self.stepped = False

    def peak(self, matrix: PairMatrix, level: int) -> float:
        """Return the magnitude that few means of a level exceed, as far as seen; 0 when none was."""
        return self._peaks.get((matrix.token, level), 0.0)

    def picture(
        self, matrix: PairMatrix, head: int, level: int, rows: Range, columns: Range, pool: Pool, style: Style,
        until: float,
    ) -> tuple[NDArray[np.uint8], bool]:  # fmt: skip
        """Return colour indices of a rectangle of places at a level, and whether it is complete.

        New tiles are made until the clock (time.perf_counter) passes `until`, one step in each turn; where a tile is
        still missing, coarser ones stand in, or the ground shows.
        """
        out = np.full((rows[1] - rows[0], columns[1] - columns[0]), HIDDEN, np.uint8)
        complete = True
        for i in range(rows[0] // TILE, -(-rows[1] // TILE)):
            for j in range(columns[0] // TILE, -(-columns[1] // TILE)):
                tile = self._shaded_tile(matrix, head, level, i, j, pool, style)
                while tile is None and (not self.stepped or time.perf_counter() < until):
                    self.stepped = True
                    self._make(matrix, head, level, i, j, pool, style.threshold > 0)
                    tile = self._shaded_tile(matrix, head, level, i, j, pool, style)
                if tile is None:
                    complete = False
                    tile = self._coarser(matrix, head, level, i, j, pool, style)
                if tile is not None:
                    _paste(out, tile, i * TILE - rows[0], j * TILE - columns[0])
        return out, complete

    def _shaded_tile(
        self, matrix: PairMatrix, head: int, level: int, i: int, j: int, pool: Pool, style: Style
    ) -> NDArray[np.uint8] | None:
        key = (matrix.token, head, level, i, j, pool)
        values = self._tiles.get(key)
        if values is None:
            return None
        size = None
        if pool == "mean" and level and style.threshold > 0:
            size = self._tiles.get((*key[:-1], "max"))
            if size is None:
                return None
        found = self._shaded.get((key, style))
        if found is None:
            found = shade(values, style, matrix.sparse, size, matrix.masked(values))
            self._shaded[key, style] = found
            while len(self._shaded) > 2048:
                self._shaded.popitem(last=False)
        self._shaded.move_to_end((key, style))
        self._tiles.move_to_end(key)
        return found

    def _make(self, matrix: PairMatrix, head: int, level: int, i: int, j: int, pool: Pool, both: bool) -> None:
        side = matrix.places(level)
        rows, columns = ((k * TILE, min((k + 1) * TILE, side)) for k in (i, j))
        for one in dict.fromkeys((pool, "max") if both and level else (pool,)):
            key = (matrix.token, head, level, i, j, one)
            if key in self._tiles:
                continue
            if not matrix.advance(head, rows, columns, level, one):
                return
            tile = matrix.tile(head, rows, columns, level, one)
            self._tiles[key] = tile
            self._bytes += tile.nbytes
            if one == "mean" and level:
                # not the very largest: one place with many entries would leave all others pale
                some = np.abs(tile[np.isfinite(tile) & (tile != 0) & ~matrix.masked(tile)])
                top = float(np.quantile(some, 0.995)) if some.size else 0.0
                self._peaks[matrix.token, level] = max(top, self.peak(matrix, level))
        while self._bytes > KEPT_BYTES and len(self._tiles) > 4:
            self._bytes -= self._tiles.popitem(last=False)[1].nbytes

    def _coarser(
        self, matrix: PairMatrix, head: int, level: int, i: int, j: int, pool: Pool, style: Style
    ) -> NDArray[np.uint8] | None:
        """Return a piece of a coarser tile, enlarged, that covers this one."""
        for up in range(1, 5):
            found = self._shaded_tile(matrix, head, level + up, i >> up, j >> up, pool, style)
            if found is not None:
                part = TILE >> up
                top, left = (i * part) % TILE, (j * part) % TILE
                return found[top : top + part, left : left + part].repeat(1 << up, 0).repeat(1 << up, 1)
        return None


def _paste(out: NDArray[np.uint8], tile: NDArray[np.uint8], top: int, left: int) -> None:
    """Copy what of a tile lies inside."""
    i, j = max(0, -top), max(0, -left)
    high, wide = min(tile.shape[0], out.shape[0] - top), min(tile.shape[1], out.shape[1] - left)
    if high > i and wide > j:
        out[top + i : top + high, left + j : left + wide] = tile[i:high, j:wide]
