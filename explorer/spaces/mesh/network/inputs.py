"""Make the arguments of networks on meshes, and make them anew on a surface that was changed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from explorer.declare.inputs import Inputs
from explorer.declare.samples import Sample
from explorer.network.input.inputs import from_signals
from explorer.spaces.mesh.network.form import MeshInput

SURFACE = ("position", "faces", "axes", "edge_index")  # moves along with any network's arguments


def mesh_inputs(sample: Sample, form: MeshInput, device: torch.device, dtype: torch.dtype) -> Inputs:
    """Return the signals that the form asks for, and beside them the surface and its poses."""
    poses = (n for n in sample.signals if n.startswith("pose:"))
    beside = tuple(n for n in (*SURFACE, *poses) if n not in form.signals)
    made = from_signals(sample, form.signals + beside, device, dtype, aside=len(beside))
    return replace(made, remake=partial(_made_anew, sample, form))


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
