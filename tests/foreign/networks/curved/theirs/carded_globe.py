"""A card of one's own for signals on the sphere."""

import torch
from torch import nn

from equiscope.cards import Card, SphereInput


class Blur(nn.Module):
    def __init__(self, skewed=False):
        super().__init__()
        self.gain = nn.Parameter(torch.rand(4))
        self.skewed = skewed

    def forward(self, x):
        degrees = torch.tensor([0, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3])
        gain = self.gain[degrees]
        return x * (gain.sort().values if self.skewed else gain)


class Power(nn.Module):
    def forward(self, x):
        return torch.stack([part.square().sum(-1) for part in x.split((1, 3, 5, 7), -1)], -1).flatten(1)


class Globe(nn.Module):
    def __init__(self, skewed=False):
        super().__init__()
        self.blur, self.power, self.head = Blur(skewed), Power(), nn.Linear(4, 3)

    def forward(self, x):
        return self.head(self.power(self.blur(x)))


CARD = Card(
    name="my-globe",
    title="A blur on the sphere",
    rows=("G10",),
    groups=("sphere-SO3",),
    reference="a notebook",
    equation="y = g x",
    summary="Turn it.",
    build=Globe,
    input=SphereInput(1, 3),
    sample="globe",
    source=(Globe,),
)
