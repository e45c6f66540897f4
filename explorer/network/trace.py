"""Run a network once and learn what its layers are: order, shapes, field types, receptive fields.

Modules declare how they change the representation with an attribute `out_rep` (or a whole `out_field`); everything
pointwise inherits; spacing follows from strides. Where nothing is declared the field is inferred from the module's
kind and the tensor's shape and marked as a guess, which a person can correct (`overrides`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, is_dataclass, replace
from dataclasses import fields as fields_of
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from explorer.declare.field_text import parse_field
from explorer.declare.fields import FieldType
from explorer.declare.space import Known, inference_of
from explorer.network.inputs import Given, Inputs, inputs_of

OUTPUT = "output"  # the name of the root module's own result, when no named module produced it
FORWARD = "forward"  # the same in a network that has a layer called "output"; no layer can be called this


class LayerError(RuntimeError):
    """A layer failed; `where` is its name."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(message)
        self.where = where


@dataclass(frozen=True, slots=True)
class Layer:
    """One call of one module, as seen in the trace.

    Attributes:
        name: as in named_modules(); a module called again is "name#2", "name#3", ...; the second tensor of what it
            returns is "name[1]".
        module: name in named_modules() without the call number.
        kind: the module's class.
        call: 0 for the first call.
        shape, params: of the output, with its batch axis; number of parameters, its children's included.
        field: of the output, None when the output's shape fits no domain that is known.
        inputs: fields of the positional tensor inputs; None where unknown.
        alone: whether the module can be fed alone (all its inputs are tensors with known fields).
        receptive: radius in input pixels, an upper bound along the trace; inf after a global operation.
        leaf: whether it has no children that were called.
        rank: how many weighted layers lie before it, itself included (for tolerances).
        shape_in: of its first tensor input.
        part: which tensor of the result it is.
    """

    name: str
    module: str
    kind: str
    call: int
    shape: tuple[int, ...]
    params: int
    field: FieldType | None
    inputs: tuple[FieldType | None, ...]
    alone: bool
    receptive: float
    leaf: bool
    rank: int
    shape_in: tuple[int, ...] = ()
    part: int = 0

    @property
    def called(self) -> str:
        """Return the name of the call that returned this tensor."""
        return self.name.removesuffix(f"[{self.part}]") if self.part else self.name


@dataclass(frozen=True, slots=True)
class Trace:
    """The layers of a network in order of completion."""

    layers: tuple[Layer, ...]
    output: str
    clones: bool  # whether outputs must be copied because something works in place
    training_modules: tuple[str, ...] = ()
    by_name: Mapping[str, Layer] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()  # the network's result, tensor by tensor; empty where only the first was traced

    def __getitem__(self, name: str) -> Layer:
        return self.by_name[name]


def tensors_in(value: Any) -> Iterator[Tensor]:
    """Yield the tensors of a module's result in order: itself, or inside tuples, lists, mappings and dataclasses."""
    if isinstance(value, Tensor):
        yield value
        return
    items: Iterable[Any] = ()
    if isinstance(value, Mapping):
        items = value.values()
    elif isinstance(value, list | tuple):
        items = value
    elif is_dataclass(value) and not isinstance(value, type):
        items = (getattr(value, f.name) for f in fields_of(value))
    for item in items:
        yield from tensors_in(item)


def first_tensor(value: Any) -> Tensor | None:
    """Return the first tensor in a module's result."""
    return next(tensors_in(value), None)


def failing(model: nn.Module, error: BaseException) -> str:
    """Return the name of the innermost module in whose forward `error` was raised; "" is `model` itself."""
    names = {id(module): name for name, module in model.named_modules()}
    found, step = "", error.__traceback__
    while step is not None:
        found = names.get(id(step.tb_frame.f_locals.get("self")), found)
        step = step.tb_next
    return found


