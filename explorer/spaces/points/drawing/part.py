"""Make the part of a frame for views of points."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from explorer.declare.elements import Chain, Element
from explorer.declare.inputs import Inputs
from explorer.declare.telling.counting import number_of
from explorer.declare.types.fields import FieldType, Pairs
from explorer.spaces.graph.elements.relabelling import GraphMap
from explorer.spaces.points.drawing.ball import fineness, harmonics
from explorer.spaces.points.drawing.self_reports import curves_of, lifted_at_first, lifted_of, routes_of
from explorer.spaces.points.drawing.values import PointsPart
from explorer.spaces.points.elements.isometry import Isometry
from explorer.spaces.points.fields import POSITION, Coordinates, Irreps
from explorer.spaces.points.vectors import corners_of, vector_signals, vectors_of
from explorer.square.both_ways import BothWays
from explorer.square.drawing.answer import Answer, labels_of, output_layer
from explorer.square.drawing.by_place import input_values, kind_of, layer_values, raw
from explorer.square.frame import Array, Square
from explorer.square.preparing.kept import kept
from explorer.square.preparing.prepare import Prepared

DRAWN = ("particle", "edge")  # kinds of places whose values are drawn there
MOST_PAIRED, MOST_LINKS = 3000, 3000  # points whose pairs are looked through, and lines that are drawn
LEAST_LINK = 0.3  # of the largest number, from which on a pair is joined


def points_part(one: BothWays) -> PointsPart:
    """Return the part of the square that lies on points."""
    p, layer, gx = one.p, one.layer, one.gx
    field = layer.field
    x, own = input_values(p), layer_values(p, layer.name)
    position = _position(p)
    order, edge_order = _order(one.element, len(position), _edges(p).shape[1])

    def flat(values: Any, of: FieldType | None) -> Array:
        return own if values is one.value else raw(values, of)

    return PointsPart(
        position=position, moved=position if one.element.identity else _array(gx, "position"),
        order=order, edge_order=edge_order, numbers=_numbers(p, len(position)), bonds=_bonds(p),
        bond_kinds=_bond_kinds(p), edges=_edges(p),
        kind=kind_of(field, DRAWN), rep=_rep(field), irreps=_irreps(field), x_rep=_rep(p.x_field),
        x_irreps=_irreps(p.x_field), x=x, values=own, answer=flat(one.answer, field),
        expected=None if one.expected is None else flat(one.expected, field),
        difference=None if one.difference is None else raw(one.difference, field),
        back=None if one.back is None else raw(one.back, field),
        charge=_charge(p), target=_target(p), vectors=_vectors(p), vectors_after=_vectors_after(one, order),
        corners=_corners(p), corners_after=_corners_after(one),
        links=_links(one.value, field), answer_links=_links(one.answer, field, order),
        names=p.sample.names if p.sample is not None else (), curves=curves_of(p),
        routes=routes_of(p), lifted=lifted_at_first(p), lifted_after=lifted_of(p, gx),
        harmonics={k: harmonics(k, fineness(len(position))) for k in _degrees(field) if k > 1},
    )  # fmt: skip


def answer_on_points(square: Square, place: int | None) -> Answer | None:
    """Return whose the outputs are; None where the square has no points."""
    part = square.of(PointsPart)
    layer = output_layer(square)
    if part is None or layer is None:
        return None
    count = len(part.position)
    if layer.kind_of_places != "particle":
        return Answer(labels_of(square), "the whole cloud")
    if place is None or not 0 <= place < count:
        return Answer(labels_of(square), f"mean over {number_of(count, 'point')}")
    name = part.names[place] if place < len(part.names) else ""
    return Answer(labels_of(square), f"{name} ({place})" if name else f"point {place}")


def _links(values: Any, field: FieldType | None, order: NDArray[np.int64] | None = None) -> NDArray[np.int64] | None:
    """Return the pairs, (2, L) from and to, with the largest numbers of all channels together; None for no pairs."""
    if field is None or not isinstance(field.domain, Pairs) or values.shape[-1] > MOST_PAIRED:
        return None
    table = field.domain.table(values.detach(), field.rep).abs().mean(0).cpu().numpy().astype(np.float64)
    if order is not None:
        table = table[np.ix_(order, order)]
    np.fill_diagonal(table, 0.0)
    receiver, sender = np.nonzero(table > LEAST_LINK * table.max(initial=0.0))
    strongest = np.argsort(-table[receiver, sender], kind="stable")[:MOST_LINKS]
    return _frozen(np.stack([sender[strongest], receiver[strongest]]), np.int64)


def _rep(field: FieldType | None) -> str:
    match field.rep if field else None:
        case Coordinates():
            return "coordinates"
        case Irreps():
            return "irreps"
    return "scalar"


def _irreps(field: FieldType | None) -> Irreps | None:
    return field.rep if field is not None and isinstance(field.rep, Irreps) else None


def _degrees(field: FieldType | None) -> set[int]:
    found = _irreps(field)
    return set() if found is None else {degree for _, degree, _ in found.terms}


@kept()
def _position(p: Prepared) -> Array:
    return _array(p.inputs, "position")


@kept()
def _edges(p: Prepared) -> NDArray[np.int64]:
    index = p.inputs.get("edge_index")
    return np.zeros((2, 0), np.int64) if index is None else _frozen(index.cpu().numpy(), np.int64)


@kept()
def _bonds(p: Prepared) -> NDArray[np.int64]:
    given = p.sample.signals.get("bonds") if p.sample is not None else None
    return _frozen(np.zeros((2, 0)) if given is None else given.values, np.int64)


@kept()
def _bond_kinds(p: Prepared) -> NDArray[np.int64]:
    given = p.sample.signals.get("bond_kinds") if p.sample is not None else None
    return _frozen(np.ones(_bonds(p).shape[1]) if given is None else given.values, np.int64)


@kept()
def _numbers(p: Prepared, count: int) -> NDArray[np.int64]:
    given = p.sample.signals.get("number") if p.sample is not None else None
    return _frozen(np.zeros(count) if given is None else given.values, np.int64)


@kept()
def _charge(p: Prepared) -> Array | None:
    given = p.sample.signals.get("charge") if p.sample is not None else None
    return None if given is None else _frozen(np.asarray(given.values)[:, 0], np.float64)


@kept()
def _target(p: Prepared) -> Array | None:
    given = p.sample.signals.get("target") if p.sample is not None else None
    return None if given is None else _frozen(given.values, np.float64)


@kept()
def _vectors(p: Prepared) -> dict[str, Array]:
    if p.sample is not None:
        return {name: _frozen(values, np.float64) for name, values in vectors_of(p.sample).items()}
    return {} if p.inputs.get("velocity") is None else {"velocity": _array(p.inputs, "velocity")}


@kept()
def _corners(p: Prepared) -> Array | None:
    found = corners_of(p.sample) if p.sample is not None else None
    return None if found is None else _frozen(found, np.float64)


def _vectors_after(one: BothWays, order: NDArray[np.int64]) -> dict[str, Array]:
    """Return the vectors at rho(g) x, in the numbering of x."""
    if one.element.identity or one.p.sample is None:
        return _vectors(one.p)
    moved = {}
    for name, signal in vector_signals(one.p.sample).items():
        after = one.element.act(torch.as_tensor(np.array(signal.values)), signal.field).numpy()
        moved[name] = _frozen(after[order] if len(after) == len(order) else signal.values, np.float64)
    return moved


def _corners_after(one: BothWays) -> Array | None:
    """Return where motions of space take the corners of a cell; a new numbering of the points leaves them."""
    there = _corners(one.p)
    if there is None:
        return None
    places = torch.as_tensor(np.array(there))
    for part in one.element.parts if isinstance(one.element, Chain) else (one.element,):
        places = part.act(places, POSITION) if isinstance(part, Isometry) else places
    return _frozen(places.numpy(), np.float64)


def _array(inputs: Inputs, name: str) -> Array:
    value = inputs.get(name)
    assert value is not None, name
    value = inputs.fields[inputs.names.index(name)].domain.places_first(value).flatten(1)
    return _frozen(value.detach().cpu().numpy(), np.float64)


def _frozen(values: Any, kind: Any) -> NDArray[Any]:
    array = np.array(values, kind)  # a copy
    array.flags.writeable = False
    return array


def _order(element: Element, points: int, edges: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each point and each edge of x has gone."""
    order, edge_order = np.arange(points), np.arange(edges)
    for part in element.parts if isinstance(element, Chain) else (element,):
        if isinstance(part, GraphMap):
            order = part.order[order]
            edge_order = part.edge_order[edge_order] if len(part.edges) == edges else edge_order
    return order, edge_order
