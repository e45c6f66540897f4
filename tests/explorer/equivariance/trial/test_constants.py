"""Constants carry no signal: the -1e9 of masked scores hides no fault of the others, and accuses nobody."""

from __future__ import annotations

import copy
from functools import partial

import pytest
import torch
from torch import Tensor, nn

from explorer.data.finding import find_sample, fitted
from explorer.declare.elements import chain_element, parse_chain
from explorer.equivariance import measure
from explorer.equivariance.check import check_equivariance
from explorer.spaces.graph.network.form import GraphInput
from explorer.spaces.grid.fields import grid
from explorer.square.evaluate import refine, square
from explorer.square.frame import Square
from explorer.square.judging import judged
from explorer.square.preparing.prepare import DTYPES, prepare
from explorer.state.state import State
from tests.explorer.parts.small_cards import card

LOWEST = 0.0  # stands for that of the precision of the run


class Actions(nn.Module):
    """Scores of all pairs of nodes, those without an edge masked; they are the answer, as of a policy over moves.

    Args:
        fault: what the number of a node adds to the scores.
        added: the mask is added, and not filled in.
    """

    def __init__(self, fill: float, fault: float = 0.0, added: bool = False) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.query, self.key = nn.Linear(34, 8), nn.Linear(34, 8)
        self.fill, self.fault, self.added = fill, fault, added

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        scores = self.query(x) @ self.key(x).T + self.fault * torch.arange(len(x), dtype=x.dtype)
        apart = torch.ones(len(x), len(x), dtype=torch.bool)
        apart[edge_index[0], edge_index[1]] = False
        fill = self.fill or torch.finfo(x.dtype).min
        return scores + fill * apart.to(x.dtype) if self.added else scores.masked_fill(apart, fill)


WAYS = [(-1e9, False), (-1e15, False), (LOWEST, False), (-1e9, True), (-1e15, True)]


def club() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    ends = torch.randint(0, 34, (2, 78), generator=generator)
    return torch.randn(34, 34, generator=generator), torch.cat([ends, ends.flip(0)], dim=1)


@pytest.mark.parametrize(("fill", "added"), WAYS)
def test_a_mask_hides_no_fault_of_the_scores(fill: float, added: bool) -> None:
    sound = check_equivariance(Actions(fill, added=added), club(), "permutation")
    assert sound.verdict == "holds"
    row = sound.layers[-1]
    assert row.chance is not None and row.chance > 0.1  # that of the scores, not of the mask
    broken = check_equivariance(Actions(fill, 1e-5, added), club(), "permutation")
    assert broken.verdict == "broken"
    assert broken.layers[-1].share is not None and broken.layers[-1].share > 1e-5


def test_a_mask_at_other_places_or_of_another_size_is_a_fault() -> None:
    class Placed(Actions):
        """Masks what is behind a node in the order of numbers, by more the farther it is."""

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            scores, at = self.query(x) @ self.key(x).T, torch.arange(len(x))
            return scores.masked_fill(at[:, None] < at[None], self.fill)

    class Sized(Actions):
        """Masks what has no edge, by more the larger its number is."""

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            scores = super().forward(x, edge_index)
            return torch.where(scores < -1e3, scores * (1 + torch.arange(len(x))), scores)

    for network in (Placed(-1e9), Sized(-1e9)):
        assert check_equivariance(network, club(), "permutation").verdict == "broken"


def test_rounding_beside_a_constant_is_no_signal() -> None:
    class Cancels(nn.Module):
        """Returns a constant and, beside it, what rounding leaves of sums that cancel."""

        def forward(self, x: Tensor) -> Tensor:
            mean, other = x.mean((-2, -1)), x.transpose(-2, -1).flip(-1).mean((-2, -1))
            return torch.cat([torch.full_like(mean, 5.0), mean - other], dim=1)

    image = torch.rand(2, 1, 9, 9, generator=torch.Generator().manual_seed(0))
    found = check_equivariance(Cancels(), image, "D4")
    assert found.verdict == "no law" and not any(row.seen for row in found.layers)  # nothing but a constant is there


def test_the_distance_is_the_worse_one_of_both() -> None:
    field = grid()
    one = torch.tensor([[[[1e9, 0.5]]]])
    apart = partial(measure.apart, where=measure.EVERYWHERE, field=field, most=1.0)
    assert float(apart(one, one)) == 0
    assert float(apart(one, torch.tensor([[[[1e9, 0.6]]]]))) == pytest.approx(0.2, rel=1e-3)
    assert float(apart(one, torch.tensor([[[[3e9, 0.5]]]]))) == pytest.approx(2.0, rel=1e-3)
    large = torch.tensor([[[[torch.finfo(torch.float32).min, 0.5]]]])
    found = measure.distance(large, large * torch.tensor([1.0, 0.8]), measure.EVERYWHERE, field, 1.0)
    assert float(found.relative) == pytest.approx(0.2, rel=1e-3) and float(found.max_abs) < 0.11


def shown(model: nn.Module, dtype: str) -> Square:
    """Return the square of a graph network with every layer measured, as the window shows it."""
    made = card("net", lambda: model, input=GraphInput(channels=34))
    sample = fitted(find_sample("karate"), made.input)
    p = prepare(
        made, copy.deepcopy(model).eval(), sample, device=torch.device("cpu"), dtype=DTYPES[dtype], declared=False
    )
    state = State(steps=parse_chain("permute:1"))
    found, answers = square(p, state)
    for measures in refine(p, state, answers, found.measures):
        found = judged(p, found, measures, chain_element(state.steps).on(p.inputs))
    return found


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("fill", [-1e9, LOWEST])
def test_the_window_sees_what_an_audit_does(fill: float, dtype: str) -> None:
    assert shown(Actions(fill), dtype).verdict == "holds"
    broken = shown(Actions(fill, 1e-2), dtype)
    assert broken.verdict == "broken" and any((m.cumulative or 0) > 1e-4 for m in broken.measures.values())
