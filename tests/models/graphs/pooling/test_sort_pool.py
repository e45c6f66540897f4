"""Row N5, SortPool: torch_geometric's SortAggregation, and an answer that no shuffle changes."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.nn import SortAggregation

from models.graphs.pooling.sort_pool import CARD, SortPool, build
from models.layers.graph.pooling import standing
from tests.models.graphs.relabelling import Shuffle, law_errors, simple_graph

BATCH = torch.tensor([0] * 5 + [1] * 3 + [2] * 4)


@pytest.mark.parametrize("k", [1, 3, 4, 9])
def test_it_is_sort_aggregation(k: int) -> None:
    x = torch.randn(12, 6, dtype=torch.float64)
    theirs = SortAggregation(k)(x, BATCH)
    torch.testing.assert_close(SortPool(k)(x, BATCH).flatten(1), theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("k", [3, 10, 30])
def test_every_layer_obeys_the_law(k: int) -> None:
    x, edge_index = simple_graph(14, 25, 8)
    batch = (torch.arange(14) >= 9).long()
    edge_index = edge_index[:, batch[edge_index[0]] == batch[edge_index[1]]]
    errors = law_errors(build(k).double().eval(), (x, edge_index, batch), Shuffle.drawn(14, edge_index.shape[1], k))
    assert {"sorted", "survivors", "stacked", "conv1.messages", ""} <= errors.keys()
    assert max(errors.values()) < 1e-9, errors


def test_without_sorting_the_law_is_broken() -> None:
    class Unsorted(nn.Module):
        def forward(self, x: Tensor, batch: Tensor) -> Tensor:
            return x[None, :5]

    x, edge_index = simple_graph(14, 25, 8)
    net = build(5).double().eval()
    net.sorted = Unsorted()
    errors = law_errors(net, (x, edge_index, torch.zeros(14, dtype=torch.int64)), Shuffle.drawn(14, 50))
    assert errors["stacked"] < 1e-9 < 1e-3 < errors[""]


def test_survivors_are_the_rows_that_are_kept() -> None:
    x, edge_index = simple_graph(14, 25, 8)
    net = build(5).double().eval()
    seen: dict[str, Tensor] = {}
    for name in ("stacked", "survivors", "sorted"):
        net.get_submodule(name).register_forward_hook(lambda _m, _a, y, name=name: seen.update({name: y}))
    net(x, edge_index, torch.zeros(14, dtype=torch.int64))
    kept = seen["stacked"][seen["survivors"][:, 0] > 0]
    assert sorted(kept[:, -1].tolist(), reverse=True) == seen["sorted"][0, :, -1].tolist()
    assert net.get_submodule("survivors").marks is True


def test_graphs_of_a_batch_are_treated_alone() -> None:
    x, edge_index = simple_graph(9, 14, 8)
    net = build(4).double().eval()
    alone = net(x, edge_index, torch.zeros(9, dtype=torch.int64))
    both = net(torch.cat([x, x]), torch.cat([edge_index, edge_index + 9], 1), torch.arange(18) // 9)
    torch.testing.assert_close(both, alone.expand(2, -1), rtol=0, atol=1e-12)
    assert CARD.groups == ("permutation",)


def test_ties_of_the_last_channel_are_compared_by_the_one_before() -> None:
    # the last channels tie but for rounding; rows 1 and 4 are alike in all of them
    x = torch.tensor([[3.0, 1.0, 0.5], [2.0, 2.0, 0.5], [9.0, 9.0, 0.1], [5.0, 1.0, 0.5], [2.0, 2.0, 0.5]])
    x[:, 2] += torch.tensor([0.0, 1e-7, 0.0, -1e-7, 2e-7])
    batch = torch.zeros(5, dtype=torch.int64)
    for seed in range(5):
        order = torch.randperm(5, generator=torch.Generator().manual_seed(seed))
        rows = SortPool(4)(x[order], batch)[0]
        torch.testing.assert_close(rows[:, :2], torch.tensor([[2.0, 2.0], [2.0, 2.0], [5.0, 1.0], [3.0, 1.0]]))
    assert standing(x, torch.tensor([0, 0, 0, 1, 1])).tolist() == [1, 2, 0, 3, 4]


def test_the_law_holds_where_colours_tie() -> None:
    ring = torch.arange(6)
    edge_index = torch.stack([torch.cat([ring, (ring + 1) % 6]), torch.cat([(ring + 1) % 6, ring])])
    x = torch.zeros(6, 8, dtype=torch.float64)
    x[[0, 1, 3]] = 1.0
    net = build(3).double().eval()
    with torch.no_grad():  # every colour the same, and rows that differ
        net.conv3.lin_rel.weight.zero_()
        net.conv3.lin_root.weight.zero_()
    errors = law_errors(net, (x, edge_index, torch.zeros(6, dtype=torch.int64)), Shuffle.drawn(6, 12, 1))
    assert max(errors.values()) < 1e-9, errors
