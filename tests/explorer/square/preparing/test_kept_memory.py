"""Layers that give each answer in the memory of the one before, as code does that saves allocations."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from explorer.data.finding import find_sample
from explorer.declare.elements import chain_element, parse_chain
from explorer.spaces.grid.network.form import InputSpec
from explorer.square.evaluate import refine, square
from explorer.square.judging import judged
from explorer.square.preparing.prepare import Prepared, prepare
from explorer.state.state import State
from tests.explorer.parts.networks import Kept
from tests.explorer.parts.small_cards import card


class Placed(nn.Module):
    """Give a parameter as it is."""

    def __init__(self) -> None:
        super().__init__()
        self.places = nn.Parameter(torch.ones(1, 2, 29, 29))

    def forward(self, x: Tensor) -> Tensor:
        return self.places


def made(*layers: nn.Module) -> Prepared:
    network = nn.Sequential(*layers).eval()
    given = card("net", lambda: network, input=InputSpec((1, None, None)))
    return prepare(given, network, find_sample("digit-3"), device=torch.device("cpu"), dtype=torch.float32)


def figures(p: Prepared) -> dict[str, tuple[float, float | None]]:
    state = State(steps=parse_chain("rotate:90"))
    found, answers = square(p, state)
    for measures in refine(p, state, answers, found.measures):
        found = judged(p, found, measures, chain_element(state.steps).on(p.inputs))
    return {name: (m.cumulative, m.local) for name, m in found.measures.items()}


@pytest.mark.parametrize("behind", [0, 1])
def test_an_answer_in_the_memory_of_the_one_before_is_not_compared_with_itself(behind: int) -> None:
    torch.manual_seed(0)
    first, last = nn.Conv2d(1, 2, 3, padding=1), [nn.Conv2d(2, 2, 1)][:behind]
    plain = figures(made(first, nn.Identity(), *last))
    found = figures(made(first, Kept(), *last))
    assert plain["1"][0] > 0.1
    assert found == {name: pytest.approx(values) for name, values in plain.items()}


def test_a_parameter_that_is_given_as_it_is_costs_no_copies() -> None:
    assert not made(nn.Conv2d(1, 2, 1), Placed()).trace.clones
    assert made(nn.Conv2d(1, 2, 1), Kept()).trace.clones
