"""The letters that are repeated, the three networks that learn them, and one of them at another pace."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest
import torch

from benchmarks.published import published_warps
from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import parse_chain
from explorer.spaces.sequence.samples import tasks
from explorer.state.state import State
from models.layers.recurrent.leaky_gated import GatedRNN, LeakyRNN
from models.layers.recurrent.recurrence import recurrence_of
from models.layers.recurrent.simple_rnn import SimpleRNN
from models.sequences.recurrent import time_warp_task as task
from tests.models.sequences.sequence_layers import layers, trained

CARDS = {card.name: card for card in task.CARD}


@pytest.mark.parametrize(("most", "even"), [(1, True), (4, True), (8, False), (2, False)])
def test_the_letter_before_is_that_of_the_run_before(most: int, even: bool) -> None:
    x, wanted = tasks.warped(np.random.default_rng(0), 40, 50, most, even)
    assert x.shape == (40, 50, 10) and wanted.shape == (40, 50) and (x.sum(-1) == 1).all()
    for row, asked in zip(x.argmax(-1), wanted, strict=True):
        runs = [(letter, len(list(same))) for letter, same in groupby(row.tolist())]
        lengths = [n for _, n in runs[:-1]]  # the last one may be cut off
        assert all(n == most for n in lengths) if even else all(1 <= n <= most for n in lengths)
        before = [tasks.NOTHING, *(letter for letter, _ in runs[:-1])]
        assert asked.tolist() == [b for b, (_, n) in zip(before, runs, strict=True) for _ in range(n)]


def test_lengths_of_a_changing_pace_are_all_as_likely() -> None:
    x, _ = tasks.warped(np.random.default_rng(1), 400, 100, 4)
    lengths = [len(list(same)) for row in x.argmax(-1) for _, same in list(groupby(row.tolist()))[:-1]]
    shares = np.bincount(lengths)[1:] / len(lengths)
    np.testing.assert_allclose(shares, 0.25, atol=0.02)


def test_each_card_is_of_its_kind_and_gates_are_spread_as_chrono_has_it() -> None:
    kinds = {"warp-rnn": SimpleRNN, "warp-leaky": LeakyRNN, "warp-gated": GatedRNN}
    assert {name: type(recurrence_of(card.build())) for name, card in CARDS.items()} == kinds
    gates = torch.sigmoid(recurrence_of(task.build("warp-leaky", 500, longest=20)).get_parameter("leak")).detach()
    assert 1 / 20 <= float(gates.min()) < 0.06 and 0.4 < float(gates.max()) <= 0.5


@pytest.mark.slow
def test_training_repeats_itself_and_gets_better() -> None:
    one, other = (task.trained("warp-leaky", epochs=1)[0] for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
    assert task.judge(one)["changing"] > task.judge(task.build("warp-leaky"))["changing"] + 0.05


@pytest.mark.parametrize("name", CARDS)
@torch.no_grad()
def test_shipped_weights_have_the_figures_of_the_notes(name: str) -> None:
    found = task.judge(trained(CARDS[name]).float())
    for key, share in found.items():
        assert f"{100 * share:.1f} %" in CARDS[name].notes[0], (key, share)


@pytest.mark.parametrize("name", CARDS)
def test_transfer_to_a_slower_pace_without_learning(name: str) -> None:
    """Rescaled gates follow letters that stand four times as long; the figures are those of the notes."""
    engine = LocalEngine(CARDS)

    def error(**params: float) -> float:
        wanted = State(
            name, steps=parse_chain("rescale:0.25"), layer="prediction", params=tuple(params.items()), device="cpu"
        )
        found = engine.answer(wanted, lambda: False).squares[0].measures["prediction"].cumulative
        assert found is not None and f"{found:.3f}" in CARDS[name].notes[1]
        return found

    still = error()
    assert still > 0.5
    if name != "warp-rnn":
        assert error(alpha=0.25) < 0.25 * still


def test_gates_change_where_a_letter_begins_and_come_to_rest_while_it_stands() -> None:
    x, _ = tasks.warped(np.random.default_rng(5), 1, 400, 32)
    letter = x[0].argmax(-1)
    begins = np.flatnonzero(letter[1:] != letter[:-1]) + 1
    stood = np.arange(1, 400) - begins[np.searchsorted(begins, np.arange(1, 400), side="right") - 1]
    for name, moves in (("warp-gated", True), ("warp-leaky", False)):
        gate = layers(trained(CARDS[name]), torch.tensor(x[0]).double())["recurrent.gate"].numpy()
        change = np.abs(np.diff(gate, axis=0)).mean(1)
        first, later = change[stood == 0].mean(), change[stood > 12].mean()
        assert first > 10 * later if moves else first == later == 0


def test_the_benchmark_has_a_row_for_each_warp(capsys: pytest.CaptureFixture[str]) -> None:
    rows = published_warps.run(iterations=1, warps=(1, 2), steps=12, units=4)
    assert [(r["warp"], r["most"]) for r in rows] == [("uniform", 1), ("uniform", 2), ("variable", 2)]
    assert all(r[f"{title} loss"] > 1.5 and 0 <= r[f"{title} right"] < 0.9 for r in rows for title in ("RNN", "gated"))
