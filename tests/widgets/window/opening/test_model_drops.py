"""Files of every kind are dropped on the window: anywhere on it, and what each opens."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget
from pytestqt.qtbot import QtBot
from safetensors.torch import save_file
from torch import nn

import main
from explorer.state.state import State
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, open_window, settle
from widgets.charts.plot import Plot
from widgets.window.main_window import MainWindow

__all__ = ["open_window"]

COPY, LEFT, NONE = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
NET = """
from torch import nn

INPUT_SHAPE = (1, 8, 8)

class Net(nn.Conv2d):
    def __init__(self):
        super().__init__(1, 2, 3)
"""


def drag(window: MainWindow, at: QPoint, *paths: Path, leave: bool = False) -> None:
    """Send what the window system sends, to where it sends it: the window's handle."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    data.setText("\n".join(map(str, paths)))  # as file managers do: a field of text would take it
    handle = window.windowHandle()
    QApplication.sendEvent(handle, QDragEnterEvent(at, COPY, data, LEFT, NONE))
    QApplication.sendEvent(handle, QDragMoveEvent(at, COPY, data, LEFT, NONE))
    assert window.drop_hint.isVisible()
    if leave:
        QApplication.sendEvent(handle, QDragLeaveEvent())
    else:
        QApplication.sendEvent(handle, QDropEvent(QPointF(at), COPY, data, LEFT, NONE))
    assert not window.drop_hint.isVisible()


def middle(window: MainWindow, widget: QWidget) -> QPoint:
    return widget.mapTo(window, widget.rect().center())


@pytest.mark.slow
def test_a_file_is_taken_over_charts_and_fields_of_text(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    window = open_window(State("plain-cnn", device="cpu"))
    qtbot.waitUntil(lambda: any(plot.isVisible() for plot in window.findChildren(Plot)), timeout=LONGEST_MS)
    chart = next(plot for plot in window.findChildren(Plot) if plot.isVisible())
    field = next(edit for edit in window.findChildren(QLineEdit) if edit.isVisible() and edit.acceptDrops())
    text = field.text()
    for place in (chart, field):
        path = tmp_path / f"{type(place).__name__}.py"
        path.write_text(NET)
        drag(window, middle(window, place), path, leave=True)
        qtbot.waitUntil(field.acceptDrops, timeout=LONGEST_MS)  # of text, which may be dragged as before
        drag(window, middle(window, place), path)
        qtbot.waitUntil(lambda: window.files.models.page is not None, timeout=LONGEST_MS)
        page = window.files.models.page
        assert page is not None and page.found.path == str(path)
        page.reject()
        qtbot.waitUntil(lambda: window.files.models.page is None, timeout=LONGEST_MS)
    qtbot.waitUntil(field.acceptDrops, timeout=LONGEST_MS)
    assert field.text() == text


def test_a_mesh_and_what_cannot_be_read_are_dropped(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    """The mesh is shown by a network on meshes; a damaged one leaves all as it was, and its sentence moves nothing."""
    window = open_window(State("plain-cnn", device="cpu"))
    state, title = window.controller.state, window.windowTitle()
    tabs = window.panes.tabBar()
    place, at = tabs.mapTo(window, QPoint(0, 0)), middle(window, window.panes)
    broken = tmp_path / "a-scan-of-somebodys-head-and-both-hands.ply"
    broken.write_bytes(b"ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nend_header\n0\n")
    drag(window, at, broken)
    qtbot.waitUntil(lambda: "cannot read" in window.infobar.text.text(), timeout=LONGEST_MS)
    settle(qtbot, window)
    assert broken.name in window.infobar.text.text() and window.infobar.isVisible()
    assert window.controller.state == state and window.windowTitle() == title
    assert tabs.mapTo(window, QPoint(0, 0)) == place
    corners = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    square = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [face for a, b, c, d in square for face in ((a, b, c), (a, c, d))]
    mesh = tmp_path / "box.obj"
    mesh.write_text("".join(f"v {x} {y} {z}\n" for x, y, z in corners)
                    + "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in faces))  # fmt: skip
    drag(window, at, mesh)
    qtbot.waitUntil(lambda: window.controller.state.sample == str(mesh), timeout=LONGEST_MS)
    settle(qtbot, window)
    frame = window.controller.frame
    assert frame is not None and frame.squares[0].domain == "mesh" and "box.obj" in window.windowTitle()
    assert not window.infobar.isVisible() or "cannot read" not in window.infobar.text.text()


def made(kind: str, folder: Path) -> Path:
    path = folder / kind
    network = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU())
    match path.suffix:
        case ".py":
            path.write_text(NET)
        case ".safetensors":
            save_file(main.cards()["plain-cnn"].build().state_dict(), path)
        case ".pt":
            torch.save(main.cards()["plain-cnn"].build().state_dict(), path)
        case ".pth":
            torch.save(network, path)
        case ".pt2":
            torch.export.save(torch.export.export(network, (torch.zeros(1, 1, 8, 8),)), path)
        case ".onnx":
            path.write_bytes(b"\x08\x08:\x00")
        case "":
            path.mkdir()
            (path / "config.json").write_text(json.dumps({"model_type": "vit", "architectures": ["ViTModel"]}))
            save_file({"a": torch.zeros(2)}, path / "model.safetensors")
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "tier"),
    [
        ("net.py", "code"), ("weights.safetensors", "weights"), ("state.pt", "weights"), ("module.pth", "code"),
        ("program.pt2", "code"), ("graph.onnx", "inspect"), ("folder", "weights"),
    ],
)  # fmt: skip
def test_each_kind_shows_what_it_is(qtbot: QtBot, open_window: Open, tmp_path: Path, kind: str, tier: str) -> None:
    window = open_window(State("plain-cnn", device="cpu"))
    path = made(kind, tmp_path)
    before = window.controller.state
    drag(window, QPoint(600, 300), path)
    qtbot.waitUntil(lambda: window.files.models.page is not None, timeout=LONGEST_MS)
    page = window.files.models.page
    assert page is not None and page.found.path == str(path) and page.found.tier == tier and page.isVisible()
    assert window.controller.state == before  # nothing has run, and nothing is shown, before the person says so
    page.reject()
    settle(qtbot, window)


@pytest.mark.parametrize("first", ["data", "network"])
def test_a_picture_and_a_network_dropped_together_are_shown_together(
    qtbot: QtBot, open_window: Open, tmp_path: Path, first: str
) -> None:
    """The network opened on a digit of the program, and the picture was gone."""
    picture, code = tmp_path / "own.png", tmp_path / "net.py"
    Image.fromarray(np.tile(np.arange(0, 250, 25, dtype=np.uint8), (10, 1))).save(picture)
    code.write_text(NET)
    window = open_window(State("d4-cnn", sample="digit-3", device="cpu"))
    paths = (picture, code) if first == "data" else (code, picture)
    drag(window, middle(window, window.panes), *paths)
    models = window.files.models
    qtbot.waitUntil(lambda: models.page is not None and models.page.go.isEnabled(), timeout=LONGEST_MS)
    assert models.page is not None
    qtbot.mouseClick(models.page.go, LEFT)
    qtbot.waitUntil(lambda: window.controller.state.model.startswith(str(code)), timeout=LONGEST_MS)
    settle(qtbot, window)
    assert window.controller.state.sample == str(picture)
    assert not window.files.models.page or not window.files.models.page.isVisible()
