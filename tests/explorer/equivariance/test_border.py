"""Sentences about a fault that comes in at the border of a sequence."""

from __future__ import annotations

import torch

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
    assert "by code between the layers before it" in noted(weighted)
