"""Networks on binary trees: one hears both children alike, one knows left from right."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from tree.space import JOINT, TIP, TreeInput

from equiscope.cards import Card, Param
from equiscope.fields import INVARIANT


class Hear(nn.Module):
    """h_v = W x_v + U (x_left + x_right) + P x_parent; (joints, C) -> (joints, D)."""

    out_field = JOINT

    def __init__(self, channels: int, out: int, sided: bool = False) -> None:
        super().__init__()
        self.own, self.child, self.parent = (nn.Linear(channels, out, bias=k == 0) for k in range(3))
        self.right = nn.Linear(channels, out, bias=False) if sided else self.child

    def forward(self, x: Tensor) -> Tensor:
        n = len(x)
        inner = n // 2
        below = torch.cat([self.child(x[1::2]) + self.right(x[2::2]), x.new_zeros(n - inner, self.own.out_features)])
        above = torch.cat([x.new_zeros(1, self.own.out_features), self.parent(x[(torch.arange(1, n) - 1) // 2])])
        return self.own(x) + below + above


class ToTips(nn.Module):
    """Keep the tips; (joints, C) -> (tips, C)."""

    out_field = TIP

    def forward(self, x: Tensor) -> Tensor:
        return x[len(x) // 2 :]


class Mean(nn.Module):
    out_field = INVARIANT

    def forward(self, x: Tensor) -> Tensor:
        return x.mean(0, keepdim=True)


class Net(nn.Module):
    def __init__(self, sided: bool = False, width: float = 4) -> None:
        super().__init__()
        width = int(width)
        self.hear1 = Hear(2, width)
        self.act1 = nn.Tanh()
        self.hear2 = Hear(width, width, sided)
        self.act2 = nn.Tanh()
        self.tips = ToTips()
        self.head = nn.Linear(width, 3)
        self.mean = Mean()

    def forward(self, x: Tensor) -> Tensor:
        return self.mean(self.head(self.tips(self.act2(self.hear2(self.act1(self.hear1(x)))))))


CARD = (
    Card(
        name="tree-sum", title="Sum over children", rows=(), reference="", equation="h_v = W x_v + U Σ x_c + P x_p",
        summary="Both children are heard alike.", build=Net, input=TreeInput(2), sample="family", groups=("swaps",),
        labels=("oak", "elm", "ash"), source=(Hear, ToTips),
        params=(Param("width", "Width", 4.0, 1.0, 16.0, 1.0, whole=True),),
    ),
    Card(
        name="tree-sided", title="Left is not right", rows=(), reference="", equation="", summary="",
        build=lambda: Net(True), input=TreeInput(2), sample="family", groups=("swaps",), source=(Hear,),
    ),
)  # fmt: skip
