"""Replies ranked with a memory of the profile: the query takes with it what it finds there.

Zhang et al., "Personalizing dialogue agents: I have a dog, do you have pets too?", 2018, section 4.2:

    s_i = softmax over i of sim(q, p_i),   q+ = q + sum_i s_i p_i,   candidates are ranked by sim(q+, c')

The network is in `models.layers.dialogue.profile_memory`, for the key-value memory reads the profile as well.
"""

from __future__ import annotations

from functools import partial

from explorer.declare.card import Card
from explorer.declare.params import Param
from models.layers.dialogue.citation import OURS, REFERENCE
from models.layers.dialogue.profile_memory import ProfileMemory
from models.layers.dialogue.ranking import INPUT, Ranker, read
from models.layers.seeded import seeded
from models.training.dialogue.ranking import trained


def build(profile: float = 1.0) -> Ranker:
    """Build the network; `profile` is how much of what is read from the profile is added to q."""
    return seeded(partial(ProfileMemory, profile))


FIGURES = (
    "9,858 parameters, 20 epochs of 100 steps, 64 turns each, out of 360 made-up dialogues. On 176 turns of 40 others "
    "the right reply comes first in 0.938 of them, and in 0.148 where the profile is not told.",
    "Its attention is largest at the sentence that answers in 174 of the 176 turns, and in 63 of the 65 in which that "
    "sentence is told in other words.",
)

CARD = Card(
    name="persona-profile-memory",
    title="Profile memory network ranks replies",
    rows=("R7",),
    groups=("permutation",),
    domain="set",
    reference=REFERENCE + "4.2",
    equation="s_i = softmax_i( β sim(q, p_i) )\nq⁺ = q + Σ_i s_i p_i\nscore(c′) = sim(q⁺, c′)",
    summary=(
        "See shares in Graph, or the row of the query in Attention and pairs: the question finds the sentence of "
        "the profile that answers it, also one that shares no word with it. Shuffle the sentences: attention goes "
        "with them, and the ranking in Output stays."
    ),
    build=build,
    input=INPUT,
    sample="persona-other-words",
    params=(Param("profile", "Weight of the profile", 1.0, 0.0, 1.0, step=0.1),),
    weights="persona-profile-memory.safetensors",
    train=partial(trained, build),
    source=(ProfileMemory, Ranker, read),
    notes=(
        *FIGURES,
        "Published: hits@1 of 20 0.509 with the original persona, 0.318 with none, 0.354 with the revised one. " + OURS,
    ),
)
