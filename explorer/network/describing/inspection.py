"""Describe any network as one run of it shows it: its modules, their calls, and of what each value is a field."""

from __future__ import annotations

import dataclasses
import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

from explorer.declare.inputs import Inputs
from explorer.declare.registry import did_you_mean
from explorer.declare.types.fields import FieldType
from explorer.network.changing.precision import copied, device_of
from explorer.network.input.arguments import named, require_module
from explorer.network.input.inputs import called
from explorer.network.space import spaces
from explorer.network.tracing.layers import Layer, LayerError, layer_error
from explorer.network.tracing.running import all_tensors_in, evaluating, tensors_in, undisturbed
from explorer.network.tracing.trace import trace
from explorer.network.tracing.walking import named_modules, named_tensors, parameters_of

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ModuleRow:
    """One module of the tree, as `named_modules()` has it; "" is the network itself.

    `parameters` and `bytes` are those of its children too, what is shared counted once; `calls` are the names of its
    calls, in `Inspection.calls`.
    """

    name: str
    kind: str
    depth: int
    parameters: int
    trainable: int
    bytes: int
    dtypes: tuple[str, ...]
    devices: tuple[str, ...]
    training: bool
    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallRow:
    """One call of one module: "conv" is the first, "conv#2" the second.

    `given` and `shapes` are those of all tensors that it was called with and that it returned. `field` is of the first
    of them; `guessed` says that nobody declared it, and `reason` why it is that.
    """

    name: str
    module: str
    kind: str
    given: tuple[Shape, ...]
    shapes: tuple[Shape, ...]
    dtypes: tuple[str, ...]
    field: str
    guessed: bool
    reason: str
    receptive: float | None


@dataclass(frozen=True, slots=True, eq=False)
class Inspection:
    """Findings of `inspect`: modules in the order of the tree, calls in the order in which they ended."""

    model: str
    modules: tuple[ModuleRow, ...]
    calls: tuple[CallRow, ...]
    activations: Mapping[str, Tensor] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def parameters(self) -> int:
        return self.modules[0].parameters

    def __contains__(self, name: object) -> bool:
        """Say whether there was a call of that name."""
        return any(call.name == name for call in self.calls)

    def __getitem__(self, name: str) -> CallRow:
        """Return a call by its name.

        Raises:
            KeyError: there is none; it says which there are.
        """
        return _of_name(self.calls, name, f"{self.model} has no call", "there were")

    def module(self, name: str) -> ModuleRow:
        """Return a module by its name in `named_modules()`.

        Raises:
            KeyError: there is none; it says which there are.
        """
        return _of_name(self.modules, name, f"{self.model} has no module", "there are")

    def to_json(self) -> dict[str, Any]:
        """Return plain values, without activations; what is endless or not known becomes None."""
        rows = {key: [dataclasses.asdict(row) for row in getattr(self, key)] for key in ("modules", "calls")}
        for row in rows["calls"]:
            row["receptive"] = None if row["receptive"] == math.inf else row["receptive"]
        return {"model": self.model, **rows, "notes": list(self.notes)}

    def text(self) -> str:
        """Return the tree as a table for a terminal."""
        by_name = {call.name: call for call in self.calls}
        lines = [("module", "kind", "calls", "gives", "dtype", "parameters", "field", "because")]
        for row in self.modules:
            call = by_name.get(row.calls[0]) if row.calls else None
            name = "  " * max(row.depth - 1, 0) + row.name.rpartition(".")[2] if row.name else "(network)"
            shapes = ", ".join(map(str, call.shapes)) if call else "-"
            types = ", ".join(dict.fromkeys(call.dtypes)) if call else "-"
            known = call.field + "?" * call.guessed if call and call.field else "-"
            lines.append((name, row.kind, str(len(row.calls)), shapes, types, f"{row.parameters:,}", known,
                          call.reason if call else "it was not called" if self.calls else ""))  # fmt: skip
        widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]) - 1)]
        table = ["  ".join([*(f"{t:<{w}}" for t, w in zip(line, widths)), line[-1]]).rstrip() for line in lines]
        top = self.modules[0]
        head = (
            f"{self.model}: {len(self.modules) - 1} modules, {top.parameters:,} parameters, {top.trainable:,} of them "
            f"trained, {top.bytes / 1e6:,.1f} MB, {', '.join(top.dtypes) or 'no numbers'} on "
            f"{', '.join(top.devices) or 'any device'}"
        )
        guess = ["?: a guess; an out_rep or out_field of the module declares it"] * any(c.guessed for c in self.calls)
        return "\n".join([head, *table, *guess, *(f"note: {note}" for note in self.notes)])

    __str__ = text

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return f"<pre>{html.escape(self.text())}</pre>"


