"""Data in space dropped on the window: by the events that a mouse makes, on networks of another kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from explorer.state.state import State
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, settle
from widgets.window.main_window import MainWindow

WATER = "3\nwater\nO 0 0 0.119\nH 0 0.763 -0.477\nH 0 -0.763 -0.477\n"


def molecule(folder: Path) -> Path:
    (folder / "water.xyz").write_text(WATER)
    return folder / "water.xyz"


def cloud(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    np.savez(folder / "cloud.npz", position=rng.normal(size=(40, 3)), x=rng.normal(size=(40, 2)))
    return folder / "cloud.npz"


def volume(folder: Path) -> Path:
    z, y, x = np.mgrid[:14, :12, :10]
    np.save(folder / "volume.npy", np.exp(-((z - 7) ** 2 + (y - 5) ** 2 + (x - 6) ** 2) / 9).astype(np.float32))
    return folder / "volume.npy"


def panorama(folder: Path) -> Path:
    east, south = np.meshgrid(np.linspace(0, 2 * np.pi, 64, endpoint=False), np.linspace(0, np.pi, 32))
    grey = 127 + 100 * np.sin(south) * np.cos(east)
    Image.fromarray(grey.astype(np.uint8)).save(folder / "panorama.png")
    return folder / "panorama.png"


def drop(window: MainWindow, *paths: Path, offered: Qt.DropAction = Qt.DropAction.CopyAction) -> str:
    """Drag files over the window, and let go; return what the window said of them meanwhile."""
    data, at = QMimeData(), QPoint(500, 400)
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    over = QDragEnterEvent(at, offered, data, left, none)
    over.setDropAction(next(one for one in Qt.DropAction if one & offered))
    QApplication.sendEvent(window, over)
    assert over.isAccepted() and window.drop_hint.isVisible(), "nothing says that it can be dropped here"
    let_go = QDropEvent(QPointF(at), offered, data, left, none)
    QApplication.sendEvent(window, let_go)
    assert let_go.isAccepted() and let_go.dropAction() == Qt.DropAction.CopyAction, "what is moved may be deleted"
    assert not window.drop_hint.isVisible()
    return window.drop_hint.text()


def test_of_several_files_one_is_shown_and_the_others_are_told(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    window = open_window(State("d4-cnn", device="cpu"))
    pictures = [tmp_path / f"{k}.png" for k in range(4)]
    for k, path in enumerate(pictures):
        Image.fromarray(np.full((29, 29), 50 * k + 40, np.uint8)).save(path)
    said = drop(window, *pictures, offered=Qt.DropAction.MoveAction | Qt.DropAction.CopyAction)
    assert said == "Drop to open 4 files"
    qtbot.waitUntil(lambda: window.controller.state.sample == str(pictures[0]), timeout=LONGEST_MS)
    assert "1.png, 2.png and 1 more are under File › Open recent" in window.infobar.text.text()
    assert window.files.recent() == [str(path) for path in pictures]
    settle(qtbot, window)
    assert window.controller.state.sample == str(pictures[0])
    assert drop(window, pictures[3]) == "Drop to open 3.png"
    qtbot.waitUntil(lambda: window.controller.state.sample == str(pictures[3]), timeout=LONGEST_MS)


def test_of_a_folder_of_data_the_first_is_shown(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    """A folder was taken for a model without its config.json, whatever lay in it."""
    window = open_window(State("d4-cnn", device="cpu"))
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "read me").write_text("no data")
    for k in range(3):
        Image.fromarray(np.full((29, 29), 50 * k + 40, np.uint8)).save(folder / f"{k}.png")
    drop(window, folder)
    qtbot.waitUntil(lambda: window.controller.state.sample == str(folder / "0.png"), timeout=LONGEST_MS)
    assert "1.png, 2.png are under File › Open recent" in window.infobar.text.text()
    empty = tmp_path / "empty"
    empty.mkdir()
    drop(window, empty)
    qtbot.waitUntil(lambda: "without config.json" in window.infobar.text.text(), timeout=LONGEST_MS)
    assert window.controller.state.sample == str(folder / "0.png")


@pytest.mark.parametrize(
    ("model", "file", "domain", "about"),
    [
        ("oh-cnn", molecule, "points", "schnet-energies"),
        ("sphere-cnn", cloud, "points", "pointnet-space"),
        ("egnn", volume, "volume", ""),
        ("sphere-solids", panorama, "sphere", "sphere-solids"),
    ],
)
@pytest.mark.slow
def test_what_is_dropped_lands_on_a_network_about_it_and_one_undo_takes_it_back(
    qtbot: QtBot, open_window: Open, tmp_path: Path,
    model: str, file: Callable[[Path], Path], domain: str, about: str,
) -> None:  # fmt: skip
    window, path = open_window(State(model, device="cpu")), file(tmp_path)
    before = window.controller.state
    drop(window, path)
    qtbot.waitUntil(lambda: window.controller.state.sample == str(path), timeout=LONGEST_MS)
    settle(qtbot, window)
    frame, state = window.controller.frame, window.controller.state
    assert frame is not None and frame.sample_title == path.name and frame.squares[0].domain == domain
    assert about in ("", state.model)
    assert (state.model == model) is not ("cannot take" in window.infobar.text.text())
    window.controller.undo()
    settle(qtbot, window)
    assert window.controller.state == before and not window.controller.can_undo


BAD = {
    "nan.xyz": "3\nw\nO nan 0 0\nH 0 0.7 0\nH 0 0 0.7\n",
    "unknown.xyz": "2\nw\nO 0 0 0\nQz 0 0 1\n",
    "empty.xyz": "", "empty.pdb": "", "empty.ply": "", "empty.npz": "", "empty.nii": "", "empty.pcd": "",
}  # fmt: skip


@pytest.mark.slow
def test_what_cannot_be_read_is_said_in_one_sentence_and_nothing_is_lost(
    qtbot: QtBot, open_window: Open, tmp_path: Path
) -> None:
    window = open_window(State("egnn", device="cpu"))
    before, picture = window.controller.state, window.controller.frame
    assert picture is not None
    for name, text in BAD.items():
        path = tmp_path / name
        path.write_text(text)
        drop(window, path)
        qtbot.waitUntil(
            lambda told=name: window.infobar.isVisible() and told in window.infobar.text.text(), timeout=LONGEST_MS
        )
        said = window.infobar.text.text()
        assert "Traceback" not in said and len(said) < 300, said
        frame = window.controller.frame
        assert window.controller.state == before and not window.controller.can_undo
        assert frame is not None and (frame.state, frame.sample_title) == (picture.state, picture.sample_title), (
            "the stage shows what it showed"
        )
