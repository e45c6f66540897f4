"""Infer fields on sequences: which axis of a tensor is time, and how far a value sees along it.

A sequence is (steps, channels); in somebody else's network it has a batch axis as well, which is 1: (1, steps,
channels), (steps, 1, channels) or (1, channels, steps). Where several axes are as long as the sequence, the module says
which is time, and else the field that came in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import torch
from torch import Tensor, nn

from explorer.declare.elements import Element
from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import INVARIANT, PAIR, FieldType, Pairs, Point
from explorer.network.space import Inference, Known, Trial
from explorer.network.tracing.layers import Layer, LayerError
from explorer.spaces.sequence.fields import Steps
from explorer.spaces.sequence.network.reach import reaches

_POINTWISE = (nn.ReLU, nn.Tanh, nn.Sigmoid, nn.GELU, nn.Identity, nn.Dropout, nn.Softmax, nn.LayerNorm)
# torch's own layers that see one step alone, whatever the axes are; a subclass may do otherwise
_STEP_BY_STEP = (
    nn.ReLU, nn.Tanh, nn.Sigmoid, nn.GELU, nn.Identity, nn.Dropout, nn.Linear, nn.LeakyReLU, nn.ELU, nn.SiLU,
    nn.LayerNorm, nn.BatchNorm1d,
)  # fmt: skip
_TIME_LAST = (
    nn.Conv1d, nn.ConvTranspose1d, nn.MaxPool1d, nn.AvgPool1d, nn.AdaptiveAvgPool1d, nn.AdaptiveMaxPool1d,
    nn.BatchNorm1d, nn.InstanceNorm1d, nn.GroupNorm, nn.ConstantPad1d, nn.ReflectionPad1d, nn.ReplicationPad1d,
)  # fmt: skip
_KERNELS = (nn.Conv1d, nn.ConvTranspose1d, nn.MaxPool1d, nn.AvgPool1d)
MORE = 240  # steps that a longer sequence has more: a multiple of the strides that people use, and of their products
_BATCH_FIRST = (nn.RNNBase, nn.MultiheadAttention)


def time_axis(module: nn.Module, ndim: int) -> int | None:
    """Return the axis that one of torch's modules takes for time in a tensor of so many axes, None where any will do.

    Without a batch axis RNNs and attention take (steps, channels), convolutions (channels, steps).
    """
    if isinstance(module, nn.BatchNorm1d) and ndim < 3:
        return None
    if isinstance(module, _TIME_LAST):
        return ndim - 1
    if isinstance(module, nn.TransformerEncoder | nn.TransformerDecoder) and len(module.layers):
        module = module.layers[0]
    if isinstance(module, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
        module = module.self_attn
    return int(bool(module.batch_first)) if isinstance(module, _BATCH_FIRST) and ndim == 3 else None


def _stride(module: nn.Module, axis: int, ndim: int) -> int | None:
    """Return how many steps a module says that it goes on at a time along an axis, None where it says nothing."""
    stride = getattr(module, "stride", None)
    if isinstance(stride, int):
        return stride if stride > 0 else None
    if not isinstance(stride, tuple) or not 0 <= axis - (ndim - len(stride)) < len(stride):
        return None
    along = stride[axis - (ndim - len(stride))]
    return along if isinstance(along, int) and along > 0 else None


def grown(before: tuple[int, ...], after: tuple[int, ...]) -> dict[int, float] | None:
    """Return {axis that is longer for MORE steps: steps between two places}; None where the shapes are no such pair."""
    if len(before) != len(after) or any(b < a for a, b in zip(before, after, strict=True)):
        return None
    return {k: MORE / (b - a) for k, (a, b) in enumerate(zip(before, after, strict=True)) if b != a}


def _coarse_by_size(layer: Layer) -> bool:
    """Return whether code leaves a part or a multiple of the steps, so that only their number says how far apart."""
    domain = layer.field.domain if layer.field is not None and layer.field.guessed else None
    return isinstance(domain, Steps) and domain.apart != 1 and (not layer.leaf or not hasattr(nn, layer.kind))


def not_coarser(run: Trial, inputs: Inputs, layers: Sequence[Layer]) -> frozenset[tuple[int, ...]]:
    """Return the shapes of layers whose places do not change most where the steps that they would stand for do.

    The last steps of a sequence are a fraction of it as well, and of relative positions there are nearly twice as many.
    """
    domain, names = inputs.field.domain, [n.name for n in layers]
    if not layers or not isinstance(domain, Steps) or not inputs.x.is_floating_point():
        return frozenset()
    steps = domain.places_first(inputs.x)
    noise = torch.randn(steps.shape, generator=torch.Generator().manual_seed(0), device="cpu").to(steps)
    found = set()
    try:
        before = run(domain.as_given(noise), names)
        for layer in layers:
            assert layer.field is not None and isinstance(layer.field.domain, Steps)
            places, apart = layer.shape[layer.field.domain.axis], layer.field.domain.apart
            for at in {0, places // 3, 2 * places // 3, places - 1}:
                other = noise.clone()
                first = int(at * apart)
                other[first : first + max(1, round(apart))] *= -1
                change = run(domain.as_given(other), [layer.name])[layer.name] - before[layer.name]
                most = int(layer.field.domain.places_first(change).flatten(1).norm(dim=1).argmax())
                if abs(most - at) > max(1.0, 1 / apart):
                    found.add(layer.shape)
    except torch.OutOfMemoryError:
        raise
    except LayerError:
        return frozenset()
    return frozenset(found)


def _doubtful(layer: Layer) -> bool:
    """Return whether a layer's steps were told by a size that another axis, or something without steps, may have."""
    if layer.field is None or not layer.field.guessed or not isinstance(layer.field.domain, Steps):
        return False
    domain = layer.field.domain
    return domain.apart != 1.0 or layer.shape.count(layer.shape[domain.axis]) > 1


