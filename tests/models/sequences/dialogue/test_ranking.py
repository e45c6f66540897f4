"""Models that rank replies against closed forms, scikit-learn and each other, and the law of permutations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

import models.sequences.dialogue.profile_memory as profile_memory
from explorer.app.answering.engine import LocalEngine
from explorer.data.finding import find_sample, fitted
from explorer.declare.card import Card
from explorer.declare.elements import parse_chain
from explorer.spaces.graph.drawing.values import GraphPart
from explorer.spaces.sequence.samples import personas
from explorer.spaces.sequence.samples.persona_chat import ROLES, Turn, turn_set, turns_of, words_in
from explorer.state.state import State
from models.layers.dialogue.bags import WORDS, bags_of
from models.layers.dialogue.profile_memory import ProfileMemory
from models.layers.dialogue.ranking import SPREAD, shares
from models.sequences.dialogue import key_value, starspace, tfidf
from models.training.dialogue.ranking import judge, judged_bags, margin_loss
from tests.models.sequences.sequence_layers import layers, trained

CARDS = {card.name: card for card in (starspace.CARD, profile_memory.CARD, key_value.CARD)}
TIGHT = {"rtol": 0.0, "atol": 1e-12}


def given(card: Card, name: str = "persona-other-words") -> Tensor:
    return torch.from_numpy(fitted(find_sample(name), card.input).x.values.copy()).double()


def network_of(card: Card) -> torch.nn.Module:
    if card.weights is None:
        return card.build(**{p.name: p.default for p in card.params}).double().eval()
    return trained(card)


@pytest.mark.parametrize(("profile", "history"), [(1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0)])
def test_tf_idf_is_that_of_scikit_learn(profile: float, history: float) -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    turn = personas.turn(3)
    sentences = (*turn.profile, *turn.history, turn.query, *turn.candidates)
    vectors = TfidfVectorizer(tokenizer=words_in, token_pattern=None, lowercase=False).fit(sentences)
    asked = " ".join((turn.query, *turn.history * int(history), *turn.profile * int(profile)))
    wanted = (vectors.transform([asked]) @ vectors.transform(sentences).T).toarray()[0]
    found = layers(tfidf.TfIdf(profile, history).double(), given(tfidf.CARD))
    np.testing.assert_allclose(found["scores"][:, 0].numpy(), wanted, atol=1e-12)
    every = vectors.transform(sentences)
    np.testing.assert_allclose(found["similarity"][0].numpy(), (every @ every.T).toarray(), atol=1e-12)


def sums(network: torch.nn.Module, sentences: tuple[str, ...]) -> np.ndarray:
    """Return the sum of the vectors of the words of each sentence, looked up one by one."""
    table = network.embedding.weight.detach().numpy().T
    return np.stack([sum((table[WORDS.index(w)] for w in words_in(s)), np.zeros(table.shape[1])) for s in sentences])


def cos(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (b @ a) / np.maximum(np.linalg.norm(a) * np.linalg.norm(b, axis=1), 1e-12)


def softmax(v: np.ndarray) -> np.ndarray:
    return np.exp(v) / np.exp(v).sum()


def test_profile_memory_is_its_five_lines() -> None:
    network, turn = trained(profile_memory.CARD), personas.turn(3)
    p, c = sums(network, turn.profile), sums(network, turn.candidates)
    q = sums(network, (turn.query,))[0] + network.history.item() * sums(network, turn.history).sum(0)
    s = softmax(network.sharpness.item() * cos(q, p))
    wanted = cos(q + s @ p, c)
    found = layers(network, given(profile_memory.CARD))
    np.testing.assert_allclose(found["shares"][:5, 0].numpy(), s, atol=1e-12)
    np.testing.assert_allclose(found["scores"][-20:, 0].numpy(), wanted, atol=1e-12)
    np.testing.assert_allclose(found["ranking"][-20:, 0].numpy(), softmax(SPREAD * wanted), atol=1e-12)
    query = len(turn.profile) + len(turn.history)
    np.testing.assert_allclose(found["attention"][0, query, :5].numpy(), s, atol=1e-12)
    assert float(found["attention"].sum()) == pytest.approx(1) and not found["ranking"][:-20].any()


def test_starspace_is_one_bag_of_words() -> None:
    network, turn = trained(starspace.CARD), personas.turn(3)
    q = sums(network, (turn.query, *turn.profile)).sum(0)
    q += network.history.item() * sums(network, turn.history).sum(0)
    found = layers(network, given(starspace.CARD))["scores"][-20:, 0].numpy()
    np.testing.assert_allclose(found, cos(q, sums(network, turn.candidates)), atol=1e-12)


def test_the_second_look_is_at_what_others_replied() -> None:
    network, turn = trained(key_value.CARD), personas.turn(3)
    first = trained(profile_memory.CARD)
    q = sums(network, (turn.query,))[0] + network.history.item() * sums(network, turn.history).sum(0)
    p = sums(network, turn.profile)
    q = q + softmax(network.sharpness.item() * cos(q, p)) @ p
    keys, values = (v.detach().numpy() for v in network.remembered())
    t = softmax(network.key_sharpness * cos(q, keys))
    wanted = cos(q + network.weight * t @ values, sums(network, turn.candidates))
    found = layers(network, given(key_value.CARD))
    np.testing.assert_allclose(found["recall"][0].numpy(), t, atol=1e-12)
    np.testing.assert_allclose(found["scores"][-20:, 0].numpy(), wanted, atol=1e-12)
    exchange = personas.learned_from()[0].turn(1)
    asked = sums(network, (exchange.query,))[0] + network.history.item() * sums(network, exchange.history).sum(0)
    np.testing.assert_allclose(keys[1], asked, atol=1e-5)
    np.testing.assert_allclose(values[1], sums(network, (exchange.reply,))[0], atol=1e-5)
    network.weight = 0.0
    x = given(key_value.CARD)
    torch.testing.assert_close(network(x), first(x), **TIGHT)


def test_the_answer_of_each_sentence_is_told_where_it_belongs() -> None:
    """Rank as the Output view does: F(x) and F(rho(g)x) of each element, in the order of x."""
    engine = LocalEngine({card.name: card for card in CARDS.values()})
    state = State("persona-starspace", sample="persona-plain", device="cpu", dtype="float64")
    for steps in ("permute:3", "drop-nodes:0.2"):
        (square,) = engine.answer(replace(state, steps=parse_chain(steps)), lambda: False).squares
        part = square.of(GraphPart)
        assert part is not None and part.answers is not None
        wanted = layers(network_of(starspace.CARD), given(starspace.CARD, "persona-plain"))["ranking"][:, 0].numpy()
        np.testing.assert_allclose(part.answers[0], wanted, rtol=1e-6)
        gone = part.order < 0
        assert np.isnan(part.answers[1, gone]).all() and gone.any() == (steps != "permute:3")
        if not gone.any():
            np.testing.assert_allclose(part.answers[1], wanted, rtol=1e-5, atol=1e-9)


class InOrder(ProfileMemory):
    """The same, but sentences that are listed later are looked at more: no function of a set."""

    def ask(self, q: Tensor, memory: Tensor, among: Tensor) -> tuple[Tensor, Tensor | None]:
        return super().ask(q, memory * torch.arange(1, memory.shape[1] + 1)[:, None] ** 0.5, among)


def moved_by(network: torch.nn.Module, x: Tensor, order: Tensor) -> float:
    """Return how far the answers and all that is seen on the way are from following a new order of the sentences."""
    plain, moved = layers(network, x), layers(network, x[order])
    worst = 0.0
    for name, value in plain.items():
        if value.ndim == 3:
            value = value[:, order][:, :, order]
        elif len(value) == len(order):
            value = value[order]
        worst = max(worst, float((moved[name] - value).abs().max()))
    return worst


@pytest.mark.parametrize("card", [tfidf.CARD, *CARDS.values()], ids=lambda card: card.name)
def test_the_order_of_the_sentences_does_not_matter(card: Card) -> None:
    x = given(card)
    torch.manual_seed(0)
    for _ in range(3):
        assert moved_by(network_of(card), x, torch.randperm(len(x))) < 1e-12


def test_a_network_that_minds_the_order_is_seen_broken() -> None:
    network = InOrder().double()
    network.load_state_dict(trained(profile_memory.CARD).state_dict())
    x = given(profile_memory.CARD)
    assert moved_by(network, x, torch.arange(len(x)).flip(0)) > 1e-3


@pytest.mark.parametrize("card", [*CARDS.values()], ids=lambda card: card.name)
def test_a_turn_alone_is_ranked_as_in_a_batch(card: Card) -> None:
    network = network_of(card)
    turns = [personas.turn(k) for k in range(6)]
    bags = bags_of(turns)
    with torch.no_grad():
        scores = network.batch(type(bags)(*(v.double() for v in bags[:-1]), bags.right))
    for turn, wanted in zip(turns, scores, strict=True):
        x = torch.from_numpy(fitted(turn_set(turn, "turn"), card.input).x.values.copy()).double()
        torch.testing.assert_close(layers(network, x)["scores"][-20:, 0], wanted, **TIGHT)


def test_no_profile_no_query_and_no_candidates_are_no_trouble() -> None:
    network = trained(profile_memory.CARD)
    x = given(profile_memory.CARD)
    for role in range(len(ROLES)):
        some = x[x[:, role] == 0]
        found = layers(network, some)
        assert all(torch.isfinite(v).all() for v in found.values())
        assert float(found["ranking"].sum()) == pytest.approx(0.0 if ROLES[role] == "is candidate" else 1.0)
        assert float(found["shares"].sum()) == pytest.approx(0.0 if ROLES[role] == "in profile" else 1.0)


def test_shares_are_a_softmax_among_some() -> None:
    values = torch.tensor([[1.0, 800.0, -3.0, 2.0]], dtype=torch.float64)
    among = torch.tensor([[1.0, 0.0, 1.0, 1.0]], dtype=torch.float64)
    found = shares(values - values.amax() * 0, torch.ones_like(among))
    torch.testing.assert_close(found, values.softmax(-1), **TIGHT)
    small = values.clone()
    small[0, 1] = 5.0
    found = shares(small, among)
    torch.testing.assert_close(found[:, [0, 2, 3]], small[:, [0, 2, 3]].softmax(-1), **TIGHT)
    assert found[0, 1] == 0 and not shares(values, among * 0).any()


def test_the_loss_is_that_of_the_margin() -> None:
    class Fixed:
        def batch(self, _: object) -> Tensor:
            return torch.tensor([[0.5, 0.45, 0.1], [0.0, 0.9, 0.2]])

    bags = judged_bags()._replace(right=torch.tensor([0, 2]))
    negatives = torch.tensor([[0.0, 1.0, 1.0], [1.0, 1.0, 0.0]])
    wanted = (max(0, 0.2 - 0.5 + 0.45) + 0 + 0 + (0.2 - 0.2 + 0.9)) / 4
    assert float(margin_loss(Fixed(), *bags, negatives)) == pytest.approx(wanted)


def test_the_notes_say_how_often_tf_idf_is_right() -> None:
    turns = list(turns_of(personas.held_out()))
    sets = [torch.from_numpy(fitted(turn_set(t, "turn"), tfidf.CARD.input).x.values.copy()).double() for t in turns]
    for settings in ({"profile": 1.0}, {"profile": 0.0}):
        right = 0
        for turn, x in zip(turns, sets, strict=True):
            scores = layers(tfidf.TfIdf(**settings).double(), x)["scores"][-20:, 0]
            own = scores[turn.candidates.index(turn.reply)]
            right += int((scores >= own - 1e-12).sum()) == 1
        assert f"{right / len(turns):.3f}" in tfidf.CARD.notes[0], right / len(turns)


@pytest.mark.parametrize("card", [*CARDS.values()], ids=lambda card: card.name)
def test_the_notes_say_how_often_the_right_reply_comes_first(card: Card) -> None:
    with torch.no_grad():
        found = judge(network_of(card).float())
    for value in found.values():
        assert f"{value:.3f}" in card.notes[0], found
    parameters = sum(p.numel() for p in network_of(card).parameters())
    assert not parameters or f"{parameters:,} parameters" in card.notes[0], parameters


def test_attention_is_largest_at_the_sentence_that_answers() -> None:
    network = trained(profile_memory.CARD).float()
    answers = {fact[2]: fact[:2] for topic in personas.TOPICS for fact in topic.facts}
    turns, bags = list(turns_of(personas.held_out())), judged_bags()
    with torch.no_grad():
        q = network.embedding(bags.query + network.history * bags.history)
        _, attention = network.ask(q, network.embedding(bags.profile), bags.told)
    looked = [turn.profile[k] for turn, k in zip(turns, attention.argmax(1).tolist(), strict=True)]
    right = [sentence in answers[turn.reply] for turn, sentence in zip(turns, looked, strict=True)]
    other = [ok for turn, ok in zip(turns, right, strict=True) if answers[turn.reply][1] in turn.profile]
    note = f"in {sum(right)} of the {len(right)} turns, and in {sum(other)} of the {len(other)} in which"
    assert note in profile_memory.CARD.notes[1], note


def test_the_profile_makes_the_difference() -> None:
    """Turns of the same words but for the profile are answered by what the profile says."""
    network, turn = trained(profile_memory.CARD), personas.turn(3)
    (topic,) = (t for t in personas.TOPICS if any(f[2] == turn.reply for f in t.facts))
    own = next(k for k, s in enumerate(turn.profile) if any(s in f for f in topic.facts))
    right = 0
    asked = [fact for fact in topic.facts if fact[2] in turn.candidates]
    for fact in asked:
        profile = (*turn.profile[:own], fact[0], *turn.profile[own + 1 :])
        other = Turn(profile, turn.history, turn.query, fact[2], turn.candidates)
        x = torch.from_numpy(fitted(turn_set(other, "turn"), profile_memory.CARD.input).x.values.copy()).double()
        with torch.no_grad():
            right += turn.candidates[int(network(x)[-20:, 0].argmax())] == fact[2]
    assert right > len(asked) / 2 > 2, right
