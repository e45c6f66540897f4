"""Answers of the layers of a network on sequences, and the shipped weights of its card."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from explorer.declare.card import Card

WEIGHTS = Path(__file__).resolve().parents[3] / "resources" / "weights"


def trained(card: Card, **values: float) -> nn.Module:
    """Return the network of a card with its shipped weights, in double precision."""
    assert card.weights is not None
    network = card.build(**{p.name: p.default for p in card.params} | values)
    network.load_state_dict(load_file(WEIGHTS / card.weights))
    return network.double().eval()


@torch.no_grad()
def layers(network: nn.Module, *signals: Tensor) -> dict[str, Tensor]:
    """Return what every named layer gives, by name; each may be called only once."""
    found: dict[str, Tensor] = {}
    handles = []
    for name, module in network.named_modules():

        def note(_m: nn.Module, _x: object, y: object, name: str = name) -> None:
            assert name not in found, f"{name} is called twice"
            if isinstance(y, Tensor):
                found[name] = y

        if name:
            handles.append(module.register_forward_hook(note))
    try:
        network(*signals)
    finally:
        for handle in handles:
            handle.remove()
    return found
