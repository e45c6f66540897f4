"""Derivatives through what is computed in another form are those of torch's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
import torch
import torch.autograd.forward_ad as fwd
from torch import Tensor, nn

from explorer.network.changing.differentiating import Plainly
from explorer.network.tracing.capture import gradients_to_inputs
from tests.explorer.parts.networks import conv

NETWORKS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    "plain": (lambda: nn.Conv2d(2, 3, 3, padding=1), (2, 2, 7, 6)),
    "strided": (
        lambda: nn.Conv2d(2, 4, (3, 2), stride=(2, 3), padding=(1, 0), dilation=(2, 1), groups=2),
        (1, 2, 9, 8),
    ),
    "same": (lambda: nn.Conv2d(1, 2, 3, padding="same"), (1, 1, 5, 5)),
    "circular": (lambda: nn.Conv2d(1, 2, 3, padding=1, padding_mode="circular"), (1, 1, 5, 5)),
    "no batch": (lambda: nn.Conv1d(2, 3, 3, stride=2), (2, 8)),
    "solid": (lambda: nn.Conv3d(1, 2, 2, stride=2, bias=False), (1, 1, 5, 4, 6)),
    "normalised": (lambda: nn.Sequential(conv(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), conv(3, 2, 3)), (2, 1, 6, 6)),
    "bare": (lambda: nn.BatchNorm1d(3, affine=False), (4, 3)),
    "of the batch": (lambda: nn.BatchNorm1d(3, track_running_stats=False), (4, 3)),
}


def made(name: str) -> tuple[nn.Module, Tensor]:
    torch.manual_seed(0)
    network, shape = NETWORKS[name][0]().double().eval(), NETWORKS[name][1]
    for module in network.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm) and module.running_var is not None:
            assert module.running_mean is not None
            module.running_mean.uniform_(-1, 1), module.running_var.uniform_(0.5, 2)
    return network, torch.randn(shape, dtype=torch.float64)


def derivatives(network: nn.Module, x: Tensor) -> Sequence[Tensor]:
    """Return the answer, J^T v, and the derivative of <J^T v, e> along v and x, with the network's parameters held."""
    with gradients_to_inputs(network):
        x = x.clone().requires_grad_(True)
        out = network(x)
        v = torch.cos(torch.arange(out.numel(), dtype=torch.float64)).view_as(out).requires_grad_(True)
        (slope,) = torch.autograd.grad((out * v).sum(), x, create_graph=True)
        (moved,) = torch.autograd.grad((slope * torch.sin(x.detach())).sum(), v)
    return out, slope, moved


@pytest.mark.parametrize("name", NETWORKS)
def test_derivatives_are_those_of_the_usual_form(name: str) -> None:
    network, x = made(name)
    expected = derivatives(network, x)
    with Plainly():
        found = derivatives(network, x)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("name", ["normalised", "bare", "of the batch", "strided"])
def test_forward_mode_gives_the_same(name: str) -> None:
    network, x = made(name)
    found = []
    for forwards in (True, False):
        with torch.no_grad(), fwd.dual_level():
            dual = fwd.make_dual(x, torch.sin(x))
            if forwards:
                with Plainly(forwards=True):
                    found.append(fwd.unpack_dual(network(dual)))
            else:
                found.append(fwd.unpack_dual(network(dual)))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-13, atol=1e-14)


def test_weights_that_a_derivative_is_taken_along_keep_the_usual_form() -> None:
    network, x = made("plain")
    with Plainly():
        network(x.requires_grad_(True)).square().sum().backward()
    weight = network.weight
    assert isinstance(weight, Tensor) and weight.grad is not None and float(weight.grad.abs().max()) > 0