@undisturbed()
def inspect(
    model: nn.Module,
    *inputs: Any,
    activations: bool | Sequence[str] = False,
    x_field: FieldType | None = None,
    **arguments: Any,
) -> Inspection:
    """Run a copy of `model` once, in eval mode and without gradients, and return what it is made of.

    Args:
        model: any module; it is left as it was found.
        inputs, arguments: what it is called with: tensors or anything else; or one `Inputs`, or one mapping or object
            with tensors by name. Without any it is not run, and only the tree is told.
        activations: also keep a copy of what these calls returned (True: all of them), their first tensors.
        x_field: of what a tensor alone is a field; default: a tensor of four axes is an image.

    Raises:
        TypeError: the model is no module.
        ValueError: it cannot be copied, or parts of it hold no numbers.
        KeyError: there is no such call; LayerError: a layer raised, and `.where` names it.
    """
    require_module(model)
    was = {name: module.training for name, module in named_modules(model)}
    model = copied(model)
    recorder = _Recorder(model, activations)
    notes: list[str] = []
    layers: dict[str, Layer] = {}
    if inputs or arguments:
        device = device_of(model)
        inputs, arguments = tree_map(lambda v: _own(v, device), (inputs, arguments))
        with evaluating(model), torch.no_grad(), recorder:
            try:
                _call(model, inputs, arguments)
            except torch.OutOfMemoryError:
                raise
            except (Exception, SystemExit) as error:
                told = layer_error(model, error)
                raise LayerError(told.where, f"{told}{_unlike(model, (inputs, arguments))}") from error
        layers = _layers(model, () if arguments else inputs, x_field, notes)
    unknown = [] if isinstance(activations, bool) else [n for n in activations if n not in recorder.kept]
    if unknown:
        raise KeyError(f"no call is named {unknown[0]!r}{did_you_mean(unknown[0], recorder.shapes)}")
    return Inspection(
        type(model).__name__,
        tuple(_module_row(name, m, was.get(name, m.training), recorder.of) for name, m in named_modules(model)),
        tuple(_call_row(name, found, layers.get(name), model) for name, found in recorder.shapes.items()),
        MappingProxyType(recorder.kept), tuple(notes),
    )  # fmt: skip


@dataclass(slots=True)
class _Seen:
    module: str
    given: tuple[Shape, ...]
    shapes: tuple[Shape, ...]
    dtypes: tuple[str, ...]


class _Recorder:
    """Hooks on every module, while it is entered."""

    def __init__(self, model: nn.Module, activations: bool | Sequence[str]) -> None:
        self.names = {module: name for name, module in named_modules(model)}
        self.wanted = activations
        self.shapes: dict[str, _Seen] = {}
        self.kept: dict[str, Tensor] = {}
        self.of: dict[str, list[str]] = {}
        self.handles: list[Any] = []

    def __enter__(self) -> None:
        self.handles = [m.register_forward_hook(self._after, with_kwargs=True) for m in self.names]

    def __exit__(self, *_: object) -> None:
        for handle in self.handles:
            handle.remove()

    def _after(self, module: nn.Module, args: Any, kwargs: Any, result: Any) -> None:
        name = self.names[module]
        calls = self.of.setdefault(name, [])
        label = name if not calls else f"{name}#{len(calls) + 1}"
        calls.append(label)
        found = list(tensors_in(result))
        given = tuple(tuple(t.shape) for t in tree_leaves((args, kwargs)) if isinstance(t, Tensor))
        self.shapes[label] = _Seen(name, given, tuple(tuple(t.shape) for t in found), tuple(_dtype(t) for t in found))
        if found and (self.wanted is True or (self.wanted is not False and label in self.wanted)):
            self.kept[label] = found[0].detach().clone()


def _unlike(model: nn.Module, given: object) -> str:
    """Return the precisions of a network and of its input, in brackets, where they differ."""
    own, other = (
        sorted({str(t.dtype).removeprefix("torch.") for t in tensors if t.is_floating_point()})
        for tensors in (parameters_of(model), all_tensors_in(tree_leaves(given)))
    )
    if not own or not other or own == other:
        return ""
    return f" (its weights are {' and '.join(own)}, and it was given {' and '.join(other)})"


def _own(value: Any, device: torch.device) -> Any:
    """Return an argument that the network may overwrite, on its device."""
    if isinstance(value, Inputs):
        return value.map(lambda v, _: v.detach().to(device).clone())
    return value.detach().to(device).clone() if isinstance(value, Tensor) else value


