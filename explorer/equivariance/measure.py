"""The commuting square of one layer, in numbers. This is the definition; everything else calls it.

e(g, x) = rho_out(g) F(x) - F(rho_in(g) x), and the headline is ||M e|| / ||M rho_out(g) F(x)|| in the 2-norm, with M
the places that are determined (a transformed mask of ones, shrunk by the receptive field).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

from explorer.declare.elements import SMEARED, Element, NoAction
from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import FieldType
from explorer.network.changing.interventions.moving import moved_by
from explorer.network.tracing.capture import feed
from explorer.network.tracing.layers import Layer, LayerError, Trace
from explorer.work.budget import budgeted

K = 64.0  # tolerance = K eps sqrt(weighted layers): rounding of well-conditioned layers stays a factor 10 below
SIZEABLE = 0.05  # share of what unrelated inputs differ by: an error as large as this is no rounding of filters
Radius = float | Callable[[], float]  # a receptive radius, or what finds it where it is needed
_LARGEST_KEPT = 64 * 64  # places of a mask that is kept for the next layer of the same size
_MIN_KEPT = 0.05  # below this the shrunk mask says nothing, and the unshrunk one is used instead


@dataclass(frozen=True, slots=True)
class Distance:
    """The distance of two batches of values, per sample: tensors of shape (batch,)."""

    relative: Tensor
    max_abs: Tensor
    mean_abs: Tensor
    decibel: Tensor  # 10 log10(range^2 / mean square error), the range of the expected values


@dataclass(frozen=True, slots=True)
class Mask:
    """The places where values are compared: (height, width) in {0, 1}, or None for everywhere; `kept` is their share.

    `sure` is False when so few places are determined that undetermined ones had to be compared as well.
    """

    places: Tensor | None
    kept: float
    sure: bool = True


EVERYWHERE = Mask(None, 1.0)


def tolerance(dtype: torch.dtype, rank: int, k: float = K) -> float:
    """Return the relative error that rounding may cause after `rank` weighted layers: k eps sqrt(rank)."""
    return k * torch.finfo(dtype).eps * math.sqrt(max(rank, 1))


def mask(element: Element, values: Tensor, field: FieldType, receptive: Radius = 0.0) -> Mask:
    """Return where rho(g) values can be compared, shrunk by the receptive radius (input pixels).

    Args:
        values: before the element acts on them; only their shape counts.
        receptive: asked for where the element leaves places unknown, and nowhere else.
    """
    if not element.resamples:
        return EVERYWHERE  # nothing is cut off; and what is kept by element would keep every permutation alive
    shape = tuple(values.shape if not field.batched else values.shape[1:])
    kept = field.batched and math.prod(shape[-2:]) <= _LARGEST_KEPT
    where = (element, shape, field, values.dtype, values.device)
    places = _kept_places(*where) if kept else _places(*where)
    if places is None:
        return EVERYWHERE
    if not places.numel():
        return Mask(places, 1.0)
    radius = receptive() if callable(receptive) else receptive
    return _mask(*where, radius) if kept else _shrunk(places, field, radius)


@budgeted
def _kept_places(
    element: Element, shape: tuple[int, ...], field: FieldType, dtype: torch.dtype, device: torch.device
) -> Tensor | None:
    return _places(element, shape, field, dtype, device)


def _places(
    element: Element, shape: tuple[int, ...], field: FieldType, dtype: torch.dtype, device: torch.device
) -> Tensor | None:
    one = torch.empty((), dtype=dtype, device=device)
    return element.known(one.expand(1, *shape) if field.batched else one.expand(shape), field)


@budgeted
def _mask(
    element: Element,
    shape: tuple[int, ...],
    field: FieldType,
    dtype: torch.dtype,
    device: torch.device,
    receptive: float,
) -> Mask:
    places = _kept_places(element, shape, field, dtype, device)
    assert places is not None
    return _shrunk(places, field, receptive)


def _shrunk(places: Tensor, field: FieldType, receptive: float) -> Mask:
    shrunk = field.domain.shrunk(places, receptive)
    sure = bool(shrunk.sum() >= _MIN_KEPT * places.numel())
    if not sure:
        shrunk = places
    return Mask(shrunk, float(shrunk.sum() / places.numel()), sure)


def judged(element: Element, inputs: Inputs, layer: Layer, values: Tensor, where: Mask) -> bool:
    """Return whether a verdict can be given: g permutes places on the input and here, and compared places are known.

    Args:
        inputs, values: of the network and of the layer's output, before the element acts on them.
    """
    if layer.field is None or not where.sure or where.kept == 0.0:
        return False
    if not (inputs.exact(element) and element.exact(layer.field, tuple(values.shape))):
        return False
    if element.known(inputs.x, inputs.field) is None:
        return True
    # where every value sees the whole image, what was cut off at the edge is missing in all of them; of a sequence
    # nothing comes in but silence, which a number of a token is not
    silent = inputs.field.domain.remembers and inputs.x.is_floating_point()
    return math.isfinite(layer.receptive) or (silent and math.isinf(layer.receptive))


def masked(values: Tensor, where: Mask, field: FieldType) -> Tensor:
    """Return `values` with zeros where nothing is compared."""
    return values if where.places is None else field.domain.masked(values, where.places)


def compared(values: Tensor, where: Mask, field: FieldType) -> Tensor:
    """Return what is compared of `values`, (batch, everything else): what has no batch is one row."""
    return field.domain.rows(masked(values, where, field))


def distance(
    expected: Tensor, answer: Tensor, where: Mask, field: FieldType, most: float | None = None
) -> Distance:  # fmt: skip
    """Return how far `answer` is from `expected`, both (batch, channel, ...).

    Args:
        most: size of values from which on they are constants, if there are such (`constants` in trial/vanishing.py):
            these are left out, and the relative error is the worse one of what is left and of all values.
    """
    if most is not None:
        found = distance(below(expected, most), below(answer, most), where, field)
        return replace(found, relative=found.relative.maximum(_of_scaled(expected, answer, where, field)))
    expected, error = _compared(expected, answer, where, field)
    if not expected.shape[1]:  # a graph without edges
        nothing = expected.new_zeros(len(expected))
        return Distance(nothing, nothing, nothing, nothing + math.inf)
    count = max(error.shape[1] * where.kept, 1.0)
    span = expected.amax(dim=1) - expected.amin(dim=1)
    wrong, size, amount = error.norm(dim=1), expected.norm(dim=1), error.abs()
    mse = wrong.square() / count
    decibel = torch.where(mse > 0, 10 * torch.log10(span.square() / mse), mse.new_tensor(math.inf))
    return Distance(quotient(wrong, size), amount.amax(dim=1), amount.sum(dim=1) / count, decibel)


def apart(
    expected: Tensor, answer: Tensor, where: Mask, field: FieldType, most: float | None = None
) -> Tensor:  # fmt: skip
    """Return the relative distance alone, (batch,), in a third of the time of all figures; `most` as above."""
    if most is not None:
        found = relative(*_compared(below(expected, most), below(answer, most), where, field))
        return found.maximum(_of_scaled(expected, answer, where, field))
    return relative(*_compared(expected, answer, where, field))


def below(values: Tensor, most: float | None) -> Tensor:
    """Return values with zeros in place of those that are larger than `most`; the very same where that is None."""
    return values if most is None else values.where(values.abs() <= most, 0.0)


def _of_scaled(expected: Tensor, answer: Tensor, where: Mask, field: FieldType) -> Tensor:
    """Return the relative distance of values so large that their squares may be infinite."""
    scale = expected.abs().amax()
    return relative(*_compared(expected / scale, answer / scale, where, field))


def apart_alone(
    expected: Tensor, alone: Tensor, where: Mask, field: FieldType, most: float | None = None
) -> Tensor:  # fmt: skip
    """Return how far a layer fed alone is from what is expected, finite numbers: NaN is infinitely far from these."""
    found = apart(expected, alone, where, field, most)
    return torch.where(found.isnan(), torch.inf, found)


def _compared(expected: Tensor, answer: Tensor, where: Mask, field: FieldType) -> tuple[Tensor, Tensor]:
    """Return what is expected where it is compared, and the error there, both (batch, everything else)."""
    if expected.shape != answer.shape:
        raise ValueError(
            f"the square compares {tuple(expected.shape)} with {tuple(answer.shape)}: the transformed input gives "
            "another output size"
        )
    if expected.is_floating_point() and not answer.is_floating_point():
        kind = str(answer.dtype).removeprefix("torch.")
        raise ValueError(
            f"a layer gave real numbers before, and now {kind} values: what it gives changes between calls"
        )
    expected = compared(expected, where, field)
    return expected, expected - compared(answer, where, field)


def relative(expected: Tensor, error: Tensor) -> Tensor:
    """Return ||error|| / ||expected|| per sample, both (batch, ...)."""
    return quotient(error.flatten(1).norm(dim=1), expected.flatten(1).norm(dim=1))


def quotient(wrong: Tensor, size: Tensor) -> Tensor:
    """Return wrong / size, both norms."""
    # nothing expected and nothing answered agrees; something answered where nothing is expected is entirely wrong
    return torch.where(size > 0, wrong / size.clamp_min(torch.finfo(size.dtype).tiny), (wrong > 0).to(size.dtype))


def channel_errors(expected: Tensor, answer: Tensor, where: Mask, field: FieldType) -> Tensor:
    """Return the relative error per channel over the batch, (channels,), against the mean channel norm."""
    e = field.domain.by_channel(masked(expected - answer, where, field))
    size = field.domain.by_channel(masked(expected, where, field))
    norm = size.square().sum(dim=(0, 2)).mean().sqrt().clamp_min(torch.finfo(e.dtype).tiny)
    return e.square().sum(dim=(0, 2)).sqrt() / norm


def there_and_back(element: Element, values: Tensor, field: FieldType, receptive: Radius = 0.0) -> Tensor:
    """Return the interpolation floor ||M(rho(g^-1) rho(g) y - y)|| / ||M y|| per sample, (batch,)."""
    return all_there_and_back(element, [values], field, [receptive])[0]


def all_there_and_back(
    element: Element, layers: Sequence[Tensor], field: FieldType, receptive: Sequence[Radius]
) -> list[Tensor]:
    """Return the floors of several layers of one batched field and one shape, which are moved together."""
    if element.exact(field, tuple(layers[0].shape)) or not element.resamples:
        # what resamples nothing and yet does not permute leaves something out
        return [values.new_zeros(len(values) if field.batched else 1) for values in layers]
    back, domain = element.inverse(), field.domain
    alone = len(layers) == 1
    moved = element.act(layers[0] if alone else torch.cat(list(layers)), field)
    returned = back.act(moved, field)
    forth, came = element.known(layers[0], field), None
    if forth is not None:  # what came from nowhere comes back as nothing
        came = domain.as_places(back.act(domain.from_places(forth).to(layers[0].dtype), domain.plain))
        came = ((came - 1).abs() < SMEARED).to(layers[0].dtype)
    floors = []
    each = [(moved, returned)] if alone else zip(*(t.split(len(layers[0])) for t in (moved, returned)), strict=True)
    for values, radius, (there, here) in zip(layers, receptive, each, strict=True):
        where = mask(back, there, field, radius)
        if forth is not None and came is not None:
            both = came if where.places is None else came * where.places
            # of a few coarse places the twice-known ones shrink to the centre, which no rotation moves: no use
            kept = both if float(both.mean()) >= _MIN_KEPT else forth
            where = Mask(kept, float(kept.mean())) if kept.sum() > 0 else EVERYWHERE
        floors.append(relative(compared(values, where, field), compared(here - values, where, field)))
    return floors


def expected_after(element: Element, layer: Layer, values: Tensor) -> Tensor | None:
    """Return rho_out(g) F(x), or None when the layer's field has no such action."""
    if layer.field is None:
        return None
    try:
        return layer.field.rep.acted(element, values, layer.field)
    except NoAction:
        return None


