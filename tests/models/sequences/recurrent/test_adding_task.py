"""The adding task: what is asked for, and that the start alone decides whether it is learned."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from benchmarks.published import published_adding
from explorer.declare.card import Card
from explorer.spaces.sequence.samples import tasks
from models.layers.recurrent.chrono import forgetting_times
from models.layers.recurrent.recurrence import gradient_norms, recurrence_of
from models.sequences.recurrent import adding_task as task
from tests.models.sequences.sequence_layers import trained

CARDS = {card.name: card for card in task.CARD}


def test_one_value_in_each_half_is_marked_and_the_sum_is_asked_for() -> None:
    x, total = tasks.adding(np.random.default_rng(0), 5000, 20)
    assert x.shape == (5000, 20, 2) and set(np.unique(x[..., 1])) == {0.0, 1.0}
    assert (x[:, :10, 1].sum(1) == 1).all() and (x[:, 10:, 1].sum(1) == 1).all()
    for row, asked in zip(x[:50], total[:50], strict=True):
        assert asked == pytest.approx(sum(v for v, mark in row.tolist() if mark))
    assert total.mean() == pytest.approx(1, abs=0.02) and total.var() == pytest.approx(1 / 6, abs=0.01)


def test_both_starts_have_the_same_weights_and_their_own_biases() -> None:
    usual, chrono = (recurrence_of(task.build(name)) for name in ("adding-standard", "adding-chrono"))
    assert torch.equal(usual.weight_ih, chrono.weight_ih) and torch.equal(usual.weight_hh, chrono.weight_hh)
    torch.testing.assert_close(forgetting_times(usual), torch.full((task.UNITS,), 3.7182817))
    times = forgetting_times(chrono)
    assert float(times.max()) <= task.STEPS + 1 and float(times.max()) > 3 * float(times.min())


def test_gradients_reach_the_marks_from_chrono_alone() -> None:
    x = torch.tensor(tasks.adding(np.random.default_rng(0), 1, task.STEPS)[0][0]).double()
    usual, chrono = (
        float(gradient_norms(task.build(name).double(), x)[0]) for name in ("adding-standard", "adding-chrono")
    )
    assert chrono > 1e6 * usual


def test_what_is_said_is_that_of_nn_lstm() -> None:
    network = trained(CARDS["adding-chrono"])
    layer = recurrence_of(network)
    peer = nn.LSTM(2, layer.units, batch_first=True).double()
    peer.load_state_dict({f"{name}_l0": value for name, value in layer.named_parameters()})
    x, total = (v.double() for v in task.drawn(np.random.default_rng(3), 20))
    with torch.no_grad():
        said = network.prediction(peer(x)[0][:, -1])[:, 0]  # type: ignore[operator]
        assert float((said - total).square().mean()) == pytest.approx(float(task.loss(network, x, total)), rel=1e-9)


@pytest.mark.parametrize("card", CARDS.values(), ids=lambda card: card.name)
@torch.no_grad()
def test_shipped_weights_have_the_figures_of_the_notes(card: Card) -> None:
    found = task.judge(trained(card).float())["error"]
    assert f"{found:.3f}" in card.notes[0]
    assert found < 0.03 if card.name == "adding-chrono" else found == pytest.approx(1 / 6, abs=0.02)


def test_training_repeats_itself() -> None:
    one, other = (task.trained("adding-chrono", epochs=0)[0] for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


def test_the_benchmark_gives_a_curve_for_each_start() -> None:
    usual, chrono = published_adding.run(steps=8, units=6, iterations=4, every=2)
    for row in (usual, chrono):
        assert [k for k, _ in row["curve"]] == [0, 2, 4] and row["error"] == row["curve"][-1][1] > 0
    assert usual["error"] != chrono["error"]
