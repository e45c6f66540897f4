"""What of a layer is drawn, as small read-only arrays: maps, matrices of nodes by channels, filters, the answer."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from explorer.declare.elements import Element
from explorer.spaces.sequence.fields import STEP, Steps
from explorer.declare.fields import FieldType, Pairs, Regular
from explorer.spaces.graph.fields import Graphs, NodeIndex, Nodes
from explorer.spaces.grid.fields import Grid
from explorer.network.capture import capture, differentiable, gradients_to_inputs
from explorer.network.inputs import places_first
from explorer.network.trace import Layer, evaluating
from explorer.spaces.graph.relabelling import GraphMap
from explorer.square.frame import Array
from explorer.square.prepare import Prepared

MOST_VALUES = 2**21  # of one picture; more than a 2560x1440 screen can show
MOST_CHANNELS = 512
MOST_ROWS = 1024  # of a picture of nodes or edges by channels


def drawn(values: Tensor, field: FieldType | None) -> tuple[Array, int]:
    """Return one sample as it is drawn, (channels, h, w) float32 read-only, and how many channels it really has."""
    if field is not None and field.unbatched:
        return _relational(places_first(values, field), field)
    v = values[0] if values.ndim > 1 else values  # an answer to one sequence may have no batch axis
    if field and isinstance(field.domain, Grid) and field.domain.flat:
        v = v.unflatten(0, (-1, *field.domain.flat))
    if v.ndim < 2:
        v = v.reshape(-1, 1, 1)
    elif v.ndim == 2:
        v = v[None]
    elif v.ndim > 3:
        v = v.flatten(0, -3)
    total = len(v)
    v = v[:MOST_CHANNELS]
    if v.numel() > MOST_VALUES:
        if max(v.shape[-2:]) > 256:
            size = (min(256, v.shape[-2]), min(256, v.shape[-1]))
            v = torch.nn.functional.adaptive_avg_pool2d(v[None], size)[0]
        v = v[: max(1, MOST_VALUES // (v.shape[-1] * v.shape[-2]))]
    return frozen(v), total


def _relational(values: Tensor, field: FieldType) -> tuple[Array, int]:
    """Return a graph's values as images: (1, nodes or edges, channels), one matrix a head, or bars for one graph."""
    if isinstance(field.domain, Pairs):
        v = values.reshape(-1, *values.shape[-2:])
    elif isinstance(field.domain, Graphs) and (values.ndim < 2 or len(values) == 1):
        v = values.reshape(-1, 1, 1)
    elif isinstance(field.rep, NodeIndex):
        v = values.to(torch.float32)[None]
    elif not len(values):  # a graph without edges has edge fields without values
        v = values.new_zeros((1, 0, max(1, values[0:1].numel())))
    else:
        v = values.reshape(len(values), -1)[None, :, :MOST_CHANNELS]
    total = len(v) if isinstance(field.domain, Pairs | Graphs) else values[:1].numel()
    v = v[:MOST_CHANNELS].float()
    if v.numel() and (v.numel() > MOST_VALUES or max(v.shape[-2:]) > MOST_ROWS):
        # a picture of more rows than a screen has: neighbours are averaged
        size = (min(MOST_ROWS, v.shape[-2]), min(MOST_ROWS, v.shape[-1]))
        v = torch.nn.functional.adaptive_avg_pool2d(v[None], size)[0]
        v = v[: max(1, MOST_VALUES // max(1, v.shape[-1] * v.shape[-2]))]
    return frozen(v), total


def frozen(values: Tensor) -> Array:
    array: Array = values.detach().to("cpu", torch.float32).contiguous().numpy().copy()
    array.flags.writeable = False
    return array


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
    if field is None or not field.unbatched:
        v = out[0] if out.ndim > 1 else out
        v = v.softmax(0) if probabilities else v if v.ndim == 1 else v.flatten(1).mean(1) if v.ndim > 1 else v[None]
        return frozen(v)
    if isinstance(field.domain, Pairs):
        v = out.reshape(-1, out.shape[-2] * out.shape[-1]).t()
    else:
        v = places_first(out, field)
        v = v.flatten(1) if v.ndim > 1 else v[:, None]
    v = v.softmax(1) if probabilities else v
    if not len(v):
        return frozen(v.new_zeros(v.shape[1]))
    if isinstance(field.domain, Nodes | Steps) and node is not None:
        place = node if moved is None else _found_at(moved, node, len(v))
        if 0 <= place < len(v):
            return frozen(v[place])
    if isinstance(field.domain, Graphs) and len(v) <= 2:
        return frozen(v.flatten())
    return frozen(v.mean(0))


def _found_at(moved: Element, node: int, count: int) -> int:
    """Return where an element has put a node or a step, -1 where it left it out."""
    if isinstance(moved, GraphMap):
        return int(moved.order[node]) if node < len(moved.order) else -1
    steps = torch.arange(count, dtype=torch.float64)[:, None]
    sources = moved.act(steps, STEP)[:, 0]
    at = int((sources - node).abs().argmin()) if count else -1
    known = moved.known(steps, STEP)
    inside = known is None or bool(known[at])
    return at if count and inside and abs(float(sources[at]) - node) < 1.0 else -1


def receptive_field(p: Prepared, layer: Layer, pixel: tuple[int, int], channel: int | None) -> Array:
    """Return |d unit / d x| summed over input channels, (height, width): what the clicked unit really looks at."""
    with gradients_to_inputs(p.model), evaluating(p.model):
        x = differentiable(p.x)
        outputs, _ = capture(p.model, x, [layer.name], clone=p.trace.clones)
        value = outputs[layer.name]
        if layer.field and isinstance(layer.field.domain, Grid) and layer.field.domain.flat:
            value = value.unflatten(1, (-1, *layer.field.domain.flat))
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
    module = p.model.get_submodule(layer.module) if layer.module else None
    make = getattr(module, "filters", None)
    if callable(make):
        with torch.no_grad():
            made = make()
            weight = made[0] if isinstance(made, tuple) else made
        rep = getattr(module, "out_rep", None)
        if isinstance(weight, Tensor) and weight.ndim == 4 and isinstance(rep, Regular):
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
    """Return the linear operators that the card draws, {title: (rows, columns)}."""
    if p.card.matrix is None:
        return {}
    result = {}
    for title, matrix in p.card.matrix(p.model).items():
        array = np.ascontiguousarray(matrix, dtype=np.float32)
        array.flags.writeable = False
        result[title] = array
    return result
