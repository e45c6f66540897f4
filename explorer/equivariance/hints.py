"""Likely causes of a broken layer, read off the module itself. Hints, not verdicts."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from explorer.trace import Layer, Trace


def hints(model: nn.Module, trace: Trace, name: str, training: bool = False) -> tuple[str, ...]:
    """Return sentences about what in layer `name` could break the symmetry."""
    layer = trace[name]
    module = model.get_submodule(layer.module)
    found = []
    kernel, stride = _pair(getattr(module, "kernel_size", None)), _pair(getattr(module, "stride", None))
    padding = getattr(module, "padding", None)
    size = _input_size(trace, layer)
    if stride and max(stride) > 1 and size:
        left = _sampling_offset(size, kernel or (1, 1), stride, _pair(padding) if not isinstance(padding, str) else None)
        if left:
            found.append(
                f"{name}: stride {max(stride)} on an input of {size[0]}x{size[1]} samples off-centre (the last {left} "
                "row(s) and column(s) are never a centre), so a turn or mirror samples other pixels; use an odd size, "
                "or a size with (size + 2 padding - kernel) divisible by the stride"
            )
    if isinstance(padding, tuple | list) and len(set(map(str, padding))) > 1:
        found.append(f"{name}: padding {tuple(padding)} differs between the sides or axes")
    if kernel and any(k % 2 == 0 for k in kernel) and padding == "same":
        found.append(f"{name}: padding 'same' with an even kernel pads one side more than the other")
    weight = getattr(module, "weight", None)
    if isinstance(weight, torch.Tensor) and weight.ndim == 4 and weight.shape[-1] > 1 and type(module) is nn.Conv2d:
        asymmetry = _asymmetry(weight)
        if asymmetry > 1e-4:
            found.append(
                f"{name}: its filters change under quarter turns and mirrors (relative asymmetry {asymmetry:.2g}), while "
                "its field type promises that they do not"
            )
    if isinstance(module, nn.Linear) and layer.inputs and layer.inputs[0] is not None:
        flat = getattr(layer.inputs[0].domain, "flat", None)
        if flat:
            found.append(f"{name}: a dense layer on {flat[0]}x{flat[1]} flattened places weighs each place differently")
    if any(isinstance(p, nn.Parameter) and p.ndim >= 3 and n.startswith("pos") for n, p in module.named_parameters(recurse=False)):
        found.append(f"{name}: an absolute position encoding ties values to places")
    if training and isinstance(module, nn.BatchNorm2d | nn.Dropout | nn.Dropout2d):
        found.append(f"{name}: {layer.kind} was in train mode, where it depends on the batch or on chance")
    if isinstance(module, nn.LayerNorm) and len(module.normalized_shape) > 1 and module.elementwise_affine:
        found.append(f"{name}: its affine weights differ from place to place")
    children = list(module.children())
    if not found and not children and _asymmetric_pad(module):
        found.append(f"{name}: pads {_asymmetric_pad(module)} (left, right, top, bottom), not the same on all sides")
    return tuple(found)


def _pair(value: Any) -> tuple[int, int] | None:
    if isinstance(value, int):
        return value, value
    if isinstance(value, tuple | list) and len(value) == 2 and all(isinstance(v, int) for v in value):
        return value[0], value[1]
    return None


def _input_size(trace: Trace, layer: Layer) -> tuple[int, int] | None:
    """Return the spatial size of the layer's input: that of the layer before it in the trace."""
    before: tuple[int, ...] = ()
    for other in trace.layers:
        if other.name == layer.name:
            break
        if len(other.shape) == 4:
            before = other.shape
    return (before[-2], before[-1]) if len(before) == 4 else None


def _sampling_offset(
    size: tuple[int, int], kernel: tuple[int, int], stride: tuple[int, int], padding: tuple[int, int] | None
) -> int:
    pad = padding or (0, 0)
    return max((size[i] + 2 * pad[i] - kernel[i]) % stride[i] for i in range(2))


def _asymmetry(weight: torch.Tensor) -> float:
    weight = weight.detach()
    turned = [torch.rot90(weight, k, (-2, -1)) for k in range(4) if weight.shape[-1] == weight.shape[-2]]
    images = turned + [t.flip(-1) for t in turned] if turned else [weight.flip(-1), weight.flip(-2)]
    size = float(weight.norm())
    return max(float((image - weight).norm()) for image in images) / size if size else 0.0


def _asymmetric_pad(module: nn.Module) -> tuple[int, ...] | None:
    padding = getattr(module, "padding", None)
    if isinstance(padding, tuple) and len(padding) == 4 and len(set(padding)) > 1:
        return tuple(padding)
    return None
