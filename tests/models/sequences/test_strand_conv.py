"""The law of the two strands of DNA, with an action written here; a plain convolution breaks it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from explorer.spaces.sequence.samples import tasks
from models.sequences.strand_conv import CARD, MotifScan, PlainConv, StrandConv, judge
from tests.models.sequences.sequence_layers import layers, trained

CARDS = {card.name: card for card in CARD}
COMPLEMENT = {"A": "T", "C": "G", "G": "C", "T": "A"}


def read_other(text: str) -> str:
    """Return what the other strand reads."""
    return "".join(COMPLEMENT[base] for base in reversed(text))


def dna(text: str) -> Tensor:
    """Return one-hot A, C, G, T with 0.25 each for N; (T, 4)."""
    rows = [[0.25] * 4 if base == "N" else [float(base == one) for one in "ACGT"] for base in text]
    return torch.tensor(rows, dtype=torch.float64)


def exchanged(y: Tensor) -> Tensor:
    """Return features as the other strand has them: channel by channel and step by step from the end; (T, C)."""
    steps, channels = y.shape
    out = torch.empty_like(y)
    for t in range(steps):
        for c in range(channels):
            out[steps - 1 - t, channels - 1 - c] = y[t, c]
    return out


def test_the_action_here_is_that_on_letters() -> None:
    assert torch.equal(dna(read_other("AACGTTGC")), exchanged(dna("AACGTTGC")))


def law(network: nn.Module, text: str) -> dict[str, float]:
    """Return the relative error of f(rho x) = rho f(x) at every layer."""
    plain, moved = layers(network, dna(text)), layers(network, exchanged(dna(text)))
    return {name: float((moved[name] - exchanged(y)).norm() / y.norm().clamp_min(1e-30)) for name, y in plain.items()}


@given(st.text("ACGTN", min_size=1, max_size=40))
def test_reading_the_other_strand_exchanges_everything(text: str) -> None:
    found = law(trained(CARDS["strand-cnn"]), text)
    assert max(found.values()) < 1e-9, found


@given(st.integers(1, 4), st.integers(1, 4), st.sampled_from([1, 3, 7]), st.integers(1, 12))
def test_any_such_convolution_obeys_the_law(inputs: int, outputs: int, kernel: int, steps: int) -> None:
    conv = StrandConv(2 * inputs, 2 * outputs, kernel).double()
    x = torch.randn(steps, 2 * inputs, dtype=torch.float64)
    with torch.no_grad():
        torch.testing.assert_close(conv(exchanged(x)), exchanged(conv(x)), rtol=0, atol=1e-9)


def test_a_plain_convolution_breaks_it_at_its_first_layer() -> None:
    text = tasks.decode(tasks.dna(np.random.default_rng(0), 1)[0][0], tasks.BASES)
    found = law(trained(CARDS["plain-dna-cnn"]), text)
    assert found["scan"] > 0.1 and found["strands"] > 0.1
    convolution = nn.Conv1d(4, 6, 5, padding=2).double()
    with torch.no_grad():
        y, z = (convolution(x.T[None])[0].T for x in (dna(text), exchanged(dna(text))))
        assert float((z - exchanged(y)).norm() / y.norm()) > 0.1


def test_filters_obey_the_constraint_one_by_one() -> None:
    w = StrandConv(4, 6, 5).filters()
    outputs, inputs, size = w.shape
    for o in range(outputs):
        for i in range(inputs):
            for t in range(size):
                assert w[o, i, t] == w[outputs - 1 - o, inputs - 1 - i, size - 1 - t]


def test_it_is_a_convolution_of_torch() -> None:
    ours, x = StrandConv(4, 6, 5).double(), torch.randn(11, 4, dtype=torch.float64)
    theirs = nn.Conv1d(4, 6, 5, padding=2).double()
    assert ours.bias is not None
    theirs.load_state_dict({"weight": ours.filters(), "bias": torch.cat([ours.bias, ours.bias.flip(0)])})
    torch.testing.assert_close(ours(x), theirs(x.T[None])[0].T, rtol=0, atol=1e-12)


@pytest.mark.parametrize("sizes", [(3, 4, 5), (4, 5, 5), (4, 4, 4)])
def test_sizes_that_have_no_two_strands_are_refused(sizes: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="even channels and an odd kernel"):
        StrandConv(*sizes)


@given(st.text("ACGT", min_size=6, max_size=60))
def test_sites_are_those_that_a_search_finds(text: str) -> None:
    sites = tasks.motif_sites(tasks.encode(text, tasks.BASES)[None])[0]
    for t in range(len(text)):
        assert sites[t, 0] == (t >= 2 and text[t - 2 : t + 4] == tasks.MOTIF)
        assert sites[t, 1] == (t >= 3 and text[t - 3 : t + 3] == read_other(tasks.MOTIF))


def test_the_scan_finds_the_motif_on_both_strands() -> None:
    text = "ACGT" * 4 + tasks.MOTIF + "GGCC" * 4 + read_other(tasks.MOTIF) + "AGCT" * 3
    found = trained(CARDS["strand-cnn"])(dna(text)) > 0
    assert found[:, 0].nonzero().flatten().tolist() == [text.index(tasks.MOTIF) + 2]
    assert found[:, 1].nonzero().flatten().tolist() == [text.index(read_other(tasks.MOTIF)) + 3]


@pytest.mark.parametrize("name", CARDS)
def test_the_notes_say_what_is_found(name: str) -> None:
    network = trained(CARDS[name]).float()
    assert isinstance(network, MotifScan)
    assert isinstance(network.scan, PlainConv if "plain" in name else StrandConv)
    with torch.no_grad():
        found = judge(network)
    for strand in ("this", "other"):
        figures = [f"{100 * found[f'{kind}_{strand}']:.1f} %" for kind in ("recall", "precision")]
        assert (
            f"{strand} strand: {figures[0]} of the sites found, {figures[1]} of what is found is one"
            in CARDS[name].notes[0]
        )
