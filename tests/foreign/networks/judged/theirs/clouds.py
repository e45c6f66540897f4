"""Somebody's networks on point clouds and sets, laid out in many ways; `fault` plants one at one of three depths."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn


class Numbered(nn.Module):
    """Weighs what is at a place by its number, on one axis: the planted fault."""

    def __init__(self, axis, size=1e-2):
        super().__init__()
        self.axis, self.size = axis, size

    def forward(self, x):
        ramp = 1 + self.size * torch.arange(x.shape[self.axis], dtype=x.dtype)
        return x * ramp.view([-1 if k == self.axis % x.ndim else 1 for k in range(x.ndim)])


def maybe(fault, here, axis):
    return Numbered(axis) if fault == here else nn.Identity()


class PointNet(nn.Module):
    """(B, 3, N), as the paper has it."""

    def __init__(self, fault=0):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv1d(3, 16, 1), nn.BatchNorm1d(16)
        self.conv2, self.bn2 = (
            nn.Conv1d(16, 24, 3 if fault == 2 else 1, padding=1 if fault == 2 else 0),
            nn.BatchNorm1d(24),
        )
        self.conv3 = nn.Conv1d(24, 32, 1)
        self.first, self.last = maybe(fault, 1, 2), maybe(fault, 3, 2)
        self.fc = nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 4))

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(self.first(x))))
        x = F.relu(self.bn2(self.conv2(x)))
        x = self.last(self.conv3(x))
        return F.log_softmax(self.fc(torch.max(x, 2)[0]), dim=1)


class Segmenting(nn.Module):
    """(B, 3, N) with a transform net, one answer for each point."""

    def __init__(self, fault=0):
        super().__init__()
        self.tnet = nn.Sequential(nn.Conv1d(3, 8, 1), nn.ReLU())
        self.tfc = nn.Linear(8, 9)
        self.mlp1, self.mlp2 = nn.Conv1d(3, 12, 1), nn.Conv1d(24, 5, 1)
        self.first, self.middle, self.last = maybe(fault, 1, 2), maybe(fault, 2, 2), maybe(fault, 3, 2)

    def forward(self, xyz):
        t = self.tfc(self.first(self.tnet(xyz)).amax(-1)).view(-1, 3, 3) + torch.eye(3).to(xyz)
        h = F.leaky_relu(self.mlp1(torch.bmm(t, xyz)))
        h = self.middle(h)
        g = h.max(dim=-1, keepdim=True).values.expand_as(h)
        return self.last(self.mlp2(torch.cat((h, g), dim=1)))


class DynamicGraph(nn.Module):
    """EdgeConv on nearest neighbours of (B, 3, N), found anew in each layer."""

    def __init__(self, fault=0, k=4):
        super().__init__()
        self.k, self.fault = k, fault
        self.edge1 = nn.Sequential(nn.Conv2d(6, 12, 1, bias=False), nn.GroupNorm(3, 12), nn.LeakyReLU(0.2))
        self.edge2 = nn.Sequential(nn.Conv2d(24, 16, 1), nn.LeakyReLU(0.2))
        self.head = nn.Linear(16, 3)
        self.first, self.last = maybe(fault, 1, 2), maybe(fault, 3, 2)

    def around(self, x):
        d = torch.cdist(x.transpose(1, 2), x.transpose(1, 2))
        i = d.topk(self.k, largest=False).indices
        near = torch.gather(x[:, :, None].expand(-1, -1, x.shape[2], -1), 3, i[:, None].expand(-1, x.shape[1], -1, -1))
        return torch.cat([near - x[..., None], x[..., None].expand_as(near)], 1)

    def forward(self, x):
        x = self.edge1(self.first(self.around(x))).amax(-1)
        if self.fault == 2:
            x = x + 0.05 * x.roll(1, -1)
        x = self.edge2(self.around(x)).amax(-1)
        return self.head(self.last(x).mean(-1))


class Flat(nn.Module):
    """(N, 3) to (N, 2), the way somebody writes it who has one cloud."""

    def __init__(self, fault=0):
        super().__init__()
        self.l1, self.l2, self.l3 = nn.Linear(3, 16), nn.Linear(32, 16), nn.Linear(16, 2)
        self.first, self.middle, self.last = (maybe(fault, k, 0) for k in (1, 2, 3))

    def forward(self, pts):
        h = torch.tanh(self.l1(self.first(pts)))
        h = self.middle(torch.cat([h, h.mean(0, keepdim=True).expand_as(h)], -1))
        return self.last(self.l3(F.silu(self.l2(h))))


class Attending(nn.Module):
    """(1, N, 3) through two pre-norm attention blocks."""

    def __init__(self, fault=0):
        super().__init__()
        self.inp = nn.Linear(3, 16)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(16, 2, 32, 0.1, batch_first=True, norm_first=True) for _ in range(2)
        )
        self.out = nn.Linear(16, 3)
        self.first, self.middle, self.last = (maybe(fault, k, 1) for k in (1, 2, 3))

    def forward(self, points):
        h = self.blocks[0](self.first(self.inp(points)))
        h = self.blocks[1](self.middle(h))
        return self.out(self.last(h).mean(1))


class Inducing(nn.Module):
    """A set transformer with inducing points and pooling by a seed."""

    def __init__(self, fault=0):
        super().__init__()
        self.emb = nn.Linear(4, 12)
        self.points = nn.Parameter(torch.randn(1, 3, 12))
        self.seed = nn.Parameter(torch.randn(1, 2, 12))
        self.into, self.back, self.pool = (nn.MultiheadAttention(12, 3, batch_first=True) for _ in range(3))
        self.first, self.middle, self.last = (maybe(fault, k, 1) for k in (1, 2, 3))

    def forward(self, x):
        h = self.first(self.emb(x))
        i, _ = self.into(self.points.expand(len(x), -1, -1), h, h)
        h = self.middle(h + self.back(h, i, i)[0])
        return self.pool(self.seed.expand(len(x), -1, -1), self.last(h), self.last(h))[0].flatten(1)


class WithFeatures(nn.Module):
    """Places and features apart, (B, N, 3) and (B, N, 5)."""

    def __init__(self, fault=0):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(8, 16), nn.Linear(16, 16), nn.Linear(32, 4)
        self.first, self.middle, self.last = (maybe(fault, k, 1) for k in (1, 2, 3))

    def forward(self, xyz, features):
        h = F.gelu(self.a(self.first(torch.cat([xyz, features], -1))))
        w = torch.softmax(-torch.cdist(xyz, xyz), -1)
        h = self.middle(w @ self.b(h))
        return self.last(self.c(torch.cat([h, h.amax(1, keepdim=True).expand_as(h)], -1)))


class TwoSets(nn.Module):
    """Let one set, (N, 4), hear another, (M, 4)."""

    def __init__(self, fault=0):
        super().__init__()
        self.q, self.k, self.v, self.out = nn.Linear(4, 8), nn.Linear(4, 8), nn.Linear(4, 8), nn.Linear(8, 3)
        self.first, self.middle, self.last = (maybe(fault, k, 0) for k in (1, 2, 3))

    def forward(self, set_a, set_b):
        q, k, v = self.q(self.first(set_a)), self.k(set_b), self.middle(self.v(set_b))
        h = torch.softmax(q @ k.t() / 8**0.5, -1) @ v
        return self.out(self.last(h)).sum(0)


class Chamfer(nn.Module):
    """Learned distance of two clouds; the argmin at ties is nobody's business."""

    def __init__(self, fault=0):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 8))
        self.last = maybe(fault, 3, 0)

    def forward(self, p1, p2):
        d = torch.cdist(self.f(p1), self.f(p2))
        return torch.stack([self.last(d.min(1).values).mean(), d.min(0).values.mean()])


