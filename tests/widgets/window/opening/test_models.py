"""Opening models of a person's own in a real window: nothing runs before the answer, and each answer is kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QMenu, QTabWidget
from pytestqt.qtbot import QtBot
from safetensors.torch import load_file, save_file

from explorer.app.answering.engine import LocalEngine
from explorer.network.opening.files.trust import remembered
from explorer.state.session import save_session
from explorer.state.state import State
from tests.explorer.parts.small_cards import CARDS
from tests.widgets.parts.driving.windows import Open, settle
from widgets.base.look import theme
from widgets.window.main_window import MainWindow
from widgets.window.opening.page import ModelPage

NET = """
from pathlib import Path
import torch
from torch import nn

INPUT_SHAPE = (1, None, None)
Path(MARK).write_text("ran")


class Deep(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.layer = nn.Conv2d(1, channels, 3, padding=1)

    def forward(self, x):
        return self.layer(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 3, 3, padding=1)

    def forward(self, x):
        return self.conv(x).relu()


def wrong():
    return 5
"""
LONG_MS = 30_000


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EQUISCOPE_CONFIG", str(tmp_path / "config"))
    return tmp_path / "config"


@pytest.fixture
def start() -> Callable[[], LocalEngine]:
    return lambda: LocalEngine(CARDS)


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """Name a file that the network's own file writes when it is executed."""
    return tmp_path / "ran.txt"


@pytest.fixture
def net(tmp_path: Path, mark: Path) -> Path:
    path = tmp_path / "net.py"
    path.write_text(NET.replace("MARK", repr(str(mark))))
    return path


@pytest.fixture
def window(open_window: Open) -> MainWindow:
    return open_window(State("fine", device="cpu"))


def page_of(qtbot: QtBot, window: MainWindow) -> ModelPage:
    qtbot.waitUntil(lambda: window.files.models.page is not None, timeout=LONG_MS)
    page = window.files.models.page
    assert page is not None
    return page


def gone(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.waitUntil(lambda: window.files.models.page is None, timeout=LONG_MS)
    settle(qtbot, window)


def drop(window: MainWindow, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    modifiers, buttons = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
    window.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, buttons, modifiers))


def pick(page: ModelPage, name: str) -> None:
    rows = [k for k in range(page.callables.count()) if page.callables.item(k).text().startswith(name)]
    page.callables.setCurrentRow(rows[0])


@pytest.mark.slow
def test_a_dropped_file_is_shown_asked_about_and_opened(
    qtbot: QtBot, window: MainWindow, net: Path, mark: Path
) -> None:
    drop(window, net)
    page = page_of(qtbot, window)
    assert page.isVisible() and "class Net(nn.Module)" in page.source.toPlainText() and page.source.isReadOnly()
    assert page.chosen == "Net" and page.go.text() == "Run this code"
    assert page.cancel.isDefault() and not page.go.isDefault()  # Return is the careful answer
    deep = next(page.callables.item(k) for k in range(3) if page.callables.item(k).text().startswith("Deep"))
    assert "needs channels" in deep.text()
    assert not mark.exists() and not remembered()
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    gone(qtbot, window)
    assert mark.exists() and window.controller.state.model == f"{net}:Net"
    assert "conv" in [layer.name for layer in window.controller.frame.squares[0].layers]  # type: ignore[union-attr]
    assert list(remembered().values()) == ["net.py"]
    menu = QMenu()
    window.files.models.fill_recent(menu)
    assert menu.actions()[0].text() == "Net in net.py" and menu.actions()[0].isEnabled()


@pytest.mark.slow
def test_arguments_are_typed_on_the_page(qtbot: QtBot, window: MainWindow, net: Path) -> None:
    drop(window, net)
    page = page_of(qtbot, window)
    pick(page, "Deep")
    assert page.arguments.isEnabled() and page.arguments.placeholderText() == "channels=…" and not page.go.isEnabled()
    qtbot.keyClicks(page.arguments, "channels=7")
    assert page.go.isEnabled() and page.chosen == "Deep(channels=7)"
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    gone(qtbot, window)
    assert window.controller.state.model == f"{net}:Deep(channels=7)"
    assert window.controller.frame.squares[0].layers[0].shape[1] == 7  # type: ignore[union-attr]
    window.files.models.open(str(net), "Deep(channels=7)", reopened=False)
    settle(qtbot, window)
    assert window.files.models.page is None  # it was trusted with these


def test_an_object_of_settings_is_filled_in_and_what_is_left_blank_must_be(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    path = tmp_path / "settings.py"
    path.write_text(
        "from dataclasses import dataclass\nfrom torch import nn\n\n@dataclass\nclass Settings:\n    width: int = 4\n\n"
        "@dataclass\nclass Wanted:\n    depth: int\n\n"
        "class Net(nn.Sequential):\n    def __init__(self, settings):\n"
        "        super().__init__(nn.Conv2d(1, settings.width, 1))\n\n"
        "class Deep(nn.Sequential):\n    def __init__(self, wanted: Wanted):\n"
        "        super().__init__(*[nn.Conv2d(1, 1, 1) for _ in range(wanted.depth)])\n"
    )
    drop(window, path)
    page = page_of(qtbot, window)
    pick(page, "Deep")
    assert page.arguments.text() == "wanted=Wanted(depth=…)" and not page.go.isEnabled()
    page.arguments.setText("wanted=Wanted(depth=2)")
    assert page.go.isEnabled()
    page.arguments.setText("wanted=Wanted(depth=…)")
    pick(page, "Net")
    assert page.arguments.text() == "settings=Settings()" and page.go.isEnabled()
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    gone(qtbot, window)
    assert window.controller.state.model == f"{path}:Net(settings=Settings())"
    assert window.controller.frame.squares[0].layers[0].shape[1] == 4  # type: ignore[union-attr]


@pytest.mark.slow
def test_a_program_is_asked_about_and_opened(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "net.ts"
    torch.jit.save(torch.jit.script(torch.nn.Conv2d(1, 3, 3, padding=1)), path)
    drop(window, path)
    page = page_of(qtbot, window)
    assert page.go.text() == "Run what is in it" and page.cancel.isDefault() and not page.go.isDefault()
    assert "executes what lies in it" in page.told.text() and page.callables.isHidden()
    page.reject()
    settle(qtbot, window)
    assert window.controller.state.model == "fine" and not remembered()
    drop(window, path)
    qtbot.mouseClick(page_of(qtbot, window).go, Qt.MouseButton.LeftButton)
    gone(qtbot, window)
    assert window.controller.state.model == str(path) and list(remembered().values()) == ["net.ts"]
    window.controller.set_model("fine")
    settle(qtbot, window)
    window.files.models.reopen(str(path))
    qtbot.waitUntil(lambda: window.controller.state.model == str(path), timeout=LONG_MS)
    assert window.files.models.page is None


def test_cancel_runs_nothing_and_trusts_nothing(qtbot: QtBot, window: MainWindow, net: Path, mark: Path) -> None:
    drop(window, net)
    page = page_of(qtbot, window)
    qtbot.keyClick(page, Qt.Key.Key_Return)
    gone(qtbot, window)
    assert not mark.exists() and not remembered() and window.controller.state.model == "fine"


@pytest.mark.slow
def test_the_same_content_is_asked_about_once(qtbot: QtBot, window: MainWindow, net: Path) -> None:
    window.files.models.open(str(net))
    qtbot.mouseClick(page_of(qtbot, window).go, Qt.MouseButton.LeftButton)
    gone(qtbot, window)
    window.controller.set_model("fine")
    settle(qtbot, window)
    window.files.models.reopen(f"{net}:Net")  # as the menu of recent models does
    qtbot.waitUntil(lambda: window.controller.state.model == f"{net}:Net", timeout=LONG_MS)
    settle(qtbot, window)
    assert window.files.models.page is None
    window.files.models.open(str(net))  # to choose another callable, without another question
    page = page_of(qtbot, window)
    assert page.go.text() == "Open" and page.go.isDefault()
    page.reject()
    net.write_text(net.read_text() + "\n# changed\n")
    window.files.models.reopen(f"{net}:Net")
    assert page_of(qtbot, window).go.text() == "Run this code"


def test_what_goes_wrong_is_said_on_the_page(qtbot: QtBot, window: MainWindow, net: Path) -> None:
    net.write_text(NET.replace("MARK", "''").replace("import torch\n", "import nothing_of_this_name\n"))
    window.files.models.open(str(net))
    page = page_of(qtbot, window)
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(page.problem.isVisible, timeout=LONG_MS)
    assert "nothing_of_this_name" in page.problem.text() and "(line 3)" in page.problem.text()
    assert "\n" not in page.problem.text() and window.controller.state.model == "fine"
    assert page.go.isEnabled()  # to try again


@pytest.mark.slow
def test_a_callable_that_makes_no_network_is_named(qtbot: QtBot, window: MainWindow, net: Path) -> None:
    window.files.models.open(str(net))
    page = page_of(qtbot, window)
    pick(page, "wrong")
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(page.problem.isVisible, timeout=LONG_MS)
    assert "wrong in" in page.problem.text() and "int" in page.problem.text()
    pick(page, "Net")
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    gone(qtbot, window)
    assert window.controller.state.model == f"{net}:Net"


def test_a_syntax_error_is_said_with_its_line(qtbot: QtBot, window: MainWindow, net: Path) -> None:
    net.write_text("x = 1\ndef f(:\n")
    window.files.models.open(str(net))
    page = page_of(qtbot, window)
    assert page.problem.isVisible() and "line 2" in page.problem.text() and not page.go.isEnabled()


@pytest.mark.slow
def test_weights_are_loaded_and_those_that_fit_in_part(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    tensors = CARDS["fine"].build().state_dict()
    path = tmp_path / "w.safetensors"
    save_file({k: v.clone() + 1 for k, v in tensors.items()}, path)
    drop(window, path)
    page = page_of(qtbot, window)
    assert page.tensors.topLevelItemCount() == len(tensors) and page.go.text() == "Load weights"
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    gone(qtbot, window)
    assert window.controller.state.model == f"fine@{path}"
    first = next(iter(tensors))
    held = load_file(path)
    held[first] = torch.zeros(99)
    other = tmp_path / "other.safetensors"
    save_file(held, other)
    drop(window, other)
    page = page_of(qtbot, window)
    assert not page.partly.isVisible()
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(page.partly.isVisible, timeout=LONG_MS)
    assert repr(first) in page.problem.text() and "(99,)" in page.problem.text()
    page.partly.setChecked(True)
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    gone(qtbot, window)
    assert window.controller.state.model == f"fine@partly:{other}"
    assert any("untrained are" in note for note in window.controller.frame.model_notes)  # type: ignore[union-attr]
    # said where a person looks, and not in the log alone
    qtbot.waitUntil(lambda: "untrained are" in window.infobar.text.text(), timeout=LONG_MS)
    assert window.infobar.isVisible()


class Attack:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return os.system, (f"touch {self.mark}",)


@pytest.mark.slow
def test_a_hostile_checkpoint_is_shown_and_not_opened(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, mark: Path
) -> None:
    path = tmp_path / "evil.pt"
    torch.save({"w": torch.zeros(2), "x": Attack(mark)}, path)
    drop(window, path)
    page = page_of(qtbot, window)
    assert "It is refused" in page.told.text() and "gives it all that you may do" not in page.told.text()
    assert "posix.system" in page.told.text() and not page.go.isVisible() and page.cancel.text() == "Close"
    assert page.listing.isVisible() and "posix system" in page.listing.toPlainText()
    (tabs,) = page.findChildren(QTabWidget)
    qtbot.mouseClick(tabs.tabBar(), Qt.MouseButton.LeftButton, pos=tabs.tabBar().tabRect(0).center())
    assert page.tensors.isVisible() and page.tensors.topLevelItem(0).text(0) == "w"
    page.reject()
    gone(qtbot, window)
    assert not mark.exists()


def test_a_damaged_file_is_one_sentence(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "bad.onnx"
    path.write_bytes(b"nothing of the kind")
    drop(window, path)
    qtbot.waitUntil(window.infobar.isVisible, timeout=LONG_MS)
    assert "bad.onnx cannot be read as a model" in window.infobar.text.text() and window.files.models.page is None


def test_a_session_asks_before_a_file_runs(
    qtbot: QtBot, window: MainWindow, net: Path, mark: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = tmp_path / "s.json"
    save_session(session, State(f"{net}:Net", layer="conv", device="cpu"))
    window.files.open(str(session))
    page = page_of(qtbot, window)
    assert page.chosen == "Net" and not mark.exists() and window.controller.state.model == "fine"
    assert page.found.sha256 in page.heading.text() and "s.json" in page.heading.text()
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    gone(qtbot, window)
    qtbot.waitUntil(lambda: window.controller.state.layer == "conv", timeout=LONG_MS)
    assert window.controller.state.model == f"{net}:Net"
    assert window.files.models.recent() == [f"{net}:Net"]
    monkeypatch.chdir(tmp_path)
    window.files.models.keep("net.py:Net")
    assert window.files.models.recent() == [f"{net}:Net"], "named so, the same is found in one folder only"


@pytest.mark.slow
def test_lines_are_numbered_and_coloured_in_both_themes(qtbot: QtBot, window: MainWindow, net: Path) -> None:
    window.files.models.open(str(net))
    page = page_of(qtbot, window)
    inks = []
    for name in ("light", "dark"):
        theme.use(name)
        block = page.source.document().findBlockByNumber(9)
        assert block.text().startswith("class Deep")
        inks.append([one.format.foreground().color().name() for one in block.layout().formats()])
        assert page.source.numbers_width() > 20
    assert len(inks[0]) == 2 and inks[0] != inks[1]  # "class" and the name, in the colours of the theme


@pytest.mark.slow
def test_code_that_is_saved_is_run_after_a_yes_and_not_before(
    qtbot: QtBot, window: MainWindow, net: Path, mark: Path
) -> None:
    drop(window, net)
    page = page_of(qtbot, window)
    pick(page, "Net")
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    gone(qtbot, window)
    said = window.infobar
    assert "you are asked before it is run" in said.text.text() and window.windowTitle().startswith("Net (net.py)")
    mark.unlink()
    net.write_text(net.read_text().replace("1, 3, 3, padding=1", "1, 5, 3, padding=1"))
    qtbot.waitUntil(said.ask_button.isVisible, timeout=LONG_MS)
    assert "net.py was saved" in said.text.text() and "--trust" not in said.text.text() and not mark.exists()
    qtbot.mouseClick(said.ask_button, Qt.MouseButton.LeftButton)
    page = page_of(qtbot, window)
    assert page.changed is not None and not mark.exists(), "what has changed comes first, and still nothing runs"
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    gone(qtbot, window)

    def channels() -> int:
        frame = window.controller.frame
        assert frame is not None
        return next(layer.channels for layer in frame.squares[0].layers if layer.name == "conv")

    qtbot.waitUntil(lambda: channels() == 5, timeout=LONG_MS)
    assert mark.exists() and not said.ask_button.isVisible()
