"""`run --layer --node --step`: pictures show what one asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from explorer.state.state import State
from tests.explorer.parts.command_line import refused
from tests.explorer.parts.small_cards import CARDS

NET = """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mixed = nn.Linear(2, 3)

    def forward(self, x, edge_index):
        return self.mixed(x)
"""


@pytest.mark.parametrize("word", ["--node", "--step"])
def test_pictures_show_the_layer_and_the_place(run: Any, tmp_path: Path, word: str) -> None:
    drawn: list[State] = []

    def pictures(start: object, state: State, folder: Path) -> list[Path]:
        drawn.append(state)
        return []

    path = tmp_path / "net.py"
    path.write_text(NET, encoding="utf-8")
    words = ("run", f"{path}:Net", "--trust", "--data", "karate", "--layer", "mixed")
    assert run(*words, word, 33, "--out", tmp_path / "a", pictures=pictures).code == 0
    assert [(state.layer, state.node) for state in drawn] == [("mixed", 33)]
    refused(run(*words, word, 34, "--out", tmp_path / "b", pictures=pictures), "'karate' has 34 places, 0 to 33")
    assert len(drawn) == 1 and not (tmp_path / "b").exists()


def test_a_layer_or_place_that_cannot_be_is_refused(run: Any, tmp_path: Path) -> None:
    model = next(iter(CARDS))
    refused(run("run", model, "--layer", "nonsense", "--no-pictures", "--out", tmp_path / "a"), "no layer 'nonsense'")
    refused(run("run", model, "--step", 3, "--no-pictures", "--out", tmp_path / "a"), "have no numbers")
    refused(run("run", model, "--step", "-1", "--no-pictures", "--out", tmp_path / "a"), "--step must not be negative")
    assert not (tmp_path / "a").exists()


def test_a_node_and_a_step_at_once_are_told_what_they_are(run: Any, tmp_path: Path) -> None:
    words = ("run", next(iter(CARDS)), "--no-pictures", "--out", tmp_path / "a")
    for place in (("--node", 3, "--step", 2), ("--step", 2, "--node", 3)):
        refused(run(*words, *place), "--node and --step number the one place that is shown")
    refused(run(*words, "--node", 3, "--step", 3), "have no numbers")  # one place, named twice
    assert not (tmp_path / "a").exists()
