"""Networks that declare what their layers' outputs are: regular fields, strands, the root, activations between."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from explorer.declare.groups import group
from explorer.declare.types.fields import FieldType, Regular, Scalar
from explorer.spaces.sequence.fields import Steps, Strands
from tests.foreign.case import Case, Given, drawn
from tests.foreign.networks.on_sequences.strands import dna


def pictures(side=9):
    return Given((drawn(2, 1, side, side),), ("grid",))


class Lift(nn.Module):
    """One filter in four directions, direction by direction for each channel."""

    out_rep = Regular(group("C4"))

    def __init__(self, cout=3, turns=(0, 1, 2, 3)):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(cout, 1, 3, 3) / 2)
        self.turns = turns

    def forward(self, x):
        maps = [F.conv2d(x, torch.rot90(self.weight, k, (-2, -1)), padding=1) for k in self.turns]
        return torch.stack(maps, 2).flatten(1, 2)


class GroupConv(nn.Module):
    out_rep = Regular(group("C4"))

    def __init__(self, c=3, fault=""):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(c, c, 4, 3, 3) / 6)
        self.fault = fault

    def forward(self, x):
        maps = []
        for k in range(4):
            w = torch.rot90(self.weight, k, (-2, -1)).roll(0 if self.fault == "unrolled" else k, 2)
            w = w * 1.1 if self.fault == "louder" and k == 2 else w
            maps.append(F.conv2d(x, w.flatten(1, 2), padding=1))
        return torch.stack(maps, 2).flatten(1, 2)


class MeanOfDirections(nn.Module):
    out_rep = Scalar()

    def forward(self, x):
        return x.unflatten(1, (-1, 4)).mean(2)


class Swish(nn.Module):
    def __init__(self, beta=1.3):
        super().__init__()
        self.beta = beta

    def forward(self, x):
        return x * torch.sigmoid(self.beta * x)


class ChannelScale(nn.Module):
    """A number for each channel, and so for each direction."""

    def __init__(self, c=12):
        super().__init__()
        self.scale = nn.Parameter(1 + 0.3 * torch.randn(c, 1, 1))

    def forward(self, x):
        return x * self.scale


class FieldScale(ChannelScale):
    """A number for each field: the same for its directions."""

    def forward(self, x):
        return x * self.scale[:3].repeat_interleave(4, 0)


class Smooth(nn.Module):
    """A blur of each channel alone."""

    def forward(self, x):
        return F.avg_pool2d(x, 3, 1, 1)


KEPT = {"mish": nn.Mish, "hardswish": nn.Hardswish, "one slope": nn.PReLU, "swish of one's own": Swish,
        "identity": nn.Identity, "dropout": nn.Dropout, "dropout of channels": nn.Dropout2d,
        "fields scaled": FieldScale, "celu": nn.CELU,
        "softsign": nn.Softsign, "blur": Smooth, "max pool": partial(nn.MaxPool2d, 3, 1, 1)}  # fmt: skip


def slopes():
    act = nn.PReLU(12)
    act.weight.data.uniform_(0.0, 0.9)
    return act


def trained_norm():
    norm = nn.BatchNorm2d(12)
    norm.weight.data.uniform_(0.5, 1.5)
    norm.running_mean.uniform_(-0.5, 0.5)
    return norm


LOST = {"a slope a channel": slopes, "channels scaled": ChannelScale, "norm of channels": trained_norm,
        "a plain layer": partial(nn.Conv2d, 12, 12, 1)}  # fmt: skip


class Regulars(nn.Module):
    def __init__(self, act=nn.Mish, lift=(0, 1, 2, 3), fault="", other=nn.Identity, read="map"):
        super().__init__()
        self.lift, self.act1 = Lift(turns=lift), act()
        self.conv1, self.other = GroupConv(), other()
        self.conv2, self.act2 = GroupConv(fault=fault), act()
        self.mean = MeanOfDirections() if read != "regular" else nn.Identity()
        self.head = nn.Conv2d(3, 2, 1) if read == "map" else nn.Identity()

    def forward(self, x):
        x = self.act1(self.lift(x))
        x = self.other(self.conv1(x))
        return self.head(self.mean(self.act2(self.conv2(x))))


def regular_cases():
    found = []
    for name, act in KEPT.items():
        found.append(Case(f"regular, {name}", partial(Regulars, act), pictures, "C4", ("grid",), hooks=False))
    sound = found[0]
    for name, act in LOST.items():
        found.append(sound.broken(name, partial(Regulars, other=act), "other"))
    whole = replace(sound, name="regular, to the end", make=partial(Regulars, Swish, read="regular"), out=("regular",))
    return [
        *found, sound.broken("a turn twice", partial(Regulars, lift=(0, 1, 2, 2)), "lift"),
        sound.broken("not rolled in 2", partial(Regulars, fault="unrolled"), "conv2"),
        whole, whole.broken("louder in 2", partial(Regulars, Swish, fault="louder", read="regular"), "conv2"),
        whole.broken("a slope a channel", partial(Regulars, Swish, other=slopes, read="regular"), "other"),
    ]  # fmt: skip


class StrandConv(nn.Conv1d):
    out_field = FieldType(Steps(2), Strands())

    def __init__(self, cin, cout, k, fault=""):
        super().__init__(cin, cout // 2, k, padding=k // 2)
        self.fault = fault

    def forward(self, x):
        other = self.weight.flip((0, 2)) if self.fault else self.weight.flip((0, 1, 2))
        return self._conv_forward(x, torch.cat([self.weight, other]), torch.cat([self.bias, self.bias.flip(0)]))


class ByRepresentation(StrandConv):
    """Says only of what kind its channels are."""

    out_field = None
    out_rep = Strands()


class Genome(nn.Module):
    def __init__(self, act=nn.Mish, at=-1, other=nn.Identity, read="strands", conv=StrandConv):
        super().__init__()
        self.convs = nn.ModuleList(conv(4 if k == 0 else 8, 8, 5, "x" if k == at else "") for k in range(3))
        self.act, self.other, self.read = act(), other(), read

    def forward(self, x):
        for k, conv in enumerate(self.convs):
            x = self.act(conv(x))
            x = self.other(x) if k == 1 else x
        return x if self.read == "strands" else (x + x.flip(1)).amax(-1)


class Alternate(nn.Module):
    """Every other channel turned: mirrors of each other no longer are alike."""

    def forward(self, x):
        return x * (1 - 2 * (torch.arange(8) % 2)).to(x.dtype)[:, None]


def strand_cases():
    found = []
    for name, act in {"mish": nn.Mish, "hardswish": nn.Hardswish, "swish": Swish, "dropout": nn.Dropout}.items():
        found.append(
            Case(f"strands, {name}", partial(Genome, act), dna, "reverse-complement", ("strands@2",), hooks=False)
        )
    sound = found[0]
    found += [sound.broken(f"no complement in {at}", partial(Genome, at=at), f"convs.{at}") for at in (0, 2)]
    read = replace(sound, name="strands, read", make=partial(Genome, read="both"), out=("fixed",))
    norm = replace(sound, name="strands, normed", make=partial(Genome, other=partial(nn.InstanceNorm1d, 8)))
    rep = replace(sound, name="strands by out_rep", make=partial(Genome, conv=ByRepresentation))
    return [
        *found, rep, sound.broken("every other channel", partial(Genome, other=Alternate), "other"), norm,
        read, read.broken("no complement in 1", partial(Genome, at=1, read="both"), "convs.1"),
    ]  # fmt: skip


class RootScalar(nn.Module):
    """Says of itself what it returns; all is code in its forward."""

    out_rep = Scalar()

    def __init__(self, fault=False):
        super().__init__()
        w = torch.randn(2, 1, 3, 3)
        self.w = nn.Parameter(w if fault else sum(torch.rot90(w, k, (-2, -1)) for k in range(4)) / 4)

    def forward(self, x):
        return torch.tanh(F.conv2d(x, self.w, padding=1))


class RootRegular(Lift):
    """A whole network that is one lifting layer."""


def root_cases():
    root = Case("a root that declares itself", RootScalar, pictures, "C4", ("grid",), limit=1e-6)
    lift = Case("a root that lifts", RootRegular, pictures, "C4", ("regular",), hooks=False)
    return [
        root, root.broken("a plain filter", partial(RootScalar, True)),
        lift, lift.broken("a turn twice", partial(RootRegular, turns=(0, 1, 2, 2))),
    ]  # fmt: skip


CASES = (*regular_cases(), *strand_cases(), *root_cases())
