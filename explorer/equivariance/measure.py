"""The commuting square of one layer, in numbers. This is the definition; everything else calls it.

e(g, x) = rho_out(g) F(x) - F(rho_in(g) x), and the headline is ||M e|| / ||M rho_out(g) F(x)|| in the 2-norm, with M the
places that are determined (a transformed mask of ones, shrunk by the receptive field).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from explorer.capture import feed
from explorer.fields import FieldType, Grid
from explorer.trace import Layer, Trace
from explorer.transforms import Element, NoAction

K = 64.0  # tolerance = K eps sqrt(weighted layers): rounding of well-conditioned layers stays a factor 10 below
_MIN_KEPT = 0.05  # below this the shrunk mask says nothing, and the unshrunk one is used instead


@dataclass(frozen=True, slots=True)
class Distance:
    """How far two batches of values are apart, per sample: tensors of shape (batch,)."""

    relative: Tensor
    max_abs: Tensor
    mean_abs: Tensor
    decibel: Tensor  # 10 log10(range^2 / mean square error), the range of the expected values


@dataclass(frozen=True, slots=True)
class Mask:
    """Where values are compared: (height, width) in {0, 1}, or None for everywhere."""

    places: Tensor | None
    kept: float


EVERYWHERE = Mask(None, 1.0)


def tolerance(dtype: torch.dtype, rank: int, k: float = K) -> float:
    """Return the relative error that rounding may cause after `rank` weighted layers: k eps sqrt(rank)."""
    return k * torch.finfo(dtype).eps * math.sqrt(max(rank, 1))


def mask(element: Element, values: Tensor, field: FieldType, receptive: float = 0.0) -> Mask:
    """Return where rho(g) values can be compared, shrunk by the receptive radius (input pixels)."""
    places = element.known(values, field)
    if places is None:
        return EVERYWHERE
    total = places.numel()
    shrunk = places
    if math.isfinite(receptive) and isinstance(field.domain, Grid) and math.isfinite(field.domain.spacing):
        radius = math.ceil(receptive / field.domain.spacing - 1e-9)
        if radius:
            lost = nn.functional.pad(1 - places[None, None], (radius,) * 4, value=1.0)
            shrunk = 1 - nn.functional.max_pool2d(lost, 2 * radius + 1, 1)[0, 0]
    else:
        shrunk = torch.zeros_like(places)
    if shrunk.sum() < _MIN_KEPT * total:
        shrunk = places
    return Mask(shrunk, float(shrunk.sum() / total))


def _masked(values: Tensor, where: Mask, field: FieldType) -> Tensor:
    if where.places is None:
        return values
    if isinstance(field.domain, Grid) and field.domain.flat:
        return (values.unflatten(1, (-1, *field.domain.flat)) * where.places).flatten(1)
    return values * where.places


def distance(expected: Tensor, answer: Tensor, where: Mask, field: FieldType) -> Distance:
    """Return how far `answer` is from `expected`, both (batch, channel, ...)."""
    if expected.shape != answer.shape:
        raise ValueError(
            f"the square compares {tuple(expected.shape)} with {tuple(answer.shape)}: the transformed input gives "
            "another output size"
        )
    expected = _masked(expected, where, field).flatten(1)
    answer = _masked(answer, where, field).flatten(1)
    error = expected - answer
    size = expected.norm(dim=1)
    wrong = error.norm(dim=1)
    # nothing expected and nothing answered agrees; something answered where nothing is expected is entirely wrong
    relative = torch.where(size > 0, wrong / size.clamp_min(torch.finfo(size.dtype).tiny), (wrong > 0).to(size.dtype))
    count = max(error.shape[1] * where.kept, 1.0)
    span = expected.amax(dim=1) - expected.amin(dim=1)
    mse = error.square().sum(dim=1) / count
    decibel = 10 * torch.log10(span.square() / mse.clamp_min(torch.finfo(mse.dtype).tiny))
    return Distance(relative, error.abs().amax(dim=1), error.abs().sum(dim=1) / count, decibel)


def channel_errors(expected: Tensor, answer: Tensor, where: Mask, field: FieldType) -> Tensor:
    """Return the relative error per channel over the batch, (channels,), against the mean channel norm."""
    e = _masked(expected - answer, where, field)
    size = _masked(expected, where, field).flatten(2) if e.ndim > 2 else _masked(expected, where, field)[..., None]
    e = e.flatten(2) if e.ndim > 2 else e[..., None]
    norm = size.square().sum(dim=(0, 2)).mean().sqrt().clamp_min(torch.finfo(e.dtype).tiny)
    return e.square().sum(dim=(0, 2)).sqrt() / norm


def there_and_back(element: Element, values: Tensor, field: FieldType, receptive: float = 0.0) -> Tensor:
    """Return the interpolation floor ||M(rho(g^-1) rho(g) y - y)|| / ||M y|| per sample, (batch,)."""
    if element.exact(field, tuple(values.shape)):
        return torch.zeros(len(values), dtype=values.dtype, device=values.device)
    back = element.inverse()
    moved = element.act(values, field)
    returned = back.act(moved, field)
    forth = element.known(values, field)
    where = mask(back, moved, field, receptive)
    if forth is not None:
        plain = FieldType(field.domain)
        flat = isinstance(field.domain, Grid) and field.domain.flat
        ones = forth[None, None].to(values.dtype)
        came = back.act(ones.flatten(1) if flat else ones, plain)
        came = (came.reshape(forth.shape) > 0.999).to(values.dtype)
        both = came if where.places is None else came * where.places
        where = Mask(both, float(both.mean())) if both.sum() > 0 else EVERYWHERE
    return distance(values, returned, where, field).relative


def expected_after(element: Element, layer: Layer, values: Tensor) -> Tensor | None:
    """Return rho_out(g) F(x), or None when the layer's field has no such action."""
    if layer.field is None:
        return None
    try:
        return element.act(values, layer.field)
    except NoAction:
        return None


def local_answer(
    model: nn.Module, trace: Trace, layer: Layer, element: Element, fed: tuple[Tensor, ...]
) -> Tensor | None:
    """Return f_l(rho_{l-1}(g) h_{l-1}(x)), the layer alone on its transformed inputs; None when it cannot be fed."""
    if not layer.alone or layer.field is None:
        return None
    try:
        moved = tuple(element.act(t, f) for t, f in zip(fed, layer.inputs, strict=True) if f is not None)
    except NoAction:
        return None
    return feed(model, trace, layer.name, moved)
