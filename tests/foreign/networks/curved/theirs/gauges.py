"""Networks on meshes with a frame at each vertex: angles in the frames, and what carries vectors between them."""

import torch
from torch import nn

INPUT_CHANNELS = 3


def summed(message, edge_index, count):
    return torch.zeros(count, *message.shape[1:], dtype=message.dtype).index_add(0, edge_index[1], message)


def turned(v, angle):
    """v (E, C, 2), turned by an angle for each edge."""
    c, s = angle.cos()[:, None], angle.sin()[:, None]
    return torch.stack([c * v[..., 0] - s * v[..., 1], s * v[..., 0] + c * v[..., 1]], -1)


class Isotropic(nn.Module):
    """Weighs a neighbour by how far it is; `aware` also by where it lies."""

    def __init__(self, cin, cout, aware=False):
        super().__init__()
        self.lin = nn.Linear(cin, cout)
        self.near = nn.Sequential(nn.Linear(2 if aware else 1, 6), nn.Tanh(), nn.Linear(6, cout))
        self.aware = aware

    def forward(self, x, edge_index, radius, angle):
        told = torch.stack([radius, angle.cos()], -1) if self.aware else radius[:, None]
        return summed(self.near(told) * self.lin(x)[edge_index[0]], edge_index, len(x))


class Round(nn.Module):
    def __init__(self, aware=(False, False)):
        super().__init__()
        self.conv1, self.conv2 = Isotropic(3, 5, aware[0]), Isotropic(5, 4, aware[1])
        self.head = nn.Linear(4, 2)

    def forward(self, x, edge_index, radius, angle):
        h = torch.tanh(self.conv1(x, edge_index, radius, angle))
        return self.head(torch.tanh(self.conv2(h, edge_index, radius, angle)))


def aware_first():
    return Round((True, False))


def aware_second():
    return Round((False, True))


class ToVectors(nn.Module):
    """Numbers at neighbours as arrows towards them: (V, C) -> (V, C, 2)."""

    def __init__(self, cin, cout):
        super().__init__()
        self.lin = nn.Linear(cin, cout)

    def forward(self, x, edge_index, angle):
        way = torch.stack([angle.cos(), angle.sin()], -1)
        return summed(self.lin(x)[edge_index[0]][..., None] * way[:, None], edge_index, len(x))


class Carry(nn.Module):
    """Arrows of neighbours, carried here."""

    def __init__(self, c, carried=True):
        super().__init__()
        self.mix = nn.Linear(c, c, bias=False)
        self.carried = carried

    def forward(self, v, edge_index, transport):
        m = v[edge_index[0]]
        if self.carried:
            m = turned(m, transport)
        return self.mix(summed(m, edge_index, len(v)).transpose(1, 2)).transpose(1, 2)


class Lengths(nn.Module):
    def __init__(self, component=False):
        super().__init__()
        self.component = component

    def forward(self, v):
        return v[..., 0] if self.component else v.norm(dim=-1)


class Arrows(nn.Module):
    def __init__(self, carried=True, component=False):
        super().__init__()
        self.lift, self.carry = ToVectors(3, 4), Carry(4, carried)
        self.size = Lengths(component)
        self.head = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2))

    def forward(self, x, edge_index, angle, transport):
        v = self.lift(x, edge_index, angle)
        v = v + self.carry(v, edge_index, transport)
        return self.head(self.size(v))


def uncarried():
    return Arrows(carried=False)


def component():
    return Arrows(component=True)


class Shape(nn.Module):
    """One answer for the whole surface: a mean of lengths of arrows."""

    def __init__(self, component=False):
        super().__init__()
        self.arrows = Arrows(component=component)

    def forward(self, x, edge_index, angle, transport):
        return self.arrows(x, edge_index, angle, transport).mean(0, keepdim=True)


def shape_component():
    return Shape(True)
