"""Key-value profile memory: a second look, at dialogues of others; keys are what was said, values what was replied.

Zhang et al., "Personalizing dialogue agents: I have a dog, do you have pets too?", 2018, section 4.3, after Miller et
al., "Key-value memory networks for directly reading documents", 2016:

    q+ as in the profile memory network,   t_j = softmax over j of sim(q+, k_j),   q++ = q+ + sum_j t_j v_j

As in the paper nothing is trained for the second look: the vectors of words are those of the profile memory network.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from explorer.declare.card import Card
from explorer.declare.params import Param
from explorer.spaces.graph.fields import GRAPH
from explorer.spaces.sequence.samples import personas
from explorer.spaces.sequence.samples.persona_chat import turns_of
from models.layers.dialogue.bags import bags_of
from models.layers.dialogue.citation import OURS, REFERENCE
from models.layers.dialogue.profile_memory import ProfileMemory
from models.layers.dialogue.ranking import INPUT, Ranker, read
from models.layers.seeded import seeded
from models.layers.taps import Tap
from models.training.dialogue.ranking import trained

DIALOGUES = 40  # that are remembered


class KeyValueMemory(ProfileMemory):
    """q++ = q+ + sum_j t_j v_j; x (N, 4 + V) -> (N, 1)."""

    def __init__(self, sharpness: float, weight: float) -> None:
        super().__init__()
        self.key_sharpness, self.weight = sharpness, weight
        self.recall = Tap(GRAPH)
        bags = bags_of(turns_of(personas.learned_from()[:DIALOGUES]))
        replies = bags.candidates[torch.arange(len(bags.right)), bags.right]
        # in no file of weights: they follow from the dialogues
        self.register_buffer("keys", torch.stack([bags.query, bags.history]), persistent=False)
        self.register_buffer("values", replies, persistent=False)

    def remembered(self) -> tuple[Tensor, Tensor]:
        """Return the keys, each what a person was asked with what had been said before, and the replies; (K, D)."""
        keys, values = self.get_buffer("keys"), self.get_buffer("values")
        return self.embedding.forward(keys[0] + self.history * keys[1]), self.embedding.forward(values)

    def ask(self, q: Tensor, memory: Tensor, among: Tensor) -> tuple[Tensor, Tensor | None]:
        q, attention = super().ask(q, memory, among)
        keys, values = self.remembered()
        recall, found = read(q, keys[None], values[None], keys.new_ones(1, len(keys)), self.key_sharpness)
        self.recall(recall)
        return q + self.weight * found, attention


def build(sharpness: float = 10.0, weight: float = 0.5) -> Ranker:
    """Build the network; `weight` 0 leaves out the second look."""
    return seeded(partial(KeyValueMemory, sharpness, weight))


def build_without_recall() -> Ranker:
    """Build what is trained, the profile memory network, whose vectors of words serve both looks."""
    return seeded(ProfileMemory)


FIGURES = (
    "9,858 parameters, those of the profile memory network. On 176 turns of 40 made-up dialogues the right reply comes "
    "first in 0.943 of them, and in 0.216 where the profile is not told.",
)

CARD = Card(
    name="persona-key-value",
    title="Key-value profile memory ranks replies",
    rows=("R7",),
    groups=("permutation",),
    domain="set",
    reference=REFERENCE + '4.3; Miller et al., "Key-value memory networks for directly reading documents", 2016',
    equation=(
        "q⁺ = q + Σ_i softmax_i( β sim(q, p_i) ) p_i\nt_j = softmax_j( γ sim(q⁺, k_j) )\n"
        "q⁺⁺ = q⁺ + Σ_j t_j v_j,   score(c′) = sim(q⁺⁺, c′)"
    ),
    summary=(
        "After the profile the query looks at 40 dialogues of others (recall, one channel an exchange): what was "
        "replied to something like it. Compare with the profile memory network, whose vectors these are."
    ),
    build=build,
    input=INPUT,
    sample="persona-other-words",
    params=(
        Param("sharpness", "γ", 10.0, 0.0, 50.0, step=1.0),
        Param("weight", "Weight of the second look", 0.5, 0.0, 1.0, step=0.1),
    ),
    weights="persona-profile-memory.safetensors",
    train=partial(trained, build_without_recall),
    source=(KeyValueMemory, ProfileMemory, Ranker),
    notes=(
        *FIGURES,
        "Published: hits@1 of 20 0.511 with the original persona, 0.349 with none, 0.351 with the revised one. " + OURS,
    ),
)
