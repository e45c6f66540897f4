"""Place the nodes of a graph: few nodes by Kamada and Kawai's springs, many by forces on several levels.

Connected parts are laid out alone and packed side by side. The multilevel engine coarsens as FM3 does (suns with their
planets), lets neighbours attract by w d and all nodes repel by m m'/d (Noack's model, as in ForceAtlas2), and sums the
repulsion on a grid by one convolution (particle-mesh), so that an iteration takes O(N + E + G log G) and few calls of
numpy. Everything follows from the seed: iterations are counted, never timed, and places are rounded as they move, so
that what one processor rounds otherwise than another does not grow into another picture.

References: Kamada & Kawai, Inform. Process. Lett. 31 (1989) 7; Hachul & Jünger, GD 2004 (FM3); Noack, J. Graph
Algorithms Appl. 11 (2007) 453; Jacomy et al., PLoS ONE 9 (2014) e98679.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.graph.drawing.layout.axes import upright
from explorer.spaces.graph.drawing.layout.given import projected, scaled
from explorer.spaces.graph.drawing.layout.packing import boxed, disc, packed, rows

Places = NDArray[Any]

SMALL = 500  # nodes of a connected part up to which Kamada and Kawai's springs are solved
EXACT = 300  # nodes of a level up to which each pair of nodes is summed
CHAINED = 2.5  # listed edges for a node up to which a level counts as trees and chains
CLOSE = 20_000  # nodes up to which the nearest neighbours repel exactly, not only by way of the grid
FINE = 12  # binary digits that places keep of the room of a node
COARSEST = 60  # nodes at which coarsening ends
FEWEST = 6  # nodes that a coarser level must have
MEAN_COST = 2e-7, 2.5e-8, 1.1e-7  # seconds of an iteration for a node, a listed edge, a cell: a slow core's, rounded


def layout(
    edges: NDArray[np.integer],
    nodes: int,
    seed: int = 0,
    positions: Places | None = None,
    seconds: float = 6.0,
    graph_of: NDArray[np.integer] | None = None,
) -> NDArray[np.float32]:
    """Return the places of the nodes, (nodes, 2) float32, right and up, nodes about a unit apart.

    Args:
        edges: (2, E) from and to; direction, copies and self-loops do not matter.
        seed: the same seed and graph give the same places.
        positions: (nodes, 2 or 3), places that come with the data: they are kept, and only those that are not numbers
            are filled in. A solid cloud of points is seen from a little above and aside, z being up; all else in space
            from the side on which it spreads most.
        seconds: about how long a slow core may take on a large graph; sets the number of iterations beforehand.
        graph_of: (nodes,) the graph of a batch that each node belongs to: the parts of one graph lie together.
    """
    places = np.zeros((nodes, 2), np.float32)
    for better in layout_steps(edges, nodes, seed, positions, seconds, graph_of):
        places = better
    return places


def layout_steps(
    edges: NDArray[np.integer],
    nodes: int,
    seed: int = 0,
    positions: Places | None = None,
    seconds: float = 6.0,
    graph_of: NDArray[np.integer] | None = None,
) -> Iterator[NDArray[np.float32]]:
    """Yield ever better places, (nodes, 2) float32, the last ones being those of `layout`.

    A caller that no longer wants them stops asking; the first ones come early.
    """
    if graph_of is not None and nodes and (graph_of != graph_of[0]).any():
        yield _batched(edges, graph_of, seed, positions, seconds)
        return
    if positions is not None and nodes and (flat := projected(positions, edges)) is not None:
        yield scaled(flat, edges)
        return
    alone, parts = _parts(edges, nodes)
    rng = np.random.default_rng(seed)
    done = [boxed(alone, rows(len(alone)))] if len(alone) else []
    left = [boxed(members, disc(len(members))) for members, _ in parts]
    shown = 0
    for index, (members, matrix) in enumerate(parts):
        large = len(members) > SMALL
        for places in _part_steps(matrix, rng, seconds * len(members) / nodes):
            # several parts take turns: each is seen when it is done, the rest in discs until then
            if large and (index == len(parts) - 1 or (index == shown == 0)):
                yield packed([*done, boxed(members, places), *left[index + 1 :]], nodes)
        done.append(boxed(members, places))
        shown += len(members)
        if large and index < len(parts) - 1 and shown >= 0.1 * nodes:
            yield packed([*done, *left[index + 1 :]], nodes)
            shown = 1
    if not parts or len(parts[-1][0]) <= SMALL:
        yield packed(done, nodes)


def _batched(
    edges: NDArray[np.integer], graph_of: NDArray[np.integer], seed: int, positions: Places | None, seconds: float
) -> NDArray[np.float32]:
    """Return the graphs of a batch side by side in their order, with room for a name above each."""
    number, boxes = np.empty(len(graph_of), np.int64), []
    order, of = np.argsort(graph_of, kind="stable"), graph_of[edges[1]]
    inner = edges[:, np.argsort(of, kind="stable")]
    which = np.unique(graph_of)
    nodes = np.searchsorted(graph_of[order], [*which, which[-1] + 1])
    lists = np.searchsorted(np.sort(of), [*which, which[-1] + 1])
    for k in range(len(which)):
        members, mine = order[nodes[k] : nodes[k + 1]], inner[:, lists[k] : lists[k + 1]]
        number[members] = np.arange(len(members))
        mine = mine[:, graph_of[mine[0]] == which[k]]  # an edge between two graphs of a batch is none
        places = layout(
            number[mine], len(members), seed, None if positions is None else positions[members],
            seconds * len(members) / len(graph_of),
        )  # fmt: skip
        lengths = np.hypot(*(places[number[mine[0]]] - places[number[mine[1]]]).T)
        long = float(np.median(lengths)) if lengths.any() else 0.0
        boxes.append(boxed(members, places, 1.5, long, positions is None))
    return packed(boxes, len(graph_of), ordered=True)


def communities(edges: NDArray[np.integer], nodes: int, seed: int = 0) -> NDArray[np.int64]:
    """Return the community of each node, (nodes,), the largest being 0.

    Source: Blondel et al., J. Stat. Mech. (2008) P10008 (modularity, several levels), as igraph computes it.
    """
    import random

    import igraph

    igraph.set_random_number_generator(random.Random(seed))
    graph = igraph.Graph(n=nodes, edges=_distinct(edges, nodes).T)
    member = np.asarray(graph.community_multilevel().membership, np.int64).reshape(-1)
    sizes = np.bincount(member) if nodes else np.zeros(0, np.int64)
    rank = np.empty(len(sizes), np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return rank[member]


# the graph ------------------------------------------------------------------------------------------------------
def _distinct(edges: NDArray[np.integer], nodes: int) -> NDArray[np.int64]:
    """Return each pair of different neighbours once, (2, pairs), the lower number first."""
    low, high = np.minimum(*edges).astype(np.int64), np.maximum(*edges).astype(np.int64)
    keys = np.unique(low[low != high] * max(nodes, 1) + high[low != high])
    return np.stack([keys // max(nodes, 1), keys % max(nodes, 1)])


def adjacency(edges: NDArray[np.integer], nodes: int) -> Any:
    """Return the symmetric matrix of which nodes are neighbours, ones, without its diagonal."""
    from scipy.sparse import csr_array

    start, end = edges[:, edges[0] != edges[1]]
    matrix = csr_array((np.ones(2 * len(start)), (np.r_[start, end], np.r_[end, start])), shape=(nodes, nodes))
    matrix.sum_duplicates()
    matrix.data[:] = 1.0
    return matrix


def _parts(edges: NDArray[np.integer], nodes: int) -> tuple[NDArray[np.int64], list[tuple[NDArray[np.int64], Any]]]:
    """Return the nodes alone, and members and matrix of each connected part of more than one, the largest last."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    matrix = adjacency(edges, nodes)
    count, part_of = connected_components(matrix, directed=False) if nodes else (0, np.zeros(0, np.int32))
    sizes = np.bincount(part_of, minlength=count)
    order = np.lexsort((part_of, sizes[part_of]))
    if count > 1:
        matrix = matrix[order][:, order]
        matrix.sort_indices()
    else:
        order = np.arange(nodes)
    lone = int((sizes == 1).sum())
    parts, first = [], lone
    for size in np.sort(sizes[sizes > 1]).tolist():
        starts = matrix.indptr[first : first + size + 1]
        inner = slice(starts[0], starts[-1])
        arrays = matrix.data[inner], matrix.indices[inner] - first, starts - starts[0]
        parts.append((order[first : first + size], csr_array(arrays, shape=(size, size))))
        first += size
    return order[:lone], parts


