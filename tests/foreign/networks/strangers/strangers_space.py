"""Points in space and volumes: scalars and vectors, chirality, energies and forces, frames, e3nn, cubes."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.foreign.case import Case, Given, drawn, pair
from tests.foreign.their_files import their_file


def cloud() -> Given:
    return Given((drawn(9, 3),), ("places@1",), form="points", names=("position",))


def molecule() -> Given:
    return Given((drawn(9, 4, seed=2), drawn(9, 3)), ("fixed", "places@1"), form="points", names=("x", "position"))


def volume(size: int = 7) -> Given:
    return Given((drawn(1, 2, size, size, size),), ("volume",))


class EGCL(nn.Module):
    """Satorras et al., all pairs; the fault: places themselves, not only distances, reach the states of nodes."""

    def __init__(self, dim: int, absolute: float) -> None:
        super().__init__()
        self.edge = nn.Sequential(nn.Linear(2 * dim + 1, 12), nn.SiLU(), nn.Linear(12, 12), nn.SiLU())
        self.node = nn.Sequential(nn.Linear(dim + 12, 12), nn.SiLU(), nn.Linear(12, dim))
        self.coord = nn.Linear(12, 1, bias=False)
        self.absolute = absolute

    def forward(self, h: Tensor, pos: Tensor) -> tuple[Tensor, Tensor]:
        n = len(h)
        diff = pos[:, None] - pos[None]
        d2 = diff.pow(2).sum(-1, keepdim=True) + self.absolute * pos[:, None, :1]
        m = self.edge(torch.cat([h[:, None].expand(n, n, -1), h[None].expand(n, n, -1), d2], -1))
        m = m * (1 - torch.eye(n, dtype=m.dtype, device=m.device))[..., None]
        pos = pos + (diff * self.coord(m).tanh()).mean(1)
        return h + self.node(torch.cat([h, m.sum(1)], -1)), pos


class EGNN(nn.Module):
    def __init__(self, absolute: float) -> None:
        super().__init__()
        self.layers = nn.ModuleList([EGCL(4, 0), EGCL(4, absolute)])

    def forward(self, x: Tensor, pos: Tensor) -> tuple[Tensor, Tensor]:
        for layer in self.layers:
            x, pos = layer(x, pos)
        return x, pos


class CFConv(nn.Module):
    """Schütt et al.; the fault: distances along the axes, added."""

    def __init__(self, dim: int, p: float) -> None:
        super().__init__()
        self.filters = nn.Sequential(nn.Linear(16, dim), nn.Softplus(), nn.Linear(dim, dim))
        self.lin1, self.lin2, self.p = nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim), p
        self.register_buffer("centres", torch.linspace(0, 5, 16))

    def forward(self, h: Tensor, pos: Tensor) -> Tensor:
        i, j = torch.triu_indices(len(h), len(h), 1, device=h.device)
        i, j = torch.cat([i, j]), torch.cat([j, i])
        d = torch.linalg.vector_norm(pos[i] - pos[j], ord=self.p, dim=-1)
        w = self.filters(torch.exp(-4 * (d[:, None] - self.centres.to(d.dtype)) ** 2)) * (torch.cos(d / 3) + 1)[:, None]
        return h + self.lin2(torch.zeros_like(h).index_add(0, i, w * self.lin1(h)[j])).tanh()


class SchNet(nn.Module):
    def __init__(self, p: float) -> None:
        super().__init__()
        self.embedding = nn.Linear(4, 8)
        self.interactions = nn.ModuleList([CFConv(8, 2.0), CFConv(8, p)])
        self.readout = nn.Sequential(nn.Linear(8, 8), nn.Softplus(), nn.Linear(8, 1))

    def forward(self, x: Tensor, pos: Tensor) -> Tensor:
        h = self.embedding(x)
        for block in self.interactions:
            h = block(h, pos)
        return self.readout(h).sum(0, keepdim=True)


class VNLinearReLU(nn.Module):
    """Deng et al., Vector Neurons; the fault: a bias on vectors."""

    def __init__(self, i: int, o: int, bias: float) -> None:
        super().__init__()
        self.map, self.direction = nn.Linear(i, o, bias=False), nn.Linear(i, o, bias=False)
        self.bias = nn.Parameter(bias * torch.randn(o, 1)) if bias else None

    def forward(self, v: Tensor) -> Tensor:  # (points, channels, 3)
        q, k = self.map(v.transpose(1, 2)).transpose(1, 2), self.direction(v.transpose(1, 2)).transpose(1, 2)
        if self.bias is not None:
            q = q + self.bias
        dot = (q * k).sum(-1, keepdim=True)
        return torch.where(dot >= 0, q, q - dot / (k.pow(2).sum(-1, keepdim=True) + 1e-9) * k)


class VNNet(nn.Module):
    def __init__(self, bias: float) -> None:
        super().__init__()
        self.layers = nn.Sequential(VNLinearReLU(2, 6, 0), VNLinearReLU(6, 6, bias), VNLinearReLU(6, 4, 0))
        self.head = nn.Linear(4, 2)

    def forward(self, pos: Tensor) -> tuple[Tensor, Tensor]:
        centred = pos - pos.mean(0)
        near = centred[torch.cdist(pos, pos).topk(4, largest=False).indices].mean(1)
        v = self.layers(torch.stack([centred, near], 1))
        return self.head(v.norm(dim=-1).mean(0, keepdim=True)), v.mean(1)


class Gate(nn.Module):
    """PaiNN: vectors are scaled by numbers; the fault: component by component."""

    def __init__(self, dim: int, by_component: bool) -> None:
        super().__init__()
        self.mix = nn.Linear(dim, dim, bias=False)
        self.phi, self.by_component = (
            nn.Sequential(nn.Linear(2 * dim, dim), nn.SiLU(), nn.Linear(dim, 2 * dim)),
            by_component,
        )

    def forward(self, s: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        u = self.mix(v)
        a, b = self.phi(torch.cat([s, u.pow(2).sum(1)], -1)).chunk(2, -1)
        return s + a, v + (u * b[:, None] if not self.by_component else torch.tanh(u) * b[:, None])


class PaiNN(nn.Module):
    def __init__(self, by_component: bool) -> None:
        super().__init__()
        self.embed, self.radial = nn.Linear(4, 6), nn.Linear(8, 6)
        self.updates = nn.ModuleList([Gate(6, False), Gate(6, by_component)])

    def forward(self, x: Tensor, pos: Tensor) -> dict[str, Tensor]:
        s = self.embed(x)
        way = pos[None] - pos[:, None]
        d = (way.pow(2).sum(-1, keepdim=True) + 1e-6).sqrt()
        w = self.radial(torch.sin(d * torch.arange(1, 9, dtype=d.dtype, device=d.device)) / d)
        v = torch.einsum("ijk,ijc,jc->ikc", way / d, w, s)
        for update in self.updates:
            s, v = update(s, v)
        return {"charges": s, "dipole": v.sum((0, 2))[None]}


class Crossed(nn.Module):
    """A cross product of a vector with a cross product is a vector; one cross product alone is none in a mirror."""

    def __init__(self, once: bool) -> None:
        super().__init__()
        self.once = once

    def forward(self, pos: Tensor) -> Tensor:
        a = pos - pos.mean(0)
        b = a + (a * a.norm(dim=-1, keepdim=True)).mean(0)
        c = torch.linalg.cross(a, b)
        return a + (c if self.once else torch.linalg.cross(a, c))


class Chain(nn.Module):
    def __init__(self, once: bool) -> None:
        super().__init__()
        self.one, self.two = Crossed(False), Crossed(once)

    def forward(self, pos: Tensor) -> Tensor:
        return self.two(self.one(pos))


class Energy(nn.Module):
    def __init__(self, field: float) -> None:
        super().__init__()
        self.pairs, self.field = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1)), field

    def forward(self, pos: Tensor) -> Tensor:
        i, j = torch.triu_indices(len(pos), len(pos), 1, device=pos.device)
        e = self.pairs((pos[i] - pos[j]).norm(dim=-1, keepdim=True)).sum()
        return e + self.field * (pos[:, 2] ** 2).sum()


class Forces(nn.Module):
    """An energy and its gradient; the fault: a weak trap along z."""

    def __init__(self, field: float) -> None:
        super().__init__()
        self.energy = Energy(field)

    def forward(self, pos: Tensor) -> tuple[Tensor, Tensor]:
        with torch.enable_grad():
            pos = pos.detach().requires_grad_(True)
            e = self.energy(pos)
            (g,) = torch.autograd.grad(e, pos)
        return e.detach().view(1, 1), -g


class Frames(nn.Module):
    """Puny et al., frame averaging by principal axes over all signs; or one choice of signs."""

    def __init__(self, averaged: bool) -> None:
        super().__init__()
        self.net, self.averaged = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 3)), averaged

    def forward(self, pos: Tensor) -> Tensor:
        a = pos - pos.mean(0)
        axes = torch.linalg.eigh(a.t() @ a)[1]
        signs = [torch.tensor(s, dtype=a.dtype, device=a.device) for s in product((1.0, -1.0), repeat=3)]
        frames = [axes * s for s in signs] if self.averaged else [axes]
        return torch.stack([self.net(a @ f) @ f.t() for f in frames]).mean(0)


class Tensors(nn.Module):
    """e3nn: harmonics of relative places, a tensor product, a gate; the fault: an activation on parts of vectors."""

    def __init__(self, on_parts: bool) -> None:
        super().__init__()
        from e3nn import o3

        self.harmonics = o3.SphericalHarmonics("1x0e+1x1o+1x2e", normalize=True, normalization="component")
        self.tp = o3.FullyConnectedTensorProduct("4x0e", "1x0e+1x1o+1x2e", "4x0e+3x1o", internal_weights=True)
        self.lin = o3.Linear("4x0e+3x1o", "4x0e+3x1o")
        self.act = Parts(on_parts)
        self.out = o3.Linear("4x0e+3x1o", "1x0e+1x1o")

    def forward(self, x: Tensor, pos: Tensor) -> tuple[Tensor, Tensor]:
        i, j = torch.triu_indices(len(x), len(x), 1, device=x.device)
        i, j = torch.cat([i, j]), torch.cat([j, i])
        way = pos[j] - pos[i]
        m = self.tp(x[j], self.harmonics(way)) * torch.exp(-way.norm(dim=-1, keepdim=True))
        h = m.new_zeros(len(x), m.shape[1]).index_add(0, i, m)
        y = self.out(self.act(self.lin(h)))
        return y[:, :1], y[:, 1:]


class Parts(nn.Module):
    def __init__(self, on_parts: bool) -> None:
        super().__init__()
        self.on_parts = on_parts

    def forward(self, h: Tensor) -> Tensor:
        s, v = h[:, :4], h[:, 4:]
        if self.on_parts:
            return torch.cat([F.silu(s), v.tanh()], 1)
        return torch.cat([F.silu(s), (v.unflatten(1, (3, 3)) * s[:, :3, None].sigmoid()).flatten(1)], 1)


class Moments(nn.Module):
    """Steerable by hand: traceless squares of the ways to others; the fault: less of the trace is taken off along z."""

    def __init__(self, skewed: bool) -> None:
        super().__init__()
        self.skewed, self.w = skewed, nn.Parameter(torch.randn(3))

    def forward(self, pos: Tensor) -> Tensor:
        a = pos - pos.mean(0)
        q = torch.einsum("ni,nj->nij", a, a)
        trace = q.diagonal(dim1=1, dim2=2).sum(-1)
        eye = torch.eye(3, dtype=a.dtype, device=a.device)
        if self.skewed:
            eye = eye * eye.new_tensor([1.0, 1.0, 0.99])
        q = q - trace[:, None, None] * eye / 3
        invariants = torch.stack([torch.linalg.matrix_norm(q), trace, (q @ q @ q).diagonal(dim1=1, dim2=2).sum(-1)], -1)
        return (invariants * self.w).sum(0, keepdim=True)


def cube(proper: bool) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    found = []
    for axes in permutations(range(3)):
        for flips in product((0, 1), repeat=3):
            odd = sum(flips) + sum(axes[i] > axes[j] for i in range(3) for j in range(i + 1, 3))
            if not proper or odd % 2 == 0:
                found.append((axes, tuple(k for k in range(3) if flips[k])))
    return found


class Averaged3d(nn.Conv3d):
    """A filter averaged over the cube's symmetries; the fault: those of a box, as if z were another kind of axis."""

    def __init__(self, i: int, o: int, box: bool = False, **more: int) -> None:
        super().__init__(i, o, 3, **more)
        self.box = box

    def forward(self, x: Tensor) -> Tensor:
        poses = [(a, f) for a, f in cube(False) if not self.box or a[0] == 0]
        w = sum(self.weight.permute(0, 1, *(2 + k for k in a)).flip([2 + k for k in f]) for a, f in poses) / len(poses)
        return F.conv3d(x, w, self.bias, self.stride, self.padding)


