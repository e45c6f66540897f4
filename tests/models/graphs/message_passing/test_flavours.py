"""Each flavour against a formula or a layer written by somebody else; what coefficients depend on."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.nn import GATConv, GCNConv, MessagePassing

from models.graphs.message_passing import flavours
from models.graphs.message_passing.flavours import CARD, Attention
from models.layers.graph.convolution import Convolution
from tests.models.graphs.relabelling import declared, double, random_graph


def graph(undirected: bool = False) -> tuple[Tensor, Tensor]:
    signals = random_graph(CARD, undirected=undirected)
    index = signals["edge_index"]
    return signals["x"], index[:, index[0] != index[1]]


@torch.no_grad()
def test_convolution_is_gcnconv_without_self_loops() -> None:
    x, index = graph(undirected=True)
    layer = Convolution(6, 5).double()
    conv = GCNConv(6, 5, add_self_loops=False, bias=False).double()
    conv.lin.weight.copy_(layer.psi.weight)
    layer.psi.bias.zero_()
    torch.testing.assert_close(layer(x, index), conv(x, index) + layer.own(x), rtol=1e-12, atol=1e-12)


@torch.no_grad()
def test_attention_is_gatconv() -> None:
    x, index = graph()
    layer = Attention(6, 5).double()
    conv = GATConv(6, 5, add_self_loops=False, bias=False).double()
    conv.lin.weight.copy_(layer.psi.weight)
    layer.psi.bias.zero_()
    layer.score_as_source.bias.zero_()
    conv.att_dst.copy_(layer.score_as_target.weight[None])
    conv.att_src.copy_(layer.score_as_source.weight[None])
    expected, (_, alpha) = conv(x, index, return_attention_weights=True)
    torch.testing.assert_close(layer(x, index), expected + layer.own(x), rtol=1e-9, atol=1e-9)
    found = declared(layer, {"x": x, "edge_index": index})["coefficients"][1]
    torch.testing.assert_close(found, alpha, rtol=1e-9, atol=1e-9)


class PairSum(MessagePassing):
    """torch_geometric's own propagation with psi(x_i, x_j) as message."""

    def __init__(self, psi: torch.nn.Module) -> None:
        super().__init__(aggr="add")
        self.psi = psi

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.propagate(edge_index, x=x)

    def message(self, x_i: Tensor, x_j: Tensor) -> Tensor:
        return self.psi(torch.cat([x_i, x_j], dim=1))


@torch.no_grad()
def test_message_passing_is_messagepassing() -> None:
    x, index = graph()
    layer = flavours.MessagePassing(6, 5).double()
    expected = PairSum(layer.messages)(x, index) + layer.own(x)
    torch.testing.assert_close(layer(x, index), expected, rtol=1e-12, atol=1e-12)


@torch.no_grad()
def test_the_output_is_the_mean_of_members_that_differ() -> None:
    x, index = graph()
    network = double(CARD)
    names = ("convolution", "attention", "message_passing")
    members = [network.get_submodule(name)(x, index) for name in names]
    torch.testing.assert_close(network(x, index), torch.stack(members).mean(0))
    for a, b in ((0, 1), (0, 2), (1, 2)):
        assert float((members[a] - members[b]).abs().max()) > 1e-2
    tensors = [id(p) for p in network.parameters()]
    assert len(tensors) == len(set(tensors)) == len(network.state_dict())


@torch.no_grad()
def test_what_coefficients_depend_on() -> None:
    x, index = graph()
    network = double(CARD)
    found = [declared(network, {"x": features, "edge_index": index}) for features in (x, x.flip(0))]
    for member, moved in (("convolution", False), ("attention", True)):
        one, other = (f[f"{member}.layer1.coefficients"][1] for f in found)
        assert one.shape == (index.shape[1], 1)
        assert torch.equal(one, other) is not moved
