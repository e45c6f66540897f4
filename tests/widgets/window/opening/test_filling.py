"""Filling the input of a network with numbers of its shape, from the menu."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QInputDialog
from pytestqt.qtbot import QtBot

from explorer.app.answering.engine import LocalEngine
from explorer.declare.states.model_name import named_as_shown
from explorer.state.state import State
from tests.explorer.parts.small_cards import CARDS
from tests.widgets.parts.driving.windows import Open, settle
from widgets.window.main_window import MainWindow

TWO = """
import torch
from torch import nn

class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.rgb = nn.Conv2d(3, 4, 3, padding=1, padding_mode="circular")
        self.depth = nn.Conv2d(1, 4, 3, padding=1, padding_mode="circular")

    def forward(self, image, depth):
        return self.rgb(image) + self.depth(depth)
"""
LONG_MS = 60_000


@pytest.fixture
def start():  # type: ignore[no-untyped-def]
    return lambda: LocalEngine(CARDS, trust=True)


def dialog_of(qtbot: QtBot, window: MainWindow) -> QInputDialog:
    found: list[QInputDialog] = []

    def there() -> bool:
        found[:] = [d for d in window.findChildren(QInputDialog) if d.isVisible()]
        return bool(found)

    qtbot.waitUntil(there, timeout=LONG_MS)
    return found[0]


def take(qtbot: QtBot, dialog: QInputDialog, text: str) -> None:
    """Write a text in place of the one that is offered, and press Enter."""
    line = dialog.findChild(QComboBox).lineEdit()
    line.selectAll()
    qtbot.keyClicks(line, text)
    qtbot.keyClick(line, Qt.Key.Key_Return)


def test_x_is_filled_with_numbers_of_its_shape(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State("fine", device="cpu"))
    settle(qtbot, window)
    assert window.controller.frame is not None
    before = window.controller.state.sample
    window.menus.actions["fill"].trigger()
    dialog = dialog_of(qtbot, window)
    offered = dialog.comboBoxItems()
    kinds = [text.partition(":")[0] for text in offered]
    assert kinds == ["random", "ramp", "ones", "zeros", "constant"]
    assert len({text.partition(":")[2] for text in offered}) == 1
    ramp = offered[1]
    take(qtbot, dialog, ramp)
    qtbot.waitUntil(lambda: window.controller.state.sample == ramp, timeout=LONG_MS)
    settle(qtbot, window)
    assert window.controller.frame is not None and "Ramp" in window.controller.frame.sample_title
    window.menus.actions["undo"].trigger()
    assert window.controller.state.sample == before


@pytest.mark.slow
def test_each_of_several_inputs_is_filled_by_name(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    file = tmp_path / "two.py"
    file.write_text(TWO)
    window = open_window(State(f"{file}:Two", device="cpu"))
    settle(qtbot, window)
    window.menus.actions["fill"].trigger()
    dialog = dialog_of(qtbot, window)
    assert dialog.comboBoxItems()[0].startswith("image=random:1x3x")
    assert ",depth=random:1x1x" in dialog.comboBoxItems()[0]
    text = "image=ramp:1x3x9x9,depth=constant:1x1x9x9=0.25"
    take(qtbot, dialog, text)
    qtbot.waitUntil(lambda: window.controller.state.sample == text, timeout=LONG_MS)
    settle(qtbot, window)
    frame = window.controller.frame
    assert frame is not None
    assert "image: Ramp 3x9x9" in frame.sample_title and "depth: 0.25 everywhere" in frame.sample_title
    assert named_as_shown(frame.state.model) == "Two in two.py"
