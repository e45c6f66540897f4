"""Shipped networks beside what their cards say of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from safetensors.torch import load_file
from torch import nn

import models
from explorer.declare.registry import scan
from tests.models.cards.test_cards import WEIGHTS


def shares_as_stated(name: str, shares: Callable[[nn.Module], Mapping[str, float]]) -> Mapping[str, float]:
    """Return the shares that a card's shipped network names right, each of which stands in its note."""
    card = scan(models, "CARD")[name]
    network = card.build().eval()
    network.load_state_dict(load_file(WEIGHTS / f"{name}.safetensors"))
    found = shares(network)
    for share in found.values():
        assert f"{100 * share:.1f} %" in card.notes[0], found
    return found
