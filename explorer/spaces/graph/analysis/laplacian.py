"""The normalised adjacency of a graph from its list of edges: the one definition that all analyses share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

HUGE = 1e280  # weights beyond which sums of many may be no numbers
Sparse = Any  # a scipy CSR matrix: scipy.sparse is imported only where a matrix is made


def symmetric_weights(
    edge_index: NDArray[np.integer], n: int, weights: NDArray[Any] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return (i, j, w) of the entries i <= j of (A + A^T) / 2, each pair of nodes once, sorted.

    An undirected edge is listed in both directions and keeps its weight; a directed one counts half each way;
    edges listed several times add up; a self-loop is listed once and counts once.

    Raises:
        ValueError: edges that are no (2, E), an end that is no node, weights of another length, negative or not finite.
    """
    edges = np.asarray(edge_index)
    if edges.ndim != 2 or edges.shape[0] != 2:
        raise ValueError(f"edge_index must be (2, edges), got shape {edges.shape}")
    if edges.size and (edges.min() < 0 or edges.max() >= n):
        raise ValueError(f"an edge ends at node {int(edges.max())}, and there are {n} nodes (from 0)")
    w = np.ones(edges.shape[1]) if weights is None else np.asarray(weights, dtype=np.float64).reshape(-1)
    if len(w) != edges.shape[1]:
        raise ValueError(f"{len(w)} weights for {edges.shape[1]} edges")
    if w.size and not (np.isfinite(w).all() and w.min() >= 0):
        raise ValueError("the weights of the edges must be finite and not negative")
    low, high = edges.min(0).astype(np.int64), edges.max(0).astype(np.int64)
    key = low * max(n, 1) + high
    found, inverse = np.unique(key, return_inverse=True)
    total = sums(inverse, w, len(found))
    i, j = np.divmod(found, max(n, 1))
    total[i != j] /= 2
    return i, j, total


def sums(at: NDArray[np.integer], values: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return the sum of the values at each of `count` places, (count,)."""
    # bincount of nothing is of whole numbers, whatever the weights are
    return np.asarray(np.bincount(at, weights=values, minlength=count), dtype=np.float64)


def degrees(i: NDArray[np.int64], j: NDArray[np.int64], w: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Return the sums of the rows of the symmetric matrix with those entries i <= j, (n,)."""
    apart = i != j
    return sums(i, w, n) + sums(j[apart], w[apart], n)


def inverse_root(degree: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return d^-1/2, and 0 for nodes without edges."""
    root = np.zeros_like(degree)
    np.divide(1.0, np.sqrt(degree, where=degree > 0, out=np.ones_like(degree)), out=root, where=degree > 0)
    return root


def normalised_adjacency(edge_index: NDArray[np.integer], n: int, weights: NDArray[Any] | None = None) -> Sparse:
    """Return D^-1/2 A D^-1/2 of the symmetrised graph as a float64 CSR matrix (n, n).

    A node without edges has 1 on the diagonal, so that L = I minus it is 0 there: each connected part, an
    isolated node too, then has the eigenvalue 0 once, and only constants (times D^1/2) have no energy. This is
    scipy.sparse.csgraph.laplacian's convention; torch_geometric's get_laplacian has L = 1 there.

    Raises:
        ValueError: as `symmetric_weights`.
    """
    import scipy.sparse as sp

    if weights is not None and np.size(weights) and float(np.max(weights)) > HUGE:
        weights = np.ldexp(np.asarray(weights, np.float64), -64)  # their unit does not matter, but sums must be numbers
    i, j, w = symmetric_weights(edge_index, n, weights)
    degree = degrees(i, j, w, n)
    root = inverse_root(degree)
    value = w * root[i] * root[j]
    apart, alone = i != j, np.flatnonzero(degree == 0)
    rows = np.concatenate([i, j[apart], alone])
    columns = np.concatenate([j, i[apart], alone])
    return sp.csr_matrix((np.concatenate([value, value[apart], np.ones(len(alone))]), (rows, columns)), shape=(n, n))


def laplacian(edge_index: NDArray[np.integer], n: int, weights: NDArray[Any] | None = None) -> Sparse:
    """Return L = I - D^-1/2 A D^-1/2 of the symmetrised graph as CSR (n, n); 0 at isolated nodes; raise ValueError."""
    import scipy.sparse as sp

    return (sp.identity(n, format="csr") - normalised_adjacency(edge_index, n, weights)).tocsr()
