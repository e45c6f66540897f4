"""Row G4: Euler steps approach the flow at order 1 (eq. 30); ResNet-18 is the standard one."""

from __future__ import annotations

import copy
from itertools import pairwise

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.images.resnet import KINDS, ResidualODE, ResNet, build_ode, build_resnet18


def network(step: float = 0.5, depth: int = 4, kind: int = 0) -> ResidualODE:
    built = build_ode(step, depth, kind).double()
    assert isinstance(built, ResidualODE)
    return built


def image(size: int = 12) -> Tensor:
    return torch.rand(1, 1, size, size, dtype=torch.float64)


def last_state(net: ResidualODE, x: Tensor) -> Tensor:
    for layer in net.steps:
        x = layer(x)
    return x


def flow(net: ResidualODE, x: Tensor, time: float, steps: int = 80) -> Tensor:
    """Integrate dx/dt = sigma(F(x)) by the classical Runge-Kutta method, in steps too small to matter."""
    h = time / steps
    for _ in range(steps):
        k1 = net.velocity(x)
        k2 = net.velocity(x + h / 2 * k1)
        k3 = net.velocity(x + h / 2 * k2)
        k4 = net.velocity(x + h * k3)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return x


@torch.no_grad()
def test_euler_approaches_the_flow_at_order_one() -> None:
    x = network().lift(image())
    exact = flow(network(), x, time=2.0)
    depths = (4, 8, 16, 32, 64)
    errors = [float((last_state(network(2.0 / k, k), x) - exact).norm() / exact.norm()) for k in depths]
    orders = [torch.tensor(a / b).log2().item() for a, b in pairwise(errors)]
    assert errors[0] > 1e-2
    assert orders[-1] == pytest.approx(1.0, abs=0.05), orders
    assert all(0.8 < order < 1.2 for order in orders), orders


@torch.no_grad()
def test_the_reference_itself_has_converged() -> None:
    x = network().lift(image())
    coarse, fine = flow(network(), x, 2.0, 40), flow(network(), x, 2.0, 80)
    assert (coarse - fine).norm() / fine.norm() < 1e-5


@torch.no_grad()
def test_a_wrong_sign_does_not_approach_the_flow() -> None:
    x = network().lift(image())
    exact = flow(network(), x, time=2.0)
    assert (last_state(network(-2.0 / 64, 64), x) - exact).norm() / exact.norm() > 0.5


@torch.no_grad()
def test_step_one_is_equation_30() -> None:
    net = network(step=1.0, depth=1)
    x = net.lift(image())
    conv = net.steps[0].get_submodule("conv")
    assert isinstance(conv, nn.Conv2d)
    convolved = F.conv2d(F.pad(x, (1, 1, 1, 1), mode="circular"), conv.weight, conv.bias)
    torch.testing.assert_close(net.pool(net.steps[0](x)), F.avg_pool2d(x + convolved.clamp(min=0), 2))
    plain = network(step=1.0, depth=1, kind=KINDS.index("plain"))
    torch.testing.assert_close(last_state(plain, x), convolved.clamp(min=0))


@torch.no_grad()
def test_the_image_survives_depth_in_the_residual_network_only() -> None:
    a, b = image(), image()

    def apart(kind: int) -> float:
        net = network(step=0.1, depth=20, kind=kind)
        return float((net(a) - net(b)).norm() / (net.pool(net.lift(a)) - net.pool(net.lift(b))).norm())

    assert apart(KINDS.index("residual")) > 0.5
    assert apart(KINDS.index("plain")) < 1e-3


@pytest.mark.parametrize("kind", range(2))
@torch.no_grad()
def test_shifts_by_whole_patches_commute_and_zero_padding_breaks_it(kind: int) -> None:
    net, x = network(kind=kind), image()

    def error() -> float:
        moved = net(x).roll((1, -3), (-2, -1))
        return float((net(x.roll((2, -6), (-2, -1))) - moved).norm() / moved.norm())

    assert error() < 1e-14
    net.steps[1].get_submodule("conv").padding_mode = "zeros"  # type: ignore[assignment]
    assert error() > 1e-4


