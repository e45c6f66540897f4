"""Non-linearities that respect turned frames: by the length of a feature, and on samples around the circle.

A feature of orders 0, 1, ..., L is a function on the directions around its vertex, s(a) = f_0 + sum over m of
f_m . (cos ma, sin ma). Turning the frame by phi makes s(a + phi) of it. Any function of s taken point by point commutes
with that; at N sampled directions it does so for turns by multiples of 2 pi / N, and for others up to the frequencies
beyond N / 2 that the function makes.

de Haan, Weiler, Cohen, Welling, "Gauge Equivariant Mesh CNNs", 2021, section 4; Worrall et al., "Harmonic Networks",
2017, section 3, for the norm.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from explorer.declare.groups import group
from explorer.declare.types.fields import FieldType, Regular
from explorer.spaces.mesh.fields import Tangent, Vertices
from models.layers.gauge.kernel import places
from models.layers.taps import Tap


class NormGate(nn.Module):
    """Scalars by ReLU, tangent features by sigmoid(w |f| + b) f; exact in every gauge; (V, C * size) -> the same."""

    def __init__(self, channels: int, orders: tuple[int, ...]) -> None:
        super().__init__()
        self.orders = orders
        self.out_field = FieldType(Vertices(), Tangent(orders))
        self.scale = nn.Parameter(torch.ones(channels, len(orders)))
        self.shift = nn.Parameter(torch.zeros(channels, len(orders)))

    def forward(self, x: Tensor) -> Tensor:
        blocks = x.reshape(len(x), len(self.scale), -1)
        made = []
        for k, (m, here) in enumerate(zip(self.orders, places(self.orders), strict=True)):
            f = blocks[..., here]
            if m == 0:
                made.append(f.relu())
                continue
            length = (f.square().sum(-1, keepdim=True) + 1e-12).sqrt()  # smooth where a feature vanishes
            made.append(f * torch.sigmoid(self.scale[:, k, None] * length + self.shift[:, k, None]))
        return torch.cat(made, -1).flatten(1)


class RegularReLU(nn.Module):
    """ReLU on `samples` directions of each feature; (V, C * size) -> the same.

    `around` is s at the directions 2 pi k / N, a field of the regular representation of C_N.
    """

    synthesis: Tensor

    def __init__(self, orders: tuple[int, ...], samples: int = 7) -> None:
        super().__init__()
        self.orders, self.samples = orders, samples
        self.out_field = FieldType(Vertices(), Tangent(orders))
        self.around = Tap(FieldType(Vertices(), Regular(group(f"C{samples}"))))
        angle = torch.arange(samples, dtype=torch.float64) * (2 * math.pi / samples)
        columns = []
        for m in orders:
            columns += [torch.ones_like(angle)] if m == 0 else [torch.cos(m * angle), torch.sin(m * angle)]
        self.register_buffer("synthesis", torch.stack(columns, 1), persistent=False)  # (N, size)

    def forward(self, x: Tensor) -> Tensor:
        synthesis = self.synthesis.to(x)
        blocks = x.reshape(len(x), -1, synthesis.shape[1])
        around = self.around((blocks @ synthesis.t()).flatten(1)).relu().view(len(x), -1, self.samples)
        weight = torch.tensor([1.0 if m == 0 else 2.0 for m in self.orders for _ in range(1 if m == 0 else 2)]).to(x)
        return (around @ synthesis * (weight / self.samples)).flatten(1)
