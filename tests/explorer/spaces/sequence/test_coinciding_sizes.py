"""Sequences of which a layer has as many channels as steps are left: a longer one tells which axis is time."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from equiscope import check_equivariance, sequence


class Strided(nn.Module):
    """A stride of four, then layers that take the channels last."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.down = nn.Conv1d(3, channels, 5, stride=4, padding=2)
        self.mix = nn.Linear(channels, channels)
        self.norm = nn.LayerNorm(channels)
        self.after = nn.Conv1d(channels, 2, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.down(x).transpose(1, 2)
        return self.after(self.norm(x + self.mix(x)).transpose(1, 2))  # type: ignore[no-any-return]


@pytest.mark.parametrize("channels", [16, 12])
def test_as_many_channels_as_steps_are_not_taken_for_time(channels: int) -> None:
    torch.manual_seed(0)
    report = check_equivariance(Strided(channels), sequence(torch.rand(64, 3), "NCT"), "shift")
    assert report.verdict == "holds", report.text()
    assert report["mix"].field == report["norm"].field == "step scalar /4 on axis 1"
