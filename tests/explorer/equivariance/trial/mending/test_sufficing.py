"""Trials of which layers make a fault: two whose faults cancel do not, nor what only has a wrong field."""

from __future__ import annotations

import copy

import torch
from torch import nn

from equiscope.inputs import sequence
from explorer.equivariance.check import check_equivariance


class Ramp(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.linspace(1, 1.1, x.shape[1], dtype=x.dtype)[:, None]


class Palindromes(nn.Module):
    """Reads both ways with one network: alone it breaks the law of reversal, twice it does not."""

    def __init__(self, ramp: bool, other: bool = False) -> None:
        super().__init__()
        self.first = Ramp() if ramp else nn.Identity()
        self.there = nn.GRU(2, 3, batch_first=True)
        self.back = nn.GRU(2, 3, batch_first=True) if other else self.there

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.first(x)
        answer: torch.Tensor = self.there(x)[0] + self.back(x.flip(1))[0].flip(1)
        return answer


class Mixing(nn.Module):
    """A dense layer over rows of a picture, whose field nothing tells."""

    def __init__(self, dense: bool) -> None:
        super().__init__()
        self.enter = nn.Conv2d(1, 4, 3, padding=1, padding_mode="circular")
        self.rows = nn.Linear(8, 8) if dense else nn.Conv1d(4, 4, 3, padding=1, padding_mode="circular")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.enter(x)
        answer: torch.Tensor = h + self.rows(h.mean(-1))[..., None]
        return answer


def told(*, ramp: bool, other: bool = False) -> tuple[str, set[str]]:
    torch.manual_seed(0)
    x = sequence(torch.randn(15, 2), "NTC")
    report = check_equivariance(Palindromes(ramp, other), x, "reversal", details=False)
    return report.verdict, {name.partition("#")[0] for name in report.guilty}


class Cancelling(nn.Module):
    """The difference of two recurrent networks that are one: under a delay each starts otherwise, both alike."""

    def __init__(self, ramp: bool) -> None:
        super().__init__()
        self.first = Ramp() if ramp else nn.Identity()
        self.one = nn.GRU(2, 2, batch_first=True)
        self.other = copy.deepcopy(self.one)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        answer: torch.Tensor = self.first(x) + self.one(x)[0] - self.other(x)[0]
        return answer


def test_the_trial_is_made_under_elements_that_cut_off_too() -> None:
    torch.manual_seed(0)
    x = sequence(torch.randn(15, 2), "NTC")
    assert check_equivariance(Cancelling(False), x, "shift", details=False).verdict == "holds"
    report = check_equivariance(Cancelling(True), x, "shift", details=False)
    assert (report.verdict, report.guilty) == ("broken", ("first",))


def test_layers_whose_faults_cancel_are_not_blamed_for_that_of_another() -> None:
    assert told(ramp=False) == ("holds", set())
    assert told(ramp=True) == ("broken", {"first"})


def test_layers_whose_faults_do_not_cancel_are_blamed() -> None:
    assert told(ramp=False, other=True) == ("broken", {"there", "back"})


def test_a_layer_of_unknown_field_is_blamed_where_exchanging_its_slices_mends_the_network() -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 1, 8, 8)
    assert check_equivariance(Mixing(False), x, "translation", details=False).holds
    report = check_equivariance(Mixing(True), x, "translation", details=False)
    assert (report.verdict, report.guilty) == ("broken", ("rows",))
    assert any("as a trial shows" in said for said in report.warnings)
