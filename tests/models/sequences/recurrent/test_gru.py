"""GRU against torch.nn.GRUCell, and what its gates do at their ends."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from models.layers.recurrent.gru import GRU
from models.sequences.recurrent.gru import CARD


@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 1e-6), (torch.float64, 1e-12)])
def test_parameters_are_those_of_a_cell_of_torch(dtype: torch.dtype, tolerance: float) -> None:
    cell, layer = nn.GRUCell(3, 6).to(dtype), GRU(3, 6, "zero").to(dtype)
    layer.load_state_dict(cell.state_dict())
    x, h = torch.randn(30, 3, dtype=dtype), torch.zeros(1, 6, dtype=dtype)
    with torch.no_grad():
        found = layer.run(x[:, None])
        for t in range(30):
            h = cell(x[t : t + 1], h)
            torch.testing.assert_close(found["hidden"][t], h, rtol=0, atol=tolerance)


def test_gradients_are_those_of_nn_gru() -> None:
    peer, ours = nn.GRU(2, 5, batch_first=True).double(), GRU(2, 5, "zero").double()
    ours.load_state_dict({k.removesuffix("_l0"): v for k, v in peer.state_dict().items()})
    x, probe = torch.randn(3, 15, 2, dtype=torch.float64), torch.randn(3, 15, 5, dtype=torch.float64)
    mine = torch.autograd.grad(ours.batched(x), list(ours.parameters()), probe)
    theirs = torch.autograd.grad(peer(x)[0], list(peer.parameters()), probe)
    torch.testing.assert_close(mine, theirs, rtol=1e-10, atol=1e-12)


def test_shown_gates_mix_to_the_hidden_state() -> None:
    layer = GRU(2, 5, "zero").double()
    with torch.no_grad():
        v = layer.run(torch.randn(20, 1, 2, dtype=torch.float64))
    before = torch.cat([torch.zeros_like(v["hidden"][:1]), v["hidden"][:-1]])
    torch.testing.assert_close(v["hidden"], (1 - v["update"]) * v["candidate"] + v["update"] * before)
    assert ((v["reset"] > 0) & (v["reset"] < 1)).all()


def test_an_open_update_gate_keeps_the_state_for_ever() -> None:
    layer = GRU(2, 5, "zero").double()
    with torch.no_grad():
        layer.bias_ih[5:10] = 60.0
        assert float(layer(torch.randn(50, 2, dtype=torch.float64)).abs().max()) < 1e-20


def test_the_card_predicts_one_value_a_step() -> None:
    assert CARD.build(units=4)(torch.randn(9, 1)).shape == (9, 1)