def _misled(layer: Layer, resized: tuple[int, ...]) -> bool:
    """Return whether a longer sequence shows that a layer's steps do not lie along the axis that was guessed."""
    domain = layer.field.domain if layer.field is not None else None
    found = grown(layer.shape, resized)
    return isinstance(domain, Steps) and found is not None and list(found) != [domain.axis]


class SequenceInference(Inference):
    """A sequence of so many steps.

    Args:
        told: {(number of axes, axis, places): steps between two places} of what has another number of places.
        longer: a longer sequence, where sizes that coincide have misled: every tensor is then placed by how it grows.
        apart: shapes of what has a fraction of the steps and is no coarser sequence, as a trial shows.
    """

    untold = math.nan
    hears_codes = True

    def __init__(
        self, inputs: Inputs, told: Mapping[tuple[int, int, int], float] = MappingProxyType({}),
        longer: Tensor | None = None, apart: frozenset[tuple[int, ...]] = frozenset(),
    ) -> None:  # fmt: skip
        self.steps, self.no_steps = inputs.places, apart
        self.told = told
        self.longer = longer
        # a second sequence may have another number of steps
        self.lengths = {
            v.shape[f.domain.axis]
            for v, f in zip(inputs.values, inputs.fields, strict=True)
            if isinstance(f.domain, Steps)
        }

    def fits(self, field: FieldType, value: Tensor) -> bool:
        match field.domain:
            case Steps(axis=axis, cut=True):
                return axis < value.ndim
            case Steps(axis=axis, apart=1.0):
                return axis < value.ndim and value.shape[axis] in self.lengths
            case Steps(axis=axis, apart=apart):
                return axis < value.ndim and abs(value.shape[axis] * apart - self.steps) < 2 * max(apart, 1.0)
            case Pairs():
                return tuple(value.shape[-2:]) == (self.steps, self.steps)
            case Point():
                return True
            case _:
                return False

    def ways(self, field: FieldType, shape: tuple[int, ...], told: Sequence[FieldType]) -> Sequence[FieldType]:
        """Return the same along each other axis that is as long: one of them is time, and the others channels."""
        domain = field.domain
        if not isinstance(domain, Steps) or domain.cut or not 0 <= domain.axis < len(shape):
            return ()
        others = [k for k, size in enumerate(shape) if size == shape[domain.axis] > 1 and k != domain.axis]
        return [replace(field, domain=replace(domain, axis=k), guessed=True) for k in others]

    def infer(
        self, module: nn.Module, in_field: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...]
    ) -> FieldType | None:
        declared = getattr(module, "out_field", None)
        if isinstance(declared, FieldType):
            return declared
        found = self._placed(module, in_field, shape_in, shape)
        rep = getattr(module, "out_rep", None)
        return found if found is None or rep is None else replace(found, rep=rep, guessed=False)

    def _placed(
        self, module: nn.Module, in_field: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...]
    ) -> FieldType | None:
        """Return the field with the place of its values, as scalars."""
        guessed = not isinstance(module, _POINTWISE) or in_field is None or in_field.guessed
        own = time_axis(module, len(shape))
        if own is not None and shape[own] == self.steps:
            return FieldType(Steps(own), guessed=True)
        if in_field is not None and (coarse := self._coarse(module, own, in_field, shape_in, shape)) is not None:
            return FieldType(coarse, guessed=True)
        if in_field is not None and not isinstance(in_field.domain, Pairs):
            axis = in_field.domain.axis if isinstance(in_field.domain, Steps) else 0
            if axis < min(len(shape), len(shape_in)) and shape[axis] == shape_in[axis]:
                return FieldType(in_field.domain, guessed=guessed)
        return self.functional(shape)

    def _coarse(
        self, module: nn.Module, own: int | None, in_field: FieldType, shape_in: tuple[int, ...],
        shape: tuple[int, ...],
    ) -> Steps | None:  # fmt: skip
        """Return the steps that a stride, a pool or an upsampling leaves: so many times fewer or more; else None."""
        if not isinstance(in_field.domain, Steps) or len(shape) != len(shape_in):
            return None
        before, axis = in_field.domain.apart, in_field.domain.axis if own is None else own
        if in_field.domain.axis != axis or shape[axis] < 2 or shape[axis] == shape_in[axis]:
            return None
        ratio = shape_in[axis] / shape[axis]
        # a kernel that is longer than its stride leaves fewer steps than a stride alone
        strided = _stride(module, axis, len(shape)) if ratio > 1 else None
        if strided is None and shape in self.no_steps:
            return None
        apart = before * (strided or round(ratio)) if ratio >= 1 else before / round(1 / ratio)
        if apart == before and isinstance(module, _KERNELS):
            return Steps(axis, apart, cut=True)  # a kernel without padding leaves a few places fewer
        found = Steps(axis, apart)
        near = abs(shape[axis] * apart - self.steps) < 2 * max(apart, 1.0)
        return found if apart != before and near and (apart != 1.0 or shape[axis] == self.steps) else None

    def functional(self, shape: tuple[int, ...]) -> FieldType | None:
        if len(shape) > 2 and shape[-2:] == (self.steps, self.steps):
            return PAIR.guess()
        if self.steps > 1 and self.steps in shape:
            return FieldType(Steps(shape.index(self.steps)), guessed=True)
        if (cut := self._cut(shape)) is not None:
            return cut
        return INVARIANT.guess() if shape and len(shape) <= 2 else None

    def _cut(self, shape: tuple[int, ...]) -> FieldType | None:
        """Return the field of what has another number of places, as a longer sequence has told."""
        axes = [axis for axis, size in enumerate(shape) if (len(shape), axis, size) in self.told]
        if len(axes) != 1:
            return None
        axis = axes[0]
        return FieldType(self._steps(axis, self.told[len(shape), axis, shape[axis]], shape), guessed=True)

    def wide(self, shape: tuple[int, ...]) -> FieldType | None:
        return self._cut(shape)

    def studied(self, run: Trial, inputs: Inputs, layers: Sequence[Layer]) -> Inference | None:
        """Ask by a longer sequence along which axis layers have places, and how far apart those are.

        It is asked of those without a field, and of those whose steps were told by sizes that other axes may have too.
        """
        no_steps = not_coarser(run, inputs, [n for n in layers if _coarse_by_size(n)])
        return self._longer(run, inputs, [n for n in layers if n.shape not in no_steps], no_steps) or (
            SequenceInference(inputs, self.told, self.longer, no_steps) if no_steps else None
        )

    def _longer(
        self, run: Trial, inputs: Inputs, layers: Sequence[Layer], no_steps: frozenset[tuple[int, ...]]
    ) -> Inference | None:
        """Return what a longer sequence tells; None where that is nothing."""
        open_ = [n for n in layers if n.field is None and len(n.shape) > 1]
        doubted = [n for n in layers if _doubtful(n)]
        if not (open_ or doubted) or len(self.lengths) > 1 or not isinstance(inputs.field.domain, Steps):
            return None
        wanted = [*open_, *(n for n in layers if n.field is not None and n.field.invariant and len(n.shape) == 2)]
        steps = inputs.field.domain.places_first(inputs.x)
        more = steps.repeat(1 + math.ceil(MORE / len(steps)), *[1] * (steps.ndim - 1))[: len(steps) + MORE]
        x = inputs.field.domain.as_given(more)
        try:
            longer = run(x, [n.name for n in (*wanted, *doubted)])
        except torch.OutOfMemoryError:
            raise
        except LayerError:  # it takes so many steps and no other number
            return None
        told: dict[tuple[int, int, int], float] = {}
        for layer in wanted:
            found = grown(layer.shape, tuple(longer[layer.name].shape))
            if found is None or len(found) != 1:
                continue
            ((axis, apart),) = found.items()
            key = len(layer.shape), axis, layer.shape[axis]
            told[key] = apart if apart == round(apart) and told.get(key, apart) == apart else math.nan
        told = {key: apart for key, apart in told.items() if not math.isnan(apart)}
        if any(_misled(n, tuple(longer[n.name].shape)) for n in doubted):
            return SequenceInference(inputs, told, x, no_steps)
        return SequenceInference(inputs, told, apart=no_steps) if told else None

    def resized(self, inputs: Inputs) -> Inputs | None:
        return None if self.longer is None else inputs.with_x(self.longer)

    def placed(self, shape: tuple[int, ...], resized: tuple[int, ...]) -> FieldType | None:
        """Return the field of a tensor by its shape and that of the longer sequence, whatever sizes coincide."""
        if (found := grown(shape, resized)) is None:
            return None
        if not found:
            return INVARIANT.guess() if shape and len(shape) <= 2 else None
        if len(found) == 1:
            ((axis, apart),) = found.items()
            whole = apart if apart >= 1 else 1 / apart
            return FieldType(self._steps(axis, apart, shape), guessed=True) if whole == round(whole) else None
        square = len(shape) > 2 and shape[-2:] == (self.steps, self.steps) and len(found) == 2
        return PAIR.guess() if square and min(found) == len(shape) - 2 else None

    def _steps(self, axis: int, apart: float, shape: tuple[int, ...]) -> Steps:
        return Steps(axis, apart, cut=shape[axis] * apart != self.steps)

    def receptive(
        self, module: nn.Module, in_field: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...],
        radius: float,
    ) -> float:  # fmt: skip
        """Return how many steps to either side a value sees, of torch's own layers; NaN for all others."""
        if type(module) in _STEP_BY_STEP:
            return radius
        if type(module) is nn.Conv1d and module.padding_mode == "zeros" and shape_in[-1:] == shape[-1:]:
            return radius + module.dilation[0] * (module.kernel_size[0] - 1) / 2
        return math.inf if isinstance(module, _BATCH_FIRST) else math.nan

    def reaches(
        self, run: Callable[[Tensor], Mapping[str, Tensor]], inputs: Inputs, fields: Mapping[str, FieldType]
    ) -> dict[str, float]:
        along = {name: field for name, field in fields.items() if isinstance(field.domain, Steps | Pairs)}
        found = dict.fromkeys(fields, math.inf)  # what belongs to no step sees all of them
        return found | (reaches(run, inputs.x, inputs.field, along) if along else {})

    def along(self, axis: int, size: int) -> FieldType | None:
        return FieldType(Steps(axis), guessed=True) if size == self.steps > 1 else None

    def exchanges(
        self, channels: tuple[int, ...], elements: Sequence[Element]
    ) -> Iterator[tuple[tuple[int, ...], ...]]:
        """Yield the orders of two strands, or of two ways to read: end to end, and one half for the other."""
        (width,) = channels
        ends, half = tuple(reversed(range(width))), width // 2
        yield (ends,) * len(elements)
        if width % 2 == 0:
            yield ((*range(half, width), *range(half)),) * len(elements)

    def alike(self, shape: tuple[int, ...], seen: tuple[int, ...], known: Known) -> Known | None:
        found = self._turned(shape, seen, known[0]) or self.functional(shape)
        if found is None or found.invariant:
            return None
        # a tensor that was only turned round sees as far as it did
        turned = sorted(shape) == sorted(seen) or math.prod(shape) == math.prod(seen)
        return found, known[1] if turned else math.nan, known[2]

    def _turned(self, shape: tuple[int, ...], seen: tuple[int, ...], field: FieldType) -> FieldType | None:
        """Return the field of what has its axes in another order, where steps are no longer as many as at the input."""
        match field.domain:
            case Steps(axis=axis, apart=apart) if apart != 1.0 and sorted(shape) == sorted(seen):
                size = seen[axis]
                return FieldType(Steps(shape.index(size), apart), guessed=True) if shape.count(size) == 1 else None
        return None

    def amid_zeros(
        self, inputs: Inputs, zeros: int
    ) -> tuple[Inputs, Callable[[Tensor, FieldType], Tensor | None]] | None:
        if not all(isinstance(f.domain, Steps) and v.is_floating_point() for v, f in zip(inputs.values, inputs.fields)):
            return None

        def between(value: Tensor, field: FieldType) -> Tensor:
            steps = field.domain.places_first(value)
            ends = steps.new_zeros((zeros, *steps.shape[1:]))
            return field.domain.as_given(torch.cat([ends, steps, ends]))

        def within(value: Tensor, field: FieldType) -> Tensor | None:
            if field.invariant:
                return value
            if not isinstance(field.domain, Steps):
                return None
            first, count = round(zeros / field.domain.apart), round(self.steps / field.domain.apart)
            return field.domain.places_first(value)[first : first + count]

        return inputs.map(between), within

    def size_words(self, inputs: Inputs) -> str:
        return f" of {self.steps} step(s)"

    def another(self, inputs: Inputs, seed: int) -> Inputs:
        """Return the sequence backwards and a third of it further on; noise where that is the same again."""
        return replace(
            inputs,
            values=tuple(
                self._other(v, f.domain.axis, seed + k) if isinstance(f.domain, Steps) else v
                for k, (v, f) in enumerate(zip(inputs.values, inputs.fields, strict=True))
            ),
        )

    def _other(self, x: Tensor, axis: int, seed: int) -> Tensor:
        steps = x.shape[axis]
        other = x.flip(axis).roll(max(1, steps // 3), axis) if steps else x
        if not x.is_floating_point():
            return other
        size = float(x.norm())
        if size == 0.0 or float((other - x).norm()) <= 1e-3 * size:
            generator = torch.Generator().manual_seed(seed)
            drawn = torch.randn(x.shape, generator=generator, device="cpu", dtype=torch.float64).to(x)
            other = drawn * max(float(x.abs().mean()), 1e-3) + x
        return other