def _call(model: nn.Module, inputs: Sequence[Any], arguments: Mapping[str, Any]) -> None:
    if len(inputs) == 1 and not arguments:
        if isinstance(inputs[0], Inputs):
            called(model, inputs[0])
            return
        if not isinstance(inputs[0], Tensor | list | tuple) and (found := named(inputs[0], model)) is not None:
            found.call(model, tuple(found.tensors), tuple(found.tensors.values()))
            return
    model(*inputs, **arguments)


def _layers(model: nn.Module, inputs: Sequence[Any], x_field: FieldType | None, notes: list[str]) -> dict[str, Layer]:
    """Return what the trace knows of fields, by name; nothing, and a note, where the inputs are of no known kind."""
    try:
        made = _made(model, inputs, x_field)
        if made is None:
            notes.append("no field types: nothing says of what these inputs are fields; equiscope.Inputs declares it")
            return {}
        with evaluating(model), torch.no_grad():
            traced = trace(model, made, parts=True)
        return {layer.name: layer for layer in traced.layers} | {"": traced[traced.output]}
    except (LayerError, ValueError) as error:
        notes.append(f"no field types: {error}")
        return {}


def _made(model: nn.Module, inputs: Sequence[Any], x_field: FieldType | None) -> Inputs | None:
    if len(inputs) == 1 and isinstance(inputs[0], Inputs):
        return inputs[0]
    if not inputs or not all(isinstance(v, Tensor) for v in inputs):
        return None
    if len(inputs) == 1:
        x: Tensor = inputs[0]
        if x_field is not None:
            return Inputs((x,), (x_field,))
        if x.ndim != 4 or not x.is_floating_point():
            return None
    data: Any = inputs[0] if len(inputs) == 1 else tuple(inputs)
    for space in spaces().values():
        if space.reads(data):
            return space.settled(space.given(data, 0), model)
    return None


def _module_row(name: str, module: nn.Module, training: bool, calls: Mapping[str, Sequence[str]]) -> ModuleRow:
    held = [t for _, t in named_tensors(module) if not isinstance(t, nn.parameter.UninitializedParameter)]
    own = [t for t in held if isinstance(t, nn.Parameter)]
    return ModuleRow(
        name, type(module).__name__, name.count(".") + 1 if name else 0, sum(p.numel() for p in own),
        sum(p.numel() for p in own if p.requires_grad), sum(t.numel() * t.element_size() for t in held),
        tuple(dict.fromkeys(map(_dtype, held))), tuple(dict.fromkeys(str(t.device) for t in held)), training,
        tuple(calls.get(name, ())),
    )  # fmt: skip


def _call_row(name: str, seen: _Seen, layer: Layer | None, model: nn.Module) -> CallRow:
    module = model.get_submodule(seen.module)
    kind = type(module).__name__
    if layer is None:
        return CallRow(name, seen.module, kind, seen.given, seen.shapes, seen.dtypes, "", False, "", None)
    known, guessed = (str(layer.field), layer.field.guessed) if layer.field else ("", False)
    radius = None if math.isnan(layer.receptive) else layer.receptive
    return CallRow(name, seen.module, kind, seen.given, seen.shapes, seen.dtypes, known, guessed,
                   reason(layer, module, seen.module), radius)  # fmt: skip


def reason(layer: Layer, module: nn.Module, name: str) -> str:
    """Return in a few words why what `module`, called `name`, returned is taken for the field of `layer`."""
    found, given = layer.field, next((f for f in layer.inputs if f is not None), None)
    if found is None:
        return "no known field has its shape"
    declared = next((word for word in ("out_field", "out_rep") if getattr(module, word, None) is not None), "")
    if declared:
        return f"its {declared} declares it"
    if not layer.leaf or layer.module not in ("", name):
        return "a layer inside made it, or one of its shape"
    if layer.kind == "forward" and not layer.module:
        return "code after the layers made it, in a known shape"
    if not found.guessed:
        return "it keeps the declared field of its input"
    if found.invariant:
        return "its shape leaves no places"
    if given is None:
        return "its shape is that of a field known before"
    if found.domain != given.domain:
        spacing = found.spacing
        return f"its shape leaves places at a spacing of {spacing:g}" if math.isfinite(spacing) else "one place is left"
    if layer.params:
        return f"nothing says how a {layer.kind} arranges its channels"
    return f"a {layer.kind} is taken to keep the field of its input"


Row = TypeVar("Row", ModuleRow, CallRow)


def _of_name(rows: Sequence[Row], name: str, what: str, there: str) -> Row:
    for row in rows:
        if row.name == name:
            return row
    names = [row.name for row in rows]
    some = f"; {there} {', '.join(map(repr, names[:12])) or 'none'}"
    raise KeyError(f"{what} {name!r}{did_you_mean(str(name), names, some)}")


def _dtype(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")
