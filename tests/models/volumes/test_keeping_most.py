"""The network that a volume of one's own is opened in: the one that keeps most of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from explorer.data.choosing import first_taking
from explorer.declare.card import Card
from explorer.declare.registry import scan
from explorer.spaces.volume.sample import volume_sample


@pytest.fixture(scope="module")
def cards() -> dict[str, Card]:
    import models

    return {name: card for name, card in scan(models, "CARD").items() if card.domain in ("volume", "sphere")}


@pytest.mark.parametrize(("side", "chosen"), [(13, 13), (25, 25), (31, 31), (65, 25)])
def test_the_network_is_the_one_that_keeps_most_of_a_volume(cards: dict[str, Card], side: int, chosen: int) -> None:
    """The smallest is asked first of its kind, as a trained one is."""
    order = ["sphere-cnn", "tetris-o", "oh-cnn", "o-cnn"]
    values = np.random.default_rng(0).random((1, side, side, side), np.float32)
    _, fitted = first_taking("a.nii", volume_sample(values, "a"), {n: cards[n] for n in order}, cards)
    assert fitted.x.values.shape[-3:] == (chosen,) * 3


def test_the_network_that_is_shown_keeps_its_place(cards: dict[str, Card]) -> None:
    values = np.random.default_rng(0).random((1, 31, 31, 31), np.float32)
    card = replace(cards["tetris-o"], summary="shown")
    asked = {"tetris-o": card, "oh-cnn": cards["oh-cnn"]}
    assert first_taking("a.nii", volume_sample(values, "a"), asked, cards)[0] == "tetris-o"
