"""Sequence to sequence: against torch's GRU, against the equations in numpy, and what the trained networks do."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from explorer.spaces.sequence.samples import tasks
from models.sequences.seq2seq import BUILDS, CARD, JUDGED, Bahdanau, Network, Seq2Seq, judge_dates, judge_letters
from tests.models.sequences.sequence_layers import layers, trained

CARDS = {card.name: card for card in CARD}


def one_hot(text: str) -> torch.Tensor:
    return torch.tensor(tasks.one_hot(tasks.encode(text, tasks.LETTERS), len(tasks.LETTERS))).double()


def test_given_the_right_letters_the_decoder_is_torchs_gru() -> None:
    network = Seq2Seq(5, 7).double()
    x = F.one_hot(torch.randint(5, (3, 9)), 5).double()
    target = F.one_hot(torch.randint(5, (3, 9)), 5).double()
    gru = nn.GRU(5, 7, batch_first=True).double()
    gru.load_state_dict({f"{name}_l0": value for name, value in network.decoder.state_dict().items()})
    late = F.pad(target[:, :-1], (0, 0, 1, 0))
    expected = network.letter(gru(late, network.encoder(x)[1])[0])
    torch.testing.assert_close(network.batch(x, target), expected, rtol=0, atol=1e-12)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-x)))


def bahdanau_in_numpy(network: Bahdanau, memory: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of letters and the alignment, step by step and pair by pair, from the equations."""
    p = {name: value.detach().numpy() for name, value in network.named_parameters()}
    steps, width = len(memory), len(memory[0]) // 2
    s = np.tanh(p["start.weight"] @ memory[0, width:] + p["start.bias"])
    y = np.zeros(len(p["letter.bias"]))
    letters, alignment = [], []
    for _ in range(steps):
        e = np.array([
            p["align.vector"] @ np.tanh(p["align.query.weight"] @ s + p["align.key.weight"] @ h + p["align.key.bias"])
            for h in memory
        ])  # fmt: skip
        a = np.exp(e) / np.exp(e).sum()
        c = sum(a[j] * memory[j] for j in range(steps))
        given = p["decoder.weight_ih"] @ np.concatenate([y, c]) + p["decoder.bias_ih"]
        kept = p["decoder.weight_hh"] @ s + p["decoder.bias_hh"]
        r, z = sigmoid(given[:width] + kept[:width]), sigmoid(given[width : 2 * width] + kept[width : 2 * width])
        s = (1 - z) * np.tanh(given[2 * width :] + r * kept[2 * width :]) + z * s
        letters.append(p["letter.weight"] @ np.concatenate([s, c]) + p["letter.bias"])
        alignment.append(a)
        y = np.eye(len(y))[letters[-1].argmax()]
    return np.array(letters), np.array(alignment)


def test_additive_attention_is_what_the_equations_say() -> None:
    torch.manual_seed(1)
    network = Bahdanau(5, 6).double()
    x = F.one_hot(torch.randint(5, (8,)), 5).double()
    found = layers(network, x)
    letters, alignment = bahdanau_in_numpy(network, found["encoder_states"].numpy())
    np.testing.assert_allclose(found["output"].numpy(), letters, atol=1e-12)
    np.testing.assert_allclose(found["alignment"][0].numpy(), alignment, atol=1e-12)
    assert float((found["alignment"].sum(-1) - 1).abs().max()) < 1e-12


@pytest.mark.parametrize("name", BUILDS)
@pytest.mark.parametrize("steps", [1, 2, 9])
def test_one_sequence_is_a_batch_of_one(name: str, steps: int) -> None:
    network = trained(CARDS[name])
    assert isinstance(network, Seq2Seq | Bahdanau)
    x = torch.eye(network.letter.out_features, dtype=torch.float64)[torch.arange(steps) % 7]
    with torch.no_grad():
        assert network(x).shape == x.shape
        torch.testing.assert_close(network(x), network.batch(x[None])[0], rtol=0, atol=1e-12)


def test_the_bottleneck_is_all_that_the_decoder_knows() -> None:
    network = trained(CARDS["seq2seq"])
    assert isinstance(network, Seq2Seq)
    for text in ("abca", "abcdefgh" * 3):
        found = layers(network, one_hot(text))
        assert found["bottleneck"].shape == (1, 32)
        again = network.decode(found["bottleneck"], len(text)).letters[0]
        torch.testing.assert_close(found["output"], again, rtol=0, atol=0)


def test_letters_written_backwards_attend_along_the_other_diagonal() -> None:
    network = trained(CARDS["bahdanau"])
    found = layers(network, one_hot("abcdefghhgfa"))
    assert tasks.decode(found["output"].argmax(-1).numpy(), tasks.LETTERS) == "afghhgfedcba"
    hits = found["alignment"][0].argmax(-1) - torch.arange(11, -1, -1)
    assert float((hits.abs() <= 1).double().mean()) > 0.9


@pytest.mark.parametrize("name", ["seq2seq", "bahdanau"])
def test_the_notes_say_how_many_texts_are_written_backwards(name: str) -> None:
    network = trained(CARDS[name]).float()
    assert isinstance(network, Seq2Seq | Bahdanau)
    with torch.no_grad():
        found = judge_letters(network)
    for length in JUDGED:
        assert f"{length}: {100 * found[f'texts_{length}']:.1f} %" in CARDS[name].notes[0], found


@pytest.mark.parametrize("name", ["seq2seq-dates", "bahdanau-dates"])
def test_the_notes_say_how_many_dates_are_right(name: str) -> None:
    network = trained(CARDS[name]).float()
    assert isinstance(network, Seq2Seq | Bahdanau)
    with torch.no_grad():
        found = judge_dates(network)
    assert f"{100 * found['dates']:.1f} % of 500 new dates" in CARDS[name].notes[0], found


def test_a_date_that_everybody_can_read() -> None:
    network: Network = trained(CARDS["bahdanau-dates"])  # type: ignore[assignment]
    x = torch.tensor(tasks.date_sample().x.values).double()
    assert tasks.decode(network(x).argmax(-1).numpy(), tasks.TEXT).strip() == "2026-09-07"
