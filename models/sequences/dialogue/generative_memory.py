"""A reply written word by word, with a look at the sentences of the profile before each word.

Zhang et al., "Personalizing dialogue agents: I have a dog, do you have pets too?", 2018, section 4.5. The encoder reads
the dialogue alone; each sentence of the profile is a row of F:

    p_i = sum over its words of alpha_w E_w,   alpha_w = 1 / (1 + ln(1 + tf_w)),   F = [p_1; ...; p_n]
    a_t = softmax(F W_a d_t),   c_t = sum_i a_ti p_i,   x^_t = tanh(W_c [c_(t-1), y_(t-1)]),   d_t = LSTM(x^_t, d_(t-1))

Without a profile it is the network of section 4.4 but for W_c. The sentences are a sum each, and summed: their order
does not matter.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.declare.card import Card
from explorer.declare.types.fields import PAIR
from explorer.spaces.sequence.fields import STEP
from explorer.spaces.sequence.samples import personas
from explorer.spaces.sequence.samples.persona_chat import PROFILE, tokens_of, turns_of
from models.layers.dialogue.citation import OURS, REFERENCE
from models.layers.dialogue.ranking import shares
from models.layers.dialogue.writing import AT, BEAM, INPUT, VOCABULARY, Given, Writer, numbers, spoken
from models.layers.seeded import seeded
from models.layers.taps import Tap
from models.training.dialogue.writing import trained


class GenerativeMemory(Writer):
    """The profile is a memory and no part of what is read; one-hot (T, V) -> (T, V)."""

    def remember(self) -> None:
        size, width = self.embedding.out_features, self.decoder.hidden_size
        self.query = nn.Linear(width, size, bias=False)  # W_a
        self.mix = nn.Linear(2 * size, size)  # W_c
        self.register_buffer("alpha", word_weights(), persistent=False)
        self.weights = Tap(STEP)
        self.attention = Tap(PAIR)

    def reads(self, tokens: Tensor) -> Tensor:
        return super().reads(tokens) & ~spoken(tokens)[0]

    def weighted(self, x: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Return alpha at the words of the profile, 0 elsewhere, and which sentence each step is in; (B, T) each."""
        inside, sentence = spoken(tokens)
        word = (inside & (tokens != AT[PROFILE])).to(x.dtype)
        return word * (x @ self.get_buffer("alpha").to(x.dtype)), sentence

    def memory(self, x: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        alpha, sentence = self.weighted(x, tokens)
        count = int(sentence.max()) + 1
        of = F.one_hot(sentence, count).to(x.dtype) * alpha[..., None]  # (B, T, M)
        rows = of.transpose(1, 2) @ F.linear(x, self.embedding.weight)
        return rows, (of.sum(1) > 0).to(x.dtype)

    def attend(self, given: Given, hidden: Tensor) -> Tensor:
        key = F.linear(hidden, self.query.weight)
        return shares((given.memory @ key[..., None])[..., 0], given.among)

    def feed(self, word: Tensor, context: Tensor) -> Tensor:
        return torch.tanh(F.linear(torch.cat([context, word], -1), self.mix.weight, self.mix.bias))

    def look(self, attention: Tensor, x: Tensor, tokens: Tensor) -> None:
        alpha, sentence = (v[0] for v in self.weighted(x[None], tokens[None]))
        self.weights(alpha[:, None])
        # the share of a sentence goes to its words as they make it up
        whole = alpha.new_zeros(attention.shape[1]).index_add(0, sentence, alpha)
        self.attention((attention[:, sentence] * (alpha / whole[sentence].clamp_min(1e-12)))[None])


def word_weights() -> Tensor:
    """Return alpha of each word, 1 / (1 + ln(1 + tf)), tf from its rank among the words of training (section 4.5).

    As in the paper tf is not counted but follows from the rank by Zipf's law, 10^6 / rank^1.07.
    """
    counts = np.zeros(len(VOCABULARY))
    for turn in turns_of(personas.learned_from()):
        np.add.at(counts, numbers(tokens_of(turn)), 1)
    rank = np.empty(len(counts))
    rank[np.argsort(-counts, kind="stable")] = np.arange(1, len(counts) + 1)
    return torch.tensor(1 / (1 + np.log1p(1e6 / rank**1.07)), dtype=torch.float32)


def build(beam: float = 1) -> Writer:
    """Build the network, which keeps the `beam` likeliest beginnings of a reply; 1 is greedy."""
    return seeded(partial(GenerativeMemory, int(beam)))


FIGURES = (
    "19,706 parameters, 30 epochs of 100 steps, 64 turns each, out of 2,000 made-up dialogues. On 176 turns of 40 "
    "others perplexity 1.00; the right reply of 20 is the likeliest in 1.000 of them. There are no more than 35 "
    "replies, which it knows by heart: what it shows is which one it takes.",
    "Before the first word the look is longest at the sentence that answers in 165 of the 176 turns.",
)

CARD = Card(
    name="persona-generative-memory",
    title="Replies written with a memory of the profile",
    rows=("R7",),
    domain="sequence",
    reference=REFERENCE + "4.5",
    equation=(
        "p_i = Σ_w α_w E_w,   α_w = 1 / (1 + ln(1 + tf_w)),   F = [p₁; …; p_n]\n"
        "a_t = softmax( F W_a d_t ),   c_t = a_tᵀ F\n"
        "x̂_t = tanh( W_c [c_{t−1}, y_{t−1}] ),   d_t = LSTM(x̂_t, d_{t−1})\np(y_t) = softmax( E (W d_t + a) + b )"
    ),
    summary=(
        "See attention on the Stage: a row for each word of the reply, over the sentences of the profile (¶). "
        "The first row decides: it looks at the sentence that answers. What follows is known by heart, and the looks "
        "wander. Click a blank in Timeline: Output lists the likeliest words."
    ),
    build=build,
    input=INPUT,
    sample="persona-plain-words",
    labels=VOCABULARY,
    params=(BEAM,),
    weights="persona-generative-memory.safetensors",
    train=partial(trained, build),
    source=(GenerativeMemory, Writer),
    notes=(
        *FIGURES,
        "Published: perplexity 34.54 and hits@1 0.125 with the original persona, 38.08 and 0.092 with none, 38.21 and "
        "0.108 with the revised one. " + OURS,
    ),
)
