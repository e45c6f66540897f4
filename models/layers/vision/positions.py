"""Five ways to tell attention where a patch lies: learned, sinusoidal, not at all, rotary, relative.

Learned and sinusoidal vectors are added to the patches (Dosovitskiy et al., "An Image is Worth 16x16 Words", 2021,
section 3.1 and appendix D.4; Vaswani et al., "Attention is all you need", 2017, section 3.5, one half of the channels
for each axis). Rotary embeddings turn queries and keys by angles that grow with the place, so that a logit depends on
the difference of two places (Su et al., "RoFormer", 2021, eq. 34), again one half of the channels for each axis. A
relative bias is a number for each difference of two places and each head (Shaw et al., "Self-Attention with Relative
Position Representations", 2018; as a bias: Liu et al., "Swin Transformer", 2021, eq. 4). A class token has no place:
nothing is added to it but a learned vector, it is not turned, and its biases are numbers of their own.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

KINDS = ("learned", "sinusoidal", "none", "rotary", "relative")
BASE = 10_000.0


def places(size: tuple[int, int]) -> Tensor:
    """Return (row, column) of the patches, row by row, (h w, 2) in float64."""
    rows, columns = torch.meshgrid(*(torch.arange(n, dtype=torch.float64) for n in size), indexing="ij")
    return torch.stack([rows.flatten(), columns.flatten()], -1)


def angles(size: tuple[int, int], width: int, base: float = BASE) -> Tensor:
    """Return position times frequency, a quarter of `width` of them for each axis, (h w, width / 2) in float64."""
    if width % 4:
        raise ValueError(f"{width} channels cannot be halved for two axes and paired; take a multiple of 4")
    rates = base ** -(torch.arange(0, width // 2, 2, dtype=torch.float64) / (width // 2))
    return (places(size)[:, :, None] * rates).flatten(1)


def sinusoids(size: tuple[int, int], width: int) -> Tensor:
    """Return sine and cosine of every angle side by side, (h w, width) in float64."""
    angle = angles(size, width)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)


class Rotary(nn.Module):
    """Turn each pair of channels of q or k by the angle of its place; (B, heads, T, d) -> the same."""

    cosine: Tensor
    sine: Tensor

    def __init__(self, size: tuple[int, int], width: int, extra: int, base: float = 10.0) -> None:
        """Begin with a base of 10: a few patches a side need no wave lengths of thousands."""
        super().__init__()
        self.extra = extra
        angle = angles(size, width, base).repeat_interleave(2, -1)
        # kept in double precision: they are rounded where they are used
        self.register_buffer("cosine", angle.cos(), persistent=False)
        self.register_buffer("sine", angle.sin(), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        still, patches = x[..., : self.extra, :], x[..., self.extra :, :]
        quarter = torch.stack([-patches[..., 1::2], patches[..., ::2]], -1).flatten(-2)
        turned = patches * self.cosine.to(x) + quarter * self.sine.to(x)
        return torch.cat([still, turned], -2)


class RelativeBias(nn.Module):
    """A number for each head and difference of two places; three more where a class token takes part.

    () -> (heads, T, T).
    """

    index: Tensor

    def __init__(self, size: tuple[int, int], heads: int, extra: int) -> None:
        super().__init__()
        h, w = size
        differences = (2 * h - 1) * (2 * w - 1)
        self.table = nn.Parameter(torch.zeros(heads, differences + 3))
        at = places(size).long()
        apart = at[:, None] - at[None] + torch.tensor([h - 1, w - 1])
        index = torch.full((extra + h * w, extra + h * w), differences)  # between class tokens
        index[extra:, extra:] = apart[..., 0] * (2 * w - 1) + apart[..., 1]
        index[:extra, extra:], index[extra:, :extra] = differences + 1, differences + 2
        self.register_buffer("index", index, persistent=False)

    def forward(self) -> Tensor:
        return self.table[:, self.index]
