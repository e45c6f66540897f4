"""Networks on meshes whose vertices are nodes: operators as matrices, lengths at edges, frames by hand."""

from __future__ import annotations

import math
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from tests.foreign.case import Case, Given, drawn

# an icosahedron, numbered in no particular order
_G = (1 + math.sqrt(5)) / 2
VERTICES = torch.tensor(
    [
        [-1, _G, 0],
        [1, _G, 0],
        [-1, -_G, 0],
        [1, -_G, 0],
        [0, -1, _G],
        [0, 1, _G],
        [0, -1, -_G],
        [0, 1, -_G],
        [_G, 0, -1],
        [_G, 0, 1],
        [-_G, 0, -1],
        [-_G, 0, 1],
    ]
)


def positions():
    return VERTICES + 0.15 * drawn(12, 3, seed=2)


def edge_index():
    near = torch.cdist(VERTICES, VERTICES)
    return ((near > 0) & (near < 2.1)).nonzero().t().contiguous()


def lengths():
    p, (i, j) = positions(), edge_index()
    return (p[i] - p[j]).norm(dim=1, keepdim=True)


def laplacian():
    w = torch.zeros(12, 12)
    i, j = edge_index()
    w[i, j] = 1 / lengths()[:, 0]
    return torch.diag(w.sum(1)) - w


def surface(*what, wide=3):
    made = {
        "x": lambda: drawn(12, wide),
        "index": edge_index,
        "length": lengths,
        "lap": laplacian,
        "pos": positions,
        "mass": lambda: laplacian().diagonal().clone(),
        "normal": lambda: F.normalize(positions(), dim=1),
    }
    acts = {"index": "index", "length": "edges", "lap": "pairs"}
    return Given(tuple(made[w]() for w in what), tuple(acts.get(w, "nodes") for w in what))


class Diffusion(nn.Module):
    """Heat of learnt times by an implicit step, as DiffusionNet has it."""

    def __init__(self, fault="", at=1, c=5):
        super().__init__()
        self.enter = nn.Linear(3, c)
        self.time = nn.ParameterList(nn.Parameter(torch.rand(c)) for _ in range(2))
        self.mlp = nn.ModuleList(nn.Sequential(nn.Linear(2 * c, c), nn.Mish(), nn.Linear(c, c)) for _ in range(2))
        self.out = nn.Linear(c, 2)
        self.fault, self.at = fault, at

    def forward(self, x, lap):
        x = self.enter(x)
        for k, (time, mlp) in enumerate(zip(self.time, self.mlp)):
            use = lap
            if k == self.at and self.fault == "pinned":
                use = lap + torch.diag(F.one_hot(torch.tensor(0), len(lap)).to(x.dtype))
            elif k == self.at and self.fault == "triangle":
                use = lap.tril()
            steps = torch.eye(len(lap), dtype=x.dtype) + time.abs()[:, None, None] * use
            heat = torch.linalg.solve(steps, x.t()[..., None])[..., 0].t()
            x = x + mlp(torch.cat([x, heat], 1))
        return self.out(x)


class Lengths(nn.Module):
    """Messages along edges, weighed by their lengths."""

    def __init__(self, fault="", at=1):
        super().__init__()
        self.first, self.second = nn.Linear(4, 6), nn.Linear(7, 6)
        self.out = nn.Linear(6, 2)
        self.fault, self.at = fault, at

    def forward(self, x, edge_index, length):
        i, j = edge_index
        for k, layer in enumerate((self.first, self.second)):
            m = torch.tanh(layer(torch.cat([x[i], length], 1)))
            if k == self.at and self.fault == "first ring":
                m = m * (torch.arange(len(m)) < 40)[:, None]
            x = torch.zeros(len(x), m.shape[1], dtype=x.dtype).index_add(0, j, m)
            if k == self.at and self.fault == "numbers":
                x = x + torch.linspace(-1, 1, len(x), dtype=x.dtype)[:, None]
        return self.out(x)


