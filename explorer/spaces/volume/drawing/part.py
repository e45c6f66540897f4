"""Make the part of a frame for views of volumes: x and the layer on voxels, and all orientations of one field."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from torch import Tensor

from explorer.declare.elements import Chain, Element
from explorer.declare.types.fields import FieldType, Point, Representation, Scalar
from explorer.spaces.points.drawing.self_reports import curves_of, routes_of
from explorer.spaces.points.drawing.spectrum import Spectrum, spectrum
from explorer.spaces.points.fields import Irreps, irreps
from explorer.spaces.volume.drawing.values import VolumePart
from explorer.spaces.volume.elements.cube_map import CubeMap
from explorer.spaces.volume.elements.volume_turn import VolumeTurn
from explorer.spaces.volume.fields import Orientations, Pseudoscalar, Vector, Voxels
from explorer.square.both_ways import BothWays
from explorer.square.drawing.layers import frozen
from explorer.square.frame import Array
from explorer.square.preparing.kept import kept
from explorer.square.preparing.prepare import Prepared

MOST_VOXELS = 2**21  # of one volume that is drawn: 128 along each side
MOST_GALLERY = 2**22  # of all orientations together


def volume_part(one: BothWays) -> VolumePart:
    """Return the part of the square that lies on voxels."""
    p, layer = one.p, one.layer
    field = layer.field
    step = _step(p.x.shape[-3:], 1, MOST_VOXELS)
    z, y, x = p.x.shape[-3:]
    maps = tuple(m for m in _parts(one.element) if isinstance(m, CubeMap | VolumeTurn))
    gx = _input(p, step) if one.element.identity else _shown(one.gx.x[0, 0], step)
    plain = VolumePart(
        _input(p, step), gx, None, None, None, None, 0, 0, 1.0, maps, (z, y, x), strides=(step, 1, 1),
        routes=routes_of(p), curves=curves_of(p), spectrum=_spectrum(one, field),
        voxel=p.sample.voxel if p.sample else (), ends=p.sample.ends if p.sample else (),
    )  # fmt: skip
    if field is None or not isinstance(field.domain, Voxels) or math.isinf(field.spacing):
        return plain
    values = field.domain.spread(one.value)[0]
    channels = len(values)
    channel = _first(values) if one.state.channel is None else min(one.state.channel, channels - 1)
    fine = _step(values.shape[-3:], 1, MOST_VOXELS)

    def shown(v: Tensor | None) -> Array | None:
        return None if v is None else _shown(field.domain.spread(v)[0, channel], fine)

    part = replace(
        plain, values=shown(one.value), answer=shown(one.answer), expected=shown(one.expected),
        difference=shown(one.difference), back=shown(one.back), channel=channel, channels=channels,
        spacing=field.spacing, strides=(step, fine, 1), kinds=_kinds(_degrees(field.rep)),
    )  # fmt: skip
    return _with_gallery(part, one, field, field.rep) if isinstance(field.rep, Orientations) else part


def _with_gallery(part: VolumePart, one: BothWays, field: FieldType, rep: Orientations) -> VolumePart:
    """Return the part with every orientation of the field that its channel belongs to."""
    order, number = rep.group.order, part.channel // rep.group.order
    blocks = [field.domain.spread(v)[0, number * order : (number + 1) * order] for v in (one.value, one.answer)]
    coarse = _step(blocks[0].shape[-3:], order, MOST_GALLERY)
    point = np.eye(3)
    for step in part.maps:
        point = step.matrix @ point
    g = rep.group.find(point)
    before, after = (frozen(b[..., ::coarse, ::coarse, ::coarse]) for b in blocks)
    return replace(
        part, group=rep.group.name, labels=rep.group.labels, field=number, gallery=before, gallery_moved=after,
        order=() if g is None else tuple(rep.group.compose(g, h) for h in rep.group.elements()),
        strides=(*part.strides[:2], coarse),
    )  # fmt: skip


def _degrees(rep: Representation) -> Irreps | None:
    """Return what degrees a representation consists of; None of one that permutes channels, or of scalars alone."""
    match rep:
        case Irreps():
            return rep
        case Vector():
            return irreps("1x1e" if rep.axial else "1x1o")
        case Pseudoscalar():
            return irreps("1x0o")
    return None


def _kinds(rep: Irreps | None) -> tuple[str, ...]:
    """Return what each channel of a block of values is: its degree and parity, and which component of it."""
    if rep is None:
        return ()
    values = [(f"{degree}{parity}", 2 * degree + 1) for degree, parity, _ in rep.slices]
    return tuple(f"{kind} {k + 1}/{wide}" if wide > 1 else kind for kind, wide in values for k in range(wide))


def _first(values: Tensor) -> int:
    """Return the first channel, (channels, z, y, x), that is not the same everywhere; 0 where all are."""
    flat = values.detach().flatten(1)
    return int((flat != flat[:, :1]).any(1).int().argmax())


def _spectrum(one: BothWays, field: FieldType | None) -> Spectrum | None:
    """Return the spectrum of the layer over all voxels; what changes places alone is no mixing of components."""
    if field is None or not isinstance(field.domain, Voxels | Point) or (rep := _degrees(field.rep)) is None:
        return None
    before, after = one.value, one.answer
    if isinstance(field.domain, Voxels) and not math.isinf(field.spacing):
        before = one.element.act(before, replace(field, rep=Scalar()))
        before, after = (field.domain.spread(v) for v in (before, after))
    if before.shape != after.shape or before.shape[1] % rep.size:
        return None
    before, after = (v[:1].detach().unflatten(1, (-1, 1)).flatten(2)[0].T.cpu() for v in (before, after))
    return spectrum(rep, before.numpy(), after.numpy())


def _parts(element: Element) -> tuple[Element, ...]:
    return element.parts if isinstance(element, Chain) else (element,)


def _step(sides: tuple[int, ...], count: int, most: int) -> int:
    """Return how many voxels to pass over, so that no more than so many are drawn."""
    step = 1
    while count * math.prod(math.ceil(side / step) for side in sides) > most:
        step += 1
    return step


def _shown(volume: Tensor, step: int) -> Array:
    return frozen(volume[::step, ::step, ::step])


@kept()
def _input(p: Prepared, step: int) -> Array:
    return _shown(p.x[0, 0], step)
