"""Many maps in one picture: where each tile lies, and values as colour indices. Numpy only, no Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

STEPS = 252  # colour index of the highest value; even, so that zero has an index of its own (126)
MISSING = 254  # colour index of a value that is not a number
GAP = 255  # colour index of what lies between the tiles
WHOLE = 1e-3  # by which shares may miss 1


@dataclass(frozen=True, slots=True)
class Tiling:
    """Places of the tiles of (channels, height, width) in the mosaic.

    The `order` orientation channels of one field are neighbours in one row; `blocks` fields share a row, with
    a wider gap between them. Without a group, `order` is 1 and `blocks` is the number of columns.

    Small tiles are enlarged: one data pixel is `cell` pixels of the mosaic, so that the gaps are thin. `size` is
    the width and height of the mosaic, without a gap after the last tile.
    """

    channels: int
    height: int
    width: int
    order: int
    blocks: int

    # all that follows from these five, worked out once: it is asked for many times while a frame is painted
    cell: int = field(init=False, compare=False)
    rows: int = field(init=False, compare=False)
    gap: int = field(init=False, compare=False)
    step_x: int = field(init=False, compare=False)
    step_y: int = field(init=False, compare=False)
    step_block: int = field(init=False, compare=False)
    size: tuple[int, int] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        largest = max(self.height, self.width)
        cell = max(1, 16 // largest)
        # among few large pixels a thin line does not tell one tile from the next
        gap = 3 if 1 < largest and cell > 1 else min(3, max(1, round(0.05 * largest)))
        rows = -(-self.channels // (self.order * self.blocks))
        step_x, step_y = self.width * cell + gap, self.height * cell + gap
        step_block = self.order * step_x + (2 * gap if self.order > 1 else 0)
        wide = self.blocks * step_block - (step_block - self.order * step_x) - gap
        found = {"cell": cell, "gap": gap, "rows": rows, "step_x": step_x, "step_y": step_y, "step_block": step_block}
        for name, value in {**found, "size": (wide, rows * step_y - gap)}.items():
            object.__setattr__(self, name, value)

    def origin(self, channel: int) -> tuple[int, int]:
        """Return x and y of the upper left corner of a tile."""
        field, orientation = divmod(channel, self.order)
        row, block = divmod(field, self.blocks)
        return block * self.step_block + orientation * self.step_x, row * self.step_y

    def hit(self, x: float, y: float) -> tuple[int, int, int] | None:
        """Return (channel, row, column) of the data pixel at a point; None outside.

        A gap belongs to the tile before it: where tiles are small it is a large part of what one may click.
        """
        if x < 0 or y < 0:
            return None
        block, x = divmod(x, self.step_block)
        orientation, x = divmod(x, self.step_x)
        row, y = divmod(y, self.step_y)
        x, y = min(x // self.cell, self.width - 1), min(y // self.cell, self.height - 1)
        if orientation >= self.order or block >= self.blocks:
            return None
        channel = int((row * self.blocks + block) * self.order + orientation)
        return (channel, int(y), int(x)) if channel < self.channels else None


@lru_cache(maxsize=64)
def tiling(channels: int, height: int, width: int, order: int = 1, aspect: float = 1.0) -> Tiling:
    """Return the layout whose tiles are largest in a box of that aspect (width / height)."""
    if order < 1 or channels % order:
        order = 1  # not whole fields: there is nothing to group
    best, best_scale = Tiling(channels, height, width, order, 1), 0.0
    for blocks in range(1, channels // order + 1):
        candidate = Tiling(channels, height, width, order, blocks)
        wide, high = candidate.size
        scale = min(aspect / wide, 1.0 / high)
        if scale > best_scale * (1 + 1e-9):
            best, best_scale = candidate, scale
    return best


def blank(layout: Tiling) -> NDArray[np.uint8]:
    """Return the mosaic without values, to be filled by `compose`; its last columns and rows are padding."""
    shape = (layout.rows * layout.step_y, layout.blocks * layout.step_block)
    return np.full(shape, GAP, dtype=np.uint8)


def indices(values: NDArray[Any], low: float, high: float) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Return colour indices of `values` as floats, and where they are not numbers (None: nowhere).

    Values beyond the levels take the end colours; infinities too.
    """
    span = high - low
    step = STEPS / span if span > 0 and np.isfinite(span) else 0.0
    with np.errstate(all="ignore"):  # the largest floats times the step may be infinite, which is clipped
        levels = values * step
        levels += 0.5 - low * step if step else STEPS / 2 + 0.5
        np.clip(levels, 0, STEPS + 0.5, out=levels)
        missing = np.isnan(levels) if np.isnan(levels.sum()) else None
    if missing is not None:
        levels[missing] = MISSING
    return levels, missing


