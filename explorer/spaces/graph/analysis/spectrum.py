"""The spectrum of a graph: eigenpairs of its normalised Laplacian, and fields on its nodes as seen from there.

L = I - D^-1/2 A D^-1/2 with the conventions of `laplacian`: a directed graph is symmetrised, (A + A^T) / 2, since
only a symmetric L has an orthogonal Fourier transform; self-loops count once; an isolated node has L = 0.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.graph.analysis.eigensolver import DENSE, dense_pairs, sparse_pairs
from explorer.spaces.graph.analysis.fourier import fourier
from explorer.spaces.graph.analysis.laplacian import normalised_adjacency
from explorer.spaces.graph.drawing.values import Spectrum
from explorer.work.eigenspaces import by_rule, levels

Array = NDArray[np.float64]

_Pair = tuple[float, NDArray[np.int64], Array]  # an eigenvalue, the nodes of a part, a vector on them

SIZE = 2.0  # no eigenvalue is larger
MOST = 64  # eigenpairs of a graph that is too large for all of them


def eigenpairs(
    edge_index: NDArray[np.integer],
    n: int,
    k: int | None = None,
    weights: NDArray[Any] | None = None,
    seed: int = 0,
) -> tuple[Array, Array]:
    """Return the k smallest eigenvalues of L ascending, (k,), and orthonormal eigenvectors, (n, k).

    All n (k None) or any k of a graph of at most 1500 nodes come from one dense decomposition. Of a larger one, each
    connected part is solved alone, since their eigenvalues interleave (a part has 0 once, with D^1/2 constant on it).
    Signs and bases of eigenspaces are by the rule of `explorer.work.eigenspaces`; only where k cuts an eigenspace of a
    part of more than 1500 nodes, what is there of it is the solver's choice (`low_pairs` leaves it out).

    Raises:
        ValueError: as `laplacian.symmetric_weights`; more than a quarter of the spectrum of a part beyond 1500 nodes.
    """
    h = normalised_adjacency(edge_index, n, weights)
    k = n if k is None else max(0, min(k, n))
    if n <= DENSE:
        values, vectors = dense_pairs(h) if n else (np.zeros(0), np.zeros((0, 0)))
        values, vectors = values[:k], by_rule(values, vectors, SIZE)[:, :k]
    else:
        values, vectors = _by_parts(h, k, seed)
    return np.clip(values, 0.0, 2.0), vectors


def low_pairs(
    edge_index: NDArray[np.integer], n: int, most: int, weights: NDArray[Any] | None = None
) -> tuple[Array, Array]:
    """Return all eigenpairs of a graph of at most 1500 nodes, else as many whole eigenspaces as hold `most` or fewer.

    Where the first of them holds more, a graph of as many parts, the first parts are there.

    Raises:
        ValueError: as `eigenpairs`.
    """
    if n <= DENSE:
        return eigenpairs(edge_index, n, n, weights)
    values, vectors = eigenpairs(edge_index, n, most + 1, weights)
    level = levels(values, SIZE)
    kept = int((level < level[-1]).sum()) or most
    return values[:kept], vectors[:, :kept]


def _by_parts(h: Any, k: int, seed: int) -> tuple[Array, Array]:
    from scipy.sparse.csgraph import connected_components

    n = h.shape[0]
    parts, label = connected_components(h, directed=False)
    order = np.argsort(label, kind="stable")
    ends = np.searchsorted(label[order], np.arange(parts + 1))
    spare = max(1, k - parts + 1)  # every part has the eigenvalue 0: no part has more than this many among the k
    found: list[_Pair] = []
    for a, b in pairwise(ends[: k + 1]):
        nodes = order[a:b]
        if len(nodes) == 1:
            found.append((0.0, nodes, np.ones(1)))
            continue
        inner = h if parts == 1 else h[nodes][:, nodes]
        wanted = min(spare, len(nodes))
        if len(nodes) <= DENSE:
            values, vectors = dense_pairs(inner)
        elif wanted > len(nodes) // 4:
            raise ValueError(f"{wanted} eigenvectors of a connected graph of {len(nodes)} nodes are too many")
        else:
            values, vectors = sparse_pairs(inner, wanted, seed)
        vectors = by_rule(values, vectors, SIZE)
        found += [(float(values[m]), nodes, vectors[:, m]) for m in range(wanted)]
        if len(found) > 4 * k:  # keep no more than can be wanted
            found = _smallest(found, k)
    found = _smallest(found, k)
    vectors = np.zeros((n, len(found)))
    for m, (_, nodes, vector) in enumerate(found):
        vectors[nodes, m] = vector
    return np.sort([value for value, _, _ in found]), vectors


def _smallest(found: list[_Pair], k: int) -> list[_Pair]:
    """Return the k of smallest eigenvalues, ascending; equal ones in the order of their parts."""
    level = levels(np.array([value for value, _, _ in found]), SIZE)
    return [found[m] for m in np.argsort(level, kind="stable")[:k]]


def make_spectrum(
    edges: NDArray[np.integer],
    n: int,
    x: NDArray[Any],
    layer_values: NDArray[Any] | None,
    weights: NDArray[Any] | None = None,
    most: int = MOST,
    pairs: tuple[Array, Array] | None = None,
) -> Spectrum:
    """Return the graph Fourier transform of the input x (N, ...) and of a layer's node field (N, ...), or None.

    All of the spectrum up to 1500 nodes, else the `most` lowest frequencies: then it is `partial`. `pairs` are what
    `low_pairs` gave for this graph before, so that another layer costs one product.

    Raises:
        ValueError: as `eigenpairs`.
    """
    values, vectors = pairs if pairs is not None else low_pairs(edges, n, most, weights)
    layer = None if layer_values is None else _read_only(fourier(vectors, layer_values))
    return Spectrum(
        eigenvalues=_read_only(values),
        vectors=_read_only(vectors),
        x=_read_only(fourier(vectors, x)),
        layer=layer,
        partial=len(values) < n,
    )


def _read_only(values: Array) -> Array:
    values = np.ascontiguousarray(values)
    values.flags.writeable = False
    return values
