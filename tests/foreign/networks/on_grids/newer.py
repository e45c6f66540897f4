"""Newer vision networks by hand: class tokens and registers, filters of frequencies, normalised responses."""

from __future__ import annotations

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.networks.on_grids.vision import pair, pictures


class Attend(nn.Module):
    def __init__(self, d, tokens=0, causal=False, fused=True):
        super().__init__()
        self.to_q, self.to_kv, self.to_out = nn.Linear(d, d, bias=False), nn.Linear(d, 2 * d), nn.Linear(d, d)
        self.table = nn.Parameter(torch.randn(tokens, tokens)) if tokens else None
        self.causal, self.fused = causal, fused

    def forward(self, x):
        b, n, d = x.shape
        q, (k, v) = self.to_q(x), self.to_kv(x).chunk(2, -1)
        q, k, v = (t.view(b, n, 2, d // 2).transpose(1, 2) for t in (q, k, v))
        if self.fused:
            y = F.scaled_dot_product_attention(q, k, v, self.table, is_causal=self.causal)
        else:
            logits = torch.einsum("bhid,bhjd->bhij", q, k) / d**0.5
            logits = logits if self.table is None else logits + self.table
            y = torch.einsum("bhij,bhjd->bhid", logits.softmax(dim=-1), v)
        return self.to_out(y.transpose(1, 2).reshape(b, n, d))


class Layer(nn.Module):
    def __init__(self, d, **attend):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attn, self.mlp = Attend(d, **attend), nn.Sequential(nn.Linear(d, 2 * d), nn.SiLU(), nn.Linear(2 * d, d))

    def forward(self, x):
        x = self.attn(self.ln_1(x)) + x
        return self.mlp(self.ln_2(x)) + x


class ViT(nn.Module):
    """Extra tokens before and after those of 4 x 4 patches; the second layer may have a fault."""

    def __init__(self, before=1, after=0, fused=True, unfolded=False, table=False, causal=False, dense=False):
        super().__init__()
        count = 16 + before + after
        self.patch = nn.Linear(48, 12) if unfolded else nn.Conv2d(3, 12, 4, stride=4)
        self.cls, self.reg = nn.Parameter(torch.randn(1, before, 12)), nn.Parameter(torch.randn(1, after, 12))
        self.layers = nn.ModuleList([
            Layer(12, fused=fused), Layer(12, fused=fused, tokens=count if table else 0, causal=causal),
        ])  # fmt: skip
        self.mix = nn.Linear(count, count) if dense else None
        self.head = nn.Linear(12, 4)

    def forward(self, x):
        if isinstance(self.patch, nn.Linear):
            x = self.patch(F.unfold(x, 4, stride=4).transpose(1, 2))
        else:
            x = torch.flatten(self.patch(x), 2).transpose(1, 2)
        x = torch.cat((self.cls.expand(len(x), -1, -1), x, self.reg.expand(len(x), -1, -1)), dim=1)
        for layer in self.layers:
            x = layer(x)
        if self.mix is not None:
            x = self.mix(x.transpose(1, 2)).transpose(1, 2)
        return self.head(x.mean(dim=1))


class Frequencies(nn.Module):
    """Multiply the spectrum of circular maps, or the maps themselves."""

    def __init__(self, c, there=False):
        super().__init__()
        self.gain, self.there = nn.Parameter(torch.randn(c, 16, 9)), there

    def forward(self, x):
        if self.there:
            return x * torch.fft.irfft2(self.gain.to(torch.complex64) if x.dtype == torch.float32 else self.gain + 0j)
        return torch.fft.irfft2(torch.fft.rfft2(x) * self.gain, s=x.shape[-2:])


class Filtered(nn.Module):
    def __init__(self, there=False):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, padding=1, padding_mode="circular")
        self.first, self.second = Frequencies(4), Frequencies(4, there)
        self.act = nn.GELU()

    def forward(self, x):
        return self.second(self.act(self.first(self.stem(x))))


class Response(nn.Module):
    """Scale each channel by the norm of its map, over both axes or over one alone."""

    def __init__(self, c, dims=(-2, -1)):
        super().__init__()
        self.gamma, self.beta, self.dims = (
            nn.Parameter(torch.randn(1, c, 1, 1)),
            nn.Parameter(torch.randn(1, c, 1, 1)),
            dims,
        )

    def forward(self, x):
        size = x.norm(dim=self.dims, keepdim=True)
        return x + self.gamma * x * size / (size.mean(dim=1, keepdim=True) + 1e-6) + self.beta


class Normed(nn.Module):
    def __init__(self, dims=(-2, -1)):
        super().__init__()
        self.inner = nn.Sequential(nn.Conv2d(3, 5, 1), nn.GELU(), Response(5, dims), nn.Conv2d(5, 2, 1))

    def forward(self, x):
        return self.inner(x)


class Blur(nn.Module):
    def __init__(self, taps):
        super().__init__()
        one = torch.tensor(taps)
        self.register_buffer("kernel", (one[:, None] * one)[None, None] / one.sum() ** 2)

    def forward(self, x):
        padded = F.pad(x, (1, 1, 1, 1), mode="circular")
        return F.conv2d(padded, self.kernel.to(x).expand(x.shape[1], 1, 3, 3), groups=x.shape[1])


class Smooth(nn.Module):
    def __init__(self, taps=(1.0, 2.0, 1.0)):
        super().__init__()
        self.up, self.blur, self.down = nn.Conv2d(3, 4, 1), Blur(taps), nn.Conv2d(4, 3, 1)

    def forward(self, x):
        return self.down(torch.relu(self.blur(self.up(x))))


class Strips(nn.Module):
    """Attention of coordinates: each row and each column is scaled by a number of its own."""

    def __init__(self, mode="circular"):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, padding=1, padding_mode="circular")
        self.rows, self.columns = (nn.Conv1d(4, 4, 3, padding=1, padding_mode=m) for m in ("circular", mode))

    def forward(self, x):
        x = self.stem(x)
        return x * self.rows(x.mean(3)).sigmoid()[..., None] * self.columns(x.mean(2)).sigmoid()[:, :, None]


