"""Refusals of one argument are not asked for again beside everything that the others could be."""

from __future__ import annotations

from itertools import product
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from explorer.network.input.refusals import Refusals
from explorer.spaces.sequence.network.several import proposed_sequences


class Three(nn.Module):
    """Takes values of width 5, values of width 7 and anything; counts how often it is called."""

    calls: ClassVar[int] = 0  # of it and of all copies

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.wide = nn.Linear(5, 9), nn.Linear(7, 9), nn.Linear(9, 11)
        self.deep = nn.Linear(11, 13)

    def forward(self, left: Tensor, right: Tensor, rest: Tensor) -> Tensor:
        Three.calls += 1
        found: Tensor = self.deep(self.wide(self.first(left) + self.second(right))) * rest.mean()
        return found


def test_a_refusal_is_about_the_arguments_that_were_looked_at() -> None:
    network, refusals, asked = Three(), Refusals(), []

    def call(made: nn.Module, given: tuple[Tensor, ...]) -> Any:
        return made(*given)

    runs = []
    for widths in product((3, 5, 7), repeat=3):
        if refusals.know(widths):
            continue
        asked.append(widths)
        try:
            refusals.heard(call, widths)(network, tuple(torch.rand(4, width) for width in widths))
        except RuntimeError:
            continue
        runs.append(widths)
    assert runs == [(5, 7, 3), (5, 7, 5), (5, 7, 7)], "nothing that runs is taken for refused"
    # 3 beside anything, 5 beside 3 and 5, what runs, and 7
    assert asked == [(3, 3, 3), (5, 3, 3), (5, 5, 3), *runs, (7, 3, 3)]


def test_a_network_of_three_arguments_is_not_called_a_thousand_times() -> None:
    network, Three.calls = Three(), 0
    assert dict(proposed_sequences(network, ("left", "right", "rest")))["left"] == (5,)
    assert Three.calls < 200
