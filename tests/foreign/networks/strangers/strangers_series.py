"""Sequences: causal stacks, state spaces, recurrent networks that share both ways, attention with biases, strands."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from tests.foreign.case import Case, Given, drawn, pair

NCT = lambda: Given((drawn(1, 4, 48),), ("steps@2",), layout="NCT")  # noqa: E731
NTC = lambda: Given((drawn(1, 24, 6),), ("steps@1",), layout="NTC")  # noqa: E731


def coarse() -> Given:
    return Given((drawn(1, 4, 48),), ("steps@2",), layout="NCT", step=4)


class Chomp1d(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def forward(self, x: Tensor) -> Tensor:
        return x[:, :, : -self.size].contiguous()


class TemporalBlock(nn.Module):
    """Bai et al., with the weight norm of that time."""

    def __init__(self, i: int, o: int, d: int, reach: float) -> None:
        super().__init__()
        norm = nn.utils.parametrizations.weight_norm
        self.net = nn.Sequential(
            norm(nn.Conv1d(i, o, 3, padding=2 * d, dilation=d)), Chomp1d(2 * d), nn.ReLU(), nn.Dropout(0.2),
            norm(nn.Conv1d(o, o, 3, padding=2 * d, dilation=d)), Chomp1d(2 * d), nn.ReLU(), nn.Dropout(0.2),
        )  # fmt: skip
        self.downsample = nn.Conv1d(i, o, 1) if i != o else None
        self.clock = Clock(reach)

    def forward(self, x: Tensor) -> Tensor:
        res = x if self.downsample is None else self.downsample(x)
        return F.relu(self.clock(self.net(x)) + res)


class Clock(nn.Module):
    def __init__(self, size: float) -> None:
        super().__init__()
        self.size = size

    def forward(self, x: Tensor) -> Tensor:
        return x + self.size * torch.arange(x.shape[-1], dtype=x.dtype, device=x.device) if self.size else x


def tcn(size: float) -> nn.Module:
    return nn.Sequential(TemporalBlock(4, 8, 1, 0), TemporalBlock(8, 8, 2, size), nn.Conv1d(8, 2, 1))


class WaveNet(nn.Module):
    """Oord et al.: gates, residuals, skips that are summed; no padding, so skips are cut to the last ones."""

    def __init__(self, last: bool = True, over_time: bool = False) -> None:
        super().__init__()
        self.causal = nn.Conv1d(4, 8, 1)
        self.gates = nn.ModuleList(nn.Conv1d(8, 16, 2, dilation=2**k) for k in range(3))
        self.norms = nn.ModuleList(Standard(over_time and k == 1) for k in range(3))
        self.res = nn.ModuleList(nn.Conv1d(8, 8, 1) for _ in range(3))
        self.skip = nn.ModuleList(nn.Conv1d(8, 6, 1) for _ in range(3))
        self.end = nn.Sequential(nn.ReLU(), nn.Conv1d(6, 6, 1), nn.ReLU(), nn.Conv1d(6, 3, 1))

    def forward(self, x: Tensor) -> Tensor:
        x = self.causal(F.pad(x, (7, 0)))
        total = 0
        for gate, norm, res, skip in zip(self.gates, self.norms, self.res, self.skip):
            f, g = gate(x).chunk(2, 1)
            h = norm(f.tanh() * g.sigmoid())
            x = x[..., -h.shape[-1] :] + res(h)
            s = skip(h)
            total = s if isinstance(total, int) else total[..., -s.shape[-1] :] + s
        return self.end(total)


class Standard(nn.Module):
    """Each channel over time, or all channels at each step."""

    def __init__(self, over_time: bool) -> None:
        super().__init__()
        self.axis = -1 if over_time else 1

    def forward(self, x: Tensor) -> Tensor:
        return (x - x.mean(self.axis, keepdim=True)) / (x.std(self.axis, keepdim=True) + 1e-5)


class S4D(nn.Module):
    """Gu et al.: a diagonal state space, its kernel by powers of complex numbers, a product of spectra."""

    def __init__(self, dim: int, padded: bool) -> None:
        super().__init__()
        self.log_dt = nn.Parameter(torch.rand(dim) - 2)
        self.c = nn.Parameter(torch.randn(dim, 4, 2))
        self.log_a_real = nn.Parameter(torch.log(0.5 * torch.ones(dim, 4)))
        self.a_imag = nn.Parameter(math.pi * torch.arange(4).repeat(dim, 1).float())
        self.d = nn.Parameter(torch.randn(dim))
        self.mix, self.padded = nn.Conv1d(dim, 2 * dim, 1), padded

    def forward(self, u: Tensor) -> Tensor:
        steps = u.shape[-1]
        a = torch.complex(-self.log_a_real.exp(), self.a_imag) * self.log_dt.exp()[:, None]
        powers = torch.exp(a[..., None] * torch.arange(steps, device=u.device))
        k = 2 * (torch.view_as_complex(self.c)[..., None] * powers).sum(1).real
        n = 2 * steps if self.padded else steps
        y = torch.fft.irfft(torch.fft.rfft(u, n=n) * torch.fft.rfft(k, n=n), n=n)[..., :steps]
        return F.glu(self.mix(F.gelu(y + u * self.d[:, None])), 1)


class Mamba(nn.Module):
    """A selective scan, step by step: the gate of each step is read from it; or from where it is."""

    def __init__(self, dim: int, by_step: bool) -> None:
        super().__init__()
        self.gate, self.read, self.out, self.by_step = (
            nn.Linear(dim, dim),
            nn.Linear(dim, dim),
            nn.Linear(dim, 3, bias=False),
            by_step,
        )

    def forward(self, x: Tensor) -> Tensor:
        h, found = torch.zeros_like(x[:, 0]), []
        for t in range(x.shape[1]):
            a = torch.sigmoid(self.gate(x[:, t]) + (1e-3 * t if self.by_step else 0))
            h = a * h + (1 - a) * self.read(x[:, t]).tanh() * x[:, t].abs()
            found.append(self.out(h))
        return torch.stack(found, 1)


class BothWays(nn.Module):
    """One LSTM reads a packed sequence in either direction; what it said backwards is turned round again, or not."""

    def __init__(self, again: bool) -> None:
        super().__init__()
        self.lstm, self.again = nn.LSTM(6, 8, 2, batch_first=True, dropout=0.3), again
        self.out = nn.Linear(8, 3)

    def read(self, x: Tensor) -> Tensor:
        packed = pack_padded_sequence(x, torch.tensor([x.shape[1]]), batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(self.lstm(packed)[0], batch_first=True)[0]

    def forward(self, x: Tensor) -> Tensor:
        back = self.read(x.flip(1))
        return self.out(self.read(x) + (back.flip(1) if self.again else back))


class Alibi(nn.Module):
    def __init__(self, dim: int, way: str) -> None:
        super().__init__()
        self.qkv, self.proj, self.way = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim), way
        self.register_buffer("slopes", torch.tensor([0.5, 0.25])[:, None, None])

    def forward(self, x: Tensor) -> Tensor:
        n, t, c = x.shape
        q, k, v = self.qkv(x).view(n, t, 3, 2, c // 2).permute(2, 0, 3, 1, 4)
        at = torch.arange(t, device=x.device)
        apart = at[None] - at[:, None]
        far = {"both": apart.abs(), "one": apart, "round": torch.minimum(apart % t, -apart % t)}[self.way]
        a = (q @ k.mT / (c // 2) ** 0.5 - self.slopes * far).softmax(-1)
        return self.proj((a @ v).transpose(1, 2).reshape(n, t, c))


class States(NamedTuple):
    last_hidden_state: Tensor
    pooler_output: Tensor


class Bert(nn.Module):
    def __init__(self, ways: tuple[str, str], pooled: str = "mean") -> None:
        super().__init__()
        self.attention = nn.ModuleList(Alibi(6, w) for w in ways)
        self.ln = nn.ModuleList(nn.LayerNorm(6) for _ in ways)
        self.ff = nn.ModuleList(nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.Linear(12, 6)) for _ in ways)
        self.pooler = Pooler(pooled)

    def forward(self, x: Tensor) -> States:
        for a, ln, ff in zip(self.attention, self.ln, self.ff):
            x = ln(x + a(x))
            x = x + ff(x)
        return States(x, self.pooler(x))


class Pooler(nn.Module):
    def __init__(self, pooled: str) -> None:
        super().__init__()
        self.dense, self.pooled = nn.Linear(6, 6), pooled

    def forward(self, x: Tensor) -> Tensor:
        return self.dense(x[:, 0] if self.pooled == "first" else x.mean(1)).tanh()


class RCConv(nn.Module):
    """Shrikumar et al.: half of the filters, and their reverse complements with channels in opposite order."""

    def __init__(self, i: int, o: int, flipped: bool = True) -> None:
        super().__init__()
        self.weight = nn.Parameter(0.4 * torch.randn(o // 2, i, 5))
        self.bias, self.flipped = nn.Parameter(torch.randn(o // 2)), flipped

    def forward(self, x: Tensor) -> Tensor:
        other = self.weight.flip(0, 1, 2) if self.flipped else self.weight.flip(0, 2)
        return F.conv1d(x, torch.cat([self.weight, other]), torch.cat([self.bias, self.bias.flip(0)]), padding=2)


class Strands(nn.Module):
    def __init__(self, flipped: bool) -> None:
        super().__init__()
        self.convs = nn.Sequential(RCConv(4, 8), nn.ReLU(), RCConv(8, 8, flipped), nn.Softplus())
        self.fc = nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        h = self.convs(x).amax(-1)
        return self.fc(h[:, :4] + h[:, 4:].flip(1))


class AutoCorrelation(nn.Module):
    """Wu et al., Autoformer: the strongest delays by a spectrum, the series rolled by each, and averaged."""

    def __init__(self, dim: int, rolls: bool) -> None:
        super().__init__()
        self.q, self.k, self.v, self.rolls = *(nn.Linear(dim, dim) for _ in range(3)), rolls  # type: ignore[assignment]

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (f(x) for f in (self.q, self.k, self.v))
        r = torch.fft.irfft(torch.fft.rfft(q, dim=1) * torch.fft.rfft(k, dim=1).conj(), n=x.shape[1], dim=1).mean(-1)[0]
        weights, delays = r.topk(3)
        out = torch.zeros_like(v)
        for w, d in zip(weights.softmax(0), delays.tolist()):
            moved = v.roll(-d, 1)
            if not self.rolls:
                moved[:, len(r) - d :] = 0
            out = out + w * moved
        return x + out


def autoformer(rolls: bool) -> nn.Module:
    return nn.Sequential(nn.Linear(6, 6), AutoCorrelation(6, True), nn.LayerNorm(6), AutoCorrelation(6, rolls))


def ring(i: int, o: int, k: int = 3, **more: int) -> nn.Conv1d:
    return nn.Conv1d(i, o, k, padding=k // 2, padding_mode="circular", **more)


def hourglass(pool: nn.Module) -> nn.Module:
    return nn.Sequential(
        ring(4, 8), nn.SiLU(), nn.AvgPool1d(2), ring(8, 8), nn.GroupNorm(4, 8), pool, ring(8, 8),
        nn.Upsample(scale_factor=4), ring(8, 2),
    )  # fmt: skip


class Dense(nn.Module):
    """Tokens mixed along time by a circulant matrix, or by a free one that began as such."""

    def __init__(self, free: float) -> None:
        super().__init__()
        row = torch.randn(24) / 5
        self.first = nn.Parameter(row)
        self.register_buffer("at", (torch.arange(24)[:, None] - torch.arange(24)) % 24)
        self.register_buffer("more", free * torch.randn(24, 24))
        self.norm = nn.LayerNorm(6)

    def forward(self, x: Tensor) -> Tensor:
        return x + (self.first[self.at] + self.more) @ self.norm(x)


def mixer(free: float) -> nn.Module:
    return nn.Sequential(Dense(0), nn.Linear(6, 12), nn.GELU(), nn.Linear(12, 6), Dense(free))


class Moving(nn.Module):
    """Autoformer's decomposition: a moving average and what is left; the fault: of all steps so far,
    but divided by all."""

    def __init__(self, size: int, running: bool) -> None:
        super().__init__()
        self.size, self.running = size, running

    def forward(self, x: Tensor) -> Tensor:
        mean = F.avg_pool1d(F.pad(x, (self.size - 1, 0)), self.size, stride=1)
        return torch.cat([mean, x - (x.cumsum(-1) / x.shape[-1] if self.running else mean)], 1)


def decomposed(running: bool) -> nn.Module:
    return nn.Sequential(nn.Conv1d(4, 4, 3), Moving(5, running), nn.Conv1d(8, 3, 1))


class Valid(nn.Module):
    """A convolution without padding and a residual cut to its length; the fault: cut to a length from a table."""

    def __init__(self, table: bool) -> None:
        super().__init__()
        self.conv, self.gain = (
            nn.Conv1d(8, 8, 5, dilation=2),
            nn.Parameter(torch.ones(37) + 1e-4 * table * torch.randn(37)),
        )

    def forward(self, x: Tensor) -> Tensor:
        h = self.conv(x)
        return x[..., -h.shape[-1] :] + F.gelu(h) * self.gain[: h.shape[-1]]


def unpadded(table: bool) -> nn.Module:
    return nn.Sequential(nn.Conv1d(4, 8, 4), nn.ReLU(), Valid(table), nn.Conv1d(8, 2, 1))


bert, _ = pair("BERT without a direction", lambda: Bert(("both", "both")), lambda: Bert(("both", "one")), [], NTC,
               ("steps@1", "fixed"), "reversal")  # fmt: skip
CASES: tuple[Case, ...] = (
    *pair("TCN", lambda: tcn(0), lambda: tcn(1e-3), ["1.clock"], NCT, ("steps@2",), "shift", inside=14),
    *pair("WaveNet", WaveNet, lambda: WaveNet(over_time=True), ["norms.1"], NCT, ("steps@2",), "shift", inside=9,
          hooks=False),
    *pair("state space round the end", lambda: nn.Sequential(S4D(4, False), S4D(4, False)),
          lambda: nn.Sequential(S4D(4, False), S4D(4, True)), ["1"], NCT, ("steps@2",), "circular-shift"),
    *pair("selective scan", lambda: nn.Sequential(Mamba(6, False), Mamba(3, False)),
          lambda: nn.Sequential(Mamba(6, False), Mamba(3, True)), ["1"], NTC, ("steps@1",), "shift", hooks=False),
    *pair("one LSTM both ways", lambda: BothWays(True), lambda: BothWays(False), [], NTC, ("steps@1",), "reversal"),
    bert,
    bert.broken("one direction", lambda: Bert(("both", "one")), "attention.1"),
    bert.broken("the first one", lambda: Bert(("both", "both"), "first"), "pooler", "pooler.dense", hooks=False),
    *pair("distances on a ring", lambda: Bert(("round", "round")), lambda: Bert(("round", "both")), ["attention.1"],
          NTC,
          ("steps@1", "fixed"), "circular-shift"),
    *pair("both strands", lambda: Strands(True), lambda: Strands(False), ["convs.2"],
          lambda: Given((drawn(1, 4, 40),), ("strands@2",), layout="NCT"), ("fixed",), "reverse-complement",
                hooks=False),
    *pair("Autoformer", lambda: autoformer(True), lambda: autoformer(False), ["3"], NTC, ("steps@1",),
          "circular-shift"),
    *pair("hourglass", lambda: hourglass(nn.MaxPool1d(2)), lambda: hourglass(nn.MaxPool1d(3, 2, 1)), ["5"], coarse,
          ("steps@2",), "circular-shift", hooks=False),
    *pair("circulant mixer", lambda: mixer(0), lambda: mixer(1e-4), ["4"], NTC, ("steps@1",), "circular-shift"),
    *pair("no padding", lambda: unpadded(False), lambda: unpadded(True), ["2"], NCT, ("steps@2",), "shift", inside=12,
          hooks=False),
    *pair("moving averages", lambda: decomposed(False), lambda: decomposed(True), ["1"], NCT, ("steps@2",), "shift",
          inside=8,
          hooks=False),
)  # fmt: skip
