"""Hidden features of kinds that nothing declares: followed by linear maps up to the layer that makes a fault."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from equiscope import check_equivariance


class Waves(nn.Module):
    """Filters of rotation order 1: real and imaginary parts, which a quarter turn mixes (Worrall et al. 2017)."""

    def __init__(self, channels: int, given: int = 0) -> None:
        super().__init__()
        side = torch.arange(5.0, dtype=torch.float64) - 2
        angle, away = torch.atan2(side[:, None], side[None]), side[:, None] ** 2 + side[None] ** 2
        rings = torch.stack([(away == square).double() for square in (1, 2, 4)])
        self.cos: Tensor
        self.register_buffer("cos", rings * angle.cos())
        self.register_buffer("sin", rings * angle.sin())
        self.weight = nn.Parameter(torch.randn(channels, given or 1, 3) / 3)

    def forward(self, re: Tensor, im: Tensor | None = None) -> tuple[Tensor, Tensor]:
        cos, sin = (torch.einsum("oir,rhw->oihw", self.weight, of.to(re)) for of in (self.cos, self.sin))
        conv = nn.functional.conv2d
        if im is None:
            return conv(re, cos, padding=2), conv(re, sin, padding=2)
        return (
            conv(re, cos, padding=2) - conv(im, sin, padding=2),
            conv(re, sin, padding=2) + conv(im, cos, padding=2),
        )


class Bend(nn.Module):
    """Scales complex numbers by their modulus; the fault looks at one part alone."""

    def __init__(self, fault: bool = False) -> None:
        super().__init__()
        self.fault = fault

    def forward(self, re: Tensor, im: Tensor) -> tuple[Tensor, Tensor]:
        size = re**2 if self.fault else re**2 + im**2
        return re / (1 + size), im / (1 + size)


class Harmonic(nn.Module):
    def __init__(self, fault: bool) -> None:
        super().__init__()
        self.first, self.bend, self.then, self.again = Waves(4), Bend(fault), Waves(4, 4), Bend()
        self.head = nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        re, im = self.again(*self.then(*self.bend(*self.first(x))))
        answer: Tensor = self.head((re**2 + im**2).mean((-2, -1)))
        return answer


X = torch.randn(3, 1, 12, 12, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def test_the_first_layer_that_follows_by_no_linear_map_is_named() -> None:
    torch.manual_seed(0)
    report = check_equivariance(Harmonic(True), X, "C4")
    assert report.verdict == "broken" and report.guilty == ("bend",)
    assert not report.made
    assert any(
        "first, first[1] follow the elements by a rotation of their channels" in note for note in report.warnings
    )
    assert report["first"].field == "unknown", "it is no map of scalars, as it was taken for"


def test_a_sound_network_of_such_features_holds() -> None:
    torch.manual_seed(0)
    assert check_equivariance(Harmonic(False), X, "C4").verdict == "holds"


class Products(nn.Module):
    """Vectors of points in one axis of channels, multiplied as crosses; the fault squeezes what comes of it."""

    def __init__(self, by: float = 1.0) -> None:
        super().__init__()
        self.by = by

    def forward(self, x: Tensor) -> Tensor:
        a, b = x.unflatten(1, (-1, 3)).chunk(2, 1)
        found = torch.linalg.cross(a, b, dim=-1)
        return (found / (1 + (found * found.new_tensor([1, 1, self.by])).norm(dim=-1, keepdim=True))).flatten(1)


class Mixed(nn.Module):
    def __init__(self, channels: int, given: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(channels, given) / 2)

    def forward(self, x: Tensor) -> Tensor:
        return torch.einsum("oi,nik->nok", self.weight, x.unflatten(1, (-1, 3))).flatten(1)


class Crosses(nn.Module):
    def __init__(self, by: float) -> None:
        super().__init__()
        self.one, self.two, self.three, self.four = Mixed(4, 3), Products(), Mixed(4, 2), Products(by)
        self.head = nn.Linear(2, 3)

    def forward(self, pos: Tensor) -> Tensor:
        away = pos - pos.mean(0)
        way = away[:, None] - away[None]
        near = torch.exp(-way.pow(2).sum(-1, keepdim=True))
        x = torch.stack([away, (way * near).sum(1), (way * near**4).sum(1)], 1).flatten(1)
        for layer in (self.one, self.two, self.three, self.four):
            x = layer(x)
        answer: Tensor = self.head(x.unflatten(1, (2, 3)).norm(dim=-1)).sum(0)
        return answer


def test_features_that_turn_in_one_axis_of_channels_are_followed() -> None:
    torch.manual_seed(1)
    x = torch.randn(12, 3)
    assert check_equivariance(Crosses(1.0), x, "SO3").verdict == "holds"
    report = check_equivariance(Crosses(0.9), x, "SO3")
    assert report.verdict == "broken" and report.guilty == ("four",)


@pytest.mark.parametrize("channels", [4, 16])
def test_a_plain_first_convolution_stays_accused_however_wide_it_is(channels: int) -> None:
    torch.manual_seed(0)  # with 16 filters of 3 x 3 every turned filter is a sum of them
    network = nn.Sequential(
        nn.Conv2d(1, channels, 3, padding=1), nn.GroupNorm(1, channels), nn.ReLU(),
        nn.Conv2d(channels, 4, 3, padding=1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3),
    )  # fmt: skip
    report = check_equivariance(network, X, "C4")
    assert report.verdict == "broken" and report.guilty == ("0", "3")


def test_a_linear_network_is_not_excused_by_the_map_that_its_answer_follows_by() -> None:
    torch.manual_seed(0)
    report = check_equivariance(nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.Conv2d(16, 16, 1)), X, "C4")
    assert report.verdict == "broken" and report.guilty == ("0",)
