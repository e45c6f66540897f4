"""Row N5, SortPool: torch_geometric's SortAggregation, and an answer that no shuffle changes."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.nn import SortAggregation

from models.sort_pool import CARD, SortPool, build
from tests.models.relabelling import Shuffle, law_errors, simple_graph

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
