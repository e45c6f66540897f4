"""A page of trainings that is closed while something learns says first that it will be lost."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot
from safetensors import safe_open

import main
from explorer.app.answering.engine import LocalEngine
from explorer.app.training.channel import RECORD
from explorer.declare.states.model_name import LIVE
from explorer.state.state import State
from tests.widgets.parts.driving.windows import LONGEST_MS, Open
from widgets.window.main_window import MainWindow
from widgets.window.training.left import LOCK, find
from widgets.window.training.page import TrainPage
from widgets.window.training.run import Run


@pytest.fixture
def start() -> Callable[[], LocalEngine]:
    return lambda: LocalEngine(main.cards())


def begun(qtbot: QtBot, window: MainWindow, folder: Path) -> tuple[TrainPage, Run]:
    """Return the page of trainings, and what it was asked to train into own.safetensors, which has made a step."""
    window.menus.actions["train"].trigger()
    page = window.files.trainer.page
    assert page is not None
    page.path.setText(str(folder / "own.safetensors"))
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: page.run is not None and page.run.told.step > 0, timeout=LONGEST_MS)
    run = page.run
    assert run is not None
    return page, run


def test_a_training_is_not_lost_by_one_click(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    """Close, and Esc, ended it at once, without a word and with nothing written."""
    window = open_window(State("plain-cnn", device="cpu"))
    page, run = begun(qtbot, window, tmp_path)
    close = next(found for found in page.findChildren(QPushButton) if found.text() == "Close")
    for _ in range(2):
        qtbot.mouseClick(close, Qt.MouseButton.LeftButton)
        assert page.isVisible() and run.process.running
        qtbot.waitUntil(lambda: "close it once more" in page.status.text(), timeout=LONGEST_MS)
        qtbot.mouseClick(page.play, Qt.MouseButton.LeftButton)  # whoever goes on has not meant it
        qtbot.waitUntil(lambda: "close it once more" not in page.status.text(), timeout=LONGEST_MS)
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert page.isVisible() and run.process.running
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert not page.isVisible() and not run.process.running
    # where nothing learns there is nothing to say
    window.menus.actions["train"].trigger()
    assert page.isVisible()
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert not page.isVisible()


def test_an_unfinished_training_goes_on_in_another_window(
    qtbot: QtBot, open_window: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was lost when its page was closed: what is kept lies beside its weights, as `train --resume` takes it up."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))  # where whoever runs the tests may have trainings of their own
    window = open_window(State("plain-cnn", device="cpu"))
    page, run = begun(qtbot, window, tmp_path)
    page.rate.setValue(0.5)
    qtbot.waitUntil(lambda: len(run.told.kept) > 2, timeout=LONGEST_MS)
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: "goes on from there" in page.status.text(), timeout=LONGEST_MS)
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    assert not page.isVisible()
    kept = tmp_path / "own.safetensors.training"
    assert (kept / "training.json").is_file() and not (tmp_path / "own.safetensors").exists()
    window.close()

    window = open_window(State("plain-cnn", device="cpu"))
    window.menus.actions["train"].trigger()
    page = window.files.trainer.page
    assert page is not None and page.kept.isHidden()
    page.seed.setValue(7)  # not that of what is kept, which goes on with its own
    page.path.clear()
    qtbot.keyClicks(page.path, str(tmp_path / "own.safetensors"))  # the first letter is a path without a name
    assert page.kept.wished
    step = int("".join(filter(str.isdigit, page.kept.text())))
    assert step > 1
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: page.run is not None and page.run.told.step > step, timeout=LONGEST_MS)
    run = page.run
    assert run is not None and run.wanted.seed == 0
    assert list(run.told.losses["loss"].x) == list(range(1, run.told.step + 1))  # its curve is whole
    qtbot.mouseClick(page.finish, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not run.process.running, timeout=LONGEST_MS)
    assert (tmp_path / "own.safetensors").exists() and not kept.exists()


def test_the_training_of_a_window_that_was_killed_is_offered_to_the_next_one(
    qtbot: QtBot, open_window: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was lost with the window: nobody looked for what had been kept of it."""
    monkeypatch.setenv("EQUISCOPE_CACHE", str(tmp_path / "cache"))
    window = open_window(State("plain-cnn", device="cpu"))
    page, run = begun(qtbot, window, tmp_path)
    qtbot.waitUntil(lambda: len(run.told.kept) > 2, timeout=LONGEST_MS)
    assert find() == []  # it runs, and nobody takes it away
    killed = tmp_path / "cache" / "trainings" / "training-killed"
    shutil.copytree(run.folder.name, killed, ignore=shutil.ignore_patterns(LOCK))  # as a kill leaves it
    # it learns on meanwhile: what is on record reaches as far as what is kept, as it does after a kill
    shutil.copy(Path(run.folder.name) / RECORD, killed / RECORD)
    with (killed / RECORD).open("a", encoding="utf-8") as record:
        record.write('{"steps": [[')  # in the middle of a word
    qtbot.mouseClick(page.stop, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not run.process.running, timeout=LONGEST_MS)
    window.close()
    assert not (tmp_path / "own.safetensors.training").exists()

    window = open_window(State("d4-cnn", device="cpu"))
    qtbot.waitUntil(lambda: "was cut off with its window" in window.infobar.text.text(), timeout=LONGEST_MS)
    assert "plain-cnn" in window.infobar.text.text() and not killed.exists()
    qtbot.mouseClick(window.infobar.offer_button, Qt.MouseButton.LeftButton)
    page = window.files.trainer.page
    assert page is not None and page.info.name == "plain-cnn" and page.kept.wished
    assert page.path.text() == str(tmp_path / "own.safetensors")
    step = int("".join(filter(str.isdigit, page.kept.text())))
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: page.run is not None and page.run.told.step > step, timeout=LONGEST_MS)
    told = page.run.told if page.run is not None else None
    assert told is not None and 0 in told.kept
    assert list(told.losses["loss"].x) == list(range(1, told.step + 1))  # its curve began anew there
    assert any(points.x[0] < step for points in told.errors.values())
    assert page.kept.isHidden()  # what runs is not offered once more
    qtbot.mouseClick(page.stop, Qt.MouseButton.LeftButton)


