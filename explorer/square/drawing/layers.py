"""Draw a layer as small read-only arrays: maps, matrices of nodes by channels, filters, the answer."""

from __future__ import annotations

from inspect import ismethod, signature

import numpy as np
import torch
from torch import Tensor

from explorer.declare.elements import Element
from explorer.declare.types.fields import FieldType, Point, Regular
from explorer.equivariance import measure
from explorer.network.changing.precision import copied
from explorer.network.inner.tiled import Tiled
from explorer.network.tracing.capture import capture, differentiable, gradients_to_inputs
from explorer.network.tracing.layers import Layer, LayerError
from explorer.network.tracing.running import evaluating
from explorer.square.frame import Array
from explorer.square.preparing.prepare import Prepared

MOST_VALUES = 2**21  # of one picture; more than a 2560x1440 screen can show
MOST_CHANNELS = 512
MOST_ROWS = 1024  # of a picture of nodes or edges by channels
MOST_SIDE = 256  # of a map, where there are so many that not all could be drawn


def drawn(values: Tensor, field: FieldType | None) -> tuple[Array, int]:
    """Return one sample as it is drawn, (channels, h, w) float32 read-only, and how many channels it really has.

    A picture of more rows than a screen has is made of averages of neighbours.
    """
    field = field or FieldType(Point())
    values = values.coarse(MOST_SIDE) if isinstance(values, Tiled) else values
    v, total = field.domain.picture(values, field.rep, MOST_CHANNELS)
    v = v[:MOST_CHANNELS] if field.batched else v[:MOST_CHANNELS].float()
    most = MOST_SIDE if field.batched else MOST_ROWS
    if v.numel() and (v.numel() > MOST_VALUES or (not field.batched and max(v.shape[-2:]) > most)):
        if max(v.shape[-2:]) > most:
            size = (min(most, v.shape[-2]), min(most, v.shape[-1]))
            v = torch.nn.functional.adaptive_avg_pool2d(v[None], size)[0]
        v = v[: max(1, MOST_VALUES // max(1, v.shape[-1] * v.shape[-2]))]
    return frozen(v), total


def frozen(values: Tensor) -> Array:
    array: Array = values.detach().to("cpu", torch.float32).contiguous().numpy().copy()
    array.flags.writeable = False
    return array


NOTHING: Array = frozen(torch.zeros(0))  # the scores of a network that has no answer


def scores_of(
    out: Tensor,
    probabilities: bool,
    field: FieldType | None = None,
    node: int | None = None,
    moved: Element | None = None,
) -> Array:
    """Return the network's answer as a vector: probabilities, raw scores, or per-channel means of maps.

    Of a node field it is the answer for `node` (where `moved` has put it), else the mean over all nodes.
    """
    if field is None or field.batched:
        v = out[0] if out.ndim > 1 else out
        v = v.softmax(0) if probabilities else v if v.ndim == 1 else _mean(v.flatten(1), 1) if v.ndim > 1 else v[None]
        return frozen(_single(v))
    v = field.domain.by_place(out)
    v = v.softmax(1) if probabilities else v
    if not len(v):
        return frozen(v.new_zeros(v.shape[1]))
    if field.domain.counted and node is not None:
        place = node if moved is None else moved.place_of(node, len(v))
        if 0 <= place < len(v):
            return frozen(_single(v[place]))
    if not field.domain.placed and len(v) <= 2:
        return frozen(_single(v.flatten()))
    return frozen(_single(_mean(v, 0)))


def _mean(values: Tensor, axis: int) -> Tensor:
    """Return a mean that the lowest numbers of a precision, as of masked scores, do not make infinite."""
    mean = values.mean(axis)
    return mean if measure.finite(mean) else (values.double() / values.shape[axis]).sum(axis)


def _single(values: Tensor) -> Tensor:
    """Return finite numbers as finite ones of single precision."""
    most = torch.finfo(torch.float32).max
    if values.dtype != torch.float64:  # no other holds more; half precision has no such number to be compared with
        return values
    return torch.where(values.isfinite(), values.clamp(-most, most), values)


def receptive_field(p: Prepared, layer: Layer, pixel: tuple[int, int], channel: int | None) -> Array:
    """Return |d unit / d x| summed over input channels, (height, width): what the clicked unit really looks at."""
    with gradients_to_inputs(p.model), evaluating(p.model):
        x = differentiable(p.x)
        outputs, _ = capture(p.model, p.inputs.with_x(x), [layer.name], clone=p.trace.clones)
        value = outputs[layer.name]
        value = layer.field.domain.spread(value) if layer.field else value
        unit = value[0] if channel is None else value[0, min(channel, value.shape[1] - 1)]
        if unit.ndim >= 2:
            row, column = min(pixel[0], unit.shape[-2] - 1), min(pixel[1], unit.shape[-1] - 1)
            unit = unit[..., row, column]
        (grad,) = torch.autograd.grad(unit.sum(), x, allow_unused=True)
    return frozen(torch.zeros_like(p.x[0, 0]) if grad is None else grad[0].abs().sum(0))


def drawn_filters(p: Prepared, layer: Layer, most: int = 256) -> tuple[Array | None, tuple[str, ...], int]:
    """Return the layer's filters, (n, h, w), with labels and columns: a row a filter, its transformed copies beside.

    Of filters with many input channels the first one is drawn.
    """
    module = p.model.get_submodule(layer.module) if layer.module and layer.within is None else None
    make, rep = getattr(module, "filters", None), getattr(module, "out_rep", None)
    # somebody's own module may call anything its filters
    if isinstance(rep, Regular) and ismethod(make) and not signature(make).parameters:
        with torch.no_grad():
            made = make()
            weight = made[0] if isinstance(made, tuple) else made
        if isinstance(weight, Tensor) and weight.ndim == 4:
            n = rep.group.order
            kept = weight[: most // n * n, 0]
            labels = tuple(f"{k // n} · {rep.group.labels[k % n]}" for k in range(len(kept)))
            return frozen(kept), labels, n
    weight = getattr(module, "weight", None)
    if not isinstance(weight, Tensor) or weight.ndim != 4 or weight.shape[-1] * weight.shape[-2] == 1:
        return None, (), 0
    inputs = min(weight.shape[1], 16)
    kept = weight[: max(1, most // inputs), :inputs].flatten(0, 1)
    labels = tuple(f"{k // inputs} ← {k % inputs}" for k in range(len(kept)))
    return frozen(kept), labels, inputs


def matrices(p: Prepared) -> dict[str, Array]:
    """Return the linear operators that the card draws, {title: (rows, columns)}.

    There are none where they need the network on other inputs, for which a frozen or replaced layer has no values.
    """
    if p.card.matrix is None:
        return {}
    result = {}
    try:
        made = p.card.matrix(copied(p.model))  # it may want it in another precision, or on the processor
    except LayerError:
        if not p.interventions:
            raise
        return {}
    for title, matrix in made.items():
        if isinstance(matrix, Tensor):
            matrix = matrix.detach().cpu().numpy()
        array = np.array(matrix, dtype=np.float32, order="C")
        array.flags.writeable = False
        result[title] = array
    return result
