"""Run a network once and learn what its layers are: order, shapes, field types, receptive fields.

Modules declare how they change the representation with an attribute `out_rep` (or a whole `out_field`); everything
pointwise inherits; spacing follows from strides. Where nothing is declared the field is inferred from the module's
kind and the tensor's shape and marked as a guess, which a person can correct (`overrides`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from explorer.fields import INVARIANT, FieldType, Grid, Point, Regular, Scalar, parse_field

OUTPUT = "output"  # the name of the root module's own result, when no named module produced it
FORWARD = "forward"  # the same in a network that has a layer called "output"; no layer can be called this

_KEEPS_REP = (
    nn.ReLU, nn.LeakyReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Tanh, nn.Sigmoid, nn.Softplus, nn.Identity, nn.Hardtanh,
    nn.Dropout, nn.Dropout2d, nn.BatchNorm2d, nn.InstanceNorm2d, nn.GroupNorm, nn.LayerNorm, nn.MaxPool2d,
    nn.AvgPool2d, nn.AdaptiveAvgPool2d, nn.AdaptiveMaxPool2d, nn.Upsample, nn.ZeroPad2d, nn.CircularPad2d,
    nn.ReflectionPad2d, nn.ReplicationPad2d, nn.ConstantPad2d, nn.BatchNorm1d, nn.Softmax, nn.LogSoftmax, nn.LPPool2d,
)  # fmt: skip
_WHOLE_IMAGE = (nn.GroupNorm, nn.LayerNorm, nn.InstanceNorm2d)  # each value depends on all places, through the mean


class LayerError(RuntimeError):
    """A layer failed; `where` is its name."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(message)
        self.where = where


@dataclass(frozen=True, slots=True)
class Layer:
    """One call of one module, as seen in the trace.

    Attributes:
        name: as in named_modules(); a module called again is "name#2", "name#3", ...
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


@dataclass(frozen=True, slots=True)
class Trace:
    """The layers of a network in order of completion."""

    layers: tuple[Layer, ...]
    output: str
    clones: bool  # whether outputs must be copied because something works in place
    training_modules: tuple[str, ...] = ()
    by_name: Mapping[str, Layer] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Layer:
        return self.by_name[name]


def first_tensor(value: Any) -> Tensor | None:
    """Return the first tensor in a module's result: itself, or inside a tuple, list or dict."""
    if isinstance(value, Tensor):
        return value
    items = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return next((t for item in items if (t := first_tensor(item)) is not None), None)


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
    x: Tensor,
    x_field: FieldType,
    *,
    overrides: Mapping[str, str] | None = None,
    declared: bool = False,
) -> Trace:
    """Run `model` on `x` (batch, channel, height, width) once and describe every module call.

    Args:
        overrides: {layer name: field text}, corrections of guessed fields.
        declared: the network's author stands for its fields (a built-in card), so none is marked as a guess.

    Raises:
        LayerError: a module raised; `.where` names it.
        KeyError: there is no layer of an override's name.
        ValueError: an override is no field type, or does not fit the layer's shape.
    """
    names = {m: n for n, m in model.named_modules()}
    fields = {name: parse_field(text) for name, text in (overrides or {}).items()}
    x = x.detach().clone()  # the first layer may work in place
    recorder = _Recorder(names, x, x_field, fields, declared)
    handles = []
    try:
        for module in names:
            handles.append(module.register_forward_pre_hook(recorder.enter, with_kwargs=True))
            handles.append(module.register_forward_hook(recorder.leave, with_kwargs=True))
        with torch.no_grad():
            try:
                result = model(x)
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
    unknown = set(fields) - {layer.name for layer in layers}
    if unknown:
        raise KeyError(f"no layer is called {sorted(unknown)[0]!r}")
    return Trace(tuple(layers), layers[-1].name, clones, by_name={layer.name: layer for layer in layers})


class _Unfit(ValueError):
    """An override names a field that the layer's shape cannot hold."""