def cubes(box: bool) -> nn.Module:
    return nn.Sequential(
        Averaged3d(2, 5, padding=1), nn.BatchNorm3d(5), nn.ReLU(), Averaged3d(5, 5, box, padding=1, stride=2),
            nn.Softsign(),
        nn.AdaptiveAvgPool3d(1), nn.Flatten(1), nn.Linear(5, 3),
    )  # fmt: skip


class Poses(nn.Module):
    """All 24 turned copies of a scan through one network; or all but the last."""

    def __init__(self, left_out: int) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Conv3d(2, 4, 3), nn.ReLU(), nn.Conv3d(4, 4, 3))
        self.poses = cube(True)[: 24 - left_out]

    def forward(self, x: Tensor) -> Tensor:
        seen = [
            self.net(x.permute(0, 1, *(2 + k for k in a)).flip([2 + k for k in f])).amax((2, 3, 4))
            for a, f in self.poses
        ]
        return torch.stack(seen).mean(0)


class UNet3d(nn.Module):
    def __init__(self, mode: str) -> None:
        super().__init__()
        c = lambda i, o, m="circular": nn.Conv3d(i, o, 3, padding=1, padding_mode=m)  # noqa: E731
        self.down, self.mid, self.up = c(2, 4), c(4, 6), c(10, 4, mode)
        self.norm, self.out = nn.InstanceNorm3d(6), nn.Conv3d(4, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        a = F.leaky_relu(self.down(x))
        b = F.leaky_relu(self.norm(self.mid(F.avg_pool3d(a, 2))))
        b = F.interpolate(b, scale_factor=2, mode="nearest")
        return self.out(F.leaky_relu(self.up(torch.cat([a, b], 1))))


ENERGIES = Path(__file__).parent / "theirs" / "energies.py"


def energies(name: str, *culprit: str) -> tuple[Case, ...]:
    """Return networks that answer one number, or have a module that does, called and opened from a file."""

    def made(fault: int) -> nn.Module:
        found: nn.Module = getattr(their_file(ENERGIES), name)(fault=fault)
        return found

    found: list[Case] = []
    for door in (False, True):
        sound, broken = pair(f"{name}, from a file" if door else name, lambda: made(0), lambda: made(1), culprit, cloud,
                             ("fixed",), "O3", hooks=False)  # fmt: skip
        of_file = {"sample": "glycine"} if door else {}
        found += [
            replace(case, door=f"{ENERGIES}:{name}(fault={k})" if door else "", **of_file)
            for k, case in enumerate((sound, broken))
        ]
    return tuple(found)


CASES: tuple[Case, ...] = (
    *energies("Energy"), *energies("Trained", "energy"),
    *pair("EGNN", lambda: EGNN(0), lambda: EGNN(1e-2), ["layers.1"], molecule, ("fixed", "places@1"), "E3",
          hooks=False),
    *pair("SchNet", lambda: SchNet(2.0), lambda: SchNet(1.0), ["interactions.1"], molecule, ("fixed",), "E3",
          hooks=False),
    *pair("vector neurons", lambda: VNNet(0), lambda: VNNet(0.05), ["layers.1"], cloud, ("fixed", "arrows@1"), "O3",
          hooks=False),
    *pair("PaiNN", lambda: PaiNN(False), lambda: PaiNN(True), ["updates.1"], molecule, ("fixed", "arrows@1"), "SE3",
          hooks=False),
    *pair("cross products", lambda: Chain(False), lambda: Chain(True), ["two"], cloud, ("arrows@1",), "O3",
          hooks=False),
    *pair("forces", lambda: Forces(0), lambda: Forces(1e-3), ["energy"], cloud, ("fixed", "arrows@1"), "SO3",
          hooks=False),
    *pair("principal axes", lambda: Frames(True), lambda: Frames(False), [], cloud, ("arrows@1",), "SO3", hooks=False),
    *pair("tensor product", lambda: Tensors(False), lambda: Tensors(True), ["act"], molecule,
          ("fixed", "arrows@1"), "E3", hooks=False),
    *pair("quadrupoles", lambda: nn.Sequential(Moments(False), nn.Linear(3, 2)),
          lambda: nn.Sequential(Moments(True), nn.Linear(3, 2)), ["0"], cloud, ("fixed",), "E3", hooks=False),
    *pair("filters of the cube", lambda: cubes(False), lambda: cubes(True), ["3"], volume, ("fixed",), "Oh",
          hooks=False),
    *pair("24 poses", lambda: Poses(0), lambda: Poses(1), [], volume, ("fixed",), "O", hooks=False),
    *pair("U-Net of volumes", lambda: UNet3d("circular"), lambda: UNet3d("replicate"), ["up"],
          lambda: Given((drawn(1, 2, 8, 8, 8),), ("volume",), step=2), ("volume",), "Z3", hooks=False),
)  # fmt: skip
