"""Make the part of a frame for views of sequences: the gates over time and where each step has gone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from explorer.declare.elements import Element
from explorer.declare.inputs import as_given, places_first
from explorer.declare.types.fields import FieldType
from explorer.network.changing.truncation import truncated
from explorer.network.opening.global_state import reseed
from explorer.network.tracing.capture import capture, gradients_to_inputs
from explorer.network.tracing.layers import Layer
from explorer.network.tracing.running import evaluating
from explorer.network.tracing.walking import named_modules
from explorer.spaces.graph.analysis.influence import SLOW, influence
from explorer.spaces.sequence.drawing.attention_rows import attended
from explorer.spaces.sequence.drawing.rest_state import settlings
from explorer.spaces.sequence.drawing.values import TimePart
from explorer.spaces.sequence.fields import ANSWER, NUMBERS, STEP, Steps
from explorer.spaces.sequence.network.equation_finder import working
from explorer.square.both_ways import BothWays
from explorer.square.drawing.by_place import input_values, kind_of, layer_values, raw
from explorer.square.frame import Array, Square
from explorer.square.preparing.kept import kept
from explorer.square.preparing.prepare import Prepared
from explorer.state.state import State

DRAWN = ("step", "pair")  # kinds of places whose values are drawn there
ALL = None  # channels: equations are worked out with every one
MOST_UNITS = 64  # of one gate
MOST_VALUES = 2**25  # of all gates of one side together
GRADIENT_SECONDS = 0.5  # of a forward pass


def time_part(one: BothWays) -> TimePart:
    """Return the part of the square that runs along the steps."""
    p, state, layer, gx = one.p, one.state, one.layer, one.gx
    steps = p.inputs.places
    x, gates = input_values(p, ALL), _own_gates(p)
    sample = p.sample
    times = sample.signals["time"].values if sample is not None and "time" in sample.signals else None
    if times is not None and sample is not None and sample.calendar:
        began, unit = sample.calendar
        times = np.round(1e3 * (began + unit * times)).astype("datetime64[ms]")
    order, known = found_at(one.element, steps)
    moved_gates, gx_raw = _gates(p, one.answers), raw(gx.x, gx.field, ALL)
    moved_written = _written(p, one.answers[p.trace.output])
    return TimePart(
        steps=steps, times=times,
        names=sample.names if sample is not None else (), kind=kind_of(layer.field, DRAWN),
        x=x, gx=gx_raw, order=order,
        values=layer_values(p, layer.name, ALL), moved=raw(one.answer, layer.field, ALL),
        expected=None if one.expected is None else raw(one.expected, layer.field, ALL),
        difference=None if one.difference is None else raw(one.difference, layer.field, ALL),
        gates=gates, moved_gates=moved_gates, known=known,
        gradient=(_kept_gradient(p, layer, state.node, None) or (None, 0))[0],
        missing="" if p.forward_seconds < GRADIENT_SECONDS else SLOW.format(p.forward_seconds),
        settlings=settlings(p), attended=attended(p, layer, state.node, order, one.answers),
        working=working(p, layer.name, gates, moved_gates, x, gx_raw, one.answers),
        written=_own_written(p), moved_written=moved_written, writer=p.trace.output,
        channels=sample.channels if sample is not None and len(sample.channels) == x.shape[1] else (),
        **_sides_of_pairs(p, layer, moved_written),
        **_truncated(_kept_gradient(p, layer, state.node, state.truncate) if state.truncate is not None else None),
    )  # fmt: skip


def _sides_of_pairs(p: Prepared, layer: Layer, moved_written: tuple[str, ...]) -> dict[str, Any]:
    """Return how rows and columns of a layer on pairs are called, as far as its module says that they are not x's."""
    module = dict(named_modules(p.model)).get(layer.module)
    called = {ANSWER: (_own_written(p), moved_written), NUMBERS: ((), ())}
    of = {side: getattr(module, side, None) for side in ("rows", "columns")}
    told = {side: called[what] for side, what in of.items() if isinstance(what, str) and what in called}
    return {**told, "answering": of["rows"] == ANSWER}


