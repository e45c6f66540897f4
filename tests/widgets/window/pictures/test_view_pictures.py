"""The pictures that `run` writes show something."""

from __future__ import annotations

from pathlib import Path

import pytest

import main
from explorer.app.answering.engine import LocalEngine
from explorer.state.state import State
from widgets.window.pictures.gallery import view_pictures


@pytest.mark.slow
def test_a_view_that_only_says_why_it_shows_nothing_is_no_picture(tmp_path: Path) -> None:
    made = view_pictures(lambda: LocalEngine(main.cards()), State(model="vgae", device="cpu"), tmp_path)
    names = {path.stem for path in made}
    assert not names & {"changes", "differences", "laws", "matrix"}, "sentences: of what nobody has asked for"
    assert names >= {"window", "graph", "stage", "errors", "codes", "weights"}
    assert {path.stem for path in tmp_path.glob("*.png")} == names
