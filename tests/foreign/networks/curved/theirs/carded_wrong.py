"""The same with a ramp along the columns."""

from functools import partial

import torch
from torch import nn

from equiscope.cards import Card, InputSpec


class Ramp(nn.Module):
    def __init__(self, on):
        super().__init__()
        self.on = on

    def forward(self, x):
        return x + torch.linspace(0, 1, x.shape[-1], dtype=x.dtype) if self.on else x * 1.0


class Shifts(nn.Module):
    def __init__(self, ramp=False):
        super().__init__()
        self.blur = nn.Conv2d(1, 4, 3, padding=1, padding_mode="circular")
        self.ramp = Ramp(ramp)
        self.conv = nn.Conv2d(4, 2, 3, padding=1, padding_mode="circular")

    def forward(self, x):
        return self.conv(torch.relu(self.ramp(self.blur(x))))


CARD = Card(
    name="my-ramp",
    title="A blur of mine, with a ramp",
    rows=("G2",),
    groups=("translation",),
    reference="a notebook",
    equation="y = w * x + a",
    summary="Shift it.",
    build=partial(Shifts, True),
    input=InputSpec(),
    sample="letter-f",
    source=(Shifts,),
)
