"""A file with a card of its own: what the network takes, on what it is shown, and what it claims."""

import torch
from torch import nn

from equiscope.cards import Card, InputSpec


class Shifts(nn.Module):
    """A blur that goes round the edges."""

    def __init__(self, ramp=False):
        super().__init__()
        self.blur = nn.Conv2d(1, 4, 3, padding=1, padding_mode="circular")
        self.ramp = Ramp(ramp)
        self.conv = nn.Conv2d(4, 2, 3, padding=1, padding_mode="circular")

    def forward(self, x):
        return self.conv(torch.relu(self.ramp(self.blur(x))))


class Ramp(nn.Module):
    def __init__(self, on):
        super().__init__()
        self.on = on

    def forward(self, x):
        return x + torch.linspace(0, 1, x.shape[-1], dtype=x.dtype) if self.on else x * 1.0


def card(name, build):
    return Card(
        name=name,
        title="A blur of mine",
        rows=("G2",),
        groups=("translation",),
        reference="a notebook",
        equation="y = w * x",
        summary="Shift it.",
        build=build,
        input=InputSpec(),
        sample="letter-f",
        source=(Shifts,),
    )


CARD = card("my-blur", Shifts)
