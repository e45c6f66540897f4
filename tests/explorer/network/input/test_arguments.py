"""Arguments given by name or in any order: they reach the network as they were meant, and move with their fields."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from explorer.equivariance.check import check_equivariance
from explorer.network.input.arguments import named
from explorer.network.input.inputs import called
from explorer.spaces.graph.fields import EDGE, NODE
from explorer.spaces.graph.network.inputs import graph_inputs, named_graph, ordered_graph
from explorer.spaces.graph.network.nodes_or_edges import settled

X, INDEX = torch.rand(5, 3), torch.tensor([[0, 1, 2, 4, 3, 2], [1, 2, 0, 3, 4, 4]])


class ByKeyword(nn.Module):
    def forward(self, *, feats: Tensor, links: Tensor, scale: float = 1.0) -> Tensor:
        return scale * feats.index_add(0, links[1], feats[links[0]])


class OfMapping(nn.Module):
    def forward(self, batch: Any) -> Tensor:
        x: Tensor = batch["feats"]
        return x.index_add(0, batch["links"][1], x[batch["links"][0]]) * batch["scale"]


@pytest.mark.parametrize("network", [ByKeyword(), OfMapping()])
def test_a_mapping_reaches_the_network_with_all_that_is_in_it(network: nn.Module) -> None:
    data = {"links": INDEX, "feats": X, "scale": 2.0}
    found = named(data, network)
    assert found is not None and tuple(found.tensors) == ("links", "feats") and found.what == "a dict of links, feats"
    order, made = named_graph(found.tensors) or ((), None)
    assert order == ("feats", "links") and made is not None and made.names == ("x", "edge_index")
    expected = 2 * X.index_add(0, INDEX[1], X[INDEX[0]])
    assert torch.equal(found.call(network, order, made.values), expected)
    assert check_equivariance(network, data, "permutation").verdict == "holds"


def test_data_of_torch_geometric_is_passed_as_data() -> None:
    data = pytest.importorskip("torch_geometric.data").Data(x=X, edge_index=INDEX, y=torch.tensor([1]))

    class OfData(nn.Module):
        def __init__(self, fault: bool) -> None:
            super().__init__()
            self.fault = fault

        def forward(self, data: Any) -> Tensor:
            x: Tensor = data.x.index_add(0, data.edge_index[1], data.x[data.edge_index[0]])
            return x[: data.num_nodes - 1].sum(0) if self.fault else x.sum(0)

    assert check_equivariance(OfData(False), data, "permutation").verdict == "holds"
    assert check_equivariance(OfData(True), data, "permutation").verdict == "broken"
    assert torch.equal(data.x, X) and torch.equal(data.edge_index, INDEX)


def test_the_nodes_come_first_wherever_they_stand_in_the_call() -> None:
    class IndexFirst(nn.Module):
        def forward(self, links: Tensor, x: Tensor) -> Tensor:
            return x.index_add(0, links[1], x[links[0]])

    made = ordered_graph([INDEX, X])
    assert made.x is X and torch.equal(called(IndexFirst(), made), IndexFirst()(INDEX, X))


def test_as_many_edges_as_nodes_are_told_apart_by_trial() -> None:
    class Places(nn.Module):
        def forward(self, x: Tensor, links: Tensor, at: Tensor) -> Tensor:
            return x.index_add(0, links[1], at[links[0]] - at[links[1]])

    class Weights(nn.Module):
        def forward(self, x: Tensor, links: Tensor, w: Tensor) -> Tensor:
            return x.index_add(0, links[1], w * x[links[0]])

    class Ignored(nn.Module):
        def forward(self, x: Tensor, links: Tensor, w: Tensor) -> Tensor:
            return x

    ring = torch.stack([torch.arange(6), (torch.arange(6) + 1) % 6])
    made = graph_inputs([torch.rand(6, 3), ring, torch.rand(6, 3)])
    assert settled(made, Places()).fields[2] == NODE and settled(made, Weights()).fields[2] == EDGE
    with pytest.raises(ValueError, match="the network runs either way; say which"):
        settled(made, Ignored())
