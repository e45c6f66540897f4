"""GCN and SGC against torch_geometric's layers with the same weights, and the law of permutations."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from models.graphs.message_passing.gcn import CARD, GCN, SGC, GCNLayer, Propagate, build_gcn, build_sgc

CARDS = {card.name: card for card in CARD}
TOLERANCE = {torch.float32: 1e-6, torch.float64: 1e-12}


def graph(nodes: int = 40, edges: int = 150, seed: int = 0) -> Tensor:
    """Return random directed edges with self-loops (one a node at most), double edges and isolated nodes."""
    chance = torch.Generator().manual_seed(seed)
    found = torch.randint(nodes - 3, (2, edges), generator=chance)
    found = found[:, found[0] != found[1]]
    return torch.cat([found, found[:, :10], torch.arange(5).expand(2, -1)], 1)


@torch.no_grad()
def error(model: nn.Module, signals: dict[str, Tensor]) -> float:
    """Return the largest relative error of the law over a few permutations of nodes and of the edge list."""
    plain = model(*signals.values())
    nodes, edges = len(signals["x"]), signals["edge_index"].shape[1]
    worst = 0.0
    for seed in range(4):
        chance = torch.Generator().manual_seed(seed)
        order, shuffle = torch.randperm(nodes, generator=chance), torch.randperm(edges, generator=chance)
        moved = dict(signals, x=torch.empty_like(signals["x"]))
        moved["x"][order] = signals["x"]
        moved["edge_index"] = order[signals["edge_index"]][:, shuffle]
        if "edge_weight" in signals:
            moved["edge_weight"] = signals["edge_weight"][shuffle]
        out = model(*moved.values())
        expected = plain if len(plain) == 1 else torch.empty_like(plain)
        if len(plain) != 1:
            expected[order] = plain
        worst = max(worst, float((out - expected).norm() / expected.norm()))
    return worst


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("weighted", [False, True])
def test_layers_give_the_numbers_of_gcnconv(dtype: torch.dtype, weighted: bool) -> None:
    from torch_geometric.nn import GCNConv

    edge_index = graph()
    weight = (torch.rand(edge_index.shape[1], dtype=dtype),) if weighted else ()
    x = torch.randn(40, 20, dtype=dtype)
    ours, theirs = GCNLayer(20, 24).to(dtype), GCNConv(20, 24).to(dtype)
    nn.init.normal_(ours.bias)
    theirs.load_state_dict({"lin.weight": ours.linear.weight, "bias": ours.bias})
    tolerance = TOLERANCE[dtype]
    torch.testing.assert_close(ours(x, edge_index, *weight), theirs(x, edge_index, *weight), rtol=0, atol=tolerance)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("hops", [1, 3])
def test_sgc_gives_the_numbers_of_sgconv(dtype: torch.dtype, hops: int) -> None:
    from torch_geometric.nn import SGConv

    edge_index, x = graph(), torch.randn(40, 6, dtype=dtype)
    ours, theirs = SGC(hops).to(dtype), SGConv(6, 4, hops).to(dtype)
    theirs.load_state_dict({"lin." + k: v for k, v in ours.linear.state_dict().items()})
    torch.testing.assert_close(ours(x, edge_index), theirs(x, edge_index), rtol=0, atol=TOLERANCE[dtype])


def test_gradients_are_those_of_gcnconv() -> None:
    from torch_geometric.nn import GCNConv

    edge_index, x = graph(), torch.randn(40, 6, dtype=torch.float64, requires_grad=True)
    ours, theirs = GCNLayer(6, 4).double(), GCNConv(6, 4).double()
    theirs.load_state_dict({"lin.weight": ours.linear.weight, "bias": ours.bias})
    probe = torch.randn(40, 4, dtype=torch.float64)
    mine = torch.autograd.grad(ours(x, edge_index), (x, ours.linear.weight), probe)
    peer = torch.autograd.grad(theirs(x, edge_index), (x, theirs.lin.weight), probe)
    torch.testing.assert_close(mine, peer, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("model", [build_gcn(3), build_sgc(4)], ids=["gcn", "sgc"])
def test_the_law_holds(model: nn.Module, weighted: bool) -> None:
    edge_index = graph()
    signals = {"x": torch.randn(40, 6, dtype=torch.float64), "edge_index": edge_index}
    if weighted:
        signals["edge_weight"] = torch.rand(edge_index.shape[1], dtype=torch.float64)
    assert error(model.double(), signals) < 1e-9


def test_coefficients_are_one_over_the_root_of_the_degrees() -> None:
    model, seen = build_gcn(), {}
    for name in ("coefficients", "self_coefficients"):
        tap = model.get_submodule(f"conv1.propagated.{name}")
        tap.register_forward_hook(lambda _, __, value, name=name: seen.update({name: value}))
    path = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    model(torch.randn(4, 6), path)
    torch.testing.assert_close(seen["coefficients"], torch.full((4, 1), 6**-0.5))
    torch.testing.assert_close(seen["self_coefficients"], torch.tensor([[1 / 2], [1 / 3], [1 / 2], [1.0]]))
    first = seen["coefficients"]
    model(torch.randn(4, 6), path)
    assert seen["coefficients"] is first  # shown, not computed


def test_k_hops_reach_k_edges_far() -> None:
    path = torch.stack([torch.arange(6), torch.arange(1, 7)])
    path = torch.cat([path, path.flip(0)], 1)
    x = torch.randn(7, 6, requires_grad=True)
    (moved,) = torch.autograd.grad(build_sgc(3)(x, path)[0].sum(), x)
    assert (moved.abs().sum(1) > 0).tolist() == [True] * 4 + [False] * 3


def test_depth_and_hops_are_what_was_asked_for() -> None:
    for depth in (1, 2, 8):
        model = build_gcn(depth)
        assert isinstance(model, GCN)
        assert sum(isinstance(m, GCNLayer) for m in model.modules()) == depth
        assert model(torch.randn(40, 6), graph()).shape == (40, 4)
    assert sum(isinstance(m, Propagate) for m in build_sgc(5).modules()) == 5


def test_weights_that_are_learned_get_gradients() -> None:
    edge_index = graph()
    weight = torch.ones(edge_index.shape[1], requires_grad=True)
    build_gcn()(torch.randn(40, 6), edge_index, weight).sum().backward()
    assert weight.grad is not None
    loops = edge_index[0] == edge_index[1]
    assert (weight.grad[~loops] != 0).float().mean() > 0.9


@pytest.mark.parametrize("name", CARDS)
def test_no_nodes_and_no_edges(name: str) -> None:
    model = CARDS[name].build()
    none = torch.empty(2, 0, dtype=torch.int64)
    assert model(torch.empty(0, 6), none).shape == (0, 4)
    assert model(torch.randn(3, 6), none, torch.empty(0)).shape == (3, 4)
