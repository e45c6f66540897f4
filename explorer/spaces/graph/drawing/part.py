"""Make the part of a frame for views of graphs: the graph itself and the raw values on it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.declare.elements import Chain, Element
from explorer.declare.types.fields import Pairs
from explorer.network.opening.global_state import reseed
from explorer.network.tracing.capture import capture, gradients_to_inputs
from explorer.network.tracing.layers import Layer
from explorer.network.tracing.running import evaluating
from explorer.network.tracing.walking import named_modules
from explorer.spaces.graph.analysis.influence import SLOW, influence
from explorer.spaces.graph.drawing.layout.given import set_apart
from explorer.spaces.graph.drawing.values import GraphPart, Spectrum, Structure
from explorer.spaces.graph.elements.relabelling import GraphMap
from explorer.spaces.graph.fields import Edges, Graphs, NodeIndex, Nodes
from explorer.square.both_ways import BothWays
from explorer.square.drawing.by_place import input_values, kind_of, layer_values, raw
from explorer.square.frame import Array, Square
from explorer.square.preparing.kept import kept
from explorer.square.preparing.prepare import Prepared
from explorer.state.state import State

DRAWN = ("node", "edge", "pair")  # kinds of places whose values are drawn there
FEW_LAYERS = 3  # of the outermost modules: fewer of them are wrapped, and those inside are shown
MOST_HEADS = 16  # channels of an edge field that are taken for coefficients
MOST_ANSWERS = 10_000  # of nodes, that are ranked
MOST_PAIRS = 2**22  # values of all pair fields of a frame together
MOST_COEFFICIENTS = 2**22
INFLUENCE_SECONDS = 0.05  # of a forward pass: each channel of the layer takes a backward one
SPECTRUM_NODES = 20_000  # beyond this the eigenvectors take longer than anybody looks
NOT_FINITE = "The influence on the selected node is no finite number."
MANY_NODES = "The graph has {:,} nodes; eigenvectors of more than {:,} take too long."
NO_VECTORS = "The graph has no spectrum: {}."
NO_ENERGY = "The graph has no Dirichlet energy: {}."


@kept()
def structure_of(p: Prepared) -> Structure:
    """Return the graph that the epoch lives on; the same object for the whole epoch."""
    index = p.inputs.get("edge_index")
    signals = p.sample.signals if p.sample is not None else {}
    edges = np.zeros((2, 0), np.int64) if index is None else index.cpu().numpy().copy()
    edges.flags.writeable = False
    nodes = p.inputs.places

    def of(name: str) -> NDArray[Any] | None:
        return signals[name].values if name in signals and len(signals[name].values) else None

    # two clouds of as many points are not one
    places = b"" if (given := of("position")) is None else given.tobytes()
    key = hashlib.blake2b(edges.tobytes() + str(nodes).encode() + places, digest_size=12).hexdigest()
    weights, batch, label, bonds = of("edge_weight"), of("batch"), of("label"), of("bond")
    return Structure(
        nodes=nodes, edges=edges, key=key, directed=bool(p.sample and p.sample.directed),
        names=p.sample.names if p.sample else (),
        classes=None if label is None else label.astype(np.int64),
        positions=None if given is None else set_apart(given, of("batch")),
        weights=weights if weights is not None and len(weights) == edges.shape[1] else None,
        graph_of=batch.astype(np.int64) if batch is not None and batch.any() else None,
        bonds=bonds if bonds is not None and len(bonds) == edges.shape[1] else None,
    )  # fmt: skip


def graph_part(one: BothWays) -> GraphPart:
    """Return the part of the square that lies on the graph."""
    p, state, layer, gx = one.p, one.state, one.layer, one.gx
    structure = structure_of(p)
    kind, value, answer = kind_of(layer.field, DRAWN), one.value, one.answer
    too_large = kind == "pair" and value.numel() > MOST_PAIRS
    empty = np.zeros((0, 0), np.float32)
    order, edge_order = _orders(one.element, structure)
    coefficients, pairs, sets = _side_fields(p)
    selected = _selected(state, structure)
    return GraphPart(
        structure=structure, order=order, edge_order=edge_order, kind=kind,
        x=input_values(p), gx=raw(gx.x, gx.field), values=empty if too_large else layer_values(p, layer.name),
        moved=empty if too_large else raw(answer, layer.field),
        expected=None if too_large or one.expected is None else raw(one.expected, layer.field),
        difference=None if too_large or one.difference is None else raw(one.difference, layer.field),
        coefficients=coefficients, pairs=pairs, sets=sets,
        dense=not too_large,
        influence=None if selected is None else _influence.there(p, layer.name, selected),
        distance=None if selected is None else _hops(p, selected),
        outputs=_outputs(p), answers=_answers(p, structure, order, one.answers[p.trace.output]),
        energy={} if isinstance(energy := _energies(p), str) else energy,
        spectrum=_spectrum.there(p, layer.name), missing=_missing(p, layer, selected, structure),
    )  # fmt: skip


def _missing(p: Prepared, layer: Layer, node: int | None, structure: Structure) -> dict[str, str]:
    """Say why what is filled in idle time will not come, by its name in GraphPart."""
    found = {}
    if node is not None and _at_nodes(layer):
        if not _influence.made(p, layer.name, node):
            if not _quick(p):
                found["influence"] = SLOW.format(p.forward_seconds)
        elif _influence.there(p, layer.name, node) is None:
            found["influence"] = NOT_FINITE
    if structure.nodes > SPECTRUM_NODES:
        found["spectrum"] = MANY_NODES.format(structure.nodes, SPECTRUM_NODES)
    elif isinstance(reason := _eigenpairs.there(p), str):
        found["spectrum"] = NO_VECTORS.format(reason)
    if isinstance(why := _energies(p), str):
        found["energy"] = NO_ENERGY.format(why)
    return found


def _outputs(p: Prepared) -> Array | None:
    field = p.trace[p.trace.output].field
    told = p.answers and field is not None and isinstance(field.domain, Graphs)
    return raw(p.output, field) if told and field is not None else None


def _answers(p: Prepared, structure: Structure, order: NDArray[np.int64], moved: Tensor) -> Array | None:
    field = p.trace[p.trace.output].field
    one_each = field is not None and isinstance(field.domain, Nodes) and p.output.numel() == structure.nodes
    if not p.answers or not one_each or not structure.names or structure.nodes > MOST_ANSWERS:
        return None
    found = np.full((2, structure.nodes), np.nan, np.float32)
    found[0] = raw(p.output, field)[:, 0]
    found[1, order >= 0] = raw(moved, field)[order[order >= 0], 0]
    found.flags.writeable = False
    return found


def _orders(element: Element, structure: Structure) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each node and each listed edge of x has gone, -1 where it was left out."""
    nodes, edges = np.arange(structure.nodes), np.arange(structure.edges.shape[1])
    for part in element.parts if isinstance(element, Chain) else (element,):
        if isinstance(part, GraphMap):
            nodes = np.where(nodes >= 0, part.order[nodes], -1) if len(part.order) else nodes
            edges = np.where(edges >= 0, part.edge_order[edges], -1) if len(part.edge_order) else edges
    return nodes, edges