class Tangent(nn.Module):
    """Frames by hand: each vertex's first axis leads to a neighbour, the nearest or the first of the list."""

    def __init__(self, axis="nearest", c=4):
        super().__init__()
        self.taps = nn.Parameter(torch.randn(3, c, 3) / 3)
        self.out = nn.Linear(c, 2)
        self.axis = axis

    def forward(self, x, edge_index, pos, normal):
        i, j = edge_index
        n = len(x)
        d = pos[i] - pos[j]
        if self.axis == "nearest":
            far = torch.full((n, n), math.inf, dtype=x.dtype)
            far[j, i] = d.norm(dim=1)
            lead = far.argmin(1)
        else:
            lead = torch.full((n,), n, dtype=torch.long).scatter_reduce(0, j, i, "amin")
        e = F.normalize(pos[lead] - pos, dim=1)
        e = F.normalize(e - (e * normal).sum(1, keepdim=True) * normal, dim=1)
        f = torch.linalg.cross(normal, e)
        angle = torch.atan2((d * f[j]).sum(1), (d * e[j]).sum(1))
        basis = torch.stack([torch.ones_like(angle), angle.cos(), angle.sin()])
        m = torch.einsum("be,bci,ei->ec", basis, self.taps, x[i])
        return self.out(torch.zeros(n, m.shape[1], dtype=x.dtype).index_add(0, j, m))


class Spectral(nn.Module):
    """Filters in the eigenbasis of the Laplacian."""

    def __init__(self, fault=False):
        super().__init__()
        self.filter = nn.Sequential(nn.Linear(1, 6), nn.Tanh(), nn.Linear(6, 1))
        self.mix = nn.Linear(3, 2)
        self.fault = fault

    def forward(self, x, lap):
        values, vectors = torch.linalg.eigh(lap)
        y = vectors @ (self.filter(values[:, None]) * (vectors.t() @ self.mix(x)))
        return y * y[0].sign() if self.fault else y


class Descriptor(nn.Module):
    """One vector of a shape."""

    def __init__(self, read="area"):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(3, 8), nn.Hardswish(), nn.Linear(8, 4))
        self.read = read

    def forward(self, x, edge_index, mass):
        h = self.mlp(x)
        h = h + torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]])
        if self.read == "first half":
            h, mass = h[:6], mass[:6]
        return (h * mass[:, None]).sum(0, keepdim=True) / mass.sum()


def cases():
    heat = Case("diffusion", Diffusion, partial(surface, "x", "lap"), "permutation", ("nodes",))
    edge = Case("lengths of edges", Lengths, partial(surface, "x", "index", "length"), "permutation", ("nodes",))
    frame = Case(
        "frames from the nearest", Tangent, partial(surface, "x", "index", "pos", "normal"), "permutation", ("nodes",)
    )
    waves = Case("eigenbasis", Spectral, partial(surface, "x", "lap"), "permutation", ("nodes",), limit=1e-7)
    shape = Case("descriptor", Descriptor, partial(surface, "x", "index", "mass"), "permutation", ("fixed",))
    twelve = Case(
        "diffusion, twelve channels", partial(Diffusion, c=12), partial(surface, "x", "lap"), "permutation", ("nodes",)
    )
    return [
        heat,
        heat.broken("pinned in 1", partial(Diffusion, "pinned")),
        heat.broken("triangle in 0", partial(Diffusion, "triangle", 0)),
        edge,
        edge.broken("forty edges in 1", partial(Lengths, "first ring")),
        edge.broken("forty edges in 0", partial(Lengths, "first ring", 0)),
        edge.broken("numbers in 1", partial(Lengths, "numbers")),
        frame,
        frame.broken("the first of the list", partial(Tangent, "first")),
        waves,
        waves.broken("the first vertex's sign", partial(Spectral, True)),
        shape,
        shape.broken("half of the vertices", partial(Descriptor, "first half")),
        twelve,
        twelve.broken("triangle in 1", partial(Diffusion, "triangle", c=12)),
    ]


CASES = tuple(cases())
