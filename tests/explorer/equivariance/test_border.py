"""Sentences about a fault that comes in at the border of a sequence or of an image."""

from __future__ import annotations

import torch
from torch import nn

import equiscope
from tests.foreign.networks.strangers.strangers_sums import LongWay, Steps


def noted(network: Steps) -> str:
    x = torch.randn(128, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return " ".join(equiscope.check_equivariance(network, equiscope.sequence(x, "NTC"), "shift").warnings)


def test_the_border_is_told_from_code_between_the_layers() -> None:
    torch.manual_seed(1)
    assert "at the border, where a layer before" in noted(Steps(LongWay(128), False).double())
    torch.manual_seed(1)
    weighted = Steps(LongWay(128), True, bias=False).double()
    assert "by code between layer and last" in noted(weighted)


def test_patches_that_leave_pixels_over_are_told_of_when_a_shift_goes_round_the_edge() -> None:
    class Unfolds(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Linear(16, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            patches: torch.Tensor = nn.functional.unfold(x, 4, stride=4).transpose(1, 2)
            return torch.tanh(self.embed(patches)).sum(1)

    torch.manual_seed(0)
    network = Unfolds()
    assert equiscope.check_equivariance(network, torch.rand(1, 1, 12, 12), "translation", details=False).holds
    uneven = equiscope.check_equivariance(network, torch.rand(1, 1, 13, 13), "translation", details=False)
    assert any("13x13 is no multiple of the steps of 4" in hint for hint in uneven.hints)
