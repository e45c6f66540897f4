"""The element that data are shown under first shows something of these very data."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from explorer.declare.card import Card
from explorer.declare.elements import chain_element, chain_text, parse_chain
from explorer.declare.samples import Sample
from explorer.network.input.inputs import inputs_from
from explorer.spaces.graph.network.form import GraphInput
from explorer.spaces.graph.sample import graph_sample
from explorer.spaces.grid.sample import image_sample
from explorer.spaces.sequence.network.form import SequenceInput
from explorer.spaces.sequence.sample import sequence_sample
from explorer.square.preparing.shown_first import shown_first
from tests.explorer.parts.small_cards import card

SEQUENCES = card("steps", nn.Identity, domain="sequence", input=SequenceInput())
IMAGES = card("image", nn.Identity)
GRAPHS = card("graph", nn.Identity, domain="graph", input=GraphInput())


def series(steps: int) -> Sample:
    return sequence_sample("series", 1.0 + np.arange(steps, dtype=np.float32)[:, None])


def image(values: np.ndarray) -> Sample:
    return image_sample(values[None].astype(np.float32), "image")


@pytest.mark.parametrize(
    ("steps", "chain"),
    [(200, "shift:5"), (10, "shift:5"), (9, "shift:2"), (5, "shift:2"), (3, "shift:1"), (2, "shift:1")],
)
def test_a_sequence_is_delayed_by_as_much_as_leaves_half_of_it(steps: int, chain: str) -> None:
    assert chain_text(shown_first(SEQUENCES, lambda: series(steps))) == chain


def test_what_somebody_has_chosen_stays_as_long_as_it_leaves_a_place() -> None:
    wanted = parse_chain("shift:8")
    assert shown_first(SEQUENCES, lambda: series(9), wanted) == wanted
    assert chain_text(shown_first(SEQUENCES, lambda: series(8), wanted)) == "shift:2"


def test_a_picture_that_looks_the_same_turned_is_moved_otherwise() -> None:
    across = np.arange(29)[:, None] - 14.0
    disc = np.hypot(across, across.T) < 9
    assert chain_text(shown_first(IMAGES, lambda: image(disc))) == "translate:3,2"
    assert chain_text(shown_first(IMAGES, lambda: image(np.arange(29 * 29).reshape(29, 29)))) == "rotate:90"


def test_two_nodes_are_exchanged() -> None:
    def pair() -> Sample:
        return graph_sample("pair", np.array([[0.0], [1.0]], np.float32), np.array([[0, 1], [1, 0]]))

    inputs = inputs_from(pair(), GRAPHS.input, torch.device("cpu"), torch.float32)
    assert not chain_element(shown_first(GRAPHS, pair)).on(inputs).identity
    assert any(chain_element(parse_chain(f"permute:{seed}")).on(inputs).identity for seed in range(3, 12))


def test_data_that_cannot_be_read_are_left_to_whoever_shows_them() -> None:
    def missing() -> Sample:
        raise ValueError("it is not there")

    cards: list[Card] = [SEQUENCES, IMAGES]
    assert [chain_text(shown_first(one, missing)) for one in cards] == ["shift:5", "rotate:90"]
