"""Edges between several sets of nodes: given in tuples and dicts, moved set by set, written as fields."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from equiscope import check_equivariance
from equiscope.fields import EDGE_INDEX, NodeIndex
from explorer.declare.inputs import Inputs
from explorer.declare.types.field_text import parse_field
from explorer.spaces.graph.elements.relabelling import Relabelling, Word
from explorer.spaces.graph.fields import BETWEEN, GRAPH, NODE_INPUT


def ends(first: int, second: int, count: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.stack([torch.randint(n, (count,), generator=generator) for n in (first, second)])


class Numbered(nn.Module):
    """Adds to each row a multiple of its number."""

    def forward(self, x: Tensor) -> Tensor:
        return x + 0.1 * torch.arange(len(x)).to(x)[:, None]


class Kinds(nn.Module):
    """Users and items by their names, edges both ways: what a network on several kinds of nodes is called with."""

    def __init__(self, faulty: bool = False) -> None:
        super().__init__()
        self.user, self.item = nn.Linear(5, 4), nn.Linear(3, 4)
        self.last = Numbered() if faulty else nn.Identity()

    def forward(self, x_dict: dict[str, Tensor], edge_index_dict: dict[Any, Tensor]) -> dict[str, Tensor]:
        h = {"user": self.user(x_dict["user"]), "item": self.item(x_dict["item"])}
        out = dict(h)
        for (source, _, target), (i, j) in edge_index_dict.items():
            out[target] = out[target].index_add(0, j, h[source][i])
        return {"user": out["user"], "item": self.last(out["item"])}


@pytest.mark.parametrize("faulty", [False, True])
def test_nodes_and_edges_of_several_kinds_may_be_given_in_dicts(faulty: bool) -> None:
    x = {"user": torch.randn(9, 5), "item": torch.randn(6, 3)}
    edges = {("user", "buys", "item"): ends(9, 6, 20), ("item", "bought by", "user"): ends(6, 9, 11)}
    report = check_equivariance(Kinds(faulty), (x, edges), "permutation", details=False)
    assert report.verdict == ("broken" if faulty else "holds")
    assert report.guilty == (("last",) if faulty else ())
    assert any("x_dict[user], then x_dict[item] is moved" in said for said in report.warnings)


def test_each_end_of_edges_between_two_sets_is_renumbered_with_its_own_set() -> None:
    edges = torch.tensor([[0, 1, 2], [4, 3, 4]])
    here = Inputs(
        (torch.randn(3, 2), edges, torch.randn(5, 2)), (NODE_INPUT, BETWEEN, GRAPH), ("x", "between", "other")
    )
    moved = here.moved(Relabelling((Word("swap", (0, 2)),)).on(here))
    assert moved.values[1].tolist() == [[2, 1, 0], [4, 3, 4]]
    assert torch.equal(moved.values[2], here.values[2])


def test_edges_between_two_sets_are_written_and_read() -> None:
    for field in (EDGE_INDEX, BETWEEN, type(BETWEEN)(BETWEEN.domain, NodeIndex(1))):
        assert parse_field(str(field)) == field
    assert str(BETWEEN) == "edge index from"


def test_what_joins_nothing_that_is_known_is_refused_as_before() -> None:
    class Takes(nn.Module):
        def forward(self, x: Tensor, other: Tensor, edge_index: Tensor) -> Tensor:
            return x.sum(0) + other.sum()  # which rows the edges number nothing tells

    with pytest.raises(ValueError, match="fits neither 9 nodes nor 20 edges"):
        check_equivariance(Takes(), (torch.randn(9, 4), torch.randn(7, 4), ends(9, 7, 20)), "permutation")
