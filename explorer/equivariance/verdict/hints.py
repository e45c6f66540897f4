"""Likely causes of a broken layer, read off the module itself. Hints, not verdicts."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from explorer.declare.telling.hints import SAMPLING, Hint
from explorer.declare.types.fields import Scalar
from explorer.network.space import spaces
from explorer.network.tracing.layers import Layer, Trace

NORMS_AND_DROPOUT = (nn.modules.batchnorm._BatchNorm, nn.modules.dropout._DropoutNd)


def hints(model: nn.Module, trace: Trace, name: str, group: str = "D4") -> tuple[str, ...]:
    """Return sentences about what in layer `name` could break the symmetry under `group`."""
    layer = trace[name]
    module = model.get_submodule(layer.owner)
    names = group.split("+")
    shifts = all(n.startswith("translation") for n in names)
    found = [*_stride(module, layer, shifts), *_padding(module, name, set(names) == {"translation"})]
    if not shifts:
        found += _filters(module, layer, mirrors=not all(n.startswith(("C", "SO", "translation")) for n in names))
    if isinstance(module, nn.Linear) and layer.inputs and layer.inputs[0] is not None:
        flat = getattr(layer.inputs[0].domain, "flat", None)
        if flat:
            found.append(
                f"{name}: a dense layer has a weight of its own for each of {flat[0]}x{flat[1]} flattened places"
            )
    # attention makes pairs of steps: the space that it came from has its say too
    met = dict.fromkeys(field.domain.space for field in (layer.field, *layer.inputs) if field is not None)
    for space in (spaces()[one] for one in met if one in spaces()):
        found += space.hints(module, layer, name, group)
    for parameter in (n for n, p in module.named_parameters(recurse=False) if p.ndim >= 3 and n.startswith("pos")):
        found.append(f"{name}: its parameter {parameter} may encode absolute positions, which ties values to places")
    if isinstance(module, nn.LayerNorm) and len(module.normalized_shape) > 1 and _differs(module):
        found.append(f"{name}: its weights or biases differ from place to place")
    return tuple(found)


def _differs(module: nn.LayerNorm) -> bool:
    """Return whether a normalisation scales or shifts the places, all axes but the first, in different ways."""
    given = [p.detach() for p in (module.weight, module.bias) if p is not None]
    return any(bool((p.flatten(1) != p.flatten(1)[:, :1]).any()) for p in given)


def _stride(module: nn.Module, layer: Layer, shifts: bool) -> list[str]:
    kernel, stride = _pair(getattr(module, "kernel_size", None)), _pair(getattr(module, "stride", None))
    if not stride or max(stride) == 1 or len(layer.shape_in) != 4:
        return []
    most, size = max(stride), layer.shape_in[-2:]
    if shifts:
        if not any(side % step for side, step in zip(size, stride)):
            return []
        told = (
            f"{layer.name}: an input of {size[0]}x{size[1]} is no multiple of its stride {most}, so a shift that goes "
            "round the edge falls between the samples; use a size divisible by the stride"
        )
        return [Hint(told, SAMPLING)]
    padding = getattr(module, "padding", None)
    pad = (None if isinstance(padding, str) else _pair(padding)) or (0, 0)
    left = max((size[i] + 2 * pad[i] - (kernel or (1, 1))[i]) % stride[i] for i in range(2))
    if not left:
        return []
    return [
        f"{layer.name}: stride {most} on an input of {size[0]}x{size[1]} samples off-centre (the last {left} row(s) "
        "and column(s) are never a centre), so a turn or mirror samples other pixels; use an odd size, or a size with "
        "(size + 2 padding - kernel) divisible by the stride"
    ]


def _padding(module: nn.Module, name: str, shifts: bool) -> list[str]:
    padding, kernel = getattr(module, "padding", None), _pair(getattr(module, "kernel_size", None))
    found = []
    if isinstance(padding, tuple | list) and len(set(map(str, padding))) > 1:
        found.append(f"{name}: padding {tuple(padding)} differs between the sides or axes")
    if kernel and any(k % 2 == 0 for k in kernel) and padding == "same":
        found.append(f"{name}: padding 'same' with an even kernel pads one side more than the other")
    if shifts:
        wide = padding == "same" or max(_pair(padding) or (0, 0)) > 0
        if isinstance(module, nn.Conv2d) and module.padding_mode != "circular" and wide:
            found.append(
                f"{name}: pads with {module.padding_mode}, so what is shifted round the edge meets a border; "
                "padding_mode='circular' has none, and the group translation-inside compares what no border reaches"
            )
        elif isinstance(module, nn.ZeroPad2d | nn.ReflectionPad2d | nn.ReplicationPad2d | nn.ConstantPad2d):
            found.append(f"{name}: its padding makes a border, which what is shifted round the edge meets")
    return found


def _filters(module: nn.Module, layer: Layer, mirrors: bool) -> list[str]:
    weight = getattr(module, "weight", None)
    if type(module) is not nn.Conv2d or not isinstance(weight, torch.Tensor) or weight.shape[-1] == 1:
        return []
    fields = (layer.field, *layer.inputs)
    if not all(f is not None and f.batched and f.domain.placed and isinstance(f.rep, Scalar) for f in fields):
        return []  # only filters between scalars have to be symmetric themselves
    asymmetry = _asymmetry(weight.detach(), mirrors)
    if asymmetry <= 1e-4:
        return []
    under = "quarter turns and mirrors" if mirrors else "quarter turns"
    return [
        f"{layer.name}: its filters are not symmetric under {under} (relative asymmetry {asymmetry:.2g}); between "
        "scalar fields they have to be"
    ]


def _asymmetry(weight: torch.Tensor, mirrors: bool) -> float:
    square = weight.shape[-1] == weight.shape[-2]
    images = [torch.rot90(weight, k, (-2, -1)) for k in ((1, 2, 3) if square else (2,))]
    if mirrors:
        images += [weight.flip(-1), *(t.flip(-1) for t in images)]
    size = float(weight.norm())
    return max(float((image - weight).norm()) for image in images) / size if size else 0.0


def _pair(value: Any) -> tuple[int, int] | None:
    if isinstance(value, int):
        return value, value
    if isinstance(value, tuple | list) and len(value) == 2 and all(isinstance(v, int) for v in value):
        return value[0], value[1]
    return None
