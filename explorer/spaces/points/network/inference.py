"""Infer fields on points: a tensor with a row for each point is a field of numbers there, unless a module says more."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from explorer.declare.types.fields import FieldType
from explorer.network.input.inputs import Inputs
from explorer.spaces.graph.fields import Nodes
from explorer.spaces.graph.network.inference import GraphInference
from explorer.spaces.points.fields import Coordinates, Irreps, Particles

SPREAD = 0.25  # of the cloud: by how much the points of unrelated inputs lie elsewhere


class PointsInference(GraphInference):
    """So many points, and so many listed edges between them; points are numbered as nodes of a graph are."""

    def fits(self, field: FieldType, value: Tensor) -> bool:
        if isinstance(field.rep, Irreps | Coordinates) and value[:1].numel() % field.rep.size:
            return False
        return super().fits(field, value)

    def own(self, field: FieldType) -> FieldType:
        field = super().own(field)
        return replace(field, domain=Particles(field.domain.axis)) if type(field.domain) is Nodes else field

    def functional(self, shape: tuple[int, ...]) -> FieldType | None:
        found = super().functional(shape)
        return None if found is None else self.own(found)

    def along(self, axis: int, size: int) -> FieldType | None:
        found = super().along(axis, size)
        return None if found is None else self.own(found)

    def another(self, inputs: Inputs, seed: int) -> Inputs:
        """Return the same edges between points that lie elsewhere, with what was measured at other points."""
        generator = torch.Generator().manual_seed(seed)

        def changed(value: Tensor, field: FieldType) -> Tensor:
            if not isinstance(field.rep, Coordinates | Irreps) or not value.is_floating_point() or not len(value):
                return value
            centre = value.mean(0, keepdim=True)
            size = float((value - centre).norm() / max(1.0, value.numel() ** 0.5)) or float(value.abs().mean()) or 1.0
            drawn = torch.randn(value.shape, generator=generator, dtype=torch.float64).to(value)
            kept = value if isinstance(field.rep, Coordinates) else -value.flip(0)
            return kept + (SPREAD if isinstance(field.rep, Coordinates) else 1.0) * size * drawn

        return super().another(inputs, seed).map(changed)
