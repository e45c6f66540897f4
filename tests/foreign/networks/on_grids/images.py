"""Plain image networks: padding, strides, pooling, resampling, normalisation, attention over patches."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.case import BROKEN, Case, Given, drawn


def pictures(side=9, channels=1, step=1, boundary="circular", batch=2):
    x = drawn(batch, channels, side, side)
    return Given((x,), ("grid",), step=step, boundary=boundary)


# shifts ---------------------------------------------------------------------------------------------------


class Snake(nn.Module):
    def __init__(self, a=0.7):
        super().__init__()
        self.a = a

    def forward(self, x):
        return x + torch.sin(self.a * x) ** 2 / self.a


class SquaredReLU(nn.Module):
    def forward(self, x):
        return F.relu(x).square()


class Stack(nn.Module):
    def __init__(self, act, modes=("circular",) * 4, width=4, kernel=3, dilation=1, groups=1):
        super().__init__()
        pad = dilation * (kernel // 2)
        self.blocks = nn.ModuleList()
        for k, mode in enumerate(modes):
            conv = nn.Conv2d(
                width if k else 1, width, kernel, padding=pad, padding_mode=mode, dilation=dilation,
                groups=groups if k else 1,
            )  # fmt: skip
            self.blocks.append(nn.Sequential(conv, nn.BatchNorm2d(width), act()))
        self.head = nn.Conv2d(width, 2, 1)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


ACTS = {
    "relu": nn.ReLU, "mish": nn.Mish, "hardswish": nn.Hardswish, "prelu": partial(nn.PReLU, 4), "snake": Snake,
    "squared-relu": SquaredReLU, "celu": nn.CELU, "softsign": nn.Softsign, "relu6": partial(nn.ReLU6, True),
}  # fmt: skip


def padding_cases():
    found = []
    for k, (name, act) in enumerate(ACTS.items()):
        sound = Case(f"conv stack, {name}", partial(Stack, act), pictures, "translation", ("grid",))
        found.append(sound)
        mode = ("zeros", "reflect", "replicate")[k % 3]
        at = (k + 1) % 4
        modes = tuple(mode if i == at else "circular" for i in range(4))
        found.append(sound.broken(f"{mode} at {at}", partial(Stack, act, modes), f"blocks.{at}.0"))
    dilated = Case("dilated stack", partial(Stack, nn.SELU, dilation=2), pictures, "translation", ("grid",))
    zeros = ("circular", "circular", "circular", "zeros")
    depthwise = Case("depthwise stack", partial(Stack, nn.Mish, groups=4), pictures, "translation", ("grid",))
    return [
        *found, dilated, dilated.broken("zeros at 3", partial(Stack, nn.SELU, zeros, dilation=2), "blocks.3.0"),
        depthwise, depthwise.broken("zeros at 3", partial(Stack, nn.Mish, zeros, groups=4), "blocks.3.0"),
    ]  # fmt: skip


class Bordered(nn.Module):
    """Zero padding, which no shift with an empty border minds where it is far away."""

    def __init__(self, depth=2, place=None, at=1, head=True):
        super().__init__()
        self.stem = nn.Conv2d(1, 4, 3, padding=1)
        self.body = nn.ModuleList(nn.Conv2d(4, 4, 3, padding=1) for _ in range(depth))
        self.place, self.at = place() if place else None, at
        self.head = nn.Conv2d(4, 2, 1) if head else None

    def forward(self, x):
        x = F.gelu(self.stem(x))
        for k, conv in enumerate(self.body):
            if self.place is not None and k == self.at:
                x = self.place(x)
            x = x + F.silu(conv(x))
        return x if self.head is None else self.head(x)


class Ramp(nn.Module):
    def __init__(self, axis=-1, scale=0.1):
        super().__init__()
        self.axis, self.scale = axis, scale

    def forward(self, x):
        line = torch.linspace(-1, 1, x.shape[self.axis], dtype=x.dtype)
        return x + self.scale * (line if self.axis == -1 else line[:, None])


class TableOfPlaces(nn.Module):
    def __init__(self, channels, side, scale=0.2):
        super().__init__()
        self.table = nn.Parameter(scale * torch.randn(1, channels, side, side))

    def forward(self, x):
        return x + self.table


class CoordConv(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels + 2, channels, 3, padding=1, padding_mode="circular")

    def forward(self, x):
        ys, xs = torch.meshgrid(*(torch.linspace(-1, 1, n, dtype=x.dtype) for n in x.shape[-2:]), indexing="ij")
        places = torch.stack([ys, xs]).expand(len(x), 2, *x.shape[-2:])
        return self.conv(torch.cat([x, places], 1))


def border_cases():
    far = partial(pictures, 17, boundary="zero")
    zero = {"boundary": "zero"}
    sound = Case("zero padding, empty border", Bordered, far, "translation", ("grid",), inside=4, options=zero)
    bare = replace(sound, name="zero padding, empty border, a sum at the end", make=partial(Bordered, head=False))
    found = [sound, bare, bare.broken("ramp along x", partial(Bordered, place=Ramp, head=False), "place")]
    for at in (0, 1):
        for name, place in (
            ("ramp along x", Ramp),
            ("ramp along y", partial(Ramp, -2)),
            ("table of places", partial(TableOfPlaces, 4, 17)),
            ("coordinates", partial(CoordConv, 4)),
        ):
            found.append(sound.broken(f"{name} before {at}", partial(Bordered, place=place, at=at), "place"))
    valid = Case(
        "valid convolutions then pad", lambda: nn.Sequential(
            nn.Conv2d(1, 3, 5), nn.ELU(), nn.ZeroPad2d(2), nn.Conv2d(3, 2, 3, padding=1)
        ), far, "translation", ("grid",), inside=4, options=zero,
    )  # fmt: skip
    return [*found, valid]


class Between(nn.Module):
    """Two circular convolutions and something between them."""

    def __init__(self, middle, out=2, width=4, wide=None):
        super().__init__()
        self.first = nn.Conv2d(1, width, 3, padding=1, padding_mode="circular")
        self.middle = middle()
        self.last = nn.Conv2d(wide or width, out, 3, padding=1, padding_mode="circular")

    def forward(self, x):
        return self.last(torch.tanh(self.middle(self.first(x))))


class Shuffled(nn.Module):
    def __init__(self, groups):
        super().__init__()
        self.groups = groups

    def forward(self, x):
        n, c, h, w = x.shape
        return x.view(n, self.groups, c // self.groups, h, w).transpose(1, 2).reshape(n, c, h, w)


class SqueezeExcite(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.down, self.up = nn.Linear(c, 2), nn.Linear(2, c)

    def forward(self, x):
        s = x.mean((2, 3))
        return x * torch.sigmoid(self.up(F.relu(self.down(s))))[:, :, None, None]


class NonLocal(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.q, self.k, self.v = (nn.Conv2d(c, c, 1) for _ in range(3))

    def forward(self, x):
        q, k, v = (m(x).flatten(2) for m in (self.q, self.k, self.v))
        a = torch.softmax(q.transpose(1, 2) @ k / math.sqrt(q.shape[1]), -1)
        return x + (v @ a.transpose(1, 2)).view_as(x)


class LayerNorm2d(nn.Module):
    """ConvNeXt's: over the channels of a place."""

    def __init__(self, c):
        super().__init__()
        self.norm = nn.LayerNorm(c)

    def forward(self, x):
        return self.norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class Blur(nn.Module):
    def __init__(self, c, side):
        super().__init__()
        taps = torch.tensor([1.0, 2.0, 1.0]) if side == 3 else torch.tensor([1.0, 3.0, 3.0, 1.0])
        self.register_buffer("taps", (taps[:, None] * taps / taps.sum() ** 2).expand(c, 1, -1, -1).contiguous())
        self.pad = [1, 1, 1, 1] if side == 3 else [1, 2, 1, 2]

    def forward(self, x):
        return F.conv2d(F.pad(x, self.pad, mode="circular"), self.taps, stride=2, groups=x.shape[1])


