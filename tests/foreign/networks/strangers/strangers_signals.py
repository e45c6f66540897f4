"""Signals: without a batch, in patches and frames, down and up again, encoders and decoders, spectrograms, filters."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.foreign.case import Case, Given, drawn, pair

CT = lambda: Given((drawn(4, 48),), ("steps@1",), layout="CT")  # noqa: E731
NTC = lambda: Given((drawn(1, 48, 4),), ("steps@1",), layout="NTC")  # noqa: E731


def nct(step: int = 1, channels: int = 4) -> Given:
    return Given((drawn(1, channels, 48),), ("steps@2",), layout="NCT", step=step)


class Ramp(nn.Module):
    """A fault that can hide anywhere: a little more at every step."""

    def __init__(self, size: float, axis: int = -1) -> None:
        super().__init__()
        self.size, self.axis = size, axis

    def forward(self, x: Tensor) -> Tensor:
        if not self.size:
            return x
        shape = [1] * x.ndim
        shape[self.axis] = -1
        return x * (1 + self.size * torch.arange(x.shape[self.axis], dtype=x.dtype, device=x.device).view(shape))


def unbatched(size: float) -> nn.Module:
    return nn.Sequential(
        nn.Conv1d(4, 8, 5), nn.ReLU(), Ramp(size), nn.Conv1d(8, 8, 3, dilation=2), nn.Tanh(), nn.Conv1d(8, 2, 1)
    )


class Transposed(nn.Module):
    """Time lies in the middle; the convolutions want it last, and leave fewer steps."""

    def __init__(self, size: float) -> None:
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv1d(4, 8, 3), nn.Conv1d(8, 8, 3)])
        self.norms = nn.ModuleList([nn.LayerNorm(8), nn.LayerNorm(8)])
        self.ramp, self.fc = Ramp(size, 1), nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        for conv, norm in zip(self.convs, self.norms):
            x = norm(conv(x.transpose(1, 2)).transpose(1, 2)).relu()
        return self.fc(self.ramp(x))


class Autoencoder(nn.Module):
    """Strides down and transposed convolutions up, round the end of the signal."""

    def __init__(self, wrong: bool) -> None:
        super().__init__()
        self.down = nn.ModuleList(
            nn.Conv1d(i, o, 4, stride=2, padding=1, padding_mode="circular") for i, o in ((4, 8), (8, 12))
        )
        self.up = nn.ModuleList([Up(12, 8, False), Up(8, 4, wrong)])

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.down:
            x = F.leaky_relu(layer(x), 0.2)
        for layer in self.up:
            x = layer(x)
        return x


class Up(nn.Module):
    """Zeros between, then a filter round the end; or torch's transposed convolution, which knows no circle."""

    def __init__(self, i: int, o: int, transposed: bool) -> None:
        super().__init__()
        self.conv = (
            nn.ConvTranspose1d(i, o, 4, 2, 1) if transposed else nn.Conv1d(i, o, 3, padding=1, padding_mode="circular")
        )
        self.transposed = transposed

    def forward(self, x: Tensor) -> Tensor:
        if self.transposed:
            return self.conv(x)
        wide = torch.stack([x, torch.zeros_like(x)], -1).flatten(-2)
        return self.conv(wide)


class Framed(nn.Module):
    """Frames of a signal, their spectra,
    and a network on each; the fault: a window that fades over the whole signal."""

    def __init__(self, faded: bool) -> None:
        super().__init__()
        self.frame, self.mlp = Frames(faded), nn.Sequential(nn.Linear(5, 16), nn.GELU(), nn.Linear(16, 4))

    def forward(self, x: Tensor) -> Tensor:
        return self.mlp(self.frame(x).flatten(0, 1).mT).mean(0, keepdim=True).repeat_interleave(4, 1)


class Frames(nn.Module):
    def __init__(self, faded: bool) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(8))
        self.faded = faded

    def forward(self, x: Tensor) -> Tensor:
        if self.faded:
            x = x * torch.linspace(1, 1.01, x.shape[-1], dtype=x.dtype, device=x.device)
        x = torch.cat([x, x[..., :4]], -1)  # round the end
        return (torch.fft.rfft(x.unfold(-1, 8, 4) * self.window.to(x.dtype)).abs() + 1e-3).log().mT


class Pad(nn.Module):
    def __init__(self, mode: str) -> None:
        super().__init__()
        self.mode = mode

    def forward(self, x: Tensor) -> Tensor:
        return F.pad(x, (2, 2), mode=self.mode)


def padded(mode: str) -> nn.Module:
    return nn.Sequential(
        Pad("circular"), nn.Conv1d(4, 6, 5), nn.ReLU(), Pad(mode), nn.Conv1d(6, 6, 5), nn.SiLU(), nn.Conv1d(6, 2, 1)
    )


class Symmetric(nn.Module):
    """Filters that are their own mirror image; the fault: one of them leans a little to one side."""

    def __init__(self, i: int, o: int, lean: float) -> None:
        super().__init__()
        self.weight, self.lean = nn.Parameter(torch.randn(o, i, 5) / 4), lean

    def forward(self, x: Tensor) -> Tensor:
        w = (self.weight + self.weight.flip(-1)) / 2
        if self.lean:
            w = torch.cat([w[:1] + self.lean * torch.arange(5, dtype=w.dtype, device=w.device), w[1:]])
        return F.conv1d(x, w, padding=2)


