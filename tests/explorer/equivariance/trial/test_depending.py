"""Trials of where code lies: layers without a fault keep their values, and one after another is changed."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from equiscope import check_equivariance

EDGES = torch.tensor([[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0]])


class Skips(nn.Module):
    """A chain of layers with a skip from the first to the last, and code that leans on the list in one place."""

    def __init__(self, where: str) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.one, self.two, self.three, self.head = (nn.Linear(4, 4) for _ in range(4))
        self.where = where

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        def code(h: Tensor, where: str) -> Tensor:
            return h * torch.linspace(1, 2, len(h), dtype=h.dtype)[:, None] if where == self.where else h

        first = torch.tanh(self.one(code(x, "input")))
        second = torch.tanh(self.two(code(first, "two")))
        third = self.three(second)
        joined = code(third, "chain") + code(first, "skip")
        answer: Tensor = self.head(joined)
        return code(answer, "end")


@pytest.mark.parametrize(
    ("where", "pair"),
    [
        ("input", "the input and one"),
        ("two", "one and two"),
        ("chain", "one, three and head"),  # either way leads to the sum
        ("skip", "one, three and head"),
        ("end", "head and output"),
    ],
)
def test_code_lies_between_the_last_layers_without_a_fault_and_the_first_that_shows_it(where: str, pair: str) -> None:
    report = check_equivariance(Skips(where), (torch.randn(6, 4), EDGES), "permutation", details=False)
    assert report.verdict == "broken"
    (said,) = [note for note in report.warnings if "first shows in" in note]
    assert said.endswith(f"code between {pair}")


class Around(nn.Module):
    """A container, and a layer of unknown field, before code that leans on the list."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.body, self.head = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 4)), nn.Linear(4, 2)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        answer: Tensor = self.head(self.body(x).cumsum(0))
        return answer


def test_a_container_stands_for_what_it_is_made_of() -> None:
    report = check_equivariance(Around(), (torch.randn(6, 4), EDGES), "permutation", details=False)
    (said,) = [note for note in report.warnings if "first shows in" in note]
    assert said.endswith("code between body and head")


class Unknown(nn.Module):
    """Half of the nodes by a layer, whose field no shape tells, and the rest by code."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.one, self.few, self.head = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 2)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.one(x)
        some = self.few(torch.stack([h.cumsum(0)] * 3)[:, :2])  # (3, 2, 4)
        answer: Tensor = self.head(h + some.sum((0, 1)))
        return answer


def test_layers_in_between_without_a_verdict_are_named() -> None:
    report = check_equivariance(Unknown(), (torch.randn(6, 4), EDGES), "permutation", details=False)
    assert report.verdict == "broken"
    assert report.guilty == ("few",) or any("few" in note for note in report.warnings)
