"""GAT and GATv2 against torch_geometric's layers with the same weights; what the taps show; the law."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from models.graphs.message_passing.gat import CARD, HEADS, GATLayer, GATv2Layer
from tests.models.graphs.message_passing.test_gcn import TOLERANCE, error, graph

CARDS = {card.name: card for card in CARD}


def peer(ours: GATLayer | GATv2Layer, inputs: int, outputs: int) -> nn.Module:
    """Return torch_geometric's layer with the same weights."""
    from torch_geometric.nn import GATConv, GATv2Conv

    shape = (1, ours.heads, outputs // ours.heads)
    if isinstance(ours, GATLayer):
        theirs = GATConv(inputs, shape[2], ours.heads)
        state = {
            "lin.weight": ours.linear.weight,
            "att_src": ours.source.view(shape),
            "att_dst": ours.target.view(shape),
        }
    else:
        theirs = GATv2Conv(inputs, shape[2], ours.heads)
        left, right = ours.linear_source, ours.linear_target
        state = {
            "lin_l.weight": left.weight, "lin_l.bias": left.bias, "lin_r.weight": right.weight,
            "lin_r.bias": right.bias, "att": ours.weight.view(shape),
        }  # fmt: skip
    theirs.to(ours.bias.dtype).load_state_dict({**state, "bias": ours.bias})
    return theirs


def taps(layer: nn.Module) -> dict[str, Tensor]:
    seen: dict[str, Tensor] = {}
    for name in ("logits", "self_logits", "attention", "self_attention", "aggregated"):
        hook = lambda _, __, value, name=name: seen.update({name: value})  # noqa: E731
        layer.get_submodule(name).register_forward_hook(hook)
    return seen


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("heads", [1, 8])
@pytest.mark.parametrize("kind", [GATLayer, GATv2Layer])
def test_output_and_coefficients_are_those_of_torch_geometric(
    kind: type[GATLayer] | type[GATv2Layer], heads: int, dtype: torch.dtype
) -> None:
    edge_index, x = graph(), torch.randn(40, 6, dtype=dtype)
    ours = kind(6, 32, heads).to(dtype)
    for p in ours.parameters():
        nn.init.normal_(p, std=0.5)
    seen = taps(ours)
    wanted, (listed, attention) = peer(ours, 6, 32)(x, edge_index, return_attention_weights=True)
    tolerance = TOLERANCE[dtype]
    torch.testing.assert_close(ours(x, edge_index), wanted, rtol=tolerance, atol=tolerance)
    between = edge_index[0] != edge_index[1]
    assert torch.equal(listed[:, :-40], edge_index[:, between])
    torch.testing.assert_close(seen["attention"][between], attention[:-40], rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(seen["self_attention"], attention[-40:], rtol=tolerance, atol=tolerance)
    assert (seen["attention"][~between] == 0).all()


@pytest.mark.parametrize("kind", [GATLayer, GATv2Layer])
def test_gradients_are_those_of_torch_geometric(kind: type[GATLayer] | type[GATv2Layer]) -> None:
    edge_index, x = graph(), torch.randn(40, 6, dtype=torch.float64, requires_grad=True)
    ours = kind(6, 32, 4).double()
    theirs = peer(ours, 6, 32)
    probe = torch.randn(40, 32, dtype=torch.float64)
    (mine,) = torch.autograd.grad(ours(x, edge_index), x, probe)
    (wanted,) = torch.autograd.grad(theirs(x, edge_index), x, probe)
    torch.testing.assert_close(mine, wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", CARDS)
def test_every_field_has_its_domain_and_coefficients_add_up_to_one(name: str) -> None:
    model = CARDS[name].build().double()
    seen = taps(model.conv1)
    edge_index = graph()
    edges = edge_index.shape[1]
    model(torch.randn(40, 6, dtype=torch.float64), edge_index)
    shapes = {key: tuple(value.shape) for key, value in seen.items()}
    assert shapes == {
        "logits": (edges, 8), "self_logits": (40, 8), "attention": (edges, 8), "self_attention": (40, 8),
        "aggregated": (40, 32),
    }  # fmt: skip
    total = seen["self_attention"].index_add(0, edge_index[1], seen["attention"])
    torch.testing.assert_close(total, torch.ones_like(total), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", CARDS)
@pytest.mark.parametrize("heads", range(len(HEADS)))
def test_the_law_holds(name: str, heads: int) -> None:
    model = CARDS[name].build(heads=heads).double()
    assert error(model, {"x": torch.randn(40, 6, dtype=torch.float64), "edge_index": graph()}) < 1e-9


@pytest.mark.parametrize("name", CARDS)
def test_the_coefficients_move_with_the_edges(name: str) -> None:
    model = CARDS[name].build().double()
    seen = taps(model.conv1)
    edge_index, x = graph(), torch.randn(40, 6, dtype=torch.float64)
    order, shuffle = torch.randperm(40), torch.randperm(edge_index.shape[1])
    model(x, edge_index)
    plain = dict(seen)
    model(x[order.argsort()], order[edge_index][:, shuffle])
    for key in ("logits", "attention"):
        torch.testing.assert_close(seen[key], plain[key][shuffle], rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(seen["self_attention"][order], plain["self_attention"], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", CARDS)
def test_what_is_written_into_the_attention_is_what_is_used(name: str) -> None:
    model = CARDS[name].build()
    conv, x, edge_index = model.conv1, torch.randn(40, 6), graph()
    for tap in (conv.attention, conv.self_attention):
        tap.register_forward_hook(lambda _, __, value: torch.zeros_like(value))
    torch.testing.assert_close(conv(x, edge_index), conv.bias.expand(40, -1))


def test_gat_ranks_alike_and_gatv2_need_not() -> None:
    """Brody, Alon, Yahav, 2022, theorem 1: static attention. One neighbour is everybody's favourite."""
    everyone = torch.cartesian_prod(torch.arange(20), torch.arange(20)).t()
    everyone = everyone[:, everyone[0] != everyone[1]]
    favourites = {}
    for name in CARDS:
        model = CARDS[name].build(heads=0).double()
        seen = taps(model.conv1)
        torch.manual_seed(0)
        model(3 * torch.randn(20, 6, dtype=torch.float64), everyone)
        e = torch.zeros(20, 20, dtype=torch.float64)
        e[everyone[1], everyone[0]] = seen["logits"][:, 0]
        e += seen["self_logits"][:, 0].diag()
        favourites[name] = len(e.argmax(1).unique())
    assert favourites["gat"] == 1 < favourites["gatv2"]


@pytest.mark.parametrize("name", CARDS)
def test_no_nodes_and_no_edges(name: str) -> None:
    model = CARDS[name].build()
    none = torch.empty(2, 0, dtype=torch.int64)
    assert model(torch.empty(0, 6), none).shape == (0, 4)
    assert model(torch.randn(3, 6), none).shape == (3, 4)
    assert not model(1e4 * torch.randn(40, 6), graph()).isnan().any()  # logits beyond the range of exp


def test_heads_must_share_the_channels() -> None:
    with pytest.raises(ValueError, match="9 channels"):
        GATLayer(6, 9, 2)