class NormOfPlaces(nn.LayerNorm):
    """A layer norm over whole maps whose scale was learnt place by place."""

    def __init__(self, *shape):
        super().__init__(shape)
        nn.init.normal_(self.weight, 1, 0.3)


class Circular(nn.Module):
    """Pad round the edge, then pool."""

    def __init__(self, pool, left=1, right=1):
        super().__init__()
        self.pool, self.pad = pool, [left, right, left, right]

    def forward(self, x):
        return self.pool(F.pad(x, self.pad, mode="circular"))


MIDDLES = {  # name: (what stands between, side, step, output, whether a shift keeps it)
    "squeeze and excite": (partial(SqueezeExcite, 4), 8, 1, "grid", True),
    "non-local": (partial(NonLocal, 4), 6, 1, "grid", True),
    "layer norm of channels": (partial(LayerNorm2d, 4), 8, 1, "grid", True),
    "group norm": (partial(nn.GroupNorm, 2, 4), 8, 1, "grid", True),
    "instance norm": (partial(nn.InstanceNorm2d, 4, affine=True), 8, 1, "grid", True),
    "layer norm of maps": (partial(nn.LayerNorm, [4, 8, 8], elementwise_affine=False), 8, 1, "grid", True),
    "layer norm of places": (partial(NormOfPlaces, 4, 8, 8), 8, 1, "grid", False),
    "channel shuffle": (partial(Shuffled, 2), 8, 1, "grid", True),
    "local response norm": (partial(nn.LocalResponseNorm, 2), 8, 1, "grid", True),
    "dropout2d": (partial(nn.Dropout2d, 0.4), 8, 1, "grid", True),
    "alpha dropout": (partial(nn.AlphaDropout, 0.4), 8, 1, "grid", True),
    "average pool": (partial(nn.AvgPool2d, 2), 8, 2, "grid@2", True),
    "max pool": (partial(nn.MaxPool2d, 2), 12, 2, "grid@2", True),
    "max pool 3 padded": (partial(nn.MaxPool2d, 3, 2, 1), 12, 2, "grid@2", False),
    "max pool 3 round the edge": (lambda: Circular(nn.MaxPool2d(3, 2)), 12, 2, "grid@2", True),
    "blur 3": (partial(Blur, 4, 3), 12, 2, "grid@2", True),
    "blur 4": (partial(Blur, 4, 4), 12, 2, "grid@2", True),
    "strided convolution": (
        lambda: nn.Conv2d(4, 4, 3, 2, 1, padding_mode="circular"), 12, 2, "grid@2", True
    ),
    "strided zero convolution": (lambda: nn.Conv2d(4, 4, 3, 2, 1), 12, 2, "grid@2", False),
    "nearest upsampling": (partial(nn.Upsample, scale_factor=2), 6, 1, "grid@0.5", True),
    "bilinear upsampling": (partial(nn.Upsample, scale_factor=2, mode="bilinear"), 6, 1, "grid@0.5", False),
    "transposed convolution": (lambda: nn.ConvTranspose2d(4, 4, 2, 2), 6, 1, "grid@0.5", True),
    "circular pad module": (lambda: nn.Sequential(nn.CircularPad2d(1), nn.Conv2d(4, 4, 3)), 8, 1, "grid", True),
    "reflection pad module": (lambda: nn.Sequential(nn.ReflectionPad2d(1), nn.Conv2d(4, 4, 3)), 8, 1, "grid", False),
    "adaptive pool to 4": (partial(nn.AdaptiveAvgPool2d, 4), 8, 2, "grid@2", True),
}  # fmt: skip


