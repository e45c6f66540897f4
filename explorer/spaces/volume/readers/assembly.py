"""Do what all readers of volumes share: limits, checked before memory is asked for, and the sample of a file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.checks import AGAIN, Broken, Floats
from explorer.declare.samples import Sample
from explorer.spaces.volume.sample import volume_sample

LEAST = 8  # voxels along each side: fewer slices are the channels of a picture
MOST = 2**27  # values of a volume: 512 along each side, 512 MiB of float32
FEWEST = 2  # slices of what a person says is a volume
SMALLER = "crop it, or save every second voxel"


def is_volume(shape: Sequence[int], slices: int = LEAST) -> bool:
    """Return whether an array of that shape is a volume: three sides, none of them as short as colours are many.

    Before them may stand up to four channels, and a batch of one: (C, z, y, x), (1, C, z, y, x). A person who says that
    it is a volume may have fewer `slices`.
    """
    lead, sides = tuple(shape[:-3]), tuple(shape[-3:])
    if len(sides) < 3 or sides[0] < slices or min(sides[1:]) < LEAST:
        return False
    # (1, C, H, W) has been an image with a batch axis before there were volumes
    return not lead or (len(lead) == 1 and 1 < lead[0] <= 4) or (len(lead) == 2 and lead[0] == 1 and 1 <= lead[1] <= 4)


def require_volume(shape: Sequence[int]) -> None:
    """Raise Broken when a volume that declares this shape must not be decoded."""
    told = "×".join(map(str, shape))
    if min(shape, default=0) < 1:
        raise Broken(f"it has no values, its size is {told}", AGAIN)
    if math.prod(int(n) for n in shape) > MOST:
        raise Broken(f"it holds {told} values and the most is {MOST}", SMALLER)


def sample_of_file(path: Path, values: NDArray[Any], notes: tuple[str, ...]) -> Sample:
    """Wrap finished values, (channels, z, y, x), as the sample of a file; Broken when not finite."""
    require_volume(values.shape)
    with np.errstate(over="ignore"):  # what overflows becomes infinite and is refused
        made: Floats = np.ascontiguousarray(values, np.float32)
    # a sum is finite only of finite numbers, and quicker than asking for each
    if not np.isfinite(made.sum(dtype=np.float64)):
        finite = np.isfinite(made)
        bad = made.size - int(np.count_nonzero(finite))
        if bad:
            at = ", ".join(str(int(i)) for i in np.unravel_index(int(np.argmin(finite)), made.shape)[1:])
            verb = "is" if bad == 1 else "are"
            raise Broken(
                f"{bad} of its {made.size} values {verb} not finite, the first at slice, row, column {at}",
                "replace them, for example by numpy.nan_to_num",
            )
    return volume_sample(made, path.name.split(".")[0], title=path.name, source=str(path), notes=notes)
