"""Comparing with the weights of a file: what is no weights is told, and nothing is compared with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot
from safetensors.torch import save_file

from explorer.app.answering.engine import LocalEngine
from explorer.state.state import State
from tests.explorer.parts.small_cards import CARDS
from tests.widgets.parts.driving.windows import Open, settle


@pytest.fixture
def trust() -> bool:
    """Say whether every file may run; a test parametrises it where all may."""
    return False


@pytest.fixture
def start(trust: bool) -> Callable[[], LocalEngine]:
    return lambda: LocalEngine(CARDS, trust=trust)


def test_a_file_that_holds_data_is_no_other_weights(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    path = tmp_path / "walk.csv"
    path.write_text("t,a\n0,1.5\n1,2.5\n2,3.5\n")
    window = open_window(State("fine", device="cpu"))
    told: list[str] = []
    window.controller.failed.connect(lambda failure: told.append(failure.sentence))
    window.files.comparing.with_weights(str(path))
    qtbot.waitUntil(lambda: bool(told), timeout=30_000)
    assert told == ["walk.csv holds data and no weights: choose a file of weights"]
    assert window.controller.state.compare == ""


def test_the_weights_in_use_are_not_taken_for_others(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    """A comparison with another input was gone, without a word, for one of the run with itself."""
    made = LocalEngine(CARDS)
    path = tmp_path / "own.safetensors"
    save_file(made.network(State("fine"), "fine").state_dict(), str(path))
    made.close()
    window = open_window(State(f"fine@{path}", device="cpu", against="sample=digit-7"))
    settle(qtbot, window)
    told: list[str] = []
    window.controller.failed.connect(lambda failure: told.append(failure.sentence))
    window.files.comparing.with_weights(str(path))
    qtbot.waitUntil(lambda: bool(told), timeout=30_000)
    assert told == ["own.safetensors holds the weights in use: choose other ones to compare with"]
    assert window.controller.state.against == "sample=digit-7"


NET = """
from torch import nn

class Net(nn.Conv2d):
    def __init__(self, channels=2, bias=True):
        super().__init__(1, channels, 3, padding=1, bias=bias)
"""


@pytest.mark.parametrize("trust", [True])
def test_a_network_made_with_several_arguments_is_shown_beside(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    """Its name was taken for two, at the comma between the arguments."""
    path = tmp_path / "net.py"
    path.write_text(NET)
    window = open_window(State("fine", device="cpu"))
    settle(qtbot, window)
    window.files.models.keep(f"{path}:Net(3, bias=False)")
    window.files.models.keep(str(tmp_path / "gone.py:Net"))
    window.controller.change({"model": f"{path}:Net"})
    settle(qtbot, window)
    compare = next(menu for menu in window.findChildren(QMenu) if menu.title() == "Compare with")
    own = next(menu for menu in compare.findChildren(QMenu) if menu.title() == "Your own")
    (action,) = own.actions()  # that of a file that is gone is none
    action.trigger()
    qtbot.waitUntil(lambda: window.controller.state.compare == f"{path}:Net(3, bias=False)", timeout=30_000)
    settle(qtbot, window)
    frame = window.controller.frame
    assert frame is not None and [square.model for square in frame.squares] == [
        f"{path}:Net", f"{path}:Net(3, bias=False)",
    ]  # fmt: skip