class _Recorder:
    def __init__(
        self,
        names: Mapping[nn.Module, str],
        x: Tensor,
        x_field: FieldType,
        overrides: Mapping[str, FieldType],
        declared: bool,
    ) -> None:
        self.names = names
        self.overrides = overrides
        self.declared = declared
        self.stack: list[str] = []
        self.layers: list[Layer] = []
        self.calls: dict[str, int] = {}
        # ids are only unique while the tensors live; a version that has moved on means an overwritten value
        self._keep: list[tuple[Tensor, int]] = [(x, _version(x))]
        self._known: dict[int, tuple[FieldType, float, int]] = {id(x): (x_field, 0.0, 0)}
        self._recent: list[tuple[tuple[int, ...], FieldType, float, int]] = [(tuple(x.shape), x_field, 0.0, 0)]
        self._produced: dict[int, str] = {}
        self._inner: list[bool] = []

    def enter(self, module: nn.Module, args: Any, kwargs: Any) -> None:
        if self._inner:
            self._inner[-1] = True
        self._inner.append(False)
        self.stack.append(self.names[module])

    def leave(self, module: nn.Module, args: Any, kwargs: Any, result: Any) -> None:
        name = self.names[module]
        while self.stack.pop() != name:  # a layer that raised, in a forward that caught it, never left
            self._inner.pop()
        has_inner = self._inner.pop()
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
            out_field = alike[0] if alike else infer(module, in_field, shape_in, shape)
            weighted = any(True for _ in module.parameters())
            rank = max([rank + int(weighted and not inner), *(layer.rank for layer in inner)])
            radius = max([receptive(module, in_field, shape_in, shape, radius), *(layer.receptive for layer in inner)])
        if label in self.overrides:
            out_field = self._override(label, out)
        elif out_field is not None and self.declared:
            out_field = out_field.declared()
        if out_field is not None and not _fits(out_field, out):
            out_field = None
        self._keep.append((out, _version(out)))
        if out_field is not None:
            self._remember(out, out_field, radius, rank)
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
                alone=len(args) == len(tensors) and not kwargs and bool(known) and all(k is not None for k in known),
                receptive=radius,
                leaf=not has_inner,
                rank=rank,
                shape_in=shape_in,
            )
        )
        self._produced[id(out)] = label

    def finish(self, result: Any) -> list[Layer]:
        """Return the layers; the root's own result is added when functional code made it."""
        out = first_tensor(result)
        assert out is not None
        if id(out) not in self._produced or self._produced[id(out)] != self.layers[-1].name:
            found = self._lookup(out)
            out_field = found[0] if found else (INVARIANT.guess() if out.ndim == 2 else None)
            label = FORWARD if OUTPUT in self.names.values() else OUTPUT
            if label in self.overrides:
                out_field = self._override(label, out)
            last = self.layers[-1] if self.layers else None
            self.layers.append(
                Layer(label, "", "forward", 0, tuple(out.shape), 0, out_field, (), False, math.inf, True,
                      last.rank if last else 0)
            )  # fmt: skip
        return self.layers

    def overwritten(self) -> bool:
        """Whether functional code changed a layer's output in place after the layer had returned it."""
        return any(_version(tensor) != version for tensor, version in self._keep)

    def _override(self, label: str, out: Tensor) -> FieldType:
        field = self.overrides[label]
        if not _fits(field, out):
            raise _Unfit(f"layer {label} gives {tuple(out.shape)}, which cannot be a field of type '{field}'")
        return field

    def _remember(self, tensor: Tensor, out_field: FieldType, radius: float, rank: int) -> None:
        self._known[id(tensor)] = (out_field, radius, rank)
        self._recent.append((tuple(tensor.shape), out_field, radius, rank))

    def _lookup(self, tensor: Tensor) -> tuple[FieldType, float, int] | None:
        """Return what is known of a tensor: by identity, else by the shape of what came before (functional code)."""
        if id(tensor) in self._known:
            return self._known[id(tensor)]
        shape = tuple(tensor.shape)
        for seen, seen_field, radius, rank in reversed(self._recent):
            if seen == shape:
                return seen_field.guess() if not self.declared else seen_field, radius, rank
            if len(seen) == 4 and len(shape) == 2 and isinstance(seen_field.domain, Grid):
                n, c, h, w = seen
                if shape == (n, c * h * w) and (h, w) != (1, 1):
                    return FieldType(Grid(seen_field.spacing, (h, w)), seen_field.rep, True), radius, rank
                if shape == (n, c):
                    return FieldType(Point(), seen_field.rep, True), math.inf, rank
        return None


def _version(tensor: Tensor) -> int:
    return 0 if tensor.is_inference() else tensor._version


def _declares(module: nn.Module) -> bool:
    return getattr(module, "out_rep", None) is not None or isinstance(getattr(module, "out_field", None), FieldType)


def _fits(out_field: FieldType, out: Tensor) -> bool:
    if len(out_field.axes) != out.ndim:
        return False
    if out_field.invariant:
        return True
    channels = out.shape[1]
    if isinstance(out_field.domain, Grid) and out_field.domain.flat:
        h, w = out_field.domain.flat
        if channels % (h * w):
            return False
        channels //= h * w
    return channels % out_field.rep.size == 0


