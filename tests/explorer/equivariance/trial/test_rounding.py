"""Rounding of the run, of stored filters, and of what goes through a lower precision."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from explorer.equivariance.check import check_equivariance
from explorer.equivariance.trial import rounding
from explorer.network.changing.precision import converted, copied

ROOT = Path(__file__).resolve().parents[4]


def test_what_is_turned_into_a_lower_precision_is_seen() -> None:
    casts = rounding.Casts(torch.float64)
    with casts:
        torch.ones(3, dtype=torch.float64) * 2
    assert casts.lowest is None
    with casts:
        torch.ones(3, dtype=torch.float64).float()
    assert casts.lowest == torch.float32


@pytest.mark.parametrize(("scratch", "given"), [(torch.float32, torch.float64), (torch.complex64, torch.complex128)])
def test_what_is_written_into_numbers_of_a_lower_precision_is_seen(scratch: torch.dtype, given: torch.dtype) -> None:
    """As in the spectral filters of Fourier neural operators."""
    casts = rounding.Casts(torch.float64)
    with casts:
        torch.zeros(3, dtype=given)[:2] = torch.ones(2, dtype=given)
        torch.zeros(3, dtype=scratch)[:2] = torch.ones(2, dtype=scratch)
    assert casts.lowest is None
    with casts:
        torch.zeros(3, dtype=scratch)[:2] = torch.ones(2, dtype=given)
    assert casts.lowest == torch.float32


@pytest.mark.slow
def test_a_run_is_watched_without_torchs_compiler() -> None:
    """Its import takes longer than the check of a small network."""
    watched = "with Casts(torch.float64): torch.ones(2).half()"
    code = f"import sys, torch; from explorer.equivariance.trial.rounding import Casts\n{watched}\n"
    code += "print('torch._dynamo' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split() == ["False"]


def test_complex_weights_stay_complex() -> None:
    net = nn.Module()
    net.w = nn.Parameter(torch.tensor([1 + 2j]))
    assert converted(net, torch.float64).w.dtype == torch.complex128
    assert complex(net.w.detach()[0]) == 1 + 2j


def test_a_compiled_network_is_copied_without_its_compiler() -> None:
    inside = nn.Linear(2, 2)
    assert type(copied(torch.compile(inside, backend="eager"))) is nn.Linear


class Mixed(nn.Module):
    """A convolution under autocast, which leaves double precision alone."""

    def __init__(self, on: bool) -> None:
        super().__init__()
        self.on, self.conv = on, nn.Conv2d(1, 4, 3, padding=1, padding_mode="circular")

    def forward(self, x: Tensor) -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.on):
            return torch.relu(self.conv(x))


def test_rounding_that_double_precision_is_spared_is_told() -> None:
    torch.manual_seed(0)
    images = torch.rand(2, 1, 12, 12)
    for on in (False, True):
        report = check_equivariance(Mixed(on), images, "translation")
        told = [note for note in report.warnings if "bfloat16 numbers in its forward, as under autocast" in note]
        assert report.holds and len(told) == on
    report = check_equivariance(Mixed(True), images, "translation", dtype=torch.float32)
    assert not any("as under autocast" in note for note in report.warnings)
