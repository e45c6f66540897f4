"""Samples: a domain with signals on it, as plain read-only numpy arrays.

A provider is ONE file in this package that exports ONE constant, SAMPLES, a tuple of `SampleSpec`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from explorer.spaces.graph.fields import EDGE_INDEX, EDGE_INPUT, NODE_INPUT, Nodes
from explorer.spaces.mesh.fields import FACES, VERTEX, VERTEX_POSITION
from explorer.spaces.sequence.fields import STEP, STEP_INPUT
from explorer.declare.fields import FieldType, Scalar
from explorer.spaces.grid.fields import grid

Array = NDArray[np.floating] | NDArray[np.integer]


@dataclass(frozen=True, eq=False, slots=True)
class Signal:
    """Values with their field type. Grid: (channels, height, width), no batch axis; node field: (nodes, channels);
    edge field: (edges, channels); edge index: (2, edges) int64; step field: (steps, channels);
    vertex field: (vertices, ...); faces: (faces, 3) int64, counter-clockwise from outside."""

    values: Array
    field: FieldType

    def __post_init__(self) -> None:
        self.values.flags.writeable = False


@dataclass(frozen=True, eq=False, slots=True)
class Sample:
    """A domain with its signals; the first signal is the one shown as x.

    Grid images are float32 in [0, 1] where the file's type has a known range (8 and 16 bit), and as stored
    where it has none (float). `notes` are sentences worth telling ("16-bit, scaled by 1/65535").
    """

    name: str
    domain: str
    signals: Mapping[str, Signal]
    title: str = ""
    label: int | None = None
    source: str = ""
    notes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()  # of the nodes or steps, or empty
    directed: bool = False
    channels: tuple[str, ...] = ()  # of a sequence: what each column of x is (a quantity, a symbol), or empty
    rate: float = 0.0  # of a sequence: steps in a second, or 0 where that is not known
    parts: int = 1  # how many there are in the file or batch that it comes from: "name#k" is the k-th
    label_names: tuple[str, ...] = ()  # of a mesh: what each class of `label` is called, or empty

    @property
    def x(self) -> Signal:
        return next(iter(self.signals.values()))


def image_sample(
    values: Array,
    name: str,
    *,
    title: str = "",
    label: int | None = None,
    source: str = "",
    notes: tuple[str, ...] = (),
) -> Sample:
    """Wrap an image, (channels, height, width) float32, as a grid sample."""
    array = np.ascontiguousarray(values, dtype=np.float32)
    if array.ndim != 3:
        raise ValueError(f"an image sample needs (channels, height, width), got shape {array.shape}")
    signals = MappingProxyType({"x": Signal(array, grid(Scalar(intensity=True)))})
    return Sample(name, "grid", signals, title or name, label, source, notes)


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
            x is (nodes, 0), and what a network is fed is made from the structure (explorer.spaces.graph.features).
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
    return Sample(name, domain, MappingProxyType(signals), title or name, None, source, notes, tuple(names), directed)


def sequence_sample(
    name: str,
    x: Array,
    *,
    title: str = "",
    time: NDArray[np.floating] | None = None,
    label: NDArray[np.integer] | None = None,
    batch: NDArray[np.integer] | None = None,
    names: tuple[str, ...] = (),
    channels: tuple[str, ...] = (),
    rate: float = 0.0,
    source: str = "",
    notes: tuple[str, ...] = (),
) -> Sample:
    """Wrap a sequence, or several of unequal length one after the other.

    Args:
        x: (steps, channels), or (steps,) for one channel. Symbols are one-hot; DNA has the columns A, C, G, T, and a
            letter that is not known is 0.25 in each.
        time: (steps,) when each step was, ascending within a sequence; None where steps are equally far apart.
        label: (steps,) what is to be said at each step; -1 where nothing is.
        batch: (steps,) which sequence of several each step belongs to, ascending from 0.
        names: the text of each step (letters, words).
        channels: what each column of x is: a quantity, a symbol.
        rate: steps in a second, or 0.

    Raises:
        ValueError: shapes that do not fit each other, values that are not finite, time that does not ascend.
    """
    values: NDArray[np.float32] = np.array(x, dtype=np.float32, ndmin=1)
    values = np.ascontiguousarray(values[:, None] if values.ndim == 1 else values)
    if values.ndim != 2:
        raise ValueError(f"{name}: x must be (steps, channels), got shape {values.shape}")
    steps = len(values)
    if not np.isfinite(values).all():
        t, c = np.argwhere(~np.isfinite(values))[0].tolist()
        raise ValueError(f"{name}: the value of channel {c} at step {t} is not finite")
    signals = {"x": Signal(values, STEP_INPUT)}
    for key, array in (("time", time), ("label", label), ("batch", batch)):
        if array is None:
            continue
        if np.shape(array) != (steps,):
            raise ValueError(f"{name}: {key} has shape {np.shape(array)}, and there are {steps} steps")
        # seconds since 1970 and a millisecond do not fit in float32
        kept = np.array(array, np.float64) if key == "time" else np.array(array, np.int64)
        signals[key] = Signal(kept, STEP)
    numbers = signals["batch"].values if "batch" in signals else np.zeros(steps, np.int64)
    if steps and (numbers[0] != 0 or not np.isin(np.diff(numbers), (0, 1)).all()):
        raise ValueError(f"{name}: batch must number the sequences 0, 1, 2, ... one after the other")
    if time is not None:
        if not np.isfinite(signals["time"].values).all():
            raise ValueError(f"{name}: time is not finite everywhere")
        late = np.flatnonzero((np.diff(signals["time"].values) <= 0) & (np.diff(numbers) == 0))
        if late.size:
            raise ValueError(f"{name}: time does not ascend from step {late[0]} to step {late[0] + 1}")
    for what, texts, places in (("names", names, steps), ("channels", channels, values.shape[1])):
        if texts and len(texts) != places:
            raise ValueError(f"{name}: {len(texts)} {what}, and there are {places} places for them")
    return Sample(
        name, "time", MappingProxyType(signals), title or name, None, source, notes, tuple(names),
        channels=tuple(channels), rate=rate, parts=int(numbers[-1]) + 1 if steps else 1,
    )  # fmt: skip


def mesh_sample(
    name: str,
    vertices: NDArray[np.floating],
    faces: NDArray[np.integer],
    *,
    labels: NDArray[np.integer] | None = None,
    label_names: tuple[str, ...] = (),
    poses: Mapping[str, NDArray[np.floating]] | None = None,
    more: Mapping[str, Array] | None = None,
    title: str = "",
    source: str = "",
    notes: tuple[str, ...] = (),
) -> Sample:
    """Wrap a triangle mesh; that it is a surface is the business of `explorer.spaces.mesh.repair`.

    Args:
        vertices: (vertices, 3) positions.
        faces: (faces, 3) numbers of vertices, counter-clockwise seen from outside.
        labels: (vertices,) known classes; -1 where unknown.
        label_names: what class 0, 1, ... is called.
        poses: other positions of the same vertices by name; they become the signals "pose:<name>".
        more: further values at each vertex by the name of their signal: "scalar:height", "label:side".

    Raises:
        ValueError: shapes that do not fit each other, a position that is not finite, a face with a vertex that is not
            there or twice the same.
    """
    places, corners = np.array(vertices, np.float64), np.array(faces, np.int64)
    for what, array in (("vertices", places), ("faces", corners)):
        if array.ndim != 2 or array.shape[1] != 3:
            raise ValueError(f"{name}: {what} must be ({what}, 3), got shape {array.shape}")
    outside = ((corners < 0) | (corners >= len(places))).any(1)
    twice = (corners == np.roll(corners, 1, 1)).any(1)
    for wrong, says in ((outside, f"but there are {len(places)} vertices (from 0)"), (twice, "twice the same")):
        if wrong.any():
            bad = int(np.argmax(wrong))
            raise ValueError(f"{name}: face {bad} joins vertices {', '.join(map(str, corners[bad]))}, {says}")
    if not len(corners):
        raise ValueError(f"{name}: there are no faces, and a mesh has at least one")
    signals = {"position": Signal(places, VERTEX_POSITION), "faces": Signal(corners, FACES)}
    given: dict[str, Array] = {} if labels is None else {"label": np.array(labels, np.int64)}
    given |= {f"pose:{key}": np.array(values, np.float64) for key, values in (poses or {}).items()}
    given |= {key: values.copy() for key, values in (more or {}).items()}
    for key, values in given.items():
        shape = places.shape if key.startswith("pose:") else (len(places), *values.shape[1:])
        if values.shape != shape:
            raise ValueError(f"{name}: {key} has shape {values.shape}, and there are {len(places)} vertices")
        signals[key] = Signal(values, VERTEX_POSITION if key.startswith("pose:") else VERTEX)
    for key, signal in signals.items():
        if not np.isfinite(signal.values).all():
            row = int(np.argwhere(~np.isfinite(signal.values))[0][0])
            raise ValueError(f"{name}: the {key} of vertex {row} is not finite")
    if label_names and labels is not None and int(np.max(labels, initial=-1)) >= len(label_names):
        raise ValueError(f"{name}: there is a class {int(np.max(labels))}, and {len(label_names)} names of classes")
    return Sample(
        name, "mesh", MappingProxyType(signals), title or name, None, source, notes, label_names=tuple(label_names)
    )


@dataclass(frozen=True, slots=True)
class SampleSpec:
    """A sample that can be made by name; `make` runs only when it is asked for."""

    name: str
    title: str
    domain: str
    make: Callable[[], Sample]
    summary: str = ""
    tags: tuple[str, ...] = field(default=())
