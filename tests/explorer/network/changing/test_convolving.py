"""In double precision shifted products convolve, with the same numbers as torch but for rounding."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.autograd import forward_ad
from torch.nn import functional as F

from explorer.network.changing.convolving import Shifts, convolving
from explorer.network.changing.differentiating import Plainly

OPTIONS = (
    {"padding": 1},
    {},
    {"stride": 2, "padding": (1, 0, 2)},
    {"dilation": (1, 2, 1), "bias": False},
    {"groups": 2, "padding": "same"},
    {"padding": 1, "padding_mode": "circular"},
    {"padding": 2, "dilation": 2},
)
PICTURES = ({"padding": 1}, {"bias": False, "padding": (0, 2), "dilation": (1, 2)}, {"stride": 2}, {"groups": 2})


def _apart(one: Tensor, other: Tensor) -> float:
    assert one.shape == other.shape
    return float((one - other).detach().norm() / one.detach().norm())


@pytest.mark.parametrize("learning", [True, False], ids=["parameters", "signal alone"])
@pytest.mark.parametrize(
    ("kind", "shape", "options"),
    [(nn.Conv3d, (2, 4, 7, 8, 9), o) for o in OPTIONS] + [(nn.Conv2d, (2, 4, 31, 34), o) for o in PICTURES],
    ids=str,
)
def test_the_numbers_are_those_of_torch(
    kind: type[nn.Module], shape: tuple[int, ...], options: dict[str, Any], learning: bool
) -> None:
    torch.manual_seed(0)
    layer = kind(4, 6, 3, **options).double().requires_grad_(learning)
    x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    plain = layer(x)
    with convolving(x) as mode:
        assert isinstance(mode, Shifts)
        shifted = layer(x)
        with torch.no_grad():
            assert _apart(plain, layer(x)) < 1e-14
    assert _apart(plain, shifted) < 1e-14
    one, other = (torch.autograd.grad(y.pow(3).sum(), x, create_graph=True)[0] for y in (plain, shifted))
    assert _apart(one, other) < 1e-14
    assert _apart(*(torch.autograd.grad(g.square().sum(), x)[0] for g in (one, other))) < 1e-14


@pytest.mark.parametrize(
    ("function", "shape"),
    [(F.conv_transpose3d, (2, 4, 5, 6, 7)), (F.conv_transpose2d, (2, 4, 30, 33))],
    ids=["volumes", "pictures"],
)
@pytest.mark.parametrize("how", [(), (1,), (3,), (1, 0, 1, 2), (1, 1), (0, 0, 2)], ids=str)
def test_transposed_ones_are_those_of_torch(function: Any, shape: tuple[int, ...], how: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    x = torch.randn(shape, dtype=torch.float64)
    groups = how[2] if len(how) == 3 else 1
    weight = torch.randn(4, 6 // groups, *(3,) * (len(shape) - 2), dtype=torch.float64)
    bias = torch.randn(6, dtype=torch.float64)
    padding, dilation = (how or (0,))[0], how[3] if len(how) == 4 else 1
    options: dict[str, Any] = {"padding": padding, "groups": groups, "dilation": dilation}
    plain = function(x, weight, bias, **options)
    with convolving(x):
        assert _apart(plain, function(x, weight, bias, **options)) < 1e-14


def test_attribution_takes_shifts_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    products: list[int] = []
    product = torch.addmm
    monkeypatch.setattr(torch, "addmm", lambda *args, **more: products.append(1) or product(*args, **more))
    layer = nn.Conv3d(2, 3, 3, padding=1).double().requires_grad_(False)
    x = torch.randn(1, 2, 6, 6, 6, dtype=torch.float64, requires_grad=True)
    with convolving(x):
        with Plainly():
            made = layer(x)
        forwards = len(products)
        (found,) = torch.autograd.grad(made.square().sum(), x)
    assert len(products) == 2 * forwards > 0
    assert _apart(torch.autograd.grad(layer(x).square().sum(), x)[0], found) < 1e-14


def test_forward_derivatives_and_transforms_are_left_whole() -> None:
    layer = nn.Conv3d(2, 3, 3).double().requires_grad_(False)
    x, along = (torch.randn(1, 2, 5, 5, 5, dtype=torch.float64) for _ in range(2))
    true = layer(along) - layer.bias[:, None, None, None]
    with convolving(x):
        with forward_ad.dual_level():
            dual = forward_ad.unpack_dual(layer(forward_ad.make_dual(x, along))).tangent
        _, pushed = torch.func.jvp(layer, (x,), (along,))
        many = torch.func.vmap(layer)(x[None])
    assert _apart(true, dual) < 1e-13
    assert _apart(true, pushed) < 1e-13
    assert _apart(layer(x)[None], many) < 1e-14


def test_what_gains_nothing_is_left_to_torch() -> None:
    for x in (torch.zeros(1, 1, 4, 4, 4), torch.zeros(1, 4, 4, dtype=torch.float64)):
        with convolving(x) as mode:
            assert mode is None


@pytest.mark.parametrize("kind", [nn.Conv2d, nn.Conv3d])
def test_a_signal_that_is_too_small_is_refused_as_torch_refuses_it(kind: type[nn.Module]) -> None:
    x = torch.zeros(1, 1, 2, 2, *(2,) * (kind is nn.Conv3d), dtype=torch.float64)
    with convolving(x), pytest.raises(RuntimeError, match="size"):
        kind(1, 1, 3).double()(x)
