"""Trainings of two windows, each of a program of its own: neither writes the weights of the other."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

import main
from explorer.app.answering.engine import LocalEngine
from explorer.state.state import State
from tests.widgets.parts.driving.windows import LONGEST_MS, Open
from widgets.window.training.left import find, written_by_others

ANOTHER = """
import sys
from pathlib import Path
from widgets.window.training.left import Place
from widgets.window.training.told import Wanted
place = Place(Wanted(Path(sys.argv[1])))
print("there", flush=True)
sys.stdin.read()
place.cleanup()
"""


@pytest.fixture
def start() -> Callable[[], LocalEngine]:
    return lambda: LocalEngine(main.cards())


@contextmanager
def another_window_trains(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Let another program have a training that will write a file."""
    words = [sys.executable, "-c", ANOTHER, str(path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None and other.stdout.readline() == "there\n"
        yield other
        if other.stdin is not None:
            other.stdin.close()


def test_what_another_window_trains_is_not_written_over(
    qtbot: QtBot, open_window: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both named the same file, which was not there yet, and the last one to end wrote over the other."""
    monkeypatch.setenv("EQUISCOPE_CACHE", str(tmp_path / "cache"))
    window = open_window(State("plain-cnn", device="cpu"))
    window.settings.setValue("folder", str(tmp_path))
    with another_window_trains(tmp_path / "plain-cnn.safetensors"):
        window.menus.actions["train"].trigger()
        page = window.files.trainer.page
        assert page is not None and page.path.path == tmp_path / "plain-cnn-2.safetensors"
        page.path.setText(str(tmp_path / "plain-cnn.safetensors"))  # by hand, and it is taken all the same
        qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
        assert page.run is not None and page.run.wanted.path == tmp_path / "plain-cnn-2.safetensors"
        assert page.path.path == tmp_path / "plain-cnn-2.safetensors"
        assert written_by_others() == {tmp_path / "plain-cnn.safetensors"}  # its own are none of others
    page.run.close()
    qtbot.waitUntil(lambda: page.run is not None and not page.run.process.running, timeout=LONGEST_MS)


def test_a_file_that_came_since_it_was_proposed_is_not_written_over(
    qtbot: QtBot, open_window: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page named a file when it was opened, and another window had written it by the time of Start."""
    monkeypatch.setenv("EQUISCOPE_CACHE", str(tmp_path / "cache"))
    window = open_window(State("plain-cnn", device="cpu"))
    window.settings.setValue("folder", str(tmp_path))
    window.menus.actions["train"].trigger()
    page = window.files.trainer.page
    assert page is not None and page.path.path == tmp_path / "plain-cnn.safetensors"
    (tmp_path / "plain-cnn.safetensors").write_bytes(b"of another window")
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    assert page.run is not None and page.run.wanted.path == tmp_path / "plain-cnn-2.safetensors"
    page.run.close()
    qtbot.waitUntil(lambda: page.run is not None and not page.run.process.running, timeout=LONGEST_MS)


def test_what_a_killed_window_would_have_written_is_free_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EQUISCOPE_CACHE", str(tmp_path / "cache"))
    with another_window_trains(tmp_path / "own.safetensors") as other:
        assert written_by_others() == {tmp_path / "own.safetensors"}
        assert find() == []
        other.kill()
        other.wait()
        assert written_by_others() == set()
