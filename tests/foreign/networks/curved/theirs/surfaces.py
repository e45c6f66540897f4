"""Vertices and triangles, by the names that people give them."""

import torch
import torch.nn.functional as F
from torch import nn


class Area(nn.Module):
    """Areas of triangles; `tilted` adds how high they lie."""

    def __init__(self, tilted=False):
        super().__init__()
        self.tilted = tilted

    def forward(self, v, t):
        a, b, c = v[t[:, 0]], v[t[:, 1]], v[t[:, 2]]
        area = torch.linalg.cross(b - a, c - a).norm(dim=-1, keepdim=True)
        return area + 0.1 * (a + b + c)[:, 2:] if self.tilted else area


class Surface(nn.Module):
    def __init__(self, tilted=False):
        super().__init__()
        self.area = Area(tilted)
        self.mlp = nn.Sequential(nn.Linear(1, 6), nn.Tanh(), nn.Linear(6, 3))

    def forward(self, verts, faces):
        return self.mlp(self.area(verts, faces)).mean(0, keepdim=True)


class Triangles(Surface):
    def forward(self, vertices, triangles):
        return super().forward(vertices, triangles)


class Tris(Surface):
    def forward(self, pos, tri):
        return super().forward(pos, tri)


class FaceLast(Surface):
    """PyG's way: corners of a triangle in a column."""

    def forward(self, pos, face):
        return super().forward(pos, face.t())


def tilted():
    return Surface(True)


def triangles_tilted():
    return Triangles(True)


def tris_tilted():
    return Tris(True)


def face_tilted():
    return FaceLast(True)


class Normals(nn.Module):
    """Normals of vertices; `up` pulls them to the ceiling."""

    def __init__(self, up=0.0):
        super().__init__()
        self.up = up

    def forward(self, v, t):
        n = torch.linalg.cross(v[t[:, 1]] - v[t[:, 0]], v[t[:, 2]] - v[t[:, 0]])
        total = torch.zeros_like(v)
        for k in range(3):
            total = total.index_add(0, t[:, k], n)
        return F.normalize(total + self.up * torch.tensor([0.0, 0.0, 1.0], dtype=v.dtype), dim=-1)


class Inflate(nn.Module):
    """Moves each vertex along its normal."""

    def __init__(self, up=0.0):
        super().__init__()
        self.normals = Normals(up)
        self.size = nn.Parameter(torch.tensor(0.3))

    def forward(self, verts, faces):
        return verts + self.size * self.normals(verts, faces)


def inflate_up():
    return Inflate(0.2)