@kept()
def _side_fields(p: Prepared) -> tuple[dict[str, Array], dict[str, Array], dict[str, Array]]:
    """Return what is drawn beside the layer: few-channel edge fields, pair fields, and marked sets of nodes."""
    coefficients: dict[str, Array] = {}
    pairs: dict[str, Array] = {}
    sets: dict[str, Array] = {}
    room_edges, room_pairs = MOST_COEFFICIENTS, MOST_PAIRS
    modules = dict(named_modules(p.model))
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
    part = square.of(GraphPart)
    if part is None:
        return
    layer = p.trace[square.layer.name]
    node = _selected(state, part.structure)
    if node is not None and _at_nodes(layer) and part.influence is None and "influence" not in part.missing:
        found = _influence(p, layer.name, node)
        part = replace(part, influence=found, missing=_missing(p, layer, node, part.structure))
        yield replace(square, part=part)
    if part.structure.nodes and part.spectrum is None and "spectrum" not in part.missing:
        spectrum = _spectrum(p, layer.name)
        part = replace(part, spectrum=spectrum, missing=_missing(p, layer, node, part.structure))
        yield replace(square, part=part)


def _selected(state: State, structure: Structure) -> int | None:
    return state.node if state.node is not None and state.node < structure.nodes else None


def _quick(p: Prepared) -> bool:
    # a hundred passes are felt even when nobody waits: the next request must not wait long
    return p.forward_seconds < INFLUENCE_SECONDS


