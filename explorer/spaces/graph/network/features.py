"""Make the input of networks on graphs: features of the nodes made from the structure, and samples fitted to a card."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from explorer.data.formats.named_columns import named_columns
from explorer.declare.samples import Sample, Signal
from explorer.declare.telling.counting import number_of
from explorer.declare.types.fields import PAIR, FieldType
from explorer.spaces.graph.analysis.measures import clustering, core_numbers, neighbours, simple_graph
from explorer.spaces.graph.chemistry.atoms import COLUMNS, SYMBOLS, element_of, one_hot
from explorer.spaces.graph.chemistry.bonds import bond_kinds
from explorer.spaces.graph.chemistry.orders import TOLD, drawn_kinds
from explorer.spaces.graph.fields import BETWEEN, EDGE_INPUT, GRAPH, NODE_INPUT, Edges, Nodes
from explorer.spaces.graph.network.beside import signals_beside
from explorer.spaces.graph.network.elsewhere import as_graph, no_places
from explorer.spaces.graph.network.form import GraphInput

Floats = NDArray[np.float32]

WIDTHS = {"seeds": 6, "atoms": len(COLUMNS), "degree": 4, "constant": 1}  # position: as many as coordinates
CLASSES = 4  # columns of "seeds" that tell a class
_OF_EDGES = {"edge_weight": "weights", "edge_attr": "attributes"}
_WHAT = {
    "seeds": "the classes of the told nodes, a constant and the degree",
    "atoms": "one column for each chemical element",
    "degree": "a constant, degree, clustering coefficient and core number",
    "constant": "a constant",
    "position": "the coordinates",
}


def node_features(sample: Sample, kind: str, channels: int | None = None) -> Floats:
    """Return (nodes, channels) float32 features of a kind; no `channels` takes the kind's own width.

    "seeds": 4 columns one-hot of the class of told nodes, 1, log(1 + degree) / 4. "atoms": H, C, N, O, F, S, Cl or Br,
    other. "degree": 1, log(1 + degree) / 4, clustering coefficient, core number / 8. "constant": ones. "position":
    coordinates. The degree counts the listed edges that end at the node. Other widths are cut, or filled with zeros.

    Raises:
        ValueError: an unknown kind, or a sample without what it is made of.
    """
    makers: dict[str, Callable[[Sample], NDArray[np.floating]]] = {
        "seeds": _seeds, "atoms": _atoms, "degree": _degree, "constant": _constant, "position": _position
    }  # fmt: skip
    if kind not in makers:
        raise ValueError(f"there are no features {kind!r} of nodes; they are {', '.join(makers)}")
    values = np.asarray(makers[kind](sample), np.float32)
    if channels is None or values.shape[1] == channels:
        return np.ascontiguousarray(values)
    if kind == "constant":
        return np.ones((len(values), channels), np.float32)
    return _width(values, channels)


def _width(values: NDArray[np.floating], channels: int) -> Floats:
    """Cut columns, or fill them up with zeros."""
    result = np.zeros((len(values), channels), np.float32)
    kept = min(channels, values.shape[1])
    result[:, :kept] = values[:, :kept]
    return result


def _folded(values: NDArray[np.floating], channels: int) -> Floats:
    """Add columns to each other until there are so many, or fill them up with zeros: what a node has is kept."""
    result = np.zeros((len(values), channels), np.float32)
    for column in range(values.shape[1]):
        result[:, column % channels] += values[:, column]
    return result


def _index(sample: Sample) -> NDArray[np.int64]:
    return np.asarray(sample.signals["edge_index"].values, np.int64)


def _degrees(sample: Sample) -> NDArray[np.float64]:
    index = _index(sample)
    return np.asarray(np.log1p(np.bincount(index[1], minlength=len(sample.x.values))) / 4)


def told_nodes(sample: Sample) -> tuple[NDArray[np.int64], str]:
    """Return (nodes,) the class of the told nodes, -1 elsewhere, and a note where they had to be chosen.

    Without seeds the node with the most neighbours stands for class 0; for class 1 the one with the most that is
    neither that node nor its neighbour, if there is one. The first of equals is taken.
    """
    if "seeds" in sample.signals:
        return np.asarray(sample.signals["seeds"].values, np.int64), ""
    nodes = len(sample.x.values)
    seeds = np.full(nodes, -1, np.int64)
    if not nodes:
        return seeds, ""
    if "batch" in sample.signals and np.any(sample.signals["batch"].values):
        # to point out a node of one graph and none of the other would tell the two apart
        return seeds, "no node is told, and of several graphs none is chosen"
    starts, others = neighbours(_index(sample), nodes)
    degree = np.diff(starts)
    first = int(degree.argmax())
    seeds[first] = 0
    chosen = [first]
    if nodes > 1:
        near = np.zeros(nodes, bool)
        near[others[starts[first] : starts[first + 1]]] = True
        near[first] = True
        free = np.flatnonzero(~near) if not near.all() else np.flatnonzero(np.arange(nodes) != first)
        chosen.append(int(free[degree[free].argmax()]))
        seeds[chosen[1]] = 1
    names = " and ".join(sample.names[i] if sample.names else str(i) for i in chosen)
    return seeds, f"no node is told; those with the most edges stand for the classes: {names}"


def _seeds(sample: Sample) -> NDArray[np.floating]:
    told = told_nodes(sample)[0]
    values = np.zeros((len(told), CLASSES + 2))
    known = np.flatnonzero((told >= 0) & (told < CLASSES))
    values[known, told[known]] = 1.0
    values[:, CLASSES] = 1.0
    values[:, CLASSES + 1] = _degrees(sample)
    return values


def _atoms(sample: Sample) -> NDArray[np.floating]:
    x = sample.x.values
    if x.shape[1] == len(COLUMNS) and bool(((x == 0) | (x == 1)).all()) and bool((x.sum(1) == 1).all()):
        return np.asarray(x, np.float32)
    return one_hot([element_of(name) or "C" for name in sample.names] if sample.names else ["C"] * len(x))


def _degree(sample: Sample) -> NDArray[np.floating]:
    nodes = len(sample.x.values)
    graph = simple_graph(_index(sample), nodes)
    columns = [np.ones(nodes), _degrees(sample), clustering(graph), core_numbers(graph) / 8]
    return np.stack(columns, 1)


def _constant(sample: Sample) -> NDArray[np.floating]:
    return np.ones((len(sample.x.values), 1))


def _position(sample: Sample) -> NDArray[np.floating]:
    if "position" not in sample.signals:
        raise ValueError(no_places(sample))
    return np.asarray(sample.signals["position"].values, np.float32)


def fit_graph(sample: Sample, wanted: GraphInput) -> Sample:
    """Return the sample with the signals that a network on graphs is called with; what was made is told in the notes.

    x is the sample's own where its width is the wanted one, or its columns are found by name, else features of
    `wanted.features`. Missing weights are ones, a missing batch zeros, a missing edge_attr one column of the weights.

    Raises:
        ValueError: no graph or set, no nodes, more than `wanted.most`, no coordinates where they are asked for.
    """
    sample = as_graph(sample, wanted)
    own = np.asarray(sample.x.values)
    nodes, edges = len(own), sample.signals["edge_index"].values.shape[1]
    if not nodes:
        raise ValueError(f"{sample.name!r} has no nodes, and this network needs at least one")
    if wanted.most is not None and nodes > wanted.most:
        raise ValueError(
            f"{sample.name!r} has {nodes} nodes, and this network takes at most {wanted.most}; choose a smaller graph"
        )
    notes: list[str] = []
    made = dict(sample.signals)
    channels = sample.channels
    if wanted.columns and set(wanted.columns) & set(channels):
        surplus = () if wanted.channels is not None else tuple(c for c in channels if c not in wanted.columns)
        values, note = named_columns(own, channels, (*wanted.columns, *surplus))
        made["x"], channels = Signal(values, NODE_INPUT), (*wanted.columns, *surplus)
        notes += [note] if note else []
    elif wanted.columns or not own.shape[1] or (wanted.channels is not None and own.shape[1] != wanted.channels):
        channels = ()
        made["x"] = Signal(_features(sample, wanted, notes), NODE_INPUT)
    elif sample.x.field != NODE_INPUT:
        made["x"] = Signal(np.ascontiguousarray(own, np.float32), NODE_INPUT)
    if "edge_weight" not in made and "edge_weight" in wanted.signals:
        made["edge_weight"] = Signal(np.ones(edges, np.float32), EDGE_INPUT)
    if (kinds := drawn_kinds(sample)) is not None:  # for pictures, whatever a network takes of the attributes
        made["bond"] = Signal(kinds, FieldType(Edges()))
        notes += [TOLD] if bond_kinds(sample) is None else []
    if "edge_attr" in wanted.signals:
        made["edge_attr"] = Signal(_edge_attributes(sample, wanted.edge_channels, notes), EDGE_INPUT)
    if "batch" not in made and "batch" in wanted.signals:
        made["batch"] = Signal(np.zeros(nodes, np.int64), FieldType(Nodes()))
    if "adjacency" in wanted.signals:
        made["adjacency"] = Signal(_adjacency(sample), PAIR)
    if "number" in wanted.signals:
        numbers = np.asarray(made["number"].values, np.int64) if "number" in made else _numbers(sample, notes)
        made["number"] = Signal(wanted.within(numbers, notes), FieldType(Nodes()))
    if "mask" in wanted.signals and "mask" not in made:
        made["mask"] = Signal(np.arange(nodes) % 3 != 2, FieldType(Nodes()))
        notes.append("mask leaves out every third node")
    if "other" in wanted.signals and "other" not in made:
        made["other"] = Signal(_second_set(made["x"].values, wanted.other_channels), GRAPH)
        notes.append("other is a second set of random numbers")
    if "between" in wanted.signals and "between" not in made:
        count = len(made["other"].values)
        made["between"] = Signal(_index(sample) % np.array([[nodes], [count]]), BETWEEN)
        notes.append(f"its edges lead to the {count} of the second set, numbers modulo {count}")
    if "position" in wanted.signals:
        _position(sample)
    if wanted.beside:
        made |= signals_beside(wanted.beside, nodes, edges)
        notes.append(f"{', '.join(name for name, _ in wanted.beside)}: random numbers in place of the data")
    taken = {*wanted.signals, *(("edge_weight",) if {"edge_attr", "adjacency"} & set(wanted.signals) else ())}
    if ignored := [what for name, what in _OF_EDGES.items() if name in sample.signals and name not in taken]:
        notes.append(f"{' and '.join(ignored)} of edges ignored: this network takes none")
    unknown = [name for name in wanted.signals if name not in made]
    if unknown:
        raise ValueError(f"{sample.name!r} has no {unknown[0]!r}, and this network asks for it")
    return replace(sample, signals=MappingProxyType(made), channels=channels, notes=sample.notes + tuple(notes))


def _second_set(x: NDArray[np.generic], channels: int | None) -> Floats:
    """Return (elements, channels) of random numbers, of fewer elements than x has."""
    size = (max(3, len(x) - 2), channels or x.shape[1])
    return np.random.default_rng(0).standard_normal(size).astype(np.float32)


def _adjacency(sample: Sample) -> Floats:
    """Return (nodes, nodes): the weight of the edge that leads to the row's node from the column's, 0 for none."""
    weights = sample.signals.get("edge_weight")
    index, nodes = _index(sample), len(sample.x.values)
    found = np.zeros((nodes, nodes), np.float32)
    np.add.at(found, (index[1], index[0]), 1.0 if weights is None else np.asarray(weights.values, np.float32))
    return found


def _numbers(sample: Sample, notes: list[str]) -> NDArray[np.int64]:
    """Return atomic numbers; of nodes that are no atoms, how many edges end there."""
    elements = [element_of(name) for name in sample.names]
    if elements and all(elements):
        return np.array([SYMBOLS.index(str(e)) + 1 for e in elements], np.int64)
    found = np.bincount(_index(sample)[1], minlength=len(sample.x.values)).astype(np.int64)
    if len(set(found.tolist())) > 1 or len(found) < 2:
        notes.append("number is the degree of a node: its nodes are no atoms")
        return found
    # equal numbers at all nodes would be the same however they are renumbered
    notes.append("number is drawn at random: the nodes are no atoms, and all have as many edges")
    return np.random.default_rng(0).integers(0, max(int(found.max()), 1) + 1, len(found))


def _features(sample: Sample, wanted: GraphInput, notes: list[str]) -> Floats:
    kind, have = wanted.features, sample.x.values.shape[1]
    if kind == "seeds" and have and wanted.channels and not (wanted.columns or _index(sample).size):
        # without an edge no node stands out: one that were told would be any
        done = "filled up with zeros to" if have < wanted.channels else "added up into"
        notes.append(f"{number_of(have, 'column')} of x {done} {wanted.channels}")
        return _folded(np.asarray(sample.x.values, np.float32), wanted.channels)
    values = node_features(sample, kind)
    if kind == "seeds":
        told, note = told_nodes(sample)
        if note:
            notes.append(note)
        if told.max(initial=-1) >= CLASSES:
            notes.append(f"classes above {CLASSES - 1} are not told")
    if kind == "atoms" and have != len(COLUMNS) and not any(map(element_of, sample.names)):
        notes.append("no atoms are known: every node stands for a carbon")
    replaced = f"in place of its {have} attributes, " if have else ""
    notes.append(f"{replaced}x is {_WHAT[kind]}")
    width = values.shape[1]
    if wanted.channels is not None and width != wanted.channels and kind != "constant":
        done = "filled with zeros" if width < wanted.channels else "cut"
        notes.append(f"{width} columns of x {done} to {wanted.channels}")
    return node_features(sample, kind, wanted.channels) if wanted.channels is not None else values


def _edge_attributes(sample: Sample, channels: int | None, notes: list[str]) -> Floats:
    edges = sample.signals["edge_index"].values.shape[1]
    if "edge_attr" in sample.signals:
        values = np.asarray(sample.signals["edge_attr"].values, np.float32)
    elif "edge_weight" in sample.signals:
        values = np.asarray(sample.signals["edge_weight"].values, np.float32).reshape(edges, 1)
        notes.append("edge_attr is the weight")
    else:
        values = np.ones((edges, 1), np.float32)
    if channels is None or values.shape[1] == channels:
        return np.ascontiguousarray(values)
    done = "filled with zeros" if values.shape[1] < channels else "cut"
    notes.append(f"{values.shape[1]} columns of edge_attr {done} to {channels}")
    return _width(values, channels)
