"""AR(τ) and latent AR: known recurrences, torch's RNN with the same weights, and the law of shifts."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from models.sequences.autoregressive import AR, CARD, CONTRACTION, ITERATIONS, LatentAR, drawn, error, judge, lagged
from models.training.sequences.computed import Drawn, judged_by
from tests.models.sequences.sequence_layers import layers, trained

CARDS = {card.name: card for card in CARD}


def latent(start: float = 0) -> LatentAR:
    network = trained(CARDS["latent-ar"], start=start)
    assert isinstance(network, LatentAR)
    return network


def test_lags_are_the_values_before() -> None:
    x = torch.arange(1.0, 13.0).view(6, 2)
    found = lagged(x, 3)
    for t in range(6):
        for k in range(1, 4):
            assert torch.equal(found[t, :, k - 1], x[t - k] if t >= k else torch.zeros(2))


def test_two_waves_without_noise_obey_a_recurrence_of_four_terms() -> None:
    """Each wave of frequency w is annihilated by 1 - 2 cos(w) z + z²; both by the product of the two."""
    a, b = 2 * math.pi / 16, 2 * math.pi / 5.5
    polynomial = np.polymul([1, -2 * math.cos(a), 1], [1, -2 * math.cos(b), 1])
    network = AR(4).double()
    with torch.no_grad():
        network.weight[3, :4] = torch.tensor(-polynomial[1:])
    t = torch.arange(60.0, dtype=torch.float64)
    x = (torch.sin(a * t + 1) + 0.5 * torch.sin(b * t))[:, None]
    found = layers(network, x)
    assert float(found["residual"][4:].abs().max()) < 1e-9
    torch.testing.assert_close(found["output"] + found["residual"], x, rtol=0, atol=1e-12)


@pytest.mark.parametrize("lags", [1, 3, 24])
def test_the_weights_of_every_lag_are_those_of_least_squares(lags: int) -> None:
    network = trained(CARDS["autoregressive"])
    assert isinstance(network, AR)
    x = drawn(np.random.default_rng(0), 200)[0].double()
    rows = np.concatenate([np.stack([s[24 - k : -k, 0] for k in range(1, lags + 1)], 1) for s in x.numpy()])
    wanted = np.concatenate([s[24:, 0] for s in x.numpy()])
    centred = rows - rows.mean(0)
    best = np.linalg.solve(centred.T @ centred, centred.T @ (wanted - wanted.mean()))
    np.testing.assert_allclose(network.weight[lags - 1, :lags].detach().numpy(), best, atol=2e-3)


def test_latent_ar_is_torchs_rnn_one_step_late() -> None:
    network = latent()
    rnn = nn.RNN(1, 16, batch_first=True).double()
    rnn.load_state_dict({
        "weight_ih_l0": network.given.weight, "bias_ih_l0": network.given.bias,
        "weight_hh_l0": network.u(), "bias_hh_l0": torch.zeros(16),
    })  # fmt: skip
    x = torch.randn(40, 1, dtype=torch.float64)
    found = layers(network, x)
    expected = rnn(x, found["first"])[0]
    torch.testing.assert_close(found["hidden"][1:], expected[:-1], rtol=0, atol=1e-12)
    torch.testing.assert_close(found["output"], network.predict(found["hidden"]), rtol=0, atol=1e-12)


def test_the_start_is_a_fixed_point_and_u_contracts() -> None:
    network = latent()
    with torch.no_grad():
        h, steps = network.fixed_point(torch.zeros(1, 1, dtype=torch.float64))
        after = torch.tanh(network.given.bias + h @ network.u().T)
        largest = torch.linalg.svdvals(network.u())[0]
    assert steps < ITERATIONS and float((after - h).abs().max()) < 1e-14
    assert float(largest) <= CONTRACTION + 1e-12


def late(x: Tensor, steps: int) -> Tensor:
    """Return x delayed, zeros before it, as long as it was."""
    return torch.cat([torch.zeros(steps, x.shape[1], dtype=x.dtype), x[: len(x) - steps]])


@torch.no_grad()
def shift_error(network: nn.Module, steps: int = 7) -> float:
    x = torch.randn(50, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    return float((network(late(x, steps))[steps:] - network(x)[:-steps]).abs().max())


@pytest.mark.parametrize("lags", [1, 8, 24])
def test_delayed_input_delays_the_predictions(lags: int) -> None:
    assert shift_error(trained(CARDS["autoregressive"], lags=lags)) < 1e-9


def test_latent_ar_obeys_the_law_from_its_fixed_point_alone() -> None:
    assert shift_error(latent()) < 1e-9
    assert shift_error(latent(start=1)) > 1e-2


def test_nothing_later_is_looked_at() -> None:
    for name in CARDS:
        network = trained(CARDS[name])
        x = torch.randn(20, 1, dtype=torch.float64, requires_grad=True)
        (gradient,) = torch.autograd.grad(network(x)[10].sum(), x)
        assert float(gradient[10:].abs().max()) == 0.0 and float(gradient[9].abs()) > 0


@pytest.mark.parametrize("name", CARDS)
@pytest.mark.parametrize("steps", [1, 2])
def test_short_series_are_predicted_too(name: str, steps: int) -> None:
    x = torch.ones(steps, 1, dtype=torch.float64)
    assert trained(CARDS[name])(x).shape == x.shape


def series() -> Drawn:
    return drawn(judged_by(), 200)


@torch.no_grad()
def test_the_notes_say_how_good_the_predictions_are() -> None:
    (x,) = series()
    for lags in (1, 2, 4, 8, 16, 24):
        found = error(trained(CARDS["autoregressive"], lags=lags).float()(x), x)
        assert f"{lags}: {found:.3f}" in CARDS["autoregressive"].notes[0], found
    told = judge(latent().float())
    note = CARDS["latent-ar"].notes[0]
    assert f"{told['error']:.3f}" in note and f"{told['iterations']:.0f} iterations" in note, told
