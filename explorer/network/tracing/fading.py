"""Tell what a value hears of a change from what fades with the distance, and from what rounding leaves of it."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

LOUD = 30.0  # times the size of x, for layers that pass on only what is large
FAINT = 1e4  # times the spacing of floating-point numbers: less is what fades with the distance
SHARP = -0.25  # power of that spacing by which what is heard stands out where it ends at once


def heard(
    before: Tensor,
    after: Tensor,
    farthest: Callable[[Tensor], float],
    straight: Callable[[Tensor], float] | None = None,
) -> tuple[float, bool]:
    """Return how far a change is heard, and whether it fades at the end, so that it may go on without being heard.

    What ends at once and is rounding behind that is heard as far as its end: sums that cancel, as in a mean by
    differences of running sums, and a convolution by Fourier transforms leave rounding everywhere.

    Args:
        before, after: values without and with the change.
        farthest: which values have changed -> how far from the change they lie.
        straight: the same without going round an edge, where `farthest` does: what is heard round it is no end.
    """
    if not before.is_floating_point() or not before.numel():
        return farthest(after != before), False
    change = (after - before).abs()
    eps = torch.finfo(change.dtype).eps
    least = FAINT * eps * float(before.abs().max())
    reach, plain = farthest(change > 0), farthest(change > least)
    if plain >= reach:
        return reach, False
    stands_out = change > least * eps**SHARP
    ends = bool(stands_out.any()) and farthest(stands_out) == plain
    ends = ends and (straight is None or straight(change > least) == plain)
    return (plain, False) if ends else (reach, True)
