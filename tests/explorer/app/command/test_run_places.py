"""`run --layer --node --step`: pictures show what one asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from explorer.state.state import State
from tests.explorer.parts.command_line import refused
from tests.explorer.parts.small_cards import CARDS


@pytest.mark.parametrize("word", ["--node", "--step"])
def test_pictures_show_the_layer_and_the_place(run: Any, tmp_path: Path, word: str) -> None:
    drawn: list[State] = []

    def pictures(start: object, state: State, folder: Path) -> list[Path]:
        drawn.append(state)
        return []

    model = next(iter(CARDS))
    layer = run("run", model, "--no-pictures", "--json", "--out", tmp_path / "a").json["layers"][-1]["name"]
    run("run", model, "--layer", layer, word, 3, "--out", tmp_path / "b", pictures=pictures)
    assert [(state.layer, state.node) for state in drawn] == [(layer, 3)]


def test_a_layer_or_place_that_cannot_be_is_refused(run: Any, tmp_path: Path) -> None:
    model = next(iter(CARDS))
    refused(run("run", model, "--layer", "nonsense", "--no-pictures", "--out", tmp_path / "a"), "no layer 'nonsense'")
    refused(run("run", model, "--step", "-1", "--no-pictures", "--out", tmp_path / "a"), "--step must not be negative")
    assert not (tmp_path / "a").exists()
