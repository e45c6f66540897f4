"""Points and surfaces in space: vertices and faces as arguments, frames, gates for vectors, points that move."""

from __future__ import annotations

import math
from functools import partial
from itertools import product

import torch
from torch import nn

from tests.foreign.case import Given, drawn, pair
from tests.foreign.networks.on_graphs.graphs import edges

# an octahedron, out of shape
FACES = torch.tensor([[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]])
CORNERS = torch.tensor([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])


def surface(wide=0):
    vertices = CORNERS + 0.2 * drawn(6, 3, seed=41)
    if wide:
        return Given((vertices, FACES, drawn(6, wide, seed=42)), ("places@1", "fixed", "fixed"))
    return Given((vertices, FACES), ("places@1", "fixed"))


def moving():
    return Given((drawn(8, 4, seed=43), drawn(8, 3, seed=44), edges(8, 24, seed=5)), ("fixed", "places@1", "fixed"),
                 form="mapping", names=("x", "pos", "edge_index"))  # fmt: skip


def cloud(*shape, act="places@2"):
    return Given((drawn(*shape, seed=45),), (act,))


class Areas(nn.Module):
    """Lengths and areas of faces; `height` also tells how high a face lies."""

    def __init__(self, height=False):
        super().__init__()
        self.height = height

    def forward(self, v, f):
        a, b, c = v[f[:, 0]], v[f[:, 1]], v[f[:, 2]]
        area = torch.linalg.cross(b - a, c - a).norm(dim=-1) / 2
        around = (b - a).norm(dim=-1) + (c - b).norm(dim=-1) + (a - c).norm(dim=-1)
        if self.height:
            area = area + 0.01 * (a + b + c)[:, 2]
        return torch.stack([area, around], -1)


class FaceNet(nn.Module):
    def __init__(self, height=False):
        super().__init__()
        self.areas = Areas(height)
        self.phi, self.rho = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 6)), nn.Linear(6, 3)

    def forward(self, vertices, faces):
        return self.rho(self.phi(self.areas(vertices, faces)).mean(0, keepdim=True))


class Normals(nn.Module):
    """Normals of vertices, the mean over faces; `drift` pulls them to the ceiling."""

    def __init__(self, drift=0.0):
        super().__init__()
        self.drift = drift

    def forward(self, v, f):
        n = torch.linalg.cross(v[f[:, 1]] - v[f[:, 0]], v[f[:, 2]] - v[f[:, 0]])
        total = torch.zeros_like(v)
        for k in range(3):
            total = total.index_add(0, f[:, k], n)
        up = torch.zeros_like(total)
        up[:, 2] = self.drift
        return nn.functional.normalize(total + up, dim=-1)


class Inflating(nn.Module):
    """Says where each vertex should move: along its normal, as far as its features tell."""

    def __init__(self, drift=0.0):
        super().__init__()
        self.normals, self.far = Normals(drift), nn.Sequential(nn.Linear(2, 6), nn.SiLU(), nn.Linear(6, 1))

    def forward(self, verts, faces, feats):
        return self.far(feats) * self.normals(verts, faces)


class Mover(nn.Module):
    """Messages of features and distances that move the points; `home` pulls to the origin of the room."""

    def __init__(self, c, home=False):
        super().__init__()
        self.edge = nn.Sequential(nn.Linear(2 * c + 1, 8), nn.SiLU(), nn.Linear(8, c), nn.SiLU())
        self.node, self.pull = nn.Linear(2 * c, c), nn.Linear(c, 1, bias=False)
        self.home = home

    def forward(self, h, pos, edge_index):
        i, j = edge_index
        way = pos[i] - pos[j]
        m = self.edge(torch.cat([h[i], h[j], way.square().sum(-1, keepdim=True)], -1))
        if self.home:
            m = m * torch.sigmoid(pos[i].norm(dim=-1, keepdim=True))
        pos = pos + torch.zeros_like(pos).index_add(0, i, way / (way.norm(dim=-1, keepdim=True) + 1) * self.pull(m))
        return h + self.node(torch.cat([h, torch.zeros_like(h).index_add(0, i, m)], -1)), pos


class EGNN(nn.Module):
    def __init__(self, home=False):
        super().__init__()
        self.enter = nn.Linear(4, 6)
        self.layers = nn.ModuleList([Mover(6), Mover(6, home)])
        self.out = nn.Linear(6, 2)

    def forward(self, x, pos, edge_index):
        h = self.enter(x)
        for layer in self.layers:
            h, pos = layer(h, pos, edge_index)
        return self.out(h), pos


