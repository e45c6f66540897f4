"""Trials of who makes a fault where a network applies one module to several views of its input."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from equiscope.inputs import points, sequence
from explorer.equivariance.check import check_equivariance
from explorer.equivariance.trial.calling import alike


class Views(nn.Module):
    """The mean over all quarter turns, each turned back; `shift` moves the results of one turn by a pixel."""

    def __init__(self, shift: int = 0, before: bool = False) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 2, 3, padding=1))
        self.shift, self.before = shift, before

    def forward(self, x: Tensor) -> Tensor:
        found = []
        for k in range(4):
            view = torch.rot90(x, k, (2, 3))
            if k == 1 and self.before:
                view = view.roll(self.shift, 3)
            answer = torch.rot90(self.body(view), -k, (2, 3))
            found.append(answer.roll(self.shift, 3) if k == 1 and not self.before else answer)
        return torch.stack(found).mean(0)


class Both(nn.Module):
    """One recurrent network both ways round; `off` is by how many steps the ways are apart."""

    def __init__(self, off: int, last: bool = False) -> None:
        super().__init__()
        self.way = nn.GRU(2, 3, batch_first=True)
        self.mix = nn.GRU(3, 3, batch_first=True) if last else nn.Linear(3, 3)
        self.off, self.last = off, last

    def forward(self, x: Tensor) -> Tensor:
        h = self.way(x)[0] + self.way(x.flip(1))[0].flip(1).roll(self.off, 1)
        answer: Tensor = self.mix(h)[0] if self.last else self.mix(h)
        return answer


class Forgets(nn.Module):
    """One recurrent network both ways round, of which the answer of the second is not turned back."""

    def __init__(self) -> None:
        super().__init__()
        self.way = nn.GRU(3, 3, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        answer: Tensor = self.way(x)[0] + self.way(x.flip(1))[0]
        return answer


class Framed(nn.Module):
    """Points in the frame of one axis of theirs, whose sign nothing tells."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Linear(3, 4)

    def forward(self, pos: Tensor) -> Tensor:
        c = pos - pos.mean(0)
        frame = torch.linalg.eigh(c.T @ c)[1]
        return torch.tanh(self.net(c @ frame)).sum(0)


class Several(nn.Module):
    """Two answers, of which the second is broken."""

    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Conv2d(1, 2, 3, padding=1, padding_mode="circular")

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        h = nn.functional.avg_pool2d(self.one(x), 2)
        return h, h + torch.arange(h.shape[-1], dtype=h.dtype)


@pytest.fixture
def picture() -> Tensor:
    return torch.randn(2, 1, 16, 16, generator=torch.Generator().manual_seed(0))


def test_the_body_of_an_average_over_turns_is_acquitted(picture: Tensor) -> None:
    torch.manual_seed(0)
    assert check_equivariance(Views(), picture, "C4", details=False).verdict == "holds"
    report = check_equivariance(Views(1), picture, "C4", details=False)
    assert (report.verdict, report.guilty) == ("broken", ("output",))
    assert "the fault first shows in output" in report.text()
    assert any("in the order of other calls: it does not make the fault" in note for note in report.warnings)


def test_a_body_that_is_given_other_views_is_not_acquitted(picture: Tensor) -> None:
    torch.manual_seed(0)
    report = check_equivariance(Views(1, before=True), picture, "C4", details=False)
    assert report.verdict == "broken"
    assert not any("in the order of other calls" in note for note in report.warnings)


@pytest.mark.parametrize(("off", "last", "guilty"), [(1, False, ("mix",)), (0, True, ("mix",)), (0, False, ())])
def test_both_ways_of_a_series_are_acquitted(off: int, last: bool, guilty: tuple[str, ...]) -> None:
    torch.manual_seed(0)
    report = check_equivariance(Both(off, last), sequence(torch.randn(15, 2), "NTC"), "reversal", details=False)
    assert report.guilty == guilty and report.verdict == ("broken" if guilty else "holds")
    made = report["mix"].local
    assert (made is not None and made > 1e-6) == last


