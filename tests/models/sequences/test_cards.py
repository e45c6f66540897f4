"""The contract of every card on sequences: it runs at every extreme, and its claim is true.

The laws are tested on the network's answer with a delay and an other strand written here, not with
explorer/equivariance: the two check each other.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import models
from explorer.app.answering.engine import LocalEngine
from explorer.data.finding import find_sample, fitted
from explorer.declare.card import Card
from explorer.declare.elements import parse_chain
from explorer.declare.registry import scan
from explorer.network.input.inputs import inputs_from
from explorer.network.opening.loading import load_model
from explorer.spaces.sequence.network.form import SequenceInput
from explorer.state.state import State

ALL: dict[str, Card] = scan(models, "CARD")
CARDS = {name: card for name, card in ALL.items() if card.domain == "sequence"}
CLAIMS = [(name, claim) for name, card in CARDS.items() for claim in card.groups]
EXACT = 1e-9  # relative, float64
DELAYS = (1, 3, 8)
SETTLED = {"lstm-chrono"}  # its cell candidate has no bias: zeros are its fixed point
OTHER = {"A": "T", "C": "G", "G": "C", "T": "A"}

each_card = pytest.mark.parametrize("name", sorted(CARDS))


@cache
def engine() -> LocalEngine:
    return LocalEngine(ALL)


def defaults(card: Card) -> dict[str, float]:
    return {p.name: p.default for p in card.params}


def settings(card: Card) -> list[dict[str, float]]:
    """Return the defaults, then every extreme and every choice of one parameter at a time."""
    found = [defaults(card)]
    for p in card.params:
        extremes = range(len(p.choices)) if p.choices else (p.minimum, p.maximum)
        found += [{**defaults(card), p.name: float(value)} for value in extremes]
    return found


def given(card: Card, dtype: torch.dtype = torch.float64, sample: str = "") -> Tensor:
    """Return the sample that the card is shown with, or another, (steps, channels)."""
    found = fitted(find_sample(sample or card.sample), card.input)
    (x,) = inputs_from(found, card.input, torch.device("cpu"), dtype).values
    return x


@each_card
def test_the_sample_shown_first_is_of_the_kind_that_the_network_takes(name: str) -> None:
    card = CARDS[name]
    assert isinstance(card.input, SequenceInput)
    own = find_sample(card.sample)
    x = given(card)
    assert own.domain == "sequence" and torch.equal(x, torch.from_numpy(own.x.values.copy()).double()), (
        "nothing is fitted"
    )
    if card.input.kind != "values":
        assert bool((x >= 0).all()) and torch.equal(x.sum(1), torch.ones(len(x), dtype=x.dtype))


@each_card
def test_a_network_runs_at_every_extreme_of_its_parameters(name: str) -> None:
    card = CARDS[name]
    x = given(card, torch.float32)
    before = x.clone()
    for values in settings(card):
        network = card.build(**values).eval()
        with torch.no_grad():
            y = network(x)
        assert isinstance(y, Tensor) and y.is_floating_point() and y.numel() and torch.isfinite(y).all(), values
        assert torch.equal(x, before), f"the input was changed in place with {values}"
        assert not card.labels or y.shape[-1] == len(card.labels), values


@each_card
def test_every_value_a_person_sees_has_a_field(name: str) -> None:
    """Know of each layer how it is drawn, moved and measured; the answer itself is a layer's."""
    p = engine().prepared(State(model=name, device="cpu"), name)
    unknown = [w.name for w in p.trace.layers if w.field is None]
    assert not unknown, unknown
    last = p.trace[p.trace.output]
    assert last.module != "", "the last step is code between layers, which nothing can watch"
    for layer in p.trace.layers:
        if layer.field is not None and layer.field.domain.name == "step":
            assert len(p.values[layer.name]) == len(p.x), layer.name


@each_card
def test_one_step_is_answered_or_refused_in_one_sentence(name: str) -> None:
    card = CARDS[name]
    x = torch.zeros(1, given(card).shape[1])
    x[0, 0] = 1.0
    for values in settings(card):
        try:
            with torch.no_grad():
                y = card.build(**values).eval()(x)
        except ValueError as error:
            assert "step" in str(error) and "\n" not in str(error), values
        else:
            assert y.numel() and torch.isfinite(y).all(), values


