"""Series that go round: circular padding, filters by the Fourier transform, means over all steps."""

from functools import partial

import torch
from torch import nn

from tests.foreign.case import Case
from tests.foreign.networks.on_sequences.sequences import series


class Rings(nn.Module):
    def __init__(self, mode="circular"):
        super().__init__()
        self.first = nn.Conv1d(2, 4, 5, padding=2, padding_mode="circular")
        self.wide = nn.Conv1d(4, 4, 3, padding=2, dilation=2, padding_mode="circular")
        self.window = nn.Identity() if mode == "circular" else Window()
        self.last = nn.Conv1d(4, 3, 3, padding=1, padding_mode="circular")

    def forward(self, x):
        h = torch.tanh(self.first(x))
        return self.last(self.window(h + torch.tanh(self.wide(h))))


class Window(nn.Module):
    def forward(self, h):
        return h * torch.hann_window(h.shape[-1], dtype=h.dtype)


class Modes(nn.Module):
    """Weigh the lowest frequencies, as a Fourier neural operator does; a fault begins at a step of its own."""

    def __init__(self, begin=False):
        super().__init__()
        self.weights, self.begin = nn.Parameter(torch.randn(2, 3, 6, dtype=torch.cfloat) / 3), begin
        self.out = nn.Conv1d(3, 2, 1)

    def forward(self, x):
        modes = torch.einsum("bim,iom->bom", torch.fft.rfft(x)[..., :6], self.weights.to(x.dtype.to_complex()))
        y = torch.fft.irfft(modes, x.shape[-1])
        return self.out(torch.nn.functional.gelu(y.cumsum(-1) if self.begin else y))


class Pooled(nn.Module):
    def __init__(self, at=None):
        super().__init__()
        self.body, self.at = nn.Conv1d(2, 4, 5, padding=2, padding_mode="circular"), at
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        h = torch.relu(self.body(x))
        return self.head(h.mean(-1) if self.at is None else h[..., self.at])


def case(name, make, group="circular-shift", out=("steps@2",), **more):
    return Case(name, make, partial(series, channels=2), group, out, hooks=False, **more)


def pair(name, make, faulty, culprit, *args, **more):
    sound = case(name, make, *args, **more)
    return [sound, sound.broken("a fault", faulty, *culprit)]


CASES = (
    *pair("circular convolutions", Rings, partial(Rings, "window"), ["window"]),
    *pair("circular convolutions, delays", Rings, partial(Rings, "window"), ["window"], "shift", inside=6),
    *pair("modes of a series", Modes, partial(Modes, True), []),
    *pair("mean of a ring", Pooled, partial(Pooled, 3), [], out=("fixed",)),
)  # fmt: skip
