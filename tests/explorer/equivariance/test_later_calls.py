"""Answers of a layer that are as usual at first and not later: told by the layer, in no library's words."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter

from explorer.equivariance.check import check_equivariance
from explorer.network.tracing.layers import LayerError
from tests.explorer.parts.networks import conv


def freed(x: Tensor) -> Tensor:
    made = x.clone()
    made.untyped_storage().resize_(0)
    return made


ODD: dict[str, tuple[Callable[[Tensor], object], str]] = {
    "meta": (lambda x: x.to("meta"), "odd gives a tensor on the meta device"),
    "sparse": (lambda x: x.to_sparse(), "odd gives a sparse tensor: make it dense"),
    "nested": (lambda x: torch.nested.nested_tensor([x[0]]), "odd gives a nested tensor"),
    "oneDNN": (lambda x: x.float().to_mkldnn(), "odd gives a tensor in oneDNN's own layout"),
    "float8": (lambda x: x.to(torch.float8_e4m3fn), "odd gives float8_e4m3fn values"),
    "quantised": (lambda x: torch.quantize_per_tensor(x.float(), 0.1, 0, torch.quint8), "odd gives a quantised tensor"),
    "lazy": (lambda x: UninitializedParameter(), "odd gives a parameter that has no shape yet"),
    "freed": (freed, "odd gives a tensor whose memory has been given back"),
    "nothing": (lambda x: None, r"odd gave a tensor before, and now nothing \(None\), which holds no tensor"),
    "a text": (lambda x: "x", "odd gave a tensor before, and now str, which holds no tensor"),
}


class Odd(nn.Module):
    """Gives what it is given, and something else where it is fed alone."""

    def __init__(self, how: Callable[[Tensor], object]) -> None:
        super().__init__()
        self.how, self.within = how, False

    def forward(self, x: Tensor) -> object:
        return x if self.within else self.how(x)


class Net(nn.Module):
    def __init__(self, how: Callable[[Tensor], object]) -> None:
        super().__init__()
        self.odd, self.conv = Odd(how), conv(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        self.odd.within = True
        try:
            return self.conv(self.odd(x))  # type: ignore[no-any-return]
        finally:
            self.odd.within = False


IMAGE = torch.rand(1, 1, 9, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


@pytest.mark.filterwarnings("ignore::UserWarning")  # of torch, about nested and quantised tensors
@pytest.mark.parametrize(("how", "told"), ODD.values(), ids=ODD.keys())
def test_what_comes_later_is_told_by_its_layer(how: Callable[[Tensor], object], told: str) -> None:
    with pytest.raises(LayerError, match=told):
        check_equivariance(Net(how).double(), IMAGE, "C4", details=False)


def test_numbers_of_another_kind_later_are_told() -> None:
    with pytest.raises(ValueError, match="now bool values"):
        check_equivariance(Net(lambda x: x > 0).double(), IMAGE, "C4", details=False)


def test_nan_of_a_layer_that_is_fed_alone_is_no_law_kept() -> None:
    def missing(x: Tensor) -> Tensor:
        made = x.clone()
        made[..., 2, 3] = torch.nan
        return made

    report = check_equivariance(Net(missing).double(), IMAGE, "C4", details=False)
    odd = report["odd"]
    assert odd.verdict == "broken" and math.isinf(odd.local)


class Restless(nn.Module):
    """Sum in float32 in another order every time, as atomic additions do on a GPU."""

    def __init__(self, by: float) -> None:
        super().__init__()
        self.first, self.last, self.by, self.calls = nn.Conv2d(1, 2, 1), nn.Conv2d(2, 1, 1), by, 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        h = self.first(x).float()
        return self.last((h * (1 + self.by * (self.calls % 3))).to(x.dtype))


def test_what_is_summed_in_float32_need_not_repeat_itself_in_float64() -> None:
    """A graph network that adds at indices in float32 had no verdict on a GPU: its sums come in any order."""
    report = check_equivariance(Restless(1.2e-7), torch.randn(2, 1, 8, 8), "C4")
    assert report.holds
    assert not any("another answer" in note for note in (*report.warnings, *report.hints))
    report = check_equivariance(Restless(1e-3), torch.randn(2, 1, 8, 8), "C4")
    assert any("another answer" in note for note in report.warnings)
