"""GraphSAGE is torch_geometric's SAGEConv with the same weights; its samples are what they say."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch_geometric.nn import SAGEConv

from models.graphs.message_passing.graphsage import AGGREGATES, CARD
from models.layers.graph.sage import SAGELayer, SampledNeighbours
from tests.models.graphs.relabelling import double, random_graph


def graph(edges: int = 40, seed: int = 0) -> tuple[Tensor, Tensor]:
    signals = random_graph(CARD, edges=edges, seed=seed)
    return signals["x"], signals["edge_index"]


def same_weights(layer: SAGELayer, conv: SAGEConv) -> None:
    conv.lin_l.load_state_dict(layer.from_neighbours.state_dict())
    conv.lin_r.load_state_dict(layer.from_self.state_dict())
    if layer.aggregated.lstm is not None:
        conv.aggr_module.lstm.load_state_dict(layer.aggregated.lstm.state_dict())


@torch.no_grad()
@pytest.mark.parametrize(("dtype", "close"), [(torch.float32, 1e-6), (torch.float64, 1e-12)])
@pytest.mark.parametrize("how", AGGREGATES)
def test_equal_to_sageconv(how: str, dtype: torch.dtype, close: float) -> None:
    x, index = graph()
    layer = SAGELayer(6, 5, how).to(dtype)
    conv = SAGEConv(6, 5, aggr=how).to(dtype)
    same_weights(layer, conv)
    by_target = index[:, torch.argsort(index[1], stable=True)]  # SAGEConv's LSTM wants them sorted, ours sorts
    expected = conv(x.to(dtype), by_target if how == "lstm" else index)
    torch.testing.assert_close(layer(x.to(dtype), index), expected, rtol=0, atol=close)


@torch.no_grad()
@pytest.mark.parametrize("how", AGGREGATES)
def test_a_sample_is_a_smaller_graph(how: str) -> None:
    """The layer on drawn neighbours is SAGEConv on the graph of the drawn edges alone."""
    x, index = graph(80)
    layer = SAGELayer(6, 5, how, fanout=3, seed=7).double().eval()
    conv = SAGEConv(6, 5, aggr=how).double()
    same_weights(layer, conv)
    drawn = index[:, layer.sampled(x, index)[:, 0] == 1]
    assert drawn.shape[1] < index.shape[1]
    drawn = drawn[:, torch.argsort(drawn[1], stable=True)]
    torch.testing.assert_close(layer(x, index), conv(x, drawn), rtol=0, atol=1e-12)


@pytest.mark.parametrize("fanout", [1, 3, 16])
def test_at_most_fanout_neighbours_are_drawn(fanout: int) -> None:
    x, index = graph(80)
    kept = SampledNeighbours(fanout, seed=1).eval()(x, index)[:, 0]
    entering = torch.bincount(index[1], minlength=len(x))
    drawn = torch.bincount(index[1], weights=kept, minlength=len(x))
    assert torch.equal(drawn, entering.clamp_max(fanout).double())


def test_every_neighbour_is_drawn_equally_often() -> None:
    """Binomial: each of 8 neighbours in 3/8 of 4000 samples, 5 standard deviations allowed."""
    x, index = torch.zeros(9, 1), torch.stack([torch.arange(1, 9), torch.zeros(8, dtype=torch.int64)])
    sampled = SampledNeighbours(3, seed=0).train()
    total = sum(sampled(x, index)[:, 0] for _ in range(4000))
    deviation = (4000 * 3 / 8 * 5 / 8) ** 0.5
    assert isinstance(total, Tensor)
    assert float((total - 1500).abs().max()) < 5 * deviation


def test_judging_draws_the_same_again_and_training_does_not() -> None:
    x, index = graph(80)
    network = double(CARD, {"fanout": 2})
    assert torch.equal(network(x, index), network(x, index))
    network.train()
    assert not torch.equal(network(x, index), network(x, index))


def test_the_layers_draw_differently() -> None:
    x, index = graph(80)
    network = double(CARD, {"fanout": 2})
    first, second = (getattr(network, name).sampled(x, index) for name in ("layer1", "layer2"))
    assert not torch.equal(first, second)
