"""What views of sequences are sent beside the images of the square: the gates over time and where steps have gone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.capture import capture, gradients_to_inputs
from explorer.fields import STEP, FieldType, Pairs, Steps
from explorer.frame import Array, Square, TimePart
from explorer.inputs import Inputs
from explorer.once import Once
from explorer.prepare import Prepared, reseed
from explorer.state import State
from explorer.trace import Layer, evaluating
from explorer.transforms import Element

MOST_UNITS = 64  # of one gate
MOST_VALUES = 2**25  # of all gates of one side together
GRADIENT_SECONDS = 0.5  # of a forward pass


def time_part(
    p: Prepared,
    state: State,
    element: Once,
    layer: Layer,
    gx: Inputs,
    answers: Mapping[str, Tensor],
    rho: Tensor | None,
) -> TimePart:
    """Return the part of the square that runs along the steps.

    Args:
        gx: the moved inputs; answers: {layer: F(rho(g) x)}; rho: rho'(g) F(x) at the layer, or None.
    """
    steps = len(p.x)
    if "time x" not in p.kept:
        p.kept["time x"], p.kept["gates"] = raw(p.x, p.x_field), _gates(p, p.values)
    sample = p.sample
    times = sample.signals["time"].values if sample is not None and "time" in sample.signals else None
    order, known = found_at(element.element, steps)
    value = p.values[layer.name]
    return TimePart(
        steps=steps, times=None if times is None else np.asarray(times, np.float32),
        names=sample.names if sample is not None else (), kind=_kind(layer.field),
        x=p.kept["time x"], gx=raw(gx.x, gx.field), order=order,
        values=raw(value, layer.field), moved=raw(answers[layer.name], layer.field),
        expected=None if rho is None else raw(rho, layer.field),
        difference=None if rho is None else raw(rho - answers[layer.name], layer.field),
        gates=p.kept["gates"], moved_gates=_gates(p, answers), known=known,
        gradient=p.kept.get(("time gradient", layer.name, state.node)),
    )  # fmt: skip


def _kind(field: FieldType | None) -> str:
    match field.domain if field else None:
        case Steps():
            return "step"
        case Pairs():
            return "pair"
        case _:
            return "invariant"


def raw(values: Tensor, field: FieldType | None) -> Array:
    """Return values as (steps, channels), (heads, steps, steps) or (1, channels), read-only float32."""
    v = values.detach()
    if field is not None and isinstance(field.domain, Pairs):
        v = v.reshape(-1, *v.shape[-2:])
    else:
        v = v.reshape(len(v), -1) if v.ndim > 1 and len(v) else v.reshape(-1, 1)
    array: Array = v.to("cpu", torch.float32).contiguous().numpy().copy()
    array.flags.writeable = False
    return array


def _gates(p: Prepared, values: Mapping[str, Tensor]) -> dict[str, Array]:
    """Return every step field of few channels: gates, states, what lies between them."""
    found: dict[str, Array] = {}
    room = MOST_VALUES
    for w in p.watched:
        value = values.get(w.name)
        if not w.leaf or w.field is None or not isinstance(w.field.domain, Steps) or value is None or not len(value):
            continue
        if value[0].numel() <= MOST_UNITS and value.numel() <= room:
            found[w.name] = raw(value, w.field)
            room -= value.numel()
    return found


def found_at(element: Element, steps: int) -> tuple[Array, NDArray[np.bool_]]:
    """Return (order, known): where each step of x stands afterwards, NaN if nowhere, and which steps are determined."""
    t = torch.arange(steps, dtype=torch.float64)[:, None]
    sources = element.act(t, STEP)[:, 0].numpy()
    places = element.known(t, STEP)
    known = np.ones(steps, bool) if places is None else places.numpy() > 0
    order = np.full(steps, np.nan)
    at = np.flatnonzero(known)
    if len(at):
        rising = np.argsort(sources[at], kind="stable")
        order = np.interp(np.arange(steps), sources[at][rising], at[rising], left=np.nan, right=np.nan)
    order.flags.writeable = False
    return order, known


def refine_time(p: Prepared, state: State, square: Square) -> Iterator[Square]:
    """Yield the square with the gradient through time from the selected step; in idle time."""
    part, node = square.time, state.node
    layer = p.trace[square.layer.name]
    if part is None or node is None or not 0 <= node < part.steps or layer.field is None:
        return
    key = ("time gradient", layer.name, node)
    if key not in p.kept and isinstance(layer.field.domain, Steps) and p.forward_seconds < GRADIENT_SECONDS:
        from explorer.graph_analysis.influence import influence

        def run(*values: Any) -> Mapping[str, Tensor]:
            return capture(p.model, replace(p.inputs, values=values), [layer.name], clone=p.trace.clones)[0]

        with gradients_to_inputs(p.model), evaluating(p.model):
            reseed(p.seed)
            p.kept[key] = influence(run, p.inputs.values, layer.name, node).astype(np.float32)
    if part.gradient is None and p.kept.get(key) is not None:
        yield replace(square, time=replace(part, gradient=p.kept[key]))
