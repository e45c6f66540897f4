"""Replies ranked by tf-idf: nothing is learned, rare words that two texts share bring them together.

Zhang et al., "Personalizing dialogue agents: I have a dog, do you have pets too?", 2018, section 4.1, the IR baseline,
here between the query and each candidate; idf is that of the sentences of the set, as scikit-learn has it:

    idf_w = ln((1 + n) / (1 + n_w)) + 1,   q_w = idf_w (how often w is in query, history and profile)
    score(c') = sim(q, c'), the cosine
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.spaces.graph.fields import GRAPH, NODE
from explorer.spaces.graph.network.form import GraphInput
from explorer.spaces.sequence.samples.persona_chat import ROLES
from models.layers.dialogue.citation import OURS, REFERENCE
from models.layers.dialogue.ranking import MOST, Ranking, Similarity, cosine, parts
from models.layers.taps import Tap


def idf_of(words: Tensor) -> Tensor:
    """Return ln((1 + n) / (1 + n_w)) + 1, where n_w of n sentences have the word; (..., N, V) -> (..., 1, V)."""
    having = (words > 0).to(words.dtype).sum(-2, keepdim=True)
    return torch.log((1 + words.shape[-2]) / (1 + having)) + 1


class TfIdf(nn.Module):
    """Rank candidates by the cosine of their tf-idf with that of the query; x (N, 4 + V) -> (N, 1)."""

    def __init__(self, profile: float = 1.0, history: float = 0.0) -> None:
        super().__init__()
        self.profile, self.history = profile, history
        self.idf = Tap(GRAPH)
        self.weighted = Tap(NODE)
        self.similarity = Similarity()
        self.scores = Tap(NODE)
        self.ranking = Ranking()

    def forward(self, x: Tensor) -> Tensor:
        profile, history, query, candidate, words = parts(x)
        weighted = self.weighted(words * self.idf(idf_of(words)))
        self.similarity(weighted)
        q = (query + self.history * history + self.profile * profile).t() @ weighted
        return self.ranking(self.scores(cosine(q, weighted).t()), candidate)


FIGURES = (
    "Nothing is learned. On 176 turns of 40 made-up dialogues the right reply comes first in 0.176 of them, and in "
    "0.051 with the profile at 0; a reply that others tie with does not count.",
)

CARD = Card(
    name="persona-tfidf",
    title="tf-idf ranks replies",
    rows=("R7",),
    groups=("permutation",),
    domain="set",
    reference=REFERENCE + "4.1",
    equation=(
        "idf_w = ln((1 + n) / (1 + n_w)) + 1\nq_w = idf_w · how often w is in query, history and profile\n"
        "score(c′) = q · c′ / (|q| |c′|)"
    ),
    summary=(
        "A candidate scores by the rare words that it shares with query, history and profile. Nothing is learned: a "
        "profile in other words does not help. Ranked candidates are in Output, similarity in Attention and pairs."
    ),
    build=TfIdf,
    input=GraphInput(signals=("x",), most=MOST, columns=ROLES),
    sample="persona-plain",
    params=(
        Param("profile", "Weight of the profile", 1.0, 0.0, 1.0, step=0.1),
        Param("history", "Weight of the history", 0.0, 0.0, 1.0, step=0.1),
    ),
    source=(TfIdf, idf_of),
    notes=(
        *FIGURES,
        "Published: hits@1 of 20 0.410 with the original persona, 0.214 with none, 0.207 with the revised one. " + OURS,
    ),
)
