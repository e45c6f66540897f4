"""Make what networks on points are called with: features of the points, and which of them are joined."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from explorer.data.kinds import in_arrays
from explorer.declare.samples import Sample, Signal
from explorer.declare.space import domain_word
from explorer.spaces.graph.chemistry.atoms import COLUMNS, SYMBOLS, element_of, one_hot
from explorer.spaces.graph.chemistry.bonds import bond_kinds
from explorer.spaces.graph.chemistry.orders import TOLD, orders_by_valence
from explorer.spaces.graph.fields import EDGE_INDEX, EDGE_INPUT
from explorer.spaces.graph.sample import graphs_in, one_graph
from explorer.spaces.points.fields import PARTICLE, PARTICLE_INPUT, POSITION
from explorer.spaces.points.network.form import PointsInput
from explorer.spaces.points.network.frames import FRAMES, drawn_frames
from explorer.spaces.points.sample import NUMBER, coincident, doubtful_units
from explorer.spaces.points.vectors import vector_signals

MOST_EDGES = 2**22
FAR = 1000  # times its size: nearer to the origin, single precision keeps four digits of where points are in it
TIE = 1e-9  # relative; distances that are nearer than this to each other are equal
_WHERE = "the places of its points in space"


def fit_points(sample: Sample, wanted: PointsInput) -> Sample:
    """Return the sample with every signal that a network on points is called with.

    Samples of other spaces are taken where they say where their places are: a molecule that was read as a graph, the
    vertices of a mesh.

    Raises:
        ValueError: no places in space, more or fewer of them than the network takes, or features that there are not.
    """
    sample = near_origin(in_space(sample))
    places = np.asarray(sample.signals["position"].values, np.float64)
    n = len(places)
    if wanted.most is not None and n > wanted.most:
        raise ValueError(
            f"{sample.name!r} has {n:,} points, and this network takes at most {wanted.most:,}; open fewer of them"
        )
    if n < (wanted.least or 0):
        raise ValueError(f"{sample.name!r} has {n:,} points, and this network needs at least {wanted.least:,}")
    made = dict(sample.signals)
    if "x" in wanted.signals:
        made["x"] = Signal(features(sample, wanted.features, wanted.channels), PARTICLE_INPUT)
    if {"edge_index", "edge_attr"} & set(wanted.signals):
        index = joined(sample, places, wanted)
        made["edge_index"] = Signal(index, EDGE_INDEX)
        if "edge_attr" in wanted.signals:
            charge = _charges(sample)
            made["edge_attr"] = Signal((charge[index[0]] * charge[index[1]])[:, None], EDGE_INPUT)
    notes: list[str] = []
    if "number" in wanted.signals:
        made["number"] = Signal(wanted.within(_numbers(sample), notes), PARTICLE)
    if "charge" in wanted.signals:
        made["charge"] = Signal(_charges(sample)[:, None], PARTICLE_INPUT)
    if "velocity" in wanted.signals and "velocity" not in made:
        raise ValueError(f"{sample.name!r} has no velocities, and this network takes them; open bodies that move")
    if "frames" in wanted.signals:
        made["frames"] = Signal(drawn_frames(n), FRAMES)
    made["batch"] = Signal(np.zeros(n, np.int64), PARTICLE)
    first = wanted.signals[0]
    ordered = {first: made[first]} | {name: signal for name, signal in made.items() if name != first}
    return replace(sample, signals=MappingProxyType(ordered), notes=(*sample.notes, *notes, *_unused(sample, wanted)))


def _unused(sample: Sample, wanted: PointsInput) -> list[str]:
    """Return notes of what a file says of its points and the network does not hear, and of what it asks in vain."""
    hears = "x" in wanted.signals and wanted.features
    told = []
    if (given := sample.signals.get("values")) is not None and hears != "values":
        width = given.values.shape[1]
        told.append(f"{width} value{'s' * (width != 1)} at each point ignored: this network takes none")
    told += [
        f"{name} at each point: drawn as arrows, and this network takes none"
        for name in vector_signals(sample) if name not in wanted.signals
    ]  # fmt: skip
    if about_atoms(wanted) and "number" not in sample.signals:
        told.append("this network is about atoms, and no point says which one it is")
    return told


def about_atoms(wanted: PointsInput) -> bool:
    """Return whether a network asks which element a point is."""
    return "number" in wanted.signals or ("x" in wanted.signals and wanted.features in ("elements", "number"))


def in_space(sample: Sample) -> Sample:
    """Return a sample of any space as points in space.

    Raises:
        ValueError: it does not say where its places are in space.
    """
    if sample.domain == "points":
        return sample
    where = sample.signals.get("position")
    if where is not None and where.values.ndim == 2 and where.values.shape[1] == 2:
        raise ValueError(
            f"{sample.name!r} is flat: each of its points has two coordinates, and this network takes places in space"
        )
    if where is None or where.values.ndim != 2 or where.values.shape[1] != 3:
        raise ValueError(
            f"{sample.name!r} lies on a {domain_word(sample.domain)} without {_WHERE}, and this network takes them"
            + in_arrays(sample, "points")
        )
    if (count := graphs_in(sample)) > 1:  # each has space for itself: beside each other they would hear each other
        first = one_graph(sample, "1")
        assert first is not None
        name = Path(sample.source).name or sample.name
        note = f"the first of {count}: this network takes one at a time, and {name}#2 is the next"
        return in_space(replace(first, name=sample.name, title=sample.title, notes=(note, *sample.notes)))
    signals = {"position": Signal(np.array(where.values, np.float64), POSITION)}
    elements = [element_of(name) for name in sample.names]
    if elements and all(elements):
        signals["number"] = Signal(np.array([NUMBER[e] for e in elements], np.int64), PARTICLE)
    index, by_valence = sample.signals.get("edge_index"), False
    if index is not None and (once := index.values[0] < index.values[1]).any():
        signals["bonds"] = Signal(np.array(index.values[:, once], np.int64), PARTICLE)
        if (kinds := bond_kinds(sample)) is not None:
            signals["bond_kinds"] = Signal(kinds[once], PARTICLE)
        elif "number" in signals:
            atoms, pairs = (np.asarray(signals[name].values, np.int64) for name in ("number", "bonds"))
            if by_valence := (orders := orders_by_valence(atoms, pairs)) is not None:
                signals["bond_kinds"] = Signal(orders, PARTICLE)
    places = np.asarray(signals["position"].values, np.float64)
    told = [coincident(places), TOLD if by_valence else ""]
    if "number" in signals:
        told.append(doubtful_units(np.asarray(signals["number"].values, np.int64), places))
    notes = (*sample.notes, *filter(None, told))
    return replace(sample, domain="points", signals=MappingProxyType(signals), label_names=(), notes=notes)


def near_origin(sample: Sample) -> Sample:
    """Return points that lie far from the origin for their size, as a survey's do, with their middle there.

    Single precision would not tell them apart, and turning them about the origin rounds by as much.
    """
    places = np.asarray(sample.signals["position"].values, np.float64)
    low, high = places.min(0), places.max(0)
    size, middle = float((high - low).max()), np.rint((low + high) / 2)
    if not 0 < size * FAR < np.abs(middle).max() or "cell" in sample.signals:
        return sample
    moved = {
        name: replace(signal, values=np.asarray(signal.values, np.float64) - middle)
        if signal.field == POSITION else signal
        for name, signal in sample.signals.items()
    }  # fmt: skip
    where = ", ".join(f"{v:,.0f}" for v in middle)
    told = f"its middle, ({where}), is taken for the origin: single precision would not tell its points apart"
    return replace(sample, signals=MappingProxyType(moved), notes=(told, *sample.notes))


def is_molecule(sample: Sample) -> bool:
    """Return whether it is made of atoms that all have a place in space, whatever it was read as."""
    where = sample.signals.get("position")
    in_three = where is not None and where.values.ndim == 2 and where.values.shape[1] == 3
    return in_three and bool(sample.names) and all(element_of(name) for name in sample.names)


def features(sample: Sample, kind: str, channels: int | None) -> NDArray[np.float64]:
    """Return (points, channels) features of a kind; of another width they are cut, or filled with zeros.

    Raises:
        ValueError: an unknown kind, or a sample without what it is made of.
    """
    n = len(sample.signals["position"].values)
    match kind:
        case "elements":
            symbols = [SYMBOLS[k - 1] if 0 < k <= len(SYMBOLS) else "X" for k in _numbers(sample)]
            found = np.asarray(one_hot(symbols), np.float64)
        case "number":
            found = _numbers(sample).astype(np.float64)[:, None]
        case "charge":
            found = _charges(sample)[:, None]
        case "speed":
            if "velocity" not in sample.signals:
                raise ValueError(f"{sample.name!r} has no velocities, of which the features are the lengths")
            found = np.linalg.norm(sample.signals["velocity"].values, axis=1, keepdims=True)
        case "values":
            given = sample.signals.get("values")
            found = np.ones((n, 1)) if given is None else np.asarray(given.values, np.float64)
        case "constant":
            return np.ones((n, channels or 1))
        case _:
            raise ValueError(f"there are no features {kind!r} of points; they are elements, charge, speed, constant")
    if channels is None or found.shape[1] == channels:
        return found
    width = np.zeros((n, channels))
    width[:, : min(channels, found.shape[1])] = found[:, :channels]
    return width


def _numbers(sample: Sample) -> NDArray[np.int64]:
    """Return atomic numbers; of points that are no atoms, 0."""
    given = sample.signals.get("number")
    n = len(sample.signals["position"].values)
    return np.zeros(n, np.int64) if given is None else np.asarray(given.values, np.int64)


def _charges(sample: Sample) -> NDArray[np.float64]:
    given = sample.signals.get("charge")
    n = len(sample.signals["position"].values)
    return np.zeros(n) if given is None else np.asarray(given.values, np.float64)[:, 0]


def joined(sample: Sample, places: NDArray[np.float64], wanted: PointsInput) -> NDArray[np.int64]:
    """Return edge_index (2, edges), both directions of each pair, sorted by where an edge leads to.

    Raises:
        ValueError: more edges than are measured, or an unknown rule.
    """
    n = len(places)
    match wanted.edges:
        case "all":
            _require(sample, n * (n - 1))
            there, here = np.divmod(np.arange(n * n), n) if n else (np.zeros(0, np.int64),) * 2
            keep = there != here
            return np.ascontiguousarray(np.stack([here[keep], there[keep]]).astype(np.int64))
        case "bonds":
            given = sample.signals.get("bonds")
            pairs = np.zeros((2, 0), np.int64) if given is None else np.asarray(given.values, np.int64)
        case "near":
            from scipy.spatial import cKDTree

            tree = cKDTree(places)
            _require(sample, int(tree.count_neighbors(tree, wanted.reach)) - n)
            pairs = tree.query_pairs(wanted.reach * (1 + TIE), output_type="ndarray").astype(np.int64).T
        case "nearest":
            return _nearest(sample, places, wanted.neighbours)
        case _:
            raise ValueError(f"there is no rule {wanted.edges!r} for edges; they are all, near, nearest and bonds")
    both = np.concatenate([pairs, pairs[::-1]], 1)
    return np.ascontiguousarray(both[:, np.lexsort((both[0], both[1]))])


def _nearest(sample: Sample, places: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Join each point to its nearest ones, with all that tie for the last place, so that no numbering decides."""
    from scipy.spatial import cKDTree

    n = len(places)
    k = min(count, n - 1)
    if k < 1:
        return np.zeros((2, 0), np.int64)
    _require(sample, n * k)
    tree = cKDTree(places)
    last = tree.query(places, k + 1)[0][:, -1]
    lists = tree.query_ball_point(places, last * (1 + TIE) + 1e-300)
    there = np.repeat(np.arange(n), [len(found) for found in lists])
    here = np.concatenate([np.sort(found) for found in lists]).astype(np.int64)
    keep = there != here
    return np.ascontiguousarray(np.stack([here[keep], there[keep]]))


def _require(sample: Sample, edges: int) -> None:
    if edges > MOST_EDGES:
        raise ValueError(
            f"{sample.name!r} would have {edges:,} edges in this network, and the most is {MOST_EDGES:,}; open fewer "
            "points, or points that lie further apart"
        )


WIDTH = len(COLUMNS)  # of "elements"
