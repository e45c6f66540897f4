"""Convolutions on a honeycomb whose filters are turned by sixths: one shares them, one forgets a direction."""

from __future__ import annotations

import torch
from honeycomb.space import CELL6, HoneycombInput, cells, radius_of
from honeycomb.transforms import turned
from torch import Tensor, nn

from equiscope.cards import Card
from equiscope.fields import INVARIANT

STEPS = [(0, 0), *(turned(1, 0, k) for k in range(6))]


def shifted(x: Tensor) -> Tensor:
    """(N, C, cells) -> (N, C, 7, cells): each cell and its neighbours, 0 outside."""
    at = cells(radius_of(x.shape[-1]) or 0)
    index = {c: k for k, c in enumerate(at)}
    padded = torch.cat([x, x.new_zeros(*x.shape[:2], 1)], -1)
    rows = [[index.get((q + a, r + b), len(at)) for q, r in at] for a, b in STEPS]
    return padded[:, :, torch.tensor(rows)]


class Lift(nn.Module):
    out_field = CELL6

    def __init__(self, channels: int, out: int, tied: bool = True) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(out, channels, 7))
        self.tied = tied

    def forward(self, x: Tensor) -> Tensor:
        turns = range(6) if self.tied else (0, 1, 2, 3, 4, 0)
        filters = [torch.cat([self.weight[..., :1], self.weight[..., 1:].roll(k, -1)], -1) for k in turns]
        w = torch.stack(filters, 1).flatten(0, 1)
        return torch.einsum("nckp,ock->nop", shifted(x), w)


class Group(nn.Module):
    out_field = CELL6

    def __init__(self, fields: int, out: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(out, fields, 6, 7))

    def forward(self, x: Tensor) -> Tensor:
        filters = [torch.cat([self.weight[..., :1], self.weight[..., 1:].roll(k, -1)], -1).roll(k, 2) for k in range(6)]
        w = torch.stack(filters, 1).flatten(0, 1).flatten(1, 2)
        return torch.einsum("nckp,ock->nop", shifted(x), w)


class Pool(nn.Module):
    out_field = INVARIANT

    def forward(self, x: Tensor) -> Tensor:
        return x.unflatten(1, (-1, 6)).amax(2).amax(-1)


def net(tied: bool = True) -> nn.Module:
    return nn.Sequential(Lift(1, 3, tied), nn.ReLU(), Group(3, 2), nn.ReLU(), Pool(), nn.Linear(2, 4))


CARD = tuple(
    Card(name=name, title=title, rows=(), reference="", equation="", summary="", build=build, input=HoneycombInput(),
         sample="bees", groups=("sixth",))
    for name, title, build in (
        ("comb-c6", "Group CNN on a honeycomb", net),
        ("comb-forgetful", "One direction forgotten", lambda: net(False)),
    )
)  # fmt: skip
