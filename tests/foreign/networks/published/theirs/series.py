"""Networks on series in styles of the literature; with fault=1 one fault is planted."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class CausalConv1d(nn.Conv1d):
    def __init__(self, i, o, k, dilation=1):
        super().__init__(i, o, k, dilation=dilation)
        self.left = (k - 1) * dilation

    def forward(self, x):
        return super().forward(F.pad(x, (self.left, 0)))


class GatedBlock(nn.Module):
    def __init__(self, c, dilation, clock):
        super().__init__()
        self.filter, self.gate = CausalConv1d(c, c, 2, dilation), CausalConv1d(c, c, 2, dilation)
        self.res, self.skip = nn.Conv1d(c, c, 1), nn.Conv1d(c, c, 1)
        self.clock = clock

    def forward(self, x):
        g = torch.sigmoid(self.gate(x))
        if self.clock:
            g = g * (1 + 0.1 * torch.sin(torch.arange(x.shape[-1], device=x.device, dtype=x.dtype)))
        h = torch.tanh(self.filter(x)) * g
        return x + self.res(h), self.skip(h)


class WaveNet(nn.Module):
    def __init__(self, fault=0, c=8):
        super().__init__()
        self.start = CausalConv1d(1, c, 2)
        self.blocks = nn.ModuleList([GatedBlock(c, d, fault == 1 and d == 4) for d in (1, 2, 4, 8)])
        self.end1, self.end2 = nn.Conv1d(c, c, 1), nn.Conv1d(c, 4, 1)

    def forward(self, x):
        x, skips = self.start(x), 0
        for block in self.blocks:
            x, s = block(x)
            skips = skips + s
        return self.end2(F.relu(self.end1(F.relu(skips))))


class Chomp1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n

    def forward(self, x):
        return x[:, :, : -self.n].contiguous()


class CumulativeNorm(nn.Module):
    """Divides by how many steps there were: a mean since the start."""

    def forward(self, x):
        n = torch.arange(1, x.shape[-1] + 1, dtype=x.dtype, device=x.device)
        return x - x.cumsum(-1) / n


class TemporalBlock(nn.Module):
    def __init__(self, i, o, k, d, norm):
        super().__init__()
        self.conv1 = nn.utils.parametrizations.weight_norm(nn.Conv1d(i, o, k, padding=(k - 1) * d, dilation=d))
        self.chomp1, self.relu1 = Chomp1d((k - 1) * d), nn.ReLU()
        self.norm = norm
        self.conv2 = nn.utils.parametrizations.weight_norm(nn.Conv1d(o, o, k, padding=(k - 1) * d, dilation=d))
        self.chomp2, self.relu2 = Chomp1d((k - 1) * d), nn.ReLU()
        self.net = nn.Sequential(self.conv1, self.chomp1, self.relu1, self.norm, self.conv2, self.chomp2, self.relu2)
        self.downsample = nn.Conv1d(i, o, 1) if i != o else None

    def forward(self, x):
        res = x if self.downsample is None else self.downsample(x)
        return torch.relu(self.net(x) + res)


class TCN(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.network = nn.Sequential(
            TemporalBlock(1, 8, 3, 1, nn.Identity()),
            TemporalBlock(8, 8, 3, 2, CumulativeNorm() if fault == 1 else nn.Identity()),
            TemporalBlock(8, 8, 3, 4, nn.Identity()),
        )
        self.linear = nn.Linear(8, 3)

    def forward(self, x):
        return self.linear(self.network(x).transpose(1, 2))


class S4DKernel(nn.Module):
    def __init__(self, d, n=8):
        super().__init__()
        self.log_dt = nn.Parameter(torch.rand(d) - 2)
        self.C = nn.Parameter(torch.randn(d, n, 2))
        self.log_A_real = nn.Parameter(torch.log(0.5 * torch.ones(d, n)))
        self.A_imag = nn.Parameter(math.pi * torch.arange(n).float().repeat(d, 1))

    def forward(self, L):
        dt = self.log_dt.exp()
        C = torch.view_as_complex(self.C)
        A = -self.log_A_real.exp() + 1j * self.A_imag
        dtA = A * dt[:, None]
        K = dtA[..., None] * torch.arange(L, device=A.device)
        C = C * (torch.exp(dtA) - 1.0) / A
        return 2 * torch.einsum("hn,hnl->hl", C, torch.exp(K)).real


class S4D(nn.Module):
    def __init__(self, d, circular):
        super().__init__()
        self.kernel, self.D = S4DKernel(d), nn.Parameter(torch.randn(d))
        self.out, self.circular = nn.Conv1d(d, 2 * d, 1, bias=False), circular

    def forward(self, u):
        L = u.shape[-1]
        k = self.kernel(L)
        n = L if self.circular else 2 * L
        y = torch.fft.irfft(torch.fft.rfft(u, n=n) * torch.fft.rfft(k, n=n), n=n)[..., :L]
        y = F.gelu(y + u * self.D[:, None])
        return F.glu(self.out(y), 1)


class S4Model(nn.Module):
    """Diagonal state space layers by Fourier transforms; fault: the transform is not padded, so the end comes in."""

    def __init__(self, fault=0):
        super().__init__()
        self.encoder = nn.Linear(1, 8, bias=False)
        self.s4_1, self.s4_2 = S4D(8, False), S4D(8, fault == 1)
        self.decoder = nn.Linear(8, 2)

    def forward(self, x):
        x = self.encoder(x).transpose(1, 2)
        x = x + self.s4_1(x)
        x = x + self.s4_2(x)
        return self.decoder(x.transpose(1, 2))


class KANLinear(nn.Module):
    """A spline for every pair of channels: Gaussian bumps on a grid and a base."""

    def __init__(self, i, o, grid=6, clock=False):
        super().__init__()
        self.register_buffer("grid", torch.linspace(-2, 2, grid))
        self.base_weight = nn.Parameter(torch.randn(o, i) * 0.4)
        self.spline_weight = nn.Parameter(torch.randn(o, i, grid) * 0.2)
        self.clock = clock

    def forward(self, x):
        grid = self.grid
        if self.clock:
            grid = grid + 0.01 * torch.arange(x.shape[1], dtype=x.dtype, device=x.device)[:, None, None]
        bumps = torch.exp(-(((x[..., None] - grid) * 1.5) ** 2))
        return F.silu(x) @ self.base_weight.t() + torch.einsum("...ig,oig->...o", bumps, self.spline_weight)


class TimeKAN(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.conv = nn.Conv1d(1, 6, 5, padding=2, padding_mode="circular")
        self.kan1, self.kan2 = KANLinear(6, 8), KANLinear(8, 2, clock=fault == 1)

    def forward(self, x):
        return self.kan2(self.kan1(self.conv(x).transpose(1, 2)))


class Residuals(nn.Module):
    """A window of a series: what one block explains is taken away from what the next is given."""

    def __init__(self, window=20, ahead=5, hidden=24):
        super().__init__()
        self.ahead = ahead
        self.hidden = nn.ModuleList([nn.Linear(window, hidden) for _ in range(3)])
        self.back = nn.ModuleList([nn.Linear(hidden, window) for _ in range(3)])
        self.fore = nn.ModuleList([nn.Linear(hidden, ahead) for _ in range(3)])

    def forward(self, x):
        forecast = 0
        for hidden, back, fore in zip(self.hidden, self.back, self.fore):
            h = torch.relu(hidden(x))
            x, forecast = x - back(h), forecast + fore(h)
        return forecast


class Letters(nn.Module):
    """Convolutions over characters, each a column of zeros and a one."""

    def __init__(self, fault=0, vocab=30, hidden=12):
        super().__init__()
        self.vocab = vocab
        self.c1 = nn.Conv1d(vocab, hidden, 5, padding=2, padding_mode="circular")
        self.c2 = nn.Conv1d(hidden, hidden, 3, padding=1, padding_mode="zeros" if fault == 1 else "circular")
        self.out = nn.Linear(hidden, 4)

    def forward(self, tokens):
        x = F.one_hot(tokens, num_classes=self.vocab).to(self.out.weight.dtype).transpose(1, 2)
        return self.out(F.relu(self.c2(F.relu(self.c1(x)))).transpose(1, 2))


class Matching(nn.Module):
    """A measure of how well each token of a question is met by one of a document."""

    def __init__(self, fault=0, vocab=100, d=16):
        super().__init__()
        self.embed, self.pos = nn.Embedding(vocab, d), nn.Embedding(1024, d) if fault == 1 else None
        self.conv, self.linear = nn.Conv1d(d, d, 3, padding=1, padding_mode="circular"), nn.Linear(d, 8, bias=False)

    def encode(self, ids):
        h = self.embed(ids)
        if self.pos is not None:
            h = h + self.pos(torch.arange(ids.shape[1], device=ids.device))
        return F.normalize(self.linear(self.conv(h.transpose(1, 2)).transpose(1, 2)), dim=-1)

    def forward(self, query_ids, doc_ids):
        return (self.encode(query_ids) @ self.encode(doc_ids).transpose(1, 2)).amax(-1).sum(-1)
