"""A network on rings that keeps the law, and one that counts its sites from the first."""

from __future__ import annotations

import torch
from ring.fields import SITE
from ring.space import RingInput
from torch import Tensor, nn

from equiscope.cards import Card


class Neighbours(nn.Module):
    """Mix each site with the next one, by the same weights everywhere."""

    out_field = SITE

    def __init__(self, channels: int, out: int, numbered: bool = False) -> None:
        super().__init__()
        self.here, self.there = nn.Linear(channels, out), nn.Linear(channels, out)
        self.numbered = numbered

    def forward(self, x: Tensor) -> Tensor:
        made: Tensor = self.here(x) + self.there(x.roll(1, 0))
        return made + torch.arange(len(x)).to(x)[:, None] if self.numbered else made


def _net(numbered: bool = False) -> nn.Module:
    return nn.Sequential(Neighbours(2, 3), nn.Tanh(), Neighbours(3, 3, numbered), nn.Tanh(), Neighbours(3, 2))


CARD = tuple(
    Card(
        name=name, title=title, rows=(), reference="", equation="", summary="", build=build, input=RingInput(2),
        sample="ring-wave", groups=("cyclic",),
    )
    for name, title, build in (
        ("ring-net", "Neighbours on a ring", _net),
        ("ring-numbered", "Neighbours on a numbered ring", lambda: _net(numbered=True)),
    )
)  # fmt: skip