class Masked(nn.Module):
    """A padded set: (1, N, 4) and a mask (1, N) that is true where there is something."""

    def __init__(self, fault=0):
        super().__init__()
        self.phi, self.rho = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 16)), nn.Linear(16, 2)
        self.first, self.last = maybe(fault, 1, 1), maybe(fault, 3, 1)

    def forward(self, x, mask):
        m = mask.to(x.dtype)[..., None]
        h = self.last(self.phi(self.first(x))) * m
        return self.rho(h.sum(1) / m.sum(1).clamp(min=1))


class KeyPadding(nn.Module):
    """An encoder on a set that is told which members are padding."""

    def __init__(self, fault=0):
        super().__init__()
        self.inp, self.att, self.out = nn.Linear(4, 8), nn.MultiheadAttention(8, 2, batch_first=True), nn.Linear(8, 2)
        self.first, self.last = maybe(fault, 1, 1), maybe(fault, 3, 1)

    def forward(self, x, key_padding_mask):
        h = self.first(self.inp(x))
        h = self.last(h + self.att(h, h, h, key_padding_mask=key_padding_mask)[0])
        return self.out(h.masked_fill(key_padding_mask[..., None], 0.0).sum(1))


class ByKeyword(nn.Module):
    """A set that has to be named."""

    def __init__(self, fault=0):
        super().__init__()
        self.enc, self.dec = nn.Linear(5, 12), nn.Linear(12, 2)
        self.first, self.last = maybe(fault, 1, 0), maybe(fault, 3, 0)

    def forward(self, *, elements):
        h = F.elu(self.enc(self.first(elements)))
        return self.dec(self.last(h).logsumexp(0))


class MaskedByKeyword(Masked):
    def forward(self, *, tokens, mask):
        return super().forward(tokens, mask)


@dataclass
class Told:
    logits: torch.Tensor
    per_point: torch.Tensor


class Pair(NamedTuple):
    pooled: torch.Tensor
    weights: torch.Tensor


class AnswersAsDataclass(nn.Module):
    """Two answers in a dataclass; a fault at the end is in the second alone."""

    def __init__(self, fault=0):
        super().__init__()
        self.f, self.g, self.h = nn.Linear(3, 8), nn.Linear(8, 4), nn.Linear(8, 2)
        self.first, self.last = maybe(fault, 1, 0), maybe(fault, 3, 0)

    def forward(self, cloud):
        z = torch.relu(self.f(self.first(cloud)))
        return Told(logits=self.g(z.mean(0, keepdim=True)), per_point=self.last(self.h(z)))


class AnswersAsNamedTuple(nn.Module):
    """Attention pooling that returns its weights as well."""

    def __init__(self, fault=0):
        super().__init__()
        self.score, self.value = nn.Linear(6, 1), nn.Linear(6, 5)
        self.first, self.last = maybe(fault, 1, 1), maybe(fault, 3, 1)

    def forward(self, x):
        w = torch.softmax(self.score(self.first(x)), 1)
        return Pair((w * self.value(x)).sum(1), self.last(w))


class Duplicates(nn.Module):
    """Keeps the three points of the largest score: where points are equal, which is taken must not matter."""

    def __init__(self, fault=0):
        super().__init__()
        self.score, self.out = nn.Linear(3, 1), nn.Linear(3, 4)
        self.tie = 1e-7 if fault else 0.0

    def forward(self, x):
        s = self.score(x)[:, 0]
        s = s + self.tie * torch.arange(len(s), dtype=s.dtype)
        return self.out((x * s[:, None])[s.topk(3).indices].mean(0))