def layer_error(model: nn.Module, error: Exception) -> LayerError:
    """Return `error` as one sentence that names the layer it came from."""
    where = failing(model, error)
    named = f"layer {where}" if where else "the network's forward"
    return LayerError(where, f"{named} raised {type(error).__name__}: {error}")


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Put the network in eval mode, TF32 off, and restore both, and the random state, afterwards."""
    modes = {m: m.training for m in model.modules()}
    tf32 = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    rng = torch.get_rng_state()
    cuda_rng = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    try:
        model.eval()
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        yield
    finally:
        for module, mode in modes.items():
            module.training = mode
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = tf32
        torch.set_rng_state(rng)
        if cuda_rng:
            torch.cuda.set_rng_state_all(cuda_rng)


def trace(
    model: nn.Module,
    x: Given,
    x_field: FieldType | None = None,
    *,
    overrides: Mapping[str, str] | None = None,
    declared: bool = False,
    parts: bool = False,
) -> Trace:
    """Run `model` once and describe every module call.

    Args:
        x: what it is called with: Inputs, or one tensor with its field, such as an image (batch, channel, y, x).
        overrides: {layer name: field text}, corrections of guessed fields.
        declared: the network's author stands for its fields (a built-in card), so none is marked as a guess.
        parts: describe every tensor that a module returns, not the first alone, and feed layers alone that take more
            than tensors in their order.

    Raises:
        LayerError: a module raised; `.where` names it.
        KeyError: there is no layer of an override's name.
        ValueError: an override is no field type, or does not fit the layer's shape.
    """
    # what makes a weight, such as its norm, is no layer
    names = {m: n for n, m in model.named_modules() if "parametrizations" not in n.split(".")}
    fields = {name: parse_field(text) for name, text in (overrides or {}).items()}
    inputs = inputs_of(x, x_field).map(lambda v, _: v.detach().clone())  # the first layer may work in place
    recorder = _Recorder(names, inputs, fields, declared, parts)
    handles = []
    try:
        for module in names:
            handles.append(module.register_forward_pre_hook(recorder.enter, prepend=True, with_kwargs=True))
            handles.append(module.register_forward_hook(recorder.leave, with_kwargs=True))
        with torch.no_grad():
            try:
                result = model(*inputs.arguments)
            except (_Unfit, torch.OutOfMemoryError):
                raise
            except Exception as error:
                raise layer_error(model, error) from error
    finally:
        for handle in handles:
            handle.remove()
    if first_tensor(result) is None:
        raise LayerError(OUTPUT, f"the network returned {type(result).__name__}, which holds no tensor")
    layers = recorder.finish(result)
    clones = recorder.overwritten() or any(getattr(m, "inplace", False) for m in names)
    known = {layer.name for layer in layers}
    unknown = {n for n in fields if n not in known and (parts or n.partition("[")[0] not in known)}
    if unknown:
        raise KeyError(f"no layer is called {sorted(unknown)[0]!r}")
    outputs = recorder.outputs
    return Trace(
        tuple(layers), outputs[0], clones, by_name={layer.name: layer for layer in layers}, outputs=tuple(outputs)
    )


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
    ) -> None:
        self.names = names
        self.parts = parts
        self.outputs: list[str] = []
        self.inference = inference_of(inputs)
        self.overrides = overrides
        self.declared = declared
        self.stack: list[str] = []
        self.layers: list[Layer] = []
        self.calls: dict[str, int] = {}
        # ids are only unique while the tensors live; a version that has moved on means an overwritten value
        given = list(zip(inputs.values, inputs.fields, strict=True))
        self._keep: list[tuple[Tensor, int]] = [(v, _version(v)) for v, _ in given]
        self._known: dict[int, Known] = {id(v): (f, 0.0, 0) for v, f in given}
        self._recent: list[tuple[tuple[int, ...], FieldType, float, int]] = [
            (tuple(v.shape), f, 0.0, 0) for v, f in given if v.is_floating_point()
        ]
        self._produced: dict[int, str] = {}
        self._domains = {f.domain for f in inputs.fields}
        self._inner: list[bool] = []
        self._entered: list[tuple[Any, Any]] = []

    def enter(self, module: nn.Module, args: Any, kwargs: Any) -> None:
        if self._inner:
            self._inner[-1] = True
        self._inner.append(False)
        self.stack.append(self.names[module])
        self._entered.append((args, kwargs))

    def leave(self, module: nn.Module, args: Any, kwargs: Any, result: Any) -> None:
        name = self.names[module]
        while self.stack.pop() != name:  # a layer that raised, in a forward that caught it, never left
            self._inner.pop()
            self._entered.pop()
        has_inner = self._inner.pop()
        args, kwargs = self._entered.pop()  # as they were before hooks of the module itself changed them
        out = first_tensor(result)
        call = self.calls.get(name, 0)
        self.calls[name] = call + 1
        if not name or out is None or out.ndim < 1 or not out.is_floating_point():
            return
        tensors = [a for a in (*args, *kwargs.values()) if isinstance(a, Tensor)]
        known = [self._lookup(t) for t in tensors]
        first = known[0] if known else None
        in_field, radius, rank = first if first else (None, math.inf, 0)
        label = name if call == 0 else f"{name}#{call + 1}"
        shape_in, shape = tuple(tensors[0].shape) if tensors else (), tuple(out.shape)
        out_field: FieldType | None
        passed = self._known.get(id(out)) if has_inner else None
        if passed is not None:
            out_field, radius, rank = passed
            if (rep := getattr(module, "out_rep", None)) is not None:
                out_field = replace(out_field, rep=rep, guessed=False)
        else:
            inner = [layer for layer in self.layers if layer.module.startswith(name + ".")] if has_inner else []
            # functional code after a container's layers (a residual sum) mostly keeps the field of the same shape
            alike = self._lookup(out) if inner and not _declares(module) else None
            out_field = alike[0] if alike else self.inference.infer(module, in_field, shape_in, shape)
            weighted = any(True for _ in module.parameters())
            rank = max([rank + int(weighted and not inner), *(layer.rank for layer in inner)])
            radius = self.inference.receptive(module, in_field, shape_in, shape, radius)
            radius = max([radius, *(layer.receptive for layer in inner)])
        if label in self.overrides:
            out_field = self._override(label, out)
        elif out_field is not None and self.declared:
            out_field = out_field.declared()
        if out_field is not None and not self.inference.fits(out_field, out):
            out_field = None
        if out_field is not None and len(tensors) == 1 and _declares(module) and self._guessed_alike(tensors[0], out):
            # a value that is only given a name: what it is declared to be holds for what comes in as well
            known = [(out_field, radius, rank)]
        self._keep.append((out, _version(out)))
        if out_field is not None:
            self._remember(out, out_field, radius, rank)
        alone = len(args) == len(tensors) and not kwargs and bool(known) and all(k is not None for k in known)
        if self.parts and not alone and (inside := self._inside(args, kwargs)):
            alone, known = True, inside
        self.layers.append(
            Layer(
                name=label,
                module=name,
                kind=type(module).__name__,
                call=call,
                shape=tuple(out.shape),
                params=sum(p.numel() for p in module.parameters()),
                field=out_field,
                inputs=tuple(k[0] if k else None for k in known),
                alone=alone,
                receptive=radius,
                leaf=not has_inner,
                rank=rank,
                shape_in=shape_in,
            )
        )
        self._produced[id(out)] = label
        if self.parts:
            self._rest(self.layers[-1], result)

    def _inside(self, args: Any, kwargs: Any) -> list[Known | None]:
        """Return what is known of all tensors in arguments of any form; nothing where not all is known."""
        leaves = tree_leaves((args, kwargs))
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        plain = all(isinstance(leaf, Tensor | bool | int | float | str | None) for leaf in leaves)
        return [self._known.get(id(t)) for t in tensors] if plain and all(id(t) in self._known for t in tensors) else []

    def _rest(self, first: Layer, result: Any, own: bool = True) -> None:
        """Add the tensors after the first one of what a module returned, where no layer inside has made them."""
        for part, out in enumerate(tensors_in(result)):
            if not part or out.ndim < 1 or not out.is_floating_point():
                continue
            if id(out) in self._produced:
                self.outputs += [] if own else [self._produced[id(out)]]
                continue
            label = f"{first.name}[{part}]" if own else f"{self._root_name()}[{part}]"
            found = self._lookup(out)
            out_field = found[0].guess() if found else self.inference.functional(tuple(out.shape))
            if label in self.overrides:
                out_field = self._override(label, out)
            elif out_field is not None and self.declared:
                out_field = out_field.declared()
            if out_field is not None and not self.inference.fits(out_field, out):
                out_field = None
            if out_field is not None and out_field.guessed and self._either(out):
                out_field = None
            self._keep.append((out, _version(out)))
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

    def _either(self, out: Tensor) -> bool:
        """Whether sizes that coincide, as many edges as nodes, let a tensor lie on several of the inputs' domains."""
        return len({d for d in self._domains if self.inference.fits(FieldType(d), out)}) > 1

    def _root_name(self) -> str:
        return FORWARD if OUTPUT in self.names.values() else OUTPUT

    def finish(self, result: Any) -> list[Layer]:
        """Return the layers; the root's own result is added when functional code made it."""
        out = first_tensor(result)
        assert out is not None
        made = self._produced.get(id(out))
        # the last layer, or the first tensor of what it returned
        if made is None or made != self.layers[-1].called:
            found = self._lookup(out)
            out_field = found[0] if found else self.inference.functional(tuple(out.shape))
            made = label = self._root_name()
            if label in self.overrides:
                out_field = self._override(label, out)
            last = self.layers[-1] if self.layers else None
            self.layers.append(
                Layer(label, "", "forward", 0, tuple(out.shape), 0, out_field, (), False, math.inf, True,
                      last.rank if last else 0)
            )  # fmt: skip
        self.outputs = [made]
        if self.parts:
            self._rest(self.layers[-1], result, own=False)
        return self.layers

    def _guessed_alike(self, given: Tensor, out: Tensor) -> bool:
        """Whether what came in is what goes out, or has its shape and was known by nothing else."""
        return given is out or (given.shape == out.shape and id(given) not in self._known)

    def overwritten(self) -> bool:
        """Whether functional code changed a layer's output in place after the layer had returned it."""
        return any(_version(tensor) != version for tensor, version in self._keep)

    def _override(self, label: str, out: Tensor) -> FieldType:
        field = self.inference.own(self.overrides[label])
        if not self.inference.fits(field, out):
            raise _Unfit(f"layer {label} gives {tuple(out.shape)}, which cannot be a field of type '{field}'")
        return field

    def _remember(self, tensor: Tensor, out_field: FieldType, radius: float, rank: int) -> None:
        self._known[id(tensor)] = (out_field, radius, rank)
        self._recent.append((tuple(tensor.shape), out_field, radius, rank))

    def _lookup(self, tensor: Tensor) -> Known | None:
        """Return what is known of a tensor: by identity, else by the shape of what came before (functional code)."""
        if id(tensor) in self._known:
            return self._known[id(tensor)]
        shape = tuple(tensor.shape)
        for seen, seen_field, radius, rank in reversed(self._recent):
            if seen == shape:
                return seen_field.guess() if not self.declared else seen_field, radius, rank
        # only then by kindred shapes: as many channels as nodes would make a matrix of pairs of them
        for seen, seen_field, radius, rank in reversed(self._recent):
            if (found := self.inference.alike(shape, seen, (seen_field, radius, rank))) is not None:
                return found
        return None


def _version(tensor: Tensor) -> int:
    return 0 if tensor.is_inference() else tensor._version


def _declares(module: nn.Module) -> bool:
    return getattr(module, "out_rep", None) is not None or isinstance(getattr(module, "out_field", None), FieldType)
