"""Fill an array of a shape that a text asks for: "random:64x3", "ramp:64x3", "ones:64x3", "zeros:64x3"."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from explorer.declare.samples import Array

KINDS = "random|ramp|ones|zeros"  # in a regular expression


def filling(
    text: str, kind: str, shape: tuple[int, ...], seed: int, most: int, noise: Callable[[], Array]
) -> tuple[Array, str]:  # fmt: skip
    """Return the numbers of a kind, float32, and where they come from in words.

    Args:
        text: as somebody wrote it.
        seed: of the noise, for the words.
        most: numbers at most.
        noise: makes those of "random".

    Raises:
        ValueError: it would be empty, or too large.
    """
    count = math.prod(shape)
    if not 0 < count <= most:
        raise ValueError(f"{text!r} has {count} numbers; write from 1 to {most}")
    match kind:
        case "random":
            return noise(), f"seed {seed}"
        case "ramp":
            return np.linspace(0, 1, count, dtype=np.float32).reshape(shape), "computed"
        case _:
            return np.full(shape, float(kind == "ones"), np.float32), "computed"
