"""Orders in which the rows and columns of a pair matrix can stand."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.graph.drawing.values import Structure
from explorer.work.eigenspaces import by_rule, ranks

ORDERS = {
    "given": "as given",
    "degree": "by degree",
    "cluster": "by cluster",
    "spectral": "spectral",
    "name": "by name",
}
ALIKE = 1e-7  # entries of a vector of length 1 that differ by less are one
SPECTRAL_MOST = 1024  # nodes; the eigenvectors of a dense Laplacian take a quarter of a second there


def possible(kind: str, structure: Structure) -> str:
    """Return "" when the nodes can be put in that order, else why not, as a sentence."""
    if kind == "cluster" and structure.classes is None:
        return "No classes are known for these nodes."
    if kind == "spectral" and structure.nodes > SPECTRAL_MOST:
        return f"The spectral order is worked out up to {SPECTRAL_MOST} nodes."
    if kind == "name" and not structure.names:
        return "These nodes have no names."
    return ""


def node_order(kind: str, structure: Structure) -> NDArray[np.int64]:
    """Return the nodes in the order they are shown in, (n,): as given where the order asked for is not possible."""
    n = structure.nodes
    if possible(kind, structure):
        return np.arange(n)
    if kind == "degree":
        return np.argsort(-degrees(n, structure.edges), kind="stable")
    if kind == "cluster" and structure.classes is not None:
        classes = structure.classes
        return np.lexsort((-degrees(n, structure.edges), classes, classes < 0))  # the unknown last
    if kind == "spectral":
        return fiedler_order(n, structure.edges, structure.weights)
    if kind == "name":
        return np.array(sorted(range(n), key=lambda i: _natural(structure.names[i])), np.int64)
    return np.arange(n)


def boundaries(classes: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places at which another class begins."""
    shown = classes[order]
    return np.flatnonzero(shown[1:] != shown[:-1]) + 1


def degrees(n: int, edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many listed edges begin or end at each node."""
    return np.bincount(edges.ravel(), minlength=n)


def fiedler_order(n: int, edges: NDArray[np.int64], weights: NDArray[np.floating] | None = None) -> NDArray[np.int64]:
    """Order nodes by the eigenvector of the second-smallest eigenvalue of L = D - A, component by component.

    A is symmetrised and of magnitudes; the largest component comes first; in each, the node of the largest component of
    the vector is at the end (Fiedler, "A property of eigenvectors of nonnegative symmetric matrices", 1975). Where that
    eigenvalue repeats, the vector is the first of its eigenspace by the rule of `explorer.work.eigenspaces`.
    """
    a = np.zeros((n, n))
    size = np.ones(edges.shape[1]) if weights is None else np.abs(weights).reshape(edges.shape[1], -1).mean(1)
    np.add.at(a, (edges[1], edges[0]), np.nan_to_num(size))
    a = a + a.T
    np.fill_diagonal(a, 0.0)
    parts = []
    for part in _components(a):
        if len(part) > 2:
            inner = a[np.ix_(part, part)]
            values, vectors = np.linalg.eigh(np.diag(inner.sum(1)) - inner)
            vector = by_rule(values, vectors, values[-1])[:, 1]
            # entries that differ by rounding alone stand as given
            part = part[np.argsort(ranks(vector, ALIKE), kind="stable")]
        parts.append(part)
    return np.concatenate(parts) if parts else np.arange(n)


def _components(a: NDArray[np.float64]) -> list[NDArray[np.int64]]:
    """Return the connected parts, the largest first, each ascending."""
    left, parts = np.ones(len(a), bool), []
    while left.any():
        reached = np.zeros(len(a), bool)
        front = np.zeros(len(a), bool)
        front[int(left.argmax())] = True
        while front.any():
            reached |= front
            front = (a[front] > 0).any(0) & ~reached
        parts.append(np.flatnonzero(reached))
        left &= ~reached
    return sorted(parts, key=lambda part: (-len(part), int(part[0])))


def _natural(name: str) -> list[tuple[int, int, str]]:
    """Return a key by which node 2 comes before node 10."""
    words = re.findall(r"\d+|\D+", name.casefold())
    return [(0, int(w), "") if w.isdigit() else (1, 0, w) for w in words]
