"""docs/models/volumes.md says of each card on volumes and the sphere what the card says: rows, parameters."""

from __future__ import annotations

import re
from pathlib import Path

import models
from explorer.declare.registry import scan

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "models" / "volumes.md").read_text(encoding="utf-8")
CARDS = {name: card for name, card in scan(models, "CARD").items() if card.domain in ("volume", "sphere")}
# | model | row | shows | compared with | figures |
ROWS = {
    row[0]: row
    for row in re.findall(r"^\| ([a-z0-9-]+) \| (G8|G10|E2) \| (.+) \| (.+) \| (.+) \|$", PAGE, re.MULTILINE)
}


def test_every_card_has_a_row() -> None:
    assert sorted(ROWS) == sorted(CARDS)
    for name, card in CARDS.items():
        assert ROWS[name][1] == ", ".join(card.rows)
        count = sum(p.numel() for p in card.build().parameters())
        assert ROWS[name][4].startswith(f"{count:,} parameters"), name
