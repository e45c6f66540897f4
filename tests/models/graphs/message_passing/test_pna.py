"""PNA is torch_geometric's PNAConv with the same weights."""

from __future__ import annotations

import networkx as nx
import pytest
import torch
from torch_geometric.nn import PNAConv

from models.graphs.message_passing.pna import CARD, KARATE, KINDS, SCALERS, PNALayer
from tests.models.graphs.relabelling import declared, random_graph


@torch.no_grad()
@pytest.mark.parametrize(("dtype", "close"), [(torch.float32, 1e-6), (torch.float64, 1e-12)])
@pytest.mark.parametrize("edges", [24, 60])
def test_equal_to_pnaconv(edges: int, dtype: torch.dtype, close: float) -> None:
    signals = random_graph(CARD, edges=edges)
    x, index = signals["x"].to(dtype), signals["edge_index"]
    histogram = torch.bincount(torch.bincount(index[1], minlength=len(x)))
    conv = PNAConv(6, 5, list(KINDS), list(SCALERS), deg=histogram).to(dtype)
    layer = PNALayer(6, 5, float(conv.aggr_module.avg_deg_log)).to(dtype)
    layer.messages.load_state_dict(conv.pre_nns[0][0].state_dict())
    layer.update.load_state_dict(conv.post_nns[0][0].state_dict())
    layer.mixing.load_state_dict(conv.lin.state_dict())
    torch.testing.assert_close(layer(x, index), conv(x, index), rtol=close, atol=close)


def test_delta_is_the_karate_clubs() -> None:
    histogram = torch.tensor(nx.degree_histogram(nx.karate_club_graph()))
    conv = PNAConv(6, 5, list(KINDS), list(SCALERS), deg=histogram)
    assert float(conv.aggr_module.avg_deg_log) == pytest.approx(KARATE, abs=1e-4)


def test_each_aggregators_result_is_a_layer() -> None:
    signals = random_graph(CARD)
    found = declared(PNALayer(6, 5).double(), signals)
    parts = torch.cat([found[kind][1] for kind in KINDS], dim=1)
    assert torch.equal(found["identity"][1], parts)
    scaled = torch.cat([signals["x"], parts, found["amplification"][1], found["attenuation"][1]], dim=1)
    assert torch.equal(found["combined"][1], scaled)
    entered = torch.bincount(signals["edge_index"][1], minlength=11) > 0
    product = found["amplification"][1] * found["attenuation"][1]  # one scaler is the other's inverse
    torch.testing.assert_close(product[entered], (parts * parts)[entered])
