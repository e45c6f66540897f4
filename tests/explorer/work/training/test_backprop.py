"""Back-propagation written out: equal to autograd to 1e-12, and to what the text says of one neuron."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn

from explorer.work.training import backprop
from explorer.work.training.backprop import LOSSES, Dense, Rung, ladder, loss_of, neuron, steps

SIZES = (5, 7, 4, 3)
TORCH = {"sigmoid": torch.sigmoid, "tanh": torch.tanh, "relu": torch.relu}


def chain(hidden: str, seed: int = 0) -> list[Dense]:
    chance = np.random.default_rng(seed)
    last = len(SIZES) - 2
    return [
        Dense(f"dense{k}", chance.normal(size=(m, n)), chance.normal(size=m), "sigmoid" if k == last else hidden)
        for k, (n, m) in enumerate(pairwise(SIZES))
    ]


def by_autograd(layers: list[Dense], x: np.ndarray, y: np.ndarray, loss: str) -> list[Rung]:
    """The same by torch, in double precision."""
    value, zs, made = torch.tensor(x), [], []
    for layer in layers:
        w = torch.tensor(layer.weight, requires_grad=True)
        b = torch.tensor(layer.bias, requires_grad=True)
        z = w @ value + b
        z.retain_grad()
        made.append((layer, value, w, b))
        value = TORCH[layer.activation](z)
        zs.append(z)
    wanted = torch.tensor(y)
    if loss == "squared error":
        cost = (value - wanted).square().sum() / 2
    else:
        cost = nn.functional.binary_cross_entropy(value, wanted, reduction="sum")
    cost.backward()
    return [
        Rung(layer, g.detach().numpy(), z.detach().numpy(), np.zeros(0), z.grad.numpy(), w.grad.numpy(), b.grad.numpy())  # type: ignore[union-attr]
        for (layer, g, w, b), z in zip(made, zs, strict=True)
    ]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("hidden", ["sigmoid", "tanh", "relu"])
def test_every_number_is_that_of_autograd(hidden: str, loss: str) -> None:
    layers, chance = chain(hidden), np.random.default_rng(1)
    x, y = chance.normal(size=SIZES[0]), np.array([0.0, 1.0, 0.0])
    mine, yours = ladder(layers, x, y, loss), by_autograd(layers, x, y, loss)
    for one, other in zip(mine, yours, strict=True):
        for name in ("z", "delta", "weight_gradient", "bias_gradient"):
            found, wanted = getattr(one, name), getattr(other, name)
            assert np.abs(found - wanted).max() <= 1e-12 * max(1.0, np.abs(wanted).max()), (one.layer.name, name)


def test_a_wrong_rule_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without σ' the comparison above fails."""
    monkeypatch.setitem(backprop.ACTIVATIONS, "tanh", (np.tanh, np.ones_like))
    with pytest.raises(AssertionError):
        test_every_number_is_that_of_autograd("tanh", "squared error")


def test_one_neuron_freezes_under_the_squared_error_and_learns_under_the_cross_entropy() -> None:
    """Nielsen's figures: 0.82 and 0.98 at the start; 0.09 and 0.20 after 300 epochs of squared error at rate 0.15."""
    found = {(loss, start): neuron(loss, start) for loss in LOSSES for start in backprop.STARTS}
    assert found["squared error", (0.6, 0.9)].output[0] == pytest.approx(0.8176, abs=1e-4)
    assert found["squared error", (2.0, 2.0)].output[0] == pytest.approx(0.9820, abs=1e-4)
    assert found["squared error", (0.6, 0.9)].output[-1] == pytest.approx(0.09, abs=0.01)
    assert found["squared error", (2.0, 2.0)].output[-1] == pytest.approx(0.20, abs=0.01)
    for start in backprop.STARTS:
        slow, quick = found["squared error", start], found["cross-entropy", start]
        a = slow.output[0]
        assert slow.delta[0] == pytest.approx(a * a * (1 - a)) and quick.delta[0] == pytest.approx(a)
        assert quick.output[50] < slow.output[50]
    frozen = found["squared error", (2.0, 2.0)]
    assert frozen.output[0] - frozen.output[100] < 0.1 < found["cross-entropy", (2.0, 2.0)].output[20]


def test_the_second_order_predicts_small_steps_and_the_first_less_well() -> None:
    layers, x, y = chain("tanh"), np.linspace(-1, 1, SIZES[0]), np.array([0.0, 1.0, 0.0])
    rates = np.array([1e-4, 1e-3, 1e-2])
    found = steps(layers, x, y, "squared error", rates)
    first, second = np.abs(found.first - found.real), np.abs(found.second - found.real)
    assert (second < first).all()
    # the error of the first order falls with the square of the step, that of the second with its cube
    assert math.log10(first[1] / first[0]) == pytest.approx(2, abs=0.05)
    assert math.log10(second[2] / second[1]) == pytest.approx(3, abs=0.15)
    numbers = [loss_of(backprop.stepped(layers, ladder(layers, x, y, "squared error"), r), x, y, "squared error")
               for r in (-1e-4, 0.0, 1e-4)]  # fmt: skip
    assert found.curvature == pytest.approx((numbers[0] - 2 * numbers[1] + numbers[2]) / 1e-8, rel=1e-3)
    assert found.best == pytest.approx(found.slope / found.curvature) or found.best == math.inf


def test_losses_are_likelihoods() -> None:
    y = np.linspace(0, 1, 5)
    spread = backprop.gaussian(0.3, y) - backprop.gaussian(0.3, np.array([0.3]))
    assert spread == pytest.approx([float(LOSSES["squared error"][0](np.array([0.3]), np.array([v]))) for v in y])
    for target in (0.0, 1.0):
        entropy = LOSSES["cross-entropy"][0](np.array([0.3]), np.array([target]))
        assert backprop.bernoulli(0.3, np.array([target]))[0] == pytest.approx(float(entropy))
    density = np.exp(-backprop.gaussian(0.3, np.linspace(-9, 9, 4001)))
    assert density.sum() * 18 / 4000 == pytest.approx(1.0)
    assert np.exp(-backprop.bernoulli(0.3, np.array([0.0, 1.0]))).sum() == pytest.approx(1.0)
