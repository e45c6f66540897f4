"""Sequences read backwards and on both strands: what is the same from either end, and what is not."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.case import Case, Given, drawn
from tests.foreign.networks.on_sequences.sequences import series


class EvenConv(nn.Conv1d):
    def forward(self, x):
        return self._conv_forward(x, (self.weight + self.weight.flip(-1)) / 2, self.bias)


class Ways(nn.Module):
    """One recurrent network in both directions, its answers added."""

    def __init__(self, kind, shared=True, c=5):
        super().__init__()
        self.forth = kind(c, c, batch_first=True)
        self.back = self.forth if shared else kind(c, c, batch_first=True)

    def forward(self, x):
        return self.forth(x)[0] + self.back(x.flip(1))[0].flip(1)


class ReadBothWays(nn.Module):
    def __init__(self, kind=nn.GRU, shared=(True, True), read="steps"):
        super().__init__()
        self.enter = nn.Linear(2, 5)
        self.layers = nn.ModuleList(Ways(kind, s) for s in shared)
        self.head = nn.Linear(5, 2)
        self.read = read

    def forward(self, x):
        x = self.enter(x)
        for layer in self.layers:
            x = x + torch.tanh(layer(x))
        if self.read == "steps":
            return self.head(x)
        return self.head(x.mean(1) if self.read == "mean" else x[:, -1])


class Pyramid(nn.Module):
    def __init__(self, conv=EvenConv, mid=EvenConv, pool="average", up="nearest", steps=32):
        super().__init__()
        self.enter = conv(2, 4, 3, padding=1)
        self.pool = {"average": nn.AvgPool1d(2), "max": nn.MaxPool1d(2), "stride": EvenConv(4, 4, 3, 2, 1)}[pool]
        self.mid = mid(4, 4, 3, padding=1)
        self.up, self.steps = up, steps
        self.leave = EvenConv(8, 2, 3, padding=1)

    def forward(self, x):
        a = F.relu(self.enter(x))
        b = F.mish(self.mid(self.pool(a)))
        return self.leave(torch.cat([a, F.interpolate(b, self.steps, mode=self.up)], 1))


class Even(nn.Module):
    def __init__(self, at=-1, fault=nn.Conv1d, act=nn.Mish, depth=3, middle=None):
        super().__init__()
        self.enter = EvenConv(2, 4, 5, padding=2)
        self.body = nn.Sequential()
        for k in range(depth):
            conv = fault if k == at and middle is None else EvenConv
            self.body.append(conv(4, 4, 3, padding=1))
            self.body.append(middle() if middle is not None and k == at else act())

    def forward(self, x):
        return self.body(self.enter(x))


class LeftPad(nn.Conv1d):
    def forward(self, x):
        return self._conv_forward(F.pad(x, (2, 0)), (self.weight + self.weight.flip(-1)) / 2, self.bias)[..., :-2]


class Integrate(nn.Module):
    def forward(self, x):
        return x.cumsum(-1) / x.shape[-1]


class Hann(nn.Module):
    def __init__(self, periodic):
        super().__init__()
        self.periodic = periodic

    def forward(self, x):
        return x * torch.hann_window(x.shape[-1], periodic=self.periodic, dtype=x.dtype)


def backward_cases():
    found = []
    even = Case("even filters", Even, series, "reversal", ("steps@2",))
    for k, (name, act) in enumerate({"mish": nn.Mish, "gelu": nn.GELU, "tanhshrink": nn.Tanhshrink}.items()):
        sound = replace(even, name=f"even filters, {name}", make=partial(Even, act=act))
        at = 2 * k
        found += [sound, sound.broken(f"any filter in {k}", partial(Even, k, act=act), f"body.{at}")]
    found += [
        even, even.broken("padding on the left", partial(Even, 1, LeftPad), "body.2"),
        even.broken("integral", partial(Even, 2, middle=Integrate), "body.5"),
        replace(even, name="even filters, window", make=partial(Even, 1, middle=partial(Hann, False))),
        even.broken("periodic window", partial(Even, 1, middle=partial(Hann, True)), "body.3"),
    ]  # fmt: skip
    short = partial(series, "NCT", 32)
    for pool, up in (("average", "nearest"), ("max", "linear")):
        sound = Case(
            f"pyramid in time, {pool}, {up}", partial(Pyramid, pool=pool, up=up), short, "reversal", ("steps@2",)
        )
        found += [sound, sound.broken("any filter below", partial(Pyramid, mid=nn.Conv1d, pool=pool, up=up), "mid")]
    found.append(found[-2].broken("stride 2", partial(Pyramid, pool="stride", up="linear"), "pool"))
    steps = partial(series, "NTC")
    for kind, read, out in ((nn.GRU, "steps", "steps@1"), (nn.LSTM, "mean", "fixed")):
        sound = Case(
            f"{kind.__name__} both ways, {read}", partial(ReadBothWays, kind, read=read), steps, "reversal", (out,)
        )
        found += [
            sound,
            sound.broken(
                "two in layer 1",
                partial(ReadBothWays, kind, (True, False), read),
                "layers.1",
                "layers.1.forth",
                "layers.1.back",
                hooks=False,
            ),
        ]
    found.append(sound.broken("last step", partial(ReadBothWays, nn.LSTM, read="last")))
    return found


class Sines(nn.Module):
    def __init__(self, width, steps=64, mirrored=False):
        super().__init__()
        at = torch.arange(steps).float()[:, None]
        rate = torch.exp(torch.arange(0, width, 2) * (-math.log(100.0) / width))
        table = torch.zeros(steps, width)
        table[:, 0::2], table[:, 1::2] = torch.sin(at * rate), torch.cos(at * rate)
        self.register_buffer("pe", table)
        self.mirrored = mirrored

    def forward(self, x):
        table = self.pe[: x.shape[1]]
        return x + (table + table.flip(0) if self.mirrored else table).to(x.dtype)


class Encoder(nn.Module):
    def __init__(self, pos=None, causal=False, bias="", depth=2):
        super().__init__()
        self.embed = nn.Linear(2, 8)
        self.pos = pos() if pos else None
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation="gelu")
        self.encoder = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.causal, self.bias = causal, bias
        self.slope = nn.Parameter(torch.tensor(0.3))
        self.out = nn.Linear(8, 2)

    def forward(self, x):
        x = self.embed(x)
        if self.pos is not None:
            x = self.pos(x)
        t, mask = x.shape[1], None
        if self.causal:
            mask = nn.Transformer.generate_square_subsequent_mask(t, dtype=x.dtype)
        if self.bias:
            apart = torch.arange(t)[:, None] - torch.arange(t)
            mask = -self.slope * (apart.abs() if self.bias == "distance" else apart.clamp(-2, 3)).to(x.dtype)
        return self.out(self.encoder(x, mask=mask))


def encoder_cases():
    data = partial(series, "NTC", 12)
    sound = Case("transformer without places", Encoder, data, "reversal", ("steps@1",))
    far = Case("transformer, distances", partial(Encoder, bias="distance"), data, "reversal", ("steps@1",))
    mirrored = partial(Sines, 8, 12, True)
    return [
        sound,
        far,
        replace(sound, name="transformer, mirrored places", make=partial(Encoder, mirrored)),
        sound.broken("sines and cosines", partial(Encoder, partial(Sines, 8)), "pos"),
        sound.broken("only what came before", partial(Encoder, causal=True), hooks=False),
        far.broken("differences", partial(Encoder, bias="difference"), hooks=False),
    ]


def dna(layout="NCT"):
    letters = torch.randint(4, (40,), generator=torch.Generator().manual_seed(3))
    return Given((F.one_hot(letters, 4).float().t()[None],), ("strands@2",), layout=layout)


class Strands(nn.Conv1d):
    """Half of the filters; the other half are these on the other strand."""

    def __init__(self, cin, cout, k, fault=""):
        super().__init__(cin, cout // 2, k, padding=k // 2)
        self.fault = fault

    def forward(self, x):
        other = self.weight.flip((0, 2)) if self.fault == "no complement" else self.weight.flip((0, 1, 2))
        if self.fault == "no reversal":
            other = self.weight.flip((0, 1))
        bias = torch.cat([self.bias, self.bias if self.fault == "bias" else self.bias.flip(0)])
        return self._conv_forward(x, torch.cat([self.weight, other]), bias)


class Genome(nn.Module):
    def __init__(self, fault="", at=1, act=nn.Mish, read="both"):
        super().__init__()
        self.convs = nn.ModuleList(Strands(c, 8, 5, fault if k == at else "") for k, c in enumerate((4, 8, 8)))
        self.act = act()
        self.read = read
        self.fc = nn.Linear(4, 1)

    def forward(self, x):
        for conv in self.convs:
            x = self.act(conv(x))
        if self.read == "strands":
            return x
        x = x.amax(-1)
        if self.read == "forward":
            return self.fc(x[:, :4])
        return self.fc(x[:, :4] + x.flip(1)[:, :4])


def strand_cases():
    sound = Case("both strands", Genome, dna, "reverse-complement", ("fixed",), hooks=False)
    steps = replace(sound, name="both strands, steps", make=partial(Genome, read="strands"), out=("strands@2",))
    found = [
        sound, steps, replace(sound, name="both strands, snake", make=partial(Genome, act=nn.Tanhshrink)),
        sound.broken("one strand read", partial(Genome, read="forward")),
    ]  # fmt: skip
    for at, fault in enumerate(("no complement", "no reversal", "bias")):
        found.append(sound.broken(f"{fault} in {at}", partial(Genome, fault, at), f"convs.{at}"))
    noise = replace(
        sound, given=lambda: Given((drawn(1, 4, 30),), ("strands@2",), layout="NCT"), name="both strands, noise"
    )
    return [*found, noise]


CASES = (*backward_cases(), *encoder_cases(), *strand_cases())
