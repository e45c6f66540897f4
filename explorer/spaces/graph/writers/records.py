"""A graph as records: what GraphML, GML and JSON write of nodes and edges, under the names that the readers know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.declare.samples import Sample
from explorer.spaces.graph.samples.edges import is_symmetric, once

Value = int | float | str


@dataclass(frozen=True, slots=True)
class Listed:
    """A sample's edges as a file lists them: undirected ones once."""

    directed: bool
    ends: list[list[int]]
    kept: NDArray[np.int64]  # which of the sample's listed edges they are
    notes: tuple[str, ...] = ()


def number(value: Any) -> int | float:
    """Return a plain number that reads as the same float32: 0.1, not 0.10000000149011612."""
    if isinstance(value, np.integer):
        return int(value)
    short = float(str(np.float32(value)))
    return short if np.float32(short) == value else float(value)


def listed(sample: Sample) -> Listed:
    """Take the edges of a sample once each; one that calls itself undirected and is not is written as directed."""
    index = np.asarray(sample.signals["edge_index"].values, np.int64)
    values = [np.asarray(sample.signals[n].values) for n in ("edge_weight", "edge_attr") if n in sample.signals]
    notes: tuple[str, ...] = ()
    directed = sample.directed
    if not directed and not is_symmetric(index, *values):
        directed, notes = True, ("written as directed: its two directions differ",)
    kept = np.arange(index.shape[1]) if directed else once(index)
    return Listed(directed, index.T[kept].tolist(), kept, notes)


def node_records(sample: Sample) -> list[dict[str, Value]]:
    """Return the named values of each node: name, class, seeds, batch, x y z, x0 x1 ..."""
    records: list[dict[str, Value]] = [{} for _ in range(len(sample.x.values))]
    for i, name in enumerate(sample.names):
        records[i]["name"] = name
    for key, name in (("label", "class"), ("seeds", "seeds"), ("batch", "batch")):
        if key in sample.signals:
            for record, value in zip(records, sample.signals[key].values):
                record[name] = int(value)
    if "position" in sample.signals:
        for record, place in zip(records, sample.signals["position"].values):
            record |= {axis: number(v) for axis, v in zip("xyz", place)}
    for record, row in zip(records, sample.x.values):
        record |= {f"x{k}": number(v) for k, v in enumerate(row)}
    return records


def edge_records(sample: Sample, kept: NDArray[np.int64]) -> list[dict[str, Value]]:
    """Return the named values of the listed edges: weight, e0 e1 ..."""
    records: list[dict[str, Value]] = [{} for _ in kept]
    if "edge_weight" in sample.signals:
        for record, value in zip(records, sample.signals["edge_weight"].values[kept]):
            record["weight"] = float(number(value))
    if "edge_attr" in sample.signals:
        for record, row in zip(records, sample.signals["edge_attr"].values[kept]):
            record |= {f"e{k}": number(v) for k, v in enumerate(row)}
    return records


def left_out(sample: Sample, held: tuple[str, ...]) -> tuple[str, ...]:
    """Say which of a sample's signals a format with room for `held` does not keep."""
    lost = [name for name, signal in sample.signals.items() if name not in held and signal.values.size]
    lost += ["names"] if sample.names and "names" not in held else []
    return (f"left out, since the format has no place for it: {', '.join(lost)}",) if lost else ()
