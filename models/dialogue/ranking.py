"""What ranking models of dialogue share: a set of sentences with roles, similarity, shares, and how they are judged.

Zhang, Dinan, Urbanek, Szlam, Kiela, Weston, "Personalizing dialogue agents: I have a dog, do you have pets too?", 2018,
section 4: replies are ranked by sim(q, c'), the cosine between the query and each candidate. An element of the set is a
sentence: of the profile, of the history, the query, or a candidate. Nothing depends on the order in which they are
listed: a bag of words forgets the order of words, and all that is done with sentences are sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.fields import PAIR
from explorer.spaces.graph.fields import NODE
from explorer.spaces.graph.form import GraphInput
from explorer.spaces.sequence.samples import personas
from explorer.spaces.sequence.samples.persona_chat import ROLES, SYMBOLS, Turn, turns_of, words_in
from models.layers.taps import Tap
from models.training.digits import Progress
from models.training.sequences import Recipe, train

WIDTH = 32
MOST = 2000  # sentences: there is a similarity for each pair
SPREAD = 10.0  # of the shares of candidates; their order is that of the similarity
MARGIN, NEGATIVES = 0.2, 10
WORDS = personas.vocabulary()[len(SYMBOLS) :]
INPUT = GraphInput(channels=len(ROLES) + len(WORDS), signals=("x",), most=MOST, columns=(*ROLES, *WORDS))
RECIPE = Recipe(epochs=20, batch=64, rate=1e-2)
REFERENCE = (
    'Zhang, Dinan, Urbanek, Szlam, Kiela, Weston, "Personalizing dialogue agents: I have a dog, do you have pets '
    'too?", 2018, section '
)
OURS = "Ours are dialogues made up from templates, with few words and few facts: the two figures cannot be compared."


class Bags(NamedTuple):
    """Turns as bags of words, for training: B turns, V words, P sentences of a profile, C candidates."""

    profile: Tensor  # (B, P, V), zeros where a profile is shorter
    told: Tensor  # (B, P), 1 where there is a sentence
    history: Tensor  # (B, V)
    query: Tensor  # (B, V)
    candidates: Tensor  # (B, C, V)
    right: Tensor  # (B,)


class Ranks(Protocol):
    """A network that ranks the candidates of many turns; Bags -> (B, C)."""

    def batch(self, bags: Bags) -> Tensor: ...


def parts(x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Return what is profile, history, query and candidate, (N, 1) of 0 and 1 each, and the words, (N, V)."""
    profile, history, query, candidate = (x[:, : len(ROLES)] > 0.5).to(x.dtype).split(1, 1)
    return profile, history, query, candidate, x[:, len(ROLES) :]


def cosine(a: Tensor, b: Tensor) -> Tensor:
    """Return sim of all rows of a and b, 0 where a row is zero; (..., N, D), (..., M, D) -> (..., N, M)."""
    return F.normalize(a, dim=-1) @ F.normalize(b, dim=-1).transpose(-2, -1)


def shares(values: Tensor, among: Tensor) -> Tensor:
    """Return the softmax over the last axis among those that are 1 in `among`, 0 elsewhere; 0 where there are none."""
    e = (values - values.detach().amax(-1, keepdim=True)).exp() * among
    return e / e.sum(-1, keepdim=True).clamp_min(torch.finfo(e.dtype).tiny)


def read(q: Tensor, keys: Tensor, values: Tensor, among: Tensor, sharpness: Tensor | float) -> tuple[Tensor, Tensor]:
    """Return s = softmax(sharpness sim(q, k_i)) and sum_i s_i v_i; (B, D), (B, M, D), (B, M, D), (B, M)."""
    s = shares(sharpness * cosine(q[:, None], keys)[:, 0], among)
    return s, (s[:, None] @ values)[:, 0]


class Similarity(nn.Module):
    """The cosine between any two sentences; (N, D) -> (1, N, N)."""

    out_field = PAIR

    def forward(self, sentences: Tensor) -> Tensor:
        return cosine(sentences, sentences)[None]


class Ranking(nn.Module):
    """The share of each candidate, softmax of SPREAD sim(q, c), and 0 for all else; (N, 1), (N, 1) -> (N, 1)."""

    out_field = NODE

    def forward(self, scores: Tensor, candidate: Tensor) -> Tensor:
        return shares(SPREAD * scores.t(), candidate.t()).t()


class Embedding(nn.Linear):
    """The sum of the vectors of a sentence's words; (..., V) -> (..., D)."""

    out_field = NODE

    def __init__(self, words: int, width: int) -> None:
        super().__init__(words, width, bias=False)
        nn.init.normal_(self.weight, std=width**-0.5)


