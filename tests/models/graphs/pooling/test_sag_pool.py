"""Row N5, SAGPool: torch_geometric's SAGPooling with the same weights, its sign quirk; with and without ties."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch_geometric.nn import SAGPooling

from models.graphs.pooling.sag_pool import Score, build
from models.layers.graph.pooling import Highest
from tests.models.graphs.relabelling import Shuffle, law_errors, simple_graph

BATCH = torch.tensor([0] * 7 + [1] * 8)


def ours_of(theirs: SAGPooling) -> Score:
    score = Score(theirs.in_channels).double()
    score.gnn.load_state_dict(theirs.gnn.state_dict())
    score.weight.data.copy_(theirs.select.weight)
    return score


@pytest.mark.parametrize("sign", [1.7, -0.3])
@pytest.mark.parametrize("ratio", [0.3, 0.5, 0.8])
def test_scores_survivors_and_values_are_theirs(ratio: float, sign: float) -> None:
    x, edge_index = simple_graph(15, 30, 6)
    edge_index = edge_index[:, BATCH[edge_index[0]] == BATCH[edge_index[1]]]
    theirs = SAGPooling(6, ratio=ratio).double()
    theirs.select.weight.data.fill_(sign)
    expected, _, _, _, kept, weight = theirs(x, edge_index, batch=BATCH)
    gate = ours_of(theirs)(x, edge_index)
    alive = Highest(ratio)(gate, BATCH)
    assert set(alive[:, 0].nonzero()[:, 0].tolist()) == set(kept.tolist())
    torch.testing.assert_close(gate[kept, 0], weight, rtol=0, atol=1e-12)
    torch.testing.assert_close((x * gate * alive)[kept], expected, rtol=0, atol=1e-12)


def test_a_negative_weight_keeps_the_lowest() -> None:
    x, edge_index = simple_graph(15, 30, 6)
    score = Score(6).double()
    up = score(x, edge_index)
    score.weight.data.fill_(-5.0)
    torch.testing.assert_close(score(x, edge_index), -up, rtol=0, atol=1e-12)


def test_two_blocks_are_theirs_on_the_smaller_graphs() -> None:
    """Rows of zeros in place of dropped nodes: the numbers of the others are those of the smaller graph."""
    x, edge_index = simple_graph(15, 35, 8)
    batch = torch.zeros(15, dtype=torch.int64)
    net = build(0.5).double().eval()
    seen: dict[str, Tensor] = {}
    for name in ("pooled1", "pooled2", "survivors2"):
        net.get_submodule(name).register_forward_hook(lambda _m, _a, y, name=name: seen.update({name: y}))
    net(x, edge_index, batch)

    nodes = torch.arange(15)
    h, edges = x, edge_index
    for block in (1, 2):
        h = net.get_submodule(f"conv{block}")(h, edges).relu()
        theirs = SAGPooling(24, ratio=0.5).double()
        theirs.gnn.load_state_dict(net.get_submodule(f"score{block}.gnn").state_dict())
        theirs.select.weight.data.fill_(1.0)
        h, edges, _, _, kept, _ = theirs(h, edges)
        nodes = nodes[kept]
        torch.testing.assert_close(seen[f"pooled{block}"][nodes], h, rtol=0, atol=1e-10)
    assert set(seen["survivors2"][:, 0].nonzero()[:, 0].tolist()) == set(nodes.tolist())


@pytest.mark.parametrize("ratio", [0.25, 0.5, 0.9])
def test_every_layer_obeys_the_law(ratio: float) -> None:
    x, edge_index = simple_graph(15, 30, 8)
    edge_index = edge_index[:, BATCH[edge_index[0]] == BATCH[edge_index[1]]]
    shuffle = Shuffle.drawn(15, edge_index.shape[1], 3)
    errors = law_errors(build(ratio).double().eval(), (x, edge_index, BATCH), shuffle)
    assert {"score1", "survivors1", "pooled2", "readout", ""} <= errors.keys()
    assert max(errors.values()) < 1e-9, errors


@pytest.mark.parametrize(("ties", "lawful"), [(0, True), (1, False)])
def test_atoms_that_look_alike(ties: int, lawful: bool) -> None:
    """A ring with a tail and equal features: mirror images tie, and taking the first listed breaks the law."""
    ring = [(k, (k + 1) % 6) for k in range(6)] + [(0, 6), (6, 7)]
    edge_index = torch.tensor(ring).T
    edge_index = torch.cat([edge_index, edge_index.flip(0)], dim=1)
    x = torch.ones(8, 8, dtype=torch.float64)
    batch = torch.zeros(8, dtype=torch.int64)
    worst = 0.0
    for seed in range(6):
        torch.manual_seed(seed)
        net = build(0.5, ties).double().eval()
        worst = max(worst, *law_errors(net, (x, edge_index, batch), Shuffle.drawn(8, 16, seed)).values())
    assert worst < 1e-9 if lawful else worst > 1e-3
