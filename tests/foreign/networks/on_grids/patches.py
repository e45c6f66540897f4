"""Vision transformers and mixers: patches, class tokens, positions, windows."""

from __future__ import annotations

from functools import partial

import torch
from torch import nn

from tests.foreign.case import Case, Given, drawn


def pictures(side=12, step=4):
    return Given((drawn(2, 1, side, side),), ("grid",), step=step)


class Position(nn.Module):
    def __init__(self, tokens, width, scale=0.2):
        super().__init__()
        self.table = nn.Parameter(scale * torch.randn(1, tokens, width))

    def forward(self, x):
        return x + self.table


class Mixer(nn.Module):
    """Mixes tokens by their number, as an MLP-mixer does."""

    def __init__(self, tokens, width):
        super().__init__()
        self.norm, self.mix = nn.LayerNorm(width), nn.Linear(tokens, tokens)

    def forward(self, x):
        return x + self.mix(self.norm(x).transpose(1, 2)).transpose(1, 2)


class OwnBlock(nn.Module):
    def __init__(self, width, heads, act):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), act(), nn.Linear(2 * width, width))

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(n, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        y = nn.functional.scaled_dot_product_attention(q, k, v)
        x = x + self.proj(y.transpose(1, 2).reshape(n, t, c))
        return x + self.mlp(self.norm2(x))


class ViT(nn.Module):
    def __init__(self, block="torch", pos="", at=0, read="mean", side=12, patch=4, width=8, act=nn.GELU, depth=2):
        super().__init__()
        self.patch = nn.Conv2d(1, width, patch, patch)
        tokens = (side // patch) ** 2
        self.cls = nn.Parameter(torch.randn(1, 1, width)) if read == "cls" else None
        make = {
            "torch": lambda: nn.TransformerEncoderLayer(width, 2, 16, batch_first=True, norm_first=True),
            "own": lambda: OwnBlock(width, 2, act), "mixer": lambda: Mixer(tokens, width),
        }  # fmt: skip
        self.blocks = nn.ModuleList(make["own" if block == "mixer" and k != at else block]() for k in range(depth))
        self.pos = Position(tokens + (read == "cls"), width) if pos == "module" else None
        self.table = nn.Parameter(torch.randn(1, tokens, width)) if pos == "code" else None
        self.at, self.read = at, read
        self.norm = nn.LayerNorm(width)
        self.fc = nn.Linear(width, 3)

    def forward(self, x):
        x = self.patch(x)
        h, w = x.shape[-2:]
        x = x.flatten(2).transpose(1, 2)
        if self.table is not None:
            x = x + self.table
        if self.cls is not None:
            x = torch.cat([self.cls.expand(len(x), -1, -1), x], 1)
        for k, block in enumerate(self.blocks):
            if self.pos is not None and k == self.at:
                x = self.pos(x)
            x = block(x)
        x = self.fc(self.norm(x))
        if self.read == "mean":
            return x.mean(1)
        if self.read == "cls":
            return x[:, 0]
        if self.read == "first":
            return x[:, 0]
        return x if self.read == "tokens" else x.transpose(1, 2).unflatten(2, (h, w))


OUT = {"mean": ("fixed",), "cls": ("fixed",), "map": ("grid@4",), "tokens": ("patches@3x3x4",)}


def vit_cases():
    found = []
    for block in ("torch", "own"):
        for read, out in OUT.items():
            sound = Case(
                f"patches, {block} blocks, {read}", partial(ViT, block, read=read), pictures, "translation", out
            )
            at = int(read in ("cls", "map"))
            found += [
                sound,
                sound.broken(f"positions at {at}", partial(ViT, block, "module", at, read), "pos", hooks=read != "cls"),
            ]
    own = Case("patches, mish", partial(ViT, "own", act=nn.Mish), pictures, "translation", ("fixed",))
    found += [
        own,
        own.broken("positions by code", partial(ViT, "own", "code", act=nn.Mish)),
        own.broken("tokens mixed by number", partial(ViT, "mixer", at=1), "blocks.1", "blocks.1.mix"),
        own.broken("first patch read", partial(ViT, "own", read="first")),
    ]
    return found


class Window(nn.Module):
    """Attention inside of windows, moved by half a window in every other block."""

    def __init__(self, size, move, bias):
        super().__init__()
        self.size, self.move = size, move
        self.attend = nn.MultiheadAttention(8, 2, batch_first=True)
        self.bias = nn.Parameter(torch.randn(size * size, size * size)) if bias else None

    def forward(self, x):
        n, c, h, w = x.shape
        s = self.size
        x = x.roll((-self.move, -self.move), (2, 3))
        t = x.view(n, c, h // s, s, w // s, s).permute(0, 2, 4, 3, 5, 1).reshape(-1, s * s, c)
        t = t + self.attend(t, t, t, attn_mask=self.bias, need_weights=False)[0]
        x = t.view(n, h // s, w // s, s, s, c).permute(0, 5, 1, 3, 2, 4).reshape(n, c, h, w)
        return x.roll((self.move, self.move), (2, 3))


class Swin(nn.Module):
    def __init__(self, size=4, move=2, bias=False, at=1):
        super().__init__()
        self.embed = nn.Conv2d(1, 8, 1)
        self.blocks = nn.Sequential(*(Window(size if k == at else 8, move, bias and k == at) for k in range(3)))
        self.out = nn.Conv2d(8, 2, 3, padding=1, padding_mode="circular")

    def forward(self, x):
        return self.out(self.blocks(self.embed(x)))


def window_cases():
    data = partial(pictures, 8, 1)
    sound = Case("one window over all", partial(Swin, 8, 3), data, "translation", ("grid",))
    return [
        sound,
        sound.broken("four windows in block 1", partial(Swin, 4, 2), "blocks.1"),
        sound.broken("four windows in block 2", partial(Swin, 4, 0, at=2), "blocks.2"),
        sound.broken("a table of pairs", partial(Swin, 8, 3, True), "blocks.1"),
    ]


CASES = (*vit_cases(), *window_cases())
