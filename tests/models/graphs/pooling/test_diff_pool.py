"""Row N5, DiffPool: torch_geometric's dense_diff_pool with the same assignment, and clusters that no shuffle moves."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.nn import dense_diff_pool
from torch_geometric.utils import to_dense_adj, to_dense_batch

from models.graphs.pooling.diff_pool import CoarseAdjacency, CoarseFeatures, EntropyLoss, LinkLoss, build
from tests.models.graphs.relabelling import Shuffle, law_errors, simple_graph

BATCH = torch.tensor([0] * 6 + [1] * 9)


def two_graphs() -> tuple[Tensor, Tensor]:
    x, edge_index = simple_graph(15, 40, 8)
    return x, edge_index[:, BATCH[edge_index[0]] == BATCH[edge_index[1]]]


def test_features_adjacency_and_losses_are_theirs() -> None:
    z, edge_index = two_graphs()
    edge_index = edge_index[:, ::2]  # not symmetric any more: to and from differ
    logits = torch.randn(15, 4, dtype=torch.float64)
    dense, mask = to_dense_batch(z, BATCH)
    rows, _ = to_dense_batch(logits, BATCH)
    adjacency = to_dense_adj(edge_index.flip(0), BATCH).double()  # (to, from)
    features, coarse, link, entropy = dense_diff_pool(dense, adjacency, rows, mask)
    assignment = logits.softmax(dim=1)
    for ours, theirs in (
        (CoarseFeatures()(assignment, z, BATCH), features),
        (CoarseAdjacency()(assignment, edge_index, BATCH), coarse),
        (LinkLoss()(assignment, edge_index, BATCH)[0, 0], link),
        (EntropyLoss()(assignment, BATCH)[0, 0], entropy),
    ):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)


def test_every_layer_obeys_the_law() -> None:
    x, edge_index = two_graphs()
    shuffle = Shuffle.drawn(15, edge_index.shape[1], 5)
    errors = law_errors(build(4).double().eval(), (x, edge_index, BATCH), shuffle)
    assert {"assignment", "cluster", "coarse_adjacency", "link_loss", "entropy_loss", ""} <= errors.keys()
    assert max(errors.values()) < 1e-9, errors


def test_an_assignment_by_position_breaks_the_law() -> None:
    class ByPosition(nn.Module):
        def forward(self, logits: Tensor) -> Tensor:
            place = torch.arange(len(logits)) * logits.shape[1] // len(logits)
            return torch.eye(logits.shape[1], dtype=logits.dtype)[place]

    x, edge_index = two_graphs()
    net = build(4).double().eval()
    net.assignment = ByPosition()
    errors = law_errors(net, (x, edge_index, BATCH), Shuffle.drawn(15, edge_index.shape[1], 5))
    assert errors["embed"] < 1e-9
    assert errors["coarse_features"] > 1e-3 and errors[""] > 1e-6


def test_two_cliques_and_their_own_assignment_have_no_loss() -> None:
    pairs = [(a, b) for block in (range(3), range(3, 6)) for a in block for b in block]
    edge_index = torch.tensor(pairs).T
    batch = torch.zeros(6, dtype=torch.int64)
    assignment = torch.eye(2, dtype=torch.float64).repeat_interleave(3, 0)
    assert LinkLoss()(assignment, edge_index, batch).item() < 1e-12
    assert EntropyLoss()(assignment, batch).item() < 1e-12
    assert CoarseAdjacency()(assignment, edge_index, batch)[0].tolist() == [[9.0, 0.0], [0.0, 9.0]]
