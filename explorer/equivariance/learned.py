"""An action nobody declared: fitted on one half of the pairs, judged on the other half. Learned, never verified.

When a layer's representation is unknown, the best linear action on its channels after the places have moved is
F(rho(g) x) ~ M (g . F(x)), with M (channels x channels) by ridge regression over samples and places. A small
residual on pairs that were not fitted says that *some* linear action explains the layer; it is a finding about
these data, not a law.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.declare.elements import Element
from explorer.declare.types.fields import FieldType
from explorer.equivariance import measure
from explorer.network.tracing.layers import Layer


@dataclass(frozen=True, slots=True)
class LearnedAction:
    """A linear action fitted on pairs.

    Attributes:
        matrix: (channels, channels), float64.
        residual: ||F(rho(g) x) - M g.F(x)|| / ||F(rho(g) x)|| on pairs that were not fitted.
        fitted: the same on the pairs that were.
        pairs: how many (vector, vector) pairs each half had; with fewer than channels the fit means nothing.
    """

    matrix: Tensor
    residual: float
    fitted: float
    pairs: int


def learn_action(
    element: Element, layer: Layer, values: Tensor, answers: Tensor, ridge: float = 1e-6, seed: int = 0
) -> LearnedAction | None:
    """Fit M on half of the pairs and return it with its residual on the other half; None where nothing can be fitted.

    Args:
        values, answers: h(x) and h(rho(g) x), (batch, channels, ...); whole samples are held out when there are
            several, else half of the places.
        ridge: relative to the mean variance of the regressors.
    """
    if layer.field is None or values.shape != answers.shape:
        return None
    moved_field = FieldType(layer.field.domain)
    moved = element.act(values, moved_field)
    if moved.shape != answers.shape:
        return None
    where = measure.mask(element, values, moved_field, layer.sees)
    before, after = _vectors(moved, layer.field, where), _vectors(answers, layer.field, where)
    samples, places, channels = before.shape
    if samples * places < 4:
        return None
    if samples > 1:
        train = torch.arange(samples, device=before.device) % 2 == 0
        halves = [(before[k].flatten(0, 1), after[k].flatten(0, 1)) for k in (train, ~train)]
    else:
        order = torch.randperm(places, generator=torch.Generator().manual_seed(seed), device="cpu").to(before.device)
        parts = order[: places // 2], order[places // 2 :]
        halves = [(before[0, k], after[0, k]) for k in parts]
    (x, y), (x_held, y_held) = halves
    gram = x.t() @ x
    weight = ridge * float(gram.diagonal().mean()) + torch.finfo(gram.dtype).tiny
    matrix = torch.linalg.solve(
        gram + weight * torch.eye(channels, dtype=gram.dtype, device=gram.device), x.t() @ y
    ).t()
    return LearnedAction(matrix, _residual(matrix, x_held, y_held), _residual(matrix, x, y), len(x))


def _vectors(values: Tensor, field: FieldType, where: measure.Mask) -> Tensor:
    """Return (batch, places, channels) in float64, only the places that are compared."""
    v = field.domain.spread(values.double())
    v = v.flatten(2) if v.ndim > 2 else v[..., None]
    if where.places is not None and v.shape[2] == where.places.numel():
        v = v[:, :, where.places.flatten() > 0]
    return v.transpose(1, 2)


def _residual(matrix: Tensor, x: Tensor, y: Tensor) -> float:
    size = float(y.norm())
    return float((y - x @ matrix.t()).norm()) / size if size else math.nan
