"""Find by trial how elements move what layers give and are given, where a space knows several ways of it.

A network on points declares seldom that its channels are places or vectors. Each way is compared with what the network
does to moved inputs. Behind a fault none is exact: there a tensor is taken for what others of its shape are. What has
no field at all, as pairs of points that a forward lists by itself, is tried too, and has one where it is exact.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor, nn

from explorer.declare.elements import Element, NoAction
from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import FieldType, Scalar
from explorer.equivariance import measure
from explorer.network.space import inference_of
from explorer.network.tracing.layers import Layer, LayerError, Trace

_EXACT = 1e-9  # relative, in double precision
_NEAR = 0.02  # of the error of the next best way
_LESS = 0.25  # of the error of a field: what changes so little is rather no field of places

Seen = tuple[Mapping[str, Tensor], Mapping[str, tuple[Tensor, ...]]]  # values of layers, and what they were given


def moving(
    model: nn.Module, trace: Trace, inputs: Inputs, elements: Sequence[Element], run: Callable[[Inputs], Seen]
) -> Trace:
    """Return the trace with the ways that a trial tells; the same one where it tells none.

    Args:
        run: inputs -> the values of all layers, and what they were given.
    """
    known, listed = inference_of(inputs).ways, inference_of(inputs).listed
    told = tuple(n.field for n in trace.layers if n.field is not None and not n.field.guessed)

    def ways(field: FieldType, shape: tuple[int, ...]) -> list[FieldType]:
        return [field, *known(field, shape, told)]

    if not any(len(ways(n.field, n.shape)) > 1 if n.field else listed(n.shape) for n in trace.layers):
        return trace
    before, after = run(inputs), [run(inputs.moved(g)) for g in elements]
    slots: dict[tuple[str, int], _Slot] = {}
    for layer in trace.layers:
        given = before[1].get(layer.called, ())
        held = layer.inputs if len(layer.inputs) == len(given) else (None,) * len(given)
        plain = layer.field or listed(layer.shape)
        slots[layer.name, -1] = _Slot(
            plain, before[0][layer.name], [a[0][layer.name] for a in after], layer.field is None, layer.module
        )
        for k, (f, value) in enumerate(zip(held, given, strict=True)):
            shape = tuple(value.shape)
            plain = f or inference_of(inputs).functional(shape) or listed(shape)
            # what only its shape tells of counts for what has a field, and would convict what has none
            bare = f is None and (layer.field is None or inference_of(inputs).functional(shape) is None)
            slots[layer.name, k] = _Slot(plain, value, [a[1][layer.called][k] for a in after], bare, layer.module)
    for slot in slots.values():
        slot.try_out(ways, elements)
    clear = {(tuple(s.value.shape), s.field) for s in slots.values() if s.clear and s.field is not None and not s.bare}
    own = {(s.module, k, tuple(s.value.shape)): s.field for (_, k), s in slots.items() if s.bare and s.clear}
    for (_, k), slot in slots.items():
        if slot.bare and not slot.clear:  # what the same module gave, or was given, in another call, else nothing
            slot.field, slot.errors = own.get((slot.module, k, tuple(slot.value.shape))), {}
    layers: list[Layer] = []
    for layer in trace.layers:
        given = before[1].get(layer.called, ())
        count = len(given)
        field, *given_fields = (slots[layer.name, k].settled(clear) for k in (-1, *range(count)))
        given_fields = [
            _as_given(value, layers, before[0]) if f is None else f for f, value in zip(given_fields, given)
        ]
        if field is None and layer.name in trace.outputs:
            field = layer.field
        alone = layer.alone or (count > 0 and None not in given_fields)
        fields = tuple(given_fields) if alone else layer.inputs
        alone = alone and None not in fields
        layers.append(replace(layer, field=field, inputs=fields, alone=alone))
        slot = slots[layer.name, -1]
        if slot.errors and not slot.clear:  # behind a fault a layer alone may tell what it was made for
            kept = _kept(model, trace, layers[-1], slot, elements, before[1])
            # else it is meant to keep the way of what it is given
            like = [f for f in slot.errors if fields and fields[0] is not None and f.rep == fields[0].rep]
            layers[-1] = replace(layers[-1], field=kept or field or next(iter(like), None))
    return _with(trace, layers)


def _with(trace: Trace, layers: Sequence[Layer]) -> Trace:
    """Return a trace with these layers; the same one where they are its own."""
    if list(layers) == list(trace.layers):
        return trace
    return replace(trace, layers=tuple(layers), by_name={n.name: n for n in layers})


def numbered(
    trace: Trace, inputs: Inputs, fed: Mapping[str, tuple[Tensor, ...]], elements: Sequence[Element],
    run: Callable[[Inputs], Seen],
) -> Trace:  # fmt: skip
    """Return the trace with what whole numbers that layers are given are by a trial: numbers of places move as numbers.

    What neither moves as scalars nor as numbers of places is unknown, and its layer is not tried alone.

    Args:
        fed: what all layers are given.
        run: as above.
    """
    asked = [
        (at, k) for at, layer in enumerate(trace.layers) if len(given := fed.get(layer.called, ())) == len(layer.inputs)
        for k, (f, value) in enumerate(zip(layer.inputs, given, strict=True))
        if f is not None and f.guessed and not value.is_floating_point()
    ]  # fmt: skip
    after = [run(inputs.moved(g))[1] for g in elements if asked]
    layers = list(trace.layers)
    for at, k in asked:
        layer, value = layers[at], fed[layers[at].called][k]
        answers = [a[layer.called][k] for a in after]
        ways = [f for f in (layer.inputs[k],) if f is not None]
        ways += [other for f in ways for other in inference_of(inputs).numbering(f)]
        found = next((f for f in ways if _error(f, value, answers, elements) == 0.0), None)
        fields = (*layer.inputs[:k], found, *layer.inputs[k + 1 :])
        layers[at] = replace(layer, inputs=fields, alone=layer.alone and None not in fields)
    return _with(trace, layers)


class Given(Protocol):
    """The values of all layers on one input, and what they were given."""

    @property
    def values(self) -> Mapping[str, Tensor]: ...
    @property
    def fed(self) -> Mapping[str, tuple[Tensor, ...]]: ...


def misread(
    trace: Trace, names: Sequence[str], given: Sequence[Given], acted: Collection[Sequence[tuple[Element, Inputs]]],
    run: Callable[[Inputs], Seen],
) -> tuple[list[str], list[str]]:  # fmt: skip
    """Return which of these layers are no such fields as they were taken for, and which only because of another.

    The first have places that their shape does not tell, as an image read on circles: elements exchange their numbers,
    in one order for all data. The others are given nothing but what hardly changes, as members in order of size.

    Args:
        names: of layers that break the laws of guessed fields.
        acted: some elements, each with what it makes of each input.
    """
    found = [
        {n: (g, one.values[n], after[n]) for n in names}
        for of in acted for one, (g, gx) in zip(given, of, strict=True) for after in [run(gx)[0]]
    ]  # fmt: skip
    by_element = [found[k : k + len(given)] for k in range(0, len(found), len(given))]
    elsewhere, still = [], []
    for name in names:
        field = trace[name].field
        if field is None:
            continue
        if not field.domain.placed:
            squares = [[of[name][1:] for of in element] for element in by_element]
            if len(trace[name].shape) > 2 and squares and all(_reordered(pairs, field.batched) for pairs in squares):
                elsewhere.append(name)
            continue
        moved = max((_error(field, before, [after], [g]) for g, before, after in (s[name] for s in found)), default=0.0)
        rest = max((_apart(before, after) for _, before, after in (s[name] for s in found)), default=moved)
        if rest < _LESS * moved:
            still.append(name)
    first = given[0]
    flat = {name: first.values[name].flatten() for name in still}
    heard = []
    for name in names:
        called = trace[name].called
        before = [v for other, v in flat.items() if trace[other].called != called]
        fed = first.fed.get(called, ())
        if fed and all(any(torch.equal(t.flatten(), v) for v in before) for t in fed):
            heard.append(name)
    return elsewhere, heard


def _reordered(pairs: Sequence[tuple[Tensor, Tensor]], batched: bool) -> bool:
    """Say whether the numbers before and after an element are the same ones, in one order for several samples."""
    both = []
    for at in (0, 1):
        each = [pair[at] for pair in pairs]
        each = list(torch.cat(each)) if batched else each
        if len(each) < 2 or len({v.shape for v in each}) > 1:
            return False
        # the numbers of all samples at one place stay together, so a sum of them with any weights tells places apart
        weights = torch.linspace(1.0, 2.0, len(each), dtype=each[0].dtype, device=each[0].device).sqrt()
        both.append(sum(w * v.flatten() for w, v in zip(weights, each, strict=True)))
    before, after = both
    return _apart(before.sort().values, after.sort().values) < _EXACT < _apart(before, after)


def _apart(before: Tensor, after: Tensor) -> float:
    if before.shape != after.shape:
        return float("inf")
    return float((before - after).norm()) / max(float(before.norm()), torch.finfo(before.dtype).tiny)


def _as_given(value: Tensor, layers: Sequence[Layer], values: Mapping[str, Tensor]) -> FieldType | None:
    """Return the field of what the last of these layers that gave such a tensor has given; None where none has."""
    same = (n.field for n in reversed(layers) if n.shape == tuple(value.shape) and torch.equal(values[n.name], value))
    return next(same, None)


@dataclass
class _Slot:
    """A tensor that a layer gives, or is given: its field, its values, and those for each moved input.

    Attributes:
        bare: nothing is known of it but what the trial tells.
        module: that gives it, or is given it.
    """

    field: FieldType | None
    value: Tensor
    answers: Sequence[Tensor]
    bare: bool
    module: str
    errors: dict[FieldType, float] = dataclasses.field(default_factory=dict)  # of each way, where there are several

    def try_out(self, ways: Callable[[FieldType, tuple[int, ...]], Sequence[FieldType]], g: Sequence[Element]) -> None:
        """Find how far each way is from what the network does; take the one that is exact, if one is."""
        if self.field is None or not self.field.guessed or not self.value.is_floating_point():
            return
        found = ways(replace(self.field, rep=Scalar()), tuple(self.value.shape))
        tried = len(found) > 1 or self.bare
        self.errors = {f.guess(): _error(f, self.value, self.answers, g) for f in found} if tried else {}
        if self.clear:
            self.field = min(self.errors, key=lambda f: self.errors[f])

    @property
    def clear(self) -> bool:
        """Say whether one way is exact, or was never in question."""
        return self.field is not None and (
            not self.field.guessed or (bool(self.errors) and min(self.errors.values()) < _EXACT)
        )

    def settled(self, clear: Collection[tuple[tuple[int, ...], FieldType]]) -> FieldType | None:
        """Return the field: the best one of those that are clear of tensors of this shape, None where none is."""
        if not self.errors or self.clear:
            return self.field
        here = [c for s, c in clear if s == tuple(self.value.shape)]
        alike = [f for f in self.errors if any(c.rep == f.rep for c in here)]
        plain = [f for f in self.errors if isinstance(f.rep, Scalar)]
        alike, plain = ([f for f in some if any(c.domain == f.domain for c in here)] or some for some in (alike, plain))
        best, *others = sorted(self.errors, key=lambda f: self.errors[f])
        if not alike and self.errors[best] < _NEAR * min(self.errors[f] for f in others):
            return best  # a fault that is small beside what another way would be off by
        return min([*alike, *plain], key=lambda f: self.errors[f]) if alike else None


def _kept(
    model: nn.Module, trace: Trace, layer: Layer, slot: _Slot, elements: Sequence[Element],
    fed: Mapping[str, tuple[Tensor, ...]],
) -> FieldType | None:  # fmt: skip
    """Return the action under which a layer alone keeps the law on moved inputs; None where it keeps none."""
    try:
        answers = [measure.local_answer(model, trace, layer, g, fed.get(layer.called, ())) for g in elements]
    except LayerError:
        return None
    found = [a for a in answers if a is not None]
    if len(found) < len(elements):
        return None
    errors = {f: _error(f, slot.value, found, elements) for f in slot.errors}
    best = min(errors, key=lambda f: errors[f])
    return best if errors[best] < _EXACT else None


def _error(field: FieldType, value: Tensor, answers: Sequence[Tensor], elements: Sequence[Element]) -> float:
    worst = 0.0
    for g, answer in zip(elements, answers, strict=True):
        try:
            expected = field.rep.acted(g, value, field)
        except NoAction:
            return float("inf")
        if value.is_floating_point():
            worst = max(worst, _apart(expected, answer))
        elif not torch.equal(expected, answer):
            return float("inf")
    return worst
