"""Networks that take several images: a person chooses on the stage which of them is drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import parse_chain
from explorer.state.state import State
from tests.explorer.parts.small_cards import CARDS
from tests.widgets.parts.driving.mouse import Mouse
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, settle
from widgets.views.stage import Stage

PAIR = """
from torch import nn

class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 2, 3, padding=1), nn.Conv2d(1, 2, 3, padding=1)

    def forward(self, photograph, mask):
        return self.first(photograph) * self.second(mask).sigmoid()
"""


@pytest.fixture
def start() -> Callable[[], LocalEngine]:
    return lambda: LocalEngine(CARDS, trust=True)


def test_which_of_several_images_is_drawn_is_chosen(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    """The first one was drawn, and the others could not be seen at all."""
    path = tmp_path / "pair.py"
    path.write_text(PAIR)
    window = open_window(State(f"{path}:Pair", device="cpu", steps=parse_chain("rotate:90")))
    stage = window.panes.named("stage")
    assert isinstance(stage, Stage) and stage.before.values is not None and len(stage.before.values) == 3
    caption = stage.captions[0]
    assert caption.text == "photograph ▾" and stage.captions[1].text == "ρ(g) photograph ▾"
    Mouse(stage.canvas).click(caption.sceneBoundingRect().center())
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    assert [action.text() for action in menu.actions()] == ["photograph   3×29×29", "mask   1×29×29"]
    assert [action.isChecked() for action in menu.actions()] == [True, False]
    menu.setActiveAction(menu.actions()[1])
    qtbot.keyClick(menu, "\r")
    frame = window.controller.frame
    assert frame is not None
    mask = frame.squares[0].inputs[1]
    assert mask.name == "mask" and caption.text == "mask ▾"
    assert np.array_equal(stage.before.values, mask.x) and np.array_equal(stage.after.values, mask.gx)
    assert np.allclose(np.rot90(mask.x, 1, (1, 2)), mask.gx)
    window.controller.set_steps(parse_chain("rotate:180"))
    settle(qtbot, window)
    qtbot.waitUntil(lambda: np.allclose(np.rot90(mask.x, 2, (1, 2)), stage.after.values), timeout=LONGEST_MS)
    assert {"mask", "rho_mask"} <= stage.numbers().keys()
    window.controller.change({"model": "fine"})
    settle(qtbot, window)
    qtbot.waitUntil(lambda: caption.text == "x", timeout=LONGEST_MS)
    Mouse(stage.canvas).click(caption.sceneBoundingRect().center())
    assert QApplication.activePopupWidget() is None, "there is nothing to choose"
