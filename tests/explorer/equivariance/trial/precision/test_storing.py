"""Stored precision excuses what moving stored numbers explains: filters that are symmetric as stored, and no fault."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import conv2d

from explorer.equivariance.check import check_equivariance
from explorer.equivariance.trial.precision.rounding import coarseness


class Towers(nn.Module):
    """Four turned views through one filter, one of them through a copy, turned back and added; (N, 2, h, w)."""

    def __init__(self, apart: float) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.filter = nn.Parameter(torch.randn(2, 1, 3, 3))
        self.copy = nn.Parameter(self.filter.detach().clone())
        with torch.no_grad():
            self.copy[0, 0, 0, 0] += apart

    def forward(self, x: Tensor) -> Tensor:
        filters = (self.filter, self.filter, self.copy, self.filter)
        seen = (conv2d(torch.rot90(x, k, (2, 3)), w, padding=1) for k, w in enumerate(filters))
        return torch.stack([torch.rot90(y, -k, (2, 3)) for k, y in enumerate(seen)]).sum(0)


class Stored(nn.Module):
    """A filter that was averaged over turns in single precision, and is stored so; (N, 1, h, w) -> (N, 3, h, w)."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        w = torch.randn(3, 1, 5, 5) / 3
        w = (w + torch.rot90(w, 1, (2, 3)) + torch.rot90(w, 2, (2, 3)) + torch.rot90(w, 3, (2, 3))) * (1 / 3)
        self.weight = nn.Parameter(w * (1 + 1e-7 * torch.randn(w.shape)))

    def forward(self, x: Tensor) -> Tensor:
        return conv2d(x, self.weight, padding=2)


X = torch.randn(2, 1, 9, 9, generator=torch.Generator().manual_seed(1))


def test_filters_that_are_symmetric_as_stored_hold() -> None:
    report = check_equivariance(nn.Sequential(Stored(), nn.ReLU(), nn.Conv2d(3, 2, 1)), X, "C4")
    assert report.holds
    # the run rounds far less: it is what was stored that is excused
    assert report["0"].cumulative is not None and report["0"].cumulative > 1e-9


def test_a_fault_below_the_tolerance_of_stored_filters_is_found() -> None:
    """One copy of a filter is off by 5e-5: less than 64 eps of single precision times the root of the layers."""
    sound = check_equivariance(Towers(0.0), X, "C4")
    report = check_equivariance(Towers(5e-5), X, "C4")
    assert sound.holds and report.verdict == "broken"
    row = report.layers[-1]
    assert row.cumulative_max is not None and row.tolerance < row.cumulative_max
    assert row.cumulative_max < coarseness(torch.finfo(torch.float32).eps)  # what any stored filter may have
