"""Networks on series with one fault in the middle: positions, padding, phases, masks, statistics."""

from __future__ import annotations

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.case import Case, Given, drawn


def series(layout="NCT", steps=36, channels=2, step=1):
    x = drawn(steps, channels, seed=51)
    axes = [letter for letter in "NTC" if letter in layout]
    x = (x[None] if "N" in layout else x).permute([axes.index(letter) for letter in layout]).contiguous()
    return Given((x,), (f"steps@{layout.index('T')}",), layout=layout, step=step)


class Causal(nn.Module):
    """A block of a temporal convolutional network; a fault lets it look one step ahead."""

    def __init__(self, c_in, c_out, dilation, scale=None):
        super().__init__()
        self.pad, self.conv = 2 * dilation, nn.Conv1d(c_in, c_out, 3, dilation=dilation, bias=False)
        self.scale = scale

    def forward(self, x):
        h = self.conv(F.pad(x, (self.pad, 0)))
        if self.scale is not None:
            h = h * torch.linspace(1, self.scale, h.shape[-1], dtype=h.dtype)
        return torch.tanh(h)


class TCN(nn.Module):
    def __init__(self, scale=None):
        super().__init__()
        self.net = nn.Sequential(Causal(2, 4, 1), Causal(4, 4, 2, scale), Causal(4, 4, 4), nn.Conv1d(4, 1, 1))

    def forward(self, x):
        return self.net(x)


class Stacked(nn.Module):
    """Two recurrent layers; a fault begins the second from a state that was learnt."""

    def __init__(self, fault=False):
        super().__init__()
        self.one, self.two = nn.RNN(2, 4, batch_first=True, bias=False), nn.RNN(4, 4, batch_first=True, bias=False)
        self.start = nn.Parameter(torch.randn(1, 1, 4)) if fault else None
        self.out = nn.Linear(4, 2)

    def forward(self, x):
        h, _ = self.one(x)
        start = None if self.start is None else self.start.expand(1, x.shape[0], 4).contiguous()
        h, _ = self.two(h, start)
        return self.out(h)


class Peaks(nn.Module):
    """Reads what is strongest over all time; a fault reads the mean over the first half."""

    def __init__(self, fault=False):
        super().__init__()
        self.conv, self.gate, self.out, self.fault = nn.Conv1d(2, 4, 1), nn.Linear(4, 4), nn.Conv1d(4, 2, 1), fault

    def forward(self, x):
        h = F.relu(self.conv(x))
        read = h[..., : h.shape[-1] // 2].mean(-1) if self.fault else h.mean(-1)
        return self.out(h * torch.sigmoid(self.gate(read))[..., None])


class Even(nn.Module):
    """Attention that reads time both ways; a fault masks the first steps in its second layer."""

    def __init__(self, fault=False):
        super().__init__()
        self.layers = nn.ModuleList([Read(4), Read(4, fault)])
        self.enter, self.out = nn.Linear(2, 4), nn.Linear(4, 2)

    def forward(self, x):
        h = self.enter(x)
        for layer in self.layers:
            h = h + layer(h)
        return self.out(h)


class Read(nn.Module):
    def __init__(self, c, masked=False):
        super().__init__()
        self.attend, self.masked = nn.MultiheadAttention(c, 2, batch_first=True), masked

    def forward(self, x):
        mask = (torch.arange(x.shape[1]) < 3).expand(x.shape[0], -1) if self.masked else None
        return self.attend(x, x, x, key_padding_mask=mask, need_weights=False)[0]


class Phases(nn.Module):
    """Every second step is kept after a blur; a fault weighs odd and even steps apart in a loop."""

    def __init__(self, fault=False):
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv1d(c, 4, 1, bias=False) for c in (2, 4, 4))
        self.fault = fault

    def forward(self, x):
        for k, layer in enumerate(self.layers):
            x = torch.tanh(layer(x))
            if self.fault and k == 1:
                x = torch.stack([x[..., ::2], 0.9 * x[..., 1::2]], -1).flatten(2)
        return x


class Palindrome(nn.Module):
    """Filters that are their own mirror; a fault shifts the padding of the second by one step."""

    def __init__(self, fault=False):
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv1d(2, 2, 5, bias=False) for _ in range(3))
        self.fault = fault
        with torch.no_grad():
            for layer in self.layers:
                layer.weight.copy_((layer.weight + layer.weight.flip(2)) / 2)

    def forward(self, x):
        for k, layer in enumerate(self.layers):
            x = torch.tanh(layer(F.pad(x, (3, 1) if self.fault and k == 1 else (2, 2))))
        return x


class Standard(nn.Module):
    """Statistics of the whole series in an inner module; a fault takes those of the first steps."""

    def __init__(self, fault=False):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(2, 4, 1), Scaled(), nn.ReLU(), nn.Conv1d(4, 4, 1), Scaled(fault), nn.ReLU(), nn.Conv1d(4, 2, 1)
        )

    def forward(self, x):
        return self.net(x)


class Scaled(nn.Module):
    def __init__(self, first=False):
        super().__init__()
        self.first = first

    def forward(self, x):
        some = x[..., :8] if self.first else x
        return (x - some.mean(-1, keepdim=True)) / (1 + some.std(-1, keepdim=True))


class Ordered(nn.Module):
    """Sorts values of a channel over time and adds their spread; a fault adds them where they are."""

    def __init__(self, fault=False):
        super().__init__()
        self.a, self.b, self.fault = nn.Conv1d(2, 4, 1), nn.Conv1d(4, 2, 1), fault

    def forward(self, x):
        h = self.a(x)
        ranked = h.sort(-1).values
        return self.b(torch.relu(h + 0.1 * (ranked if self.fault else ranked[..., -1:] - ranked[..., :1])))


def pair(name, make, faulty, culprit, given, out, group="shift", **more):
    sound = Case(name, make, given, group, out, **more)
    return [sound, sound.broken("a fault", faulty, *culprit)]


NTC, NCT = partial(series, "NTC"), partial(series, "NCT")
T1, T2 = ("steps@1",), ("steps@2",)
INNER = ["layers.1", "layers.1.attend", "layers.1.attend.attention"]
CASES = (
    *pair("a ramp in one block", TCN, partial(TCN, 1.1), ["net.1"], NCT, T2, hooks=False),
    *pair("a state that was learnt", Stacked, partial(Stacked, True), ["two"], NTC, T1, hooks=False),
    *pair("the first half counts", Peaks, partial(Peaks, True), ["gate"], NCT, T2, "reversal", hooks=False),
    *pair("the first steps are masked", Even, partial(Even, True), INNER, NTC, T1, "reversal", hooks=False),
    *pair("odd and even in a loop", Phases, partial(Phases, True), [], NCT, T2, hooks=False),
    *pair("padding that is shifted", Palindrome, partial(Palindrome, True), [], NCT, T2, "reversal", hooks=False),
    *pair("statistics of the beginning", Standard, partial(Standard, True), ["net.4"], NCT, T2, "reversal",
          hooks=False),
    *pair("sorted values in place", Ordered, partial(Ordered, True), [], NCT, T2, "reversal", hooks=False),
)  # fmt: skip
