"""Row S2: our encoder is torch's with the same weights, and the encoding decides whether the permutation law holds."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from explorer.spaces.graph.fields import NODE
from models.graphs.transformers.graph_transformer import CARD, EncoderLayer, SelfAttention, build
from models.layers.graph.positions import ENCODINGS, determined
from tests.models.graphs.relabelling import declared, double, errors, random_graph

NAMES = tuple(ENCODINGS)


def give_weights(ours: SelfAttention, torchs: nn.MultiheadAttention) -> None:
    """Copy torch's weights, which are packed, into ours."""
    with torch.no_grad():
        parts = zip(torchs.in_proj_weight.chunk(3), torchs.in_proj_bias.normal_().chunk(3))
        for layer, (weight, bias) in zip((ours.query, ours.key, ours.value), parts):
            layer.weight.copy_(weight)
            layer.bias.copy_(bias)
        ours.out.load_state_dict(torchs.out_proj.state_dict())


@pytest.mark.parametrize("heads", [1, 4])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-6), (torch.float64, 1e-12)])
def test_attention_is_torchs(heads: int, dtype: torch.dtype, tolerance: float) -> None:
    torch.manual_seed(0)
    ours, torchs = SelfAttention(16, heads).to(dtype), nn.MultiheadAttention(16, heads, batch_first=True).to(dtype)
    give_weights(ours, torchs)
    x, batch = torch.randn(9, 16, dtype=dtype), torch.zeros(9, dtype=torch.int64)
    expected, weights = torchs(x[None], x[None], x[None], average_attn_weights=False)
    torch.testing.assert_close(ours(x, batch), expected[0], rtol=0, atol=tolerance)
    attention = ours.attention(ours.logits(ours.query(x), ours.key(x)), batch)
    torch.testing.assert_close(attention, weights[0], rtol=0, atol=tolerance)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 2e-6), (torch.float64, 1e-12)])
def test_a_layer_is_torchs(dtype: torch.dtype, tolerance: float) -> None:
    torch.manual_seed(1)
    ours = EncoderLayer(16, 4, 40).to(dtype)
    torchs = nn.TransformerEncoderLayer(16, 4, 40, dropout=0.0, batch_first=True).to(dtype)
    give_weights(ours.self_attention, torchs.self_attn)
    for name in ("linear1", "linear2", "norm1", "norm2"):
        getattr(ours, name).load_state_dict(getattr(torchs, name).state_dict())
    x = torch.randn(9, 16, dtype=dtype)
    found = ours(x, torch.zeros(9, dtype=torch.int64))
    torch.testing.assert_close(found, torchs(x[None])[0], rtol=0, atol=tolerance)


def net_with(encoding: str) -> nn.Module:
    return double(CARD, {"encoding": NAMES.index(encoding)})


@torch.no_grad()
def test_graphs_of_a_batch_do_not_see_each_other() -> None:
    graph, net = random_graph(CARD, graphs=3, nodes=24), net_with("random walk")
    together, batch = net(*graph.values()), graph["batch"]
    for g in range(3):
        mine = batch == g
        within = graph["edge_index"][:, mine[graph["edge_index"][0]]] - int(mine.nonzero()[0])
        alone = net(graph["x"][mine], within, batch[mine] * 0)
        torch.testing.assert_close(together[mine], alone, rtol=0, atol=1e-12)
    attention = declared(net, graph)["layers.0.self_attention.attention"][1]
    assert (attention[:, batch[:, None] != batch] == 0).all() and attention.shape == (4, 24, 24)
    torch.testing.assert_close(attention.sum(-1), torch.ones(4, 24, dtype=torch.float64), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["none", "random walk"])
@pytest.mark.parametrize("seed", range(3))
def test_the_permutation_law_holds_at_every_layer(name: str, seed: int) -> None:
    found = errors(net_with(name), random_graph(CARD, graphs=2, seed=seed), NODE, seed)
    assert max(found.values()) < 1e-9, found
    assert sum(layer.endswith(("logits", ".attention")) for layer in found) == 4  # two layers, both pair fields


def test_with_laplacian_eigenvectors_it_holds_on_graphs_that_determine_them() -> None:
    judged = 0
    for seed in range(8):
        graph = random_graph(CARD, edges=30, seed=seed, undirected=True)
        graph["edge_index"] = torch.cat([graph["edge_index"], torch.tensor([[10, 1], [1, 10]])], 1)
        worst = max(errors(net_with("Laplacian"), graph, NODE, seed).values())
        if determined(graph["edge_index"].numpy(), 11, 8).all():
            assert worst < 1e-9
            judged += 1
    assert judged >= 4


def test_the_number_of_a_node_breaks_the_law_from_the_encoding_on() -> None:
    found = errors(net_with("sinusoidal"), random_graph(CARD), NODE)
    assert found["positions"] > 0.1 and found["output"] > 1e-3


@torch.no_grad()
def test_without_an_encoding_the_edges_do_not_matter_and_with_one_they_do() -> None:
    graph = random_graph(CARD, seed=3)
    without = {**graph, "edge_index": graph["edge_index"][:, :4]}

    def change(name: str) -> float:
        net = net_with(name)
        return float((net(*graph.values()) - net(*without.values())).abs().max())

    assert change("none") == 0 and change("sinusoidal") == 0
    assert change("random walk") > 1e-3 and change("Laplacian") > 1e-3


def test_one_set_of_weights_serves_every_encoding() -> None:
    for k in range(len(NAMES)):
        net = build(k)
        net.load_state_dict(build(0).state_dict())
        assert sum(p.numel() for p in net.parameters()) <= 30_000
    assert NAMES[int(CARD.params[0].default)] in ("none", "random walk")  # the claimed law holds for the default


@pytest.mark.parametrize("nodes", [0, 1])
def test_an_empty_graph_and_a_single_node(nodes: int) -> None:
    out = build()(torch.ones(nodes, 6), torch.zeros(2, 0, dtype=torch.int64), torch.zeros(nodes, dtype=torch.int64))
    assert out.shape == (nodes, 4) and torch.isfinite(out).all()
