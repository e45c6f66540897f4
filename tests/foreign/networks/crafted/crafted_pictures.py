"""Networks on images in many hands: mixers, pyramids, spectral and dynamic filters, automata, couplings, detectors."""

from __future__ import annotations

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.case import Case, Given, drawn


def pictures(side=8, channels=2, step=1):
    return Given((drawn(2, channels, side, side, seed=11),), ("grid",), step=step)


def conv(cin, cout, k=3, mode="circular", **more):
    return nn.Conv2d(cin, cout, k, padding=k // 2, padding_mode=mode, **more)


class Residual(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x):
        return self.fn(x) + x


class ConvMixer(nn.Module):
    def __init__(self, modes=("circular", "circular")):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(2, 6, 1), nn.GELU(), nn.BatchNorm2d(6))
        self.blocks = nn.Sequential(*(
            nn.Sequential(
                Residual(nn.Sequential(conv(6, 6, 5, m, groups=6), nn.GELU(), nn.BatchNorm2d(6))),
                nn.Conv2d(6, 6, 1), nn.GELU(), nn.BatchNorm2d(6),
            )
            for m in modes
        ))  # fmt: skip
        self.head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 3))

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)))


class CoordinateAttention(nn.Module):
    def __init__(self, c, places=False):
        super().__init__()
        self.squeeze, self.act = nn.Conv2d(c, c, 1), nn.Hardswish()
        self.to_rows, self.to_columns = nn.Conv2d(c, c, 1), nn.Conv2d(c, c, 1)
        self.rows = nn.Parameter(torch.randn(1, c, 8, 1)) if places else None

    def forward(self, x):
        h, w = x.shape[-2:]
        y = torch.cat([x.mean(3, keepdim=True), x.mean(2, keepdim=True).transpose(2, 3)], 2)
        rows, columns = self.act(self.squeeze(y)).split([h, w], 2)
        if self.rows is not None:
            rows = rows + self.rows
        return x * self.to_rows(rows).sigmoid() * self.to_columns(columns.transpose(2, 3)).sigmoid()


class Attended(nn.Module):
    def __init__(self, places=False):
        super().__init__()
        self.first, self.att, self.last = conv(2, 4), CoordinateAttention(4, places), conv(4, 2)

    def forward(self, x):
        return self.last(self.att(self.first(x)))


class Pyramid(nn.Module):
    """A feature pyramid: two maps of two sizes by name."""

    def __init__(self, mode="circular"):
        super().__init__()
        self.stages = nn.ModuleDict({"c2": nn.Sequential(conv(2, 4), nn.ReLU()),
                                     "c3": nn.Sequential(conv(4, 6, stride=2), nn.ReLU())})  # fmt: skip
        self.lateral = nn.ModuleDict({"c2": nn.Conv2d(4, 4, 1), "c3": nn.Conv2d(6, 4, 1)})
        self.smooth = nn.ModuleDict({"c2": conv(4, 4, mode=mode), "c3": conv(4, 4)})

    def forward(self, x):
        found = {}
        for name, stage in self.stages.items():
            found[name] = x = stage(x)
        top = self.lateral["c3"](found["c3"])
        low = self.lateral["c2"](found["c2"]) + F.interpolate(top, scale_factor=2, mode="nearest")
        return {"p2": self.smooth["c2"](low), "p3": self.smooth["c3"](top)}


class Recurrent(nn.Module):
    """One convolution again and again; the third time on a sloping map."""

    def __init__(self, slope=0.0):
        super().__init__()
        self.embed, self.step, self.slope = conv(2, 4), conv(4, 4), slope

    def forward(self, x):
        u = z = self.embed(x)
        for k in range(4):
            z = torch.tanh(self.step(z) + u)
            if k == 2 and self.slope:
                z = z * (1 + self.slope * torch.arange(z.shape[-1], dtype=z.dtype))
        return z.mean((2, 3))


class DynamicFilter(nn.Module):
    def __init__(self, c, quadrant=False):
        super().__init__()
        self.bank, self.score, self.quadrant = nn.Parameter(torch.randn(3, c, c, 3, 3) / 5), nn.Linear(c, 3), quadrant

    def forward(self, x):
        seen = x[..., :4, :4] if self.quadrant else x
        mix = self.score(seen.mean((2, 3))).softmax(-1)
        w = torch.einsum("nk,koihw->noihw", mix, self.bank)
        padded = F.pad(x, (1, 1, 1, 1), mode="circular")
        return torch.cat([F.conv2d(p[None], k) for p, k in zip(padded, w)])


class Dynamic(nn.Module):
    def __init__(self, quadrant=False):
        super().__init__()
        self.net = nn.Sequential(conv(2, 4), nn.SiLU(), DynamicFilter(4, quadrant), nn.SiLU(), conv(4, 1))

    def forward(self, x):
        return self.net(x)


class ShiftChannels(nn.Module):
    def __init__(self, wrap=True):
        super().__init__()
        self.wrap = wrap

    def forward(self, x):
        out = []
        for part, (dy, dx) in zip(x.chunk(4, 1), ((0, 1), (1, 0), (0, -1), (-1, 0))):
            y = part.roll((dy, dx), (2, 3))
            if not self.wrap and dx == 1:
                y = torch.cat([torch.zeros_like(y[..., :1]), y[..., 1:]], 3)
            out.append(y)
        return torch.cat(out, 1)


class ShiftNet(nn.Module):
    def __init__(self, wrap=True):
        super().__init__()
        self.a, self.s1, self.b, self.s2, self.c = (
            nn.Conv2d(2, 8, 1), ShiftChannels(), nn.Conv2d(8, 8, 1), ShiftChannels(wrap), nn.Conv2d(8, 3, 1),
        )  # fmt: skip

    def forward(self, x):
        return self.c(self.s2(F.relu(self.b(self.s1(F.relu(self.a(x)))))))


