"""Train networks that write replies on the likelihood of each word, and judge them by perplexity and by ranking.

Zhang, Dinan, Urbanek, Szlam, Kiela, Weston, "Personalizing dialogue agents: I have a dog, do you have pets too?", 2018,
sections 4.4 and 4.5. While a network learns it reads the right word before the one it writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from explorer.spaces.sequence.samples import personas
from explorer.spaces.sequence.samples.persona_chat import BLANK, END, Turn, tokens_of, turns_of, words_in
from models.layers.dialogue.writing import AT, VOCABULARY, Writer, numbers
from models.training.learning import Progress
from models.training.sequences.computed import Recipe, train

NONE = -100  # no word is asked for
LEARNED = 2000  # dialogues: words in a row take more examples than bags of them
RECIPE = Recipe(epochs=30, batch=64, rate=1e-2)


class Turns(NamedTuple):
    """Turns for training: numbers of words, filled up at the end."""

    tokens: Tensor  # (B, L), all that comes before the blanks
    lengths: Tensor  # (B,)
    replies: Tensor  # (B, R), NONE after the end


def reply_of(text: str) -> list[int]:
    """Return the numbers of the words of a reply and of the end."""
    return numbers((*words_in(text), END))


def filled(rows: Iterable[Sequence[int]], value: int) -> Tensor:
    """Return rows of unequal length as one tensor."""
    return nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=value)


def turns_for(turns: Iterable[Turn], reply: Callable[[Turn], str] = lambda turn: turn.reply) -> Turns:
    """Return turns as numbers of words."""
    listed = list(turns)
    given = [numbers([word for word in tokens_of(turn) if word != BLANK]) for turn in listed]
    lengths = torch.tensor([len(row) for row in given])
    return Turns(filled(given, AT[BLANK]), lengths, filled([reply_of(reply(turn)) for turn in listed], NONE))


@cache
def learned_turns() -> Turns:
    """Return the turns for training."""
    return turns_for(turns_of(personas.learned_from(LEARNED)))


def drawn(chance: np.random.Generator, count: int) -> tuple[Tensor, ...]:
    """Draw turns for training."""
    rows = torch.from_numpy(chance.integers(0, len(learned_turns().lengths), count))
    tokens, lengths, replies = (signal[rows] for signal in learned_turns())
    return tokens[:, : int(lengths.max())], lengths, replies


def likelihoods(network: Writer, turns: Turns) -> Tensor:
    """Return the log-likelihood of every word of the replies, each given those before it, 0 after the end; (B, R)."""
    x = F.one_hot(turns.tokens, len(VOCABULARY)).to(network.prior)
    given, _ = network.begin(x, turns.tokens, turns.lengths)
    scores = network.follow(given, turns.replies).scores
    return -F.cross_entropy(scores.flatten(0, 1), turns.replies.flatten(), reduction="none").view(turns.replies.shape)


def loss(network: Writer, *turns: Tensor) -> Tensor:
    """Return the negative log-likelihood of a word."""
    made = Turns(*turns)
    return -likelihoods(network, made).sum() / (made.replies != NONE).sum()


def judge(network: Writer) -> dict[str, float]:
    """Return the perplexity of the replies held out, and hits@1 of 20, candidates ranked by likelihood for a word."""
    listed = list(turns_of(personas.held_out()))
    right = turns_for(listed)
    found = likelihoods(network, right)
    most = max(len(turn.candidates) for turn in listed)
    ranks = []
    for k in range(most):
        other = turns_for(listed, lambda turn, k=k: turn.candidates[k])  # type: ignore[misc]
        ranks.append(likelihoods(network, other).sum(1) / (other.replies != NONE).sum(1))
    best = torch.stack(ranks, 1).argmax(1).tolist()
    hits = [turn.candidates[k] == turn.reply for turn, k in zip(listed, best, strict=True)]
    count = float((right.replies != NONE).sum())
    return {"perplexity": float((-found.sum() / count).exp()), "hits_at_1": sum(hits) / len(hits)}


def trained(
    build: Callable[[], Writer], epochs: int | None = None, seed: int = 0, progress: Progress | None = None
) -> tuple[nn.Module, Mapping[str, float]]:
    """Train a network that writes replies."""
    return train(build, drawn, loss, judge, RECIPE, epochs, seed, progress)
