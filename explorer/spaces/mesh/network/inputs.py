"""Make the arguments of networks on meshes, and make them anew on a surface that was changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from explorer.declare.inputs import Inputs
from explorer.declare.samples import Sample
from explorer.network.input.inputs import from_signals
from explorer.network.input.ways import Call
from explorer.spaces.mesh.network.form import CORNERS, MeshInput

SURFACE = ("position", "faces", "axes", "edge_index")  # moves along with any network's arguments


def mesh_inputs(sample: Sample, form: MeshInput, device: torch.device, dtype: torch.dtype) -> Inputs:
    """Return the signals that the form asks for, and beside them the surface and its poses."""
    poses = (n for n in sample.signals if n.startswith("pose:"))
    held = form.held
    beside = tuple(n for n in (*SURFACE, *poses) if n not in held)
    made = from_signals(sample, held + beside, device, dtype, aside=len(beside))
    call: Call | InColumns | None = form.way.call(held)
    if form.corners == CORNERS[1] and "faces" in held:
        call = InColumns(form.way.call(held), held.index("faces"))
    return replace(made, call=call, remake=partial(_made_anew, sample, form))


@dataclass(frozen=True)
class InColumns:
    """Give a network the corners of triangles in columns, (3, faces)."""

    call: Call | None
    at: int

    def __call__(self, network: nn.Module, tensors: Sequence[Tensor]) -> Any:
        given = [t.t() if k == self.at else t for k, t in enumerate(tensors)]
        return network(*given) if self.call is None else self.call(network, given)


def _made_anew(
    sample: Sample,
    form: MeshInput,
    before: Inputs,
    position: Tensor,
    faces: Tensor,
    axes: Tensor | None,
) -> Inputs:
    """Return the inputs on a surface that was bent or remeshed, or whose frames were given other `axes`."""
    from explorer.spaces.mesh.network.fit import derived, refitted

    turned = None if axes is None else axes.double().cpu().numpy()
    there = refitted(sample, form, position.double().cpu().numpy(), faces.cpu().numpy(), turned)
    made = mesh_inputs(there, form, position.device, position.dtype)
    # what does not follow from the surface stays as it is now: vertices may have been renumbered meanwhile
    kept = {n: v for n, v in zip(before.names, before.values, strict=True) if not derived(n, form)}
    return replace(made, values=tuple(kept.get(n, v) for n, v in zip(made.names, made.values, strict=True)))
