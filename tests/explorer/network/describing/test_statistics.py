"""Statistics of layers against numpy's in double precision, and the layer that is named for NaN and infinities."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from explorer.network.describing.statistics import CHUNK, exact, first_strange, moments, silent_channels, statistics
from explorer.network.tracing.capture import capture
from explorer.network.tracing.trace import trace
from explorer.spaces.grid.fields import grid

CASES = {
    "normal": torch.randn(2, 3, 50, 70),
    "rectified": torch.randn(4, 90).relu(),
    "a large mean": 1e4 + torch.randn(300, 300),
    "constant": torch.full((3, 7), 2.5),
    "zeros": torch.zeros(5, 5),
    "one value": torch.tensor([-3.0]),
    "double": torch.randn(200, dtype=torch.float64),
    "half": torch.randn(1000).half(),
    "bfloat16": torch.randn(1000).bfloat16(),
    "strided": torch.randn(40, 30).t()[::2],
    "channels last": torch.randn(1, 8, 9, 9).to(memory_format=torch.channels_last),
    "numbers of symbols": torch.arange(50),
    "several parts": torch.randn(2 * CHUNK + 17).relu(),
}


@pytest.mark.parametrize("name", CASES)
def test_figures_are_those_of_numpy(name):
    v = CASES[name]
    found = statistics({name: v})[name]
    a = v.double().numpy()
    assert found.count == a.size and found.finite and found.strange == ""
    size = max(float(np.abs(a).max()), 1e-30)
    assert found.mean == pytest.approx(a.mean(), abs=2e-6 * size)
    assert found.std == pytest.approx(a.std(), rel=2e-3, abs=1e-6 * size * 1e-3)
    assert (found.low, found.high) == (a.min(), a.max())
    assert found.zeros == (a == 0).mean()


@pytest.mark.parametrize("name", CASES)
def test_the_exact_pass_agrees_with_the_quick_one(name):
    quick, slow = statistics({name: CASES[name]})[name], exact(CASES[name])
    for key in ("mean", "std", "low", "high", "zeros"):
        assert getattr(quick, key) == pytest.approx(getattr(slow, key), rel=2e-3, abs=2e-6 * max(abs(slow.high), 1.0))


def test_what_is_no_number_is_counted_and_left_out():
    v = torch.arange(12.0)
    v[2], v[3], v[4] = float("nan"), float("inf"), -float("inf")
    found = statistics({"v": v})["v"]
    rest = np.array([0, 1, 5, 6, 7, 8, 9, 10, 11.0])
    assert (found.nan, found.infinite, found.finite) == (1, 2, False)
    assert found.mean == pytest.approx(rest.mean()) and found.std == pytest.approx(rest.std())
    assert (found.low, found.high) == (0.0, 11.0) and found.strange == "1 NaN and 2 infinite"
    assert statistics({"v": torch.full((3,), float("nan"))})["v"].to_json()["mean"] is None


def test_large_values_overflow_no_figure():
    found = statistics({"v": torch.tensor([3e38, -3e38, 3e38])})["v"]
    assert found.finite and found.mean == pytest.approx(1e38, rel=1e-6) and found.high == pytest.approx(3e38, rel=1e-6)


def test_nothing_has_no_figures():
    found = statistics({"v": torch.zeros(0, 4)})["v"]
    assert found.count == 0 and found.to_json()["mean"] is None and statistics({}) == {}


def test_channels_that_are_zero_everywhere_are_silent():
    v = torch.randn(2, 5, 6).relu()
    v[:, 1] = 0
    v[0, 3] = 0
    v[:, 4] = -0.0
    assert silent_channels(v).tolist() == [False, True, False, False, True]
    v[1, 1, 5] = float("nan")
    assert not silent_channels(v)[1]


class _Poison(nn.Module):
    def forward(self, x):
        return torch.where(x > x.mean(), x, torch.nan)


@pytest.mark.parametrize("k", range(4))
def test_the_layer_that_makes_nan_is_named(k):
    torch.manual_seed(0)
    layers = [nn.Conv2d(1 if j == 0 else 2, 2, 3, padding=1) for j in range(4)]
    layers[k] = nn.Sequential(layers[k], _Poison())
    model = nn.Sequential(*layers).eval()
    x = torch.randn(1, 1, 8, 8)
    names = [layer.name for layer in trace(model, x, grid()).layers]
    with torch.no_grad():
        values, fed = capture(model, x, names, inputs=True)
    clause = first_strange(statistics({n: values[n] for n in names}), fed)
    assert f"values of {k}.1, the first layer" in clause and "what it was given is finite" in clause
    # of the layers after it none is at fault
    later = {n: statistics({n: values[n]})[n] for n in names[names.index(f"{k}.1") + 2 :]}
    assert not later or "has" in first_strange(later, fed)


def test_one_small_tensor_is_all_that_is_kept():
    assert moments(torch.randn(3, 1000)).shape == (5,)
