"""A file is opened in the model that is shown, if that takes it; else in one that does."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from pathlib import Path

import nibabel
import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent
from pytestqt.qtbot import QtBot

from explorer.data import opening
from explorer.state.state import State
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, settle
from widgets.window.main_window import MainWindow

WATER = "3\nwater\nO 0 0 0.119\nH 0 0.763 -0.477\nH 0 -0.763 -0.477\n"
PROSE = "The quick brown fox jumps over the lazy dog.\nIt sleeps.\n"


def molecule(folder: Path) -> Path:
    (folder / "water.xyz").write_text(WATER)
    return folder / "water.xyz"


def crystal(folder: Path) -> Path:
    cell = 'Lattice="5.6 0 0 0 5.6 0 0 0 5.6" Properties=species:S:1:pos:R:3 pbc="T T T"'
    (folder / "salt.xyz").write_text(f"2\n{cell}\nNa 0 0 0\nCl 2.8 0 0\n")  # so ASE writes it
    return folder / "salt.xyz"


def volume_with_another_ending(folder: Path) -> Path:
    values = np.random.default_rng(0).random((12, 12, 12), dtype=np.float32)
    nibabel.save(nibabel.Nifti1Image(values, np.eye(4)), folder / "volume.nii")
    return (folder / "volume.nii").rename(folder / "volume.aiff")


def panorama(folder: Path) -> Path:
    return picture(folder, 32, 64)


def square(folder: Path) -> Path:
    return picture(folder, 32, 32)


def picture(folder: Path, rows: int, columns: int) -> Path:
    pixels = np.random.default_rng(0).integers(0, 255, (rows, columns, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(folder / "picture.png")
    return folder / "picture.png"


def prose(folder: Path) -> Path:
    (folder / "fox.txt").write_text(PROSE)
    return folder / "fox.txt"


def asked_for(window: MainWindow, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Choose File > Open data, and this file in its dialog."""
    monkeypatch.setattr(window.files, "ask_open", lambda *_: str(path))
    window.files.open_data()


def dropped(window: MainWindow, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drop the file on the window."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    at, none = QPoint(400, 300), Qt.KeyboardModifier.NoModifier
    window.dropEvent(QDropEvent(at, Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, none))


Way = Callable[[MainWindow, Path, pytest.MonkeyPatch], None]


def opened(qtbot: QtBot, window: MainWindow, path: Path, way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    way(window, path, monkeypatch)
    qtbot.waitUntil(lambda: window.controller.state.sample == str(path), timeout=LONGEST_MS)
    settle(qtbot, window)


@pytest.mark.parametrize("way", [asked_for, dropped])
@pytest.mark.parametrize(("model", "file"), [("egnn", molecule), ("sphere-cnn", panorama)])
@pytest.mark.slow
def test_the_model_that_is_shown_is_kept_where_it_takes_data_of_another_kind(
    qtbot: QtBot, open_window: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    model: str, file: Callable[[Path], Path], way: Way,
) -> None:  # fmt: skip
    window = open_window(State(model, device="cpu"))
    before, path = window.controller.state.sample, file(tmp_path)
    readers: list[threading.Thread] = []
    read = opening.read_file
    monkeypatch.setattr(opening, "read_file", lambda *of: (readers.append(threading.current_thread()), read(*of))[1])
    opened(qtbot, window, path, way, monkeypatch)
    assert window.controller.state.model == model
    assert window.controller.frame is not None and window.controller.frame.sample_title == path.name
    assert not window.infobar.isVisible(), window.infobar.text.text()
    assert readers and threading.main_thread() not in readers
    window.controller.undo()
    assert (window.controller.state.model, window.controller.state.sample) == (model, before)
    assert not window.controller.can_undo


@pytest.mark.parametrize(
    ("model", "file", "domain"), [("gcn", prose, "sequence"), ("sphere-cnn", square, "grid"), ("gcn", panorama, "grid")]
)
@pytest.mark.slow
def test_what_the_model_does_not_take_brings_one_that_does(
    qtbot: QtBot, open_window: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    model: str, file: Callable[[Path], Path], domain: str,
) -> None:  # fmt: skip
    window = open_window(State(model, device="cpu"))
    path = file(tmp_path)
    opened(qtbot, window, path, asked_for, monkeypatch)
    assert window.controller.info is not None and window.controller.info.domain == domain
    assert window.controller.state.sample == str(path), "the first of its kind refuses a text: it is DNA that it reads"
    said = window.infobar.text.text() if window.infobar.isVisible() else ""
    assert "cannot take" in said and window.controller.info.title in said


@pytest.mark.slow
def test_a_cloud_of_points_in_a_ply_is_no_mesh_though_one_is_shown(
    qtbot: QtBot, open_window: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [f"{math.sin(k):.4f} {math.cos(3 * k):.4f} {k / 60:.4f}" for k in range(60)]
    axes = [f"property float {axis}" for axis in "xyz"]
    head = ["ply", "format ascii 1.0", "element vertex 60", *axes, "element face 0", "end_header"]
    path = tmp_path / "scan.ply"
    path.write_text("\n".join([*head, *rows, ""]))
    window = open_window(State("geodesic-cnn", device="cpu"))
    opened(qtbot, window, path, dropped, monkeypatch)
    assert window.controller.frame is not None and window.controller.frame.squares[0].domain == "points"


@pytest.mark.slow
def test_what_no_model_takes_leaves_everything_as_it_was(
    qtbot: QtBot, open_window: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = open_window(State("sphere-cnn", device="cpu"))
    before = window.controller.state
    broken = tmp_path / "broken.xyz"
    broken.write_text("3\nwater\nO 0 0\n")
    asked_for(window, broken, monkeypatch)
    qtbot.waitUntil(window.infobar.isVisible, timeout=LONGEST_MS)
    assert "broken.xyz" in window.infobar.text.text()
    assert window.controller.state == before and not window.controller.can_undo


def test_the_next_in_the_data_is_offered_where_there_is_one(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    several = tmp_path / "two.fa"
    several.write_text(">one\nACGTACGTACGTACGTACGTACGTACGTACGT\n>two\nTTTTACGTACGTACGGACGTACGTACGTACCC\n")
    window = open_window(State("strand-cnn", device="cpu"))
    actions = [window.menus.actions[name] for name in ("next_part", "previous_part")]
    assert not any(action.isEnabled() for action in actions), "a sample of one sequence has no next"
    window.files.open(str(several))
    qtbot.waitUntil(lambda: window.controller.state.sample.startswith(str(several)), timeout=LONGEST_MS)
    settle(qtbot, window)
    assert all(action.isEnabled() for action in actions)
    actions[0].trigger()
    settle(qtbot, window)
    assert window.controller.state.sample == f"{several}#2" and all(action.isEnabled() for action in actions)


@pytest.mark.parametrize("file", [crystal, volume_with_another_ending])
def test_a_file_is_opened_by_its_content_where_its_ending_means_other_data(
    qtbot: QtBot, open_window: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: Callable[[Path], Path]
) -> None:
    window = open_window(State(device="cpu"))
    path = file(tmp_path)
    opened(qtbot, window, path, dropped, monkeypatch)
    assert window.controller.frame is not None and window.controller.frame.sample_title == path.name
