"""Parameters are rounded as small files hold them, but for what such a file could not hold."""

from __future__ import annotations

import torch
from torch import nn

from models.layers.seeded import round_to_half


def test_what_is_too_large_for_half_precision_stays_as_it_is() -> None:
    network = nn.Linear(2, 2)
    with torch.no_grad():
        network.weight.fill_(1e6)
        network.bias.fill_(0.1)
    round_to_half(network)
    assert network.weight.tolist() == [[1e6, 1e6], [1e6, 1e6]]
    assert torch.equal(network.bias, torch.full((2,), 0.1).half().float())
