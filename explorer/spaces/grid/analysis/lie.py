"""The Lie derivative of a network along a one-parameter group, by forward-mode differentiation.

(L_X F)(x) = d/dt rho(-t) F(rho(t) x) at t = 0 = J_F(x) G_in x - G_out F(x), with G the generator. One forward pass
with dual numbers gives J_F G_in x at every layer; the generators are spectral derivatives, never finite differences
of a bilinear sampler (which at grid points reports 25 % for an exactly equivariant convolution). Reported is the
mean square per dimension, eq. 4 of Gruver et al., "The Lie Derivative for Measuring Learned Equivariance", 2023.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import replace

import torch
import torch.autograd.forward_ad as fwd
from torch import Tensor, nn

from explorer.declare.types.fields import FieldType, Regular
from explorer.network.changing.differentiating import Plainly
from explorer.network.tracing.capture import capture
from explorer.network.tracing.layers import Layer, Trace
from explorer.network.tracing.running import evaluating
from explorer.spaces.grid.fields import ChannelsLast, Grid, TokenPairs
from explorer.work.compiler import not_asked

GENERATORS = ("right", "down", "rotation")


def gradient(values: Tensor, axis: int) -> Tensor:
    """Return the spectral derivative of periodic values (..., height, width) along an axis."""
    count = values.shape[axis]
    values = values.float() if values.dtype.itemsize < 4 else values  # there is no transform of half precision
    frequency = 2 * math.pi * torch.fft.rfftfreq(count, dtype=values.dtype, device=values.device)
    if count % 2 == 0:
        frequency[-1] = 0  # the Nyquist frequency of an even size has no sign and so no real derivative
    slopes = 1j * (frequency if axis == -1 else frequency[:, None])
    found: Tensor = torch.fft.irfft(torch.fft.rfft(values, dim=axis) * slopes, n=count, dim=axis)
    return found


INNER = 0.6  # of the disc's radius: where the window is 1, and the windowed flow a true rotation


def disc(height: int, width: int, like: Tensor) -> Tensor:
    """Return a smooth window, 1 inside 60 % of the inscribed disc and 0 outside it, (height, width)."""
    t = ((1.0 - _radius(height, width, like)) / (1.0 - INNER)).clamp(0, 1)
    return t * t * (3 - 2 * t)


def _radius(height: int, width: int, like: Tensor) -> Tensor:
    """Return each place's distance from the centre, 1 at the middle of every edge, (height, width)."""
    y, x = (
        (torch.arange(n, dtype=like.dtype, device=like.device) - (n - 1) / 2) / max((n - 1) / 2, 0.5)
        for n in (height, width)
    )
    return (x.square() + y.square()[:, None]).sqrt()


def _compared(layer: Layer, height: int, width: int, like: Tensor) -> Tensor:
    """Return the places whose whole receptive field lies in the inner disc, else the disc, (height, width)."""
    field = layer.field
    if field is not None and math.isfinite(field.spacing) and math.isfinite(layer.receptive):
        reach = layer.receptive / field.spacing / max((min(height, width) - 1) / 2, 0.5)
        inner = _radius(height, width, like) + reach <= INNER
        if inner.any():
            return inner.to(like.dtype)
    return disc(height, width, like)


def generator(name: str, values: Tensor, field: FieldType) -> Tensor:
    """Return G values = d/dt rho(t) values at 0; t in input pixels, or radians counter-clockwise.

    Raises:
        ValueError: an unknown generator.
    """
    if name not in GENERATORS:
        raise ValueError(f"unknown generator {name!r}; known are {', '.join(GENERATORS)}")
    if isinstance(field.domain, TokenPairs):  # rows move, and columns move
        return _of_columns(name, values, field) + _of_columns(name, values.mT, field).mT
    if isinstance(field.domain, ChannelsLast):
        maps = generator(name, field.domain.spread(values), replace(field, domain=Grid(field.domain.spacing)))
        return field.domain.gathered(maps, torch.zeros_like(values))
    result = torch.zeros_like(values)
    if isinstance(field.domain, Grid):
        flat = field.domain.flat
        grid: Tensor = values.unflatten(1, (-1, *flat)) if flat else values
        if name == "right":
            moved = -gradient(grid, -1) / field.domain.spacing
        elif name == "down":
            moved = -gradient(grid, -2) / field.domain.spacing
        else:
            across, along = gradient(grid, -1), gradient(grid, -2)
            h, w = grid.shape[-2:]
            x = torch.arange(w, dtype=values.dtype, device=values.device) - (w - 1) / 2
            y = (h - 1) / 2 - torch.arange(h, dtype=values.dtype, device=values.device)[:, None]  # up
            # f(R^-1 u): d/dt = y d/dx - x d/dy_up, and d/dy_up = -d/drow
            moved = disc(h, w, values) * (y * across + x * along)
            if isinstance(field.rep, Regular):
                # the orientations turn as fast as the place does: windowed alike
                moved = moved + disc(h, w, values) * _turn(grid, field)
        result = moved.flatten(1) if flat else moved
    elif name == "rotation" and isinstance(field.rep, Regular):
        result = _turn(values, field)
    return result


