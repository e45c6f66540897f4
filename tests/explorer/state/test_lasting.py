"""Sessions of networks that learn: what they name must be there when the window has gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.data.finding import with_whole_path
from explorer.declare.states import model_name
from explorer.declare.states.model_name import LIVE
from explorer.state.lasting import learning, with_copies, with_whole_paths
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


def test_a_session_names_its_files_from_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nets").mkdir()
    for name in ("nets/a.py", "nets/b.safetensors", "x.png", "y#1.png", "vit"):
        (tmp_path / name).write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    at = str(tmp_path)
    for name, whole in {
        "nets/a.py:Net(3, to='x.png')[grid]@partly:nets/b.safetensors": (
            f"{at}/nets/a.py:Net(3, to='x.png')[grid]@partly:{at}/nets/b.safetensors"
        ),
        "d4-cnn@nets/b.safetensors": f"d4-cnn@{at}/nets/b.safetensors",
        "nets/gone.py:Net": "nets/gone.py:Net", "vit": "vit", "./vit": f"{at}/vit",
        "timm:x(img_size=32)": "timm:x(img_size=32)",
        f"{at}/nets/a.py:Net": f"{at}/nets/a.py:Net",
    }.items():  # fmt: skip
        assert model_name.with_whole_paths(name) == whole
    for name, whole in {
        "digit-3": "digit-3", "": "", "random:1x1x9x9": "random:1x1x9x9", "x.png": f"{at}/x.png",
        "x.png?as=image#2": f"{at}/x.png?as=image#2", "y#1.png": f"{at}/y#1.png",
        "a=x.png,t=number:0.5": f"a={at}/x.png,t=number:0.5", "gone.png": "gone.png",
    }.items():  # fmt: skip
        assert with_whole_path(name) == whole
    state = State("nets/a.py:Net", compare="nets/a.py:Other,d4-cnn", sample="x.png", against=run_text(sample="x.png"))
    kept = with_whole_paths(state, with_whole_path)
    assert kept == State(
        f"{at}/nets/a.py:Net", compare=f"{at}/nets/a.py:Other,d4-cnn", sample=f"{at}/x.png",
        against=run_text(sample=f"{at}/x.png"),
    )  # fmt: skip
