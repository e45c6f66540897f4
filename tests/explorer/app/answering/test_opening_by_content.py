"""Open files whose names do not say what they are: data and weights are known by their content."""

from __future__ import annotations

from pathlib import Path

import pytest
from safetensors.torch import save_file

from explorer.app.answering.engine import LocalEngine
from explorer.data.readers import ReadError
from explorer.network.opening.loading import load_model
from explorer.state.state import State
from tests.explorer.parts.hostile.accepted import accepted_files
from tests.explorer.parts.small_cards import CARDS

STATE = State(next(iter(CARDS)))


@pytest.mark.parametrize("case", ["png", "npz", "graphml", "nifti", "wav"])
@pytest.mark.parametrize("name", ["a", "a.download", "a.part"])
def test_data_are_known_by_their_content(case: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(accepted_files()[case][1])
    assert LocalEngine(CARDS).open(str(path), STATE) == {"sample": str(path)}


@pytest.mark.parametrize("content", [bytes(range(256)), b"<!DOCTYPE html><html>no such page</html>", b"\0" * 999])
def test_what_is_neither_data_nor_weights_is_one_sentence_about_data(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(content)
    with pytest.raises(ReadError, match=r"^cannot read a: ") as caught:
        LocalEngine(CARDS).open(str(path), STATE)
    assert "weights" not in str(caught.value)


def test_weights_of_any_name_are_weights(tmp_path: Path) -> None:
    path = tmp_path / "weights"
    save_file(load_model(CARDS[STATE.model], {}).state_dict(), path)
    assert LocalEngine(CARDS).open(str(path), STATE)["model"] == f"{STATE.model}@{path}"
