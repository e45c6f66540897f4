"""Networks on sequences in many hands: state spaces, decays, differences, gates, blocks of time, both directions."""

from __future__ import annotations

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.case import Case, Given, drawn


def series(layout="NCT", steps=36, channels=2):
    x = drawn(steps, channels, seed=31)
    axes = [letter for letter in "NTC" if letter in layout]
    x = (x[None] if "N" in layout else x).permute([axes.index(letter) for letter in layout]).contiguous()
    return Given((x,), (f"steps@{layout.index('T')}",), layout=layout)


class StateSpace(nn.Module):
    """A diagonal state space by a loop; a fault makes the decay change with time."""

    def __init__(self, c, states=4, drift=0.0):
        super().__init__()
        self.a, self.b, self.c = (nn.Parameter(torch.randn(c, states)) for _ in range(3))
        self.drift = drift

    def forward(self, x):  # (n, t, c)
        a, state, out = torch.sigmoid(self.a), x.new_zeros(x.shape[0], *self.a.shape), []
        for t in range(x.shape[1]):
            state = a * (1 - self.drift * t) * state + self.b * x[:, t, :, None]
            out.append((self.c * state).sum(-1))
        return torch.stack(out, 1)


class S4(nn.Module):
    def __init__(self, drift=0.0):
        super().__init__()
        self.enter = nn.Linear(2, 4, bias=False)
        self.blocks = nn.ModuleList([StateSpace(4), StateSpace(4, drift=drift)])
        self.mix = nn.ModuleList(nn.Linear(4, 4, bias=False) for _ in range(2))

    def forward(self, x):
        x = self.enter(x)
        for block, mix in zip(self.blocks, self.mix):
            x = x + mix(torch.tanh(block(x)))
        return x


class Retention(nn.Module):
    """Linear attention whose weights decay with the time between two steps, or with the time of one."""

    def __init__(self, c, absolute=False):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(c, c, bias=False) for _ in range(3))
        self.absolute = absolute

    def forward(self, x):
        t = torch.arange(x.shape[1], dtype=x.dtype)
        gap = (t[:, None] - t).clamp(min=0)
        decay = 0.8**gap * (t[:, None] >= t)
        if self.absolute:
            decay = decay * (1 + 0.02 * t[:, None])
        return (self.q(x) @ self.k(x).transpose(1, 2) * decay) @ self.v(x)


class RetNet(nn.Module):
    def __init__(self, absolute=False):
        super().__init__()
        self.embed = nn.Linear(2, 6, bias=False)
        self.first, self.second = Retention(6), Retention(6, absolute)
        self.head = nn.Linear(6, 2, bias=False)

    def forward(self, x):
        x = self.embed(x)
        x = x + self.first(x)
        return self.head(x + self.second(x))


class Average(nn.Module):
    """An exponential mean, corrected for how it began or not."""

    def __init__(self, corrected=False):
        super().__init__()
        self.beta, self.corrected = nn.Parameter(torch.tensor(0.7)), corrected

    def forward(self, x):  # (n, c, t)
        mean, out = torch.zeros_like(x[..., 0]), []
        for t in range(x.shape[-1]):
            mean = self.beta * mean + (1 - self.beta) * x[..., t]
            out.append(mean / (1 - self.beta ** (t + 1)) if self.corrected else mean)
        return torch.stack(out, -1)


class Smoothed(nn.Module):
    def __init__(self, corrected=False):
        super().__init__()
        self.conv, self.mean = nn.Conv1d(2, 4, 3, bias=False), Average(corrected)
        self.out = nn.Conv1d(4, 2, 1)

    def forward(self, x):
        return self.out(F.softsign(self.mean(self.conv(F.pad(x, (2, 0))))))


class TiedDilations(nn.Module):
    """The same filters at three rates; after the second a clock is added."""

    def __init__(self, clock=False):
        super().__init__()
        self.w, self.clock = nn.Parameter(torch.randn(2, 2, 3) / 2), clock

    def forward(self, x):
        for k, d in enumerate((1, 2, 4)):
            x = x + torch.tanh(F.conv1d(F.pad(x, (2 * d, 0)), self.w, dilation=d))
            if self.clock and k == 1:
                x = x + 0.05 * torch.sin(torch.arange(x.shape[-1], dtype=x.dtype))
        return x


