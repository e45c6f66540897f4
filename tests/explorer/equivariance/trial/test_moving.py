"""Trials of how elements move what layers are given: numbers of nodes, one vector of the whole, places of one's own."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from equiscope import check_equivariance, points

EDGES = torch.tensor([[0, 1, 2, 3, 4, 5, 2], [1, 2, 3, 4, 5, 0, 5]])


class Ends(nn.Module):
    """A layer that is given where edges come from and where they lead, each by itself."""

    def __init__(self, fault: bool) -> None:
        super().__init__()
        self.lin, self.fault = nn.Linear(4, 4), fault

    def forward(self, h: Tensor, source: Tensor, target: Tensor) -> Tensor:
        m = torch.tanh(self.lin(h))[source]
        return h + torch.zeros_like(h).index_add(0, target, m.cumsum(0) if self.fault else m)


class OfEnds(nn.Module):
    def __init__(self, fault: bool) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.enter, self.one, self.two = nn.Linear(3, 4), Ends(False), Ends(fault)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        source, target = edge_index
        answer: Tensor = self.two(self.one(self.enter(x), source, target), source, target)
        return answer


@pytest.mark.parametrize("fault", [False, True])
def test_numbers_of_nodes_that_a_layer_is_given_are_renumbered(fault: bool) -> None:
    report = check_equivariance(OfEnds(fault), (torch.randn(6, 3), EDGES), "permutation", details=False)
    assert (report.verdict, report.guilty) == (("broken", ("two",)) if fault else ("holds", ()))
    if fault:
        assert report["one"].local is not None and report["one"].local < 1e-12


class Whole(nn.Module):
    """A number, and one vector or pseudo-vector of the whole cloud; a fault adds to its first component."""

    def __init__(self, cross: bool, fault: bool) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.lin, self.cross, self.fault = nn.Linear(1, 2), cross, fault

    def forward(self, pos: Tensor) -> tuple[Tensor, Tensor]:
        r = pos - pos.mean(0)
        w = torch.tanh(self.lin(r.square().sum(1, keepdim=True)))
        sums = (w[:, :, None] * r[:, None]).sum(0)
        arrow = torch.linalg.cross(sums[0], sums[1]) if self.cross else sums[0]
        bent = arrow + torch.tensor([0.1, 0, 0], dtype=pos.dtype) if self.fault else arrow
        return w.sum(), bent


@pytest.mark.parametrize("fault", [False, True])
@pytest.mark.parametrize("cross", [False, True])
def test_a_vector_of_the_whole_without_an_axis_of_wholes_turns(cross: bool, fault: bool) -> None:
    report = check_equivariance(Whole(cross, fault), points(position=torch.randn(7, 3)), "E3", details=False)
    assert report.verdict == ("broken" if fault else "holds")


class Rings(nn.Module):
    """Reads an image on circles, so that a turn rolls the angles."""

    def __init__(self) -> None:
        super().__init__()
        t = torch.arange(16, dtype=torch.float64) / 16 * 2 * torch.pi
        r = torch.tensor([0.2, 0.5, 0.8], dtype=torch.float64)
        self.register_buffer("at", torch.stack([r[:, None] * t.cos(), r[:, None] * t.sin()], -1)[None])

    def forward(self, x: Tensor) -> Tensor:
        return F.grid_sample(x, self.at.to(x).expand(len(x), -1, -1, -1), align_corners=True)


class Circled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.rings, self.conv, self.head = Rings(), nn.Conv2d(1, 4, (1, 3)), nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.relu(self.conv(F.pad(self.rings(x), (1, 1))))  # zeros in place of the angles beyond
        answer: Tensor = self.head(h.amax((2, 3)))
        return answer


def test_what_holds_places_of_its_own_is_not_convicted_by_its_shape() -> None:
    report = check_equivariance(Circled(), torch.randn(3, 1, 13, 13), "C4", details=False)
    assert report.verdict == "broken" and "rings" not in report.guilty
    assert any(note.startswith("an element puts the numbers of rings into another order") for note in report.warnings)


class Overheard(nn.Module):
    """Reads words, and a mask of the first ones, by place: neither are numbers of nodes."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.lookup, self.mask = nn.Linear(3, 8), nn.Embedding(100, 8), Masking()

    def forward(self, x: Tensor) -> Tensor:
        at = torch.arange(len(x))
        answer: Tensor = self.mask(self.embed(x), at >= len(x) - 2) + self.lookup(90 + at % 10)
        return answer


class Masking(nn.Module):
    def forward(self, x: Tensor, left_out: Tensor) -> Tensor:
        return x.masked_fill(left_out[:, None], 0.0)


def test_masks_and_numbers_of_words_are_no_numbers_of_nodes() -> None:
    x = torch.randn(9, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert check_equivariance(Overheard().double(), x, "permutation", details=False).verdict == "broken"