# one connected part -----------------------------------------------------------------------------------------------
def _part_steps(matrix: Any, rng: np.random.Generator, seconds: float) -> Iterator[Places]:
    n = matrix.shape[0]
    if n <= SMALL:
        yield upright(springs(*(one.astype(np.int32).tobytes() for one in (matrix.indptr, matrix.indices))))
        return
    for places in _multilevel(matrix, rng, seconds):
        yield upright(places)


@lru_cache(maxsize=256)  # a set of many molecules has few different ones
def springs(indptr: bytes, indices: bytes) -> Places:
    """Return Kamada and Kawai's layout of a small part, from nodes on a circle."""
    starts, columns = np.frombuffer(indptr, np.int32), np.frombuffer(indices, np.int32)
    n = len(starts) - 1
    if n == 2:
        return np.array([[0.0, 0.0], [1.0, 0.0]])
    import igraph

    rows = np.repeat(np.arange(n), np.diff(starts))
    graph = igraph.Graph(n=n, edges=np.stack([rows, columns], 1)[rows < columns])
    angle = 2 * np.pi * np.arange(n) / n
    # igraph's own circle, rounded: the springs may settle elsewhere for another last digit of a cosine
    circle = _rounded(0.36 * math.sqrt(n) * np.stack([np.cos(angle), np.sin(angle)], 1), 1e-6)
    return np.asarray(graph.layout_kamada_kawai(maxiter=max(50 * n, 1000), seed=circle.tolist()).coords, float)