class Ranker(nn.Module):
    """Rank by sim(q, c); what q is made of is said by `ask`. x (N, 4 + V) -> (N, 1)."""

    def __init__(self, width: int = WIDTH) -> None:
        super().__init__()
        self.embedding = Embedding(len(WORDS), width)
        self.history = nn.Parameter(torch.tensor(1.0))  # how much of q the history is
        self.similarity = Similarity()
        self.attend()
        self.scores = Tap(NODE)
        self.ranking = Ranking()

    def attend(self) -> None:
        """Make the layers of attention, of a network that has some."""

    def ask(self, q: Tensor, memory: Tensor, among: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return what is compared with the candidates, and the attention paid; (B, D), (B, P, D), (B, P) -> (B, D)."""
        raise NotImplementedError

    def show(self, attention: Tensor, query: Tensor) -> None:
        """Pass the attention paid through the layers for it; (1, N), (N, 1)."""

    def batch(self, bags: Bags) -> Tensor:
        """Return sim(q, c) of all candidates of many turns; -> (B, C)."""
        memory, candidates = self.embedding.forward(bags.profile), self.embedding.forward(bags.candidates)
        q = self.embedding.forward(bags.query + self.history * bags.history)
        return cosine(self.ask(q, memory, bags.told)[0][:, None], candidates)[:, 0]

    def forward(self, x: Tensor) -> Tensor:
        profile, history, query, candidate, words = parts(x)
        sentences = self.embedding(words)
        self.similarity(sentences)
        q, attention = self.ask((query + self.history * history).t() @ sentences, sentences[None], profile.t())
        if attention is not None:
            self.show(attention, query)
        return self.ranking(self.scores(cosine(q, sentences).t()), candidate)


def bags_of(turns: Iterable[Turn]) -> Bags:
    """Return turns as bags of words; words that are not in WORDS are left out."""
    at, listed = {word: k for k, word in enumerate(WORDS)}, list(turns)

    def bag(*sentences: str) -> Tensor:
        counts = torch.zeros(len(WORDS))
        for word in (w for s in sentences for w in words_in(s) if w in at):
            counts[at[word]] += 1
        return counts

    most = max(len(turn.profile) for turn in listed)
    profile = torch.zeros(len(listed), most, len(WORDS))
    told = torch.zeros(len(listed), most)
    for k, turn in enumerate(listed):
        for i, sentence in enumerate(turn.profile):
            profile[k, i], told[k, i] = bag(sentence), 1.0
    return Bags(
        profile,
        told,
        torch.stack([bag(*turn.history) for turn in listed]),
        torch.stack([bag(turn.query) for turn in listed]),
        torch.stack([torch.stack([bag(c) for c in turn.candidates]) for turn in listed]),
        torch.tensor([turn.candidates.index(turn.reply) for turn in listed]),
    )


@cache
def learned_bags() -> Bags:
    """Return the turns for training."""
    return bags_of(turns_of(personas.learned_from()))


@cache
def judged_bags() -> Bags:
    """Return the turns that no network has learned from."""
    return bags_of(turns_of(personas.held_out()))


def drawn(chance: np.random.Generator, count: int) -> tuple[Tensor, ...]:
    """Draw turns for training, as Bags, and which of the other candidates are compared with the right one (B, C)."""
    all_of = learned_bags()
    rows = torch.from_numpy(chance.integers(0, len(all_of.right), count))
    others = torch.from_numpy(chance.random(all_of.candidates[rows].shape[:2]))
    others[torch.arange(count), all_of.right[rows]] = 2.0  # the right one comes last
    negatives = torch.zeros_like(others).scatter(1, others.argsort(1)[:, :NEGATIVES], 1.0)
    return (*(signal[rows] for signal in all_of), negatives)


def margin_loss(network: Ranks, *drawn_turns: Tensor) -> Tensor:
    """Return the mean over negatives of max(0, margin - sim(q, c) + sim(q, c')), c right and c' not (section 4.1)."""
    bags, negatives = Bags(*drawn_turns[:-1]), drawn_turns[-1].float()
    scores = network.batch(bags)
    wrong = (MARGIN - scores.gather(1, bags.right[:, None]) + scores).clamp_min(0)
    return (wrong * negatives).sum() / negatives.sum()


def judge(network: Ranks) -> dict[str, float]:
    """Return hits@1 of 20 on the turns held out, and the same when nothing is told of the profile."""
    bags = judged_bags()
    blank = bags._replace(profile=torch.zeros_like(bags.profile), told=torch.zeros_like(bags.told))
    return {"hits_at_1": hits(network, bags), "hits_at_1_without_profile": hits(network, blank)}


def hits(network: Ranks, bags: Bags) -> float:
    """Return how often the right reply comes first; it must be above all others."""
    scores = network.batch(bags)
    right = scores.gather(1, bags.right[:, None])
    return float(((scores >= right).sum(1) == 1).double().mean())


def trained(
    build: Callable[[], Ranker], epochs: int | None = None, seed: int = 0, progress: Progress | None = None
) -> tuple[nn.Module, Mapping[str, float]]:
    """Train a ranker with the margin ranking loss."""
    return train(build, drawn, margin_loss, judge, RECIPE, epochs, seed, progress)


def seeded(build: Callable[[], Ranker]) -> Ranker:
    """Build a ranker whose parameters are always the same."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return build()
