"""Infer fields of coefficients by their number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import INVARIANT, FieldType
from explorer.network.space import Inference
from explorer.spaces.sphere.fields import Coefficients


class SphereInference(Inference):
    """Coefficients (batch, channel, coefficients) and what networks make of them."""

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs

    def fits(self, field: FieldType, value: Tensor) -> bool:
        if isinstance(field.domain, Coefficients):
            return value.ndim == 3 and value.shape[2] == field.domain.count
        return field.invariant and value.ndim in (1, 2)

    def infer(
        self, module: nn.Module, in_field: FieldType | None, shape_in: tuple[int, ...], shape: tuple[int, ...]
    ) -> FieldType | None:
        if isinstance(declared := getattr(module, "out_field", None), FieldType):
            return declared
        if len(shape) != 3:
            return self.functional(shape)
        if in_field is not None and isinstance(in_field.domain, Coefficients) and shape[2] == in_field.domain.count:
            return replace(in_field, guessed=True)
        degree = math.isqrt(shape[2]) - 1
        return FieldType(Coefficients(degree), guessed=True) if (degree + 1) ** 2 == shape[2] else None

    def ways(self, field: FieldType, shape: tuple[int, ...], told: Sequence[FieldType]) -> Sequence[FieldType]:
        """Return numbers that nothing turns, where as many coefficients as a degree has are not those of the input."""
        return () if field.invariant or field.domain == self.inputs.field.domain else [INVARIANT]

    def functional(self, shape: tuple[int, ...]) -> FieldType | None:
        return INVARIANT.guess() if 1 <= len(shape) <= 2 else None

    def another(self, inputs: Inputs, seed: int) -> Inputs:
        # coefficients drawn anew, as large in every degree as those that are there
        generator = torch.Generator().manual_seed(seed)
        x = inputs.x
        drawn = torch.randn(x.shape, generator=generator, device="cpu", dtype=torch.float64).to(x)
        domain = inputs.field.domain
        assert isinstance(domain, Coefficients)
        sizes = [block.flatten(-2).norm(dim=-1, keepdim=True) for block in domain.blocks(x)]
        news = [block.flatten(-2) for block in domain.blocks(drawn)]
        made = [n * s / n.norm(dim=-1, keepdim=True).clamp_min(1e-12) for n, s in zip(news, sizes, strict=True)]
        return inputs.with_x(torch.cat(made, -1))

    def size(self, inputs: Inputs) -> tuple[int, int]:
        return (inputs.x.shape[-1], 1)
