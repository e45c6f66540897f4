"""A layer behind one that hears of everything is judged where its own border is not heard of."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from equiscope import check_equivariance, sequence


class Behind(nn.Module):
    """An LSTM, whose state begins at zero, and convolutions with padding behind it: (1, steps, 4) -> (1, 3, steps)."""

    def __init__(self, kernel: nn.Module) -> None:
        super().__init__()
        self.lstm, self.conv = nn.LSTM(4, 5, batch_first=True), kernel

    def forward(self, x: Tensor) -> Tensor:
        said: Tensor = self.conv(self.lstm(x)[0].mT)
        return said


class Ramp(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * torch.linspace(1, 2, x.shape[-1], dtype=x.dtype)


def test_padding_behind_an_lstm_is_no_fault() -> None:
    torch.manual_seed(0)
    kernel = nn.Sequential(nn.Conv1d(5, 3, 3, padding=1), nn.ReLU(), nn.Conv1d(3, 3, 5, padding=2))
    report = check_equivariance(Behind(kernel), sequence(torch.randn(30, 4), "NTC"), "shift")
    assert report.verdict == "broken" and report.guilty == ("lstm",)


def test_a_fault_behind_an_lstm_is_one() -> None:
    torch.manual_seed(0)
    kernel = nn.Sequential(nn.Conv1d(5, 3, 3, padding=1), Ramp())
    report = check_equivariance(Behind(kernel), sequence(torch.randn(30, 4), "NTC"), "shift")
    assert report.guilty == ("lstm", "conv.1")
