"""Make a sample of the values of a layer, to be written to a file: all its channels at its own voxels."""

from __future__ import annotations

import math

from explorer.declare.samples import Sample
from explorer.spaces.volume.fields import Voxels
from explorer.spaces.volume.sample import volume_sample
from explorer.square.preparing.prepare import Prepared
from explorer.state.state import State


def written_layer(p: Prepared, state: State) -> Sample:
    """Return F(x) at the selected layer as a volume.

    Raises:
        ValueError: the layer has no voxels.
    """
    name = state.layer or p.trace.output
    layer = p.trace.by_name.get(name)
    if layer is None or layer.field is None or not isinstance(layer.field.domain, Voxels):
        raise ValueError(f"{name} has no values at voxels; choose a layer that has some, or save captures")
    if math.isinf(layer.field.spacing):
        raise ValueError(f"{name} has one value for the whole volume; choose a layer before it, or save captures")
    values = layer.field.domain.spread(p.values[name])[0].detach().cpu().float().numpy()
    return volume_sample(values, f"{state.model}-{name}", title=f"{name} of {state.model}")
