"""Each faulty network is broken in the one layer that is named, the control in none."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from explorer.declare.card import Card
from models.images.planted_faults import CARD, FAULTS, SymmetricCNN, symmetrise

CARDS = {card.name: card for card in CARD}
ELEMENTS = [(turns, mirrored) for turns in range(4) for mirrored in (False, True)]


def move(x: Tensor, element: tuple[int, bool]) -> Tensor:
    turns, mirrored = element
    return torch.rot90(x.flip(-1) if mirrored else x, turns, (-2, -1)) if x.ndim == 4 else x


def image(card: Card) -> Tensor:
    channels, height, width = card.input.shape
    assert height is not None and width is not None
    return torch.rand(2, channels, height, width, dtype=torch.float64)


@torch.no_grad()
def errors(card: Card, net: nn.Module) -> tuple[dict[str, float], dict[str, float]]:
    """Return each layer's local and cumulative error, the largest over D4."""
    local: dict[str, float] = {}
    cumulative: dict[str, float] = {}
    for element in ELEMENTS:
        x = image(card)
        along = move(x, element)  # goes through the layers already moved
        for name, layer in net.named_children():
            moved = move(layer(x), element)
            alone, along = layer(move(x, element)), layer(along)
            local[name] = max(local.get(name, 0.0), float((alone - moved).norm() / moved.norm()))
            cumulative[name] = max(cumulative.get(name, 0.0), float((along - moved).norm() / moved.norm()))
            x = layer(x)
    return local, cumulative


def double(card: Card) -> nn.Module:
    return card.build().double().eval()


def test_the_control_commutes_with_all_eight_elements() -> None:
    card = CARDS["symmetric-cnn"]
    local, cumulative = errors(card, double(card))
    assert max(*local.values(), *cumulative.values()) < 1e-13


@pytest.mark.parametrize("name", FAULTS)
def test_exactly_one_layer_is_broken(name: str) -> None:
    local, cumulative = errors(CARDS[name], double(CARDS[name]))
    assert [layer for layer, error in local.items() if error > 1e-12] == [FAULTS[name]]
    assert local[FAULTS[name]] > 0.01
    layers = list(local)
    guilty = layers.index(FAULTS[name])
    assert all(cumulative[layer] < 1e-12 for layer in layers[:guilty])
    assert all(cumulative[layer] > 1e-6 for layer in layers[guilty:])


@pytest.mark.parametrize("name", FAULTS)
def test_the_card_names_the_fault_and_claims_the_law_all_the_same(name: str) -> None:
    assert CARDS[name].groups == ("D4",)
    assert CARDS[name].notes == (f"planted fault: layer {FAULTS[name]}",)


def test_all_four_differ_in_the_fault_alone() -> None:
    reference = CARDS["symmetric-cnn"].build().state_dict()
    for name in FAULTS:
        state = CARDS[name].build().state_dict()
        assert list(state) == list(reference)
        different = [key for key in state if not torch.equal(state[key], reference[key])]
        assert different == (["conv2.weight"] if name == "fault-filter" else [])


def test_the_stride_is_the_fault_on_even_sizes_only() -> None:
    faulty, control = CARDS["fault-stride"], CARDS["symmetric-cnn"]
    assert errors(control, double(faulty))[0]["conv3"] < 1e-12
    assert errors(faulty, double(control))[0]["conv3"] > 0.01


def test_symmetric_filters_are_fixed_by_all_eight_elements() -> None:
    weight = torch.randn(4, 3, 5, 5)
    once = symmetrise(weight)
    for element in ELEMENTS:
        assert torch.equal(move(once, element), once)
    assert torch.equal(symmetrise(once), once)
    assert len(once[0, 0].unique()) >= 6  # 25 places fall into 6 orbits, and nothing more is lost
    assert not torch.allclose(once, weight)


def test_the_filters_are_drawn() -> None:
    net = CARDS["symmetric-cnn"].build()
    assert isinstance(net, SymmetricCNN)
    drawn = CARDS["symmetric-cnn"].matrix(net)  # type: ignore[misc]
    assert {title: array.shape for title, array in drawn.items()} == {
        "conv1: outputs down, inputs across": (8 * 6, 6),
        "conv2: outputs down, inputs across": (8 * 4, 8 * 4),
        "conv3: outputs down, inputs across": (8 * 4, 8 * 4),
    }
