"""Infer fields on images: how fields are inferred from shapes, and how far one value sees."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import torch
from torch import Tensor, nn

from explorer.declare.elements import Element
from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import INVARIANT, FieldType, Point, Regular, Scalar
from explorer.network.space import Inference, Known, Trial
from explorer.network.tracing.layers import Layer
from explorer.network.tracing.walking import attribute, parameters_of
from explorer.spaces.grid.fibres import declared_rep, rep_of
from explorer.spaces.grid.fields import ChannelsLast, Grid, Pixels, TokenPairs, Tokens
from explorer.spaces.grid.network.orientations import orientations
from explorer.spaces.grid.network.reach import reaches
from explorer.spaces.grid.network.stacked import of_frames, on_larger, stacks
from explorer.spaces.grid.network.stimulus import another, each_image, elsewhere, has_blank_frame, noise_like
from explorer.spaces.grid.network.strides import off_centre, pair
from explorer.spaces.grid.network.tokens import placeless, token_layouts, tokens_of_map
from explorer.spaces.grid.stacks import Stack
from explorer.spaces.grid.vectors import AXES, PlaneVector

_KEEPS_REP = (
    nn.ReLU, nn.LeakyReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Tanh, nn.Sigmoid, nn.Softplus, nn.Identity, nn.Hardtanh,
    nn.Dropout, nn.Dropout2d, nn.BatchNorm2d, nn.InstanceNorm2d, nn.GroupNorm, nn.LayerNorm, nn.MaxPool2d,
    nn.AvgPool2d, nn.AdaptiveAvgPool2d, nn.AdaptiveMaxPool2d, nn.Upsample, nn.ZeroPad2d, nn.CircularPad2d,
    nn.ReflectionPad2d, nn.ReplicationPad2d, nn.ConstantPad2d, nn.BatchNorm1d, nn.Softmax, nn.LogSoftmax, nn.LPPool2d,
)  # fmt: skip
# torch's own layers that see what their type says; a subclass may do otherwise
_TOLD = (
    nn.ReLU, nn.LeakyReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Tanh, nn.Sigmoid, nn.Softplus, nn.Identity, nn.Hardtanh,
    nn.Dropout, nn.Dropout2d, nn.BatchNorm2d, nn.InstanceNorm2d, nn.GroupNorm, nn.LayerNorm, nn.MaxPool2d,
    nn.AvgPool2d, nn.Conv2d, nn.ConvTranspose2d, nn.Flatten, nn.AdaptiveAvgPool2d, nn.AdaptiveMaxPool2d,
)  # fmt: skip
BLANK = "images with a blank frame do not show what looks at places of it: test on others as well"
UNEVEN = 2  # times as many pixels for a place of one axis than of the other, at most, on a map
LEAST = 3  # numbers along an axis that are no places
_WHOLE_IMAGE = (nn.GroupNorm, nn.LayerNorm, nn.InstanceNorm2d)  # each value depends on all places, through the mean


class GridInference(Inference):
    """Images (batch, channel, height, width) and what networks make of them."""

    untold = math.nan

    def __init__(
        self,
        inputs: Inputs,
        layouts: Mapping[int, Tokens] = MappingProxyType({}),
        whole: frozenset[tuple[int, ...]] = frozenset(),
        steps: Mapping[tuple[int, int], float] = MappingProxyType({}),
        maps: frozenset[tuple[int, ...]] = frozenset(),
        stacked: Mapping[tuple[int, ...], Stack] = MappingProxyType({}),
        batches: frozenset[int] = frozenset(),
    ) -> None:
        self.sides, self.batch = tuple(inputs.x.shape[-2:]), inputs.x.shape[0]
        self.batches = batches | {self.batch}  # numbers of whole images that are samples, as frames of videos are
        self.layouts = layouts  # of so many tokens, as a trial has told them
        self.whole = whole  # shapes of what has no places, as an image of another size has told
        self.stacked = stacked  # of shapes with many axes, as a trial has told them
        self.maps = maps  # shapes of maps that have as many rows as there are tokens
        self.steps = steps  # of maps whose number of places times their distance is not the side of the image

    def studied(self, run: Trial, inputs: Inputs, layers: Sequence[Layer]) -> Inference | None:
        counts: dict[str, int] = {}
        for layer in layers:
            if len(layer.shape) == 3 and layer.shape[0] == self.batch and layer.shape[1] not in counts.values():
                counts[layer.name] = layer.shape[1]
        steps = self._strided(layers)
        found = token_layouts(lambda x: run(x, tuple(counts)), inputs.x, counts, steps) if counts else {}
        found |= self._over_maps(run, inputs.x, layers, found)
        whole = self._without_places(run, inputs.x, [n for n in layers if n.field is None and len(n.shape) > 2])
        maps = self._maps(run, inputs.x, layers, found) if found else frozenset()
        apart = GridInference(inputs, steps=steps)._apart
        # channels may stand last, also where a map was guessed of as many channels as there would be rows
        last = [n for n in layers if _guessed_map(n) and apart(n.shape[1:3]) is not None]
        placed = stacks(run, inputs.x, [*(n for n in layers if n.field is None), *last], apart)
        stacked = {s: laid for s, laid in placed.items() if s not in {n.shape for n in last} or laid.after}
        frames = of_frames(run, inputs.x, [n for n in layers if n.field is None])
        if not (found or whole or steps or stacked or frames):
            return None
        return GridInference(inputs, found, whole, steps, maps, stacked, frames)

    def _maps(
        self, run: Trial, x: Tensor, layers: Sequence[Layer], known: Mapping[int, Tokens]
    ) -> frozenset[tuple[int, ...]]:
        """Return shapes that matrices of tokens have too, whose sides double with the image's, as those of maps do."""
        square = [n for n in layers if len(n.shape) == 4 and n.shape[-1] == n.shape[-2] in known]
        if not square:
            return frozenset()
        if (larger := on_larger(run, x, [n.name for n in square])) is None:
            return frozenset()
        others = {n.shape for n in square if larger[n.name].shape[-1] != 2 * n.shape[-1]}
        return frozenset(n.shape for n in square) - others

    def _over_maps(
        self, run: Trial, x: Tensor, layers: Sequence[Layer], known: Mapping[int, Tokens]
    ) -> dict[int, Tokens]:
        """Return {number of tokens: their layout} of matrices between the places of the last map before them."""
        found: dict[int, Tokens] = {}
        maps: dict[int, Layer] = {}
        for layer in layers:
            count = layer.shape[-1] if layer.shape else 0
            if len(layer.shape) == 4 and layer.field is not None and isinstance(layer.field.domain, Grid):
                maps[layer.shape[-2] * layer.shape[-1]] = layer
            elif layer.field is None and len(layer.shape) in (3, 4) and layer.shape[-2] == count:
                over = maps.get(count)
                if over is None or over.field is None or layer.shape[0] != self.batch or count in {*known, *found}:
                    continue
                names, step = (layer.name, over.name), over.field.spacing
                if laid := tokens_of_map(lambda v, names=names: run(v, names), x, *names, step):  # type: ignore[misc]
                    found[count] = laid
        return found

    def _strided(self, layers: Sequence[Layer]) -> dict[tuple[int, int], float]:
        """Return {(rows, columns): pixels between two} where strides tell it and numbers of places do not."""
        found: dict[tuple[int, int], float] = {}
        for layer in layers:
            given = layer.inputs[0] if layer.inputs else None
            if layer.field is None or given is None or len(layer.shape) != 4:
                continue
            domain, before = layer.field.domain, given.domain
            if isinstance(domain, Grid) and isinstance(before, Grid) and 1 < domain.spacing < math.inf:
                found.setdefault((layer.shape[-2], layer.shape[-1]), domain.spacing)
        return {size: step for size, step in found.items() if tuple(n * step for n in size) != self.sides}

    def _without_places(self, run: Trial, x: Tensor, layers: Sequence[Layer]) -> frozenset[tuple[int, ...]]:
        """Return the shapes of layers that are the same for an image of twice the size."""
        if not layers:
            return frozenset()

        def square(k: int) -> bool:
            return k > LEAST and math.isqrt(k) ** 2 == k

        def small(shape: tuple[int, ...]) -> bool:
            """Return whether each axis may be none of places: a square number is tried out, others are too few."""
            return all(k <= LEAST or square(k) for k in shape[1:])

        if (larger := on_larger(run, x, [n.name for n in layers])) is None:
            like = [n for n in layers if small(n.shape)]
        else:
            other = {n.shape for n in layers if tuple(larger[n.name].shape) != n.shape}
            like = [n for n in layers if n.shape not in other]
        same = {n.shape: n.name for n in like if n.shape[0] == self.batch}
        # with one more it may be a class token beside a small square grid
        sides = {math.isqrt(k) for shape in same for n in shape[1:] for k in (n, n - 1) if square(k)}
        for side in sorted(sides):
            told = placeless(run, x, side, {n: s for s, n in same.items()})
            same = {s: n for s, n in same.items() if not {side**2, side**2 + 1} & {*s[1:]} or n in told}
        return frozenset(same)

    def _tokens(self, shape: tuple[int, ...]) -> Tokens | TokenPairs | None:
        """Return the layout of a tensor of tokens, or of pairs of them, as far as its shape tells it."""
        if len(shape) < 3 or shape[0] != self.batch or shape in self.maps:
            return None
        if len(shape) in (3, 4) and shape[-1] == shape[-2] in self.layouts:
            return TokenPairs(self.layouts[shape[-1]])
        return self.layouts.get(shape[1]) if len(shape) == 3 else None

    def paired(self, value: Tensor) -> FieldType | None:
        found = self._tokens(tuple(value.shape))
        return FieldType(found, guessed=True) if isinstance(found, TokenPairs) else None

    def fits(self, field: FieldType, value: Tensor) -> bool:
        if field.invariant and (value.ndim == 1 or tuple(value.shape) in self.whole):
            return True  # one number for each image, or numbers without places in several axes
        if field.batched and value.ndim > 1 and value.shape[0] not in self.batches:
            return False  # a table for all images, or parts of them that were made samples
        if isinstance(field.domain, TokenPairs):
            return value.ndim in (3, 4) and tuple(value.shape[-2:]) == (field.domain.tokens.count,) * 2
        if not field.batched or len(field.axes) != value.ndim:
            return False
        if isinstance(field.domain, Stack):
            return not field.domain.channels(tuple(value.shape)) % field.rep.size
        if field.invariant:
            return True
        if isinstance(field.domain, Tokens):
            return value.shape[1] == field.domain.count and not value.shape[2] % field.rep.size
        channels = value.shape[1]
        if isinstance(field.domain, Grid) and field.domain.flat:
            h, w = field.domain.flat
            if channels % (h * w):
                return False
            channels //= h * w
        return channels % field.rep.size == 0

    def infer(
        self, module: nn.Module, in_field: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...]
    ) -> FieldType | None:
        found = infer(module, in_field, shape_in, shape)
        if shape in self.stacked and (found is None or (found.guessed and found.rep == Scalar())):
            return self.functional(shape)
        if found is None and shape in self.whole:
            return self.functional(shape)
        laid = self._tokens(shape)
        if isinstance(laid, TokenPairs) and _strides(module, in_field):
            laid = None  # a map with as many rows as there are tokens
        if laid is not None and (found is None or found.guessed):
            return FieldType(laid, guessed=True)
        if found is None and len(shape) == 4 and in_field is not None and isinstance(in_field.domain, Grid | Pixels):
            turned = self.wide(shape)  # channels may have gone to the last axis
            return turned if turned is not None and isinstance(turned.domain, Pixels) else None
        if found is None or not found.guessed or len(shape) != 4 or found.rep != Scalar():
            return found
        if in_field is not None and isinstance(in_field.domain, Pixels) and shape[:3] == shape_in[:3]:
            return FieldType(in_field.domain, guessed=True)
        known = in_field is not None and isinstance(in_field.domain, Grid) and shape[-2:] == shape_in[-2:]
        sized = None if known else self.wide(shape) or (self._cut(shape) if in_field is None else None)
        if in_field is None and sized is None:
            return None
        # of what comes in from code, as padding by a function, only the number of places tells how far they are apart
        return sized if sized is not None and (in_field is None or isinstance(sized.domain, Pixels)) else found

    def typed(self, declared: object, field: FieldType | None, shape: tuple[int, ...]) -> FieldType | None:
        rep = rep_of(declared, shape[1]) if len(shape) == 4 and field is not None else None
        return None if rep is None or field is None else replace(field, rep=rep, guessed=False)

    def receptive(
        self, module: nn.Module, in_field: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...],
        radius: float,
    ) -> float:  # fmt: skip
        return receptive(module, in_field, shape_in, shape, radius)

    def reaches(
        self, run: Callable[..., Mapping[str, Tensor]], inputs: Inputs, fields: Mapping[str, FieldType]
    ) -> dict[str, float]:
        domain, x = inputs.field.domain, inputs.x[:1]
        if isinstance(domain, TokenPairs):
            return dict.fromkeys(fields, math.inf)
        if not isinstance(domain, Grid | ChannelsLast):
            return reaches(run, x, fields)
        # half of the places is changed, whatever axes they lie on
        return reaches(lambda maps, *names: run(domain.gathered(maps, x), *names), domain.spread(x), fields)

    def wide(self, shape: tuple[int, ...]) -> FieldType | None:
        if shape in self.stacked:
            return self.functional(shape)
        if len(shape) < 4 or 1 in shape[-2:]:
            return None
        if (spacing := self._spacing(shape[-2:])) is not None:
            return FieldType(Grid(spacing), guessed=True)
        last = self._spacing(shape[1:3]) if len(shape) == 4 else None
        return None if last is None else FieldType(Pixels(last), guessed=True)

    def _spacing(self, sides: Sequence[int]) -> float | None:
        """Return how many pixels lie between two of so many places, as strides say or if it is as many on both axes."""
        if 0 in sides:
            return None
        if (told := self.steps.get((sides[0], sides[1]))) is not None:
            return told
        rows, columns = (own / size for own, size in zip(self.sides, sides, strict=True))
        whole = max(rows, 1 / rows)
        return rows if rows == columns and whole == round(whole) else None

    def _cut(self, shape: tuple[int, ...]) -> FieldType | None:
        """Return the field of a map that pooling by a function leaves of sides that are no multiple of its stride."""
        if tuple(shape[-2:]) == (1, 1) != self.sides:
            return FieldType(Grid(math.inf), guessed=True)  # one place for the whole image, as of a mean over it
        apart = self._apart(shape[-2:])
        return None if apart is None else FieldType(Grid(apart), guessed=True)

    def _apart(self, sides: Sequence[int]) -> float | None:
        """Return how many pixels lie between two of so many places, if need be in whole pixels."""
        if (told := self._spacing(sides)) is not None:
            return told
        apart = {max(1, round(own / max(size, 1))) for own, size in zip(self.sides, sides, strict=True)}
        return float(apart.pop()) if len(apart) == 1 else None

    def ways(self, field: FieldType, shape: tuple[int, ...], told: Sequence[FieldType]) -> Sequence[FieldType]:
        """Return the other way round where as many channels as places may lie last or before them, or be places."""
        if isinstance(field.domain, TokenPairs) and len(shape) == 3:
            return [FieldType(field.domain.tokens, guessed=True)]
        if isinstance(field.domain, Tokens) and shape[1:2] == shape[2:]:
            return [FieldType(TokenPairs(field.domain), guessed=True)]
        if len(shape) != 4 or not isinstance(field.domain, Grid | Pixels) or getattr(field.domain, "flat", None):
            return ()
        spacing = self._spacing(shape[-2:])
        if spacing is None or self._spacing(shape[1:3]) != spacing:
            return ()
        return [
            FieldType(domain, guessed=True) for domain in (Grid(spacing), Pixels(spacing)) if domain != field.domain
        ]

    def exchanges(
        self, channels: tuple[int, ...], elements: Sequence[Element]
    ) -> Iterator[tuple[tuple[int, ...], ...]]:
        return orientations(channels, elements)

    def alike(self, shape: tuple[int, ...], seen: tuple[int, ...], known: Known) -> Known | None:
        field, radius, rank = known
        if (laid := self._tokens(shape)) is not None:
            return FieldType(laid, guessed=True), math.inf, rank
        if len(seen) == 4 and len(shape) == 3 and isinstance(field.domain, Grid):
            n, c, h, w = seen
            extra = shape[1] - h * w
            # as many channels as places could be either way round
            if (h, w) != (1, 1) and c != h * w and shape[::2] == (n, c) and extra in (0, 1):
                return FieldType(Tokens((h, w), field.spacing, extra), field.rep, True), math.inf, rank
        if len(seen) == 4 and len(shape) == 2 and isinstance(field.domain, Grid):
            n, c, h, w = seen
            if shape == (n, c * h * w) and (h, w) != (1, 1):
                return FieldType(Grid(field.spacing, (h, w)), field.rep, True), radius, rank
            if shape == (n, c):
                return FieldType(Point(), field.rep, True), math.inf, rank
        return None

    def functional(self, shape: tuple[int, ...]) -> FieldType | None:
        if (laid := self.stacked.get(shape)) is not None:
            last = len(shape) == 4 and laid.after == 1
            return FieldType(Pixels(laid.step) if last else laid, guessed=True)
        return INVARIANT.guess() if 1 <= len(shape) <= 2 or shape in self.whole else None

    def others(self, inputs: Inputs, seed: int) -> Inputs:
        return each_image(inputs, lambda x: another(x, seed))

    def in_general_position(self, given: Sequence[Inputs], seed: int) -> list[Inputs]:
        """Return them, with noise among the images of a batch, or beside images one by one."""
        first, x = given[0], given[0].x
        if len(given) > 1 or len(first.values) > 1:
            return [*given, first.with_x(noise_like(x, seed))]
        return [first.with_x(torch.cat([x, noise_like(x[:1], seed)]))]

    def otherwise(self, field: FieldType, shape: tuple[int, ...]) -> Iterator[FieldType]:
        if isinstance(field.domain, Grid) and not field.domain.flat and len(shape) == 4 and not shape[1] % 2:
            yield from (replace(field, rep=PlaneVector(axes)) for axes in AXES)

    def hidden(self, given: Sequence[Inputs]) -> str:
        """Say where the frames of all images are blank: what looks at a pixel there sees nothing move."""
        return BLANK if all(has_blank_frame(one.x) for one in given) else ""

    def size(self, inputs: Inputs) -> tuple[int, int]:
        return (inputs.x.shape[-2], inputs.x.shape[-1])

    def another(self, inputs: Inputs, seed: int) -> Inputs:
        return each_image(inputs, lambda x: elsewhere(x, seed))


