"""Likely causes of a broken layer on volumes, read off the module itself. Hints, not verdicts."""

from __future__ import annotations

import torch
from torch import nn

from explorer.declare.types.fields import Scalar
from explorer.network.tracing.layers import Layer
from explorer.spaces.volume.cube import cube_group
from explorer.spaces.volume.elements.cube_map import linear
from explorer.spaces.volume.elements.moving import turned

SLIGHT = 1e-4


def hints(module: nn.Module, layer: Layer, name: str, group: str) -> list[str]:
    """Return sentences about what in a layer could break a symmetry of the cube, or shifts."""
    found = _stride(module, layer, name, group.startswith("Z3"))
    if group == "Z3" and isinstance(module, nn.Conv3d) and module.padding_mode != "circular" and any(_sizes(module)):
        found.append(
            f"{name}: pads with {module.padding_mode}, so what is shifted round the edge meets a border; "
            "padding_mode='circular' has none, and the group Z3-inside compares what no border reaches"
        )
    if group in ("O", "Oh"):
        found += _filters(module, layer, name, group)
    return found


def _sizes(module: nn.Conv3d) -> tuple[int, ...]:
    return (1,) if isinstance(module.padding, str) else tuple(int(v) for v in module.padding)


def _three(value: object) -> tuple[int, int, int] | None:
    if isinstance(value, int):
        return value, value, value
    if isinstance(value, tuple | list) and len(value) == 3 and all(isinstance(v, int) for v in value):
        return value[0], value[1], value[2]
    return None


def _stride(module: nn.Module, layer: Layer, name: str, shifts: bool) -> list[str]:
    stride, kernel = _three(getattr(module, "stride", None)), _three(getattr(module, "kernel_size", None))
    if stride is None or kernel is None or max(stride) == 1 or len(layer.shape_in) != 5:
        return []
    size = layer.shape_in[-3:]
    told = "×".join(map(str, size))
    if shifts:
        if not any(side % step for side, step in zip(size, stride, strict=True)):
            return []
        return [f"{name}: an input of {told} voxels is no multiple of its stride: shifts fall between"]
    pad = _three(getattr(module, "padding", 0)) or (0, 0, 0)
    left = max((size[i] + 2 * pad[i] - kernel[i]) % stride[i] for i in range(3))
    if not left:
        return []
    return [
        f"{name}: stride {max(stride)} on an input of {told} voxels samples off-centre (the last {left} of a row are "
        "never a centre), so a turn samples other voxels; use an odd size, or one with (size + 2 padding - kernel) "
        "divisible by the stride"
    ]


def _filters(module: nn.Module, layer: Layer, name: str, group: str) -> list[str]:
    fields = (layer.field, *layer.inputs)
    if type(module) is not nn.Conv3d or max(module.kernel_size) == 1 or len(set(module.kernel_size)) > 1:
        return []
    if not all(f is not None and f.domain.placed and isinstance(f.rep, Scalar) for f in fields):
        return []  # only filters between scalars have to be symmetric themselves
    weight = module.weight.detach()
    size = float(weight.norm())
    images = (turned(weight, linear(h)) for h in cube_group(group).matrices)
    asymmetry = max(float(torch.norm(image - weight)) for image in images) / size if size else 0.0
    if asymmetry <= SLIGHT:
        return []
    return [
        f"{name}: its filters are not symmetric under {'all symmetries' if group == 'Oh' else 'the rotations'} of the "
        f"cube (relative asymmetry {asymmetry:.2g}); between scalar fields they have to be"
    ]
