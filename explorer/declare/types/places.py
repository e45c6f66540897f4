"""Work on masks of places, with torch imported only once there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def eroded(places: Tensor, radius: int) -> Tensor:
    """Return 1 where no place within the radius along any axis, and none beyond an edge, is 0."""
    import torch

    lost = 1 - places
    for axis in range(lost.ndim):
        edge = lost.new_ones([radius if k == axis else size for k, size in enumerate(lost.shape)])
        # the largest of a window, along one axis after the other
        lost = torch.cat((edge, lost, edge), axis).unfold(axis, 2 * radius + 1, 1).amax(-1)
    return 1 - lost