def _guessed_map(layer: Layer) -> bool:
    """Return whether a layer's maps were told by the number of its axes."""
    field = layer.field
    return field is not None and field.guessed and len(layer.shape) == 4 and isinstance(field.domain, Grid)


def infer(
    module: nn.Module, in_field: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...]
) -> FieldType | None:
    """Return the field type of a module's output; `guessed` unless the module declares it."""
    if isinstance(declared := attribute(module, "out_field"), FieldType):
        return declared
    rep = attribute(module, "out_rep") or declared_rep(module, shape)
    keeps = isinstance(module, _KEEPS_REP) and len(shape_in) > 1 and len(shape) > 1 and shape_in[1] == shape[1]
    # a pointwise layer hands on what it got, guess or not
    guessed = (in_field.guessed if in_field else True) if keeps else rep is None
    if rep is None:
        rep = in_field.rep if keeps and in_field else Scalar()
    if isinstance(rep, Scalar):
        rep = Scalar()  # features are no measured intensities any more
    match len(shape):
        case 3 if in_field and isinstance(in_field.domain, Tokens) and shape[:2] == shape_in[:2]:
            return FieldType(in_field.domain, rep, guessed)
        case 4:
            spacing = _spacing(module, in_field, shape_in, shape)
            return None if spacing is None else FieldType(Grid(spacing), rep, guessed)
        case 2:
            if in_field and isinstance(in_field.domain, Grid) and len(shape_in) == 4:
                _, c, h, w = shape_in
                if shape[1] == c * h * w and (h, w) != (1, 1):
                    return FieldType(Grid(in_field.spacing, (h, w)), in_field.rep, in_field.guessed)
                if shape[1] == c and not any(True for _ in parameters_of(module)):
                    return FieldType(Point(), rep if not guessed else in_field.rep, guessed)
            if keeps and in_field and shape_in == shape:
                return in_field
            return FieldType(Point(), rep, guessed) if isinstance(rep, Regular) else replace(INVARIANT, guessed=guessed)
        case _:
            return None


