"""Networks that look at so many neighbours or samples of a cloud: how many they need is found by trial."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.app.answering.engine import LocalEngine
from explorer.app.command.audit import audit
from explorer.network.opening.refusals import Unknown
from explorer.network.tracing.layers import LayerError
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


EDGES = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, count=8):
        super().__init__()
        self.count, self.of_edges, self.out = count, nn.Conv2d(6, 8, 1), nn.Linear(8, 4)

    def forward(self, x):  # (batch, 3, points)
        x = x.view(len(x), -1, x.shape[2])
        rows = x.transpose(1, 2)
        near = torch.cdist(rows, rows).topk(self.count, largest=False)[1]
        there = torch.stack([one[index] for one, index in zip(rows, near)]).permute(0, 3, 1, 2)
        here = x[..., None].expand_as(there)
        return self.out(self.of_edges(torch.cat([there - here, here], 1)).relu().amax((2, 3)))
"""


def test_filters_over_edges_are_none_of_images_and_what_it_runs_with_is_told(tmp_path: Path) -> None:
    """As of DGCNN (Wang et al. 2019): a convolution over pairs of points tells of no image."""
    path = tmp_path / "edges.py"
    path.write_text(EDGES)
    engine = LocalEngine({}, trust=True)
    told = r"(?s)layer of_edges raised .*'points signals=position least=8 axes=1CN' \(E3\).*'set channels=3 axes"
    with pytest.raises(Unknown, match=told):
        audit(engine, State(f"{path}:Net"), "", "float64", None, {})
    (report,) = audit(engine, State(f"{path}:Net[set channels=3 axes=1CN]"), "", "float64", None, {})
    assert report.verdict == "holds" and report.group == "permutation"
    with pytest.raises(LayerError, match="it runs on no images of 6"):  # of data that somebody chose
        audit(engine, State(f"{path}:Net", sample="digit-3"), "", "float64", None, {})
