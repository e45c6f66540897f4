"""Describe the values that arise inside of modules as layers: what they are fields of, and whether they stand alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn

from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import FieldType
from explorer.network.inner.tiled import Tiled, rows_looked_at
from explorer.network.inner.value import Inner
from explorer.network.inner.watching import STEPS, watching
from explorer.network.input.inputs import called
from explorer.network.opening.global_state import reseed
from explorer.network.space import Inference, Known
from explorer.network.tracing.layers import Layer
from explorer.network.tracing.running import tried


def described(
    label: str, inner: Inner, value: Tensor, inference: Inference, known: Callable[[Tensor], Known | None], rank: int,
    shape: tuple[int, ...] | None,
) -> Layer:  # fmt: skip
    """Return the layer of a value that arose, before it is known which of its masks are constant.

    Args:
        known: what is known of a tensor of the network.
        rank: how many weighted layers lie before it.
        shape: that of the value for resized inputs, where it is known.
    """
    field = _field(inner, value, inference, known)
    if shape is not None and field is not None and tuple(value.shape) != shape:
        placed = inference.placed(tuple(value.shape), shape)
        field = field if placed is None or type(placed.domain) is type(field.domain) else None
    elif shape is not None and inner.pairs:
        field = None  # a matrix between channels: its size does not change with the number of places
    if field is not None and not inference.fits(field, value):
        field = None
    given = tuple(inference.along(t.ndim - 2, t.shape[-2]) for t in inner.fed)
    base, _, call = label.partition("#")
    kind = inner.kind
    if isinstance(value, Tiled) and (some := rows_looked_at(*value.form)) < value.form[1]:
        kind += f", {some} of {value.form[1]} rows measured"
    return Layer(
        name=label, module=base, kind=kind, call=int(call or 1) - 1, shape=tuple(value.shape), params=0,
        field=field, inputs=given, alone=bool(given) and all(f is not None for f in given),
        told=math.nan if inner.what == STEPS or (inner.pairs and _windowed(value)) else math.inf, leaf=True, rank=rank,
        shape_in=tuple(inner.fed[0].shape) if inner.fed else (), within=inner.owner,
    )  # fmt: skip


def _windowed(value: Tensor) -> bool:
    """Say whether a matrix between places leaves out what is farthest: how far it sees is found by trial."""
    if isinstance(value, Tiled) or value.ndim < 2 or not value.numel():
        return False
    return not bool(value[..., 0, -1].any()) and not bool(value[..., -1, 0].any())


def _field(
    inner: Inner, value: Tensor, inference: Inference, known: Callable[[Tensor], Known | None]
) -> FieldType | None:
    if inner.pairs:
        return inference.paired(value)
    if inner.on is not None:
        found = known(inner.on)
        return None if found is None else FieldType(found[0].domain, guessed=True)
    return inference.along(0, len(value))


def constant_masks(
    model: nn.Module, inputs: Inputs, inference: Inference, masks: Mapping[str, tuple[Tensor, ...]]
) -> set[str]:
    """Return the names of the values whose masks are the same on an unrelated input, of those that have some.

    A mask that comes from the input moves along with it; what it becomes is not known where the value is made alone.
    """

    def trial() -> Mapping[str, tuple[Tensor, ...]]:
        seen: dict[str, tuple[Tensor, ...]] = {}
        with watching(model, lambda n, v: seen.update({n: v.masks})):
            reseed(0)
            called(model, inference.another(inputs, 1), clone=True)
        return seen

    if (seen := tried(model, trial)) is None:
        return set()
    return {name for name, own in masks.items() if _same(own, seen.get(name, ()))}


def _same(one: tuple[Tensor, ...], other: tuple[Tensor, ...]) -> bool:
    return len(one) == len(other) and all(
        a.shape == b.shape and (a is b or torch.equal(a, b)) for a, b in zip(one, other, strict=True)
    )


def settled(layer: Layer, constant: bool) -> Layer:
    """Return a layer that has masks: it is fed alone only where they are constant."""
    return layer if constant else replace(layer, alone=False)
