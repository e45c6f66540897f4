"""A fraction of the steps is a coarser sequence where a trial shows it, and else the last of them, or none."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from explorer.equivariance.check import check_equivariance
from explorer.spaces.sequence.network.inputs import sequence_inputs

STEPS, AHEAD = 96, 6


class Window(nn.Module):
    """Mixes along a window of one length."""

    def __init__(self, last: bool) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv1d(3, 8, 3, padding=1, padding_mode="circular")
        self.pos = nn.Parameter(torch.zeros(1, 8, STEPS))
        self.out, self.last = nn.Linear(8, 2), last

    def forward(self, x: Tensor) -> Tensor:
        h = torch.relu(self.conv(x.transpose(1, 2)) + self.pos)
        h = h[..., -AHEAD:] + h.mean(-1, keepdim=True) if self.last else h.unflatten(-1, (AHEAD, -1)).mean(-1)
        return torch.tanh(self.out(h.transpose(1, 2)))


@pytest.mark.parametrize("last", [True, False])
def test_the_last_steps_are_no_coarser_sequence(last: bool) -> None:
    x = torch.randn(STEPS, 3, generator=torch.Generator().manual_seed(0))
    report = check_equivariance(Window(last), sequence_inputs(x, "NTC"), "circular-shift", details=False)
    output = next(row for row in report.layers if row.name == "output")
    if last:
        assert output.field == "unknown" and report.verdict == "no law"
    else:
        assert "/16" in output.field and report.verdict == "holds"
