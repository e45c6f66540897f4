"""docs/models/meshes.md says of each card on meshes what the card says: rows, parameters, figures."""

from __future__ import annotations

import re
from pathlib import Path

import models
from explorer.declare.registry import scan

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "models" / "meshes.md").read_text(encoding="utf-8")
CARDS = {name: card for name, card in scan(models, "CARD").items() if card.domain == "mesh"}
# | model | row | shows | compared with | figures |
ROWS = {row[0]: row for row in re.findall(r"^\| ([a-z-]+) \| (M.*?) \| (.+) \| (.+) \| (.+) \|$", PAGE, re.MULTILINE)}


def test_every_card_on_meshes_has_a_row() -> None:
    assert sorted(ROWS) == sorted(CARDS)
    for name, card in CARDS.items():
        assert ROWS[name][1] == ", ".join(card.rows)


def test_figures_are_those_of_the_cards() -> None:
    for name, card in CARDS.items():
        figures = ROWS[name][4]
        count = sum(p.numel() for p in card.build().parameters())
        assert figures.startswith(f"{count:,} parameters"), name
        told = re.findall(r"[\d.]+ %", " ".join(card.notes))
        assert re.findall(r"[\d.]+ %", figures) == told, name
        assert ("fresh weights" in figures) == (card.weights is None), name
