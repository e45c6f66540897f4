"""Numbers that follow from the edges alone: adjacency, distances, walks that return, and the Laplacian.

    adjacency     A[j, i], how often an edge leads from j to i
    distance      edges on a shortest path from one node to another (Ying et al., 2021, section 3.1.2)
    random walk   ((D^-1 A)^k)[u, u], k = 1, 2, ... (Dwivedi et al., 2022)
    Laplacian     I - D^-1/2 A D^-1/2

All are functions of numpy arrays, which several layers of a network ask for again and again: results are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

Array = NDArray[Any]


def remembered(function: Callable[..., Array]) -> Callable[..., Array]:
    """Keep the last few results of a function of (edge_index, nodes, ...), which several layers ask for; read-only."""

    @lru_cache(maxsize=8)
    def of_bytes(edges: bytes, nodes: int, *rest: Any) -> Array:
        result = function(np.frombuffer(edges, np.int64).reshape(2, -1), nodes, *rest)
        result.flags.writeable = False
        return result

    @wraps(function)
    def wrapped(edges: Array, nodes: int, *rest: Any) -> Array:
        return of_bytes(np.ascontiguousarray(edges, np.int64).tobytes(), nodes, *rest)

    return wrapped


def as_array(edge_index: Tensor) -> Array:
    """Return the edges as numpy has them, (2, E) int64."""
    return edge_index.detach().cpu().numpy()


def adjacency(edges: Array, nodes: int) -> Any:
    """Return the sparse matrix that counts the edges from row to column, (N, N) float64."""
    from scipy.sparse import csr_matrix

    return csr_matrix((np.ones(edges.shape[1]), (edges[0], edges[1])), shape=(nodes, nodes))


@remembered
def random_walk(edges: Array, nodes: int, steps: int) -> Array:
    """Return the probability that a random walk is back where it began after 1..steps steps, (N, steps) float64.

    Nodes without a way out have zeros. Two halves of a walk meet: diag(P^2m) = sum_j (P^m)_ij (P^m)_ji.
    """
    from scipy.sparse import diags

    counts = adjacency(edges, nodes)
    walk = diags(1 / np.maximum(np.asarray(counts.sum(axis=1)).ravel(), 1)) @ counts
    back = np.zeros((nodes, steps))
    power = np.eye(nodes)
    for step in range(1, steps + 1):
        if step % 2:
            before, power = power, np.asarray(walk @ power)
            back[:, step - 1] = np.einsum("ij,ji->i", power, before)
        else:
            back[:, step - 1] = np.einsum("ij,ji->i", power, power)
    return back


def normalised_laplacian(edges: Array, nodes: int) -> Any:
    """Return I - D^-1/2 A D^-1/2 without self-loops, sparse (N, N); the direction of edges is forgotten.

    A node without edges has degree 0 and the row of the identity, as torch_geometric's get_laplacian has it.
    """
    from scipy.sparse import diags, identity

    a = adjacency(edges[:, edges[0] != edges[1]], nodes)
    a = (a + a.T) / 2
    degree = np.asarray(a.sum(axis=0)).ravel()
    scale = diags(np.where(degree > 0, 1 / np.sqrt(np.maximum(degree, 1e-300)), 0.0))
    return identity(nodes) - scale @ a @ scale


@remembered
def shortest_paths(edges: Array, nodes: int) -> Array:
    """Return how many edges lead from one node to another, (N to, N from) int16; -1 where there is no path."""
    from scipy.sparse.csgraph import shortest_path

    if not nodes:
        return np.zeros((0, 0), np.int16)
    found = shortest_path(adjacency(edges, nodes), method="D", unweighted=True)
    return np.where(np.isinf(found), -1, found).T.astype(np.int16)