def test_all_steps_share_one_field_and_depth_changes_no_weight() -> None:
    net = network(depth=20)
    assert sum(p.numel() for p in net.parameters()) == (9 + 1) * 8 + (9 * 8 + 1) * 8
    for twin in (net, copy.deepcopy(net), net.float()):
        weights = {id(layer.get_submodule("conv").weight) for layer in twin.steps}
        assert len(weights) == 1
    few, many = network(depth=2).state_dict(), network(depth=9).state_dict()
    assert all(torch.equal(few[key], many[key]) for key in few)
    names = dict(net.named_modules())
    assert all(f"steps.{k}.{part}" in names for k in range(20) for part in ("conv", "relu", "euler"))


@pytest.fixture(scope="module")
def resnet18() -> ResNet:
    built = build_resnet18()
    assert isinstance(built, ResNet)
    return built.eval()


def expected_names() -> set[str]:
    """Return the names in torchvision's resnet18 state_dict."""

    def norm(name: str) -> list[str]:
        kept = ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")
        return [f"{name}.{entry}" for entry in kept]

    names = ["conv1.weight", *norm("bn1"), "fc.weight", "fc.bias"]
    for stage in range(1, 5):
        for block in range(2):
            at = f"layer{stage}.{block}"
            names += [f"{at}.conv1.weight", *norm(f"{at}.bn1"), f"{at}.conv2.weight", *norm(f"{at}.bn2")]
            if stage > 1 and block == 0:
                names += [f"{at}.downsample.0.weight", *norm(f"{at}.downsample.1")]
    return set(names)


def test_resnet18_has_the_standard_parameters_and_names(resnet18: ResNet) -> None:
    assert sum(p.numel() for p in resnet18.parameters()) == 11_689_512
    state = resnet18.state_dict()
    assert set(state) == expected_names()
    assert len(state) == 122
    assert state["conv1.weight"].shape == (64, 3, 7, 7)
    assert state["layer3.0.downsample.0.weight"].shape == (256, 128, 1, 1)
    assert state["fc.weight"].shape == (1000, 512)
    assert not any(getattr(module, "inplace", False) for module in resnet18.modules())


def by_the_paper(state: dict[str, Tensor], x: Tensor) -> Tensor:
    """Compute ResNet-18 from its weights alone, in functions."""

    def conv(name: str, x: Tensor, stride: int = 1) -> Tensor:
        weight = state[f"{name}.weight"]
        return F.conv2d(x, weight, stride=stride, padding=weight.shape[-1] // 2)

    def norm(name: str, x: Tensor) -> Tensor:
        mean, var, gain, bias = (
            state[f"{name}.{entry}"][:, None, None] for entry in ("running_mean", "running_var", "weight", "bias")
        )
        return (x - mean) / (var + 1e-5).sqrt() * gain + bias

    x = F.max_pool2d(norm("bn1", conv("conv1", x, 2)).relu(), 3, 2, 1)
    for stage in range(1, 5):
        for block in range(2):
            at, stride = f"layer{stage}.{block}", 2 if stage > 1 and block == 0 else 1
            residual = norm(f"{at}.bn1", conv(f"{at}.conv1", x, stride)).relu()
            residual = norm(f"{at}.bn2", conv(f"{at}.conv2", residual))
            if stride == 2:
                x = norm(f"{at}.downsample.1", conv(f"{at}.downsample.0", x, 2))
            x = (x + residual).relu()
    return x.mean((-2, -1)) @ state["fc.weight"].T + state["fc.bias"]


@torch.no_grad()
def test_resnet18_is_the_network_of_the_paper() -> None:
    net = build_resnet18().double().eval()
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d):  # as after training, so that every part of the formula counts
            module.running_mean.normal_()  # type: ignore[union-attr,operator]
            module.running_var.uniform_(0.5, 2.0)  # type: ignore[union-attr,operator]
            module.weight.uniform_(0.5, 1.5)
            module.bias.normal_()
    x = torch.rand(1, 3, 64, 96, dtype=torch.float64)
    expected = by_the_paper(net.state_dict(), x)
    torch.testing.assert_close(net(x), expected, rtol=1e-10, atol=1e-10)


@torch.no_grad()
def test_resnet18_is_the_same_every_time_and_stays_finite(resnet18: ResNet) -> None:
    assert torch.equal(build_resnet18().state_dict()["fc.weight"], resnet18.fc.weight)
    scores = resnet18(torch.rand(1, 3, 224, 224))
    assert scores.shape == (1, 1000)
    assert scores.isfinite().all() and 1e-3 < scores.std() < 1e3
