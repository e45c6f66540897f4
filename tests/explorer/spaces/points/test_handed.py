"""Check whether points are known to differ from their mirror image."""

from __future__ import annotations

import pytest
import torch

from explorer.declare.inputs import Inputs
from explorer.spaces.points.fields import POSITION
from explorer.spaces.points.network.inference import is_handed


@pytest.mark.parametrize("count", [5, 200, 20_000])
@pytest.mark.parametrize("hollow", [False, True])
def test_how_many_points_there_are_says_nothing_of_their_mirror_image(count: int, hollow: bool) -> None:
    """Of more than a hundred points it was said that they are their own mirror image, whatever they were."""
    chance = torch.Generator().manual_seed(count)
    cloud = torch.randn(count, 3, generator=chance, dtype=torch.float64)
    cloud = cloud / cloud.norm(dim=1, keepdim=True) if hollow else cloud
    turn = torch.linalg.qr(torch.randn(3, 3, generator=chance, dtype=torch.float64)).Q

    def handed(places: torch.Tensor) -> bool:
        return is_handed(Inputs((places @ turn + 5,), (POSITION,), ("position",)))

    assert handed(cloud)
    assert not handed(torch.cat([cloud, cloud * torch.tensor([1.0, 1, -1])]))  # a plane of symmetry
    assert not handed(torch.cat([cloud, -cloud]))  # a centre
    assert not handed(cloud * torch.tensor([1.0, 1, 0]))