def mirrored(lean: float) -> nn.Module:
    return nn.Sequential(
        Symmetric(4, 8, 0), nn.GELU(), nn.MaxPool1d(2), Symmetric(8, 6, lean), nn.Softplus(), nn.Conv1d(6, 2, 1)
    )


class Biquad(nn.Module):
    """A recursive filter, step by step; the fault: a coefficient that drifts."""

    def __init__(self, drift: float) -> None:
        super().__init__()
        self.a, self.b, self.drift = nn.Parameter(torch.tensor([0.5, -0.2])), nn.Parameter(torch.randn(3)), drift

    def forward(self, x: Tensor) -> Tensor:
        y = []
        for t in range(x.shape[-1]):
            now = self.b[0] * x[..., t]
            for k in (1, 2):
                if t >= k:
                    now = now + self.b[k] * x[..., t - k] + (self.a[k - 1] + self.drift * t) * y[t - k]
            y.append(now)
        return torch.stack(y, -1)


class Conformer(nn.Module):
    """Attention to steps near by, a gated depthwise convolution, a half step of a dense layer on either side."""

    def __init__(self, dim: int, reach: int, last: bool) -> None:
        super().__init__()
        self.ff1, self.ff2 = (
            nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 16), nn.SiLU(), nn.Linear(16, dim)) for _ in "ab"
        )
        self.att = Near(dim, reach, last)
        self.conv = nn.Sequential(
            nn.Conv1d(dim, 2 * dim, 1), nn.GLU(1), nn.Conv1d(dim, dim, 3, padding=1, groups=dim), nn.SiLU()
        )
        self.norm = nn.LayerNorm(dim)

    def forward(self, x: Tensor) -> Tensor:
        x = x + 0.5 * self.ff1(x)
        x = x + self.att(x)
        x = x + self.conv(x.mT).mT
        return self.norm(x + 0.5 * self.ff2(x))


class Near(nn.Module):
    """Hears those at most so far away; the fault: and the first step of all, as a sink."""

    def __init__(self, dim: int, reach: int, sink: bool) -> None:
        super().__init__()
        self.att, self.reach, self.sink = nn.MultiheadAttention(dim, 2, batch_first=True), reach, sink

    def forward(self, x: Tensor) -> Tensor:
        at = torch.arange(x.shape[1], device=x.device)
        hidden = (at[:, None] - at).abs() > self.reach
        if self.sink:
            hidden[:, 0] = False
        return self.att(x, x, x, attn_mask=hidden, need_weights=False)[0]


class Quantised(nn.Module):
    """VQ: each step becomes the nearest code; the fault: the code book is rolled by where the step is."""

    def __init__(self, rolled: bool) -> None:
        super().__init__()
        self.codes, self.rolled = nn.Embedding(16, 8), rolled

    def forward(self, z: Tensor) -> Tensor:
        at = torch.cdist(z.mT, self.codes.weight[None]).argmin(-1)
        if self.rolled:
            at = (at + torch.arange(at.shape[1], device=z.device)) % 16
        return self.codes(at).mT


def vq(rolled: bool) -> nn.Module:
    return nn.Sequential(
        nn.Conv1d(4, 8, 3, padding=1, padding_mode="circular"),
        Quantised(rolled),
        nn.Conv1d(8, 4, 3, padding=1, padding_mode="circular"),
    )


CASES: tuple[Case, ...] = (
    *pair("unbatched and unpadded", lambda: unbatched(0), lambda: unbatched(1e-3), ["2"], CT, ("steps@1",), "shift",
          inside=12,
          hooks=False),
    *pair("time in the middle, unpadded", lambda: Transposed(0), lambda: Transposed(1e-3), ["ramp"], NTC,
          ("steps@1",), "shift",
          inside=6, hooks=False),
    *pair("down and up", lambda: Autoencoder(False), lambda: Autoencoder(True), ["up.1", "up.1.conv"], lambda: nct(4),
          ("steps@2",), "circular-shift", hooks=False),
    *pair("frames and spectra", lambda: Framed(False), lambda: Framed(True), ["frame"], lambda: nct(4),
          ("steps@1",), "circular-shift", hooks=False),
    *pair("padded round the end", lambda: padded("circular"), lambda: padded("reflect"), [], nct, ("steps@2",),
          "circular-shift", hooks=False),
    *pair("mirrored filters", lambda: mirrored(0), lambda: mirrored(1e-3), ["3"], nct, ("steps@2",), "reversal",
          hooks=False),
    *pair("a recursive filter", lambda: Biquad(0), lambda: Biquad(1e-3), [], nct, ("steps@2",), "shift", hooks=False),
    *pair("Conformer", lambda: nn.Sequential(nn.Linear(4, 8), Conformer(8, 3, False)),
          lambda: nn.Sequential(nn.Linear(4, 8), Conformer(8, 3, True)), ["1.att", "1.att.att.attention"], NTC,
                ("steps@1",), "shift", inside=8,
          hooks=False),
    *pair("codes", lambda: vq(False), lambda: vq(True), ["1"], nct, ("steps@2",), "circular-shift", hooks=False),
)  # fmt: skip
