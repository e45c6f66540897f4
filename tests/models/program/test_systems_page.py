"""docs/systems.md is the table of what is covered: it and the cards say the same."""

from __future__ import annotations

import re
from pathlib import Path

import models
from explorer.declare.registry import scan

PAGE = Path(__file__).resolve().parents[3] / "docs" / "systems.md"
CARDS = scan(models, "CARD")
# | id | system | what one must be able to see | status |
ROW = re.compile(r"^\| ([A-Z]\d+) \| (.+) \| (.+) \| (.+) \|$", re.MULTILINE)
ROWS = {found[0]: found[3] for found in ROW.findall(PAGE.read_text(encoding="utf-8"))}


def test_every_system_has_a_row_and_a_status() -> None:
    wanted = {"G": 11, "S": 4, "N": 10, "E": 4, "M": 5, "R": 7, "L": 4}
    assert list(ROWS) == [f"{letter}{k}" for letter, count in wanted.items() for k in range(1, count + 1)]
    assert all(status == "planned" or status.startswith(("done: `", "in part: `")) for status in ROWS.values())


def test_the_rows_of_every_card_are_in_the_table() -> None:
    for card in CARDS.values():
        for row in card.rows:
            assert row in ROWS, f"{card.name} covers {row}, which docs/systems.md does not have"
            assert f"`{card.name}`" in ROWS[row], f"{card.name} covers {row}, whose status does not name it"


def test_what_is_done_has_its_cards() -> None:
    for row, status in ROWS.items():
        named = re.findall(r"`([^`]+)`", status)
        assert bool(named) == (status != "planned")
        for name in named:
            assert name in CARDS, f"{row} names {name}, which is no model"
            assert row in CARDS[name].rows, f"{row} names {name}, which does not cover it"