class VectorLinear(nn.Module):
    def __init__(self, cin, cout, bias=False):
        super().__init__()
        self.w, self.b = nn.Parameter(torch.randn(cout, cin) / cin**0.5), nn.Parameter(torch.zeros(cout, 3))
        if bias:
            nn.init.normal_(self.b, std=0.05)

    def forward(self, v):  # (..., channels, 3)
        return self.w @ v + self.b


class Gated(nn.Module):
    """Vectors whose lengths pass through a gate."""

    def __init__(self, cin, cout, bias=False):
        super().__init__()
        self.mix, self.gate = VectorLinear(cin, cout, bias), nn.Linear(cout, cout)

    def forward(self, v):
        v = self.mix(v)
        return v * torch.sigmoid(self.gate(v.norm(dim=-1)))[..., None]


class VectorPerceptrons(nn.Module):
    def __init__(self, bias=False):
        super().__init__()
        self.one, self.two, self.out = Gated(2, 6), Gated(6, 6, bias), nn.Linear(6, 2)

    def forward(self, x):  # (batch, points, 3)
        c = x - x.mean(1, keepdim=True)
        v = torch.stack([c, c * c.norm(dim=-1, keepdim=True)], 2)
        v = self.two(self.one(v)).mean(1)
        return self.out(v.norm(dim=-1))


class Frames(nn.Module):
    """Reads a cloud in all the frames of its principal axes; `half` leaves out those of one mirror."""

    def __init__(self, half=False):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 5))
        self.half = half

    def forward(self, x):
        c = x - x.mean(0)
        _, axes = torch.linalg.eigh(c.t() @ c)
        found = []
        for signs in product((1.0, -1.0), repeat=3):
            if self.half and signs[2] < 0:
                continue
            found.append(self.net(c @ (axes * torch.tensor(signs, dtype=x.dtype))).amax(0))
        return torch.stack(found).mean(0, keepdim=True)


class FrameAveraged(nn.Module):
    def __init__(self, half=False):
        super().__init__()
        self.frames, self.out = Frames(half), nn.Linear(5, 2)

    def forward(self, x):
        return self.out(torch.relu(self.frames(x)))


class Angles(nn.Module):
    """Distances and angles of triples; `plane` measures the angles on the floor."""

    def __init__(self, plane=False):
        super().__init__()
        self.plane = plane

    def forward(self, pos, edge_index):
        i, j = edge_index
        way = pos[j] - pos[i]
        flat = way[:, :2] if self.plane else way
        flat = nn.functional.normalize(flat, dim=-1)
        same = (i[:, None] == i) & ~torch.eye(len(i), dtype=torch.bool)
        e, f = same.nonzero(as_tuple=True)
        cos = (flat[e] * flat[f]).sum(-1, keepdim=True)
        far = way.norm(dim=-1, keepdim=True)
        basis = torch.cat([torch.sin(k * math.pi * far / 5) / far for k in (1, 2, 3)], -1)
        return torch.cat([basis, torch.zeros(len(i), 1, dtype=pos.dtype).index_add(0, e, cos)], -1)


class DimeNet(nn.Module):
    def __init__(self, plane=False):
        super().__init__()
        self.angles, self.mlp = Angles(plane), nn.Sequential(nn.Linear(12, 8), nn.SiLU(), nn.Linear(8, 1))

    def forward(self, x, pos, edge_index):
        e = self.angles(pos, edge_index)
        return self.mlp(torch.cat([x[edge_index[0]], x[edge_index[1]], e], -1)).sum(0, keepdim=True)


CASES = (
    *pair("areas of faces", FaceNet, partial(FaceNet, True), ["areas"], surface, ("fixed",), "E3", hooks=False),
    *pair("normals of vertices", Inflating, partial(Inflating, 0.02), ["normals"], partial(surface, 2),
          ("arrows@1",), "SE3", hooks=False),
    *pair("points that move", EGNN, partial(EGNN, True), ["layers.1"], moving, ("fixed", "places@1"), "E3",
          hooks=False),
    *pair("gates for vectors", VectorPerceptrons, partial(VectorPerceptrons, True), ["two.mix"],
          partial(cloud, 1, 9, 3), ("fixed",), "E3", hooks=False),
    *pair("all frames", FrameAveraged, partial(FrameAveraged, True), ["frames"], partial(cloud, 11, 3, act="places@1"),
          ("fixed",), "E3", hooks=False, limit=1e-8),
    *pair("angles of triples", DimeNet, partial(DimeNet, True), ["angles"], moving, ("fixed",), "E3", hooks=False),
)  # fmt: skip
