"""Networks that look at so many neighbours or samples of a cloud: how many they need is found by trial."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.app.answering.engine import LocalEngine
from explorer.spaces.points.network.form import PointsInput
from explorer.state.state import State

NEAREST = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, count=20):
        super().__init__()
        self.count, self.one, self.out = count, nn.Conv1d(3, 8, 1), nn.Linear(8, 4)

    def forward(self, xyz):  # (batch, 3, points)
        x = xyz.transpose(1, 2)
        near = torch.cdist(x, x).topk(self.count, largest=False)[1]
        around = x[0][near[0]].mean(1)[None]
        return self.out(self.one((x - around).transpose(1, 2)).relu().amax(2))
"""


@pytest.mark.parametrize(
    ("count", "least", "sample"), [(20, 20, "chair-3d"), (40, 40, "chair-3d"), (3, None, "ethanol-3d")]
)
def test_the_smallest_number_of_points_is_found_by_trial(
    count: int, least: int | None, sample: str, tmp_path: Path
) -> None:
    path = tmp_path / "nearest.py"
    path.write_text(NEAREST)
    card = LocalEngine({}, trust=True).card(f"{path}:Net({count})")
    assert card.input == PointsInput(None, ("position",), axes="1CN", least=least) and card.sample == sample


def test_fewer_points_are_refused_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "nearest.py"
    path.write_text(NEAREST)
    engine = LocalEngine({}, trust=True)
    with pytest.raises(ValueError, match="has 9 points, and this network needs at least 20"):
        engine.answer(State(f"{path}:Net", sample="ethanol-3d", device="cpu"), lambda: False)
    assert engine.answer(State(f"{path}:Net", sample="chair-3d", device="cpu"), lambda: False).squares
