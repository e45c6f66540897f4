"""Laws that fail only since a network samples more members than there are are told from faults."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn

from equiscope import check_equivariance
from equiscope.inputs import points
from explorer.app.answering.engine import LocalEngine
from explorer.app.command.audit import audit
from explorer.declare.inputs import Inputs
from explorer.network.space import inference_of
from explorer.spaces.graph.fields import NODE
from explorer.state.state import State


def farthest(x: Tensor, count: int) -> Tensor:
    """Return the numbers of points that lie far from each other, the first the farthest from the middle."""
    last = (x - x.mean(0)).square().sum(1).argmax()
    found, far = [], torch.full_like(x[:, 0], 1e10)
    for _ in range(count):
        found.append(last)
        far = torch.minimum(far, (x - x[last]).square().sum(1))
        last = far.argmax()  # where nothing is left, the first of all
    return torch.stack(found)


class Sampling(nn.Module):
    """Hear the neighbours of so many points; the fault: of the first ones, or which number a point has."""

    def __init__(self, count: int = 16, fault: str = "") -> None:
        super().__init__()
        self.count, self.fault = count, fault
        self.inside, self.out = nn.Linear(4, 8), nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        number = torch.arange(len(x), dtype=x.dtype) * (self.fault == "numbers")
        kept = torch.arange(len(x))[: self.count] if self.fault == "first" else farthest(x, self.count)
        near = torch.cdist(x[kept], x).topk(4, largest=False).indices
        rows = torch.cat([x, number[:, None]], 1)[near] - torch.cat([x, x[:, :1] * 0], 1)[kept][:, None]
        answer: Tensor = self.out(torch.relu(self.inside(rows)).amax(1)).mean(0)
        return answer


def cloud(count: int) -> Tensor:
    return torch.randn(count, 3, generator=torch.Generator().manual_seed(1))


def test_a_network_that_samples_more_than_there_are_is_not_accused_and_that_is_told() -> None:
    torch.manual_seed(0)
    report = check_equivariance(Sampling(), cloud(9), "permutation", details=False)
    assert report.verdict == "holds"
    assert any("on the 9 members of the data the law fails" in note for note in report.warnings)


def test_it_is_tried_on_as_many_points_as_it_may_need() -> None:
    torch.manual_seed(0)
    report = check_equivariance(Sampling(100), points(position=cloud(9)), "permutation", details=False)
    assert report.verdict == "holds"
    assert any("tested on these 512" in note for note in report.warnings)


def test_a_fault_is_there_on_more_points_as_well() -> None:
    torch.manual_seed(0)
    report = check_equivariance(Sampling(fault="numbers"), cloud(9), "permutation", details=False)
    assert report.verdict == "broken"


def test_that_the_first_so_many_are_taken_is_told_where_there_are_no_more() -> None:
    torch.manual_seed(0)
    report = check_equivariance(Sampling(fault="first"), cloud(9), "permutation", details=False)
    assert report.verdict == "holds" and report.beyond == 64
    assert any("on 64 that are drawn alike it fails" in note for note in report.warnings)


class Spoken(nn.Module):
    """Groups of members, by a mask; for each group its first member speaks."""

    def __init__(self) -> None:
        super().__init__()
        self.two = nn.Linear(4, 4)

    def forward(self, x: Tensor, belongs: Tensor) -> Tensor:
        return belongs @ torch.relu(self.two(x))[belongs.argmax(0)]


def grouped() -> Inputs:
    belongs = (torch.randn(9, 3, generator=torch.Generator().manual_seed(2)) > 0).float()
    return Inputs((torch.randn(9, 4, generator=torch.Generator().manual_seed(3)), belongs), (NODE, NODE))


def test_who_takes_the_first_of_equal_numbers_finds_several_among_more_members_too() -> None:
    torch.manual_seed(0)
    report = check_equivariance(Spoken(), grouped(), "permutation", details=False)
    assert report.verdict == "broken"


def test_masks_stay_masks_among_more_members_and_no_two_members_are_equal() -> None:
    given = grouped()
    more = inference_of(given).grown(given, 64, 0)
    assert more is not None and more.places == 64
    x, belongs = more.values
    assert belongs.unique().tolist() == [0.0, 1.0] and len(x.unique(dim=0)) == 64
    assert torch.equal(x[:9], given.values[0]) and torch.equal(belongs[:9], given.values[1])
    mask = Inputs(given.values[1:], (NODE,))
    assert inference_of(mask).grown(mask, 64, 0) is None, "copies would be equal"


FIRST = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inside, self.out = nn.Linear(3, 8), nn.Linear(8, 2)

    def forward(self, points):
        kept = points[:, :20]
        return self.out(torch.relu(self.inside(kept)).amax(1))
"""


def test_data_that_nobody_chose_may_be_more(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(FIRST)
    engine = LocalEngine({}, trust=True)
    (report,) = audit(engine, State(f"{tmp_path / 'net.py'}:Net"), "permutation", "float64", None, {})
    assert report.verdict == "broken" and report.guilty == ("inside",)
    (report,) = audit(
        engine, State(f"{tmp_path / 'net.py'}:Net", sample="ethanol-3d"), "permutation", "float64", None, {}
    )
    assert report.verdict == "holds" and report.beyond == 64


def test_on_enough_points_nothing_is_said() -> None:
    torch.manual_seed(0)
    report = check_equivariance(Sampling(), cloud(20), "permutation", details=False)
    assert report.verdict == "holds" and not any("members" in note for note in report.warnings)


class Table(nn.Module):
    """Give each of nine members a number of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.own, self.out = nn.Parameter(torch.randn(9, 3)), nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        answer: Tensor = torch.tanh(self.out(x + self.own))
        return answer


def test_a_network_of_nine_members_alone_is_judged_on_them() -> None:
    torch.manual_seed(0)
    report = check_equivariance(Table(), cloud(9), "permutation", details=False)
    assert report.verdict == "broken" and report.guilty == ("out",)


class Rated(nn.Module):
    """Informer: members of the highest scores hear all others. The fault: the first half of them rates all."""

    def __init__(self, fault: bool) -> None:
        super().__init__()
        self.fault, self.out = fault, nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        scores = x @ x.t()
        raters = scores[:, : len(x) // 2] if self.fault else scores
        best = (raters.amax(1) - raters.mean(1)).topk(3).indices
        kept = x.mean(0).expand(len(x), -1).clone()
        kept[best] = scores[best].softmax(1) @ x
        answer: Tensor = self.out(kept)
        return answer


def test_a_fault_that_one_larger_set_hides_is_no_matter_of_the_number_of_members() -> None:
    """On a set of 512 that are near these, the same ones are the best whoever rates them."""
    torch.manual_seed(0)
    assert check_equivariance(Rated(False), cloud(9), "permutation", details=False).verdict == "holds"
    for seed, count in ((0, 34), (1, 20), (4, 9), (11, 9)):
        x = torch.randn(count, 3, generator=torch.Generator().manual_seed(seed))
        torch.manual_seed(0)
        report = check_equivariance(Rated(True), x, "permutation", details=False)
        assert report.verdict == "broken"
        assert not any("it was tested on these" in note for note in report.warnings)
