"""Parts of bodies: the figures that the cards state, measured again, and what chance would give."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import load_file

import models
from explorer.declare.card import Card
from explorer.declare.registry import scan
from explorer.network.opening.loading import WEIGHTS
from explorer.spaces.mesh.network.form import MeshInput
from models.training.meshes import FIGURES, PARTS, bodies, judged, train_parts

CARDS: dict[str, Card] = {n: c for n, c in scan(models, "CARD").items() if n in FIGURES}


def test_every_card_with_these_weights_is_measured() -> None:
    stated = {c.name for c in scan(models, "CARD").values() if c.domain == "mesh" and c.labels == PARTS and c.weights}
    assert {n for n in stated if CARDS.get(n)} == set(FIGURES)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FIGURES))
def test_the_stated_figures_are_true(name: str) -> None:
    card, figures = CARDS[name], FIGURES[name]
    network = card.build(**{p.name: p.default for p in card.params}).eval()
    assert card.weights is not None and isinstance(card.input, MeshInput)
    network.load_state_dict(load_file(WEIGHTS / card.weights))
    found = judged(network, card.input)
    assert sum(p.numel() for p in network.parameters()) == figures.parameters
    stated = (figures.learned, figures.poses, figures.other)
    assert tuple(found.values()) == pytest.approx(stated, abs=2e-3)
    most = max(float(torch.bincount(b.part).max() / len(b.part)) for b in bodies(("body", "body-tall"), card.input))
    assert figures.learned > 0.9 and figures.poses > 0.85 > most


@pytest.mark.slow
def test_training_is_repeatable_and_learns() -> None:
    card = CARDS["mesh-isotropic"]
    assert isinstance(card.input, MeshInput)
    first, found = train_parts(card.build, card.input, epochs=15, seed=3)
    second, again = train_parts(card.build, card.input, epochs=15, seed=3)
    assert found == again and found["learned poses"] > 0.3
    for one, other in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(one, other)