def compose(values: NDArray[Any], layout: Tiling, low: float, high: float, out: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Write the colour indices of `values` (channels, height, width) into the mosaic `out` and return it."""
    levels, _ = indices(values, low, high)
    stride, cell = out.strides[0], layout.cell
    tiles = as_strided(
        out,
        shape=(layout.rows, layout.blocks, layout.order, layout.height, cell, layout.width, cell),
        strides=(layout.step_y * stride, layout.step_block, layout.step_x, cell * stride, stride, cell, 1),
    )
    # as bytes first: a value that fills many cells is converted once
    fields = levels.astype(np.uint8).reshape(-1, layout.order, layout.height, 1, layout.width, 1)
    full, rest = divmod(len(fields), layout.blocks)
    tiles[:full] = fields[: full * layout.blocks].reshape(full, layout.blocks, *fields.shape[1:])
    if rest:
        tiles[full, :rest] = fields[full * layout.blocks :]
    return out


def symmetric_scale(arrays: Sequence[NDArray[Any] | None]) -> float:
    """Return the largest finite magnitude in the arrays; 1 when they hold nothing but zeros."""
    largest = 0.0
    for array in arrays:
        if array is not None and array.size:
            top, bottom = float(array.max()), float(array.min())
            if not (np.isfinite(top) and np.isfinite(bottom)):
                finite = array[np.isfinite(array)]
                top, bottom = (float(finite.max()), float(finite.min())) if finite.size else (0.0, 0.0)
            largest = max(largest, top, -bottom)
    return largest or 1.0


def counted(values: NDArray[Any] | None) -> bool:
    """Return whether values are whole numbers from 0 on, and not all of them 0: they count or name something."""
    if values is None or not values.size or not values.any():
        return False
    known = values[np.isfinite(values)]
    return bool(known.size and known.min() >= 0 and (known == np.floor(known)).all())


def shares(values: NDArray[Any] | None) -> bool:
    """Return whether values are shares of a whole, as attention is: none is below 0, rows add up to 1 or are empty."""
    if values is None or values.ndim < 2 or values.shape[-1] < 2 or not values.any():
        return False
    if not _whole(values[..., :1, :]) or not _whole(values):  # a row of each map tells most of them apart
        return False
    return bool(np.isfinite(values).any()) and not bool((values < 0).any())


def _whole(values: NDArray[Any]) -> bool:
    """Return whether each row adds up to 1, or is empty."""
    sums = np.nansum(values, -1, dtype=np.float64)
    return bool(((np.abs(sums - 1) <= WHOLE) | (sums == 0)).all())


def outline(mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the edges between inside and outside of a mask as segments (n, 4): x1, y1, x2, y2 in pixels."""
    padded = np.pad(mask, 1)
    y, x = np.nonzero(padded[1:, 1:] != padded[:-1, 1:])  # edges that run along a row
    across = np.stack([x, y, x + 1, y], axis=1)
    y, x = np.nonzero(padded[1:, 1:] != padded[1:, :-1])
    down = np.stack([x, y, x, y + 1], axis=1)
    return np.concatenate([across, down]).astype(np.float64)
