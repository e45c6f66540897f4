"""Wrap a graph or a set as a sample."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Array, Sample, Signal
from explorer.declare.types.fields import FieldType
from explorer.spaces.graph.fields import EDGE_INDEX, EDGE_INPUT, NODE_INPUT, Edges, Graphs, Nodes


def graph_sample(
    name: str,
    x: Array | None,
    edge_index: NDArray[np.integer],
    *,
    nodes: int | None = None,
    title: str = "",
    edge_attr: Array | None = None,
    edge_weight: Array | None = None,
    position: Array | None = None,
    label: NDArray[np.integer] | None = None,
    seeds: NDArray[np.integer] | None = None,
    batch: NDArray[np.integer] | None = None,
    names: tuple[str, ...] = (),
    directed: bool = False,
    domain: str = "graph",
    source: str = "",
    notes: tuple[str, ...] = (),
) -> Sample:
    """Wrap a graph or a set.

    Args:
        x: (nodes, channels) attributes of the nodes, or None: then there are `nodes` of them with no attributes,
            x is (nodes, 0), and explorer.spaces.graph.network.features makes from the structure what a network is fed.
        edge_index: (2, edges), from and to; an undirected edge is listed in both directions (a self-loop once).
        edge_attr, edge_weight: (edges, channels) and (edges,).
        position: (nodes, 2 or 3), to draw at, and the coordinates of a point cloud.
        label: (nodes,) known classes; -1 where unknown.
        seeds: (nodes,) the class of the few nodes whose class a network is told, -1 elsewhere.
        batch: (nodes,) which graph of several each node belongs to, ascending from 0.
        names: of the nodes.
        domain: "graph", or "set" when there are no edges by nature.

    Raises:
        ValueError: shapes that do not fit each other, an edge to a node that is not there.
    """
    index = np.ascontiguousarray(edge_index, dtype=np.int64)
    if index.ndim != 2 or index.shape[0] != 2:
        raise ValueError(f"{name}: edge_index must be (2, edges), got shape {index.shape}")
    n = len(x) if x is not None else nodes if nodes is not None else int(index.max(initial=-1)) + 1
    if index.size and (index.min() < 0 or index.max() >= n):
        bad = int(np.flatnonzero((index < 0).any(0) | (index >= n).any(0))[0])
        raise ValueError(
            f"{name}: edge {bad} joins nodes {index[0, bad]} and {index[1, bad]}, but there are {n} nodes (from 0)"
        )
    values = np.zeros((n, 0), np.float32) if x is None else np.ascontiguousarray(x, dtype=np.float32)
    signals: dict[str, Signal] = {"x": Signal(values, NODE_INPUT), "edge_index": Signal(index, EDGE_INDEX)}
    places = {"edge_attr": index.shape[1], "edge_weight": index.shape[1]}
    given = {
        "edge_attr": (edge_attr, EDGE_INPUT), "edge_weight": (edge_weight, EDGE_INPUT),
        "position": (position, FieldType(Nodes())), "label": (label, FieldType(Nodes())),
        "seeds": (seeds, FieldType(Nodes())), "batch": (batch, FieldType(Nodes())),
    }  # fmt: skip
    for key, (array, kind) in given.items():
        if array is None:
            continue
        if len(array) != places.get(key, n):
            raise ValueError(f"{name}: {key} has {len(array)} rows, and there are {places.get(key, n)} places for it")
        if key in ("label", "seeds", "batch"):
            signals[key] = Signal(np.ascontiguousarray(array, dtype=np.int64), kind)
        else:
            signals[key] = Signal(np.ascontiguousarray(array, dtype=np.float32), kind)
    if values.ndim != 2:
        raise ValueError(f"{name}: x must be (nodes, channels), got shape {values.shape}")
    if names and len(names) != n:
        raise ValueError(f"{name}: {len(names)} names for {n} nodes")
    made = Sample(name, domain, MappingProxyType(signals), title or name, None, source, notes, tuple(names), directed)
    return replace(made, parts=graphs_in(made))


def graphs_in(sample: Sample) -> int:
    """Return how many graphs a sample holds as a batch."""
    batch = sample.signals.get("batch")
    return int(batch.values.max()) + 1 if batch is not None and len(batch.values) else 1


def one_graph(sample: Sample, part: str) -> Sample | None:
    """Return the k-th of several graphs, `part` = "k" from 1; None for a sample that is no batch.

    Raises:
        ValueError: there are not so many.
    """
    if "batch" not in sample.signals:
        return None
    count = graphs_in(sample)
    if not (part.isascii() and part.isdigit() and 1 <= int(part[:12]) <= count):
        raise ValueError(f"{sample.name!r} has no part {part[:40]!r}: it holds {count} graphs, #1 to #{count}")
    kept = np.asarray(sample.signals["batch"].values) == int(part) - 1
    at = np.cumsum(kept) - 1
    index = np.asarray(sample.signals["edge_index"].values)
    within = kept[index[0]] & kept[index[1]]

    def of(signal: Signal) -> Signal:
        values, domain = signal.values, signal.field.domain
        if signal.field == EDGE_INDEX:
            return Signal(np.ascontiguousarray(at[index[:, within]]), signal.field)
        rows = kept if isinstance(domain, Nodes) else within if isinstance(domain, Edges) else slice(None)
        if isinstance(domain, Graphs) and len(values) == count:
            rows = np.arange(count) == int(part) - 1
        return Signal(values[rows].copy(), signal.field)

    signals = {name: of(signal) for name, signal in sample.signals.items() if name != "batch"}
    names = tuple(name for name, here in zip(sample.names, kept, strict=True) if here) if sample.names else ()
    return replace(
        sample, name=f"{sample.name}#{part}", title=f"{sample.title}, {part} of {count}", names=names,
        signals=MappingProxyType(signals), notes=(f"the graph {part} of {count}", *sample.notes),
    )  # fmt: skip
