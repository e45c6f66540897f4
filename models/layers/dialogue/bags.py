"""Turns of dialogues as bags of words: how often each word occurs in a sentence, whatever their order.

Zhang et al., "Personalizing dialogue agents: I have a dog, do you have pets too?", 2018, section 4.1.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor

from explorer.spaces.sequence.samples import personas
from explorer.spaces.sequence.samples.persona_chat import SYMBOLS, Turn, words_in

WORDS = personas.vocabulary()[len(SYMBOLS) :]


class Bags(NamedTuple):
    """Turns as bags of words, for training: B turns, V words, P sentences of a profile, C candidates."""

    profile: Tensor  # (B, P, V), zeros where a profile is shorter
    told: Tensor  # (B, P), 1 where there is a sentence
    history: Tensor  # (B, V)
    query: Tensor  # (B, V)
    candidates: Tensor  # (B, C, V)
    right: Tensor  # (B,)


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