def _strides(module: nn.Module, given: FieldType | None) -> bool:
    """Say whether a module goes over a map in steps; a kernel of one place may as well mix heads."""
    if getattr(module, "stride", None) is None or (given is not None and not isinstance(given.domain, Grid)):
        return False
    return given is not None or max(pair(getattr(module, "kernel_size", 1))) > 1


def _spacing(
    module: nn.Module, in_field: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...]
) -> float | None:
    """Return how many pixels lie between two places of what a layer gives; None where its shape tells of no map."""
    before = in_field.spacing if in_field else 1.0
    places = shape_in[1:3] if in_field is not None and isinstance(in_field.domain, Pixels) else shape_in[-2:]
    if shape[-2:] == (1, 1) and places != (1, 1):
        return math.inf  # one place for the whole image: nothing moves it
    if len(shape_in) != 4 or places == shape[-2:]:
        return before
    stride = getattr(module, "stride", None)
    if stride is not None and not isinstance(stride, str):
        step = max(pair(stride))
        # transposed and undone, as by pooled indices, a stride leaves more places
        return before / step if max(shape[-2:]) > max(places) else before * step
    rows, columns = (own / size for own, size in zip(places, shape[-2:], strict=True))
    # parts of an image, or channels, lie on an axis that grows while the other shrinks, or by far more than the other
    if min(rows, columns) < 1 < max(rows, columns) or max(rows, columns) > UNEVEN * min(rows, columns):
        return None
    return before * max(1, round(columns)) if columns >= 1 else before / max(1, round(1 / columns))