def middle_cases():
    found = []
    for name, (middle, side, step, out, sound) in MIDDLES.items():
        case = Case(
            f"between circular convolutions: {name}", partial(Between, middle), partial(pictures, side, step=step),
            "translation", (out,),
        )  # fmt: skip
        culprit = ("middle", "middle.0", "middle.1")
        found.append(case if sound else replace(case, truth=BROKEN, culprit=culprit))
    shuffle = Case(
        "pixel shuffle", partial(Between, lambda: nn.PixelShuffle(2), width=8, wide=2), partial(pictures, 6),
        "translation", ("grid@0.5",),
    )  # fmt: skip
    back = Case(
        "pixel unshuffle", partial(Between, lambda: nn.PixelUnshuffle(2), wide=16), partial(pictures, 8, step=2),
        "translation", ("grid@2",),
    )  # fmt: skip
    return [*found, shuffle, back]


class UNet(nn.Module):
    def __init__(self, pool="stride", place=False, mode="circular", c=4):
        super().__init__()
        kw = {"padding": 1, "padding_mode": "circular"}
        self.enter = nn.Conv2d(1, c, 3, **kw)
        self.down = nn.Conv2d(c, 2 * c, 3, stride=2, **kw) if pool == "stride" else nn.AvgPool2d(2)
        wide = 2 * c if pool == "stride" else c
        self.mid = nn.Conv2d(wide, 2 * c, 3, padding=1, padding_mode=mode)
        self.pos = TableOfPlaces(2 * c, 4) if place else nn.Identity()
        self.up = nn.ConvTranspose2d(2 * c, c, 2, 2) if pool == "stride" else nn.Upsample(scale_factor=2)
        self.leave = nn.Conv2d(2 * c if pool == "stride" else 3 * c, 2, 3, **kw)

    def forward(self, x):
        skip = F.relu(self.enter(x))
        low = self.pos(F.relu(self.mid(F.relu(self.down(skip)))))
        return self.leave(torch.cat([skip, self.up(low)], 1))