ODD = {
    "one step": ("csv", "a\n1\n"),
    "two steps": ("csv", "a\n1\n-2\n"),
    "a constant": ("csv", "a\n" + "0.5\n" * 12),
    "one base": ("fasta", ">one\nA\n"),
    "unknown bases": ("fasta", ">none\nNNNNNNNN\n"),
}


@pytest.mark.parametrize("what", ODD)
@each_card
def test_odd_sequences_from_files_are_answered_and_measured(name: str, what: str, tmp_path: Path) -> None:
    card = CARDS[name]
    assert isinstance(card.input, SequenceInput)
    suffix, content = ODD[what]
    path = tmp_path / f"odd.{suffix}"
    path.write_text(content)
    if card.input.kind == "dna" and suffix == "csv":
        with pytest.raises(ValueError, match="holds no DNA"):
            fitted(find_sample(str(path)), card.input)
        return
    for chain in ("shift:5", "reverse:reverse complement", "warp:0.1,0,-0.1"):
        wanted = State(name, sample=str(path), steps=parse_chain(chain), node=0, device="cpu")
        frame = engine().answer(wanted, lambda: False)
        (square,) = [frame, *engine().refine(frame)][-1].squares
        measures = square.measures.values()
        assert all(m.cumulative is None or np.isfinite(m.cumulative) for m in measures), chain
        assert np.isfinite(square.output).all(), chain
        if ("shift" in card.groups and chain == "shift:5") or ("reverse-complement" in card.groups and "rev" in chain):
            assert all(m.verdict != "broken" for m in measures), chain


def delayed(x: Tensor, steps: int) -> Tensor:
    """Return x with that many zeros in front, as long as before."""
    return torch.cat([x.new_zeros(steps, *x.shape[1:]), x])[: len(x)]


def delay_error(network: nn.Module, x: Tensor) -> float:
    """Return the largest |F(delayed x)(t + s) - F(x)(t)| over steps t that both hold, relative to F(x)'s spread."""
    with torch.no_grad():
        y = network(x)
        assert len(y) == len(x), "an answer for each step"
        errors = [(network(delayed(x, s))[s:] - y[:-s]).abs().max() for s in DELAYS]
    return float(max(errors) / (y - y.mean(0)).abs().max())


def strand_error(network: nn.Module, x: Tensor) -> float:
    """Return the largest |F(other strand) - F(x) read backwards with its two outputs exchanged|, relative."""
    order = ["ACGT".index(OTHER[base]) for base in "ACGT"]
    with torch.no_grad():
        y, z = network(x), network(torch.stack([row[order] for row in x.unbind()[::-1]]))
    assert y.shape == (len(x), 2), "one output for each strand"
    back = torch.stack([torch.stack([row[1], row[0]]) for row in y.unbind()[::-1]])
    return float((z - back).abs().max() / (y - y.mean(0)).abs().max())


ERRORS = {"shift": delay_error, "reverse-complement": strand_error}


@pytest.mark.parametrize(("name", "claim"), CLAIMS)
def test_claims_hold(name: str, claim: str) -> None:
    card = CARDS[name]
    error = ERRORS[claim](load_model(card, {}).double(), given(card))
    assert error < EXACT, f"{name} breaks {claim}: {error:.1e}"


def unsettled() -> list[str]:
    return sorted(n for n, c in CARDS.items() if "shift" in c.groups and any(p.name == "start" for p in c.params))


@pytest.mark.parametrize("name", unsettled())
def test_a_state_that_padding_moves_breaks_the_law_of_shifts(name: str) -> None:
    """The helper can say no: the same networks from zeros instead of their fixed points (section 5.7)."""
    card = CARDS[name]
    (start,) = (p for p in card.params if p.name == "start")
    (zeros,) = (k for k, choice in enumerate(start.choices) if choice.startswith("zero"))
    error = delay_error(load_model(card, {"start": float(zeros)}).double(), given(card))
    assert error < EXACT if name in SETTLED else error > 1e-4


def test_laws_that_nobody_claims_are_seen_broken() -> None:
    assert strand_error(load_model(CARDS["plain-dna-cnn"], {}).double(), given(CARDS["plain-dna-cnn"])) > 1e-2
    card = CARDS["bidirectional-lstm"]
    assert delay_error(load_model(card, {}).double(), given(card)) > 1e-4