def local_answer(
    model: nn.Module,
    trace: Trace,
    layer: Layer,
    element: Element,
    fed: tuple[Tensor, ...],
    known: Tensor | None = None,
) -> Tensor | None:
    """Return f_l(rho_{l-1}(g) h_{l-1}(x)), the layer alone on its transformed inputs; None when it cannot be fed.

    `known` is f_l(h_{l-1}(x)), where it is at hand: the answer where the element leaves these inputs as they are.
    """
    if not layer.alone or layer.field is None:
        return None
    try:
        moved = tuple(f.rep.acted(element, t, f) for t, f in zip(fed, layer.inputs, strict=True) if f is not None)
    except NoAction:
        return None
    if known is not None and unmoved(fed, moved):
        return known
    try:
        with moved_by([(element,)]):
            answer = feed(model, trace, layer.name, moved, fed)
    except LayerError:
        # a wrong guess of where the places lie exchanges unequal axes, which the layer does not take
        if any(m.shape != t.shape for m, t in zip(moved, fed, strict=True)):
            return None
        raise
    if known is not None and known.is_floating_point() and not answer.is_floating_point():
        kind = str(answer.dtype).removeprefix("torch.")
        raise LayerError(
            layer.name, f"layer {layer.name} gave real numbers before, and now {kind} values: what it gives changes"
        )
    return answer


def fed_exactly(element: Element, layer: Layer, fed: Sequence[Tensor]) -> bool:
    """Say whether an element permutes the places of what a layer is given, so that the layer can be judged alone.

    A shift by three pixels is none of a map with half as many, and the mean over that map has a law all the same.
    """
    given = zip(fed, layer.inputs, strict=True)
    return all(f is None or element.exact(f, tuple(value.shape)) for value, f in given)


def finite(values: Tensor) -> bool:
    """Say whether all values are finite, in a fifth of the time that torch takes to look at each of them."""
    # NaN and infinity stay in a sum; a sum that overflows tells nothing
    return bool(values.sum().isfinite()) or bool(values.isfinite().all())


def unmoved(before: Sequence[Tensor], after: Sequence[Tensor]) -> bool:
    """Say whether tensors are the very same numbers, so that a network need not be run on them again."""
    return len(before) == len(after) and all(a is b or torch.equal(a, b) for a, b in zip(before, after, strict=True))


def middle(values: Sequence[float]) -> float:
    """Return the median; between an infinite value and its opposite, of a constant answer, the lower one."""
    with np.errstate(invalid="ignore"):
        found = float(np.median(values))
    return sorted(values)[(len(values) - 1) // 2] if math.isnan(found) else found
