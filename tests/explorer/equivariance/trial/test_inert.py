"""Of an answer that is the same for all data nothing can be told; what is made of edges alone has a law."""

from __future__ import annotations

import copy
from functools import partial

import pytest
import torch
from torch import Tensor, nn

from explorer.data.finding import find_sample, fitted
from explorer.declare.elements import chain_element, parse_chain
from explorer.equivariance.check import assert_equivariant, check_equivariance
from explorer.network.input.inputs import inputs_from
from explorer.spaces.graph.network.form import GraphInput
from explorer.spaces.grid.network.form import InputSpec
from explorer.square.evaluate import refine, square
from explorer.square.frame import Square
from explorer.square.judging import judged
from explorer.square.preparing.prepare import prepare
from explorer.state.state import State
from tests.explorer.parts.networks import GlobalMean, conv
from tests.explorer.parts.small_cards import card

SHAPE, TOLD = (1, 29, 29), "whether it keeps the law cannot be told"


class Untrained(nn.Module):
    """A faulty filter before a head whose weights are zero, as some are before a training; or nearly so."""

    def __init__(self, weight: float = 0.0, offset: float = 0.0) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.mean, self.head = conv(1, 4, fault=True), GlobalMean(), nn.Linear(4, 3)
        with torch.no_grad():
            self.head.weight.mul_(weight)
            self.head.bias.add_(offset)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.mean(self.conv(x).relu()))  # type: ignore[no-any-return]


class Count(nn.Module):
    """The sum of squared degrees: of the edges alone."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return x.new_zeros(len(x)).index_add(0, edge_index[1], x.new_ones(edge_index.shape[1])).square().sum()[None]


class Degrees(nn.Module):
    """The degree of each node: of the edges alone, and moved with them."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return x.new_zeros(len(x), 1).index_add(0, edge_index[1], x.new_ones(edge_index.shape[1], 1))


class Ones(nn.Module):
    """The same number at all nodes of all graphs."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return torch.ones_like(x[:, :1])


class Both(Ones):
    """A constant beside what has a law."""

    def forward(self, x: Tensor, edge_index: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        return x * 2, super().forward(x, edge_index)


def graph() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    return torch.rand(6, 3, generator=generator), torch.randint(0, 6, (2, 11), generator=generator)


def images() -> Tensor:
    return inputs_from(find_sample("digit-3"), InputSpec(SHAPE), torch.device("cpu"), torch.float64).x


@pytest.mark.parametrize("made", [Untrained, partial(Untrained, 1e-14), partial(Untrained, 1.0, 1e14)])
def test_a_constant_answer_has_no_verdict_and_layers_within_have(made: partial[Untrained]) -> None:
    found = check_equivariance(made(), images(), "C4")
    assert found.verdict == "no law" and any(TOLD in note for note in found.warnings)
    assert found["head"].verdict == "no law" and found["conv"].verdict == "broken"
    assert any("conv" in note for note in found.warnings)
    with pytest.raises(AssertionError, match="no law could be tested"):
        assert_equivariant(made(), images(), "C4")


def test_a_small_share_of_a_large_answer_is_judged() -> None:
    found = check_equivariance(Untrained(1e-6), images(), "C4")
    assert found.verdict == "broken" and found.guilty == ("conv",)


@pytest.mark.parametrize("network", [Count(), Degrees()])
def test_what_is_made_of_edges_alone_has_a_law(network: nn.Module) -> None:
    assert check_equivariance(network, graph(), "permutation").verdict == "holds"


def test_a_constant_at_all_nodes_has_none_and_another_answer_beside_it_has() -> None:
    assert check_equivariance(Ones(), graph(), "permutation").verdict == "no law"
    found = check_equivariance(Both(), graph(), "permutation")
    assert found.verdict == "holds" and any(TOLD in note for note in found.warnings)


def shown(model: nn.Module, form: InputSpec | GraphInput, sample: str, steps: str) -> Square:
    """Return the square of a network with every layer measured, as the window shows it."""
    made = card("net", lambda: model, input=form)
    p = prepare(
        made, copy.deepcopy(model).eval(), fitted(find_sample(sample), form), device=torch.device("cpu"),
        dtype=torch.float32, declared=False,
    )  # fmt: skip
    state = State(steps=parse_chain(steps))
    found, answers = square(p, state)
    for measures in refine(p, state, answers, found.measures):
        found = judged(p, found, measures, chain_element(state.steps).on(p.inputs))
    return found


def test_the_window_gives_no_verdict_and_says_why() -> None:
    found = shown(Untrained(), InputSpec(SHAPE), "digit-3", "rotate:90")
    assert found.verdict == "no law" and TOLD in found.message and found.brief
    assert found.measures["head"].verdict == "no law" and found.measures["conv"].verdict == "broken"
    assert shown(Ones(), GraphInput(channels=3), "karate", "permute:1").verdict == "no law"
    assert shown(Count(), GraphInput(channels=3), "karate", "permute:1").verdict == "holds"
    assert shown(Degrees(), GraphInput(channels=3), "karate", "permute:1").verdict == "holds"
