"""Row S3, dynamic graphs: the k nearest neighbours of scikit-learn, torch_geometric's EdgeConv, the law with ties."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.neighbors import NearestNeighbors
from torch import Tensor, nn
from torch_geometric.nn import EdgeConv as TheirConv

from explorer.declare.types.fields import PAIR
from models.graphs.sets.dgcnn import DynamicGraphCNN, EdgeConv, NearestNeighbours, build
from tests.models.graphs.relabelling import Shuffle, declared, law_errors

ONE = torch.zeros(40, dtype=torch.int64)
TWO = (torch.arange(40) >= 25).long()


def cloud(seed: int = 0, channels: int = 3) -> Tensor:
    return torch.randn(40, channels, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("k", [1, 4, 12])
def test_the_neighbours_are_those_of_scikit_learn(k: int) -> None:
    x = cloud()
    expected = NearestNeighbors(n_neighbors=k).fit(x.numpy()).kneighbors_graph().toarray()
    if k > 1:  # theirs of the points it was fitted on leave out the point itself
        others = NearestNeighbors(n_neighbors=k - 1).fit(x.numpy()).kneighbors_graph().toarray()
        expected = others + np.eye(40)
    else:
        expected = np.eye(40)
    assert np.array_equal(NearestNeighbours(k)(x, ONE)[0].numpy(), expected)


def test_clouds_of_a_batch_are_not_joined() -> None:
    near = NearestNeighbours(5)(cloud(), TWO)[0]
    assert near[:25, 25:].sum() == near[25:, :25].sum() == 0
    assert near.sum(dim=1).tolist() == [5.0] * 40
    alone = NearestNeighbours(5)(cloud()[25:], ONE[25:])[0]
    assert torch.equal(near[25:, 25:], alone)
    assert NearestNeighbours(30)(cloud(), TWO)[0].sum(dim=1).tolist() == [25.0] * 25 + [15.0] * 15


def test_edge_conv_is_theirs_on_the_same_edges() -> None:
    x = cloud(channels=6)
    ours = EdgeConv(6, 9).double()
    adjacency = (torch.rand(1, 40, 40) < 0.1).double()
    adjacency[0, 7] = 0  # nothing arrives here
    receiver, sender = adjacency[0].nonzero().T
    theirs = TheirConv(nn.Sequential(ours.nn, nn.LeakyReLU(0.2)))
    expected = theirs(x, torch.stack([sender, receiver]))
    assert expected[7].abs().max() == 0
    torch.testing.assert_close(ours(x, adjacency), expected, rtol=0, atol=1e-12)


def test_every_layer_obeys_the_law_and_the_graph_is_inferred_anew() -> None:
    net = build(6).double()
    errors = law_errors(net, (cloud(), TWO), Shuffle.drawn(40, 0))
    assert {"neighbours1", "neighbours2", "edge_conv3", "max", ""} <= errors.keys()
    assert max(errors.values()) < 1e-9, errors
    seen = declared(net, (cloud(), TWO))
    assert all(seen[f"neighbours{k}"][0] == PAIR for k in (1, 2, 3))
    assert not torch.equal(seen["neighbours1"][1], seen["neighbours3"][1])


def grid() -> Tensor:
    return torch.cartesian_prod(*[torch.arange(4.0, dtype=torch.float64)] * 2, torch.zeros(1, dtype=torch.float64)) / 10


def test_on_a_regular_cloud_ties_are_all_taken() -> None:
    x, batch = grid(), torch.zeros(16, dtype=torch.int64)
    near = NearestNeighbours(4)(x, batch)[0]
    inner = 5  # four neighbours at the same distance, three of which are asked for
    assert near[inner].sum() == 5
    for seed in range(5):
        errors = law_errors(DynamicGraphCNN(4).double(), (x, batch), Shuffle.drawn(16, 0, seed))
        assert max(errors.values()) < 1e-9, errors


def test_taking_the_first_of_those_that_tie_breaks_the_law() -> None:
    class FirstListed(NearestNeighbours):
        def forward(self, x: Tensor, batch: Tensor) -> Tensor:
            order = torch.cdist(x, x).argsort(dim=1, stable=True)[:, : self.k]
            return torch.zeros(1, len(x), len(x), dtype=x.dtype).scatter(2, order[None], 1.0)

    net = DynamicGraphCNN(4).double()
    net.neighbours1 = FirstListed(4)
    errors = law_errors(net, (grid(), torch.zeros(16, dtype=torch.int64)), Shuffle.drawn(16, 0, 1))
    assert errors["neighbours1"] == 1.0 and errors["edge_conv1"] > 1e-3


def test_gradients_reach_every_parameter_and_small_sets_work() -> None:
    net = build(6)
    net(cloud().float(), ONE).sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in net.parameters())
    for n in (0, 1, 2):
        assert net(torch.ones(n, 3), ONE[:n]).isfinite().all()
