"""Starspace on dialogues: a vector for each word, trained so that a reply lies near what it is a reply to.

Zhang et al., "Personalizing dialogue agents: I have a dog, do you have pets too?", 2018, section 4.1, after Wu et al.,
"StarSpace: embed all the things!", 2018:

    q = sum of W_w over the words of history, query and profile,   c' = sum of W_w over those of a candidate
    loss = sum over negatives c- of max(0, margin - sim(q, c) + sim(q, c-)),   sim the cosine
"""

from __future__ import annotations

from functools import partial

from torch import Tensor

from explorer.declare.card import Card
from explorer.declare.params import Param
from models.layers.dialogue.citation import OURS, REFERENCE
from models.layers.dialogue.ranking import INPUT, Ranker
from models.layers.seeded import seeded
from models.training.dialogue.ranking import margin_loss, trained


class Starspace(Ranker):
    """The profile is concatenated to the dialogue: its words are words of q; x (N, 4 + V) -> (N, 1)."""

    def __init__(self, profile: float = 1.0) -> None:
        super().__init__()
        self.profile = profile

    def ask(self, q: Tensor, memory: Tensor, among: Tensor) -> tuple[Tensor, Tensor | None]:
        return q + self.profile * (among[:, None] @ memory)[:, 0], None


def build(profile: float = 1.0) -> Ranker:
    """Build the network; `profile` is how much of q the profile is."""
    return seeded(partial(Starspace, profile))


FIGURES = (
    "9,857 parameters, 20 epochs of 100 steps, 64 turns each, out of 360 made-up dialogues. On 176 turns of 40 others "
    "the right reply comes first in 0.994 of them, and in 0.267 where the profile is not told.",
)

CARD = Card(
    name="persona-starspace",
    title="Starspace ranks replies",
    rows=("R7",),
    groups=("permutation",),
    domain="set",
    reference=REFERENCE + '4.1; Wu et al., "StarSpace: embed all the things!", 2018',
    equation=(
        "q = Σ W_w over the words w of query, history and profile,   c′ = Σ W_w over those of a candidate\n"
        "sim(q, c′) = q · c′ / (|q| |c′|)\n"
        "loss = Σ max(0, μ − sim(q, c) + sim(q, c⁻)) over negatives c⁻"
    ),
    summary=(
        "All that is known goes into one bag of words, q. Ranked candidates are in Output: set Profile to 0 and those "
        "that answer the same question for somebody else come up. similarity compares any two sentences."
    ),
    build=build,
    input=INPUT,
    sample="persona-plain",
    params=(Param("profile", "Weight of the profile", 1.0, 0.0, 1.0, step=0.1),),
    weights="persona-starspace.safetensors",
    train=partial(trained, build),
    source=(Starspace, Ranker, margin_loss),
    notes=(
        *FIGURES,
        "Published: hits@1 of 20 0.491 with the original persona, 0.318 with none, 0.322 with the revised one. " + OURS,
    ),
)
