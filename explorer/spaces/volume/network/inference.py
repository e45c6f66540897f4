"""Infer fields on volumes, and how far one value sees."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from explorer.declare.elements import Element
from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import INVARIANT, FieldType, Point, Scalar
from explorer.network.input.typed_tensors import declares, is_type
from explorer.network.space import Inference, Known
from explorer.network.tracing.walking import parameters_of
from explorer.spaces.volume.cube import cube_group
from explorer.spaces.volume.declared import rep_of
from explorer.spaces.volume.elements.cube_map import CubeMap
from explorer.spaces.volume.fields import SPATIAL, Fibre, Voxels
from explorer.spaces.volume.network.reach import reaches

_NDIM = 2 + SPATIAL
# what sees as far as its attributes say; a subclass may do otherwise
_TOLD = (
    nn.ReLU, nn.LeakyReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Tanh, nn.Sigmoid, nn.Softplus, nn.Identity, nn.Hardtanh,
    nn.Dropout, nn.Dropout3d, nn.BatchNorm3d, nn.MaxPool3d, nn.AvgPool3d, nn.Conv3d, nn.Flatten,
)  # fmt: skip


class VolumeInference(Inference):
    """Volumes (batch, channel, z, y, x) and what networks make of them."""

    untold = math.nan

    def __init__(self, inputs: Inputs) -> None:
        self.sides = tuple(inputs.x.shape[-SPATIAL:])

    def fits(self, field: FieldType, value: Tensor) -> bool:
        if field.invariant and value.ndim == 1:
            return True  # one number for each volume
        if not field.batched or len(field.axes) != value.ndim:
            return False
        channels = value.shape[1]
        if isinstance(field.domain, Voxels) and field.domain.flat:
            places = math.prod(field.domain.flat)
            if channels % places:
                return False
            channels //= places
        return field.invariant or channels % field.rep.size == 0

    def infer(
        self, module: nn.Module, in_field: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...]
    ) -> FieldType | None:
        if isinstance(declared := getattr(module, "out_field", None), FieldType):
            return declared
        rep, guessed = getattr(module, "out_rep", None), False
        if (
            rep is None
            and declares(module)
            and len(shape) > 1
            and is_type(out_type := getattr(module, "out_type", None))
        ):
            rep = rep_of(out_type, shape[1])
        if rep is None:  # `trials` find out by themselves which modules keep a representation
            rep, guessed = Scalar(), True
        if len(shape) == _NDIM:
            # of what comes in from code, as pooling by a function, the number of places tells how far they are apart
            if in_field is None and guessed:
                if (sized := self.wide(shape)) is not None:
                    return sized
                if not self._alike(shape[-SPATIAL:]):
                    return None  # channels may stand last
            return FieldType(Voxels(_spacing(module, in_field, shape_in, shape)), rep, guessed)
        if len(shape) != 2:
            return None
        if in_field is not None and len(shape_in) == _NDIM and isinstance(in_field.domain, Voxels):
            if shape[1] == math.prod(shape_in[1:]) and shape_in[-SPATIAL:] != (1, 1, 1):
                z, y, x = shape_in[-SPATIAL:]
                return replace(in_field, domain=Voxels(in_field.spacing, (z, y, x)))
            if shape[1] == shape_in[1] and not any(True for _ in parameters_of(module)):
                return FieldType(Point(), rep if not guessed else _features(in_field), guessed)
        return FieldType(Point(), rep, guessed) if isinstance(rep, Fibre) else replace(INVARIANT, guessed=guessed)

    def typed(self, declared: object, field: FieldType | None, shape: tuple[int, ...]) -> FieldType | None:
        rep = rep_of(declared, shape[1]) if len(shape) == _NDIM and field is not None else None
        return None if rep is None or field is None else replace(field, rep=rep, guessed=False)

    def receptive(
        self, module: nn.Module, in_field: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...],
        radius: float,
    ) -> float:  # fmt: skip
        if in_field is None:
            return math.nan
        if len(shape) != _NDIM or len(shape_in) != _NDIM:
            # the sum over all places, or dense layers
            return radius if isinstance(module, nn.Flatten) or shape == shape_in else math.inf
        if shape[-SPATIAL:] == (1, 1, 1) and shape_in[-SPATIAL:] != (1, 1, 1):
            return math.inf
        kernel = getattr(module, "kernel_size", None)
        # who declares a representation stands for the size of the kernel too
        if type(module) not in _TOLD and (kernel is None or not (hasattr(module, "out_rep") or declares(module))):
            return math.nan
        if kernel is None:
            return radius
        dilation = max(_each(getattr(module, "dilation", 1)))
        reach = (max(_each(kernel)) - 1) / 2 * dilation
        if getattr(module, "padding", 0) == "same":
            reach = math.ceil(reach)
        return radius + (reach + _off_centre(module, shape_in, shape)) * in_field.spacing

    def reaches(
        self, run: Callable[[Tensor], Mapping[str, Tensor]], inputs: Inputs, fields: Mapping[str, FieldType]
    ) -> dict[str, float]:
        return reaches(run, inputs.x, fields)

    def _alike(self, sides: tuple[int, ...]) -> bool:
        """Say whether these are the sides of the input, coarser by one factor."""
        factor = self.sides[0] / max(sides[0], 1)
        return all(abs(own / factor - side) < 1 for own, side in zip(self.sides, sides, strict=True))

    def wide(self, shape: tuple[int, ...]) -> FieldType | None:
        if len(shape) < _NDIM or 1 in shape[-SPATIAL:] or 0 in shape[-SPATIAL:]:
            return None
        ratios = {own / size for own, size in zip(self.sides, shape[-SPATIAL:], strict=True)}
        ratio = ratios.pop()
        whole = max(ratio, 1 / ratio)
        return None if ratios or whole != round(whole) else FieldType(Voxels(ratio), guessed=True)

    def exchanges(
        self, channels: tuple[int, ...], elements: Sequence[Element]
    ) -> Iterator[tuple[tuple[int, ...], ...]]:
        maps = [g for g in elements if isinstance(g, CubeMap)]
        if len(maps) < len(elements) or len(channels) != 1:
            return
        for name in ("O", "Oh"):
            group = cube_group(name)
            known = [k for g in maps if (k := group.find(g.matrix)) is not None]
            if len(known) < len(maps) or channels[0] % group.order:
                continue
            fields = channels[0] // group.order
            inverse = np.array([group.inverse(g) for g in group.elements()])
            for outer, inner in ((fields, 1), (1, fields)):
                index = np.arange(channels[0]).reshape(outer, group.order, inner)
                for turned in (False, True):
                    orders = []
                    for k in known:
                        p = group.regular_permutation(k)
                        p = inverse[p[inverse]] if turned else p
                        orders.append(tuple(int(i) for i in index[:, p].ravel()))
                    yield tuple(orders)

    def alike(self, shape: tuple[int, ...], seen: tuple[int, ...], known: Known) -> Known | None:
        field, radius, rank = known
        if len(seen) == _NDIM and len(shape) == 2 and isinstance(field.domain, Voxels):
            n, channels, z, y, x = seen
            if shape == (n, channels * z * y * x) and (z, y, x) != (1, 1, 1):
                return FieldType(Voxels(field.spacing, (z, y, x)), field.rep, True), radius, rank
            if shape == (n, channels):
                return FieldType(Point(), field.rep, True), math.inf, rank
        return None

    def functional(self, shape: tuple[int, ...]) -> FieldType | None:
        return INVARIANT.guess() if 1 <= len(shape) <= 2 else None

    def size(self, inputs: Inputs) -> tuple[int, int]:
        """Return the two shorter sides: shifts that fit into them fit along every axis."""
        one, other, _ = sorted(self.sides)
        return (one, other)

    def size_words(self, inputs: Inputs) -> str:
        return "×".join(map(str, self.sides))

    def another(self, inputs: Inputs, seed: int) -> Inputs:
        from explorer.spaces.volume.network.stimulus import noise

        x = inputs.x
        other = x.flip(-1).roll(tuple(side // 3 for side in self.sides), (-3, -2, -1))
        if torch.allclose(other, x):
            other = noise(tuple(x.shape), seed).to(x)
        return inputs.with_x(other)

    def others(self, inputs: Inputs, seed: int) -> Inputs:
        from explorer.spaces.volume.network.stimulus import another

        return inputs.with_x(another(inputs.x, seed))


def _features(field: FieldType) -> Any:
    """Return the representation of features made of such a field: they are no measured intensities any more."""
    return Scalar() if isinstance(field.rep, Scalar) else field.rep


def _each(value: Any) -> tuple[float, ...]:
    return tuple(map(float, value)) if isinstance(value, Sequence) else (float(value),)


def _spacing(module: nn.Module, in_field: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...]) -> float:
    before = in_field.spacing if in_field else 1.0
    if shape[-SPATIAL:] == (1, 1, 1) and shape_in[-SPATIAL:] != (1, 1, 1):
        return math.inf  # one place for the whole volume: nothing moves it
    if len(shape_in) != _NDIM or shape_in[-SPATIAL:] == shape[-SPATIAL:]:
        return before
    stride = getattr(module, "stride", None)
    if stride is not None and not isinstance(stride, str):
        step = max(_each(stride))
        return before / step if isinstance(module, nn.ConvTranspose3d) else before * step
    ratio = shape_in[-1] / shape[-1]
    return before * max(1, round(ratio)) if ratio >= 1 else before / max(1, round(1 / ratio))


def _off_centre(module: nn.Module, shape_in: tuple[int, ...], shape: tuple[int, ...]) -> float:
    """Return how many steps of the input lie between a strided layer's samples and the places they stand for."""
    stride, padding = getattr(module, "stride", None), getattr(module, "padding", 0)
    if stride is None or isinstance(stride, str) or isinstance(padding, str) or max(_each(stride)) == 1:
        return 0.0
    kernel, dilation = _each(getattr(module, "kernel_size", 1)), _each(getattr(module, "dilation", 1))
    off = 0.0
    for axis in range(SPATIAL):
        s, p, k, d = (v[axis % len(v)] for v in (_each(stride), _each(padding), kernel, dilation))
        covered = (shape[axis - SPATIAL] - 1) * s + (k - 1) * d + 1
        off = max(off, abs(shape_in[axis - SPATIAL] + 2 * p - covered) / 2)
    return off
