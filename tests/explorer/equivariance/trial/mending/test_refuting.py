"""Guesses that trials refute: given what their field types ask for, a network errs far more than it does."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from equiscope import check_equivariance


class Means(nn.Module):
    """The mean of vectors to the others, mixed with numbers that stand still, by a matrix that nothing tells."""

    def __init__(self, squeezed: float = 1.0) -> None:
        super().__init__()
        self.squeezed = squeezed
        self.mix = nn.Parameter(torch.linalg.qr(torch.randn(6, 6))[0])

    def forward(self, pos: Tensor) -> Tensor:
        way = pos[:, None] - pos[None]
        near = torch.exp(-(way * pos.new_tensor([1.0, 1.0, self.squeezed])).pow(2).sum(-1, keepdim=True))
        vector = (way * near).sum(1)
        return torch.cat([vector, near.sum(1), near.pow(2).sum(1), near.pow(3).sum(1)], 1) @ self.mix.to(pos)


class Read(nn.Module):
    """Lengths of hidden vectors along the way to the centre."""

    def __init__(self, squeezed: float = 1.0) -> None:
        super().__init__()
        self.means, self.head = Means(squeezed), nn.Linear(4, 2)

    def forward(self, pos: Tensor) -> Tensor:
        hidden = torch.linalg.solve(self.means.mix.to(pos), self.means(pos), left=False)
        along = (hidden[:, :3] * (pos - pos.mean(0))).sum(1, keepdim=True)
        answer: Tensor = self.head(torch.cat([along, hidden[:, 3:]], 1)).sum(0)
        return answer


def test_a_layer_that_is_no_map_of_scalars_is_not_accused_for_being_none() -> None:
    torch.manual_seed(0)
    x = torch.randn(10, 3)
    sound = check_equivariance(Read(), x, "SO3")
    assert sound.verdict == "holds"
    report = check_equivariance(Read(1.001), x, "SO3")
    assert report.verdict == "broken" and "head" not in report.guilty
    assert report["means"].field == "unknown"
    assert any("means" in note and "is not of the field type" in note for note in report.warnings), report.text()
