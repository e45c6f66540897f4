"""Whole vision networks in the style of model zoos: residual and dense ones, U-Nets, mixers of windows, averages."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.case import BROKEN, Case, Given, drawn


def pictures(side=16, channels=3, step=1, batch=2, boundary="circular"):
    return Given((drawn(batch, channels, side, side),), ("grid",), step=step, boundary=boundary)


def conv(cin, cout, k=3, stride=1, groups=1, mode="circular", bias=False):
    return nn.Conv2d(cin, cout, k, stride, k // 2, groups=groups, bias=bias, padding_mode=mode)


class Basic(nn.Module):
    def __init__(self, cin, cout, stride=1, mode="circular"):
        super().__init__()
        self.conv1, self.bn1 = conv(cin, cout, 3, stride), nn.BatchNorm2d(cout)
        self.relu = nn.ReLU(inplace=True)
        self.conv2, self.bn2 = conv(cout, cout, mode=mode), nn.BatchNorm2d(cout)
        self.downsample = None
        if stride != 1 or cin != cout:
            self.downsample = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        out += identity
        return self.relu(out)


class Bottleneck(nn.Module):
    """With squeeze and excitation."""

    def __init__(self, cin, cout, stride=1, mode="circular"):
        super().__init__()
        mid = cout // 2
        self.reduce, self.norm1 = nn.Conv2d(cin, mid, 1), nn.GroupNorm(2, mid)
        self.conv2, self.norm2 = conv(mid, mid, 3, stride, mode=mode), nn.GroupNorm(2, mid)
        self.se = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(mid, 2, 1), nn.SiLU(), nn.Conv2d(2, mid, 1), nn.Sigmoid()
        )
        self.expand = nn.Conv2d(mid, cout, 1)
        self.skip = nn.Identity() if stride == 1 and cin == cout else nn.Conv2d(cin, cout, 1, stride)

    def forward(self, x):
        h = F.silu(self.norm1(self.reduce(x)))
        h = F.silu(self.norm2(self.conv2(h)))
        return F.silu(self.skip(x) + self.expand(h * self.se(h)))


class ResNet(nn.Module):
    def __init__(self, block=Basic, modes=("circular",) * 3):
        super().__init__()
        self.stem = nn.Sequential(conv(3, 4, 5), nn.BatchNorm2d(4), nn.ReLU(True), nn.MaxPool2d(2))
        self.layer1 = nn.Sequential(block(4, 4, 1, modes[0]))
        self.layer2 = nn.Sequential(block(4, 8, 2, modes[1]), block(8, 8, 1, modes[2]))
        self.avgpool, self.fc = nn.AdaptiveAvgPool2d((1, 1)), nn.Linear(8, 3)

    def forward(self, x):
        x = self.layer2(self.layer1(self.stem(x)))
        return self.fc(torch.flatten(self.avgpool(x), 1))


class Double(nn.Sequential):
    def __init__(self, cin, cout, mode="circular"):
        super().__init__(
            conv(cin, cout), nn.InstanceNorm2d(cout, affine=True), nn.LeakyReLU(0.1, True),
            conv(cout, cout, mode=mode), nn.LeakyReLU(0.1, True),
        )  # fmt: skip


class UNet(nn.Module):
    def __init__(self, mode="circular", crop=False):
        super().__init__()
        self.inc, self.down1, self.down2 = Double(3, 4), Double(4, 6), Double(6, 6, mode)
        self.up1, self.up2 = Double(12, 5), Double(9, 4)
        self.outc, self.crop = nn.Conv2d(4, 2, 1), crop

    def forward(self, x):
        a = self.inc(x)
        b = self.down1(F.max_pool2d(a, 2))
        c = self.down2(F.max_pool2d(b, 2))
        y = self.up1(torch.cat([b, F.interpolate(c, scale_factor=2.0)], 1))
        y = F.interpolate(y, scale_factor=2.0)
        if self.crop:
            y = F.pad(y[..., 1:, 1:], (0, 1, 0, 1))
        return self.outc(self.up2(torch.cat([a, y], 1)))


class DenseNet(nn.Module):
    def __init__(self, fault=False):
        super().__init__()
        modes = ["circular", "circular", "reflect" if fault else "circular", "circular"]
        self.layers = nn.ModuleList(
            nn.Sequential(nn.BatchNorm2d(3 + 4 * k), nn.ELU(), conv(3 + 4 * k, 4, mode=m)) for k, m in enumerate(modes)
        )
        self.transition = nn.Sequential(nn.Conv2d(19, 4, 1), nn.AvgPool2d(2))

    def forward(self, x):
        found = [x]
        for layer in self.layers:
            found.append(layer(torch.cat(found, dim=1)))
        return self.transition(torch.cat(found, 1))


class Inverted(nn.Module):
    def __init__(self, c, expand=3, mode="circular"):
        super().__init__()
        h = c * expand
        self.conv = nn.Sequential(
            nn.Conv2d(c, h, 1, bias=False), nn.BatchNorm2d(h), nn.ReLU6(inplace=True),
            conv(h, h, 3, groups=h, mode=mode), nn.BatchNorm2d(h), nn.Hardswish(inplace=True),
            nn.Conv2d(h, c, 1, bias=False), nn.BatchNorm2d(c),
        )  # fmt: skip

    def forward(self, x):
        return x + self.conv(x)


class Mobile(nn.Module):
    def __init__(self, mode="circular"):
        super().__init__()
        self.features = nn.Sequential(conv(3, 4), Inverted(4), Inverted(4, 2, mode), nn.AvgPool2d(2), Inverted(4))
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(4, 3))

    def forward(self, x):
        return self.classifier(self.features(x).mean([2, 3]))


class Next(nn.Module):
    """A block with a large depthwise kernel, channels last, a scale for each layer."""

    def __init__(self, c, mode="circular"):
        super().__init__()
        self.dwconv = conv(c, c, 7, groups=c, mode=mode, bias=True)
        self.norm = nn.LayerNorm(c, eps=1e-6)
        self.pwconv1, self.pwconv2 = nn.Linear(c, 2 * c), nn.Linear(2 * c, c)
        self.gamma = nn.Parameter(0.7 * torch.ones(c))

    def forward(self, x):
        h = self.norm(self.dwconv(x).permute(0, 2, 3, 1))
        h = self.gamma * self.pwconv2(F.gelu(self.pwconv1(h)))
        return x + h.permute(0, 3, 1, 2)


class ConvNext(nn.Module):
    def __init__(self, mode="circular"):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 2, 2)
        self.stages = nn.Sequential(Next(4), Next(4, mode))
        self.norm, self.head = nn.LayerNorm(4), nn.Linear(4, 2)

    def forward(self, x):
        return self.head(self.norm(self.stages(self.stem(x)).mean((-2, -1))))


class Windows(nn.Module):
    """Attention within windows of four by four."""

    def __init__(self, c=4, table=False, size=4):
        super().__init__()
        self.size = size
        self.norm, self.qkv, self.proj = nn.LayerNorm(c), nn.Linear(c, 3 * c), nn.Linear(c, c)
        self.bias = nn.Parameter(torch.randn(size**2, size**2))
        self.place = nn.Parameter(torch.randn(16, 16, c)) if table else None

    def forward(self, x):
        n, h, w, c = x.shape
        s = self.size
        if self.place is not None:
            x = x + self.place
        t = self.norm(x).view(n, h // s, s, w // s, s, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, s * s, c)
        q, k, v = self.qkv(t).chunk(3, -1)
        t = self.proj(torch.softmax(q @ k.transpose(1, 2) / c**0.5 + self.bias, -1) @ v)
        return x + t.view(n, h // s, w // s, s, s, c).permute(0, 1, 3, 2, 4, 5).reshape(n, h, w, c)


class Swin(nn.Module):
    def __init__(self, table=False):
        super().__init__()
        self.embed = nn.Conv2d(3, 4, 1)
        self.block1, self.block2 = Windows(), Windows(table=table)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        x = self.block1(self.embed(x).permute(0, 2, 3, 1))
        x = self.block2(x.roll((-2, -2), (1, 2))).roll((2, 2), (1, 2))
        return self.head(x).permute(0, 3, 1, 2).contiguous()


class ASPP(nn.Module):
    def __init__(self, mode="circular"):
        super().__init__()
        self.backbone = nn.Sequential(conv(3, 6), nn.BatchNorm2d(6), nn.Softplus())
        self.rates = nn.ModuleList(
            nn.Conv2d(6, 3, 3, padding=d, dilation=d, padding_mode=mode if d == 3 else "circular") for d in (1, 2, 3)
        )
        self.pool = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(6, 3, 1))
        self.project = nn.Conv2d(12, 2, 1)

    def forward(self, x):
        x = self.backbone(x)
        pooled = F.interpolate(self.pool(x), size=x.shape[-2:], mode="bilinear")
        return {"out": self.project(torch.cat([*(r(x) for r in self.rates), pooled], 1))}


class SuperResolution(nn.Module):
    def __init__(self, mode="circular"):
        super().__init__()
        self.head = conv(3, 4)
        self.body = nn.Sequential(*(nn.Sequential(conv(4, 4, mode=m), nn.PReLU()) for m in ("circular", mode)))
        self.up = nn.Sequential(conv(4, 12), nn.PixelShuffle(2))

    def forward(self, x):
        x = self.head(x)
        return self.up(x + self.body(x))


class Averaged(nn.Module):
    """Any network, its answers averaged over turned and mirrored pictures."""

    def __init__(self, turns=4, mirrors=(False, True), maps=False):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 2, 3, padding=1))
        self.turns, self.mirrors, self.maps = turns, mirrors, maps

    def forward(self, x):
        found = []
        for k in range(self.turns):
            for m in self.mirrors:
                g = torch.rot90(x.flip(-1) if m else x, k, (-2, -1))
                y = self.net(g)
                y = torch.rot90(y, -k, (-2, -1))
                found.append(y.flip(-1) if m else y)
        y = torch.stack(found).mean(0)
        return y if self.maps else y.square().mean((2, 3))


class Edges(nn.Module):
    """The length of a gradient: two maps that turn into each other, then filters that turns keep."""

    def __init__(self, fault=False):
        super().__init__()
        k = torch.tensor([[-1.0, 0, 1], [-2, 0, 2], [-1, 0, 1]])
        self.register_buffer("sobel", torch.stack([k, k.t()])[:, None])
        self.ring = nn.Parameter(torch.tensor([0.3, -0.2, 0.8]))
        self.fault = fault

    def forward(self, x):
        g = F.conv2d(x.mean(1, keepdim=True), self.sobel, padding=1)
        size = (g[:, :1].square() + (0.5 if self.fault else 1.0) * g[:, 1:].square() + 1e-3).sqrt()
        c, e, m = self.ring
        return F.conv2d(size, torch.stack([c, e, c, e, m, e, c, e, c]).view(1, 1, 3, 3), padding=1)


class Flat(nn.Module):
    """A group convolution whose channels are field by field, or orientation by orientation."""

    def __init__(self, fields=3, first=False, fault=""):
        super().__init__()
        self.fields, self.first, self.fault = fields, first, fault
        self.weight = nn.Parameter(torch.randn(fields, fields, 4, 3, 3) / 5)

    def forward(self, x):
        n, _, h, w = x.shape
        v = x.view(n, 4, self.fields, h, w).transpose(1, 2) if self.first else x.view(n, self.fields, 4, h, w)
        out = []
        for k in range(4):
            t = torch.rot90(self.weight, k, (-2, -1))
            out.append(F.conv2d(v.flatten(1, 2), (t if self.fault else t.roll(k, 2)).flatten(1, 2), padding=1))
        return torch.stack(out, 1 if self.first else 2).flatten(1, 2)


class Lifted(nn.Module):
    def __init__(self, first=False, at=-1, act=nn.GELU):
        super().__init__()
        self.weight, self.first = nn.Parameter(torch.randn(3, 3, 3, 3) / 3), first
        self.enter = nn.Identity()
        self.g1, self.g2 = (Flat(3, first, "x" if k == at else "") for k in range(2))
        self.act, self.fc = act(), nn.Linear(3, 2)

    def forward(self, x):
        maps = [F.conv2d(x, torch.rot90(self.weight, k, (-2, -1)), padding=1) for k in range(4)]
        x = self.enter(torch.stack(maps, 1 if self.first else 2).flatten(1, 2))
        x = self.act(self.g2(self.act(self.g1(x)))).mean((2, 3))
        return self.fc(x.view(len(x), 4, 3).mean(1) if self.first else x.view(len(x), 3, 4).mean(2))


def pair(name, make, faulty, culprit, given, out, group="translation", **more):
    sound = Case(name, make, given, group, out, **more)
    return [sound, sound.broken("a fault", faulty, *culprit)]


ZEROS = ("circular", "circular", "zeros")
SHIFT4, SHIFT2 = partial(pictures, step=4), partial(pictures, step=2)
SMALL = partial(pictures, 9)

CASES = (
    *pair("basic blocks", ResNet, partial(ResNet, modes=ZEROS), ["layer2.1.conv2"], SHIFT4, ("fixed",)),
    *pair(
        "bottlenecks", partial(ResNet, Bottleneck), partial(ResNet, Bottleneck, ("zeros", "circular", "circular")),
        ["layer1.0.conv2"], SHIFT4, ("fixed",),
    ),
    *pair("U-Net", UNet, partial(UNet, "zeros"), ["down2.3"], SHIFT4, ("grid",)),
    replace(
        Case("U-Net, cropped", partial(UNet, crop=True), SHIFT4, "translation", ("grid",), BROKEN), twin="U-Net"
    ),
    *pair("dense blocks", DenseNet, partial(DenseNet, True), ["layers.2.2"], SHIFT2, ("grid@2",)),
    *pair("inverted residuals", Mobile, partial(Mobile, "zeros"), ["features.2.conv.3"], SHIFT2, ("fixed",)),
    *pair(
        "large kernels", ConvNext, partial(ConvNext, "replicate"), ["stages.1.dwconv"], SHIFT2, ("fixed",), hooks=False
    ),
    *(
        Case(name, partial(Swin, table), pictures, "translation", ("grid",), BROKEN, ("block1", "block2"), hooks=False)
        for name, table in (("windows", False), ("windows with places", True))
    ),
    *pair("atrous pyramid", ASPP, partial(ASPP, "zeros"), ["rates.2"], pictures, ("grid",)),
    *pair(
        "super-resolution", SuperResolution, partial(SuperResolution, "zeros"), ["body.1.0"], pictures, ("grid@0.5",)
    ),
    *pair("average over D4", Averaged, partial(Averaged, 3), [], SMALL, ("fixed",), "D4", hooks=False),
    *pair(
        "average over D4, maps", partial(Averaged, maps=True), partial(Averaged, 4, (False,), True), [], SMALL,
        ("grid",), "D4", hooks=False,
    ),
    *pair("length of a gradient", Edges, partial(Edges, True), [], SMALL, ("grid",), "D4", hooks=False),
    *pair("fields of orientations", Lifted, partial(Lifted, at=1), ["g2"], SMALL, ("fixed",), "C4", hooks=False),
    *pair(
        "orientations of fields", partial(Lifted, True), partial(Lifted, True, 0), ["g1"], SMALL, ("fixed",), "C4",
        hooks=False,
    ),
)  # fmt: skip
