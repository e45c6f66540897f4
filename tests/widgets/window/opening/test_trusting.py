"""Trust given in the whole window: an edit shown line by line, a yes taken back, sessions that know."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from explorer.app.answering.engine import LocalEngine
from explorer.network.opening.files.looking import code_in
from explorer.network.opening.files.trust import remember, remembered
from explorer.state.session import load_session
from explorer.state.state import State
from tests.explorer.parts.small_cards import CARDS
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, settle
from widgets.base.look import theme
from widgets.window.main_window import MainWindow
from widgets.window.opening.page import ModelPage
from widgets.window.opening.trusted import TrustedFiles

NET = """from torch import nn

INPUT_SHAPE = (1, None, None)


def net():
    return nn.Sequential(nn.Conv2d(1, 3, 3, padding=1), nn.ReLU())
"""


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EQUISCOPE_CONFIG", str(tmp_path / "config"))
    return tmp_path / "config"


@pytest.fixture
def start() -> Callable[[], LocalEngine]:
    return lambda: LocalEngine(CARDS)


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.py"
    path.write_text(NET)
    return path


@pytest.fixture
def window(qtbot: QtBot, open_window: Open, net: Path) -> MainWindow:
    """Open a window in which the file was trusted and opened, and another network is shown again."""
    window = open_window(State("fine", device="cpu"))
    window.files.models.open(str(net))
    qtbot.mouseClick(page_of(qtbot, window).go, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.controller.state.model == f"{net}:net", timeout=LONGEST_MS)
    settle(qtbot, window)
    return window


def page_of(qtbot: QtBot, window: MainWindow) -> ModelPage:
    qtbot.waitUntil(lambda: window.files.models.page is not None, timeout=LONGEST_MS)
    page = window.files.models.page
    assert page is not None
    return page


def elsewhere(qtbot: QtBot, window: MainWindow) -> None:
    window.controller.set_model("fine")
    settle(qtbot, window)


@pytest.mark.slow
def test_an_edited_file_shows_what_has_changed(qtbot: QtBot, window: MainWindow, net: Path) -> None:
    elsewhere(qtbot, window)
    net.write_text(NET.replace("nn.ReLU()", "nn.Sigmoid()") + "\nprint('hello')\n")
    window.files.models.reopen(f"{net}:net")
    page = page_of(qtbot, window)
    assert page.changed is not None and page.changed.isVisible() and page.go.text() == "Run this code"
    lines = page.changed.toPlainText().splitlines()
    assert "-    return nn.Sequential(nn.Conv2d(1, 3, 3, padding=1), nn.ReLU())" in lines
    assert (
        "+    return nn.Sequential(nn.Conv2d(1, 3, 3, padding=1), nn.Sigmoid())" in lines and "+print('hello')" in lines
    )
    assert "it has changed since then: 3 lines added, 1 removed." in page.heading.text()
    for name in ("light", "dark"):
        theme.use(name)
        block = page.changed.document().findBlockByNumber(lines.index("+print('hello')"))
        assert block.blockFormat().background().color().rgb() & 0xFFFFFF == int(theme.current().good[1:], 16)
    page.reject()


@pytest.mark.slow
def test_a_yes_is_taken_back(qtbot: QtBot, window: MainWindow, net: Path) -> None:
    elsewhere(qtbot, window)
    window.menus.actions["trusted"].trigger()
    page = next(found for found in window.findChildren(TrustedFiles) if found.isVisible())
    item = page.list.topLevelItem(0)
    assert item is not None and item.text(0) == "net.py" and item.toolTip(1) == str(net.resolve())
    assert not page.revoke.isEnabled()
    item.setSelected(True)
    qtbot.mouseClick(page.revoke, Qt.MouseButton.LeftButton)
    assert remembered() == {} and page.list.topLevelItemCount() == 0 and not page.revoke_all.isEnabled()
    page.accept()
    window.files.models.reopen(f"{net}:net")
    assert page_of(qtbot, window).go.text() == "Run this code"
    page_of(qtbot, window).reject()


@pytest.mark.slow
def test_a_second_press_takes_nothing_back_that_was_not_chosen(
    qtbot: QtBot, window: MainWindow, net: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.py"
    other.write_text(net.read_text() + "\n# another one\n")
    remember(code_in(other))
    window.menus.actions["trusted"].trigger()
    page = next(found for found in window.findChildren(TrustedFiles) if found.isVisible())
    assert page.list.topLevelItemCount() == 2
    assert not page.list.hasFocus()
    item = page.list.topLevelItem(0)
    assert item is not None
    item.setSelected(True)
    page.revoke.setFocus()
    qtbot.keyClick(page.revoke, Qt.Key.Key_Space)
    assert page.list.topLevelItemCount() == 1
    focus = page.focusWidget()
    assert focus is page.list
    qtbot.keyClick(focus, Qt.Key.Key_Space)
    assert len(remembered()) == 1 and page.list.topLevelItemCount() == 1
    page.accept()


@pytest.mark.slow
def test_a_session_knows_the_file_that_it_was_saved_with(
    qtbot: QtBot, window: MainWindow, net: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.json"
    monkeypatch.setattr(window.files, "ask_save", lambda *_: str(path))
    window.files.save_as()
    (saved,) = load_session(path).code
    assert saved[0] == str(net.resolve()) and saved[1] in remembered()
    elsewhere(qtbot, window)
    net.write_text(NET.replace("nn.ReLU()", "nn.Sigmoid()"))
    window.files.open(str(path))
    page = page_of(qtbot, window)
    assert "The session s.json shows net of this file" in page.heading.text()
    assert f"its SHA-256 was {saved[1][:12]}… and is {page.found.sha256[:12]}… now" in page.heading.text()
    assert window.controller.state.model == "fine"
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.controller.state.model == f"{net}:net", timeout=LONGEST_MS)
    settle(qtbot, window)
    elsewhere(qtbot, window)
    window.files.open(str(path))  # trusted now, and still not what it was
    qtbot.waitUntil(lambda: "is not what it was when the session was saved" in window.infobar.text.text())
