"""Make the arguments of networks on points; where they are moves along, whatever the network is called with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from explorer.declare.inputs import Inputs
from explorer.declare.samples import Sample
from explorer.declare.types.fields import FieldType
from explorer.network.input.inputs import from_signals
from explorer.network.input.ways import meant
from explorer.network.tracing.trials import answer_of
from explorer.spaces.graph.fields import EDGE, EDGE_INDEX
from explorer.spaces.graph.network.attempts import axis_of, laid
from explorer.spaces.graph.network.members import FEWEST
from explorer.spaces.mesh.fields import FACES
from explorer.spaces.points.fields import PARTICLE, PARTICLE_INPUT, POSITION, VECTOR, Particles
from explorer.spaces.points.network.form import AXES, PointsInput

SIDES = 3  # of space
KNOWN: dict[str, FieldType] = {
    "position": POSITION, "velocity": VECTOR, "x": PARTICLE_INPUT, "charge": PARTICLE_INPUT, "number": PARTICLE,
    "batch": PARTICLE, "edge_index": EDGE_INDEX, "edge_attr": EDGE, "faces": FACES,
}  # fmt: skip
UNSETTLED = FieldType(Particles(-1))


def points_inputs(sample: Sample, form: PointsInput, device: torch.device, dtype: torch.dtype) -> Inputs:
    """Return the signals that the form asks for, and the places beside them where it does not."""
    held = form.held
    beside = tuple(name for name in ("position",) if name not in held)
    made = replace(from_signals(sample, held + beside, device, dtype, aside=len(beside)), call=form.way.call(held))
    if form.axes == AXES[0]:
        return made
    names = held + beside
    values = tuple(laid(v, form.axes, name) for name, v in zip(names, made.values, strict=True))
    fields = (replace(f, domain=Particles(axis_of(form.axes, n))) for n, f in zip(names, made.fields, strict=True))
    return replace(made, values=values, fields=tuple(fields))


def unsettled_points(tensors: Mapping[str, Tensor]) -> Inputs | None:
    """Return tensors by name as points of which the layout is still to be found; None where no name says places."""
    signals = {name: next(iter(meant(name, KNOWN)), "") for name in tensors}
    if "position" not in signals.values() or not all(signals.values()):
        return None
    if any(s == "faces" and tensors[name].is_floating_point() for name, s in signals.items()):
        return None  # what is called f or t may be anything
    fields = tuple(UNSETTLED if KNOWN[s].domain.placed and isinstance(KNOWN[s].domain, Particles) else KNOWN[s]
                   for s in signals.values())  # fmt: skip
    return Inputs(tuple(tensors.values()), fields, tuple(signals.values()))


def surface(tensors: Sequence[Tensor]) -> Inputs | None:
    """Return vertices and faces, with what lies at the vertices, in any order; None for tensors that are none.

    Vertices are (vertices, 3), faces (faces, 3) numbers of vertices; the first of several real tensors of three columns
    says where the vertices are.
    """
    faces = [v for v in tensors if not v.is_floating_point() and v.ndim == 2 and v.shape[1] == SIDES and len(v)]
    places = next((v for v in tensors if v.is_floating_point() and v.ndim == 2 and v.shape[1] == SIDES), None)
    # two rows of three may as well be three edges
    if (
        len(faces) != 1
        or len(faces[0]) < SIDES
        or places is None
        or not 0 <= int(faces[0].min()) <= int(faces[0].max()) < len(places)
    ):
        return None
    if any(bool((faces[0][:, k] == faces[0][:, k - 1]).any()) for k in range(SIDES)):
        return None  # a triangle has three corners
    rest = [v for v in tensors if v is not faces[0] and v is not places]
    if not all(v.ndim and v.is_floating_point() and len(v) == len(places) for v in rest):
        return None
    fields = tuple(FACES if v is faces[0] else POSITION if v is places else PARTICLE_INPUT for v in tensors)
    names = tuple(
        "faces" if f == FACES else "position" if f == POSITION else f"x{k or ''}" for k, f in enumerate(fields)
    )
    return Inputs(tuple(tensors), fields, names)


def settled_points(inputs: Inputs, model: nn.Module) -> Inputs:
    """Return points with the layout that a trial tells: of one cloud, or with a batch axis before it.

    Raises:
        ValueError: a tensor has no layout with three numbers a place, or several run.
    """
    if UNSETTLED not in inputs.fields:
        return inputs
    found = [axes for axes in AXES if (made := _laid_out(inputs, axes)) is not None and _fewer(made, model)]
    shape = tuple(inputs.values[inputs.names.index("position")].shape)
    if len(found) != 1:
        said = " and ".join(found) if found else "none"
        raise ValueError(
            f"which axis of the places, of shape {shape}, counts points is not known: of {', '.join(AXES)} (N points, "
            f"C the numbers x, y, z) the network takes fewer points with {said}; give one cloud as (points, 3) by "
            "equiscope.points(position=...), or equiscope.Inputs with the field of each tensor"
        )
    made = _laid_out(inputs, found[0])
    assert made is not None
    return made


def _laid_out(inputs: Inputs, axes: str) -> Inputs | None:
    """Return points with their tensors laid out so; None where their shapes are not."""
    fields = []
    for value, field, name in zip(inputs.values, inputs.fields, inputs.names, strict=True):
        if field != UNSETTLED:
            fields.append(field)
            continue
        axis, three = axis_of(axes, name), name in ("position", "velocity")
        # numbers of atoms have no channels
        ndim = len(axes) - (name in ("number", "batch"))
        if value.ndim != ndim or (three and value.shape[axes.index("C")] != SIDES):
            return None
        fields.append(replace(KNOWN[name], domain=Particles(axis)))
    return replace(inputs, fields=tuple(fields))


def _fewer(inputs: Inputs, model: nn.Module) -> bool:
    """Say whether a network runs with one point less."""
    if inputs.places < FEWEST or inputs.get("edge_index") is not None:
        return inputs.field.domain == Particles()
    values = [v.narrow(f.domain.axis, 0, v.shape[f.domain.axis] - 1) if isinstance(f.domain, Particles) else v
              for v, f in zip(inputs.values, inputs.fields, strict=True)]  # fmt: skip
    return answer_of(model, values, inputs.call) is not None