class GlobalFilter(nn.Module):
    def __init__(self, c, space=False):
        super().__init__()
        self.weight, self.space = nn.Parameter(torch.randn(c, 8, 5, 2) / 3), space
        self.map = nn.Parameter(torch.randn(c, 8, 8) / 20)

    def forward(self, x):
        y = torch.fft.irfft2(torch.fft.rfft2(x, norm="ortho") * torch.view_as_complex(self.weight), s=x.shape[-2:],
                             norm="ortho")  # fmt: skip
        return y * (1 + self.map) if self.space else y


class GFNet(nn.Module):
    def __init__(self, space=False):
        super().__init__()
        self.stem = nn.Conv2d(2, 4, 1)
        self.blocks = nn.ModuleList(
            nn.ModuleDict({"norm": nn.GroupNorm(1, 4), "filter": GlobalFilter(4, space and k == 1),
                           "mlp": nn.Sequential(nn.Conv2d(4, 8, 1), nn.GELU(), nn.Conv2d(8, 4, 1))})
            for k in range(2)
        )  # fmt: skip

    def forward(self, x):
        x = self.stem(x)
        for b in self.blocks:
            x = x + b["mlp"](b["filter"](b["norm"](x)))
        return x.mean((2, 3))


class Automaton(nn.Module):
    """A neural cellular automaton: the same rule six times; cells live next to living ones."""

    def __init__(self, edge=False):
        super().__init__()
        self.register_buffer("see", torch.randn(3, 1, 3, 3))
        self.rule = nn.Sequential(nn.Conv2d(12, 8, 1), nn.ReLU(), nn.Conv2d(8, 4, 1))
        self.start, self.edge = nn.Conv2d(2, 4, 1), edge

    def forward(self, x):
        state = self.start(x)
        for _ in range(3):
            padded = F.pad(state, (1, 1, 1, 1), mode="circular")
            seen = F.conv2d(padded, self.see.repeat(4, 1, 1, 1), groups=4)
            state = state + 0.3 * self.rule(seen)
            near = F.max_pool2d(F.pad(state[:, :1], (1,) * 4, mode="constant" if self.edge else "circular"), 3, 1)
            state = state * torch.sigmoid(4 * near)
        return state[:, :2]


class Involution(nn.Module):
    def __init__(self, c, wrap=True):
        super().__init__()
        self.kernel, self.wrap = nn.Conv2d(c, 9, 1), wrap

    def forward(self, x):
        n, c, h, w = x.shape
        k = self.kernel(x).view(n, 1, 9, h, w)
        padded = F.pad(x, (1, 1, 1, 1), mode="circular") if self.wrap else F.pad(x, (1, 1, 1, 1))
        return (F.unfold(padded, 3).view(n, c, 9, h, w) * k).sum(2)


class Involuted(nn.Module):
    def __init__(self, wrap=True):
        super().__init__()
        self.enter = nn.Conv2d(2, 4, 1)
        self.inv = nn.ModuleList([Involution(4), Involution(4, wrap)])
        self.norm = nn.InstanceNorm2d(4)

    def forward(self, x):
        x = self.enter(x)
        for layer in self.inv:
            x = F.elu(self.norm(layer(x)))
        return x


class CrissCross(nn.Module):
    def __init__(self, c, causal=False):
        super().__init__()
        self.qkv, self.causal = nn.Conv2d(c, 3 * c, 1), causal

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, 1)
        rows = torch.einsum("nchw,nchu->nhwu", q, k)
        if self.causal:
            rows = rows.masked_fill(torch.ones(rows.shape[-2:], dtype=torch.bool).triu(1), -1e9)
        out = torch.einsum("nhwu,nchu->nchw", rows.softmax(-1), v)
        columns = torch.einsum("nchw,nctw->nwht", q, k).softmax(-1)
        return x + out + torch.einsum("nwht,nctw->nchw", columns, v)


class CCNet(nn.Module):
    def __init__(self, causal=False):
        super().__init__()
        self.backbone, self.cc1, self.cc2 = conv(2, 4), CrissCross(4), CrissCross(4, causal)
        self.head = nn.Conv2d(4, 2, 1)

    def forward(self, x):
        return self.head(self.cc2(self.cc1(self.backbone(x))))


def pair(name, make, faulty, culprit, given=pictures, out=("grid",), group="translation", **more):
    sound = Case(name, make, given, group, out, **more)
    return [sound, sound.broken("a fault", faulty, *culprit)]


CASES = (
    *pair("a mixer of convolutions", ConvMixer, partial(ConvMixer, ("circular", "reflect")), ["blocks.1.0.fn.0"],
          out=("fixed",)),
    *pair("attention by rows and columns", Attended, partial(Attended, True), ["att"], hooks=False),
    *pair("a feature pyramid", Pyramid, partial(Pyramid, "zeros"), ["smooth.c2"], partial(pictures, step=2),
          ("grid", "grid@2")),
    *pair("one convolution four times", Recurrent, partial(Recurrent, 0.02), [], out=("fixed",), hooks=False),
    *pair("filters made for a picture", Dynamic, partial(Dynamic, True), ["net.2"]),
    *pair("channels that are shifted", ShiftNet, partial(ShiftNet, False), ["s2"]),
    *pair("a filter of all frequencies", GFNet, partial(GFNet, True), ["blocks.1.filter"], out=("fixed",)),
    *pair("a cellular automaton", Automaton, partial(Automaton, True), [], hooks=False),
    *pair("involution", Involuted, partial(Involuted, False), ["inv.1"]),
    *pair("attention along rows and columns", CCNet, partial(CCNet, True), ["cc2"]),
)  # fmt: skip
