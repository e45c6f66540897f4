"""Networks on sequences: temporal convolutions, recurrent wrappers, with and without a batch axis, layouts to find."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.case import BROKEN, Case, Given, drawn


def series(layout="NCT", steps=40, channels=2, find=False):
    x = drawn(steps, channels)
    axes = [letter for letter in "NTC" if letter in layout]
    x = (x[None] if "N" in layout else x).permute([axes.index(letter) for letter in layout]).contiguous()
    return Given((x,), (f"steps@{layout.index('T')}",), layout=("?" if find else "") + layout)


# temporal convolutions ------------------------------------------------------------------------------------


class Chomp(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n

    def forward(self, x):
        return x[:, :, : -self.n].contiguous()


class CausalConv(nn.Conv1d):
    """Pads on the left inside of its own forward."""

    def __init__(self, cin, cout, k, dilation=1):
        super().__init__(cin, cout, k, dilation=dilation)
        self.left = (k - 1) * dilation

    def forward(self, x):
        return super().forward(F.pad(x, (self.left, 0)))


class Separable(nn.Module):
    def __init__(self, c, k):
        super().__init__()
        self.depth = nn.Conv1d(c, c, k, padding=k // 2, groups=c)
        self.point = nn.Conv1d(c, c, 1)

    def forward(self, x):
        return self.point(self.depth(x))


class Gated(nn.Module):
    """A WaveNet block."""

    def __init__(self, c, dilation):
        super().__init__()
        self.filter, self.gate = CausalConv(c, c, 2, dilation), CausalConv(c, c, 2, dilation)
        self.out = nn.Conv1d(c, c, 1)

    def forward(self, x):
        return x + self.out(torch.tanh(self.filter(x)) * torch.sigmoid(self.gate(x)))


class TCNBlock(nn.Module):
    def __init__(self, c, d, act):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(c, c, 3, padding=2 * d, dilation=d), Chomp(2 * d), act(), nn.Dropout(0.2),
            nn.Conv1d(c, c, 3, padding=2 * d, dilation=d), Chomp(2 * d), act(),
        )  # fmt: skip

    def forward(self, x):
        return F.relu(x + self.net(x))


class Ramp(nn.Module):
    def forward(self, x):
        return x + 0.05 * torch.arange(x.shape[-1], dtype=x.dtype)


class Clocked(nn.Module):
    """Scales every third step."""

    def forward(self, x):
        return x * (1 + 0.2 * (torch.arange(x.shape[-1]) % 3 == 0).to(x.dtype))


class Learnt(nn.Module):
    def __init__(self, c, steps=40):
        super().__init__()
        self.place = nn.Parameter(0.3 * torch.randn(c, steps))

    def forward(self, x):
        return x + self.place


class Centred(nn.Module):
    """Takes the mean over the whole sequence away."""

    def forward(self, x):
        return x - x.mean(-1, keepdim=True)


FAULTS = {"ramp": Ramp, "every third step": Clocked, "learnt places": partial(Learnt, 4), "centred": Centred}


class Temporal(nn.Module):
    def __init__(self, block, depth=2, fault=None, at=1, c=4):
        super().__init__()
        self.enter = nn.Conv1d(2, c, 1)
        layers = []
        for k in range(depth):
            layers += [block(k, c)]
            if fault is not None and k == at:
                layers += [fault()]
        self.net = nn.Sequential(*layers)
        self.head = nn.Conv1d(c, 1, 1)

    def forward(self, x):
        return self.head(self.net(self.enter(x)))


BLOCKS = {
    "same": lambda k, c: nn.Sequential(nn.Conv1d(c, c, 3, padding=1), nn.Mish()),
    "same by name": lambda k, c: nn.Sequential(nn.Conv1d(c, c, 5, padding="same"), nn.Hardswish()),
    "causal": lambda k, c: nn.Sequential(CausalConv(c, c, 3), nn.PReLU(c)),
    "pad module": lambda k, c: nn.Sequential(nn.ConstantPad1d((2, 0), 0.0), nn.Conv1d(c, c, 3), nn.ReLU()),
    "chomped": lambda k, c: nn.Sequential(nn.Conv1d(c, c, 3, padding=2), Chomp(2), nn.SiLU()),
    "dilated": lambda k, c: nn.Sequential(nn.Conv1d(c, c, 3, padding=2**k, dilation=2**k), nn.Softplus()),
    "separable": lambda k, c: nn.Sequential(Separable(c, 3), nn.BatchNorm1d(c), nn.GELU()),
    "wavenet": lambda k, c: Gated(c, 2**k),
    "tcn": lambda k, c: TCNBlock(c, 1, nn.ReLU6),
    "max pool": lambda k, c: nn.Sequential(nn.MaxPool1d(3, 1, 1), nn.Conv1d(c, c, 3, padding=1)),
}


def convolution_cases():
    found = []
    for n, (name, block) in enumerate(BLOCKS.items()):
        inside = 9 if name == "tcn" else 5
        sound = Case(f"temporal, {name}", partial(Temporal, block), series, "shift", ("steps@2",), inside=inside)
        sound = replace(sound, details=n == 0)
        found.append(sound)
        for k in (n, n + 1):
            word = list(FAULTS)[k % 4]
            at = (n + k // 2) % 2
            found.append(
                sound.broken(f"{word} after {at}", partial(Temporal, block, fault=FAULTS[word], at=at), f"net.{at + 1}")
            )
    return found


class TimeLast(nn.Module):
    """Takes (batch, steps, channels) and turns it round for its convolutions."""

    def __init__(self, fault=None):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv1d(2, 4, 3, padding=1), nn.Conv1d(4, 4, 3, padding=1)
        self.fault = fault() if fault else None
        self.norm = nn.LayerNorm(4)
        self.out = nn.Linear(4, 2)

    def forward(self, x):
        x = F.mish(self.conv1(x.transpose(1, 2)))
        if self.fault is not None:
            x = self.fault(x)
        x = self.conv2(x).permute(0, 2, 1)
        return self.out(self.norm(x))


class Running(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.enter, self.leave = nn.Linear(2, 4), nn.Linear(4, 2)
        self.how = how

    def forward(self, x):
        x = x * torch.sigmoid(self.enter(x)[..., :2])
        x = x.cumsum(-2)
        if self.how == "mean":
            x = x / torch.arange(1, x.shape[-2] + 1, dtype=x.dtype)[:, None]
        elif self.how == "decay":
            x = x * 0.9 ** torch.arange(x.shape[-2], dtype=x.dtype)[:, None]
        return x


class Fourier(nn.Module):
    """A filter over the whole sequence by fast Fourier transforms, with room for no wrapping round."""

    def __init__(self, steps=40, room=True):
        super().__init__()
        self.taps = nn.Parameter(torch.randn(2, 8) / 3)
        self.room = room
        self.out = nn.Conv1d(2, 2, 1)

    def forward(self, x):
        n = x.shape[-1] + (8 if self.room else 0)
        y = torch.fft.irfft(torch.fft.rfft(x, n) * torch.fft.rfft(self.taps, n), n)[..., : x.shape[-1]]
        return self.out(y)


def other_cases():
    turned = Case("steps before channels", TimeLast, partial(series, "NTC"), "shift", ("steps@1",), inside=3)
    total = Case("running sum", partial(Running, "sum"), partial(series, "NTC"), "shift", ("steps@1",))
    plain = Case("running sum, one series", partial(Running, "sum"), partial(series, "TC"), "shift", ("steps@0",))
    fourier = Case("filter by fft", Fourier, series, "shift", ("steps@2",))
    return [
        turned,
        turned.broken("ramp", partial(TimeLast, Ramp), "fault"),
        turned.broken("every third step", partial(TimeLast, Clocked), "fault"),
        total, total.broken("running mean", partial(Running, "mean")), total.broken("decay", partial(Running, "decay")),
        plain, plain.broken("running mean", partial(Running, "mean")),
        fourier, fourier.broken("wraps round", partial(Fourier, room=False)),
    ]  # fmt: skip


# recurrent networks ---------------------------------------------------------------------------------------


class Recurrent(nn.Module):
    """Starts from zero; without a bias it stays there until something comes."""

    def __init__(self, kind, bias, batch_first=True, read="all", layers=1, clock=False):
        super().__init__()
        self.rnn = kind(2, 6, layers, bias=bias, batch_first=batch_first)
        self.head = nn.Sequential(nn.Linear(6, 4), nn.Mish(), nn.Linear(4, 2))
        self.read, self.time = read, 1 if batch_first else 0
        self.clock = clock

    def forward(self, x):
        y, _ = self.rnn(x)
        if self.clock:
            shape = [1, 1, 1]
            shape[self.time] = -1
            y = y * torch.linspace(0.5, 1, y.shape[self.time], dtype=y.dtype).view(shape)
        return self.head(y.select(self.time, -1) if self.read == "last" else y)


class ByCell(nn.Module):
    def __init__(self, kind, bias=False):
        super().__init__()
        self.cell = kind(2, 5, bias=bias)
        self.out = nn.Linear(5, 2)

    def forward(self, x):
        state = torch.zeros(1, 5, dtype=x.dtype)
        out = []
        for step in x:
            state = self.cell(step[None], state)
            out.append(self.out(state)[0])
        return torch.stack(out)


class Squeezed(nn.Module):
    """Wraps an RNN with a batch axis for one series without."""

    def __init__(self, bias=False):
        super().__init__()
        self.gru = nn.GRU(2, 5, bias=bias)
        self.out = nn.Linear(5, 1)

    def forward(self, x):
        h, _ = self.gru(x.unsqueeze(1))
        return self.out(h.squeeze(1))


def recurrent_cases():
    found = []
    for kind, first in ((nn.RNN, True), (nn.LSTM, True), (nn.GRU, False)):
        layout, axis = ("NTC", 1) if first else ("TNC", 0)
        for layers in (1, 2):
            make = partial(Recurrent, kind, False, first, layers=layers)
            sound = Case(
                f"{kind.__name__}, {layers} layer(s), no bias",
                make,
                partial(series, layout),
                "shift",
                (f"steps@{axis}",),
            )
            found += [sound, sound.broken("bias", partial(Recurrent, kind, True, first, layers=layers), "rnn")]
        found.append(sound.broken("clock after it", partial(Recurrent, kind, False, first, layers=2, clock=True)))
    cell = Case("GRU cell by hand", partial(ByCell, nn.GRUCell), partial(series, "TC", 16), "shift", ("steps@0",))
    rnn = Case("RNN cell by hand", partial(ByCell, nn.RNNCell), partial(series, "TC", 16), "shift", ("steps@0",))
    squeezed = Case("GRU with a batch axis of one inside", Squeezed, partial(series, "TC"), "shift", ("steps@0",))
    return [
        *found, cell, cell.broken("bias", partial(ByCell, nn.GRUCell, True), hooks=False),
        rnn, rnn.broken("bias", partial(ByCell, nn.RNNCell, True), hooks=False),
        squeezed, squeezed.broken("bias", partial(Squeezed, True), "gru"),
    ]  # fmt: skip


# layouts to be found --------------------------------------------------------------------------------------


class LastOf(nn.Module):
    def __init__(self, layout="NCT"):
        super().__init__()
        self.conv = nn.Conv1d(2, 4, 3, padding=1)
        self.fc = nn.Linear(4, 3)
        self.layout = layout

    def forward(self, x):
        x = x if self.layout == "NCT" else x.transpose(1, 2)
        return self.fc(self.conv(x)[:, :, -1])


class Chunks(nn.Module):
    """Reads four steps at a time."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.rnn = nn.RNN(8, 8, batch_first=True, bias=False)

    def forward(self, x):
        n, t, c = x.shape
        y = self.rnn(self.fc(x.reshape(n, t // 4, 4 * c)))[0]
        return y.reshape(n, t, c)


class Both(nn.Module):
    """Mixes along two axes: nobody can say which is time."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(2, 2, 1)

    def forward(self, x):
        return x.cumsum(0).cumsum(1).cumsum(2) if x.ndim == 3 else x.cumsum(0).cumsum(1)


class LastHidden(nn.Module):
    def __init__(self, batch_first):
        super().__init__()
        self.rnn = nn.GRU(2, 5, batch_first=batch_first)
        self.fc = nn.Linear(5, 2)

    def forward(self, x):
        return self.fc(self.rnn(x)[1][-1])


def found_cases():
    find = partial(series, find=True)
    tell = {"truth": BROKEN, "refusable": True, "hooks": False}
    causal = Case(
        "layout found, causal",
        partial(Temporal, BLOCKS["causal"]),
        find,
        "shift",
        ("steps@2",),
        inside=5,
        refusable=True,
    )
    return [
        causal,
        replace(causal, name="layout found, separable", make=partial(Temporal, BLOCKS["separable"])),
        Case("layout found, turned", TimeLast, partial(find, "NTC"), "shift", ("steps@1",), inside=3, refusable=True),
        Case("layout found, last step", LastOf, find, "shift", ("fixed",), **tell),
        Case(
            "layout found, last step turned", partial(LastOf, "NTC"), partial(find, "NTC"), "shift", ("fixed",), **tell
        ),
        Case("layout found, chunks", Chunks, partial(find, "NTC"), "shift", ("steps@1",), **tell),
        Case("layout refused", Both, partial(find, "TC"), "shift", ("steps@0",), truth="refused"),
        Case("layout found, last state", partial(LastHidden, True), partial(find, "NTC"), "shift", ("fixed",), **tell),
        Case(
            "layout found, last state, time first",
            partial(LastHidden, False),
            partial(find, "TNC"),
            "shift",
            ("fixed",),
            **tell,
        ),
        Case(
            "layout found, LSTM without bias",
            partial(Recurrent, nn.LSTM, False),
            partial(find, "NTC"),
            "shift",
            ("steps@1",),
            refusable=True,
        ),
    ]


CASES = (*convolution_cases(), *other_cases(), *recurrent_cases(), *found_cases())