class Squeeze(nn.Module):
    def __init__(self, c, side):
        super().__init__()
        self.pool, self.fc = nn.AdaptiveAvgPool2d(side), nn.Linear(c * side * side, c)

    def forward(self, x):
        return x * torch.sigmoid(self.fc(self.pool(x).flatten(1)))[:, :, None, None]


class Excited(nn.Module):
    def __init__(self, side=1):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 5, padding=2, padding_mode="circular")
        self.se, self.out = Squeeze(6, side), nn.Conv2d(6, 2, 1)

    def forward(self, x):
        return self.out(self.se(self.conv(x)))


class Shuffled(nn.Module):
    def __init__(self, mode="circular"):
        super().__init__()
        self.body = nn.Sequential(
            nn.PixelUnshuffle(2), nn.Conv2d(12, 8, 3, padding=1, padding_mode=mode), nn.ReLU(), nn.PixelShuffle(2)
        )

    def forward(self, x):
        return self.body(x)


class Gan(nn.Module):
    """Attention between all places of a map, by matrices."""

    def __init__(self, ramp=0.0):
        super().__init__()
        self.f, self.g, self.h = (nn.Conv1d(3, 3, 1) for _ in range(3))
        self.ramp = ramp

    def forward(self, x):
        n, c, h, w = x.shape
        flat = x.view(n, c, h * w)
        beta = torch.bmm(self.f(flat).transpose(1, 2), self.g(flat))
        beta = F.softmax(beta + self.ramp * torch.arange(h * w, dtype=x.dtype), dim=-1)
        return torch.bmm(self.h(flat), beta.transpose(1, 2)).view(n, c, h, w) + x


class WithAttention(nn.Module):
    def __init__(self, ramp=0.0):
        super().__init__()
        self.stem = nn.Conv2d(3, 3, 3, padding=1, padding_mode="circular")
        self.attention, self.last = Gan(ramp), nn.Conv2d(3, 2, 1)

    def forward(self, x):
        return self.last(self.attention(self.stem(x)))


PATCHES, SMALL = partial(pictures, step=4), partial(pictures, 9)
BLAMED = ["layers.1.attn", "layers.1.attn.attention"]

CASES = (
    *pair("a class token", ViT, partial(ViT, table=True), BLAMED, PATCHES, ("fixed",), hooks=False),
    *pair(
        "registers behind the patches", partial(ViT, 1, 4), partial(ViT, 1, 4, causal=True), BLAMED, PATCHES,
        ("fixed",), hooks=False,
    ),
    *pair(
        "a class token at the end", partial(ViT, 0, 1, False), partial(ViT, 0, 1, False, table=True), BLAMED, PATCHES,
        ("fixed",), hooks=False,
    ),
    *pair(
        "unfolded patches", partial(ViT, 2, 1, unfolded=True), partial(ViT, 2, 1, unfolded=True, dense=True), [],
        PATCHES, ("fixed",), hooks=False,
    ),
    *pair("filters of frequencies", Filtered, partial(Filtered, True), ["second"], pictures, ("grid",)),
    *pair("responses", Normed, partial(Normed, (-1,)), ["inner.2"], SMALL, ("grid",), "D4"),
    *pair("a blur", Smooth, partial(Smooth, (1.0, 2.0, 2.0)), ["blur"], SMALL, ("grid",), "D4"),
    *pair("strips", Strips, partial(Strips, "zeros"), ["columns"], pictures, ("grid",), hooks=False),
    *pair(
        "squeezed by parts", Excited, partial(Excited, 2), ["se", "se.pool", "se.fc"], pictures, ("grid",), hooks=False
    ),
    *pair(
        "shuffled pixels", Shuffled, partial(Shuffled, "reflect"), ["body.1"], partial(pictures, step=2), ("grid",),
        hooks=False,
    ),
    *pair(
        "attention of a generator", WithAttention, partial(WithAttention, 0.05), ["attention", "attention.attention"],
        SMALL, ("grid",), hooks=False,
    ),
)  # fmt: skip
