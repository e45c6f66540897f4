"""Take what was read for another kind of data as a graph or a set, where it says what a network on these asks for."""

from __future__ import annotations

import numpy as np

from explorer.data.kinds import in_arrays, of_another_kind
from explorer.declare.samples import Sample
from explorer.spaces.graph.network.form import GraphInput
from explorer.spaces.graph.sample import graph_sample


def no_places(sample: Sample) -> str:
    """Return the sentence on data without coordinates, for a network that takes them."""
    return f"{sample.name!r} has no coordinates, and this network needs them; choose a point cloud" + in_arrays(
        sample, "points"
    )


def as_graph(sample: Sample, wanted: GraphInput) -> Sample:
    """Return a sample of any space as a graph or a set.

    Points with bonds are a graph. Points without are a set, for a network that takes coordinates and no edges: so are
    the vertices of a mesh.

    Raises:
        ValueError: it says neither; in one sentence.
    """
    if sample.domain in ("graph", "set"):
        return sample
    where, bonds = sample.signals.get("position"), sample.signals.get("bonds")
    asks_places = "position" in (wanted.features, *wanted.signals) and "edge_index" not in wanted.signals
    if where is None or where.values.ndim != 2 or (bonds is None and not asks_places):
        if asks_places:
            raise ValueError(no_places(sample))
        raise of_another_kind(sample, "graph", "set")
    once = np.zeros((2, 0), np.int64) if bonds is None else np.asarray(bonds.values, np.int64)
    note = "its points are taken as a set" if bonds is None else "its points and bonds are taken as a graph"
    return graph_sample(
        sample.name, None, np.concatenate([once, once[::-1]], 1), nodes=len(where.values), title=sample.title,
        position=np.asarray(where.values, np.float32), names=sample.names, source=sample.source,
        notes=(*sample.notes, note), domain="set" if bonds is None else "graph",
    )  # fmt: skip
