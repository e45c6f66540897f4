"""Replies ranked: a set of sentences with roles, the similarity of any two, and the share of each candidate.

Zhang, Dinan, Urbanek, Szlam, Kiela, Weston, "Personalizing dialogue agents: I have a dog, do you have pets too?", 2018,
section 4: replies are ranked by sim(q, c'), the cosine between the query and each candidate. An element of the set is a
sentence: of the profile, of the history, the query, or a candidate. Nothing depends on the order in which they are
listed: a bag of words forgets the order of words, and all that is done with sentences are sums.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.types.fields import PAIR
from explorer.spaces.graph.fields import NODE
from explorer.spaces.graph.network.form import GraphInput
from explorer.spaces.sequence.samples.persona_chat import ROLES
from models.layers.dialogue.bags import WORDS, Bags
from models.layers.taps import Tap

WIDTH = 32
MOST = 2000  # sentences: there is a similarity for each pair
SPREAD = 10.0  # of the shares of candidates; their order is that of the similarity
INPUT = GraphInput(channels=len(ROLES) + len(WORDS), signals=("x",), most=MOST, columns=(*ROLES, *WORDS))


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