def test_nobody_says_that_a_layer_obeys_its_law_alone_that_breaks_it_with_acquitted_parts() -> None:
    torch.manual_seed(0)
    network = nn.Sequential(Both(0), Forgets(), nn.Linear(3, 2))
    report = check_equivariance(network, sequence(torch.randn(15, 2), "NTC"), "reversal", details=False)
    alone = report["1"].local
    assert (report.verdict, report.guilty) == ("broken", ("1",)) and alone is not None and alone > 1e-6
    assert not any("obeys" in note for note in report.warnings)


class Strands(nn.Module):
    """The larger of what is found on a strand of DNA and on the other, which is read without its complement."""

    def __init__(self) -> None:
        super().__init__()
        self.motifs = nn.Conv1d(4, 6, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return torch.maximum(*(self.motifs(v).relu().amax(-1) for v in (x, x.flip(2))))


def test_what_calls_a_shared_module_may_make_the_fault_that_its_calls_show() -> None:
    torch.manual_seed(0)
    network = nn.Sequential(Strands(), nn.Linear(6, 2))
    dna = nn.functional.one_hot(torch.randint(4, (40,)), 4).float()
    report = check_equivariance(network, sequence(dna, "NCT"), "reverse-complement", details=False)
    assert (report.verdict, report.guilty) == ("broken", ("0.motifs", "0.motifs#2"))
    told = "0.motifs is called 2 times within 0: if it is as it should be, 0 makes the fault"
    assert any(told in note for note in report.warnings)


def test_what_a_layer_is_given_is_at_fault_whatever_the_layer_does() -> None:
    torch.manual_seed(0)
    report = check_equivariance(Framed(), points(position=torch.randn(7, 3)), "SE3", details=False)
    assert (report.verdict, report.guilty, report.made) == ("broken", ("net",), False)
    assert "the fault first shows in net" in report.text()
    assert any("code before net makes it" in note for note in report.warnings)


def test_a_law_that_some_samples_keep_is_told(picture: Tensor) -> None:
    class Sorted(nn.Module):
        """The values in the order of their size, and the place of the first: ties are broken by place."""

        def forward(self, x: Tensor) -> Tensor:
            return x.flatten(1).argmax(1, keepdim=True).fmod(7.0).to(x.dtype) * (x.amax((1, 2, 3)) > 5)[:, None]

    far = torch.cat([picture, picture + 10.0])
    report = check_equivariance(Sorted(), far, "translation", details=False)
    assert report.verdict == "broken"
    assert any("breaks its law on 2 of 4 samples" in note for note in report.warnings)


def test_coarser_steps_are_told_only_where_all_outputs_follow(picture: Tensor) -> None:
    report = check_equivariance(Several(), picture, "translation", details=False)
    assert report.verdict == "broken" and not any("the output does follow" in note for note in report.warnings)


def test_coarser_steps_are_told_only_where_unrelated_data_follow_too() -> None:
    class Corner(nn.Module):
        """Each value beside that of a corner."""

        def forward(self, x: Tensor) -> Tensor:
            return x + x[:, :, :1, :1]

    x = torch.rand(2, 1, 32, 32, generator=torch.Generator().manual_seed(0))
    x[:, :, ::4, ::4] = 0.0  # in steps of four the corner is empty
    report = check_equivariance(Corner(), x, "translation", details=False)
    assert report.verdict == "broken" and not any("the output does follow" in note for note in report.warnings)


def test_tensors_are_alike_but_for_rounding() -> None:
    one = torch.tensor([1.0, 2.0], dtype=torch.float64)
    assert alike([one], [one + 1e-15]) and not alike([one], [one + 1e-3]) and not alike([one], [one[None]])
    assert not alike([one, one], [one])
