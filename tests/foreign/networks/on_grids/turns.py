"""Image networks under quarter turns and mirrors: filters made symmetric, pyramids, filters on groups, patches."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.case import BROKEN, Case, Given, drawn


def pictures(side=9, channels=1, batch=2, step=1):
    return Given((drawn(batch, channels, side, side),), ("grid",), step=step)


def averaged(w, mirrors=True):
    w = torch.stack([torch.rot90(w, k, (-2, -1)) for k in range(4)]).mean(0)
    return (w + w.flip(-1)) / 2 if mirrors else w


class SymConv(nn.Conv2d):
    def forward(self, x):
        return self._conv_forward(x, averaged(self.weight), self.bias)


class TurnConv(nn.Conv2d):
    """Symmetric under turns, not under mirrors, for which three by three places are too few."""

    def __init__(self, cin, cout, kernel, padding):
        super().__init__(cin, cout, 5, padding=2)

    def forward(self, x):
        return self._conv_forward(x, averaged(self.weight, False), self.bias)


class HalfConv(nn.Conv2d):
    """Averaged with its half turn alone."""

    def forward(self, x):
        return self._conv_forward(x, (self.weight + torch.rot90(self.weight, 2, (-2, -1))) / 2, self.bias)


class Sharp(nn.Module):
    def forward(self, x):
        return x.sign() * x.abs().sqrt()


class Block(nn.Module):
    def __init__(self, conv, c, act, middle=None):
        super().__init__()
        self.conv1 = conv(c, c, 3, padding=1)
        self.norm = nn.BatchNorm2d(c)
        self.act = act()
        self.middle = middle() if middle else nn.Identity()
        self.conv2 = SymConv(c, c, 3, padding=1)

    def forward(self, x):
        return x + self.conv2(self.middle(self.act(self.norm(self.conv1(x)))))


class Res(nn.Module):
    def __init__(self, at=-1, fault=nn.Conv2d, act=nn.ReLU, depth=3, middle=None, head="map", c=4):
        super().__init__()
        self.stem = SymConv(1, c, 5, padding=2)
        self.layer = nn.Sequential(
            *(Block(fault if k == at else SymConv, c, act, middle if k == at else None) for k in range(depth))
        )
        self.head = (
            nn.Conv2d(c, 2, 1)
            if head == "map"
            else nn.Sequential(nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(c, 3))
        )

    def forward(self, x):
        return self.head(self.layer(self.stem(x)))


ACTS = {"relu": nn.ReLU, "mish": nn.Mish, "sharp": Sharp, "prelu": nn.PReLU, "hardshrink": nn.Hardshrink,
        "logsigmoid": nn.LogSigmoid}  # fmt: skip


def residual_cases():
    found = []
    for k, (name, act) in enumerate(ACTS.items()):
        group = ("C4", "D4")[k % 2]
        sound = Case(f"residual, {name}", partial(Res, act=act), pictures, group, ("grid",))
        at = k % 3
        found += [sound, sound.broken(f"plain filter in block {at}", partial(Res, at, act=act), f"layer.{at}.conv1")]
    mirror = Case("residual under mirrors", Res, pictures, "D4", ("grid",))
    found += [
        mirror,
        mirror.broken("filters without a mirror", partial(Res, 2, TurnConv), "layer.2.conv1"),
        Case("residual without mirrors", partial(Res, 2, TurnConv), pictures, "C4", ("grid",)),
        replace(mirror, name="residual, half turns", group="C2"),
    ]
    half = Case("residual of half turns", partial(Res, 1, HalfConv), pictures, "C2", ("grid",))
    quarter = replace(mirror, name="residual under turns", group="C4")
    found += [half, quarter, quarter.broken("half turns in block 1", partial(Res, 1, HalfConv), "layer.1.conv1")]
    pooled = Case("residual, invariant", partial(Res, head="pool"), pictures, "D4", ("fixed",))
    found += [pooled, pooled.broken("plain filter in block 2", partial(Res, 2, head="pool"), "layer.2.conv1")]
    return found


class Slant(nn.Module):
    def forward(self, x):
        return x + 0.05 * torch.arange(x.shape[-1], dtype=x.dtype)


class Bowl(nn.Module):
    """A place code that quarter turns keep."""

    def forward(self, x):
        line = torch.linspace(-1, 1, x.shape[-1], dtype=x.dtype)
        return x + 0.3 * (line[:, None] ** 2 + line**2)


class ShiftedPad(nn.Module):
    def forward(self, x):
        return F.pad(x, (1, 0, 1, 0))[..., :-1, :-1]


class LastChannelTurned(nn.Module):
    def forward(self, x):
        return torch.cat([x[:, :-1], torch.rot90(x[:, -1:], 1, (-2, -1)) * 0.5], 1)


class Sorted(nn.Module):
    """Orders the channels of each place by size: pointwise in space."""

    def forward(self, x):
        return x.sort(1).values


class RowSoftmax(nn.Module):
    def forward(self, x):
        return torch.softmax(x, -1)


MIDDLES = {  # name: (module, kept by quarter turns)
    "slant": (Slant, False), "bowl": (Bowl, True), "shifted pad": (ShiftedPad, False),
    "one channel turned": (LastChannelTurned, True), "sorted channels": (Sorted, True),
    "softmax of rows": (RowSoftmax, False), "softmax of channels": (nn.Softmax2d, True),
    "max pool of three": (partial(nn.MaxPool2d, 3, 1, 1), True),
    "pool of rows": (partial(nn.AvgPool2d, (1, 3), 1, (0, 1)), False),
    "instance norm": (partial(nn.InstanceNorm2d, 4), True),
    "unfold and fold": (lambda: Refold(), True), "threshold": (partial(nn.Threshold, 0.1, 0.0), True),
    "flip": (lambda: Flip(), False), "transposed": (lambda: Transposed(), False),
}  # fmt: skip


class Refold(nn.Module):
    def forward(self, x):
        return F.fold(F.unfold(x, 3, padding=1), x.shape[-2:], 3, padding=1) / 9


class Flip(nn.Module):
    def forward(self, x):
        return 0.5 * (x + x.flip(-1))


class Transposed(nn.Module):
    def forward(self, x):
        return x + 0.5 * x.transpose(-1, -2)


def middle_cases():
    sound = Case("blocks", partial(Res, 1, SymConv), pictures, "C4", ("grid",))
    found = [sound]
    for name, (middle, holds) in MIDDLES.items():
        make = partial(Res, 1, SymConv, middle=middle)
        if holds:
            found.append(replace(sound, name=f"blocks, {name}", make=make))
        else:
            found.append(sound.broken(name, make, "layer.1.middle"))
    return found


class Pyramid(nn.Module):
    """Down and up again; what stands between the steps decides."""

    def __init__(self, down, up=None, c=3):
        super().__init__()
        self.stem = SymConv(1, c, 3, padding=1)
        self.down = down()
        self.mid = SymConv(c, c, 3, padding=1)
        self.up = up() if up else nn.Identity()
        self.out = SymConv(c, 2, 3, padding=1)

    def forward(self, x):
        return self.out(self.up(F.elu(self.mid(self.down(self.stem(x))))))


class Resize(nn.Module):
    def __init__(self, size, **how):
        super().__init__()
        self.size, self.how = size, how

    def forward(self, x):
        return F.interpolate(x, self.size, **self.how)


class SymTransposed(nn.ConvTranspose2d):
    def forward(self, x):
        return F.conv_transpose2d(x, averaged(self.weight), self.bias, self.stride, self.padding, self.output_padding)


SCALES = {  # name: (down, up, side of the picture, holds, culprit)
    "stride 2 of 9": (lambda: SymConv(3, 3, 3, 2, 1), None, 9, True, ""),
    "stride 2 of 8": (lambda: SymConv(3, 3, 3, 2, 1), None, 8, False, "down"),
    "stride 2, kernel 2, of 8": (lambda: SymConv(3, 3, 2, 2), None, 8, True, ""),
    "stride 2, kernel 4, of 8": (lambda: SymConv(3, 3, 4, 2, 1), None, 8, True, ""),
    "stride 3 of 9": (lambda: SymConv(3, 3, 3, 3), None, 9, True, ""),
    "stride 3 of 11": (lambda: SymConv(3, 3, 3, 3), None, 11, False, "down"),
    "max pool of 8": (partial(nn.MaxPool2d, 2), None, 8, True, ""),
    "max pool of 9": (partial(nn.MaxPool2d, 2), None, 9, False, "down"),
    "ceil pool of 9": (partial(nn.AvgPool2d, 2, ceil_mode=True), None, 9, False, "down"),
    "Lp pool of 8": (partial(nn.LPPool2d, 2, 2), None, 8, True, ""),
    "adaptive pool 8 to 3": (partial(nn.AdaptiveAvgPool2d, 3), None, 8, True, ""),
    "slices of 9": (lambda: Slice(0), None, 9, True, ""),
    "slices of 8": (lambda: Slice(0), None, 8, False, "down"),
    "up nearest": (partial(nn.AvgPool2d, 2), partial(nn.Upsample, scale_factor=2), 8, True, ""),
    "up bilinear": (partial(nn.AvgPool2d, 2), partial(nn.Upsample, scale_factor=2, mode="bilinear"), 8, True, ""),
    "up aligned": (
        partial(nn.AvgPool2d, 2), partial(nn.Upsample, scale_factor=2, mode="bilinear", align_corners=True), 8, True, ""
    ),
    "up bicubic": (partial(nn.AvgPool2d, 2), partial(Resize, (8, 8), mode="bicubic"), 8, True, ""),
    "up nearest, odd": (partial(nn.AvgPool2d, 2), partial(Resize, (7, 7)), 8, False, "up"),
    "up exact nearest, odd": (partial(nn.AvgPool2d, 2), partial(Resize, (7, 7), mode="nearest-exact"), 8, False, "up"),
    "up area, odd": (partial(nn.AvgPool2d, 2), partial(Resize, (7, 7), mode="area"), 8, True, ""),
    "up transposed 2": (partial(nn.AvgPool2d, 2), lambda: SymTransposed(3, 3, 2, 2), 8, True, ""),
    "up transposed 4": (partial(nn.AvgPool2d, 2), lambda: SymTransposed(3, 3, 4, 2, 1), 8, True, ""),
    "up transposed 3": (partial(nn.AvgPool2d, 2), lambda: SymTransposed(3, 3, 3, 2, 1, 1), 8, False, "up"),
}  # fmt: skip


class Slice(nn.Module):
    def __init__(self, start):
        super().__init__()
        self.start = start

    def forward(self, x):
        return x[..., self.start :: 2, self.start :: 2]


def scale_cases():
    found = []
    for name, (down, up, side, holds, culprit) in SCALES.items():
        case = Case(f"pyramid, {name}", partial(Pyramid, down, up), partial(pictures, side), "C4", ("grid",))
        found.append(case if holds else replace(case, truth=BROKEN, culprit=(culprit,)))
    return found


class Lift(nn.Module):
    def __init__(self, cin, cout, turns=(0, 1, 2, 3)):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(cout, cin, 3, 3) / 3)
        self.turns = turns

    def forward(self, x):
        return torch.stack([F.conv2d(x, torch.rot90(self.weight, k, (-2, -1)), padding=1) for k in self.turns], 2)


class GConv(nn.Module):
    def __init__(self, cin, cout, fault=""):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(cout, cin, 4, 3, 3) / 6)
        self.fault = fault

    def forward(self, x):
        n, c, _, h, w = x.shape
        out = []
        for k in range(4):
            turned = torch.rot90(self.weight, k, (-2, -1))
            turned = turned if self.fault == "unrolled" else turned.roll(k, 2)
            if self.fault == "one" and k == 3:
                turned = turned * 1.05
            out.append(F.conv2d(x.reshape(n, c * 4, h, w), turned.flatten(1, 2), padding=1))
        return torch.stack(out, 2)


class GNet(nn.Module):
    def __init__(self, act=nn.ReLU, lift=(0, 1, 2, 3), fault="", at=1, readout="mean"):
        super().__init__()
        self.lift = Lift(1, 3, lift)
        self.g1, self.g2 = (GConv(3, 3, fault if k == at else "") for k in (0, 1))
        self.act = act()
        self.norm = nn.BatchNorm3d(3)
        self.readout = readout
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        x = self.act(self.lift(x))
        x = self.act(self.norm(self.g1(x)))
        x = self.act(self.g2(x))
        x = x.amax(2) if self.readout == "max" else x[:, :, 0] if self.readout == "one" else x.mean(2)
        return x if self.readout == "map" else self.fc(x.mean((2, 3)))


def group_cases():
    sound = Case("group convolutions", GNet, pictures, "C4", ("fixed",), hooks=False)
    maps = Case("group convolutions, a map", partial(GNet, readout="map"), pictures, "C4", ("grid",), hooks=False)
    return [
        sound, maps,
        replace(sound, name="group convolutions, mish", make=partial(GNet, nn.Mish, readout="max")),
        replace(sound, name="group convolutions, prelu", make=partial(GNet, partial(nn.PReLU, 3))),
        sound.broken("a turn twice", partial(GNet, lift=(0, 1, 2, 2)), "lift"),
        sound.broken("filters not rolled", partial(GNet, fault="unrolled"), "g2"),
        sound.broken("one filter larger", partial(GNet, fault="one", at=0), "g1"),
        sound.broken("one orientation read", partial(GNet, readout="one")),
        maps.broken("a turn twice", partial(GNet, lift=(0, 1, 2, 2), readout="map"), "lift"),
    ]  # fmt: skip


CASES = (*residual_cases(), *middle_cases(), *scale_cases(), *group_cases())
