"""Find by trial which channels a group element exchanges inside a network that declares no representations.

Filters in several orientations, or on both strands, answer a moved input with moved maps in another order. The order is
read off the network: every channel of F(rho(g) x) is looked for among the moved channels of F(x). Behind a fault
nothing is found any more; there a layer alone tells what it was made for, if it keeps a law under an exchange of what
it is given and keeps none without.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from explorer.declare.elements import Element, NoAction
from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import Acting, FieldType, Representation, Scalar
from explorer.network.space import inference_of
from explorer.network.tracing.capture import Fed, feed
from explorer.network.tracing.layers import Layer, LayerError, Trace

_MOST = 512  # channels that are compared with each other
_SAME = 1e6  # roundings by which a channel may differ from the one that it is

Order = tuple[int, ...]
Seen = tuple[Mapping[str, Tensor], Mapping[str, tuple[Tensor, ...]]]  # values of layers, and what they were given
Run = Callable[[Inputs], Seen]


@dataclass(frozen=True, slots=True)
class Exchange(Representation):
    """Channels that elements exchange.

    Attributes:
        elements: those that it is known for.
        orders: for each of them, which channel comes to each place.
        wide: how many axes the channels have.
    """

    elements: tuple[Element, ...]
    orders: tuple[Order, ...]
    wide: int = 1

    def __str__(self) -> str:
        return "exchanged"

    def axes(self, domain: object) -> tuple[str, ...]:
        return ()

    def acted(self, element: Acting, values: Tensor, field: FieldType) -> Tensor:
        known = next((order for g, order in zip(self.elements, self.orders, strict=True) if g == element), None)
        if known is None:
            raise NoAction(f"the channels that {element} exchanges are not known")
        order = torch.tensor(known, device=values.device)
        return _by_channel(lambda v: v.index_select(1, order), moved_places(element, values, field), field)


def moved_places(element: Acting, values: Tensor, field: FieldType) -> Tensor:
    """Return the values with their places moved, whatever axes the channels have."""
    plain = replace(field, rep=Scalar())
    if field.batched and values.ndim > _least(field):
        return element.act(_one_axis(values, field), plain).view_as(values)
    return element.act(values, plain)


def _least(field: FieldType) -> int:
    """Return how many axes values with one axis of channels have, where they have places: four of an image."""
    return max(4, len(field.domain.axes))


def _channels(values: Tensor, field: FieldType) -> tuple[int, ...]:
    return tuple(values.shape[1 : 2 - _least(field)])


def _one_axis(values: Tensor, field: FieldType) -> Tensor:
    """Return values with all axes of channels as one, which is axis 1."""
    return values.flatten(1, 1 - _least(field)) if values.ndim > _least(field) else values


def _by_channel(change: Callable[[Tensor], Tensor], values: Tensor, field: FieldType) -> Tensor:
    """Return values whose channels are changed as one axis, which is axis 1."""
    if field.batched:
        return change(_one_axis(values, field)).view_as(values)
    first = field.domain.places_first(values)
    return field.domain.as_given(change(first.flatten(1)).view_as(first))


@dataclass
class _Slot:
    """A tensor that a layer is given, or gives: its field, and how channels are exchanged in it, if that is known."""

    layer: Layer
    given: bool
    field: FieldType
    orders: tuple[Order, ...] | None = None
    shape: tuple[int, ...] = ()
    found: list[Order] = dataclasses.field(default_factory=list)  # under the first elements

    @property
    def exchanging(self) -> bool:
        return self.orders is not None and any(o != tuple(range(len(o))) for o in self.orders)


def exchanged(model: nn.Module, trace: Trace, inputs: Sequence[Inputs], elements: Sequence[Element], run: Run) -> Trace:
    """Return the trace with the representations that trials tell; the same one where they tell none.

    Args:
        inputs: alike in shape; what one leaves at zero another shows.
        elements: that permute places.
        run: inputs -> the values of all layers, and what they were given.
    """
    elements = tuple(elements)
    mixing = any(not torch.equal(g.act(inputs[0].x, f), g.act(inputs[0].x, replace(f, rep=Scalar())))
                 for f in [inputs[0].field] for g in elements)  # fmt: skip
    before = [run(x) for x in inputs]
    layers = [layer for layer in trace.layers if layer.name == layer.called and layer.within is None]
    found = (_slot(trace, layer, given, inputs[0], before[0], mixing) for layer in layers for given in (True, False))
    slots = [slot for slot in found if slot is not None]
    follows = slots
    for g in elements:  # one by one: all layers under all elements at once would not fit into memory
        if not follows:
            break
        follows = _following(follows, g, before, [run(x.moved(g)) for x in inputs])
    for slot in slots:
        slot.orders = tuple(slot.found) if len(slot.found) == len(elements) else None
    _certify(model, trace, slots, elements, inputs[0], before[0])
    _settle(slots)
    _as_given(_by_layer(slots))
    return _written(trace, slots, elements)


def _slot(trace: Trace, layer: Layer, given: bool, x: Inputs, before: Seen, mixing: bool) -> _Slot | None:
    values, fed = before
    if given:
        tensors = fed.get(layer.called, ())
        if len(tensors) != 1:
            return None
        value, field = tensors[0], layer.inputs[0] if layer.inputs else None
    else:
        value, field = values[layer.name], layer.field
        if layer.name in trace.outputs and (not mixing or field is None):
            return None  # what the network answers has the law that is asked for
    shape = tuple(value.shape)
    if field is None or (field.guessed and field.stacked):  # any of several axes may be exchanged
        field = inference_of(x).wide(shape)
    if field is None or not field.guessed or not field.domain.placed or not isinstance(field.rep, Scalar):
        return None
    return _Slot(layer, given, field, shape=shape) if value.is_floating_point() and value.ndim > 1 else None


def _value(slot: _Slot, found: Seen) -> Tensor:
    values, fed = found
    value: Tensor = fed[slot.layer.called][0] if slot.given else values[slot.layer.name]
    return value


def _following(slots: list[_Slot], g: Element, before: Sequence[Seen], after: Sequence[Seen]) -> list[_Slot]:
    return [slot for slot in slots if _follows(slot, g, before, after)]


def _follows(slot: _Slot, g: Element, before: Sequence[Seen], after: Sequence[Seen]) -> bool:
    """Add how an element exchanges the channels of a tensor to what was found, and say whether it does."""
    try:
        expected = [moved_places(g, _value(slot, b), slot.field) for b in before]
    except NoAction:  # as of steps that a kernel has cut, which lie on no circle
        return False
    order = _order(expected, [_value(slot, a) for a in after], slot.field)
    if order is not None:
        slot.found.append(order)
    return order is not None


def _order(expected: Sequence[Tensor], answered: Sequence[Tensor], field: FieldType) -> Order | None:
    """Return which channel of the expected values each channel of the answer is, or None where one is none of them."""
    one, other = (torch.cat([rows_of(v, field) for v in values], 1) for values in (expected, answered))
    if one.shape != other.shape or not 1 < len(one) <= _MOST:
        return None if one.shape != other.shape or not _close(one, other) else tuple(range(len(one)))
    if not (one.isfinite().all() and other.isfinite().all()):
        return None
    if _close(one, other):
        return tuple(range(len(one)))
    if not _as_long(one, other):
        return None
    from scipy.optimize import linear_sum_assignment  # importing it takes a second

    cost = torch.cdist(other, one)
    rows, columns = linear_sum_assignment(cost.cpu().numpy())
    order = tuple(int(c) for c in columns[np.argsort(rows)])
    return order if _close(one[list(order)], other) else None


def rows_of(values: Tensor, field: FieldType) -> Tensor:
    """Return (channels, all else)."""
    if field.batched:
        return _one_axis(values, field).transpose(0, 1).flatten(1)
    return field.domain.places_first(values).flatten(1).t()


def _close(one: Tensor, other: Tensor) -> bool:
    size = float(one.norm(dim=1).max()) if one.numel() else 0.0
    return float((one - other).norm(dim=1).max()) <= _SAME * torch.finfo(one.dtype).eps * size if one.numel() else True


def _as_long(one: Tensor, other: Tensor) -> bool:
    """Return whether some order could make one the other: the same channels have the same lengths."""
    ours, theirs = (v.norm(dim=1).sort().values for v in (one, other))
    return float((ours - theirs).abs().max()) <= _SAME * torch.finfo(one.dtype).eps * float(ours.max())


def _certify(
    model: nn.Module, trace: Trace, slots: list[_Slot], elements: tuple[Element, ...], x: Inputs, before: Seen
) -> None:
    """Find the exchange of input channels under which layers behind a fault keep a law: what they were made for."""
    layers = _by_layer(slots)
    for name, pair in layers.items():
        enters, leaves = pair.get(True), pair.get(False)
        if enters is None or enters.orders is not None:
            continue
        given, answer = _value(enters, before), before[0][name]
        field = leaves.field if leaves else layers[name][True].layer.field
        if field is None or answer.ndim < 2:
            continue
        fed = before[1][enters.layer.called]

        def kept(
            orders: tuple[Order, ...], given: Tensor = given, answer: Tensor = answer, enters: _Slot = enters,
            field: FieldType = field, fed: tuple[Tensor, ...] = fed,
        ) -> tuple[Order, ...] | None:  # fmt: skip
            rep, found = Exchange(elements, orders), []
            for g in elements:
                moved = rep.acted(g, given, enters.field)
                alone = feed(model, trace, enters.layer.name, (moved,), fed if isinstance(fed, Fed) else ())
                order = _order([moved_places(g, answer, field)], [alone], field)
                if order is None:
                    return None
                found.append(order)
            return tuple(found)

        try:
            width = len(rows_of(given, enters.field))
            as_they_come = (tuple(range(width)),) * len(elements)
            channels = _channels(given, enters.field) if enters.field.batched else (width,)
            # shifts exchange no orientations, so that all ways to count them are one
            ways = dict.fromkeys(o for o in inference_of(x).exchanges(channels, elements) if o != as_they_come)
            if not ways or kept(as_they_come) is not None:
                continue  # it keeps any order of channels, or none counts
            for orders in ways:
                if (answered := kept(orders)) is not None:
                    enters.orders = orders
                    if leaves is not None and leaves.orders is None:
                        leaves.orders = answered
                    break
        except (LayerError, NoAction):
            continue


def _settle(slots: list[_Slot]) -> None:
    """Give a tensor of unknown order that of the next one of its shape, or else of the last one before it."""
    known = {k for k, slot in enumerate(slots) if slot.exchanging}
    for k, slot in enumerate(slots):
        if slot.orders is None:
            alike = [j for j in sorted(known) if slots[j].shape == slot.shape]
            near = [j for j in alike if j > k][:1] or [j for j in alike if j < k][-1:]
            slot.orders = slots[near[0]].orders if near else None


def _by_layer(slots: Sequence[_Slot]) -> dict[str, dict[bool, _Slot]]:
    """Return {layer: {whether it is what it is given: slot}}."""
    found: dict[str, dict[bool, _Slot]] = {}
    for slot in slots:
        found.setdefault(slot.layer.name, {})[slot.given] = slot
    return found


def _as_given(layers: Mapping[str, Mapping[bool, _Slot]]) -> None:
    """Give what is still unknown the exchange of what its layer is given, along an axis of as many orientations.

    A layer that turns its filters the wrong way round is meant to keep the orientations that come in.
    """
    for pair in layers.values():
        enters, leaves = pair.get(True), pair.get(False)
        if enters is None or leaves is None or leaves.orders is not None or enters.orders is None:
            continue
        if not enters.exchanging:
            continue
        for first, size, steps in _along(enters.orders, _channels_of(enters)):
            channels = _channels_of(leaves)
            if (shape := _split(channels, first, size)) is not None:
                axis, index = (first if len(channels) > 1 else int(not first)), np.arange(int(np.prod(shape)))
                leaves.orders = tuple(tuple(map(int, index.reshape(shape).take(p, axis).ravel())) for p in steps)
                break


def _split(channels: tuple[int, ...], first: int, size: int) -> tuple[int, ...] | None:
    """Return channels with an axis of so many orientations: the one of that number, or before or behind all others."""
    if len(channels) > 1:
        return channels if first < len(channels) and channels[first] == size else None
    blocks, rest = divmod(channels[0], size)
    return None if rest else (size, blocks) if first else (blocks, size)


def _along(orders: Sequence[Order], channels: tuple[int, ...]) -> Iterator[tuple[int, int, list[NDArray[np.intp]]]]:
    """Yield how channels are exchanged along one axis alone: which axis, its size, and what comes where on it.

    Where channels have one axis, it is split: 1 for orientations that lie outside of all others, 0 for inside.
    """
    width = int(np.prod(channels))
    ways = (
        [(axis, size) for axis, size in enumerate(channels)]
        if len(channels) > 1
        else [(first, n) for n in range(2, width + 1) if width % n == 0 for first in (0, 1)]
    )
    for first, size in ways:
        shape = _split(channels, first, size)
        if shape is None:
            continue
        axis = first if len(channels) > 1 else int(not first)
        steps = []
        for order in orders:
            at = np.unravel_index(np.asarray(order).reshape(shape), shape)[axis]
            p = np.moveaxis(at, axis, 0).reshape(size, -1)[:, 0]
            if not np.array_equal(np.arange(width).reshape(shape).take(p, axis).ravel(), np.asarray(order)):
                break
            steps.append(p)
        else:
            yield first, size, steps


def _channels_of(slot: _Slot) -> tuple[int, ...]:
    if slot.field.batched:
        return tuple(slot.shape[1 : 2 - _least(slot.field) + len(slot.shape)])
    return (slot.field.domain.channels(slot.shape),)


def _written(trace: Trace, slots: list[_Slot], elements: tuple[Element, ...]) -> Trace:
    """Return the trace with what was found, where it is more than was known."""
    layers = {layer.name: layer for layer in trace.layers}
    changed = False
    for slot in slots:
        layer = layers[slot.layer.name]
        known = layer.inputs[0] if slot.given and layer.inputs else None if slot.given else layer.field
        if slot.orders is None or (known is not None and not slot.exchanging):
            continue
        changed = changed or slot.exchanging
        field = replace(
            slot.field, rep=Exchange(elements, slot.orders, len(slot.shape) - _least(slot.field) + 1), guessed=True
        )
        layers[layer.name] = replace(layer, inputs=(field,), alone=True) if slot.given else replace(layer, field=field)
    if not changed:
        return trace
    return replace(trace, layers=tuple(layers.values()), by_name=layers)
