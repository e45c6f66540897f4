"""A program for processes of their own: the small cards, and the command line on them."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from explorer.app.command import cli
from explorer.declare.card import Card
from tests.explorer.parts.small_cards import CARDS, doors

PROGRAM = __name__


def cards() -> Mapping[str, Card]:
    return CARDS


def main(argv: list[str] | None = None) -> int:
    return cli.main(sys.argv[1:] if argv is None else argv, doors(program=PROGRAM))
