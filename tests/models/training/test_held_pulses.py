"""Pulses to hold: the task by its definition, and gates that do what the task asks for."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from explorer.declare.card import Card
from explorer.spaces.sequence.samples import tasks
from models.layers.recurrent.fixed_point import fixed_point
from models.layers.recurrent.recurrence import gradient_norms, recurrence_of
from models.sequences.recurrent import gru, lstm, simple_rnn
from models.training.sequences import held_pulses
from tests.models.sequences.sequence_layers import layers, trained

CARDS = {"simple-rnn": simple_rnn.CARD, "lstm": lstm.CARD, "gru": gru.CARD}

each_card = pytest.mark.parametrize("card", CARDS.values(), ids=lambda card: card.name)


def test_what_is_held_is_the_last_pulse() -> None:
    x, wanted = tasks.held(np.random.default_rng(0), 30, 80)
    for row, asked in zip(x[..., 0], wanted[..., 0], strict=True):
        last = 0.0
        for value, hold in zip(row, asked, strict=True):
            last = float(value) if value > 0.45 else last  # noise of 0.1 never gets that far
            assert hold == pytest.approx(last, abs=1e-6)
    assert (x > 0.45).mean() == pytest.approx(1 / 12, abs=0.03)


@each_card
@torch.no_grad()
def test_shipped_weights_have_the_figures_of_the_notes(card: Card) -> None:
    found = held_pulses.judge(trained(card).float())
    assert f"{found['error']:.3f}" in card.notes[0] and found["error"] < 0.45 * found["saying_the_mean"]


@pytest.mark.slow
def test_training_repeats_itself() -> None:
    one, other = (held_pulses.trained(gru.build, epochs=1)[0] for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


@pytest.mark.parametrize(("card", "gate"), [(lstm.CARD, "forget_gate"), (gru.CARD, "update")])
def test_some_units_keep_between_pulses_and_let_go_at_them(card: Card, gate: str) -> None:
    """The story that the heat map tells."""
    x, _ = tasks.held(np.random.default_rng(7), 1, 400)
    found = layers(trained(card), torch.tensor(x[0]).double())[f"recurrent.{gate}"]
    at = torch.tensor(x[0, :, 0] > 0.45)
    between, then = found[~at].mean(0), found[at].mean(0)
    assert bool(((between > 0.7) & (then < between - 0.3)).any()), (between, then)
    fresh = layers(card.build().double(), torch.tensor(x[0]).double())[f"recurrent.{gate}"]
    assert float((fresh[~at].mean(0) - fresh[at].mean(0)).abs().max()) < 0.3, "it was learned"


def test_the_gradient_reaches_back_to_the_pulse_that_is_held_and_hardly_beyond() -> None:
    x = np.zeros((60, 1))
    x[10], x[30] = 1.2, 0.8
    network = trained(gru.CARD)
    at = torch.tensor(x, requires_grad=True)
    (slope,) = torch.autograd.grad(network(at)[55, 0], at)
    assert float(slope[30].abs()) > 3 * float(slope[10].abs())
    assert float(gradient_norms(network, torch.tensor(x), 55)[31]) > 1e-3


def held_after(card: Card, steps: int) -> float:
    """Return how far apart the answers are, so many steps after a pulse of 1.4 and one of 0.6."""
    x = torch.zeros(2, steps + 6, 1, dtype=torch.float64)
    x[0, 5], x[1, 5] = 1.4, 0.6
    with torch.no_grad():
        high, low = trained(card).batched(x)[:, -1, 0].tolist()  # type: ignore[operator]
    return float(high - low)


@pytest.mark.slow
def test_gates_hold_longer_and_the_contraction_says_so() -> None:
    cards = (simple_rnn.CARD, lstm.CARD, gru.CARD)
    found = [fixed_point(recurrence_of(trained(card))) for card in cards]
    assert all(point.converged for point in found)
    slow = [point.contraction for point in found]
    assert slow[0] < slow[1] < slow[2] < 1.0
    for factor, card in zip(slow, cards, strict=True):
        said = card.notes[0].rpartition("Contraction at the fixed point: ")[2].split(",")[0].rstrip(".")
        assert f"{factor:.{len(said) - 2}f}" == said
    assert all(held_after(card, 3) > 0.3 for card in cards)
    assert held_after(gru.CARD, 40) > 0.3 > 0.1 > abs(held_after(simple_rnn.CARD, 40))


def test_the_gain_of_a_simple_rnn_is_kept_when_weights_are_read() -> None:
    weak, usual = (trained(simple_rnn.CARD, gain=g) for g in (0.3, 0.9))
    assert fixed_point(recurrence_of(weak)).contraction < 0.7 <= fixed_point(recurrence_of(usual)).contraction
