"""Three graph networks side by side: one of each flavour, and the mean of their answers.

The flavours are convolution, attention and message passing: Bronstein, Bruna, Cohen, Veličković, "Geometric Deep
Learning", 2021, section 5.3, eq. 33 to 35.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from explorer.declare.fields import NODE


class Member(nn.Module):
    """Two layers of one flavour with a ReLU between them; (N, C), (2, E) -> (N, D)."""

    def __init__(self, layer1: nn.Module, layer2: nn.Module) -> None:
        super().__init__()
        self.layer1, self.relu1, self.layer2 = layer1, nn.ReLU(), layer2

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.layer2(self.relu1(self.layer1(x, edge_index)), edge_index)


class Mean(nn.Module):
    """The mean of several fields of the same shape: (N, C), (N, C), ... -> (N, C)."""

    out_field = NODE

    def forward(self, *fields: Tensor) -> Tensor:
        return torch.stack(fields).mean(dim=0)


class ThreeMembers(nn.Module):
    """Three networks on the same graph and the mean of their outputs; x (N, 6), edge_index (2, E) -> (N, 4)."""

    def __init__(self, convolution: nn.Module, attention: nn.Module, message_passing: nn.Module) -> None:
        super().__init__()
        self.convolution, self.attention, self.message_passing = convolution, attention, message_passing
        self.mean = Mean()

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        members = (self.convolution, self.attention, self.message_passing)
        return self.mean(*(member(x, edge_index) for member in members))
