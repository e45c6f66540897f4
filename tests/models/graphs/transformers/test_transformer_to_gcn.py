"""Row S4: the steps from a Transformer to a GCN, each against what it claims to be; the last is torch_geometric's."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from explorer.spaces.graph.fields import NODE
from models.graphs.transformers.transformer_to_gcn import (
    CARD,
    GIVEN_ADJACENCY,
    IDENTITY_WEIGHTS,
    NEAR_ZERO,
    NO_RESIDUAL,
    ONE_LINEAR_LAYER,
    POINTWISE_ACTIVATION,
    STEPS,
    Adjacency,
    SteppedLayer,
    TransformerToGCN,
    build,
    properties,
)
from tests.models.graphs.relabelling import Signals, declared, errors, random_graph

C = 16
N = 9


def undirected(seed: int = 0, graphs: int = 1) -> Signals:
    return random_graph(CARD, seed=seed, undirected=True, graphs=graphs)


def layer(step: int) -> SteppedLayer:
    torch.manual_seed(3)
    made = SteppedLayer(step, C).double()
    for module in made.modules():
        if isinstance(module, nn.LayerNorm):
            nn.init.normal_(module.weight, 1, 0.1)
    return made


@pytest.fixture
def h() -> Tensor:
    return torch.randn(N, C, dtype=torch.float64)


ADJACENCY = torch.zeros(1, N, N, dtype=torch.float64)
BATCH = torch.zeros(N, dtype=torch.int64)


def test_the_first_step_is_torchs_encoder_layer_with_one_head(h: Tensor) -> None:
    ours = layer(0)
    torchs = nn.TransformerEncoderLayer(C, 1, 2 * C, dropout=0.0, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        torchs.self_attn.in_proj_weight.copy_(torch.cat([m.weight for m in (ours.query, ours.key, ours.value)]))
        torchs.self_attn.in_proj_bias.copy_(torch.cat([m.bias for m in (ours.query, ours.key, ours.value)]))
    torchs.self_attn.out_proj.load_state_dict(ours.out.state_dict())
    for name in ("linear1", "linear2", "norm1", "norm2"):
        getattr(torchs, name).load_state_dict(getattr(ours, name).state_dict())
    torch.testing.assert_close(ours(h, ADJACENCY, BATCH), torchs(h[None])[0], rtol=0, atol=1e-12)


def test_identity_weights_are_the_first_step_with_identities_and_scaled_dot_product_attention(h: Tensor) -> None:
    full, simple = layer(0), layer(IDENTITY_WEIGHTS)
    for module in (full.query, full.key, full.value, full.out):
        nn.init.eye_(module.weight)
        nn.init.zeros_(module.bias)
    torch.testing.assert_close(simple(h, ADJACENCY, BATCH), full(h, ADJACENCY, BATCH), rtol=0, atol=1e-12)
    z = nn.functional.scaled_dot_product_attention(h[None], h[None], h[None])[0]
    matrix = simple.infer(h, ADJACENCY, BATCH)
    torch.testing.assert_close(matrix[0] @ h, z, rtol=0, atol=1e-12)


@torch.no_grad()
def test_where_a_layer_is_large_its_residual_does_not_matter() -> None:
    torch.manual_seed(0)
    x, f = torch.randn(N, C, dtype=torch.float64), torch.randn(N, C, dtype=torch.float64)
    norm = nn.LayerNorm(C, eps=0.0, dtype=torch.float64)

    def gap(size: float) -> float:
        return float((norm(x + size * f) - norm(f)).norm() / norm(f).norm())

    gaps = [gap(10.0**k) for k in range(1, 5)]
    assert gaps[0] < 0.3
    np.testing.assert_allclose(np.array(gaps[:-1]) / gaps[1:], 10, rtol=0.2)  # it falls as 1 / size


@torch.no_grad()
def test_each_further_step_is_the_formula_of_the_page(h: Tensor) -> None:
    steps = [layer(k) for k in range(len(STEPS))]
    w1, w2, w = steps[0].linear1, steps[0].linear2, steps[0].linear
    soft = (h @ h.T / math.sqrt(C)).softmax(-1)
    pointwise = (h @ h.T / math.sqrt(C)).clamp(min=0)
    given = torch.rand(1, N, N, dtype=torch.float64)
    expected = {
        NO_RESIDUAL: w2(w1(soft @ h).relu()),
        ONE_LINEAR_LAYER: w(soft @ h).relu(),
        POINTWISE_ACTIVATION: w(pointwise @ h).relu(),
        GIVEN_ADJACENCY: w(given[0] @ h).relu(),
    }
    for step, value in expected.items():
        torch.testing.assert_close(steps[step](h, given, BATCH), value, rtol=0, atol=1e-12)


@torch.no_grad()
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("both_ways", [False, True])
def test_the_last_step_is_torch_geometrics_gcn(seed: int, both_ways: bool) -> None:
    from torch_geometric.nn import GCNConv

    graph = random_graph(CARD, seed=seed, undirected=both_ways)  # with loops, parallel edges and isolated nodes
    x, edge_index, batch = graph.values()
    ours = build(GIVEN_ADJACENCY).double()
    h = ours.embed(x)
    for own in ours.layers:
        assert isinstance(own, SteppedLayer)
        conv = GCNConv(own.linear.in_features, own.linear.out_features).double()
        conv.lin.weight.copy_(own.linear.weight)
        conv.bias.copy_(own.linear.bias)
        h = conv(h, edge_index).relu()
    torch.testing.assert_close(ours(x, edge_index, batch), ours.classifier(h), rtol=0, atol=1e-12)


def test_the_adjacency_is_to_and_from() -> None:
    a = Adjacency()(torch.zeros(3, 1, dtype=torch.float64), torch.tensor([[0, 0], [1, 2]]))[0]
    half, root = 0.5, math.sqrt(0.5)  # 0 hears itself alone; 1 and 2 hear 0 and themselves
    torch.testing.assert_close(a, torch.tensor([[1, 0, 0], [root, half, 0], [root, 0, half]], dtype=torch.float64))


def measured(step: int, graph: Signals) -> list[dict[str, float]]:
    values = declared(build(step).double(), graph)
    return [
        dict(zip(("change", "square", "sparse", "asymmetry"), values[f"layers.{k}.properties"][1][0].tolist()))
        for k in range(2)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_the_four_properties_change_where_the_text_says(seed: int) -> None:
    graph = undirected(seed)
    for step in range(len(STEPS)):
        for found in measured(step, graph):
            assert found["square"] == 1
            assert (found["change"] == 0) == (step == GIVEN_ADJACENCY), STEPS[step]  # static
            if step < POINTWISE_ACTIVATION:
                assert found["asymmetry"] > 1e-4, STEPS[step]
            else:
                assert found["asymmetry"] < 1e-12, STEPS[step]  # symmetric
    given, pointwise = measured(GIVEN_ADJACENCY, graph)[0], measured(POINTWISE_ACTIVATION, graph)[0]
    dense = declared(build(GIVEN_ADJACENCY).double(), graph)["layers.0.matrix"][1]
    assert given["sparse"] == pytest.approx(float((dense == 0).double().mean())) and given["sparse"] > 0.3
    assert pointwise["change"] == pytest.approx(3)  # relu((2h)(2h)^T) is four times relu(h h^T)


def test_properties_of_matrices_whose_answer_is_known() -> None:
    a = torch.tensor([[0.0, 3.0], [4.0, 0.0]])
    change, square, sparse, asymmetry = properties(a, 2 * a).tolist()
    assert (change, square, sparse) == (1, 1, 0.5)
    assert asymmetry == pytest.approx(math.sqrt(2) / 5)
    b = torch.tensor([[1.0, NEAR_ZERO * 0.9, NEAR_ZERO * 1.1]])
    assert properties(b, b).tolist() == [0, 0, pytest.approx(1 / 3), math.inf]
    zero = torch.zeros(1, 3, 3)
    assert properties(zero, zero).tolist() == [0, 1, 1, 0]
    assert properties(zero, zero + 1).tolist() == [math.inf, 1, 1, 0]
    assert properties(zero[:, :0, :0], zero[:, :0, :0]).tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("step", range(len(STEPS)))
def test_the_permutation_law_holds_at_every_step(step: int) -> None:
    for seed in range(2):
        found = errors(build(step).double(), undirected(seed, graphs=2), NODE, seed)
        assert max(found.values()) < 1e-9, found
        assert {"adjacency", "layers.0.matrix", "layers.1.properties"} <= found.keys()


@torch.no_grad()
def test_graphs_of_a_batch_do_not_see_each_other_at_any_step() -> None:
    graph = undirected(5, graphs=2)
    other = graph["batch"] == 1
    changed = {**graph, "x": torch.where(other[:, None], graph["x"] + 1, graph["x"])}
    for step in range(len(STEPS)):
        net = build(step).double()
        first, second = net(*graph.values()), net(*changed.values())
        torch.testing.assert_close(first[~other], second[~other], rtol=0, atol=1e-12)
        assert not torch.allclose(first[other], second[other])


def test_one_set_of_weights_serves_every_step() -> None:
    nets = [build(step) for step in range(len(STEPS))]
    assert isinstance(nets[0], TransformerToGCN)
    assert sum(p.numel() for p in nets[0].parameters()) <= 30_000
    for net in nets[1:]:
        for name, value in net.state_dict().items():
            assert torch.equal(value, nets[0].state_dict()[name]), name


@pytest.mark.parametrize("step", range(len(STEPS)))
@pytest.mark.parametrize("nodes", [0, 1])
def test_an_empty_graph_and_a_single_node(step: int, nodes: int) -> None:
    edges, batch = torch.zeros(2, 0, dtype=torch.int64), torch.zeros(nodes, dtype=torch.int64)
    out = build(step)(torch.ones(nodes, 6), edges, batch)
    assert out.shape == (nodes, 4) and torch.isfinite(out).all()
