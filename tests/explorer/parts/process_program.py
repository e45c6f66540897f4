"""A program for processes of their own: the small cards, and the command line on them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from explorer.app.command import cli
from explorer.declare.card import Card
from explorer.state.state import State
from tests.explorer.parts.small_cards import CARDS, doors

PROGRAM = __name__


def cards() -> Mapping[str, Card]:
    return CARDS


def main(argv: list[str] | None = None) -> int:
    return cli.main(sys.argv[1:] if argv is None else argv, doors(program=PROGRAM, pictures=pictures))


def pictures(start: Callable[[], Any], state: State, folder: Path) -> list[Path]:
    """Answer the state as a window does, and write what stands for a picture of it."""
    start().answer(state, lambda: False)
    (folder / "stage.png").write_bytes(b"a picture")
    return [folder / "stage.png"]
