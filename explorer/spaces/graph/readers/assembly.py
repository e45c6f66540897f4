"""Do what all readers of graphs share: limits, finite numbers, both directions, and notes that count the odd."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.checks import Broken
from explorer.declare.samples import Sample
from explorer.spaces.graph.sample import graph_sample
from explorer.spaces.graph.samples.edges import both_ways
from explorer.spaces.graph.samples.texts import graph_excess
from explorer.work.limits import MAX_NODES

Numbers = NDArray[Any]
MOST_NAMES = 200_000  # nodes: more names than that are never read by anybody, and take a gigabyte
_MOST_COUNTED = 3_000_000  # listed edges: counting the parts of more takes longer than reading them
FEW_NODES, CLAIMED = 2**17, 64  # nodes that any file may claim, and for each thing that it tells
_SMALLER = "take a part of it"


@dataclass(slots=True)
class Found:
    """A graph as its file gives it, before it is checked. Undirected edges are in `pairs` once.

    `place` says where the k-th edge stands ("line 7"), `node_place` the same of a node.
    """

    nodes: int
    pairs: NDArray[np.int64]  # (edges, 2)
    directed: bool = False
    listed: bool = False  # whether `pairs` holds both directions already
    weight: Numbers | None = None
    attributes: Numbers | None = None
    x: Numbers | None = None
    position: Numbers | None = None
    label: Numbers | None = None
    seeds: Numbers | None = None
    batch: Numbers | None = None
    names: Sequence[str] = ()
    domain: str = "graph"
    notes: list[str] = field(default_factory=list)
    place: Callable[[int], str] = lambda k: f"edge {k}"
    node_place: Callable[[int], str] = lambda k: f"node {k}"


def require_nodes(nodes: int, told: int) -> None:
    """Raise Broken where a file claims more nodes than it may, of which it tells so many things.

    Nodes without an edge are only counted, so a short file could claim any number of them.
    """
    most = min(MAX_NODES, FEW_NODES + CLAIMED * told)
    if nodes > most:
        raise Broken(f"it claims {nodes} nodes, and with what it tells of them the most is {most}", _SMALLER)


def require_finite(values: Numbers, what: str, place: Callable[[int], str]) -> None:
    """Raise Broken when a number is NaN, infinite or beyond float32: how many and where the first is."""
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = np.asarray(values, np.float32)
    finite: NDArray[np.bool_] = np.asarray(np.isfinite(narrow).all(tuple(range(1, narrow.ndim))))
    bad = len(finite) - int(np.count_nonzero(finite))
    if bad:
        whose, have = ("edge", "edges") if what == "weight" or what.startswith("edge") else ("node", "nodes")
        article = "an" if what[0] in "aeiou" else "a"
        raise Broken(
            f"{bad} {whose if bad == 1 else have} {'has' if bad == 1 else 'have'} {article} {what} that is NaN, "
            f"infinite or beyond float32, the first at {place(int(np.argmin(finite)))}",
            "replace or leave out those values",
        )


def sample_of(path: Path, found: Found) -> Sample:
    """Check what was found in a file and wrap it as a sample.

    Self-loops and parallel edges are kept and counted in the notes, as are isolated nodes and separate parts.

    Raises:
        Broken: too large, no nodes, an edge to nowhere, values that are not finite.
    """
    pairs = np.asarray(found.pairs, np.int64).reshape(-1, 2)
    if wrong := graph_excess(found.nodes, len(pairs) * (1 if found.directed or found.listed else 2)):
        raise Broken(wrong, _SMALLER if found.nodes else "save one with at least one node")
    outside = (pairs < 0) | (pairs >= found.nodes)
    if outside.any():
        row, end = (int(i) for i in np.argwhere(outside)[0])
        raise Broken(
            f"{found.place(row)} leads to node {pairs[row, end]}, and there are nodes 0 to {found.nodes - 1}",
            "add the node or leave out the edge",
        )
    for values, what in ((found.weight, "weight"), (found.attributes, "edge attribute")):
        if values is not None:
            require_finite(values, what, found.place)
    for values, what in ((found.x, "attribute"), (found.position, "position")):
        if values is not None:
            require_finite(values, what, found.node_place)
    notes = [*found.notes, *_odd(found, pairs)]
    index, origin = (np.ascontiguousarray(pairs.T), None) if found.directed or found.listed else both_ways(pairs)

    def of_edges(values: Numbers | None) -> Numbers | None:
        return values if values is None or origin is None else np.asarray(values)[origin]

    x = found.x
    if x is not None and not len(x.T):
        x = None
    if found.batch is not None:
        batch = np.asarray(found.batch)
        if (np.diff(batch) < 0).any() or (len(batch) and batch.min() < 0):
            raise Broken("its 'batch' does not ascend from 0", "sort the nodes by the graph that they belong to")
    names = tuple(found.names)
    if found.nodes > MOST_NAMES and names:
        names = ()
        notes.append(f"names left out: there are more than {MOST_NAMES} nodes")
    try:
        return graph_sample(
            path.stem, x, index, nodes=found.nodes, title=path.name, edge_attr=of_edges(found.attributes),
            edge_weight=of_edges(found.weight), position=found.position, label=found.label, seeds=found.seeds,
            batch=found.batch, names=names, directed=found.directed, domain=found.domain, source=str(path),
            notes=tuple(notes),
        )  # fmt: skip
    except ValueError as error:
        raise Broken(str(error).removeprefix(f"{path.stem}: "), "make the arrays fit each other") from None


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _odd(found: Found, pairs: NDArray[np.int64]) -> list[str]:
    """Count self-loops, parallel edges, isolated nodes and separate parts."""
    if found.domain == "set":
        return []
    notes = []
    loops = int(np.count_nonzero(pairs[:, 0] == pairs[:, 1]))
    if loops:
        notes.append(_count(loops, "self-loop", "self-loops"))
    ends = pairs if found.directed or found.listed else np.sort(pairs, 1)
    keys = ends[:, 0] * found.nodes + ends[:, 1]
    keys.sort()
    parallel = int(np.count_nonzero(keys[1:] == keys[:-1]))
    if parallel:
        notes.append(_count(parallel, "edge is", "edges are") + " parallel to another: a multigraph")
    degree = np.bincount(pairs.ravel(), minlength=found.nodes)
    isolated = int(np.count_nonzero(degree == 0))
    if isolated and found.nodes > 1:
        notes.append(_count(isolated, "node has", "nodes have") + " no edge")
    if found.batch is None and 0 < len(pairs) <= _MOST_COUNTED:
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        ones = np.ones(len(pairs), np.int8)
        parts = connected_components(coo_array((ones, pairs.T), shape=(found.nodes, found.nodes)), False)[0]
        if parts - isolated > 1:
            notes.append(f"{parts - isolated} separate parts" + (" beside those" if isolated else ""))
    return notes
