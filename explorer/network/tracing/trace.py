"""Run a network once and learn what its layers are: order, shapes, field types, receptive fields.

Modules declare how they change the representation with an attribute `out_rep` (or a whole `out_field`); everything
pointwise inherits; spacing follows from strides. Where nothing is declared the field is inferred from the module's
kind and the tensor's shape and marked as a guess, which a person can correct (`overrides`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn

from explorer.declare.inputs import Given, Inputs, inputs_of
from explorer.declare.types.field_text import parse_field
from explorer.declare.types.fields import FieldType
from explorer.network.changing.conduct import Unusual, left_out, overwritten, require_usual, writes
from explorer.network.inner.attention import unwatched
from explorer.network.inner.tracing import constant_masks, described, settled
from explorer.network.inner.value import Inner
from explorer.network.inner.watching import STEPS, watching
from explorer.network.input.inputs import called
from explorer.network.input.typed_tensors import irreps_text, type_of
from explorer.network.space import Inference, Known, inference_of
from explorer.network.tracing import reasons
from explorer.network.tracing.capture import Fed
from explorer.network.tracing.layers import FORWARD, OUTPUT, Layer, LayerError, Run, Trace, channel_names, layer_error
from explorer.network.tracing.loops import Late, once_a_step
from explorer.network.tracing.reaching import reaching, widest
from explorer.network.tracing.reasons import declares
from explorer.network.tracing.running import measured, no_tensor, of_vmap, tensors_in, tensors_of
from explorer.network.tracing.studying import sharing, studied
from explorer.network.tracing.trials import Sizes, counted, kept, sizes
from explorer.network.tracing.walking import IN_ITSELF, held_elsewhere, holds_itself, named_modules, named_tensors
from explorer.work.progress import Cancelled


def trace(
    model: nn.Module,
    x: Given,
    x_field: FieldType | None = None,
    *,
    overrides: Mapping[str, str] | None = None,
    declared: bool = False,
    parts: bool = False,
    without: Collection[str] = (),
) -> Trace:
    """Run `model` once and describe every module call; `traced_run` has the arguments and errors."""
    return traced_run(model, x, x_field, overrides=overrides, declared=declared, parts=parts, without=without)[0]


def traced_run(
    model: nn.Module, x: Given, x_field: FieldType | None = None, *, overrides: Mapping[str, str] | None = None,
    declared: bool = False, parts: bool = False, inference: Inference | None = None, without: Collection[str] = (),
    steps: Mapping[str, int] = MappingProxyType({}),
) -> tuple[Trace, Run | None]:  # fmt: skip
    """Run `model` once, describe every module call, and return what the run gave, unless it drew or overwrote numbers.

    Args:
        x: what it is called with: Inputs, or one tensor with its field, such as an image (batch, channel, y, x).
        overrides: {layer name: field text}, corrections of guessed fields.
        declared: the network's author stands for its fields (a built-in card), so none is marked as a guess.
        parts: describe every tensor that a module returns, not the first alone, and feed layers alone that take more
            than tensors in their order.
        inference: what is known of the network from a trial; by default one is made where shapes leave something open.
        without: modules and inner values that are no layers: what they do is code of the forward around them.
        steps: modules whose calls are one layer, "cell.steps", as a loop over steps calls them; by default they are
            found by a trial, where `parts` are asked for.

    Raises:
        LayerError: a module raised; `.where` names it.
        KeyError: there is no layer of an override's name.
        ValueError: an override is no field type, or does not fit the layer's shape.
    """
    again = partial(traced_run, model, x, x_field, overrides=overrides, parts=parts, without=without)
    without = frozenset((*without, *steps))
    # what only makes weights has no place on the way of the signal
    names = {m: n for n, m in named_modules(model) if "parametrizations" not in n.split(".") and n not in without}
    fields = {name: parse_field(text) for name, text in (overrides or {}).items() if name not in without}
    inputs = inputs_of(x, x_field).map(lambda v, _: v.detach().clone())  # the first layer may work in place
    recorder = _Recorder(names, inputs, fields, declared, parts, inference or inference_of(inputs), without)
    if not declared or recorder.inference.coincide():
        recorder.sizes = sizes(model, names, inputs, recorder.inference, steps)
    handles = recorder.late.watched(model, steps)
    try:
        for module in names:
            handles.append(module.register_forward_pre_hook(recorder.enter, prepend=True, with_kwargs=True))
            handles.append(module.register_forward_hook(recorder.leave, with_kwargs=True))
        drawn, start, fresh = torch.get_rng_state(), time.perf_counter(), [writes(v) for v in inputs.arguments]
        with torch.no_grad():
            try:
                with nullcontext() if declared else watching(model, recorder.arisen, steps) as finish:
                    result = called(model, inputs)
                    if finish is not None:
                        finish()
            except (_Unfit, Unusual, Cancelled, KeyboardInterrupt, torch.OutOfMemoryError):
                raise
            except BaseException as error:  # somebody else's network may raise anything
                raise layer_error(model, error) from error
    finally:
        for handle in handles:
            handle.remove()
    if inside := holds_itself(model):
        raise LayerError("", f"the network {IN_ITSELF.format(inside)}")
    if measured(result) is None:
        raise LayerError(OUTPUT, f"the network returned {no_tensor(result)}")
    seconds, steady = time.perf_counter() - start, torch.equal(drawn, torch.get_rng_state()) and not inputs.x.is_cuda
    if parts and not declared and not steps and (steps := once_a_step(model, inputs, recorder.calls)):
        return again(inference=inference, steps=steps)
    layers = recorder.finish(result)
    if inference is None and not declared and (wiser := studied(model, inputs, recorder.inference, layers)) is not None:
        return again(inference=wiser, steps=steps)
    changed = overwritten(inputs.arguments, fresh, inputs_of(x, x_field).arguments)
    clones = changed or recorder.overwritten() or any(getattr(m, "inplace", False) for _, m in named_modules(model))
    layers = reaching(model, inputs, recorder.inference, layers if declared else sharing(model, inputs, layers))
    if recorder.masks:
        constant = constant_masks(model, inputs, recorder.inference, recorder.masks)
        layers = [settled(n, n.name in constant) if n.name in recorder.masks else n for n in layers]
    known = {layer.name for layer in layers}
    unknown = {n for n in fields if n not in known and (parts or n.partition("[")[0] not in known)}
    if unknown:
        raise KeyError(f"no layer is called {sorted(unknown)[0]!r}")
    traced = Trace(
        tuple(layers), recorder.outputs[0], clones, by_name={layer.name: layer for layer in layers},
        outputs=tuple(recorder.outputs), changes_input=changed,
        differentiates=any(v.requires_grad for v in recorder.values.values()), left_out=left_out(result),
        held=held_elsewhere(names),
    )  # fmt: skip
    values, fed = {n: v.detach() for n, v in recorder.values.items()}, recorder.fed
    return traced, Run(values, fed, seconds) if steady and not clones and not parts else None


class _Unfit(ValueError):
    """An override names a field that the layer's shape cannot hold."""