def test_the_field_of_the_weights_names_the_file_of_the_training_that_runs(
    qtbot: QtBot, open_window: Open, tmp_path: Path
) -> None:
    """After a start it named the file of the next one, which nobody had asked for."""
    page, run = begun(qtbot, open_window(State("plain-cnn", device="cpu")), tmp_path)
    assert page.path.text() == str(run.wanted.path) == str(tmp_path / "own.safetensors")
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    assert page.run is not None and page.path.text() == str(page.run.wanted.path) == str(tmp_path / "own-2.safetensors")
    qtbot.mouseClick(page.stop, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not page.runs[1].process.running, timeout=LONGEST_MS)
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)  # nothing was written there
    assert page.path.text() == str(page.runs[2].wanted.path) == str(tmp_path / "own-2.safetensors")
    for one in (run, page.runs[2]):
        one.process.stop()


def test_a_folder_of_the_name_that_holds_something_else_stays(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    (tmp_path / "own.safetensors.training").mkdir()
    (tmp_path / "own.safetensors.training" / "notes.txt").write_text("mine")
    page, run = begun(qtbot, open_window(State("plain-cnn", device="cpu")), tmp_path)
    qtbot.waitUntil(lambda: bool(run.told.kept), timeout=LONGEST_MS)
    page.close()
    assert [path.name for path in (tmp_path / "own.safetensors.training").iterdir()] == ["notes.txt"]


def test_what_is_kept_is_offered_to_its_own_network_and_may_be_left(
    qtbot: QtBot, open_window: Open, tmp_path: Path
) -> None:
    window = open_window(State("plain-cnn", device="cpu"))
    page, run = begun(qtbot, window, tmp_path)
    qtbot.waitUntil(lambda: bool(run.told.kept), timeout=LONGEST_MS)
    page.close()
    window.files.trainer.page = None
    window.menus.actions["train"].trigger()
    page = window.files.trainer.page
    assert page is not None
    page.choose("d4-cnn")
    page.path.setText(str(tmp_path / "own.safetensors"))
    assert not page.kept.wished
    page.choose("plain-cnn")
    page.path.setText(str(tmp_path / "own.safetensors"))
    assert page.kept.wished
    qtbot.mouseClick(page.kept, Qt.MouseButton.LeftButton)
    assert not page.kept.wished
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    assert page.run is not None and not page.run.wanted.goes_on
    qtbot.mouseClick(page.stop, Qt.MouseButton.LeftButton)


def test_a_training_is_not_lost_by_quitting_once(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    """Ctrl+Q ended it at once, where closing its page asked."""
    window = open_window(State("plain-cnn", device="cpu"))
    _, run = begun(qtbot, window, tmp_path)
    window.menus.actions["quit"].trigger()
    assert window.isVisible() and run.process.running and "quit once more" in window.infobar.text.text()
    window.menus.actions["quit"].trigger()
    assert not window.isVisible() and not run.process.running


def test_a_training_that_is_killed_goes_on_with_play(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    """It was lost, though its steps were kept."""
    window = open_window(State("plain-cnn", device="cpu"))
    page, run = begun(qtbot, window, tmp_path)
    qtbot.waitUntil(lambda: len(run.told.kept) > 1, timeout=LONGEST_MS)
    qtbot.waitUntil(lambda: window.controller.state.model.endswith(LIVE), timeout=LONGEST_MS)
    page.rate.setValue(0.5)
    run.process.process.kill()
    qtbot.waitUntil(lambda: "Play goes on from step" in page.status.text(), timeout=LONGEST_MS)
    qtbot.waitUntil(lambda: window.controller.state.model == "plain-cnn", timeout=LONGEST_MS)
    kept = run.told.kept[-1]
    assert f"{kept:,}" in page.status.text() and page.play.isEnabled() and page.play.text() == "Play"
    stood: list[int] = []
    qtbot.mouseClick(page.play, Qt.MouseButton.LeftButton)
    run.process.told.connect(lambda found: stood.append(found["back"]) if "back" in found else None)
    qtbot.waitUntil(lambda: bool(stood) and run.told.step > stood[0], timeout=LONGEST_MS)
    qtbot.waitUntil(lambda: window.controller.state.model.endswith(LIVE), timeout=LONGEST_MS)
    assert stood == [kept] and run.process.running and page.play.text() == "Pause"
    qtbot.mouseClick(page.finish, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: (tmp_path / "own.safetensors").is_file(), timeout=LONGEST_MS)
    with safe_open(tmp_path / "own.safetensors", "pt") as file:
        assert "rate 0.5" in file.metadata()["changes"]
