"""Laws that fail on ties alone are told from faults, and groups that give a verdict where another has none."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from equiscope import check_equivariance, graph, points
from explorer.app.answering.engine import LocalEngine
from explorer.app.command.audit import audit
from explorer.state.state import State


class Chosen(nn.Module):
    """Answer with the members of the highest scores, added up with their weights."""

    def __init__(self, fault: float = 0.0) -> None:
        super().__init__()
        self.score, self.out, self.fault = nn.Linear(2, 1), nn.Linear(3, 2), fault

    def forward(self, x: Tensor) -> Tensor:
        kept = self.score(x[:, :2])[:, 0].topk(3).indices  # the last column has no say in the score
        first = self.fault * torch.arange(len(x), dtype=x.dtype)[kept]
        return self.out(x[kept] + first[:, None]).sum(0)


def members() -> Tensor:
    """Return eight members, of which five have the same score, the highest or not."""
    x = torch.rand(8, 3, generator=torch.Generator().manual_seed(0))
    x[2:7, :2] = x[2, :2].clone()
    return x


def test_a_law_that_fails_on_a_tie_alone_holds_and_is_told() -> None:
    torch.manual_seed(0)
    report = check_equivariance(Chosen(), members(), "permutation", details=False)
    assert report.verdict == "holds"
    assert any("because values tie" in note for note in report.warnings)


def test_a_fault_beside_a_tie_is_still_one() -> None:
    torch.manual_seed(0)
    assert check_equivariance(Chosen(0.1), members(), "permutation", details=False).verdict == "broken"


class Nearest(nn.Module):
    """Moves each point towards its two nearest ones, by how far they are and what they are."""

    def __init__(self, fault: float = 0.0) -> None:
        super().__init__()
        self.kinds, self.weigh, self.fault = nn.Embedding(4, 3), nn.Linear(4, 1), fault

    def forward(self, number: Tensor, position: Tensor) -> Tensor:
        ways = position[None] - position[:, None]
        squares = ways.square().sum(-1) + self.fault * ways[..., 0].square()
        near = squares.topk(3, largest=False).indices[:, 1:]
        ways = ways.gather(1, near[..., None].expand(*near.shape, 3))
        told = torch.cat([self.kinds(number)[near], ways.square().sum(-1, keepdim=True)], -1)
        moved: Tensor = position + (self.weigh(told) * ways).sum(1)
        return moved


@pytest.mark.parametrize(
    ("group", "fault", "verdict"), [("E3", 0.0, "holds"), ("permutation", 0.0, "holds"), ("E3", 0.5, "broken")]
)
def test_places_that_are_as_far_are_a_tie_too(group: str, fault: float, verdict: str) -> None:
    torch.manual_seed(0)
    square = torch.tensor([[1.0, 1, 0], [1, -1, 0], [-1, 1, 0], [-1, -1, 0], [0, 0, 1]])
    given = points(number=torch.tensor([1, 2, 3, 2, 0]), position=square + 0.0)
    report = check_equivariance(Nearest(fault), given, group, details=False)
    assert report.verdict == verdict
    assert any("because values tie" in note for note in report.warnings) == (verdict == "holds")


class Kept(nn.Module):
    """Takes the members of the highest scores into a list of all, whose order the mean forgets."""

    def __init__(self) -> None:
        super().__init__()
        self.score, self.out = nn.Linear(2, 1), nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        kept = torch.zeros_like(x)
        best = self.score(x[:, :2])[:, 0].topk(3).indices
        kept[best] = x[best].mean(0)
        answer: Tensor = self.out(kept).mean(0)
        return answer


def test_ties_that_the_answer_forgets_are_told_and_no_guess_is_called_wrong() -> None:
    x = members()
    x[2:7] = x[2].clone()  # equal members: whichever is taken, the answer is the same
    torch.manual_seed(0)
    report = check_equivariance(Kept(), x, "permutation", details=False)
    assert report.verdict == "holds"
    assert any("because values tie" in note for note in report.warnings)
    assert not any("correct a wrong guess" in note for note in report.warnings)


class Numbered(nn.Module):
    """Tells members apart by a number that is too small to see, before the largest is taken."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.out = nn.Linear(3, 8), nn.Linear(8, 8), nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        found = torch.relu(self.first(x)) + 1e-7 * torch.arange(len(x), dtype=x.dtype)[:, None]
        answer: Tensor = self.out(torch.relu(self.second(found)).amax(0))
        return answer


def test_a_fault_that_is_the_same_beside_ties_is_no_matter_of_them() -> None:
    torch.manual_seed(0)
    report = check_equivariance(Numbered(), torch.eye(3)[[2, 0, 2, 2, 0]], "permutation", details=False)
    assert report.verdict == "broken"
    assert not any("values tie" in note for note in report.warnings)


class Counting(nn.Module):
    """Give another answer from the tenth call on."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.calls = nn.Conv2d(1, 4, 3, padding=1, padding_mode="circular"), 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        late = torch.linspace(0, 1, x.shape[-1], dtype=x.dtype) * (self.calls >= 10)
        return torch.relu(self.conv(x)) + late


def test_what_changes_from_call_to_call_is_no_tie() -> None:
    report = check_equivariance(Counting(), torch.rand(2, 1, 9, 9), "translation", details=False)
    assert report.verdict != "holds"
    assert not any("values tie" in note for note in report.warnings)


TOKENS = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, fault=0):
        super().__init__()
        self.embed, self.enc = nn.Embedding(30, 8), nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.fault = fault

    def forward(self, input_ids):
        h = self.embed(input_ids)
        return self.enc(h + self.fault * torch.linspace(0, 1, h.shape[1], dtype=h.dtype)[:, None])
"""


@pytest.mark.parametrize(("fault", "does"), [(0, "holds"), (1, "is broken")])
def test_where_no_verdict_can_be_given_a_group_that_gives_one_is_named(tmp_path: Path, fault: int, does: str) -> None:
    (tmp_path / "net.py").write_text(TOKENS)
    state = State(f"{tmp_path / 'net.py'}:Net(fault={fault})")
    (report,) = audit(LocalEngine({}, trust=True), state, "shift", "float64", None, {})
    assert report.verdict == "no law"
    assert [h for h in report.hints if "circular-shift" in h and h.endswith(f"there it {does}")]


class OddFirst(nn.Module):
    """Keeps some rows, and doubles the first of an odd number of them."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        kept = x[x[:, 0] > 0]
        weights = torch.ones(len(kept), 1).to(kept)
        if len(kept) % 2:
            weights[0] = 2.0
        return kept * weights, weights


class Keeps(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.pool, self.rows = OddFirst(), nn.Linear(3, 4)

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(self.rows(self.pool(x)[0])).mean(0, keepdim=True)


def test_who_makes_a_fault_is_asked_of_a_sample_that_shows_it() -> None:
    torch.manual_seed(0)
    even, odd = (torch.randn(9, 3).abs() * torch.tensor([1.0] * n + [-1.0] * (9 - n))[:, None] for n in (6, 7))
    report = check_equivariance(Keeps(), [graph(even), graph(odd)], "permutation", details=False)
    assert report.verdict == "broken"
    assert "rows" not in report.guilty
    assert any("may be made in pool" in said for said in report.warnings)
