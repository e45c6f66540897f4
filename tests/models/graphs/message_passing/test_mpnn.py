"""The message part is torch_geometric's NNConv, the update torch's GRU cell."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch_geometric.nn import NNConv

from models.graphs.message_passing.mpnn import CARD, EDGE_CHANNELS, HIDDEN, MPNN, MessageStep
from tests.models.graphs.relabelling import declared, double, random_graph


@torch.no_grad()
@pytest.mark.parametrize(("dtype", "close"), [(torch.float32, 1e-6), (torch.float64, 1e-12)])
@pytest.mark.parametrize("outputs", [8, 3])
def test_messages_are_those_of_nnconv(outputs: int, dtype: torch.dtype, close: float) -> None:
    signals = random_graph(CARD)
    step = MessageStep(8, outputs, EDGE_CHANNELS).to(dtype)
    conv = NNConv(8, outputs, step.edge_network, aggr="add", root_weight=False, bias=False)
    before = {k: v.clone() for k, v in step.edge_network.state_dict().items()}
    conv.reset_parameters()  # NNConv draws the parameters of the network it is given
    step.edge_network.load_state_dict(before)
    x, e, index = signals["x"].to(dtype), signals["edge_attr"].to(dtype), signals["edge_index"]
    torch.testing.assert_close(step(x, index, e), conv(x, index, e), rtol=close, atol=close)


@torch.no_grad()
def test_each_message_is_its_edges_matrix_times_the_source() -> None:
    signals = random_graph(CARD)
    step = MessageStep(8, 3, EDGE_CHANNELS).double()
    messages = declared(step, {k: signals[k] for k in ("x", "edge_index", "edge_attr")})["messages"][1]
    for k, j in enumerate(signals["edge_index"][0].tolist()):
        matrix = step.edge_network(signals["edge_attr"][k]).view(8, 3)
        torch.testing.assert_close(messages[k], signals["x"][j] @ matrix)


@torch.no_grad()
def test_the_network_is_embedding_steps_and_readout() -> None:
    signals = random_graph(CARD, nodes=14, graphs=2)
    network = MPNN(steps=2).double()
    x, index, e, batch = signals.values()
    conv = NNConv(HIDDEN, HIDDEN, nn.Linear(1, 1), root_weight=False, bias=False).double()
    conv.nn = network.message.edge_network
    h = network.embedding(x)
    for _ in range(2):
        h = network.update.gru(conv(h, index, e), h)
    pooled = torch.stack([h[batch == g].sum(0) for g in range(2)])
    torch.testing.assert_close(network(*signals.values()), network.head(pooled), rtol=1e-10, atol=1e-10)


@torch.no_grad()
def test_a_step_reaches_one_bond_further() -> None:
    """On a path 0 -> 1 -> 2 -> 3 the far end is heard after three steps and not after two."""
    index = torch.tensor([[0, 1, 2], [1, 2, 3]])
    e, batch = torch.rand(3, EDGE_CHANNELS, dtype=torch.float64), torch.zeros(4, dtype=torch.int64)
    x = torch.rand(4, 8, dtype=torch.float64)
    other = x.clone()
    other[0] += 1
    for steps, heard in ((2, False), (3, True)):
        network = double(CARD, {"steps": steps})
        last = []
        handle = network.update.register_forward_hook(lambda _m, _a, y, last=last: last.append(y[3]))
        network(x, index, e, batch)
        network(other, index, e, batch)
        handle.remove()
        assert torch.equal(last[steps - 1], last[-1]) is not heard