def infer(
    module: nn.Module, in_field: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...]
) -> FieldType | None:
    """Return the field type of a module's output; `guessed` unless the module declares it."""
    if isinstance(declared := getattr(module, "out_field", None), FieldType):
        return declared
    rep = getattr(module, "out_rep", None)
    keeps = isinstance(module, _KEEPS_REP) and len(shape_in) > 1 and len(shape) > 1 and shape_in[1] == shape[1]
    # a pointwise layer hands on what it got, guess or not
    guessed = (in_field.guessed if in_field else True) if keeps else rep is None
    if rep is None:
        rep = in_field.rep if keeps and in_field else Scalar()
    if isinstance(rep, Scalar):
        rep = Scalar()  # features are no measured intensities any more
    match len(shape):
        case 4:
            return FieldType(Grid(_spacing(module, in_field, shape_in, shape)), rep, guessed)
        case 2:
            if in_field and isinstance(in_field.domain, Grid) and len(shape_in) == 4:
                _, c, h, w = shape_in
                if shape[1] == c * h * w and (h, w) != (1, 1):
                    return FieldType(Grid(in_field.spacing, (h, w)), in_field.rep, in_field.guessed)
                if shape[1] == c and not any(True for _ in module.parameters()):
                    return FieldType(Point(), rep if not guessed else in_field.rep, guessed)
            if keeps and in_field and shape_in == shape:
                return in_field
            return FieldType(Point(), rep, guessed) if isinstance(rep, Regular) else replace(INVARIANT, guessed=guessed)
        case _:
            return None


def _pair(value: Any) -> tuple[float, ...]:
    return tuple(map(float, value)) if isinstance(value, Sequence) else (float(value),)


def _spacing(module: nn.Module, in_field: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...]) -> float:
    before = in_field.spacing if in_field else 1.0
    if shape[-2:] == (1, 1) and shape_in[-2:] != (1, 1):
        return math.inf  # one place for the whole image: nothing moves it
    if len(shape_in) != 4 or shape_in[-2:] == shape[-2:]:
        return before
    stride = getattr(module, "stride", None)
    if stride is not None and not isinstance(stride, str):
        step = max(_pair(stride))
        return before / step if isinstance(module, nn.ConvTranspose2d) else before * step
    ratio = shape_in[-1] / shape[-1]
    return before * max(1, round(ratio)) if ratio >= 1 else before / max(1, round(1 / ratio))


def receptive(
    module: nn.Module,
    in_field: FieldType | None,
    shape_in: tuple[int, ...],
    shape: tuple[int, ...],
    radius: float,
) -> float:
    """Return the radius in input pixels that one output value can depend on, given its input's radius."""
    if in_field is None or len(shape) != 4 or len(shape_in) != 4:
        pointwise = shape == shape_in and isinstance(module, _KEEPS_REP) and not isinstance(module, _WHOLE_IMAGE)
        return radius if pointwise or isinstance(module, nn.Flatten) else math.inf
    if shape[-2:] == (1, 1) and shape_in[-2:] != (1, 1):
        return math.inf
    if isinstance(module, _WHOLE_IMAGE) and not getattr(module, "track_running_stats", False):
        return math.inf
    kernel = getattr(module, "kernel_size", None)
    if kernel is not None:
        dilation = max(_pair(getattr(module, "dilation", 1)))
        reach = (max(_pair(kernel)) - 1) / 2 * dilation
        return radius + (reach + _off_centre(module, shape_in, shape)) * in_field.spacing
    if shape_in[-2:] == shape[-2:]:
        return radius
    # a pool without a kernel size, or an interpolation: no further than a step of the coarser of the two grids
    return radius + max(1.0, *(a / b for a, b in zip(shape_in[-2:], shape[-2:]))) * in_field.spacing


def _off_centre(module: nn.Module, shape_in: tuple[int, ...], shape: tuple[int, ...]) -> float:
    """Return how many steps of the input lie between a strided layer's samples and the places they stand for."""
    stride, padding = getattr(module, "stride", None), getattr(module, "padding", 0)
    if stride is None or isinstance(stride, str) or isinstance(padding, str) or max(_pair(stride)) == 1:
        return 0.0
    if isinstance(module, nn.ConvTranspose2d):
        return 0.0
    kernel, dilation = _pair(getattr(module, "kernel_size", 1)), _pair(getattr(module, "dilation", 1))
    off = 0.0
    for axis in range(2):
        s, p, k, d = (v[axis % len(v)] for v in (_pair(stride), _pair(padding), kernel, dilation))
        covered = (shape[axis - 2] - 1) * s + (k - 1) * d + 1
        off = max(off, abs(shape_in[axis - 2] + 2 * p - covered) / 2)
    return off
