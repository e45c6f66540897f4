"""Encodings of where a node is: they tell a network on the complete graph what it cannot see, the structure.

Bronstein, Bruna, Cohen, Veličković, "Geometric Deep Learning", 2021, section 5.4: the sinusoids that a Transformer adds
to the words of a sentence are samples of the discrete Fourier basis, and so eigenvectors of the Laplacian of a circular
grid. On another graph its own Laplacian takes that place (Dwivedi and Bresson, 2020), or the probabilities that a
random walk returns (Dwivedi et al., 2022).

    sinusoidal    p[u, 2i], p[u, 2i+1] = sin, cos (u / 10000^(2i/d))    u is the number of the node: no permutation law
    Laplacian     I - D^-1/2 A D^-1/2 = U diag(lambda) U^T,  p[u] = U[u, 1..k]
    random walk   p[u, k] = ((D^-1 A)^k)[u, u],  k = 1..d

An eigenvector is determined up to its sign, and where an eigenvalue repeats up to a rotation of the eigenspace. The
sign is fixed here by a rule that does not look at the order of the nodes, so the law holds for every eigenvector with
an eigenvalue of its own, unless a symmetry of the graph turns it into its negative: then no rule can exist, since both
signs are the same vector with the nodes renumbered. In such columns, and in repeated eigenvalues, the law is broken by
the mathematics and not by this file; `determined` says which columns are free of both. There the numbers of the nodes
choose the sign and the basis (`explorer.work.eigenspaces`), and never the solver: columns differ where nodes are
numbered otherwise, and are the same on every processor. Vectors of an eigenspace too large to be found whole are left
zero.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from explorer.declare.fields import NODE
from explorer.work.eigenspaces import Factors, levels, lowest, signed
from models.layers.graph.structure import Array, adjacency, as_array, normalised_laplacian, random_walk, remembered

WIDTH = 8
SHIFT = 0.01  # L + SHIFT is positive definite
ODD = 1e-6  # a moment smaller than this, relative to its terms, is taken for zero


def sinusoids(positions: Array, frequencies: Array) -> Array:
    """Return sin and cos of position times frequency, next to each other; (N,), (F,) -> (N, 2F)."""
    angles = positions[:, None] * frequencies
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(len(positions), 2 * len(frequencies))


def ring(nodes: int) -> Array:
    """Return the circular grid of at least three nodes, each edge in both directions, (2, 2N)."""
    here = np.arange(nodes)
    after = (here + 1) % nodes
    return np.stack([np.concatenate([here, after]), np.concatenate([after, here])])


def fourier_basis(nodes: int) -> tuple[Array, Array]:
    """Return the real discrete Fourier basis by frequency and the Laplacian's eigenvalues on a ring of so many nodes.

    Column for column (1, sin 1, cos 1, sin 2, ...), orthonormal, (N, N); eigenvalue 1 - cos(2 pi k / N) at the
    frequency k, (N,). The normalised Laplacian of a ring is circulant, and these vectors diagonalise every circulant.
    """
    k = np.arange(nodes // 2 + 1)
    waves = sinusoids(np.arange(nodes), 2 * np.pi * k / nodes)
    kept = np.ones(waves.shape[1], bool)
    kept[0] = False  # sin 0
    if nodes % 2 == 0:
        kept[-2] = False  # sin pi u
    waves = waves[:, kept]
    return 1 - np.cos(2 * np.pi * np.repeat(k, 2)[kept] / nodes), waves / np.linalg.norm(waves, axis=0)


def eigenvectors(edges: Array, nodes: int, count: int) -> tuple[Array, Array]:
    """Return the smallest eigenvalues, ascending, and their eigenvectors, (count,) and (N, count), at most N.

    Vectors of an eigenspace that was not found whole are zero.
    """
    count = min(count, nodes)
    found = lowest(normalised_laplacian(edges, nodes), count, SHIFT, Factors)
    vectors = found.vectors[:, :count].copy()
    vectors[:, found.whole :] = 0.0
    return found.values[:count], vectors


def odd_moments(edges: Array, nodes: int, vectors: Array) -> Array:
    """Return sums that change sign with the vector and not with the order of the nodes, as shares of their size.

    (moments, k): of v, v^3 and v^5, plain and weighted by degrees, and of products with sums over neighbours.
    """
    a = adjacency(edges, nodes)
    a = a + a.T
    degree = np.asarray(a.sum(axis=0)).ravel()[:, None]

    def moments(v: Array) -> Array:
        near = a @ v
        far, squares = a @ near, v**2
        terms = [v * squares, degree * v, degree * v * squares, v, degree**2 * v, v * squares**2]
        terms += [squares * near, squares * far, degree * squares * near, near**3, v * squares * near**2]
        return np.stack([term.sum(axis=0) for term in terms])

    scaled = vectors / np.abs(vectors).max(axis=0, initial=1e-300)
    return moments(scaled) / np.maximum(moments(np.abs(scaled)), 1.0)  # what is below 1 may be rounding all of it


def with_fixed_signs(edges: Array, nodes: int, vectors: Array) -> Array:
    """Turn each vector so that the first of its odd moments that is not zero is positive.

    Where all are zero the entry largest in size is made positive, at the first node that has it: a choice by number.
    """
    vectors = signed(vectors)
    moments = odd_moments(edges, nodes, vectors)
    first = (np.abs(moments) > ODD).argmax(axis=0)
    moment = moments[first, np.arange(vectors.shape[1])]
    return vectors * np.where(moment < -ODD, -1.0, 1.0)


@remembered
def laplacian_vectors(edges: Array, nodes: int, count: int) -> Array:
    """Return the eigenvectors 1..count of the normalised Laplacian, the 0th left out, with fixed signs, (N, count).

    A graph with too few nodes has columns of zeros at the end.
    """
    found = np.zeros((nodes, count))
    if nodes > 1:
        vectors = eigenvectors(edges, nodes, count + 1)[1][:, 1:]
        found[:, : vectors.shape[1]] = with_fixed_signs(edges, nodes, vectors)
    return found


@remembered
def determined(edges: Array, nodes: int, count: int) -> Array:
    """Return which eigenvectors 1..count the graph fixes, sign included, whatever its order; (count,) bool."""
    fixed = np.ones(count, bool)
    if nodes > 1:
        values, vectors = eigenvectors(edges, nodes, min(count + 2, nodes))
        level = levels(values, 2.0)
        alone = (np.bincount(level)[level] == 1)[1 : count + 1]
        told = (np.abs(odd_moments(edges, nodes, vectors[:, 1 : count + 1])) > ODD).any(axis=0)
        fixed[: len(alone)] = alone & told
    return fixed


class NoPositions(nn.Module):
    """Zeros, so that what reads an encoding has the same weights with and without; (N, C) -> (N, width)."""

    out_field = NODE

    def __init__(self, width: int = WIDTH) -> None:
        super().__init__()
        self.width = width

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return x.new_zeros(len(x), self.width)


class SinusoidalPositions(NoPositions):
    """sin and cos of the node's number (Vaswani et al., 2017, section 3.5); depends on the order on purpose."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        frequencies = 10000.0 ** (-np.arange(0, self.width, 2) / self.width)
        return torch.as_tensor(sinusoids(np.arange(len(x)), frequencies), dtype=x.dtype, device=x.device)


class RandomWalkPositions(NoPositions):
    """Return probabilities of a random walk, as torch_geometric's AddRandomWalkPE; (N, width)."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        found = random_walk(as_array(edge_index), len(x), self.width)
        return torch.tensor(found, dtype=x.dtype, device=x.device)


class LaplacianPositions(NoPositions):
    """Eigenvectors of each graph's normalised Laplacian, as torch_geometric's AddLaplacianEigenvectorPE up to signs."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        edges, graph = as_array(edge_index), as_array(batch)
        found = np.zeros((len(x), self.width))
        for g in np.unique(graph):
            nodes = np.flatnonzero(graph == g)
            number = np.zeros(len(x), np.int64)
            number[nodes] = np.arange(len(nodes))
            own = number[edges[:, graph[edges[0]] == g]]
            found[nodes] = laplacian_vectors(own, len(nodes), self.width)
        return torch.tensor(found, dtype=x.dtype, device=x.device)


ENCODINGS: dict[str, type[NoPositions]] = {
    "random walk": RandomWalkPositions,
    "none": NoPositions,
    "sinusoidal": SinusoidalPositions,
    "Laplacian": LaplacianPositions,
}
