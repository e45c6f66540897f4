"""The folder of the cache on disk."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from explorer.work.files.disk_cache import WORTH, folder, load, store


def test_the_variable_wins_over_the_systems_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EQUISCOPE_CACHE", str(tmp_path / "mine"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "system"))
    assert folder() == tmp_path / "mine"
    assert not folder().exists(), "asking for it makes nothing"


@pytest.mark.skipif(sys.platform != "linux", reason="folders of Linux")
def test_the_systems_folder_is_taken_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EQUISCOPE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "system"))
    assert folder() == tmp_path / "system" / "equiscope"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert folder() == tmp_path / ".cache" / "equiscope"


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of the size of files")
def test_what_finds_no_room_is_made_again_next_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    monkeypatch.setenv("EQUISCOPE_CACHE", str(tmp_path))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, hard))
    try:
        store("large", {"x": np.zeros(10_000)}, seconds=WORTH)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert load("large") == {} and list(tmp_path.iterdir()) == []
