"""Train networks that rank replies with a margin, and judge them by how often the right reply comes first.

Zhang, Dinan, Urbanek, Szlam, Kiela, Weston, "Personalizing dialogue agents: I have a dog, do you have pets too?", 2018,
section 4: hits@1 of 20 candidates. The loss is that of section 4.1:

    sum over negatives c- of max(0, margin - sim(q, c) + sim(q, c-))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Protocol

import numpy as np
import torch
from torch import Tensor, nn

from explorer.spaces.sequence.samples import personas
from explorer.spaces.sequence.samples.persona_chat import turns_of
from models.layers.dialogue.bags import Bags, bags_of
from models.layers.dialogue.ranking import Ranker
from models.training.learning import Progress
from models.training.sequences.computed import Recipe, train

MARGIN, NEGATIVES = 0.2, 10
RECIPE = Recipe(epochs=20, batch=64, rate=1e-2)


class Ranks(Protocol):
    """A network that ranks the candidates of many turns; Bags -> (B, C)."""

    def batch(self, bags: Bags) -> Tensor: ...


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
