"""Killed at any moment of writing: the old file is there or the new one, and the next start works."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.hostile.kills import WORKS, Work, crash_points, killed_at_random

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
KILLS = 6  # of each kind at random


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EQUISCOPE_CACHE", "EQUISCOPE_CONFIG"):
        monkeypatch.setenv(name, str(tmp_path / name))


@pytest.mark.parametrize("work", WORKS, ids=[work.name for work in WORKS])
def test_before_each_change_of_the_disk(work: Work, tmp_path: Path) -> None:
    assert len(list(crash_points(work, tmp_path / "there"))) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("work", WORKS, ids=[work.name for work in WORKS])
def test_at_random_moments(work: Work, tmp_path: Path) -> None:
    rng = random.Random(work.name)
    work.write(tmp_path, 0)
    for _ in range(KILLS):
        killed_at_random(work, tmp_path, rng)
        work.write(tmp_path, 1)
        assert 1 in work.read(tmp_path)


def test_what_is_written_in_place_is_found_half(tmp_path: Path) -> None:
    """The search itself: a file that is first emptied and then written is half in between."""

    def write(folder: Path, version: int) -> None:
        path = folder / "a"
        if path.exists():
            os.unlink(path)
        os.chmod(folder, 0o700)
        path.write_bytes(str(version).encode() * 100)

    work = Work("in place", write, lambda folder: {int((folder / "a").read_bytes()[:1])})
    with pytest.raises(FileNotFoundError):
        list(crash_points(work, tmp_path / "there"))