class SqueezeTime(nn.Module):
    """Gates by what came before: by an exponential mean, or by the mean of all since the beginning."""

    def __init__(self, c, running=False):
        super().__init__()
        self.gate, self.running = nn.Linear(c, c), running

    def forward(self, x):  # (n, c, t)
        if self.running:
            seen = x.cumsum(-1) / torch.arange(1, x.shape[-1] + 1, dtype=x.dtype)
        else:
            w = 0.6 ** torch.arange(12, dtype=x.dtype).flip(0)
            seen = F.conv1d(F.pad(x, (11, 0)), w.expand(x.shape[1], 1, -1), groups=x.shape[1])
        return x * torch.sigmoid(self.gate(seen.transpose(1, 2))).transpose(1, 2)


class GatedStack(nn.Module):
    def __init__(self, running=False):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(2, 4, 3, padding=1), nn.SiLU(), SqueezeTime(4, running), nn.Conv1d(4, 2, 1))

    def forward(self, x):
        return self.net(x)


class LocalAttention(nn.Module):
    """Each step looks at the five steps before it; or at those of its own block of time."""

    def __init__(self, c, window=5, blocks=False):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(c, c) for _ in range(3))
        self.window, self.blocks = window, blocks

    def forward(self, x):  # (n, t, c)
        t = torch.arange(x.shape[1])
        gap = t[:, None] - t
        seen = (t[:, None] // 6 == t // 6) if self.blocks else (gap >= 0) & (gap < self.window)
        score = (self.q(x) @ self.k(x).transpose(1, 2)).masked_fill(~seen, float("-inf"))
        return x + score.softmax(-1) @ self.v(x)


class Windows(nn.Module):
    def __init__(self, blocks=False):
        super().__init__()
        self.embed = nn.Linear(2, 4)
        self.layers = nn.Sequential(LocalAttention(4), LocalAttention(4, blocks=blocks))

    def forward(self, x):
        return self.layers(self.embed(x))


class Began(nn.Module):
    """A cell by hand that begins with nothing, or with something learnt."""

    def __init__(self, learnt=False):
        super().__init__()
        self.cell, self.out = nn.GRUCell(2, 4, bias=False), nn.Linear(4, 1)
        self.start = nn.Parameter(torch.ones(4) if learnt else torch.zeros(4))

    def forward(self, x):  # (n, t, c)
        h, out = self.start.expand(len(x), -1), []
        for step in x.unbind(1):
            h = self.cell(step, h)
            out.append(self.out(h))
        return torch.stack(out, 1)


class Haar(nn.Module):
    """Wavelets without decimation; a fault weighs details by the hour."""

    def __init__(self, hours=False):
        super().__init__()
        self.mix, self.hours = nn.Conv1d(6, 2, 1), hours

    def forward(self, x):
        details = []
        for k in range(2):
            before = F.pad(x, (2**k, 0))[..., : x.shape[-1]]
            details.append((x - before) / 2)
            x = (x + before) / 2
        if self.hours:
            details[1] = details[1] * (torch.arange(x.shape[-1]) % 7 != 0)
        return self.mix(torch.cat([*details, x], 1))


class Experts(nn.Module):
    """Steps choose who answers; a fault lets the number of the step choose."""

    def __init__(self, turn=False):
        super().__init__()
        self.enter, self.router, self.turn = nn.Conv1d(2, 4, 3, padding=1), nn.Conv1d(4, 2, 1), turn
        self.experts = nn.ModuleDict({"even": nn.Conv1d(4, 2, 1), "odd": nn.Conv1d(4, 2, 1)})

    def forward(self, x):
        h = F.mish(self.enter(x))
        score = self.router(h)
        first = torch.arange(h.shape[-1]) % 2 == 0 if self.turn else score[:, :1] > score[:, 1:]
        return torch.where(first, self.experts["even"](h), self.experts["odd"](h))


class Tower(nn.Module):
    """Three answers at once: the steps, their gates, and what is left."""

    def __init__(self, slope=0.0):
        super().__init__()
        self.trunk = nn.Sequential(nn.Conv1d(2, 4, 5, padding=2), nn.GELU(), nn.Conv1d(4, 4, 1))
        self.value, self.gate, self.slope = nn.Conv1d(4, 2, 1), nn.Conv1d(4, 2, 1), slope

    def forward(self, x):
        h = self.trunk(x)
        gate = torch.sigmoid(self.gate(h))
        if self.slope:
            gate = gate + self.slope * torch.linspace(0, 1, h.shape[-1], dtype=h.dtype)
        value = self.value(h)
        return {"value": value, "gate": gate, "rest": (x - value,)}


# both directions ------------------------------------------------------------------------------------------


class BothWays(nn.Module):
    """A recurrent layer run in both directions with the same weights; a fault weighs one of them more."""

    def __init__(self, weight=0.5):
        super().__init__()
        self.rnn, self.out, self.weight = nn.GRU(2, 5, batch_first=True), nn.Linear(5, 2), weight

    def forward(self, x):
        there, _ = self.rnn(x)
        back, _ = self.rnn(x.flip(1))
        return self.out(self.weight * there + (1 - self.weight) * back.flip(1))


class Even(nn.Conv1d):
    """A filter that is its own mirror."""

    def forward(self, x):
        return F.conv1d(x, (self.weight + self.weight.flip(-1)) / 2, self.bias, padding=self.padding)


class Palindromes(nn.Module):
    def __init__(self, plain=-1):
        super().__init__()
        self.layers = nn.ModuleList(
            (nn.Conv1d if k == plain else Even)(2 if k == 0 else 4, 4, 5, padding=2) for k in range(3)
        )
        self.act = nn.ModuleList(nn.PReLU(4) for _ in range(3))

    def forward(self, x):
        for layer, act in zip(self.layers, self.act):
            x = act(layer(x))
        return x.amax(-1)


class MirroredBias(nn.Module):
    def __init__(self, c, even=True):
        super().__init__()
        self.q, self.k, self.v, self.table = nn.Linear(c, c), nn.Linear(c, c), nn.Linear(c, c), nn.Parameter(
            torch.randn(80)
        )  # fmt: skip
        self.even = even

    def forward(self, x):
        t = torch.arange(x.shape[1])
        gap = t[:, None] - t
        bias = self.table[gap.abs() if self.even else gap + 40]
        return x + ((self.q(x) @ self.k(x).transpose(1, 2)) / 2 + bias).softmax(-1) @ self.v(x)


class TwoSided(nn.Module):
    def __init__(self, even=True):
        super().__init__()
        self.enter, self.blocks = nn.Linear(2, 4), nn.Sequential(MirroredBias(4), MirroredBias(4, even))
        self.norm = nn.LayerNorm(4)

    def forward(self, x):
        return self.norm(self.blocks(self.enter(x)))


def pair(name, make, faulty, culprit, given, out, group="shift", **more):
    sound = Case(name, make, given, group, out, **more)
    return [sound, sound.broken("a fault", faulty, *culprit)]


NTC, NCT = partial(series, "NTC"), partial(series, "NCT")
T1, T2 = ("steps@1",), ("steps@2",)
CASES = (
    *pair("a state space", S4, partial(S4, 0.01), ["blocks.1"], NTC, T1, hooks=False),
    *pair("retention", RetNet, partial(RetNet, True), ["second"], NTC, T1, hooks=False),
    *pair("an exponential mean", Smoothed, partial(Smoothed, True), ["mean"], NCT, T2, inside=3, hooks=False),
    *pair("the same filters at three rates", TiedDilations, partial(TiedDilations, True), [], NCT, T2, hooks=False),
    *pair("gates by what came before", GatedStack, partial(GatedStack, True), ["net.2"], NCT, T2, inside=14,
          hooks=False),
    *pair("attention in a window", Windows, partial(Windows, True), ["layers.1", "layers.1.attention"], NTC, T1,
          inside=10, hooks=False),
    *pair("how a cell begins", Began, partial(Began, True), [], NTC, T1, hooks=False),
    *pair("wavelets", Haar, partial(Haar, True), [], NCT, T2, inside=4, hooks=False),
    *pair("steps choose experts", Experts, partial(Experts, True), [], NCT, T2, inside=2, hooks=False),
    *pair("three answers at once", Tower, partial(Tower, 0.05), [], NCT, ("steps@2",) * 3, inside=3, hooks=False),
    *pair("both directions", BothWays, partial(BothWays, 0.6), [], NTC, T1, "reversal", hooks=False),
    *pair("filters that are their mirror", Palindromes, partial(Palindromes, 1), ["layers.1"], NCT, ("fixed",),
          "reversal"),
    *pair("attention by distance", TwoSided, partial(TwoSided, False), ["blocks.1", "blocks.1.attention"], NTC, T1,
          "reversal", hooks=False),
)  # fmt: skip
