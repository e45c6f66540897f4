"""A file is written whole or not at all, and what is no file stays what it is."""

from __future__ import annotations

import os
import shutil
import stat
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from explorer.work.files.replacing import filled, keep_aside, replacing, write_whole


def test_what_fails_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    write_whole(path, b"before")
    with pytest.raises(RuntimeError), replacing(path) as beside:
        beside.write_bytes(b"half")
        raise RuntimeError
    assert path.read_bytes() == b"before" and os.listdir(tmp_path) == ["session.json"]
    write_whole(path, b"after")
    assert path.read_bytes() == b"after" and os.listdir(tmp_path) == ["session.json"]


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "private", tmp_path / "link"
    write_whole(path, b"before")
    path.chmod(0o600)
    link.symlink_to(path.name)
    write_whole(link, b"after")
    assert link.is_symlink() and path.read_bytes() == b"after"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_to_nothing_leads_to_the_new_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("there")
    write_whole(tmp_path / "link", b"it")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "there").read_bytes() == b"it"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_a_pipe_takes_the_bytes_and_stays_a_pipe(tmp_path: Path) -> None:
    path, taken = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: taken.append(path.read_bytes()))
    reader.start()
    write_whole(path, b"through")
    reader.join(10.0)
    assert taken == [b"through"] and stat.S_ISFIFO(path.stat().st_mode)


def test_an_error_names_what_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as none:
        write_whole(tmp_path / "no" / "where.json", b"")
    assert none.value.filename == str(tmp_path / "no" / "where.json")
    with pytest.raises(IsADirectoryError) as folder:
        write_whole(tmp_path, b"")
    assert folder.value.filename == str(tmp_path)
    assert not any(tmp_path.iterdir()) and not [p for p in tmp_path.parent.iterdir() if ".part" in p.name]


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / f"{'x' * 250}.json"
    write_whole(path, b"1")
    assert path.read_bytes() == b"1"


@pytest.mark.parametrize("error", [OSError("20480 requested and 12585 written"), RuntimeError("writing failed")])
def test_a_full_disk_is_told_in_the_words_of_the_system(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path := tmp_path / "a.ply").write_text("old")
    free = 10**9
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=free))
    with pytest.raises(type(error)) as caught, replacing(path):
        raise error
    assert caught.value is error
    free = 100
    with pytest.raises(OSError, match="No space left on device") as full, replacing(path):
        raise error
    assert full.value.filename == str(path) and path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("deep", ["out", "new/deep/out"])
def test_folders_that_nothing_came_into_are_taken_away(tmp_path: Path, deep: str) -> None:
    folder = tmp_path / deep
    with pytest.raises(OSError, match="full"), filled(folder, alone=True):
        (folder / "d4-cnn").mkdir()
        raise OSError("full")
    assert list(tmp_path.iterdir()) == []
    with filled(folder, alone=True):
        (folder / "empty").mkdir()
    assert list(folder.iterdir()) == [folder / "empty"]


def test_what_was_there_before_stays_where_a_folder_is_not_filled(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    with pytest.raises(OSError, match="full"), filled(tmp_path, alone=True):
        for name in ("half", "none"):
            (tmp_path / name).mkdir()
        (tmp_path / "half" / "stage.png").write_bytes(b"x")
        raise OSError("full")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["half", "mine"]
    with pytest.raises(OSError, match="full"), filled(tmp_path):
        (tmp_path / "another's").mkdir()
        raise OSError("full")
    assert (tmp_path / "another's").exists()


def test_what_a_killed_process_left_goes_when_something_is_written_beside_it(tmp_path: Path) -> None:
    old, young, other = (tmp_path / name for name in (f".{'ab' * 6}.part.json", f".{'cd' * 6}.part.json", ".own.part"))
    folder = tmp_path / f".{'ef' * 6}.part"
    folder.mkdir()
    for path in (old, young, other):
        path.write_text("{")
    for path in (old, other, folder):
        os.utime(path, (1e9, 1e9))
    write_whole(tmp_path / "a.json", b"{}")
    assert {path.name for path in tmp_path.iterdir()} == {"a.json", young.name, other.name, folder.name}


@pytest.mark.parametrize(
    "contents", [[b"one"], [b"one", b"two"], [b"one", b"two", b"one"], [bytes([k]) for k in range(9)]]
)
def test_damaged_files_are_kept_aside_each_once_and_not_without_end(tmp_path: Path, contents: list[bytes]) -> None:
    path = tmp_path / "a.ini"
    for content in contents:
        path.write_bytes(content)
        copy = keep_aside(path)
        assert copy is not None and copy.read_bytes() == content
    copies = [one for one in tmp_path.iterdir() if one != path]
    assert len(copies) == min(len(set(contents)), 5)
    assert keep_aside(tmp_path / "none.ini") is None
