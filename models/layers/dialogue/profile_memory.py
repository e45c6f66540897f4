"""Profile memory: the query looks at each sentence of the profile and takes with it what it needs.

Zhang et al., "Personalizing dialogue agents: I have a dog, do you have pets too?", 2018, section 4.2:

    s_i = softmax over i of sim(q, p_i),   q+ = q + sum_i s_i p_i,   candidates are ranked by sim(q+, c')

Here sim in the softmax has a factor, which is learned and starts at 1: a cosine alone can hardly choose.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from explorer.declare.types.fields import PAIR
from explorer.spaces.graph.fields import NODE
from models.layers.dialogue.ranking import Ranker, read
from models.layers.taps import Tap


class ProfileMemory(Ranker):
    """q+ = q + sum_i s_i p_i; x (N, 4 + V) -> (N, 1)."""

    def __init__(self, profile: float = 1.0) -> None:
        super().__init__()
        self.profile = profile

    def attend(self) -> None:
        self.sharpness = nn.Parameter(torch.tensor(1.0))
        self.shares = Tap(NODE)
        self.attention = Tap(PAIR)

    def ask(self, q: Tensor, memory: Tensor, among: Tensor) -> tuple[Tensor, Tensor | None]:
        attention, found = read(q, memory, memory, among, self.sharpness)
        return q + self.profile * found, attention

    def show(self, attention: Tensor, query: Tensor) -> None:
        self.shares(attention.t())
        self.attention((query @ attention)[None])  # row: who looks, column: at what
