"""Make the part of a frame for views of the sphere: pictures of x and of the layer, and their spectra by degree."""

from __future__ import annotations

import torch
from torch import Tensor

from explorer.spaces.points.drawing.self_reports import routes_of
from explorer.spaces.sphere.drawing.values import PANELS, ROWS, SpherePart
from explorer.spaces.sphere.fields import Coefficients
from explorer.spaces.sphere.harmonics import map_basis
from explorer.square.both_ways import BothWays
from explorer.square.drawing.layers import frozen
from explorer.square.frame import Array

Placed = tuple[Tensor, Coefficients, int]  # values, what they are coefficients of, which channel is drawn


def sphere_part(one: BothWays) -> SpherePart:
    """Return the part of the square that lies on the sphere."""
    p, field = one.p, one.layer.field
    assert isinstance(p.x_field.domain, Coefficients)
    found: dict[str, Placed] = {
        "x": (p.x, p.x_field.domain, 0), "ρ(g)x": (one.gx.x, p.x_field.domain, 0)
    }  # fmt: skip
    channel = channels = 0
    wide = False
    if field is not None and isinstance(field.domain, Coefficients):
        channels, wide = one.value.shape[1], field.domain.wide
        channel = min(one.state.channel or 0, channels - 1)
        given = (one.value, one.answer, one.expected, one.difference, one.back)
        found |= {n: (v, field.domain, channel) for n, v in zip(PANELS[2:], given, strict=True) if v is not None}
    return SpherePart(
        {name: _picture(v[0, k], domain) for name, (v, domain, k) in found.items()},
        {name: spectrum(v[0], domain) for name, (v, domain, _) in found.items()},
        channel, channels, wide, routes_of(p),
        {name: mixed(found[name], found[other]) for name, other in (PANELS[:2], PANELS[2:4]) if other in found},
        {name: powers(v[0], domain) for name, (v, domain, _) in found.items()},
    )  # fmt: skip


def spectrum(values: Tensor, domain: Coefficients) -> Array:
    """Return the power of each degree of values (channels, coefficients)."""
    return frozen(torch.stack([block.square().sum() for block in domain.blocks(values)]))


def powers(values: Tensor, domain: Coefficients) -> tuple[Array, ...]:
    """Return for each degree the power of each of its coefficients; of functions on SO(3), of each row of them."""
    return tuple(frozen(block.square().sum((0, -1))) for block in domain.blocks(values))


def mixed(before: Placed, after: Placed) -> Array:
    """Return how far the coefficients of each degree change, as a share of them; 0 where there are none."""
    (one, domain, _), (other, _, _) = before, after
    pairs = zip(domain.blocks(one[0]), domain.blocks(other[0]), strict=True)
    shares = [float((b - a).norm() / size) if (size := float(a.norm())) > 0 else 0.0 for a, b in pairs]
    return frozen(torch.tensor(shares, dtype=torch.float64, device="cpu"))


def _picture(values: Tensor, domain: Coefficients) -> Array:
    """Return the equirectangular picture of one channel; columns of SO(3) are summed up: their part about the pole."""
    if domain.wide:
        # the column n = 0 is what is left of a function on SO(3) after the mean over turns about the point
        values = torch.cat([block[..., block.shape[-1] // 2] for block in domain.blocks(values)], -1)
    basis = map_basis(domain.degree, ROWS).to(values)
    return frozen((basis @ values).view(ROWS, 2 * ROWS))


def thumbnail(values: Tensor, degree: int, side: int) -> Tensor:
    """Return a square picture of coefficients, seen from the front and black around the disc, from 0 to 1."""
    from explorer.spaces.sphere.harmonics import on_sphere

    axis = (torch.arange(side, dtype=torch.float64, device="cpu") - (side - 1) / 2) / (side / 2)
    y, x = torch.meshgrid(-axis, axis, indexing="ij")
    inside = x**2 + y**2 < 1
    points = torch.stack([x, y, (1 - x**2 - y**2).clamp_min(0).sqrt()], -1).view(-1, 3)
    seen = (on_sphere(degree, points) @ values.double()).view(side, side)
    low, high = seen[inside].min(), seen[inside].max()
    return torch.where(
        inside, 0.15 + 0.85 * (seen - low) / (high - low).clamp_min(1e-12), torch.zeros((), device="cpu").double()
    )