def _rounded(places: Places, room: float) -> Places:
    """Return places on a grid with some thousand steps to the room, a power of two: rounding that differs is gone."""
    step = 2.0 ** (math.floor(math.log2(room)) - FINE)
    return np.asarray(np.round(places / step) * step)


def _multilevel(matrix: Any, rng: np.random.Generator, seconds: float) -> Iterator[Places]:
    """Lay the coarsest graph out, then place each finer one round it; yield places of the finest one's nodes."""
    degree = np.asarray(matrix.sum(axis=1)).ravel()
    masses = [(1 + degree) / (1 + degree.mean())]
    matrices, merges = [matrix], []
    while matrices[-1].shape[0] > COARSEST:
        sun = suns(matrices[-1], rng)
        n, m = len(sun), int(sun.max()) + 1
        if m > 0.85 * n or m < FEWEST:  # one sun next to all others leaves nothing to lay out
            break
        merges.append(sun)
        matrices.append(_merged(matrices[-1], sun, m))
        masses.append(np.bincount(sun, masses[-1], m))
    n = matrices[-1].shape[0]
    places, scatter = rng.standard_normal((n, 2)) * math.sqrt(n), np.random.default_rng(1)
    costs = [_cost(one) for one in matrices]
    for level in range(len(matrices) - 1, -1, -1):
        if level < len(merges):
            places = places[merges[level]]
            places += rng.standard_normal(places.shape) * 0.3 * _edge_length(matrices[level + 1], places, merges[level])
        # coarse levels are cheap and settle the shape; what is left of the time goes to the finest one
        share = 0.6 if level == 0 else 0.4 / 2**level
        wanted = 300 if level == len(matrices) - 1 else 70
        rounds = int(min(wanted, max(12, share * seconds / costs[level])))
        hot = 1.0 if level == len(matrices) - 1 else 0.35
        for k, moved in enumerate(_settle(matrices[level], masses[level], places, rounds, hot)):
            places = moved
            if k == rounds - 1 or (level == 0 and k % 8 == 7):
                fine = places
                for sun in reversed(merges[:level]):
                    fine = fine[sun]
                if level:  # rough ones, for the eye: those that are still one node lie round its place
                    room = math.sqrt(float(places.var(axis=0).sum()) / len(places))
                    fine = fine + 0.6 * room * scatter.standard_normal(fine.shape)
                yield fine