def _at_nodes(layer: Layer) -> bool:
    return layer.field is not None and isinstance(layer.field.domain, Nodes)


@kept(most=8)
def _influence(p: Prepared, layer: str, node: int) -> Array | None:
    def run(*values: Tensor) -> Mapping[str, Tensor]:
        return capture(p.model, replace(p.inputs, values=values), [layer], clone=p.trace.clones)[0]

    with gradients_to_inputs(p.model), evaluating(p.model):
        reseed(p.seed)
        found: Array = influence(run, p.inputs.values, layer, node).astype(np.float32)
    return found if np.isfinite(found).all() else None


@kept(most=256)
def _spectrum(p: Prepared, layer: str) -> Spectrum | None:
    """Return the graph Fourier transform; its vectors belong to the epoch, another layer costs one product."""
    from explorer.spaces.graph.analysis.spectrum import make_spectrum

    structure, pairs = structure_of(p), _eigenpairs(p)
    if isinstance(pairs, str):
        return None
    at_nodes = kind_of(p.trace[layer].field, DRAWN) == "node"
    x, values = input_values(p), layer_values(p, layer) if at_nodes else None
    return make_spectrum(structure.edges, structure.nodes, x, values, structure.weights, pairs=pairs)


@kept()
def _eigenpairs(p: Prepared) -> tuple[NDArray[np.float64], NDArray[np.float64]] | str:
    """Return the lowest eigenpairs, or why there are none."""
    from explorer.spaces.graph.analysis.spectrum import MOST, low_pairs

    structure = structure_of(p)
    try:
        return low_pairs(structure.edges, structure.nodes, MOST, structure.weights)
    except (ArithmeticError, np.linalg.LinAlgError):
        return "its eigenvalues do not converge"
    except ValueError as error:
        return str(error)


@kept()
def _hops(p: Prepared, node: int) -> NDArray[np.int64]:
    from explorer.spaces.graph.analysis.distance import hop_distances

    structure = structure_of(p)
    return hop_distances(structure.edges, structure.nodes, node)


@kept()
def _energies(p: Prepared) -> dict[str, float] | str:
    """Return the Dirichlet energy of the features of each layer, or why there is none; made once an epoch."""
    from explorer.spaces.graph.analysis.energy import layer_energies

    structure = structure_of(p)
    fields = {w.name: raw(p.values[w.name], w.field) for w in _feature_layers(p)}
    try:
        return layer_energies({"x": input_values(p), **fields}, structure.edges, structure.weights)
    except ValueError as error:
        return str(error)


def _feature_layers(p: Prepared) -> list[Layer]:
    """Return the layers that features go through one after the other, at the depth of the modules where there are some.

    What lies inside a layer is none of its own: a convolution mixes channels and then smooths. Coefficients, such as
    those of self-loops, are the same for other attributes.
    """
    found = [
        w for w in p.watched
        if w.field is not None and isinstance(w.field.domain, Nodes) and not _fixed(p, w.name)
    ]  # fmt: skip
    names = [w.name for w in found]
    outer = {name for name in names if any(other.startswith(f"{name}.") for other in names)}
    levels = []
    for depth in range(1 + max((name.count(".") for name in names), default=0)):
        here = [w for w in found if (d := w.name.count(".")) == depth or (d < depth and w.name not in outer)]
        if len(here) >= FEW_LAYERS:
            return here
        levels.append(here)
    return max(levels, key=len, default=[])


def _fixed(p: Prepared, name: str) -> bool:
    """Return whether a layer gives what it gives for unrelated attributes, as far as that was tried."""
    return name in p.chance and torch.equal(p.values[name], p.chance[name])
