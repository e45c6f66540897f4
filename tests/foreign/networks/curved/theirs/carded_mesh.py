"""A card of one's own for a surface."""

import torch
from torch import nn

from equiscope.cards import Card, MeshInput


class Steered(nn.Module):
    """Filters over directions: the first two moments, as lengths (or as they are in the frame)."""

    def __init__(self, raw=False):
        super().__init__()
        self.lin = nn.Linear(4, 5)
        self.raw = raw

    def forward(self, x, edge_index, radius, angle):
        way = torch.polar(radius, angle)
        m = self.lin(x)[edge_index[0]] * way[:, None]
        v = torch.zeros(len(x), 5, dtype=m.dtype).index_add(0, edge_index[1], m)
        return v.real if self.raw else v.abs()


class Net(nn.Module):
    def __init__(self, raw=False):
        super().__init__()
        self.steered, self.head = Steered(raw), nn.Linear(5, 3)

    def forward(self, x, edge_index, radius, angle):
        return self.head(self.steered(x, edge_index, radius, angle))


CARD = Card(
    name="my-moments",
    title="Moments of neighbours",
    rows=("M5",),
    groups=("gauge",),
    reference="a notebook",
    equation="v = sum r e^{i a} W x",
    summary="Turn the frames.",
    build=Net,
    input=MeshInput(channels=4, signals=("x", "edge_index", "radius", "angle")),
    domain="mesh",
    sample="body",
    source=(Net,),
)