def unet_cases():
    data = partial(pictures, 8, step=2)
    found = []
    for pool in ("stride", "pool"):
        sound = Case(f"u-net, {pool}", partial(UNet, pool), data, "translation", ("grid",))
        found += [
            sound,
            sound.broken("places at the bottom", partial(UNet, pool, place=True), "pos"),
            sound.broken("zeros at the bottom", partial(UNet, pool, mode="zeros"), "mid"),
        ]
    return found


class Classifier(nn.Module):
    def __init__(self, head="mean", side=8):
        super().__init__()
        self.a = nn.Conv2d(1, 4, 3, padding=1, padding_mode="circular")
        self.b = nn.Conv2d(4, 6, 3, padding=1, padding_mode="circular")
        self.head = head
        self.fc = nn.Linear(6 * side * side if head == "flatten" else 6, 3)

    def forward(self, x):
        x = torch.relu(self.b(torch.relu(self.a(x))))
        if self.head == "mean":
            x = x.mean(dim=(-2, -1))
        elif self.head == "max":
            x = x.amax((2, 3))
        elif self.head == "lse":
            x = torch.logsumexp(x.flatten(2), -1)
        elif self.head == "corner":
            x = x[:, :, 0, 0]
        elif self.head == "weighted":
            x = (x * torch.linspace(0, 1, x.shape[-1], dtype=x.dtype)).mean((2, 3))
        else:
            x = torch.flatten(x, 1)
        return self.fc(x)


def head_cases():
    found = []
    for head in ("mean", "max", "lse"):
        found.append(
            Case(
                f"classifier, {head} over places",
                partial(Classifier, head),
                partial(pictures, 8),
                "translation",
                ("fixed",),
            )
        )
    first = found[0]
    found += [
        first.broken("corner", partial(Classifier, "corner")),
        first.broken("weighted mean", partial(Classifier, "weighted")),
        first.broken("flattened", partial(Classifier, "flatten"), "fc"),
    ]
    return found


CASES = (
    *padding_cases(), *border_cases(), *middle_cases(), *unet_cases(), *head_cases(),
)  # fmt: skip
