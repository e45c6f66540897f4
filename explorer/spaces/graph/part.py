"""What views of graphs are sent beside the images of the square: the graph itself and the raw values on it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.declare.elements import Element
from explorer.spaces.graph.fields import Edges, Graphs, NodeIndex, Nodes
from explorer.declare.fields import FieldType, Pairs
from explorer.network.capture import capture, gradients_to_inputs
from explorer.network.inputs import Inputs
from explorer.network.trace import Layer, evaluating
from explorer.spaces.graph.relabelling import GraphMap
from explorer.square.frame import Array, Square
from explorer.spaces.graph.values import GraphPart, Spectrum, Structure
from explorer.square.prepare import Prepared, reseed
from explorer.square.remembered import Once
from explorer.state.state import State

MOST_CHANNELS = 128  # of one field
MOST_HEADS = 16  # channels of an edge field that are taken for coefficients
MOST_ANSWERS = 10_000  # of nodes, that are ranked
MOST_PAIRS = 2**22  # values of all pair fields of a frame together
MOST_COEFFICIENTS = 2**22
INFLUENCE_SECONDS = 0.05  # of a forward pass: each channel of the layer takes a backward one
SPECTRUM_NODES = 20_000  # beyond this the eigenvectors take longer than anybody looks


def structure_of(p: Prepared) -> Structure:
    """Return the graph that the epoch lives on; the same object for the whole epoch."""
    if "structure" not in p.kept:
        index = p.inputs.get("edge_index")
        signals = p.sample.signals if p.sample is not None else {}
        edges = np.zeros((2, 0), np.int64) if index is None else index.cpu().numpy().copy()
        edges.flags.writeable = False
        nodes = len(p.x)

        def of(name: str) -> NDArray[Any] | None:
            return signals[name].values if name in signals and len(signals[name].values) else None

        # two clouds of as many points are not one
        places = b"" if (given := of("position")) is None else given.tobytes()
        key = hashlib.blake2b(edges.tobytes() + str(nodes).encode() + places, digest_size=12).hexdigest()
        weights, batch, label = of("edge_weight"), of("batch"), of("label")
        p.kept["structure"] = Structure(
            nodes=nodes, edges=edges, key=key, directed=bool(p.sample and p.sample.directed),
            names=p.sample.names if p.sample else (),
            classes=None if label is None else label.astype(np.int64),
            positions=of("position"),
            weights=weights if weights is not None and len(weights) == edges.shape[1] else None,
            graph_of=batch.astype(np.int64) if batch is not None and batch.any() else None,
        )  # fmt: skip
    found: Structure = p.kept["structure"]
    return found


def graph_part(
    p: Prepared,
    state: State,
    element: Once,
    layer: Layer,
    gx: Inputs,
    answers: Mapping[str, Tensor],
    rho: Tensor | None,
) -> GraphPart:
    """Return the part of the square that lies on the graph.

    Args:
        gx: the moved inputs; answers: {layer: F(rho(g) x)}; rho: rho'(g) F(x) at the layer, or None.
    """
    structure = structure_of(p)
    kind, value, answer = _kind(layer.field), p.values[layer.name], answers[layer.name]
    too_large = kind == "pair" and value.numel() > MOST_PAIRS
    empty = np.zeros((0, 0), np.float32)
    order, edge_order = _orders(element.element, structure)
    kept = p.kept.get("graph fixed")
    if kept is None or kept[0] != layer.name:
        kept = p.kept["graph fixed"] = (layer.name, empty if too_large else raw(value, layer.field))
    if "coefficients" not in p.kept:
        p.kept["coefficients"], p.kept["pairs"], p.kept["sets"] = _side_fields(p)
    selected = _selected(state, structure)
    known = rho is not None and not too_large
    return GraphPart(
        structure=structure, order=order, edge_order=edge_order, kind=kind,
        x=_input(p), gx=raw(gx.x, gx.field), values=kept[1],
        moved=empty if too_large else raw(answer, layer.field),
        expected=raw(rho, layer.field) if known and rho is not None else None,
        difference=raw(rho - answer, layer.field) if known and rho is not None else None,
        coefficients=p.kept["coefficients"], pairs=p.kept["pairs"], sets=p.kept["sets"],
        dense=not too_large,
        influence=p.kept.get(("influence", layer.name, selected)),
        distance=None if selected is None else _hops(p, structure, selected),
        outputs=_outputs(p), answers=_answers(p, structure, order, answers[p.trace.output]),
        energy=_energies(p, structure), spectrum=p.kept.get(("spectrum", layer.name)),
    )  # fmt: skip


def _outputs(p: Prepared) -> Array | None:
    field = p.trace[p.trace.output].field
    return raw(p.output, field) if field is not None and isinstance(field.domain, Graphs) else None


def _answers(p: Prepared, structure: Structure, order: NDArray[np.int64], moved: Tensor) -> Array | None:
    field = p.trace[p.trace.output].field
    one_each = field is not None and isinstance(field.domain, Nodes) and p.output.numel() == structure.nodes
    if not one_each or not structure.names or structure.nodes > MOST_ANSWERS:
        return None
    found = np.full((2, structure.nodes), np.nan, np.float32)
    found[0] = raw(p.output, field)[:, 0]
    found[1, order >= 0] = raw(moved, field)[order[order >= 0], 0]
    found.flags.writeable = False
    return found


def _input(p: Prepared) -> Array:
    if "graph x" not in p.kept:
        p.kept["graph x"] = raw(p.x, p.x_field)
    found: Array = p.kept["graph x"]
    return found


def _kind(field: FieldType | None) -> str:
    match field.domain if field else None:
        case Nodes():
            return "node"
        case Edges():
            return "edge"
        case Pairs():
            return "pair"
        case _:
            return "invariant"


def raw(values: Tensor, field: FieldType | None) -> Array:
    """Return values as (places, channels), or (heads, nodes, nodes); channels beyond MOST_CHANNELS are left out."""
    v = values.detach()
    if field is not None and isinstance(field.domain, Pairs):
        v = v.reshape(-1, *v.shape[-2:])[:MOST_CHANNELS]
    elif field is not None and isinstance(field.rep, NodeIndex):
        v = v.t()
    elif field is not None and field.relational and not isinstance(field.domain, Graphs):
        v = v.reshape(len(v), -1)[:, :MOST_CHANNELS] if len(v) else v.new_zeros((0, 1))
    else:
        v = v.reshape(len(v), -1)[:, :MOST_CHANNELS] if v.ndim and len(v) else v.reshape(1, -1)
    array: Array = v.to("cpu", torch.float32).contiguous().numpy().copy()
    array.flags.writeable = False
    return array


def _orders(element: Element, structure: Structure) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if isinstance(element, GraphMap):
        return element.order, element.edge_order
    return np.arange(structure.nodes), np.arange(structure.edges.shape[1])


def _side_fields(p: Prepared) -> tuple[dict[str, Array], dict[str, Array], dict[str, Array]]:
    """Return what is drawn beside the layer: few-channel edge fields, pair fields, and marked sets of nodes."""
    coefficients: dict[str, Array] = {}
    pairs: dict[str, Array] = {}
    sets: dict[str, Array] = {}
    room_edges, room_pairs = MOST_COEFFICIENTS, MOST_PAIRS
    modules = dict(p.model.named_modules())
    for w in p.watched:
        if w.field is None or not w.leaf or isinstance(w.field.rep, NodeIndex):
            continue
        value = p.values[w.name]
        if isinstance(w.field.domain, Edges) and len(value) and value[0].numel() <= MOST_HEADS:
            if value.numel() <= room_edges:
                coefficients[w.name] = raw(value, w.field)
                room_edges -= value.numel()
        elif isinstance(w.field.domain, Pairs) and value.numel() <= room_pairs:
            pairs[w.name] = raw(value, w.field)
            room_pairs -= value.numel()
        elif isinstance(w.field.domain, Nodes) and getattr(modules.get(w.module), "marks", False):
            sets[w.name] = raw(value, w.field)[:, 0]
    return coefficients, pairs, sets


def refine_graph(p: Prepared, state: State, square: Square) -> Iterator[Square]:
    """Yield the square with what takes longer: what the selected node looks at, and the spectrum; in idle time."""
    part = square.graph
    if part is None:
        return
    layer = p.trace[square.layer.name]
    node = _selected(state, part.structure)
    key = ("influence", layer.name, node)
    if node is not None and key not in p.kept and _differentiable(p, layer):
        for old in [k for k in p.kept if isinstance(k, tuple) and k[0] == "influence"][:-8]:
            del p.kept[old]
        p.kept[key] = _influence(p, layer, node)
    if node is not None and part.influence is None and p.kept.get(key) is not None:
        part = replace(part, influence=p.kept[key])
        yield replace(square, graph=part)
    spectrum = ("spectrum", layer.name)
    if spectrum not in p.kept and part.structure.nodes:
        p.kept[spectrum] = _spectrum(p, part)
    if part.spectrum is None and p.kept.get(spectrum) is not None:
        yield replace(square, graph=replace(part, spectrum=p.kept[spectrum]))


def _selected(state: State, structure: Structure) -> int | None:
    return state.node if state.node is not None and state.node < structure.nodes else None


def _differentiable(p: Prepared, layer: Layer) -> bool:
    # a hundred passes are felt even when nobody waits: the next request must not wait long
    quick = p.forward_seconds < INFLUENCE_SECONDS
    return quick and layer.field is not None and isinstance(layer.field.domain, Nodes)


def _influence(p: Prepared, layer: Layer, node: int) -> Array | None:
    from explorer.spaces.graph.analysis.influence import influence

    def run(*values: Tensor) -> Mapping[str, Tensor]:
        return capture(p.model, replace(p.inputs, values=values), [layer.name], clone=p.trace.clones)[0]

    with gradients_to_inputs(p.model), evaluating(p.model):
        reseed(p.seed)
        found: Array = influence(run, p.inputs.values, layer.name, node).astype(np.float32)
    return found if np.isfinite(found).all() else None


def _spectrum(p: Prepared, part: GraphPart) -> Spectrum | None:
    """Return the graph Fourier transform; its vectors belong to the epoch, another layer costs one product."""
    from explorer.spaces.graph.analysis.spectrum import MOST, low_pairs, make_spectrum

    n, edges, weights = part.structure.nodes, part.structure.edges, part.structure.weights
    if n > SPECTRUM_NODES:
        return None
    if "eigenpairs" not in p.kept:
        try:
            p.kept["eigenpairs"] = low_pairs(edges, n, MOST, weights)
        except (ValueError, ArithmeticError, np.linalg.LinAlgError):
            p.kept["eigenpairs"] = None
    if p.kept["eigenpairs"] is None:
        return None
    layer = part.values if part.kind == "node" else None
    return make_spectrum(edges, n, part.x, layer, weights, pairs=p.kept["eigenpairs"])


def _hops(p: Prepared, structure: Structure, node: int) -> NDArray[np.int64]:
    if p.kept.get("hops", (None,))[0] != node:
        from explorer.spaces.graph.analysis.distance import hop_distances

        p.kept["hops"] = (node, hop_distances(structure.edges, structure.nodes, node))
    found: NDArray[np.int64] = p.kept["hops"][1]
    return found


def _energies(p: Prepared, structure: Structure) -> dict[str, float]:
    """Return the Dirichlet energy of each node field; made once an epoch."""
    if "energy" not in p.kept:
        from explorer.spaces.graph.analysis.energy import layer_energies

        fields = {
            w.name: raw(p.values[w.name], w.field)
            for w in p.watched
            if w.leaf and w.field is not None and isinstance(w.field.domain, Nodes)
        }
        p.kept["energy"] = layer_energies({"x": _input(p), **fields}, structure.edges, structure.weights)
    found: dict[str, float] = p.kept["energy"]
    return found
