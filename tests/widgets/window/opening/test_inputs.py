"""Saying in the window what a network of one's own takes: reasons beside it, tried at once, remembered on request."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from explorer.app.answering.engine import LocalEngine
from explorer.state.state import State
from tests.explorer.parts.small_cards import CARDS
from tests.widgets.parts.driving.windows import Open, settle
from widgets.window.main_window import MainWindow
from widgets.window.opening.input_page import InputPage, Ordered, Written

FLAT = """
from torch import nn

class Flat(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(49, 4)

    def forward(self, x):
        return self.dense(x.flatten(1))

class Weighted(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = nn.Bilinear(40, 1, 4)  # so wide that no trial finds it

    def forward(self, nodes, links):
        h = self.dense(nodes, nodes[:, :1])
        return h.index_add(0, links[1], h[links[0]])

class Masked(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 2, 3)

    def forward(self, image, mask):
        return self.conv(image * mask)
"""
LONG_MS = 30_000


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EQUISCOPE_CONFIG", str(tmp_path / "config"))


@pytest.fixture
def start() -> Callable[[], LocalEngine]:
    return lambda: LocalEngine(CARDS)


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.py"
    path.write_text(FLAT)
    return path


@pytest.fixture
def window(open_window: Open) -> MainWindow:
    return open_window(State("fine", device="cpu"))


def opened(qtbot: QtBot, window: MainWindow, net: Path, chosen: str) -> InputPage:
    """Open a file, trust it, and return the page that its unknown input brings up."""
    models = window.files.models
    models.open(str(net))
    qtbot.waitUntil(lambda: models.page is not None, timeout=LONG_MS)
    page = models.page
    assert page is not None
    rows = [k for k in range(page.callables.count()) if page.callables.item(k).text().startswith(chosen)]
    page.callables.setCurrentRow(rows[0])
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    return shown(qtbot, window)


def shown(qtbot: QtBot, window: MainWindow) -> InputPage:
    inputs = window.files.models.inputs
    qtbot.waitUntil(lambda: inputs.page is not None, timeout=LONG_MS)
    assert inputs.page is not None and inputs.page.isVisible()
    return inputs.page


def click(qtbot: QtBot, page: InputPage, what: str) -> None:
    qtbot.mouseClick(getattr(page, what), Qt.MouseButton.LeftButton)


@pytest.mark.slow
def test_what_nothing_tells_is_asked_tried_and_opened(qtbot: QtBot, window: MainWindow, net: Path) -> None:
    page = opened(qtbot, window, net, "Flat")
    assert window.files.models.page is None and window.controller.state.model == "fine"
    assert "takes 49 numbers" in page.outcome.text() and page.declared().text() == "grid shape=1x7x7"
    assert any("its first layer takes 49 numbers" in label.text() for label in page.reasons)
    field = page.editors["grid", "shape"]
    assert isinstance(field, QLineEdit)
    field.setText("1x5x5")
    click(qtbot, page, "trial")
    qtbot.waitUntil(lambda: page.bad and "net.py, line 10" in page.outcome.text(), timeout=LONG_MS)
    field.setText("seven")
    click(qtbot, page, "go")
    assert page.bad and "3 sizes" in page.outcome.text() and window.files.models.inputs.page is page
    field.setText("1x7x7")
    click(qtbot, page, "trial")
    qtbot.waitUntil(lambda: not page.bad and "1×1×7×7 → 1×4" in page.outcome.text(), timeout=LONG_MS)
    click(qtbot, page, "go")
    name = f"{net}:Flat[grid shape=1x7x7]"
    qtbot.waitUntil(lambda: window.controller.state.model == name, timeout=LONG_MS)
    settle(qtbot, window)
    assert not list(net.parent.glob("*.json"))  # only on request
    window.controller.undo()
    assert window.controller.state.model == "fine"


@pytest.mark.slow
def test_arguments_are_assigned_and_the_answer_is_remembered_beside(
    qtbot: QtBot, window: MainWindow, net: Path
) -> None:
    page = opened(qtbot, window, net, "Weighted")
    signals = page.editors["graph", "signals"]
    assert isinstance(signals, Ordered) and page.asked.arguments == ("nodes", "links")
    page.kind.setCurrentIndex(page.kind.findData("graph"))
    channels = page.editors["graph", "channels"]
    assert isinstance(channels, Written)
    channels.setText("40")
    signals.combos[1].setCurrentText("edge_weight")
    click(qtbot, page, "trial")
    qtbot.waitUntil(lambda: page.bad and "line 19" in page.outcome.text(), timeout=LONG_MS)
    signals.combos[1].setCurrentText("edge_index")
    page.remember.setChecked(True)
    click(qtbot, page, "go")
    qtbot.waitUntil(lambda: window.controller.state.model == f"{net}:Weighted", timeout=LONG_MS)
    settle(qtbot, window)
    frame = window.controller.frame
    assert frame is not None and frame.squares[0].domain == "graph"
    held = json.loads((net.parent / "net.equiscope.json").read_text())["inputs"]["Weighted"]
    assert held["data"] == "graph" and held["signals"] == "x,edge_index" and held["channels"] == "40"
    # later, from the menu: with what is remembered, and why
    window.menus.actions["input"].trigger()
    page = shown(qtbot, window)
    assert page.declared().kind == "graph" and "net.equiscope.json says so" in page.kind_why.text()
    page.reject()


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_to_is_said(
    qtbot: QtBot, window: MainWindow, net: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = opened(qtbot, window, net, "Flat")

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("explorer.network.input.declared.write_whole", refused)
    page.remember.setChecked(True)
    click(qtbot, page, "go")
    qtbot.waitUntil(lambda: page.bad and "permission denied" in page.outcome.text(), timeout=LONG_MS)
    assert "net.equiscope.json cannot be written" in page.outcome.text() and window.controller.state.model == "fine"
    page.remember.setChecked(False)
    click(qtbot, page, "go")
    qtbot.waitUntil(lambda: window.controller.state.model.endswith("[grid shape=1x7x7]"), timeout=LONG_MS)
    settle(qtbot, window)


@pytest.mark.slow
def test_a_built_in_model_is_not_asked_about(window: MainWindow) -> None:
    assert not window.menus.actions["input"].isEnabled()


@pytest.mark.slow
def test_several_images_are_said_by_name(qtbot: QtBot, window: MainWindow, net: Path) -> None:
    page = opened(qtbot, window, net, "Masked")
    page.kind.setCurrentIndex([kind.name for kind in page.asked.kinds].index("grid"))
    assert "images" not in page.declared().text()
    field = page.editors["grid", "images"]
    assert isinstance(field, QLineEdit)
    field.setText("image:3x9")
    click(qtbot, page, "trial")
    assert "3 sizes with an x between them" in page.outcome.text()
    field.setText("image:3x9x9,mask:1x9x9")
    click(qtbot, page, "trial")
    qtbot.waitUntil(lambda: "image 1×3×9×9, mask 1×1×9×9 → 1×2×7×7" in page.outcome.text(), timeout=LONG_MS)
    click(qtbot, page, "go")
    qtbot.waitUntil(lambda: "images=image:3x9x9,mask:1x9x9" in window.controller.state.model, timeout=LONG_MS)
