"""Volumes are convolved slice by slice in double precision, with the same numbers but for rounding."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from explorer.network.changing.slicing import Slices, slicing

OPTIONS = (
    {"padding": 1},
    {"stride": 2, "padding": (1, 0, 2)},
    {"dilation": (1, 2, 1), "bias": False},
    {"groups": 2, "padding": "same"},
    {"padding": 1, "padding_mode": "circular"},
)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_numbers_are_those_of_torch(options: dict[str, Any]) -> None:
    torch.manual_seed(0)
    layer = nn.Conv3d(4, 6, 3, **options).double()
    x = torch.randn(2, 4, 7, 8, 9, dtype=torch.float64, requires_grad=True)
    plain = layer(x)
    with slicing(x) as mode:
        assert isinstance(mode, Slices)
        sliced = layer(x)
    assert sliced.shape == plain.shape
    assert float((sliced - plain).detach().norm() / plain.detach().norm()) < 1e-14
    one, other = (torch.autograd.grad(y.square().sum(), x)[0] for y in (plain, sliced))
    assert float((one - other).norm() / one.norm()) < 1e-14


def test_what_gains_nothing_is_left_to_torch() -> None:
    for x in (torch.zeros(1, 1, 4, 4, 4), torch.zeros(1, 1, 4, 4, dtype=torch.float64)):
        with slicing(x) as mode:
            assert mode is None


def test_a_volume_that_is_too_small_is_refused_as_torch_refuses_it() -> None:
    with slicing(x := torch.zeros(1, 1, 2, 2, 2, dtype=torch.float64)), pytest.raises(RuntimeError, match="size"):
        nn.Conv3d(1, 1, 3).double()(x)
