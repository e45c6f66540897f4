"""Make the part of a frame for views of meshes: the surface, its frames, and what lies on it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from torch import Tensor

from explorer.declare.elements import Chain, Element
from explorer.declare.inputs import Inputs
from explorer.declare.samples import Sample, Signal
from explorer.declare.types.fields import FieldType, Regular
from explorer.network.tracing.walking import named_modules
from explorer.spaces.graph.elements.relabelling import GraphMap
from explorer.spaces.mesh.drawing.values import GeodesicPatch, MeshPart, Shape, Transported
from explorer.spaces.mesh.elements.surface_map import SurfaceMap
from explorer.spaces.mesh.fields import FACES, VERTEX, VERTEX_POSITION, Tangent
from explorer.spaces.mesh.network.fit import angle_between, surface_of
from explorer.spaces.mesh.network.form import MeshInput
from explorer.spaces.mesh.surface import Surface
from explorer.spaces.mesh.surface.topology import SurfaceError
from explorer.square.both_ways import BothWays
from explorer.square.drawing.by_place import input_values, kind_of, layer_values, raw
from explorer.square.frame import Array, Square
from explorer.square.preparing.kept import kept
from explorer.square.preparing.prepare import Prepared
from explorer.state.state import State

DRAWN = ("vertex", "edge")  # kinds of places whose values are drawn there
PATCH_VERTICES = 120_000  # beyond this the first exact log map takes longer than anybody waits for
LOOP_RINGS = 3


def mesh_part(one: BothWays) -> MeshPart:
    """Return the part of the square that lies on the surface."""
    p, state, layer, gx = one.p, one.state, one.layer, one.gx
    field = layer.field
    shape, x, own = _shape(p), input_values(p), layer_values(p, layer.name)
    kernels, kernel_names = _kernels(p)

    def flat(values: Tensor, of: FieldType | None) -> Array:
        # what the element leaves as it is need not leave the device again
        return x if values is p.x else own if values is one.value else raw(values, of)

    order, turn, stretch = _traced(one.element, len(p.x))
    ambiguity, singular = _fixed_gauge(p)
    vertex = _selected(state, shape)
    gauge = p.card.input.gauge if isinstance(p.card.input, MeshInput) else "edge"
    return MeshPart(
        shape=shape, moved=shape if one.element.identity else _moved(shape, p.inputs, gx),
        order=order, turn=turn, stretch=stretch, kind=kind_of(field, DRAWN), rep=_rep(field),
        orders=field.rep.orders if field and isinstance(field.rep, Tangent) else (),
        directions=field.rep.group.order if field and isinstance(field.rep, Regular) else 0,
        x=x, gx=flat(gx.x, gx.field), x_rep=_rep(p.x_field), values=own,
        answer=flat(one.answer, field), expected=None if one.expected is None else flat(one.expected, field),
        difference=None if one.difference is None else raw(one.difference, field),
        ambiguity=ambiguity, singular=singular,
        gauge=gauge, kernels=kernels, kernel_names=kernel_names,
        patch=None if vertex is None else _patch.there(p, vertex),
        loop=None if vertex is None else _loop.there(p, vertex),
        path=None if vertex is None else _path.there(p, vertex, state.other),
    )  # fmt: skip


@kept()
def _shape(p: Prepared) -> Shape:
    vertices, faces = _array(p.inputs, "position", np.float64), _array(p.inputs, "faces", np.int64)
    key = hashlib.blake2b(vertices.tobytes() + faces.tobytes(), digest_size=12).hexdigest()
    labels = p.sample.signals.get("label") if p.sample is not None else None
    return Shape(
        vertices, faces, _array(p.inputs, "axes", np.float64), _array(p.inputs, "edge_index", np.int64), key,
        None if labels is None else labels.values.astype(np.int64),
    )  # fmt: skip


def _moved(shape: Shape, inputs: Inputs, gx: Inputs) -> Shape:
    """Return the shape of rho(g) x, with the very arrays of x where the element leaves them as they are."""

    def of(name: str, known: NDArray[Any]) -> NDArray[Any]:
        return known if gx.get(name) is inputs.get(name) else _array(gx, name, known.dtype)

    return Shape(
        of("position", shape.vertices), of("faces", shape.faces), of("axes", shape.axes), of("edge_index", shape.edges)
    )


def valued_mesh(p: Prepared, state: State) -> Sample:
    """Return the mesh with the channels of the selected layer of F(x) as numbers at its vertices.

    Raises:
        ValueError: no mesh, or the layer has no value at each vertex.
    """
    layer = p.layer(state.layer)
    if kind_of(layer.field, DRAWN) != "vertex":
        raise ValueError(f"layer {layer.name} has no values at vertices; choose one that has")
    rows = raw(p.values[layer.name], layer.field)
    made = {f"scalar:{layer.name.replace('.', '_')}_{k}": Signal(rows[:, k], VERTEX) for k in range(rows.shape[1])}
    shape = {"position": VERTEX_POSITION, "faces": FACES}
    kept = {name: Signal(_array(p.inputs, name, None), field) for name, field in shape.items()}
    return Sample(f"{p.card.name}-{layer.name}", "mesh", kept | made)


def _array(inputs: Inputs, name: str, kind: DTypeLike | None) -> NDArray[Any]:
    value = inputs.get(name)
    assert value is not None, name
    array = np.array(value.detach().cpu().numpy(), kind)  # a copy
    array.flags.writeable = False
    return array


@kept()
def surface_in_use(p: Prepared) -> Surface:
    """Return the surface of x, in whose frames the network is called."""
    shape = _shape(p)
    gauge = p.card.input.gauge if isinstance(p.card.input, MeshInput) else "edge"
    surface = surface_of(shape.vertices, shape.faces, gauge)
    return surface.turned(angle_between(surface.frames, shape.axes, surface.normals))


def _rep(field: FieldType | None) -> str:
    match field.rep if field else None:
        case Tangent():
            return "tangent"
        case Regular():
            return "regular"
        case _:
            return "scalar"


def _traced(element: Element, n: int) -> tuple[NDArray[np.int64], Array, float]:
    """Return where each vertex of x has gone, by how much its frame was turned, and how far lengths have changed."""
    order, turn, stretch = np.arange(n), np.zeros(n), 0.0
    for part in element.parts if isinstance(element, Chain) else (element,):
        if isinstance(part, GraphMap):
            order = part.order[order]
        elif isinstance(part, SurfaceMap):
            turn = (-turn if part.mirrored else turn) + part.turn[order]
            stretch = max(stretch, part.stretch)
    return order, turn, stretch


@kept()
def _fixed_gauge(p: Prepared) -> tuple[Array | None, tuple[tuple[int, float], ...]]:
    if not isinstance(p.card.input, MeshInput) or p.card.input.gauge == "edge":
        return None, ()
    surface = surface_of(_shape(p).vertices, _shape(p).faces, p.card.input.gauge)
    return surface.ambiguity, tuple(surface.singularities)


@kept()
def _kernels(p: Prepared) -> tuple[dict[str, Array], dict[str, tuple[str, ...]]]:
    """Return the weight functions that modules show of themselves, (rows, radii, directions) each, and their names."""
    made: dict[str, Array] = {}
    names: dict[str, tuple[str, ...]] = {}
    for name, module in named_modules(p.model):
        show = getattr(module, "kernels", None)
        if callable(show):
            values, rows = show()
            made[name] = np.ascontiguousarray(values.detach().cpu().numpy(), dtype=np.float32)
            made[name].flags.writeable = False
            names[name] = tuple(rows)
    return made, names


def _selected(state: State, shape: Shape) -> int | None:
    return state.node if state.node is not None and state.node < len(shape.vertices) else None


def refine_mesh(p: Prepared, state: State, square: Square) -> Iterator[Square]:
    """Yield the square with what is near the selected vertex: its loop, its way to the other one, its patch."""
    part = square.of(MeshPart)
    if part is None or (vertex := _selected(state, part.shape)) is None:
        return
    if part.loop is None and (loop := _loop(p, vertex)) is not None:
        part = replace(part, loop=loop)
        yield replace(square, part=part)
    if part.path is None and (path := _path(p, vertex, state.other)) is not None:
        part = replace(part, path=path)
        yield replace(square, part=part)
    if part.patch is None and (patch := _patch(p, vertex)) is not None:
        yield replace(square, part=replace(part, patch=patch))


@kept(most=16)
def _loop(p: Prepared, vertex: int) -> Transported | None:
    """Return a vector carried around the vertex; None where every loop reaches round the surface."""
    surface = surface_in_use(p)
    for rings in range(LOOP_RINGS, 0, -1):
        with suppress(SurfaceError):
            loop = surface.loop(vertex, rings)
            return Transported(surface.vertices[loop.vertices], loop.vectors, loop.holonomy, loop.curvature)
    return None


@kept(most=16)
def _path(p: Prepared, vertex: int, other: int | None) -> Transported | None:
    """Return a vector carried to the other vertex; None where there is no way between two parts."""
    surface = surface_in_use(p)
    if other is None or other >= len(surface.vertices) or other == vertex:
        return None
    with suppress(SurfaceError):
        carried = surface.carry(vertex, other, (1.0, 0.0))
        return Transported(carried.points, carried.vectors, carried.angle)
    return None


@kept(most=16)
def _patch(p: Prepared, vertex: int) -> GeodesicPatch | None:
    """Return what lies around the vertex; None on a surface where that takes too long."""
    surface = surface_in_use(p)
    if len(surface.vertices) > PATCH_VERTICES:
        return None
    points, reach = None, 0.0
    index, weight = p.inputs.get("patch_index"), p.inputs.get("patch_weight")
    if index is not None and weight is not None:
        corners = surface.vertices[index[vertex].cpu().numpy()]
        points = (corners * weight[vertex].double().cpu().numpy()[..., None]).sum(-2)
    if isinstance(p.card.input, MeshInput):
        reach = p.card.input.reach * float(np.sqrt(surface.mass.sum()))
    with suppress(SurfaceError):
        return GeodesicPatch(vertex, surface.log_map(vertex), surface.injectivity_radius(vertex), reach, points)
    return None
