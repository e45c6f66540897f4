"""Sets: sums, attention with inducing points and latents, experts, flows, networks made by networks, sorting, ties."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.foreign.case import Case, Given, drawn, pair

ROWS = lambda: Given((drawn(13, 6),), ("nodes",))  # noqa: E731
BATCH = lambda: Given((drawn(1, 13, 6),), ("nodes@1",))  # noqa: E731
COLUMNS = lambda: Given((drawn(1, 6, 13),), ("nodes@2",))  # noqa: E731


def masked() -> Given:
    mask = torch.ones(1, 13)
    mask[0, [2, 5, 11]] = 0
    return Given((drawn(1, 13, 6), mask), ("nodes@1", "nodes@1"))


class PermEquivariant(nn.Module):
    """Zaheer et al.: each less the mean of all; or less the mean of those before it."""

    def __init__(self, i: int, o: int, running: bool) -> None:
        super().__init__()
        self.gamma, self.lam, self.running = nn.Linear(i, o), nn.Linear(i, o, bias=False), running

    def forward(self, x: Tensor) -> Tensor:
        if self.running:
            mean = x.cumsum(0) / torch.arange(1, len(x) + 1, device=x.device)[:, None]
        else:
            mean = x.mean(0, keepdim=True)
        return self.gamma(x) - self.lam(mean)


def deep_sets(running: bool) -> nn.Module:
    return nn.Sequential(
        PermEquivariant(6, 8, False), nn.ELU(), PermEquivariant(8, 8, running), nn.Tanh(), nn.Linear(8, 2)
    )


class MAB(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.att = nn.MultiheadAttention(dim, 2, batch_first=True)
        self.ln0, self.ln1, self.fc = nn.LayerNorm(dim), nn.LayerNorm(dim), nn.Linear(dim, dim)

    def forward(self, q: Tensor, k: Tensor) -> Tensor:
        h = self.ln0(q + self.att(q, k, k, need_weights=False)[0])
        return self.ln1(h + F.relu(self.fc(h)))


class ISAB(nn.Module):
    """Lee et al., Set Transformer; the fault: inducing points are added to the first members."""

    def __init__(self, dim: int, added: bool) -> None:
        super().__init__()
        self.inducing, self.added = nn.Parameter(torch.randn(1, 4, dim)), added
        self.mab0, self.mab1 = MAB(dim), MAB(dim)

    def forward(self, x: Tensor) -> Tensor:
        h = self.mab0(self.inducing.expand(len(x), -1, -1), x)
        if self.added:
            x = torch.cat([x[:, :4] + 0.1 * self.inducing, x[:, 4:]], 1)
        return self.mab1(x, h)


class SetTransformer(nn.Module):
    def __init__(self, added: bool) -> None:
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(6, 8), ISAB(8, False), ISAB(8, added))
        self.seed, self.pma, self.dec = nn.Parameter(torch.randn(1, 2, 8)), MAB(8), nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.dec(self.pma(self.seed.repeat(len(x), 1, 1), self.enc(x)))


class Fourier(nn.Module):
    def __init__(self, places: bool) -> None:
        super().__init__()
        self.places = places

    def forward(self, x: Tensor) -> Tensor:
        if not self.places:
            return torch.cat([x, x.sin(), x.cos()], -1)
        at = torch.linspace(-1, 1, x.shape[1], dtype=x.dtype, device=x.device)[None, :, None].expand_as(x)
        return torch.cat([x, (torch.pi * at).sin(), (torch.pi * at).cos()], -1)


class Perceiver(nn.Module):
    def __init__(self, places: bool) -> None:
        super().__init__()
        self.encode, self.inp = Fourier(places), nn.Linear(18, 8)
        self.latents = nn.Parameter(torch.randn(5, 8))
        self.cross, self.inner = MAB(8), nn.ModuleList([MAB(8), MAB(8)])
        self.to_logits = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        z = self.cross(self.latents[None].expand(x.size(0), -1, -1), self.inp(self.encode(x)))
        for block in self.inner:
            z = block(z, z)
        return self.to_logits(z.mean(1))


class TNet(nn.Module):
    def __init__(self, dim: int, part: int | None) -> None:
        super().__init__()
        self.conv, self.fc, self.dim, self.part = nn.Conv1d(dim, 16, 1), nn.Linear(16, dim * dim), dim, part

    def forward(self, x: Tensor) -> Tensor:
        top = self.conv(x).relu()[..., : self.part].max(2)[0]
        return self.fc(top).view(-1, self.dim, self.dim) + torch.eye(self.dim, dtype=x.dtype, device=x.device)


class PointNet(nn.Module):
    def __init__(self, part: int | None) -> None:
        super().__init__()
        self.stn, self.fstn = TNet(6, None), TNet(8, part)
        self.mlp1 = nn.Sequential(nn.Conv1d(6, 8, 1), nn.BatchNorm1d(8), nn.ReLU())
        self.mlp2 = nn.Sequential(nn.Conv1d(8, 16, 1), nn.BatchNorm1d(16))
        self.seg = nn.Conv1d(24, 3, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.bmm(x.transpose(2, 1), self.stn(x)).transpose(2, 1)
        x = self.mlp1(x)
        x = torch.bmm(x.transpose(2, 1), self.fstn(x)).transpose(2, 1)
        top = self.mlp2(x).max(2, keepdim=True)[0]
        return self.seg(torch.cat([x, top.expand(-1, -1, x.shape[2])], 1)).log_softmax(1)


class MoE(nn.Module):
    """Switch: each token goes to one expert; with a capacity, whoever comes late is passed over."""

    def __init__(self, dim: int, capacity: int | None) -> None:
        super().__init__()
        self.router = nn.Linear(dim, 3)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(dim, 12), nn.GELU(), nn.Linear(12, dim)) for _ in range(3))
        self.capacity = capacity

    def forward(self, x: Tensor) -> Tensor:
        weight, which = self.router(x).softmax(-1).max(-1)
        out = torch.zeros_like(x)
        for k, expert in enumerate(self.experts):
            mine = (which == k).nonzero()[:, 0][: self.capacity]
            out[mine] = expert(x[mine]) * weight[mine, None]
        return x + out


def switch(capacity: int | None) -> nn.Module:
    return nn.Sequential(nn.LayerNorm(6), MoE(6, None), nn.LayerNorm(6), MoE(6, capacity))


class Hyper(nn.Module):
    """A layer whose weights are said by the set; or by its first member."""

    def __init__(self, first: bool) -> None:
        super().__init__()
        self.generate, self.first = nn.Linear(6, 6 * 4 + 4), first

    def forward(self, x: Tensor) -> Tensor:
        z = self.generate(x[0] if self.first else x.mean(0))
        return F.linear(x, z[:24].view(4, 6), z[24:])


class HyperNet(nn.Module):
    def __init__(self, first: bool) -> None:
        super().__init__()
        self.stem, self.hyper, self.tail = nn.Linear(6, 6), Hyper(first), nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.tail(F.selu(self.hyper(F.selu(self.stem(x)))))


@dataclass
class Latent:
    mu: Tensor
    logvar: Tensor
    reconstruction: Tensor


class LogVar(nn.Module):
    def __init__(self, sliced: bool) -> None:
        super().__init__()
        self.fc, self.sliced = nn.Linear(8, 3), sliced

    def forward(self, h: Tensor) -> Tensor:
        return self.fc(h[1:] if self.sliced else h).logsumexp(0, keepdim=True)


class SetVAE(nn.Module):
    def __init__(self, sliced: bool) -> None:
        super().__init__()
        self.phi, self.mu, self.logvar, self.dec = nn.Linear(6, 8), nn.Linear(8, 3), LogVar(sliced), nn.Linear(11, 6)

    def forward(self, x: Tensor) -> Latent:
        h = F.softplus(self.phi(x))
        mu, logvar = self.mu(h.mean(0, keepdim=True)), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp() if self.training else mu
        return Latent(mu, logvar, self.dec(torch.cat([h, z.expand(len(h), -1)], 1)))


class Coupling(nn.Module):
    """A step of a flow: half of the channels scales the other; or half of the set."""

    def __init__(self, of_set: bool) -> None:
        super().__init__()
        self.net, self.of_set = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 6)), of_set

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        a, b = x.chunk(2, -1)
        s, t = self.net(a).chunk(2, -1)
        s = s.tanh()
        if self.of_set:
            s = torch.cat([s[:6] * 0, s[6:]])
        return torch.cat([b * s.exp() + t, a], -1), s.sum()


class Flow(nn.Module):
    def __init__(self, of_set: bool) -> None:
        super().__init__()
        self.steps = nn.ModuleList([Coupling(False), Coupling(of_set), Coupling(False)])

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        total = torch.zeros((), dtype=x.dtype, device=x.device)
        for step in self.steps:
            x, det = step(x)
            total = total + det
        return x, total


class SortPool(nn.Module):
    """Channels in the order of one of them; where that is rounded, members of one score keep the order they came in."""

    def __init__(self, rounded: bool) -> None:
        super().__init__()
        self.rounded = rounded

    def forward(self, x: Tensor) -> Tensor:
        key = (4 * x[:, -1]).round() if self.rounded else x[:, -1]
        return x[key.argsort(descending=True, stable=True)[:5]].flatten()[None]


def sort_pool(rounded: bool) -> nn.Module:
    return nn.Sequential(nn.Linear(6, 4), nn.Tanh(), SortPool(rounded), nn.Linear(20, 3))


class EdgeConv(nn.Module):
    def __init__(self, i: int, o: int, band: bool) -> None:
        super().__init__()
        self.mlp, self.band = nn.Sequential(nn.Linear(2 * i, o), nn.LeakyReLU(0.2)), band

    def forward(self, x: Tensor) -> Tensor:
        far = torch.cdist(x, x)
        if self.band:  # of those far apart in the list, none
            at = torch.arange(len(x), device=x.device)
            far = far + 1e3 * ((at[:, None] - at).abs() > 8)
        near = far.topk(4, largest=False).indices
        centre = x[:, None].expand(-1, 4, -1)
        return self.mlp(torch.cat([x[near] - centre, centre], -1)).max(1).values


class DGCNN(nn.Module):
    def __init__(self, band: bool) -> None:
        super().__init__()
        self.conv1, self.conv2, self.fc = EdgeConv(6, 8, False), EdgeConv(8, 8, band), nn.Linear(16, 3)

    def forward(self, x: Tensor) -> Tensor:
        a = self.conv1(x)
        b = self.conv2(a)
        return self.fc(torch.cat([a, b], 1).amax(0, keepdim=True))


class MaskedBlock(nn.Module):
    def __init__(self, counted: bool) -> None:
        super().__init__()
        self.att, self.norm = nn.MultiheadAttention(6, 2, batch_first=True, dropout=0.1), nn.LayerNorm(6)
        self.counted = counted

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        if self.counted:
            x = x + 0.1 * mask.cumsum(1)[..., None]
        h, _ = self.att(x, x, x, key_padding_mask=mask < 0.5)
        return self.norm(x + h) * mask[..., None]


class Masked(nn.Module):
    def __init__(self, counted: bool) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([MaskedBlock(False), MaskedBlock(counted)])
        self.out = nn.Linear(6, 2)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x, mask)
        return self.out(x.sum(1) / mask.sum(1, keepdim=True))


class Slots(nn.Module):
    """Locatello et al.: slots compete for members; they begin as parameters, or as the first members."""

    def __init__(self, members: bool) -> None:
        super().__init__()
        self.slots, self.k, self.v, self.members = (
            nn.Parameter(torch.randn(3, 6)),
            nn.Linear(6, 6),
            nn.Linear(6, 6),
            members,
        )
        self.gru = nn.GRUCell(6, 6)

    def forward(self, x: Tensor) -> Tensor:
        slots, k, v = x[:3] if self.members else self.slots, self.k(x), self.v(x)
        for _ in range(3):
            a = (k @ slots.t() / 6**0.5).softmax(-1) + 1e-8
            slots = self.gru((a / a.sum(0)).t() @ v, slots)
        return slots


class Mixer(nn.Module):
    """Hears all others through a matrix between members: that of one number on the diagonal, one beside it, or free."""

    def __init__(self, apart: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(0.5 * torch.eye(13) + 0.1 + apart * torch.randn(13, 13))

    def forward(self, x: Tensor) -> Tensor:
        return F.gelu(self.weight @ x)


def mixing(apart: float) -> nn.Module:
    return nn.Sequential(nn.Linear(6, 6), Mixer(0.0), nn.Linear(6, 6), Mixer(apart), nn.Linear(6, 2))


SAME = "permutation"
CASES: tuple[Case, ...] = (
    *pair("Deep Sets", lambda: deep_sets(False), lambda: deep_sets(True), ["2"], ROWS, ("nodes",), SAME),
    *pair("Set Transformer", lambda: SetTransformer(False), lambda: SetTransformer(True), ["enc.2"], BATCH,
          ("fixed",), SAME,
          hooks=False),
    *pair("Perceiver", lambda: Perceiver(False), lambda: Perceiver(True), ["encode"], BATCH, ("fixed",), SAME),
    *pair("PointNet", lambda: PointNet(None), lambda: PointNet(7), ["fstn"], COLUMNS, ("nodes@2",), SAME, hooks=False),
    *pair("experts", lambda: switch(None), lambda: switch(3), ["3"], ROWS, ("nodes",), SAME, hooks=False),
    *pair("weights from the set", lambda: HyperNet(False), lambda: HyperNet(True), ["hyper"], ROWS, ("nodes",), SAME,
          hooks=False),
    *pair("VAE of sets", lambda: SetVAE(False), lambda: SetVAE(True), ["logvar"], ROWS, ("fixed", "fixed", "nodes"),
          SAME,
          hooks=False),
    *pair("a flow", lambda: Flow(False), lambda: Flow(True), ["steps.1"], ROWS, ("nodes", "fixed"), SAME),
    *pair("sorting", lambda: sort_pool(False), lambda: sort_pool(True), ["2"], ROWS, ("fixed",), SAME),
    *pair("nearest ones", lambda: DGCNN(False), lambda: DGCNN(True), ["conv2"], ROWS, ("fixed",), SAME),
    *pair("a mask", lambda: Masked(False), lambda: Masked(True), ["blocks.1"], masked, ("fixed",), SAME, hooks=False),
    *pair("slots", lambda: nn.Sequential(nn.Linear(6, 6), Slots(False)), lambda: nn.Sequential(nn.Linear(6, 6),
          Slots(True)),
          ["1"], ROWS, ("fixed",), SAME, hooks=False),
    *pair("a matrix between members", lambda: mixing(0.0), lambda: mixing(1e-5), ["3"], ROWS, ("nodes",), SAME,
          limit=1e-6),
)  # fmt: skip
