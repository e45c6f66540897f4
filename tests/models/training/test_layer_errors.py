"""The error of every layer while a network learns."""

from __future__ import annotations

import main
from explorer.app.training.errors import LayerErrors


def test_an_element_that_moves_nothing_shows_nothing_and_another_is_measured() -> None:
    card = main.cards()["back-propagation"]
    network = card.build()
    still = LayerErrors(card, network, "rotate:0")
    assert still.chain not in ("", "rotate:0") and max(still.of(network).values()) > 0.1
    assert LayerErrors(card, network, "rotate:90").chain == "rotate:90"
