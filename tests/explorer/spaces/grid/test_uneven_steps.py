"""Maps and tokens of images whose sides are no multiple of the strides: how far apart their places lie."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from explorer.declare.types.fields import FieldType
from explorer.network.tracing.trace import trace
from explorer.spaces.grid.fields import Grid, Tokens, grid
from explorer.spaces.sequence.fields import Steps


class Stages(nn.Module):
    """Patches that overlap, and layers on tokens between them, as of SegFormer."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(1, 8, 7, 4, 3), nn.Conv2d(8, 12, 3, 2, 1)
        self.third = nn.Conv2d(12, 12, 3, 2, 1)
        self.norms = nn.ModuleList([nn.LayerNorm(8), nn.LayerNorm(12), nn.LayerNorm(12)])
        self.inner = nn.Conv2d(12, 12, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        for stage, norm in zip((self.first, self.second, self.third), self.norms, strict=True):
            x = stage(x)
            tokens = norm(x.flatten(2).transpose(1, 2))
            x = tokens.transpose(1, 2).reshape(x.shape)
        return self.inner(x)


@pytest.mark.parametrize("sides", [(58, 87), (58, 50), (29, 29), (64, 64), (116, 87)])
def test_strides_tell_how_far_apart_places_are(sides: tuple[int, int]) -> None:
    torch.manual_seed(0)
    found = trace(Stages().eval(), torch.rand(1, 1, *sides), grid())
    steps = {"first": 4.0, "second": 8.0, "third": 16.0, "inner": 16.0}
    for name, step in steps.items():
        field = found[name].field
        assert field is not None and field.domain == Grid(step), (name, field)
    for k, step in enumerate((4.0, 8.0, 16.0)):
        field, size = found[f"norms.{k}"].field, tuple(found[("first", "second", "third")[k]].shape[-2:])
        assert field is not None and isinstance(field.domain, Tokens), (k, field)
        assert (field.domain.spacing, field.domain.size) == (step, size)


def test_a_kernel_longer_than_its_stride_leaves_steps_as_far_apart_as_the_stride() -> None:
    field = trace(nn.Sequential(nn.Conv1d(3, 4, 16, 10)), torch.rand(1, 3, 128), FieldType(Steps(2)))["0"].field
    assert field is not None and field.domain == Steps(2, 10.0)
