"""The list of recent models holds what was shown, however it came there, and opens it again."""

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

NET = """
from torch import nn

class Net(nn.Module):
    def __init__(self, channels=2):
        super().__init__()
        self.conv = nn.Conv2d(1, channels, 3, padding=1)

    def forward(self, x):
        return self.conv(x)
"""


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EQUISCOPE_CONFIG", str(tmp_path / "config"))


@pytest.fixture
def start() -> Callable[[], LocalEngine]:
    return lambda: LocalEngine(CARDS, trust=True)


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.py"
    path.write_text(NET)
    return path


def test_what_the_command_names_is_recent(qtbot: QtBot, open_window: Open, net: Path) -> None:
    """Only what was opened in the window stood in the list."""
    window = open_window(State(f"{net}:Net", compare=f"{net}:Net(4)", device="cpu"))
    assert window.files.models.recent() == [f"{net}:Net", f"{net}:Net(4)"]
    window.controller.change({"model": f"{net}:Net(3)", "compare": ""})
    settle(qtbot, window)
    assert window.files.models.recent() == [f"{net}:{name}" for name in ("Net(3)", "Net", "Net(4)")]
    menu = QMenu()
    qtbot.addWidget(menu)
    window.files.models.fill_recent(menu)
    assert menu.actions()[0].text() == "Net in net.py" and menu.actions()[0].isEnabled()


def test_weights_of_a_network_of_ours_are_recent_as_a_file(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    made = LocalEngine(CARDS)
    path = tmp_path / "own.safetensors"
    save_file(made.network(State("fine"), "fine").state_dict(), str(path))
    made.close()
    window = open_window(State(f"fine@{path}", device="cpu"))
    assert window.files.models.recent() == [str(path)]
    window.controller.change({"model": "fine"})
    settle(qtbot, window)
    assert window.files.models.recent() == [str(path)], "what every gallery has is no recent file"
