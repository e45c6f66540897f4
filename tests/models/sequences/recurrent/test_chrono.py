"""Chrono initialisation: where the biases lie, how long units remember, and how the gradient fares."""

from __future__ import annotations

import pytest
import torch

from models.layers.recurrent.chrono import chrono_, forgetting_times, measured_times, standard_
from models.layers.recurrent.fixed_point import fixed_point
from models.layers.recurrent.gru import GRU
from models.layers.recurrent.leaky_gated import GatedRNN, LeakyRNN
from models.layers.recurrent.lstm import LSTM
from models.layers.recurrent.recurrence import Recurrence, gradient_norms, recurrence_of
from models.layers.recurrent.simple_rnn import SimpleRNN
from models.sequences.recurrent.chrono import CARD, build

LONGEST = 200.0


@pytest.mark.parametrize("kind", [LSTM, GRU, LeakyRNN, GatedRNN])
def test_forgetting_times_are_spread_evenly_up_to_the_longest(kind: type[Recurrence]) -> None:
    layer = kind(1, 4000, "zero")
    chrono_(layer, LONGEST, torch.Generator().manual_seed(0))
    times = forgetting_times(layer)
    assert 1.999 <= float(times.min()) and float(times.max()) <= LONGEST * 1.001
    quantiles = torch.quantile(times, torch.tensor([0.25, 0.5, 0.75]))
    torch.testing.assert_close(quantiles, 2 + (LONGEST - 2) * torch.tensor([0.25, 0.5, 0.75]), rtol=0.05, atol=0)


def test_biases_of_an_lstm() -> None:
    layer = LSTM(1, 500)
    chrono_(layer, 50.0, torch.Generator().manual_seed(1))
    i, f, g, o = (layer.bias_ih + layer.bias_hh).detach().chunk(4)
    assert float(f.min()) >= 0.0 and 3.5 < float(f.max()) <= float(torch.tensor(49.0).log()) + 1e-6
    assert torch.equal(i, -f) and not g.any() and not o.any()
    standard_(layer)
    i, f, g, o = (layer.bias_ih + layer.bias_hh).detach().chunk(4)
    assert (f == 1.0).all() and not torch.cat([i, g, o]).any()
    torch.testing.assert_close(forgetting_times(layer), torch.full((500,), 3.7182817))


def test_a_cell_that_is_left_alone_decays_at_its_forgetting_time() -> None:
    layer = LSTM(1, 8, "zero").double()
    with torch.no_grad():
        layer.weight_hh.zero_()
        layer.weight_ih[:16].zero_()  # the gates do not see the input either
    chrono_(layer, LONGEST, torch.Generator().manual_seed(0))
    x = torch.zeros(60, 1, dtype=torch.float64)
    x[0] = 1.0
    with torch.no_grad():
        v = layer.run(x[:, None])
    rate = 1 - 1 / forgetting_times(layer)
    torch.testing.assert_close(v["cell"][59, 0], v["cell"][0, 0] * rate**59, rtol=1e-9, atol=0)
    torch.testing.assert_close(measured_times(v["forget_gate"][7, 0]), forgetting_times(layer), rtol=1e-9, atol=0)


def test_gradients_reach_further_back() -> None:
    torch.manual_seed(0)
    layer = LSTM(1, 16, "zero").double()
    x = torch.randn(150, 1, dtype=torch.float64)
    standard_(layer)
    usual = gradient_norms(layer, x)[0]
    chrono_(layer, LONGEST, torch.Generator().manual_seed(0))
    assert gradient_norms(layer, x)[0] > 1e6 * usual


def test_a_slow_fixed_point_is_finished_by_newton() -> None:
    layer = recurrence_of(build(longest=2000.0).double())
    with torch.no_grad():
        layer.bias_ih[2 * layer.units : 3 * layer.units] = 0.5  # a candidate that is not zero at rest
    found = fixed_point(layer)
    assert found.iterations == 500 and 0.99 < found.contraction < 1.0 and found.converged
    x = torch.randn(40, 1, dtype=torch.float64)
    with torch.no_grad():
        moved = layer(torch.cat([torch.zeros(20, 1, dtype=torch.float64), x]))[20:]
        torch.testing.assert_close(moved, layer(x), rtol=0, atol=1e-9)
        layer.start = "zero"
        assert float((moved - layer(x)).abs().max()) > 1e-3


def test_the_card_is_the_same_each_time_and_follows_its_parameter() -> None:
    one, other = (recurrence_of(CARD.build(longest=100)) for _ in range(2))
    assert torch.equal(one.bias_ih, other.bias_ih)
    longest = [float(forgetting_times(recurrence_of(CARD.build(longest=t))).max()) for t in (3, 100, 2000)]
    assert 2 <= longest[0] <= 3 < 50 < longest[1] <= 100 < 1000 < longest[2] <= 2001


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="3 steps or more"):
        chrono_(LSTM(1, 2), 2.0)
    for call in (lambda layer: chrono_(layer, 10.0), forgetting_times):
        with pytest.raises(TypeError, match="SimpleRNN has no gate"):
            call(SimpleRNN(1, 2))