class _Recorder:
    def __init__(
        self,
        names: Mapping[nn.Module, str],
        inputs: Inputs,
        overrides: Mapping[str, FieldType],
        declared: bool,
        parts: bool,
        inference: Inference,
        without: Collection[str],
    ) -> None:
        self.names = names
        self.without = without
        self.parts = parts
        self.outputs: list[str] = []
        self.inference = inference
        self.overrides = overrides
        self.declared = declared
        self.stack: list[str] = []
        self.layers: list[Layer] = []
        self.late = Late(self.layers)
        self.calls: dict[str, int] = {}
        # ids are only unique while the tensors live; a version that has moved on means an overwritten value
        given = list(zip(inputs.values, inputs.fields, strict=True))
        self._keep: list[tuple[Tensor, int]] = [(v, writes(v)) for v, _ in given]
        self._known: dict[int, Known] = {id(v): (f, 0.0, 0) for v, f in given}
        self._recent: list[tuple[tuple[int, ...], FieldType, float, int]] = [
            (tuple(v.shape), f, 0.0, 0) for v, f in given if v.is_floating_point()
        ]
        self._produced: dict[int, str] = {}
        self._domains = {f.domain for f in inputs.fields}
        self._inner: list[bool] = []
        self._stored = {id(t) for m in names for own in (m._parameters, m._buffers) for t in own.values()}
        self.sizes: dict[str, Sizes] = {}  # of the tensors of each call, for resized inputs
        self._entered: list[tuple[Any, Any, int]] = []  # arguments, and how many layers there were before
        self.values: dict[str, Tensor] = {}
        self.fed: dict[str, tuple[Tensor, ...]] = {}
        self.masks: dict[str, tuple[Tensor, ...]] = {}  # of values that no module returns

    def arisen(self, label: str, inner: Inner) -> None:
        """Add a value that no module returns."""
        value = inner.make()
        if label in self.without or of_vmap(value) or not value.is_floating_point():
            return
        made = next((n for n in self.layers if n.name == self._produced.get(id(value))), None)
        if made is not None and not made.kind.startswith(("Dropout", "Identity")):
            return  # a module returns it, and does not only hand it on
        other = self.sizes.get(label)
        layer = described(
            label, inner, value, self.inference, self._lookup, self._most_rank() + 1, other.answered if other else None
        )
        if label in self.overrides:
            layer = replace(layer, field=self._override(label, value))
        self._keep.append((value, writes(value)))
        self._produced[id(value)] = label
        (self.late.add if inner.what == STEPS else self.layers.append)(layer)
        self.values[label] = value
        if inner.again is not None:
            given = self.fed[label] = Fed.of(inner.fed, {}, clone=False)
            given.again = inner.again
        if inner.masks:
            self.masks[label] = inner.masks

    def enter(self, module: nn.Module, args: Any, kwargs: Any) -> None:
        if self._inner:
            self._inner[-1] = True
        self._inner.append(False)
        self.stack.append(self.names[module])
        self._entered.append((args, kwargs, len(self.layers)))

    @unwatched()
    def leave(self, module: nn.Module, args: Any, kwargs: Any, result: Any) -> None:
        name = self.names[module]
        while self.stack.pop() != name:  # a layer that raised, in a forward that caught it, never left
            self._inner.pop()
            self._entered.pop()
        has_inner = self._inner.pop()
        args, kwargs, began = self._entered.pop()  # as they were before hooks of the module itself changed them
        part, out = measured(result) or (0, None)
        call = self.calls.get(name, 0)
        self.calls[name] = call + 1
        require_usual(name, result)
        if not name or out is None or not out.is_floating_point():
            return
        called = name if call == 0 else f"{name}#{call + 1}"
        label = f"{called}[{part}]" if part else called
        tensors = tensors_of(args, kwargs)
        other = self.sizes.get(called)
        known = [
            self._lookup(t, other.given[k] if other and len(other.given) == len(tensors) else None)
            for k, t in enumerate(tensors)
        ]
        fed = self.inference.fed
        known = [k and (fed(module, i, k[0], tuple(tensors[i].shape)), *k[1:]) for i, k in enumerate(known)]
        in_field, radius, rank = (known and known[0]) or (None, self.inference.untold, 0)
        shape_in, shape = tuple(tensors[0].shape) if tensors else (), tuple(out.shape)
        out_field: FieldType | None
        passed = self._known.get(id(out)) if has_inner else None
        declaring, params = declares(module), counted(module)
        why = reasons.inferred(module, in_field, shape_in, shape, declaring)
        if passed is not None:
            out_field, radius, rank = passed
            why = reasons.PASSED
            if (rep := getattr(module, "out_rep", None)) is not None:
                out_field = replace(out_field, rep=rep, guessed=False)
            elif irreps_text(module):  # what is inside says nothing of it
                own = self.inference.infer(module, in_field, shape_in, shape)
                out_field = out_field if own is None or own.guessed else own
        else:
            inner = [n for n in (self.layers[began:] if has_inner else ()) if n.module.startswith(name + ".")]
            # functional code after a container's layers (a residual sum) mostly keeps the field of the same shape
            alike = self._lookup(out, other.answered if other else None) if inner and not declaring else None
            out_field = alike[0] if alike else self.inference.infer(module, in_field, shape_in, shape)
            why = reasons.ALIKE if alike else why
            if other and out_field is not None and not isinstance(getattr(module, "out_field", None), FieldType):
                placed = self._placed(out_field, tuple(out.shape), other.answered)
                out_field, why = placed, why if placed == out_field else reasons.RESIZED
            if not alike and in_field is not None and out_field is not None and len(tensors) == 1:
                same = in_field.rep != out_field.rep and out.shape == tensors[0].shape and torch.equal(out, tensors[0])
                tried = kept(module, args, kwargs, in_field, out_field, same, self.declared)
                out_field, why = tried, why if tried == out_field else reasons.KEPT
            declared = None if part or declaring else type_of(result)
            if declared is not None and (carried := self.inference.typed(declared, out_field, shape)) is not None:
                out_field, why = carried, reasons.CARRIED
            rank = max([rank + int((weighted := params is not None) and not inner), *(layer.rank for layer in inner)])
            told = self.inference.receptive(module, in_field, shape_in, shape, radius)
            if self.declared and math.isnan(told) and (inner or (not weighted and shape == shape_in)):
                # the author of a card stands for code between its layers: it sees no farther than they do
                told = widest([radius, *(k[1] for k in known[1:] if k)])
            # weights of attention hear all that they are made of, and may be made of a few places near by
            radius = widest([told, *(math.nan if n.within is not None else n.receptive for n in inner)])
        if out_field is not None and out_field.guessed and not self.declared and self._told(module, tensors):
            # a table that its caller gives it: the caller's law is a law, its own is not known
            out_field, why = None, reasons.GIVEN
        if label in self.overrides:
            out_field, why = self._override(label, out), reasons.CORRECTED
        elif out_field is not None and self.declared:
            out_field, why = out_field.declared(), reasons.AUTHOR
        if out_field is not None and not self.inference.fits(out_field, out):
            out_field, why = None, reasons.UNFIT
        if out_field is not None and len(tensors) == 1 and declaring and self._guessed_alike(module, tensors[0], out):
            # a value that is only given a name: what it is declared to be holds for what comes in as well
            known = [(out_field, radius, rank)]
        self._keep.append((out, writes(out)))
        if out_field is not None:
            self._remember(out, out_field, radius, rank)
        alone = len(args) == len(tensors) and not kwargs and bool(known) and all(k is not None for k in known)
        if not alone and (inside := reasons.inside(self._known, args, kwargs, tensors, known)):
            alone, known = True, inside
        self.layers.append(
            Layer(
                name=label, module=name, kind=type(module).__name__, call=call, shape=tuple(out.shape),
                params=params or 0, field=out_field, inputs=tuple(k[0] if k else None for k in known), alone=alone,
                told=radius, leaf=not has_inner, rank=rank, shape_in=shape_in, part=part, reason=why,
                names=channel_names(module, out_field, tuple(out.shape)),
            )
        )  # fmt: skip
        self._produced[id(out)] = label
        self.values[label], self.fed[called] = out, Fed.of(args, kwargs, clone=False)
        if self.parts:
            at = len(self.layers) - 1
            self.layers[at] = replace(first := self.layers[at], also=self._rest(first, result, part))

    def _rest(self, first: Layer, result: Any, known: int, own: bool = True) -> tuple[str, ...]:
        """Add the further tensors that a module returned; return the layers inside of it that made any of them."""
        also: list[str] = []
        for part, out in enumerate(tensors_in(result)):
            if part == known or out.ndim < 1 or not out.is_floating_point() or not (own or out.numel()):
                continue
            if id(out) in self._produced:
                (also if own else self.outputs).append(self._produced[id(out)])
                continue
            label = f"{first.called}[{part}]" if own else f"{self._root_name()}[{part}]"
            other = self.sizes.get(label if own else f"[{part}]")
            found = self._lookup(out, other.answered if other else None)
            out_field = found[0].guess() if found else None if other else self.inference.functional(tuple(out.shape))
            if label in self.overrides:
                out_field = self._override(label, out)
            elif out_field is not None and self.declared:
                out_field = out_field.declared()
            unfit = out_field is not None and not self.inference.fits(out_field, out)
            # a trial with other sizes has told coinciding ones apart
            if unfit or (out_field is not None and out_field.guessed and not other and self._either(out)):
                out_field = None
            self._keep.append((out, writes(out)))
            if out_field is not None:
                self._known[id(out)] = (out_field, first.receptive, first.rank)
            self._produced[id(out)] = label
            shape = tuple(out.shape)
            if own:
                self.layers.append(replace(first, name=label, shape=shape, field=out_field, part=part))
            else:
                reach = found[1] if found else math.inf
                self.layers.append(
                    Layer(label, "", "forward", 0, shape, 0, out_field, (), False, reach, True, first.rank, part=part)
                )
                self.outputs.append(label)
        return tuple(also)

    def _either(self, out: Tensor) -> bool:
        """Return whether coinciding sizes (as many edges as nodes) let a tensor lie on several domains."""
        return len({d for d in self._domains if self.inference.fits(FieldType(d), out)}) > 1

    def _root_name(self) -> str:
        return FORWARD if OUTPUT in {*self.names.values(), *self.without} else OUTPUT

    def finish(self, result: Any) -> list[Layer]:
        """Return the layers; the root's own result is added when functional code made it."""
        self.late.settle()
        part, out = next(filter(None, [measured(result)]))
        made = self._produced.get(id(out))
        # the last layer, or the first tensor of what it returned
        if made is None or made != self.layers[-1].called:
            other = self.sizes.get("")
            found = self._lookup(out, other.answered if other else None)
            out_field = self._of_root(found[0] if found else None, tuple(out.shape))
            if other and out_field is not None:
                out_field = self._placed(out_field, tuple(out.shape), other.answered)
            if out_field is not None and not self.inference.fits(out_field, out):
                out_field = None
            made = label = f"{self._root_name()}[{part}]" if part else self._root_name()
            self.values[label] = out
            if label in self.overrides:
                out_field = self._override(label, out)
            last = self.layers[-1] if self.layers else None
            self.layers.append(
                Layer(label, "", "forward", 0, tuple(out.shape), 0, out_field, (), False, self.inference.untold, True,
                      last.rank if last else 0, part=part)
            )  # fmt: skip
        self.outputs = [made]
        if self.parts:
            self._rest(self.layers[-1], result, part, own=False)
        return self.layers

    def _of_root(self, seen: FieldType | None, shape: tuple[int, ...]) -> FieldType | None:
        """Return the field of the network's own result: as declared, as seen, or as of a layer that does it all."""
        root = next(module for module, name in self.names.items() if not name)
        if not declares(root) and (seen := seen or self.inference.functional(shape)) is not None:
            return seen
        given = self._keep[0][0]
        found = self.inference.infer(root, self._known[id(given)][0], tuple(given.shape), shape)
        return found if found is None or declares(root) else found.guess()

    def _told(self, module: nn.Module, tensors: Sequence[Tensor]) -> bool:
        """Say whether an argument is a parameter or a buffer of another module."""
        given = {id(t) for t in tensors} & self._stored
        return bool(given) and not given <= {id(t) for _, t in named_tensors(module)}

    def _guessed_alike(self, module: nn.Module, given: Tensor, out: Tensor) -> bool:
        """Return whether what came in is what goes out, or has its shape and was known by nothing else."""
        # e3nn's modules say what comes in as well
        unknown = given.shape == out.shape and id(given) not in self._known
        return not irreps_text(module) and (given is out or unknown)

    def overwritten(self) -> bool:
        """Return whether functional code changed a layer's output in place after the layer had returned it."""
        return any(writes(tensor) != version for tensor, version in self._keep)

    def _override(self, label: str, out: Tensor) -> FieldType:
        field = self.inference.own(self.overrides[label])
        if not self.inference.fits(field, out):
            raise _Unfit(f"layer {label} gives {tuple(out.shape)}, which cannot be a field of type '{field}'")
        return field

    def _remember(self, tensor: Tensor, out_field: FieldType, radius: float, rank: int) -> None:
        self._known[id(tensor)] = (out_field, radius, rank)
        self._recent.append((tuple(tensor.shape), out_field, radius, rank))

    def _placed(self, field: FieldType, shape: tuple[int, ...], resized: tuple[int, ...]) -> FieldType | None:
        """Return the field on the places that the trial with other sizes tells; None where it tells of none."""
        found = self.inference.placed(shape, resized)
        alike = found is not None and type(found.domain) is type(field.domain)
        return replace(field, domain=found.domain) if alike and found is not None else found

    def _lookup(self, tensor: Tensor, resized: tuple[int, ...] | None = None) -> Known | None:
        """Return what is known of a tensor: by identity, else by the shape of what came before (functional code).

        Args:
            resized: its shape for resized inputs, where it is known.
        """
        if id(tensor) in self._known:
            return self._known[id(tensor)]
        shape = tuple(tensor.shape)
        if resized is not None:
            placed = self.inference.placed(shape, resized)
            if placed is None:
                return None
            for seen, seen_field, _, rank in reversed(self._recent):
                if seen == shape and seen_field.domain == placed.domain:
                    return seen_field.guess(), self.inference.untold, rank
            return placed, self.inference.untold, self._most_rank()
        for seen, seen_field, radius, rank in reversed(self._recent):
            if seen == shape:
                # the same shape is mostly the same field, but code may have looked farther
                return (
                    (seen_field, radius, rank) if self.declared else (seen_field.guess(), self.inference.untold, rank)
                )
        # only then by kindred shapes: as many channels as nodes would make a matrix of pairs of them
        for seen, seen_field, radius, rank in reversed(self._recent):
            if (found := self.inference.alike(shape, seen, (seen_field, radius, rank))) is not None:
                return found
        sized = None if self.declared else self.inference.wide(shape)
        return None if sized is None or len(shape) > 4 else (sized, self.inference.untold, self._most_rank())

    def _most_rank(self) -> int:
        return max((rank for *_, rank in self._recent), default=0)
