"""Trust by content: remembered, forgotten with a changed byte, never more than the person has said."""

from __future__ import annotations

import errno
import json
import os
import py_compile
import sys
from pathlib import Path

import pytest

from explorer.app.answering.engine import LocalEngine
from explorer.network.opening.files.edits import edits
from explorer.network.opening.files.python_text import code_files
from explorer.network.opening.files.trust import NAME, TEXTS, Trust, listed, remember, remembered, revoke, text_of
from explorer.network.opening.loading import file_card, find_card, load_model
from explorer.network.opening.refusals import ModelError, Untrusted
from explorer.state.state import State

NET = "from torch import nn\nINPUT_SHAPE = (1, None, None)\nfrom {helper} import width\n"
NET += "def net():\n    return nn.Conv2d(1, width, 3, padding=1)\n"


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EQUISCOPE_CONFIG", str(tmp_path / "config"))
    return tmp_path / "config"


@pytest.fixture
def net(tmp_path: Path) -> Path:
    """Write a network that imports a file beside it, whose name no other test imports."""
    helper = f"helper_{tmp_path.name}"
    (tmp_path / f"{helper}.py").write_text("width = 4\n")
    path = tmp_path / "net.py"
    path.write_text(NET.format(helper=helper))
    return path


def test_what_is_trusted_is_remembered(net: Path, config: Path) -> None:
    assert remembered() == {}
    code = code_files(net)
    remember(code)
    assert list(remembered().values()) == ["net.py", f"helper_{net.parent.name}.py"]
    assert Trust(contents=set(remembered())).allows(net)
    assert sorted(p.name for p in config.iterdir()) == [TEXTS, NAME]
    assert sorted(p.name for p in (config / TEXTS).iterdir()) == sorted(digest for _, digest in code)


@pytest.mark.parametrize("which", [0, 1], ids=["the file", "what it imports"])
def test_another_content_is_not_trusted(net: Path, which: int) -> None:
    code = code_files(net)
    trust = Trust(contents={digest for _, digest in code})
    assert trust.allows(net)
    changed = Path(code[which][0])
    changed.write_text(changed.read_text() + "\n")
    assert not trust.allows(net) and trust.missing(code_files(net)) == (str(changed),)
    with pytest.raises(Untrusted, match="add --trust"):
        file_card(net, "net", trust)
    trust.followed.add(net.resolve())
    assert trust.allows(net)


def test_an_engine_runs_what_is_trusted_and_nothing_else(net: Path) -> None:
    other = net.with_name("other.py")
    other.write_text("raise SystemExit('executed')\n")
    engine = LocalEngine({}, Trust(contents={digest for _, digest in code_files(net)}))
    assert engine.answer(State(f"{net}:net", sample="digit-1"), lambda: False).squares
    with pytest.raises(Untrusted):
        engine.answer(State(f"{other}:net"), lambda: False)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"equiscope_trust": 1, "sha256": 3}',
        '{"equiscope_trust": 2, "sha256": {}}',
        "[" * 100_000,
    ],
)
def test_a_broken_store_counts_as_empty_and_is_written_again(net: Path, config: Path, text: str) -> None:
    config.mkdir()
    (config / NAME).write_text(text)
    assert remembered() == {}
    remember(code_files(net))
    assert len(remembered()) == 2
    assert (config / f"{NAME}.damaged").read_text() == text, "who knows what it is can read it still"
    remember(code_files(net))
    assert len(list(config.glob(f"{NAME}.*"))) == 1, "a whole list is not kept aside"


def test_entries_that_are_none_are_left_out(config: Path) -> None:
    config.mkdir()
    held = {"ab" * 32: "good.py", "x": "short.py", "zz" * 32: "no.py", "cd" * 32: 5}
    (config / NAME).write_text(json.dumps({"equiscope_trust": 1, "sha256": held}))
    assert remembered() == {"ab" * 32: "good.py"}


