"""Networks on sets: pairs, moments, a soft order, answers in several forms."""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn


class Pairs(nn.Module):
    """Every pair once, first the earlier (Murphy et al. 2019): sound if what is asked of a pair is asked both ways."""

    def __init__(self, c, hidden, fault=False):
        super().__init__()
        self.f, self.g, self.fault = nn.Linear(2 * c, hidden), nn.Linear(c + hidden, c), fault

    def forward(self, x):
        n = x.shape[1]
        i, j = torch.triu_indices(n, n, 1, device=x.device)
        a, b = x[:, i], x[:, j]
        m = torch.tanh(self.f(torch.cat([a, b], -1)))
        if not self.fault:
            m = m + torch.tanh(self.f(torch.cat([b, a], -1)))
        seen = torch.zeros(*x.shape[:2], m.shape[-1], dtype=x.dtype, device=x.device)
        seen = seen.index_add(1, i, m).index_add(1, j, m) / n
        return x + self.g(torch.cat([x, seen], -1))


class Janossy(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.inp = nn.Linear(3, 8)
        self.p1, self.p2, self.p3 = Pairs(8, 6), Pairs(8, 6, bool(fault)), Pairs(8, 6)
        self.out = nn.Linear(8, 4)

    def forward(self, points):
        return self.out(self.p3(self.p2(self.p1(self.inp(points)))).mean(1))


class Moments(nn.Module):
    """Mean, spread and skew beside each member; a fault takes the spread from consecutive members."""

    def __init__(self, cin, cout, fault=False):
        super().__init__()
        self.lin, self.fault = nn.Linear(4 * cin, cout), fault

    def forward(self, x):
        m = x.mean(-2, keepdim=True)
        d = x - m
        var = d.square().mean(-2, keepdim=True)
        if self.fault:
            var = (x[..., 1:, :] - x[..., :-1, :]).square().mean(-2, keepdim=True) / 2
        skew = d.pow(3).mean(-2, keepdim=True) / (var + 0.1).pow(1.5)
        return F.gelu(self.lin(torch.cat([x, *(s.expand_as(x) for s in (m, var.sqrt(), skew))], -1)))


class Summary(NamedTuple):
    members: torch.Tensor
    whole: torch.Tensor


class MomentNet(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.m1, self.m2, self.m3 = Moments(4, 8), Moments(8, 8, bool(fault)), Moments(8, 6)

    def forward(self, *, elements):
        h = self.m3(self.m2(self.m1(elements)))
        return Summary(h, h.logsumexp(-2))


class SoftSort(nn.Module):
    """A soft permutation into order (Prillo and Eisenschlos 2020); the fault: scores lean on the place before."""

    def __init__(self, c, tau=0.3, fault=False):
        super().__init__()
        self.score, self.tau, self.fault = nn.Linear(c, 1), tau, fault

    def forward(self, h):
        s = self.score(h).squeeze(-1)
        if self.fault:
            s = s + 1e-3 * torch.arange(len(s), dtype=s.dtype, device=s.device)
        p = (-(s.sort(descending=True).values[:, None] - s[None]).abs() / self.tau).softmax(-1)
        return p @ h


class Ordered(nn.Module):
    """Sorted members are read by a GRU: the order no longer is that of the list."""

    def __init__(self, fault=0):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(3, 8), nn.Mish(), nn.Linear(8, 8))
        self.sort, self.read, self.head = (
            SoftSort(8, fault=bool(fault)),
            nn.GRU(8, 8, batch_first=True),
            nn.Linear(8, 2),
        )

    def forward(self, x):
        _, last = self.read(self.sort(self.embed(x))[None])
        return self.head(last[0, 0])


class Hidden(nn.Module):
    """Fits of members to hidden sets (Skianis et al. 2020); a fault: one of them is laid over the list."""

    def __init__(self, c, sets=5, size=4, fault=False):
        super().__init__()
        self.w, self.fault = nn.Parameter(torch.randn(sets, size, c) / c**0.5), fault

    def forward(self, x):  # (B, N, C)
        t = F.relu(torch.einsum("bnc,ksc->bnks", x, self.w))
        if self.fault:
            size = t.shape[-1]
            cover = F.pad(torch.ones(size, dtype=t.dtype, device=t.device), (0, max(0, t.shape[1] - size)))[
                : t.shape[1]
            ]
            t = torch.cat([t[:, :, :1] * (1 + 0.05 * cover[:, None, None]), t[:, :, 1:]], 2)
        return t.amax(3).sum(1)


class RepSet(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.pre, self.hidden, self.post = nn.Linear(6, 6), Hidden(6, fault=bool(fault)), nn.Linear(5, 3)

    def forward(self, X):
        return self.post(self.hidden(F.leaky_relu(self.pre(X))))
