"""The network whose numbers are read: it learned its six images, and is found to be a chain of dense layers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from explorer.declare.inputs import Inputs
from explorer.declare.types.fields import Scalar
from explorer.network.opening.loading import load_model
from explorer.spaces.grid.analysis.dense_chain import dense_chain
from explorer.spaces.grid.fields import grid
from explorer.work.training.backprop import forward, ladder
from models.representation.backpropagation import CARD, accuracy, bars, build


def given(x: torch.Tensor) -> Inputs:
    return Inputs((x,), (grid(Scalar()),))


def test_the_shipped_weights_name_all_six() -> None:
    assert accuracy(load_model(CARD)) == {"accuracy": 1.0}


@pytest.mark.parametrize("activation", [0, 1, 2])
def test_it_is_read_as_a_chain_with_the_gradients_of_autograd(activation: float) -> None:
    network = build(activation).double()
    x, y = bars()
    one = x[4:5].double()
    chain = dense_chain(network, given(one), CARD.labels)
    assert chain is not None and [layer.name for layer in chain.layers] == ["dense1", "dense2", "dense3"]
    assert chain.labels == CARD.labels
    assert forward(chain.layers, chain.x)[-1][2] == pytest.approx(network(one)[0].detach().numpy(), abs=1e-12)
    ((network(one) - y[4].double()).square().sum() / 2).backward()
    for rung in ladder(chain.layers, chain.x, y[4].numpy(), "squared error"):
        layer = network.get_submodule(rung.layer.name)
        assert np.abs(rung.weight_gradient - layer.weight.grad.numpy()).max() < 1e-12  # type: ignore[union-attr]


def test_what_is_no_chain_is_none() -> None:
    x, _ = bars()

    class Skips(nn.Module):
        """Its modules look like a chain; what it computes is another thing."""

        def __init__(self) -> None:
            super().__init__()
            self.flatten, self.one, self.two = nn.Flatten(), nn.Linear(9, 9), nn.Linear(9, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            flat = self.flatten(x)
            return torch.as_tensor(self.two(flat + self.one(flat)))

    convolution = nn.Sequential(nn.Conv2d(1, 1, 3), nn.Flatten(), nn.Linear(1, 2))
    wide = nn.Sequential(nn.Flatten(), nn.Linear(9, 65), nn.ReLU(), nn.Linear(65, 2))
    for network in (Skips(), convolution, wide, nn.Sequential(nn.Flatten())):
        assert dense_chain(network, given(x[:1]), ()) is None
    assert dense_chain(nn.Sequential(nn.Flatten(), nn.Linear(9, 2)), given(x[:1]), ()) is not None
