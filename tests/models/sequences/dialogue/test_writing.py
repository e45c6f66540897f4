"""Models that write replies against torch's LSTM, the paper's equations, exhaustive search, and their notes."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor, nn

from explorer.data.finding import find_sample, fitted
from explorer.declare.card import Card
from explorer.spaces.sequence.samples import personas
from explorer.spaces.sequence.samples.persona_chat import (
    BLANK,
    END,
    LONGEST_REPLY,
    OWN,
    PARTNER,
    PROFILE,
    turn_words,
    turns_of,
)
from models.layers.dialogue.writing import AT, SILENT, VOCABULARY, Given, Writer, spoken
from models.sequences.dialogue import generative_memory as generative
from models.sequences.dialogue import seq2seq
from models.sequences.dialogue.generative_memory import word_weights
from models.training.dialogue.writing import NONE, Turns, judge, likelihoods, turns_for
from tests.models.sequences.sequence_layers import layers, trained

CARDS = (seq2seq.CARD, generative.CARD)
each_card = pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)
TIGHT = {"rtol": 0.0, "atol": 1e-12}


def given(card: Card, name: str = "persona-other-words-words") -> Tensor:
    return torch.from_numpy(fitted(find_sample(name), card.input).x.values.copy()).double()


def writer(card: Card, **values: float) -> Writer:
    network = trained(card, **values)
    assert isinstance(network, Writer)
    return network


def replies(network: Writer, x: Tensor) -> list[str]:
    words = layers(network, x)["written"].argmax(-1)[-LONGEST_REPLY:]
    return [VOCABULARY[k] for k in words.tolist()]


def test_the_encoder_and_the_decoder_are_torchs_lstm() -> None:
    network, x = writer(seq2seq.CARD), given(seq2seq.CARD)
    found = layers(network, x)
    read = x[:-LONGEST_REPLY]
    encoder = nn.LSTM(16, 32).double()
    encoder.load_state_dict(network.encoder.state_dict())
    states, last = encoder(read @ network.embedding.weight.t())
    torch.testing.assert_close(found["encoder_states"][:-LONGEST_REPLY], states, **TIGHT)
    assert not found["encoder_states"][-LONGEST_REPLY:].any()
    decoder = nn.LSTM(16, 32).double()
    names = dict(zip(decoder.state_dict(), network.decoder.state_dict().values(), strict=True))
    decoder.load_state_dict(names)
    words = found["written"][-LONGEST_REPLY:].argmax(-1)
    said = int((words == AT[END]).nonzero()[0, 0]) + 1
    before = torch.cat([torch.tensor([AT[OWN]]), words[: said - 1]])
    hidden, _ = decoder(network.embedding.weight.t()[before], last)
    start = len(read)
    torch.testing.assert_close(found["hidden"][start : start + said], hidden, **TIGHT)
    scores = network.word(hidden) @ network.embedding.weight + network.prior
    torch.testing.assert_close(found["output"][start : start + said], scores, **TIGHT)
    silent = torch.zeros(len(VOCABULARY), dtype=torch.float64)
    silent[AT[BLANK]] = SILENT
    assert torch.equal(found["output"][:start], silent.expand(start, -1)), "nothing is said where nothing is asked"


def test_a_memory_is_the_equations_of_the_paper() -> None:
    network, turn = writer(generative.CARD), personas.turn(3)
    x = given(generative.CARD)
    found = layers(network, x)
    names = find_sample("persona-other-words-words").names
    table = network.embedding.weight.t()
    alpha = word_weights().double()
    rows, at = [], []  # p_i, and the steps of its words
    for k, word in enumerate(names):
        if word == PROFILE:
            rows.append(torch.zeros(16, dtype=torch.float64))
            at.append([])
        elif word in (PARTNER, OWN):
            break
        else:
            rows[-1] = rows[-1] + alpha[AT[word]] * table[AT[word]]
            at[-1].append(k)
    memory = torch.stack(rows)
    assert len(memory) == len(turn.profile) == 5
    spoken_words = [k for k in range(len(names)) if k > at[-1][-1] and names[k] != BLANK]
    _, (h, c) = network.encoder.forward(table[[AT[names[k]] for k in spoken_words]])
    h, c = h[0], c[0]
    word, start = AT[OWN], len(names) - LONGEST_REPLY
    for k in range(start, len(names)):
        a = torch.softmax(memory @ (network.query.weight @ h), 0)
        read = torch.tanh(network.mix(torch.cat([a @ memory, table[word]])))
        h, c = network.decoder(read, (h, c))
        for share, steps in zip(a, at, strict=True):
            weights = alpha[[AT[names[s]] for s in steps]]
            torch.testing.assert_close(found["attention"][0, k, steps], share * weights / weights.sum(), **TIGHT)
        scores = network.word(h) @ network.embedding.weight + network.prior
        torch.testing.assert_close(found["output"][k], scores, **TIGHT)
        word = int(found["written"][k].argmax())
        assert word == int(scores.index_fill(0, torch.tensor(AT[BLANK]), -torch.inf).argmax()), "greedy"
        if word == AT[END]:
            break
    sums = found["attention"][0].sum(-1)
    torch.testing.assert_close(sums[start : k + 1], torch.ones_like(sums[start : k + 1]), **TIGHT)
    assert not sums[:start].any() and not sums[k + 1 :].any()


def test_the_first_look_is_at_the_sentence_that_answers() -> None:
    network, found = writer(generative.CARD), 0
    answers = {fact[2]: fact[:2] for topic in personas.TOPICS for fact in topic.facts}
    turns = list(turns_of(personas.held_out()))
    for turn in turns:
        x = torch.from_numpy(turn_words(turn, "turn", VOCABULARY).x.values.copy()).double()
        with torch.no_grad():
            begun, _ = network.begin(x[None], x[None].argmax(-1))
            look = int(network.attend(begun, begun.hidden)[0].argmax())
        found += turn.profile[look] in answers[turn.reply]
    assert f"in {found} of the {len(turns)} turns" in generative.CARD.notes[1], found


def test_words_that_are_rare_weigh_more() -> None:
    weights = word_weights()
    assert weights[AT["i"]] < weights[AT["fjords"]] and bool(((weights > 0) & (weights <= 1)).all())
    assert float(weights.min()) == pytest.approx(1 / (1 + torch.log1p(torch.tensor(1e6)).item()))


def test_which_sentence_a_word_is_in() -> None:
    words = [PROFILE, "i", "dance", PROFILE, "a", PARTNER, "hi", OWN, "yes", BLANK]
    inside, sentence = spoken(torch.tensor([AT.get(w, 0) for w in words]))
    assert inside.tolist() == [True] * 5 + [False] * 5
    assert sentence[:5].tolist() == [0, 0, 0, 1, 1]
    assert not spoken(torch.tensor([AT["i"], AT[PARTNER]]))[0].any()


def reordered(order: list[int]) -> Tensor:
    turn = personas.turn(3)
    other = turn_words(
        type(turn)(tuple(turn.profile[k] for k in order), turn.history, turn.query, turn.reply, turn.candidates),
        "turn", VOCABULARY,
    )  # fmt: skip
    return torch.from_numpy(other.x.values.copy()).double()


def test_a_memory_does_not_mind_the_order_of_the_profile_and_a_sequence_does() -> None:
    plain, moved = reordered([0, 1, 2, 3, 4]), reordered([3, 1, 4, 0, 2])
    scores = [layers(writer(generative.CARD), x)["output"][-LONGEST_REPLY:] for x in (plain, moved)]
    torch.testing.assert_close(scores[0], scores[1], rtol=0, atol=1e-9)
    scores = [layers(writer(seq2seq.CARD), x)["output"][-LONGEST_REPLY:] for x in (plain, moved)]
    assert float((scores[0] - scores[1]).abs().max()) > 1e-5, "little, as it hardly listens to the profile"


@each_card
def test_a_wide_beam_finds_the_likeliest_reply(card: Card) -> None:
    """All replies of up to three words out of five, tried one by one."""
    network, x = writer(card), given(card)
    few = [AT[w] for w in (END, "i", "pizza", ".", "a")]
    keep = torch.full((len(VOCABULARY),), -1e4, dtype=torch.float64)
    keep[few] = 0.0
    with torch.no_grad():
        network.prior.add_(keep)
        begun, _ = network.begin(x[None], x.argmax(-1)[None])
        best, found = -torch.inf, ()
        for words in itertools.product(few, repeat=3):
            ends = words.index(AT[END]) if AT[END] in words else 3
            if any(w != AT[END] for w in words[ends:]):
                continue
            kept = words[: ends + 1]
            scores = network.follow(begun, torch.tensor([kept])).scores[0]
            total = float(scores.log_softmax(-1)[range(len(kept)), kept].sum())
            if total > best:
                best, found = total, kept
        network.beam = 200
        wide = network.search(begun, 3).tolist()
        assert [w for w in wide if w != AT[BLANK]] == list(found)


@each_card
def test_a_beam_is_at_least_as_likely_as_greedy(card: Card) -> None:
    x = given(card)
    totals = []
    for beam in (1, 4):
        network = writer(card, beam=beam)
        with torch.no_grad():
            begun, _ = network.begin(x[None], x.argmax(-1)[None])
            words = network.search(begun, LONGEST_REPLY)
            kept = words[words != AT[BLANK]]
            scores = network.follow(begun, kept[None]).scores[0].log_softmax(-1)
        totals.append(float(scores.gather(1, kept[:, None]).sum()))
    assert totals[1] >= totals[0] - 1e-9


@each_card
def test_turns_of_a_batch_are_read_alone(card: Card) -> None:
    network = writer(card)
    turns = [personas.turn(k) for k in (0, 4, 7)]
    with torch.no_grad():
        whole = likelihoods(network, turns_for(turns))
        for turn, wanted in zip(turns, whole, strict=True):
            alone = likelihoods(network, turns_for([turn]))[0]
            torch.testing.assert_close(alone, wanted[: len(alone)], rtol=0, atol=1e-9)
            assert not wanted[len(alone) :].any()


def test_what_is_asked_of_the_decoder_has_an_end() -> None:
    turns = turns_for([personas.turn(0), personas.turn(1)])
    assert isinstance(turns, Turns)
    for row in turns.replies:
        kept = row[row != NONE]
        assert kept[-1] == AT[END] and (kept[:-1] != AT[END]).all()


def test_without_a_profile_there_is_nothing_to_attend_to() -> None:
    network = writer(generative.CARD)
    x = given(generative.CARD)
    first = next(k for k, w in enumerate(find_sample("persona-other-words-words").names) if w == PARTNER)
    found = layers(network, x[first:])
    assert not found["attention"].any() and torch.isfinite(found["output"]).all()
    assert isinstance(network.begin(x[None, first:], x[None, first:].argmax(-1))[0], Given)


@pytest.mark.slow
@each_card
def test_the_notes_say_how_well_it_writes(card: Card) -> None:
    network = writer(card).float()
    with torch.no_grad():
        found = judge(network)
    assert f"perplexity {found['perplexity']:.2f}" in card.notes[0], found
    assert f"in {found['hits_at_1']:.3f} of" in card.notes[0], found
    assert f"{sum(p.numel() for p in network.parameters()):,} parameters" in card.notes[0]


def test_a_memory_writes_what_the_profile_says() -> None:
    texts = {}
    for name in ("first", "plain", "other-words"):
        said = replies(writer(generative.CARD), given(generative.CARD, f"persona-{name}-words"))
        texts[name] = " ".join(said[: said.index(END)])
    turns = {"first": 0, "plain": 2, "other-words": 3}
    right = [texts[name].replace(" ", "") == personas.turn(k).reply.replace(" ", "") for name, k in turns.items()]
    assert all(right), texts
