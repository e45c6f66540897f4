"""Rounding of the run, of stored filters, and of what goes through a lower precision."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from explorer.equivariance.check import check_equivariance
from explorer.equivariance.trial.precision import rounding
from explorer.network.changing.precision import converted, copied

ROOT = Path(__file__).resolve().parents[5]


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
    code = f"import sys, torch; from explorer.equivariance.trial.precision.rounding import Casts\n{watched}\n"
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


class Low(nn.Module):
    """Adds up a set in bfloat16; the rows of the faulty one weigh more the later they stand."""

    def __init__(self, fault: float) -> None:
        super().__init__()
        self.fault, self.mix = fault, nn.Linear(4, 16).bfloat16()

    def forward(self, x: Tensor) -> Tensor:
        h = self.mix(x.bfloat16())
        h = h + h.mean(1, keepdim=True)
        return (h * (1 + self.fault * torch.linspace(-1, 1, x.shape[1]).bfloat16()[:, None])).float()


@pytest.mark.parametrize("fault", [0.0, 0.03, 0.1])
def test_a_fault_as_small_as_rounding_in_low_precision_might_be_does_not_hold(fault: float) -> None:
    torch.manual_seed(0)
    report = check_equivariance(Low(fault), torch.randn(2, 9, 4), "permutation")
    assert report.verdict == ("no law" if fault else "holds")
    assert any("in bfloat16 that may be rounding or a fault" in note for note in report.warnings) == bool(fault)
    assert not any("stays the same" in note for note in report.warnings)


class Several(Mixed):
    """Convolutions and attention under autocast, one after the other."""

    def __init__(self, padding_mode: str) -> None:
        super().__init__(True)
        self.more = nn.Conv2d(4, 4, 3, padding=1, padding_mode=padding_mode)

    def forward(self, x: Tensor) -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.more(torch.relu(self.conv(x)))


@pytest.mark.parametrize("mode", ["circular", "zeros"])
def test_a_layer_alone_is_run_under_the_autocast_that_it_was_called_in(mode: str) -> None:
    torch.manual_seed(0)
    report = check_equivariance(Several(mode), torch.rand(2, 1, 12, 12), "translation", dtype=torch.float32)
    assert report["more"].local is not None and (report["more"].local < 0.01) == (mode == "circular")