def test_a_failed_write_leaves_what_was(net: Path, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remember([("a.py", "ab" * 32)])

    def fail(*args: object) -> None:
        raise OSError(errno.ENOSPC, "disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        remember(code_files(net))
    assert list(remembered().values()) == ["a.py"]
    assert [p.name for p in config.rglob("*") if p.is_file()] == [NAME]


@pytest.mark.parametrize("which", ["net", "helper"])
def test_compiled_code_beside_the_text_is_not_run(net: Path, which: str) -> None:
    """A cache that is never compared with the text, with other code in it."""
    path = net if which == "net" else Path(code_files(net)[1][0])
    text = path.read_text()
    path.write_text("raise SystemExit('from the cache')\n")
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    cached = py_compile.compile(str(path), invalidation_mode=mode)
    assert cached is not None and Path(cached).is_file() and sys.implementation.cache_tag in cached
    path.write_text(text)
    assert file_card(net, "net", True).name


def test_compiled_modules_are_part_of_what_is_trusted(net: Path) -> None:
    helper = Path(code_files(net)[1][0])
    helper.unlink()
    (net.parent / f"{helper.stem}.so").write_bytes(b"\x7fELF")
    assert [Path(file).suffix for file, _ in code_files(net)] == [".py", ".so"]


def test_weights_that_fit_in_part_are_loaded_when_that_is_asked_for(net: Path, tmp_path: Path) -> None:
    import torch
    from safetensors.torch import save_file

    path = tmp_path / "w.safetensors"
    save_file({"weight": torch.ones(4, 1, 3, 3), "bias": torch.ones(9)}, path)
    with pytest.raises(ModelError, match="'bias' has the shape"):
        load_model(find_card(f"{net}:net@{path}", {}, True))
    notes: list[str] = []
    made = load_model(find_card(f"{net}:net@partly:{path}", {}, True), tell=notes.append)
    assert made.state_dict()["weight"].eq(1).all()
    assert notes == ["w.safetensors fits 1 of 2 tensors; untrained are bias"]
    save_file({"other": torch.ones(3)}, path)
    with pytest.raises(ModelError, match="none of its 1 tensors fits"):
        load_model(find_card(f"{net}:net@partly:{path}", {}, True))


def test_an_edit_is_shown_against_what_was_trusted(net: Path) -> None:
    remember(code_files(net))
    assert edits(code_files(net)) == ()
    helper = Path(code_files(net)[1][0])
    helper.write_text("width = 5\n")
    (edit,) = edits(code_files(net))
    assert edit.path == str(helper) and edit.lines == ("@@ -1 +1 @@", "-width = 4", "+width = 5")
    assert (edit.added, edit.removed) == (1, 1) and edit.trusted.when
    remember(code_files(net))
    assert edits(code_files(net)) == ()


def test_what_is_taken_back_is_forgotten_with_its_text(net: Path, config: Path) -> None:
    code = code_files(net)
    remember(code)
    digest = code[0][1]
    assert text_of(digest) == net.read_text() and listed()[0].path == str(net.resolve())
    revoke({digest})
    assert digest not in remembered() and text_of(digest) is None and not (config / TEXTS / digest).exists()
    assert not Trust(contents=set(remembered())).allows(net)


def test_a_text_that_was_tampered_with_is_not_shown(net: Path, config: Path) -> None:
    remember(code_files(net))
    digest = code_files(net)[0][1]
    (config / TEXTS / digest).write_text("harmless = True\n")
    assert text_of(digest) is None


def test_places_of_another_form_are_left_out(net: Path, config: Path) -> None:
    remember(code_files(net))
    whole = json.loads((config / NAME).read_text())
    whole["places"] = dict.fromkeys(whole["places"], 7)
    (config / NAME).write_text(json.dumps(whole))
    assert [one.path for one in listed()] == ["", ""] and len(remembered()) == 2
