"""Sessions of networks that learn: what they name must be there when the window has gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.declare.states.model_name import LIVE
from explorer.state.lasting import learning, with_copies
from explorer.state.runs import compared_state, run_text
from explorer.state.session import load_session, save_session
from explorer.state.state import State


def in_training(folder: Path, name: str = "vae") -> str:
    folder.mkdir()
    (folder / LIVE).write_bytes(name.encode())
    return f"{name}@{folder / LIVE}"


def test_weights_of_a_training_are_copied_beside_the_session(tmp_path: Path) -> None:
    one, two = in_training(tmp_path / "a"), in_training(tmp_path / "b", "autoencoder")
    state = State(one, compare=f"{two},vae", against=run_text(model=two, sample="digit-5"))
    (tmp_path / "s.safetensors").write_bytes(b"of somebody else")
    kept, copies = with_copies(state, tmp_path / "s.json")
    assert learning(state) == (one, two) and learning(kept) == ()
    assert [copy.name for copy in copies] == ["s-2.safetensors", "s-3.safetensors"]
    assert (kept.model, kept.compared) == (f"vae@{copies[0]}", (f"autoencoder@{copies[1]}", "vae"))
    other = compared_state(kept)
    assert other is not None and (other.model, other.sample) == (f"autoencoder@{copies[1]}", "digit-5")
    assert [copy.read_bytes() for copy in copies] == [b"vae", b"autoencoder"]
    assert (tmp_path / "s.safetensors").read_bytes() == b"of somebody else"
    save_session(tmp_path / "s.json", kept)
    assert load_session(tmp_path / "s.json").state == kept


def test_what_learns_nowhere_is_left_as_it_is(tmp_path: Path) -> None:
    state = State("vae@/somewhere/mine.safetensors")
    assert with_copies(state, tmp_path / "s.json") == (state, ()) and not list(tmp_path.iterdir())


def test_nothing_is_left_behind_where_one_of_two_cannot_be_copied(tmp_path: Path) -> None:
    one, two = in_training(tmp_path / "a"), in_training(tmp_path / "b", "autoencoder")
    (tmp_path / "b" / LIVE).unlink()
    with pytest.raises(OSError):
        with_copies(State(one, compare=two), tmp_path / "s.json")
    assert not list(tmp_path.glob("*.safetensors"))