def _of_columns(name: str, values: Tensor, field: FieldType) -> Tensor:
    assert isinstance(field.domain, TokenPairs)
    maps = generator(name, field.domain.spread(values), replace(field, domain=Grid(field.domain.spacing)))
    moved = torch.zeros_like(values)
    moved[..., field.domain.tokens.inside] = maps.flatten(2).unflatten(1, values.shape[1:-1])
    return moved


def _turn(values: Tensor, field: FieldType) -> Tensor:
    """Return the derivative of the orientation channels' circular shift, Fourier-interpolated in each coset."""
    assert isinstance(field.rep, Regular)
    group = field.rep.group
    turns = sum(1 for m in group.matrices if torch.linalg.det(torch.from_numpy(m)) > 0)
    frequency = torch.fft.fftfreq(turns, dtype=torch.float64, device="cpu") * turns
    if turns % 2 == 0:
        frequency[turns // 2] = 0
    kernel = torch.fft.ifft(-1j * frequency).real
    mix = torch.stack([torch.roll(kernel, k) for k in range(turns)], dim=1).to(values)
    blocks: Tensor = values.unflatten(1, (-1, group.order // turns, turns))
    turned: Tensor = torch.einsum("rs,bfms...->bfmr...", mix, blocks)
    return turned.flatten(1, 3)


def lie_derivative(
    model: nn.Module,
    x: Tensor,
    trace: Trace,
    x_field: FieldType,
    along: str = "right",
    layers: Iterable[str] | None = None,
) -> dict[str, float]:
    """Return {layer: mean square of L_X h_l(x) per dimension}, x is (batch, channel, height, width).

    Rotations are windowed: the mean is over the places that see nothing but the inner disc, where the flow is rigid.
    Source: Gruver et al. 2023, eq. 4; layers whose field is unknown are left out.

    Raises:
        LayerError: some operation has no forward-mode derivative; `.where` names the layer.
        ValueError: an unknown generator.
    """
    watched = [layer for layer in trace.layers if layer.field is not None and (layers is None or layer.name in layers)]
    result: dict[str, float] = {}
    if along == "rotation":
        trace.find_radii()

    def reduce(name: str, value: Tensor) -> None:
        primal, tangent = fwd.unpack_dual(value)
        field = trace[name].field
        assert field is not None
        pushed = torch.zeros_like(primal) if tangent is None else tangent
        square = (pushed - generator(along, primal, field)).square()
        if along == "rotation" and isinstance(field.domain, Grid):
            size = field.domain.flat or (primal.shape[-2], primal.shape[-1])
            weight = _compared(trace[name], size[0], size[1], primal)
            places: Tensor = square.unflatten(1, (-1, *size)) if field.domain.flat else square
            square = places * (weight / weight.mean())
        result[name] = float(square.mean())

    with evaluating(model), torch.no_grad(), fwd.dual_level():
        start = x.detach().clone()  # the first layer may work in place
        way = generator(along, x.detach(), x_field)
        with warnings.catch_warnings():  # what torch's own derivatives call is deprecated, and a suite may forbid that
            warnings.simplefilter("ignore", DeprecationWarning)
            dual = fwd.make_dual(start, way)
        with Plainly(forwards=True), not_asked():
            capture(model, dual, [layer.name for layer in watched], reduce=reduce)
    return result
