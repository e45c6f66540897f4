"""Eq. (53): gates that are rescaled follow a rescaled time up to the discretisation floor, a SimpleRNN does not."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
import torch
from torch import Tensor, nn

from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import parse_chain
from explorer.network.changing.moved_network import following
from explorer.state.state import State
from models.layers.recurrent.gru import GRU
from models.layers.recurrent.leaky_gated import GatedRNN, LeakyRNN, rescaled, rescaling_error
from models.layers.recurrent.lstm import LSTM
from models.layers.recurrent.recurrence import Recurrence
from models.layers.recurrent.simple_rnn import SimpleRNN
from models.sequences.recurrent.leaky_gated import CARD
from models.sequences.recurrent.simple_rnn import CARD as SIMPLE

STEPS = (0.4, 0.2, 0.1, 0.05)


def signal(t: Tensor) -> Tensor:
    return torch.stack([torch.sin(0.7 * t), torch.sin(0.31 * t + 1.0)], -1)


def turning(gain: float = 1.5, units: int = 6) -> Tensor:
    """Return U that turns pairs of units by 40 degrees a step: alone it never comes to rest."""
    c, s = math.cos(0.7), math.sin(0.7)
    return gain * torch.block_diag(*[torch.tensor([[c, -s], [s, c]])] * (units // 2)).double()


def with_same_update(kind: type[Recurrence], gain: float = 1.5) -> Recurrence:
    """Return a layer whose R(z, h) has the same W, U and b whatever its gates are."""
    torch.manual_seed(0)
    plain = SimpleRNN(2, 6, "zero").double()
    layer = kind(2, 6, "zero").double()
    with torch.no_grad():
        layer.weight_ih[-6:], layer.bias_ih[-6:], layer.bias_hh[-6:] = plain.weight_ih, plain.bias_ih, plain.bias_hh
        layer.weight_hh[-6:] = turning(gain)
    return layer


@pytest.mark.parametrize("kind", [LeakyRNN, GatedRNN])
def test_the_error_of_a_gated_network_falls_with_the_step_and_that_of_the_same_update_without_gate_does_not(
    kind: type[Recurrence],
) -> None:
    gated = [rescaling_error(with_same_update(kind), signal, 20.0, step) for step in STEPS]
    plain = [rescaling_error(with_same_update(SimpleRNN), signal, 20.0, step) for step in STEPS]
    assert all(0.3 < b / a < 0.7 for a, b in pairwise(gated)), gated  # Euler's method: of first order
    assert gated[-1] < 0.03
    assert min(plain) > 0.3, plain


@pytest.mark.parametrize("kind", [LSTM, GRU])
def test_lstm_and_gru_follow_as_well(kind: type[Recurrence]) -> None:
    torch.manual_seed(0)
    layer = kind(2, 6, "zero").double()
    found = [rescaling_error(layer, signal, 20.0, step) for step in STEPS]
    assert all(0.3 < b / a < 0.7 for a, b in pairwise(found)), found
    assert found[-1] < 0.03


def test_zero_shot_transfer_beats_the_unscaled_network_and_the_simple_rnn() -> None:
    """The signal is slowed down eight times: compared at matched times with the answer to the signal itself."""

    def missed(layer: Recurrence, alpha: float) -> float:
        t = torch.arange(1, 41, dtype=torch.float64)
        slow = torch.arange(1, 321, dtype=torch.float64) / 8
        with torch.no_grad():
            before, after = layer(signal(t)), rescaled(layer, alpha)(signal(slow))[7::8]
        return float((after - before).norm() / before.norm())

    torch.manual_seed(0)
    gated = GatedRNN(2, 6, "zero", pace=0.1).double()
    assert missed(gated, 1 / 8) < 0.1 < 0.4 < missed(gated, 1.0)
    assert missed(with_same_update(SimpleRNN, 0.9), 1 / 8) > 3 * missed(gated, 1 / 8)


@pytest.mark.parametrize("kind", [LeakyRNN, GatedRNN])
def test_one_step_is_equation_53(kind: type[Recurrence]) -> None:
    torch.manual_seed(0)
    layer = rescaled(kind(2, 5, "zero").double(), 0.5)
    with torch.no_grad():
        v = {k: w[:, 0] for k, w in layer.run(torch.randn(15, 1, 2, dtype=torch.float64)).items()}
    before = torch.cat([torch.zeros(1, 5, dtype=torch.float64), v["hidden"][:-1]])
    torch.testing.assert_close(v["hidden"], v["gate"] * v["candidate"] + (1 - v["gate"]) * before)
    assert 0 < float(v["gate"].min()) <= float(v["gate"].max()) < 0.5
    constant = bool((v["gate"] == v["gate"][0]).all())
    assert constant == (kind is LeakyRNN)


def test_a_gate_at_one_makes_it_a_simple_rnn() -> None:
    layer, plain = with_same_update(GatedRNN), with_same_update(SimpleRNN)
    with torch.no_grad():
        layer.weight_ih[:6], layer.weight_hh[:6], layer.bias_ih[:6] = 0.0, 0.0, 60.0
        x = torch.randn(20, 2, dtype=torch.float64)
        torch.testing.assert_close(layer(x), plain(x), rtol=0, atol=1e-12)


def test_rescaling_leaves_the_original_alone_and_multiplies() -> None:
    layer = GRU(2, 4, "zero").double()
    x = torch.randn(10, 2, dtype=torch.float64)
    with torch.no_grad():
        before = layer(x)
        twice = rescaled(rescaled(layer, 0.5), 2.0)
        assert not torch.allclose(rescaled(layer, 0.5)(x), before)
        torch.testing.assert_close(layer(x), before, rtol=0, atol=0)
        torch.testing.assert_close(twice(x), before, rtol=0, atol=1e-14)
        plain = SimpleRNN(2, 4).double()
        torch.testing.assert_close(rescaled(plain, 0.5)(x), plain(x), rtol=0, atol=0)


def test_what_cannot_be_is_refused() -> None:
    for alpha in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="alpha must be"):
            rescaled(nn.Linear(1, 1), alpha)
    with pytest.raises(ValueError, match="pace must lie between"):
        GatedRNN(1, 2, pace=1.0)


@pytest.mark.parametrize("card", CARD, ids=lambda card: card.name)
def test_cards_start_near_the_pace(card: object) -> None:
    model = card.build(units=4, pace=0.05)  # type: ignore[attr-defined]
    seen: list[Tensor] = []
    model.recurrent.gate.register_forward_hook(lambda _, __, v: seen.append(v))
    with torch.no_grad():
        assert model(0.1 * torch.randn(9, 1)).shape == (9, 1)
    assert float(seen[0].mean()) == pytest.approx(0.05, rel=0.3)


def rescaled_answer(name: str, rate: float, **params: float) -> float:
    """Return the error of the answer to a sine at another pace, as the window shows it."""
    card = next(c for c in (*CARD, SIMPLE) if c.name == name)
    wanted = State(
        name, sample="sine", steps=parse_chain(f"rescale:{rate}"), layer="prediction", device="cpu", dtype="float64",
        params=tuple(sorted(params.items())),
    )  # fmt: skip
    frame = LocalEngine({name: card}).answer(wanted, lambda: False)
    error = frame.squares[0].measures["prediction"].cumulative
    assert error is not None
    return error


@pytest.mark.slow
@pytest.mark.parametrize(("name", "rate"), [("leaky-rnn", 0.5), ("gated-rnn", 0.5), ("leaky-rnn", 0.25)])
def test_with_the_right_alpha_the_error_in_the_window_falls_to_the_floor_which_halves_with_the_pace(
    name: str, rate: float
) -> None:
    paces = (0.3, 0.15, 0.075, 0.0375)
    follows = [rescaled_answer(name, rate, pace=p, alpha=rate) for p in paces]
    stays = [rescaled_answer(name, rate, pace=p) for p in paces]
    assert all(0.3 < b / a < 0.75 for a, b in pairwise(follows)), follows  # Euler's method: of first order
    assert all(a < 0.4 * b for a, b in zip(follows, stays, strict=True)), (follows, stays)
    assert follows[0] < min(rescaled_answer(name, rate, pace=0.3, alpha=a) for a in (rate / 2, rate * 2))


def test_a_simple_rnn_has_nothing_that_could_follow() -> None:
    assert "alpha" not in {p.name for p in SIMPLE.params}
    found = [rescaled_answer("simple-rnn", 0.5, gain=g) for g in (0.9, 1.2)]
    assert min(found) > 2 * rescaled_answer("leaky-rnn", 0.5, alpha=0.5), found
    layer, x = SimpleRNN(1, 4), torch.randn(9, 1)
    layer.alpha = 0.5
    with torch.no_grad(), following(layer):
        torch.testing.assert_close(layer(x), rescaled(layer, 2.0)(x), rtol=0, atol=0)


def test_the_figures_of_the_notes_are_those_of_the_window() -> None:
    for card in CARD:
        for alpha in (1.0, 0.5):
            assert f"{rescaled_answer(card.name, 0.5, alpha=alpha):.3f}" in card.notes[0]
        assert f"{rescaled_answer(card.name, 0.5, alpha=0.5, pace=0.15):.3f}" in card.notes[0]


@pytest.mark.parametrize("kind", [LeakyRNN, GatedRNN, LSTM, GRU])
def test_alpha_acts_inside_the_block_alone_and_the_fixed_point_stays(kind: type[Recurrence]) -> None:
    torch.manual_seed(0)
    layer = kind(2, 5).double()
    layer.alpha = 0.25
    x = torch.randn(12, 2, dtype=torch.float64)
    with torch.no_grad():
        before, start = layer(x), layer.beginning(1)
        with following(layer):
            inside, slow = layer(x), layer.beginning(1)
        torch.testing.assert_close(inside, rescaled(layer, 0.25)(x), rtol=0, atol=1e-14)
        torch.testing.assert_close(layer(x), before, rtol=0, atol=0)
    assert not torch.allclose(inside, before)
    for one, other in zip(start, slow, strict=True):  # R(0, h) = h whatever the pace
        torch.testing.assert_close(one, other, rtol=0, atol=1e-9)