def _cost(matrix: Any) -> float:
    """Return about how many seconds one iteration takes."""
    n = matrix.shape[0]
    if n <= EXACT:
        return 1e-3
    node, edge, cell = MEAN_COST
    return float(node * n + edge * matrix.nnz + cell * (2 * _grid_side(n)) ** 2)


def suns(matrix: Any, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the merged node of each node: suns, no two of them neighbours, absorb the planets round them."""
    n, starts = matrix.shape[0], matrix.indptr[:-1]
    neighbour = matrix.indices
    # hubs become suns more easily: their many leaves then go in one step
    weight = np.diff(matrix.indptr) * (0.4 + rng.random(n))
    rank = np.argsort(np.argsort(weight, kind="stable"), kind="stable") + 1.0
    state = np.zeros(n, np.int8)  # 1 a sun, 2 a planet
    while (open_ := state == 0).any():
        live = np.where(open_, rank, 0.0)
        best = np.maximum.reduceat(live[neighbour], starts)
        state[open_ & (live > best)] = 1
        near = np.maximum.reduceat((state == 1)[neighbour], starts)
        state[(state == 0) & near] = 2
    number = np.cumsum(state == 1) - 1
    # a planet goes to the sun it is tied to most, among equals to the smaller one
    rows = np.repeat(np.arange(n), np.diff(matrix.indptr))
    towards = np.where(state[neighbour] == 1, matrix.data - 1e-3 * rank[neighbour] / n, -np.inf)
    order = np.lexsort((towards, rows))
    chosen = neighbour[order[matrix.indptr[1:] - 1]]
    return np.where(state == 1, number, number[chosen])


def _merged(matrix: Any, sun: NDArray[np.int64], m: int) -> Any:
    from scipy.sparse import csr_array

    coo = matrix.tocoo()
    rows, columns = sun[coo.row], sun[coo.col]
    kept = rows != columns
    merged = csr_array((coo.data[kept], (rows[kept], columns[kept])), shape=(m, m))
    merged.sum_duplicates()
    return merged


def _edge_length(coarse: Any, fine_places: Places, sun: NDArray[np.int64]) -> float:
    """Return the mean length of the coarse edges, with the places as they were given to the finer nodes."""
    places = np.zeros((coarse.shape[0], 2))
    places[sun] = fine_places
    coo = coarse.tocoo()
    if not coo.nnz:
        return 1.0
    return float(np.hypot(*(places[coo.row] - places[coo.col]).T).mean())


def _settle(matrix: Any, mass: Places, places: Places, rounds: int, hot: float) -> Iterator[Places]:
    """Yield places after each of so many iterations, steps limited by a falling temperature."""
    stiff = np.asarray(matrix.sum(axis=1)).ravel()[:, None]
    push = push_by_pairs if len(places) <= EXACT else push_by_grid
    speed = np.zeros_like(places)
    rows = np.repeat(np.arange(len(places)), np.diff(matrix.indptr)) if matrix.nnz <= CHAINED * len(places) else None
    plain, bare = matrix, stiff
    for k in range(rounds):
        repelled = push(places, mass)
        if rows is not None:  # trees and chains: springs that stiffen as they stretch (Fruchterman, Reingold)
            lengths = np.hypot(*(places[rows] - places[plain.indices]).T)
            matrix = plain.copy()
            matrix.data = plain.data * np.clip(lengths / max(float(lengths.mean()), 1e-12), 0.15, 6.0)
            stiff = np.maximum(np.asarray(matrix.sum(axis=1)).ravel()[:, None], 0.3 * bare)
        if push is push_by_grid and len(places) <= CLOSE and k >= 0.4 * rounds:
            repelled = repelled + _close(places, mass)
        # as if each node alone went to where it rests; momentum makes up for the others doing so at the same time
        drift = (matrix @ places - stiff * places + repelled) / stiff
        speed = 0.6 * speed + 0.5 * drift
        spread = math.sqrt(float(places.var(axis=0).sum()) / len(places)) + 1e-12  # about the room of one node
        limit = spread * (0.05 + 6 * hot * (1 - k / rounds) ** 2)
        length = np.hypot(*speed.T)[:, None]
        speed *= np.minimum(1.0, limit / np.maximum(length, 1e-12))
        places = _rounded(places + speed, spread)
        yield places


def push_by_pairs(places: Places, mass: Places) -> Places:
    """Return the repulsion of all nodes on each, sum of m m' r / (r^2), by pairs."""
    apart = places[:, None] - places[None]
    square = (apart**2).sum(-1) + 1e-9
    return np.asarray(mass[:, None] * np.einsum("ij,ijk->ik", mass[None] / square, apart))


def _grid_side(n: int) -> int:
    """Return the cells along one side: about a node to a cell, a power of two."""
    return int(min(1024, max(64, 2 ** math.ceil(math.log2(1.2 * math.sqrt(n))))))


@lru_cache(maxsize=8)
def _kernel(side: int) -> NDArray[np.complex64]:
    """Return the transform of the force field of one mass, x + iy, on a grid with room for no wrapping round."""
    from scipy.fft import fft2

    at = np.minimum(np.arange(2 * side), 2 * side - np.arange(2 * side)) * np.where(np.arange(2 * side) < side, 1, -1)
    x, y = at[None, :].astype(float), at[:, None].astype(float)
    softened = x**2 + y**2 + 0.3
    field = (x + 1j * y) / softened
    return np.asarray(fft2(field), np.complex64)


def _product(one: NDArray[np.complex64], other: NDArray[np.complex64]) -> NDArray[np.complex64]:
    """Return one * other by parts: a product of complex numbers is rounded once or twice, as the processor can."""
    found = np.empty_like(one)
    found.real = one.real * other.real - one.imag * other.imag
    found.imag = one.real * other.imag + one.imag * other.real
    return found


def push_by_grid(places: Places, mass: Places) -> Places:
    """Return about the same as `push_by_pairs`, the masses being spread to a grid first (cloud in cell)."""
    from scipy.fft import fft2, ifft2

    side = _grid_side(len(places))
    low = places.min(axis=0)
    cell = float((places.max(axis=0) - low).max()) / (side - 2) + 1e-12
    at = (places - low) / cell
    corner = np.floor(at).astype(np.int64)
    part = (at - corner).astype(np.float32)
    first = corner[:, 1] * 2 * side + corner[:, 0]
    weights = ((1 - part[:, 0]) * (1 - part[:, 1]), part[:, 0] * (1 - part[:, 1]),
               (1 - part[:, 0]) * part[:, 1], part[:, 0] * part[:, 1])  # fmt: skip
    offsets = (0, 1, 2 * side, 2 * side + 1)
    density = np.zeros(4 * side * side)
    for weight, offset in zip(weights, offsets, strict=True):
        density += np.bincount(first + offset, weight * mass, 4 * side * side)
    field = ifft2(_product(fft2(density.reshape(2 * side, 2 * side).astype(np.float32)), _kernel(side))).ravel()
    felt = np.zeros(len(places), np.complex64)
    for weight, offset in zip(weights, offsets, strict=True):
        felt += weight * field[first + offset]
    # a node does not repel itself: spread over four cells it would, but the field of a mass is odd, and so it is small
    return np.stack([felt.real, felt.imag], 1) * mass[:, None] / cell


def _close(places: Places, mass: Places) -> Places:
    """Return what the grid leaves out of the repulsion of each node's nearest ones: it has softened them away."""
    from scipy.spatial import cKDTree

    near = cKDTree(places).query(places, k=7, workers=1)[1][:, 1:]
    apart = places[:, None] - places[near]
    square = (apart**2).sum(-1)
    cell = float(np.ptp(places, axis=0).max()) / (_grid_side(len(places)) - 2)
    missing = 1 / (square + 1e-4 * cell**2) - 1 / (square + 0.6 * cell**2)
    return np.asarray(mass[:, None] * np.einsum("ij,ijk->ik", mass[near] * missing, apart))