def _written(p: Prepared, output: Tensor) -> tuple[str, ...]:
    """Return the name of the largest output at each step; () where the outputs are not words of the sequence."""
    field = p.trace[p.trace.output].field
    if not p.answers or not _speaks(p) or field is None or not _each_step(field):
        return ()
    best: list[int] = places_first(output.detach(), field).reshape(-1, len(p.labels)).argmax(1).tolist()
    return tuple(p.labels[k] for k in best)


@kept()
def _speaks(p: Prepared) -> bool:
    return p.sample is not None and not set(p.labels).isdisjoint(set(p.sample.names))  # a long text is read once


@kept()
def _own_gates(p: Prepared) -> dict[str, Array]:
    return _gates(p, p.values)


@kept()
def _own_written(p: Prepared) -> tuple[str, ...]:
    return _written(p, p.output)


def _truncated(found: Any) -> dict[str, Any]:
    """Return the fields of a TimePart that a truncated gradient fills; {} while there is none."""
    return {} if found is None else {"truncated": found[0], "cuts": found[1]}


def _each_step(field: FieldType | None) -> bool:
    """Return whether there is a value for each step; behind a stride there are fewer."""
    return field is not None and isinstance(field.domain, Steps) and field.domain.apart == 1.0 and not field.domain.cut


def _gates(p: Prepared, values: Mapping[str, Tensor]) -> dict[str, Array]:
    """Return every step field of few channels: gates, states, what lies between them."""
    found: dict[str, Array] = {}
    room = MOST_VALUES
    for w in p.watched:
        value = values.get(w.name)
        if not w.leaf or w.field is None or not _each_step(w.field) or value is None:
            continue
        steps = len(w.field.domain.places_first(value))
        if steps and value.numel() <= min(steps * MOST_UNITS, room):
            found[w.name] = raw(value, w.field, ALL)
            room -= value.numel()
    return found


def found_at(element: Element, steps: int) -> tuple[Array, NDArray[np.bool_]]:
    """Return (order, known): where each step of x stands afterwards, NaN if nowhere, and which steps are determined."""
    t = torch.arange(steps, dtype=torch.float64, device="cpu")[:, None]
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
    """Yield the square with the gradient through time from the selected step, whole and truncated; in idle time."""
    part, node = square.of(TimePart), state.node
    layer = p.trace[square.layer.name]
    if part is None or node is None or not 0 <= node < part.steps or layer.field is None:
        return
    possible = _each_step(layer.field) and p.forward_seconds < GRADIENT_SECONDS
    if part.gradient is None and (possible or _gradient.made(p, layer.name, node, None)):
        part = replace(part, gradient=_gradient(p, layer.name, node, None)[0])
        yield replace(square, part=part)
    every = state.truncate
    if every is not None and part.truncated is None and (possible or _gradient.made(p, layer.name, node, every)):
        yield replace(square, part=replace(part, **_truncated(_gradient(p, layer.name, node, every))))


@kept(most=64)
def _gradient(p: Prepared, layer: str, step: int, every: int | None) -> tuple[Array, int]:
    """Return |d layer(step) / d x_t|, (T,), and how many modules were cut where states are detached `every` steps."""
    field = p.trace[layer].field

    def run(x: Tensor, *rest: Tensor) -> Mapping[str, Tensor]:
        given = replace(p.inputs, values=(as_given(x, p.x_field), *rest))
        found = capture(p.model, given, [layer], clone=p.trace.clones)[0]
        return {name: places_first(value, field) for name, value in found.items()}

    with gradients_to_inputs(p.model), evaluating(p.model), truncated(p.model, every) as cuts:
        reseed(p.seed)
        values = (places_first(p.x, p.x_field), *p.inputs.values[1:])
        found = influence(run, values, layer, step).astype(np.float32)
    found.flags.writeable = False
    return found, len(cuts.modules)


def _kept_gradient(p: Prepared, layer: Layer, step: int | None, every: int | None) -> tuple[Array, int] | None:
    return None if step is None else _gradient.there(p, layer.name, step, every)
