"""Outputs that are the same on all of the data, and not on others: their laws are judged there."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from explorer.equivariance.check import check_equivariance


class Codes(nn.Module):
    """A picture made of the nearest of two codes, of which one is near everything that is small."""

    def __init__(self, broken: bool) -> None:
        super().__init__()
        self.near = nn.Conv2d(1, 1, 3, padding=1, padding_mode="circular", bias=False)
        self.broken = broken

    def forward(self, x: Tensor) -> Tensor:
        found = self.near(x)
        other = torch.linspace(1, 2, x.shape[-1]).to(x) if self.broken else torch.ones_like(x)
        return torch.where(found > 0.8, other, 0.5 * torch.ones_like(x))


@pytest.mark.parametrize(("broken", "verdict"), [(False, "holds"), (True, "broken")])
def test_a_code_that_is_near_all_of_the_data_hides_no_fault(broken: bool, verdict: str) -> None:
    network = Codes(broken)
    nn.init.dirac_(network.near.weight)
    # below the threshold, which some of them pass when they are drawn anew, each changed
    picture = 0.3 + 0.45 * torch.rand(1, 1, 12, 12, generator=torch.Generator().manual_seed(0))
    report = check_equivariance(network, picture, "translation", details=False)
    assert report.verdict == verdict
    assert any("it is judged on their numbers drawn anew too" in note for note in report.warnings)