def receptive(
    module: nn.Module,
    in_field: FieldType | None,
    shape_in: tuple[int, ...],
    shape: tuple[int, ...],
    radius: float,
) -> float:
    """Return the radius in input pixels that one output value can depend on, given its input's radius.

    It is known of torch's own layers; NaN for all others, even for those that derive from them.
    """
    if in_field is None or type(module) not in _TOLD:
        return math.nan
    if len(shape) != 4 or len(shape_in) != 4:
        return radius if isinstance(module, nn.Flatten) or shape == shape_in else math.inf
    if shape[-2:] == (1, 1) and shape_in[-2:] != (1, 1):
        return math.inf
    if isinstance(module, _WHOLE_IMAGE) and not getattr(module, "track_running_stats", False):
        return math.inf
    kernel = getattr(module, "kernel_size", None)
    if kernel is None and shape_in[-2:] == shape[-2:]:
        return radius
    if kernel is None:  # no further than a step of the coarser of the two grids
        return radius + max(1.0, *(a / b for a, b in zip(shape_in[-2:], shape[-2:]))) * in_field.spacing
    dilation = max(pair(getattr(module, "dilation", 1)))
    reach = (max(pair(kernel)) - 1) / 2 * dilation
    if getattr(module, "padding", 0) == "same":
        reach = math.ceil(reach)  # of an even number of places one more is added behind
    return radius + (reach + off_centre(module, shape_in, shape)) * in_field.spacing
