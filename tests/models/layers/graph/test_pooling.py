"""Row N5's common parts: readouts, the choice of the highest scores, and the convolution, against torch_geometric."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.nn import GraphConv as TheirConv
from torch_geometric.nn import global_add_pool, global_max_pool, global_mean_pool
from torch_geometric.nn.pool.select.topk import topk

from explorer.spaces.graph.fields import NODE
from models.layers.graph.pooling import GraphConv, Highest, Readout, ranked
from tests.models.graphs.relabelling import Shuffle, law_errors, simple_graph

BATCH = torch.tensor([0, 0, 2, 1, 1, 2, 0, 1, 1, 2, 2, 2])


@pytest.mark.parametrize(
    ("kind", "theirs"), [("sum", global_add_pool), ("mean", global_mean_pool), ("max", global_max_pool)]
)
def test_readouts_are_theirs(kind, theirs) -> None:
    x = torch.randn(12, 5, dtype=torch.float64)
    torch.testing.assert_close(Readout(kind)(x, BATCH), theirs(x, BATCH), rtol=0, atol=1e-12)
    alive = torch.tensor([1, 1, 0, 1, 0, 1, 1, 1, 1, 0, 1, 1.0], dtype=torch.float64)[:, None]
    kept = alive[:, 0] > 0
    torch.testing.assert_close(Readout(kind)(x, BATCH, alive), theirs(x[kept], BATCH[kept]), rtol=0, atol=1e-12)


def test_of_no_nodes_every_readout_is_zero() -> None:
    for kind in ("sum", "mean", "max"):
        assert Readout(kind)(torch.zeros(0, 3), torch.zeros(0, dtype=torch.int64)).tolist() == [[0.0, 0.0, 0.0]]


def test_the_convolution_is_theirs() -> None:
    x, edge_index = simple_graph(12, 20, 5)
    theirs = TheirConv(5, 7).double()
    ours = GraphConv(5, 7).double()
    ours.load_state_dict(theirs.state_dict())
    torch.testing.assert_close(ours(x, edge_index), theirs(x, edge_index), rtol=0, atol=1e-12)
    doubled = torch.cat([edge_index, edge_index[:, :3]], dim=1)  # an edge that is listed twice counts twice
    torch.testing.assert_close(ours(x, doubled), theirs(x, doubled), rtol=0, atol=1e-12)
    assert max(law_errors(ours, (x, edge_index), Shuffle.drawn(12, 40)).values()) < 1e-9


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(-50, 50)), min_size=1, max_size=30, unique_by=lambda t: t[1]),
    st.sampled_from([0.3, 0.5, 0.8]),
)
def test_without_ties_the_kept_nodes_are_theirs(nodes: list[tuple[int, int]], ratio: float) -> None:
    order = {g: k for k, g in enumerate(sorted({g for g, _ in nodes}))}
    batch = torch.tensor([order[g] for g, _ in nodes])
    score = torch.tensor([float(s) for _, s in nodes], dtype=torch.float64)
    kept = set(topk(score, ratio, batch).tolist())
    for tied in (True, False):
        assert set(Highest(ratio, tied)(score[:, None], batch)[:, 0].nonzero()[:, 0].tolist()) == kept


def test_a_number_of_nodes_to_keep() -> None:
    score = torch.tensor([[0.1], [0.9], [0.5], [0.7]])
    assert Highest(2)(score, torch.zeros(4, dtype=torch.int64))[:, 0].tolist() == [0, 1, 0, 1]
    assert Highest(9)(score, torch.zeros(4, dtype=torch.int64))[:, 0].tolist() == [1, 1, 1, 1]
    alive = torch.tensor([[1.0], [0.0], [1.0], [1.0]])
    assert Highest(2)(score, torch.zeros(4, dtype=torch.int64), alive)[:, 0].tolist() == [0, 0, 1, 1]


def test_ties_for_the_last_place_are_all_kept_and_so_the_law_holds() -> None:
    score = torch.tensor([[3.0], [1.0], [1.0], [1.0], [0.0]], dtype=torch.float64)
    batch = torch.zeros(5, dtype=torch.int64)
    assert Highest(2)(score, batch)[:, 0].tolist() == [1, 1, 1, 1, 0]
    assert Highest(2, tied=False)(score, batch)[:, 0].tolist() == [1, 1, 0, 0, 0]
    shuffle = Shuffle(torch.tensor([0, 3, 2, 1, 4]), torch.arange(0))
    for tied, lawful in ((True, True), (False, False)):
        keep = Highest(2, tied)
        moved = keep(shuffle.act(score, NODE), batch)
        assert torch.equal(moved, shuffle.act(keep(score, batch), NODE)) == lawful


def test_ranks_by_graph() -> None:
    order, first = ranked(torch.tensor([1.0, 5.0, 2.0, 4.0, 3.0]), torch.tensor([1, 0, 1, 0, 1]))
    assert order.tolist() == [1, 3, 4, 2, 0] and first.tolist() == [0, 2]
