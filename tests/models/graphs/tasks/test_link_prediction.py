"""Scores of edges and of pairs are torch_geometric's inner product decoder on the same embedding."""

from __future__ import annotations

import torch
from torch_geometric.nn import InnerProductDecoder, SAGEConv

from explorer.declare.types.fields import PAIR
from models.graphs.tasks.link_prediction import CARD, LinkPrediction
from tests.models.graphs.relabelling import declared, random_graph


@torch.no_grad()
def test_scores_are_those_of_the_inner_product_decoder() -> None:
    signals = random_graph(CARD)
    network = LinkPrediction().double()
    z = network.embed(*signals.values())
    decoder = InnerProductDecoder()
    found = declared(network, signals)
    expected = decoder(z, signals["edge_index"], sigmoid=False)
    torch.testing.assert_close(network(*signals.values())[:, 0], expected, rtol=1e-12, atol=1e-12)
    field, pairs = found["pair_scores"]
    assert field == PAIR
    torch.testing.assert_close(pairs[0], decoder.forward_all(z, sigmoid=False), rtol=1e-12, atol=1e-12)


@torch.no_grad()
def test_the_embedding_is_two_sageconv() -> None:
    signals = random_graph(CARD)
    network = LinkPrediction().double()
    x, index = signals.values()
    for layer, after in ((network.layer1, torch.relu), (network.layer2, torch.clone)):
        conv = SAGEConv(x.shape[1], layer.from_self.out_features).double()
        conv.lin_l.load_state_dict(layer.from_neighbours.state_dict())
        conv.lin_r.load_state_dict(layer.from_self.state_dict())
        x = after(conv(x, index))
    torch.testing.assert_close(network.embed(*signals.values()), x, rtol=1e-12, atol=1e-12)
