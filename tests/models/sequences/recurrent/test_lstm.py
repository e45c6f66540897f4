"""LSTM against torch.nn.LSTMCell, gate by gate."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from models.layers.recurrent.lstm import LSTM
from models.sequences.recurrent.lstm import CARD


def test_every_gate_is_that_of_the_equations_in_numpy() -> None:
    import numpy as np

    layer = LSTM(2, 5, "zero").double()
    x = torch.randn(12, 2, dtype=torch.float64)
    with torch.no_grad():
        found = {k: v[:, 0].numpy() for k, v in layer.run(x[:, None]).items()}
    w, u, b, d = (p.detach().numpy() for p in layer.parameters())
    h = c = np.zeros(5)
    for t, z in enumerate(x.numpy()):
        a = (w @ z + u @ h + b + d).reshape(4, 5)
        i, f, o = (1 / (1 + np.exp(-a[k])) for k in (0, 1, 3))
        candidate = np.tanh(a[2])
        c = i * candidate + f * c
        h = o * np.tanh(c)
        expected = (i, f, candidate, o, c, h)
        for name, value in zip(LSTM.shown, expected, strict=True):
            np.testing.assert_allclose(found[name][t], value, rtol=0, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 1e-6), (torch.float64, 1e-12)])
def test_parameters_are_those_of_a_cell_of_torch(dtype: torch.dtype, tolerance: float) -> None:
    cell, layer = nn.LSTMCell(3, 6).to(dtype), LSTM(3, 6, "zero").to(dtype)
    layer.load_state_dict(cell.state_dict())
    x, h, c = torch.randn(30, 3, dtype=dtype), torch.zeros(1, 6, dtype=dtype), torch.zeros(1, 6, dtype=dtype)
    with torch.no_grad():
        found = layer.run(x[:, None])
        for t in range(30):
            h, c = cell(x[t : t + 1], (h, c))
            torch.testing.assert_close(found["hidden"][t], h, rtol=0, atol=tolerance)
            torch.testing.assert_close(found["cell"][t], c, rtol=0, atol=tolerance)


def test_gradients_are_those_of_nn_lstm() -> None:
    peer, ours = nn.LSTM(2, 5, batch_first=True).double(), LSTM(2, 5, "zero").double()
    ours.load_state_dict({k.removesuffix("_l0"): v for k, v in peer.state_dict().items()})
    x, probe = torch.randn(3, 15, 2, dtype=torch.float64), torch.randn(3, 15, 5, dtype=torch.float64)
    mine = torch.autograd.grad(ours.batched(x), list(ours.parameters()), probe)
    theirs = torch.autograd.grad(peer(x)[0], list(peer.parameters()), probe)
    torch.testing.assert_close(mine, theirs, rtol=1e-10, atol=1e-12)


def test_the_card_predicts_one_value_a_step() -> None:
    model = CARD.build(units=4)
    x = torch.randn(3, 9, 1)
    assert model(x[0]).shape == (9, 1)
    torch.testing.assert_close(model.batched(x)[0], model(x[0]), rtol=0, atol=1e-6)
