"""Opening models by name, as a command names them, and again from the list of recent ones, in a real window."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMenu
from pytestqt.qtbot import QtBot
from safetensors.torch import save_file

from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import parse_chain
from explorer.network.opening.files.trust import remember
from explorer.state.session import save_session
from explorer.state.state import State
from tests.explorer.parts.small_cards import CARDS
from tests.widgets.parts.driving.windows import Open, settle
from widgets.window.main_window import MainWindow
from widgets.window.opening.naming import NamePage

LONG_MS = 30_000
PACKAGE = """
from torch import nn

def list_models():
    return ["small", "smaller", "wide"]

def create_model(name, pretrained, channels=2):
    return nn.Sequential(nn.Conv2d(1, channels, 3, padding=1), nn.ReLU())
"""
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
def trust() -> bool:
    """Say whether every file may run; a test parametrises it where none may."""
    return True


@pytest.fixture
def start(trust: bool) -> Callable[[], LocalEngine]:
    return lambda: LocalEngine(CARDS, trust=trust)


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.py"
    path.write_text(NET)
    return path


@pytest.fixture
def timm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package of that name, of three small networks."""
    folder = tmp_path / "packages" / "timm"
    folder.mkdir(parents=True)
    folder.joinpath("__init__.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(str(folder.parent))
    monkeypatch.delitem(sys.modules, "timm", raising=False)
    yield
    sys.modules.pop("timm", None)


@pytest.fixture
def no_timm(monkeypatch: pytest.MonkeyPatch) -> None:
    """An interpreter that finds no such package, whatever is installed."""
    found = [entry for entry in sys.path if not Path(entry, "timm").is_dir()]
    monkeypatch.setattr(sys, "path", found)
    monkeypatch.delitem(sys.modules, "timm", raising=False)


def page_of(qtbot: QtBot, window: MainWindow) -> NamePage:
    """Open the page by its action, and wait until it says what there is."""
    window.menus.actions["name_model"].trigger()
    page = window.files.models.by_name.page
    assert page is not None
    qtbot.waitUntil(lambda: "timm:NAME" in page.told.text(), timeout=LONG_MS)
    return page


def test_a_network_of_a_package_is_completed_opened_and_recent(qtbot: QtBot, open_window: Open, timm: None) -> None:
    """No window could open what a command names."""
    window = open_window(State("fine", device="cpu"))
    page = page_of(qtbot, window)
    qtbot.keyClicks(page.line, "timm:")
    qtbot.waitUntil(lambda: page.completer.model().rowCount() > 2, timeout=LONG_MS)
    page.completer.setCompletionPrefix("small")
    assert page.completer.completionCount() == 2, "any part of a name finds it"
    qtbot.keyClicks(page.line, "small")
    qtbot.keyClick(page.line, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.controller.state.model == "timm:small", timeout=LONG_MS)
    settle(qtbot, window)
    assert window.files.models.by_name.page is None
    assert window.files.models.recent() == ["timm:small"]
    window.controller.change({"model": "fine"})
    settle(qtbot, window)
    menu = QMenu()
    qtbot.addWidget(menu)
    window.files.models.fill_recent(menu)
    assert menu.actions()[0].text() == "timm:small"
    menu.actions()[0].trigger()
    qtbot.waitUntil(lambda: window.controller.state.model == "timm:small", timeout=LONG_MS)


def test_what_is_wrong_is_said_on_the_page(qtbot: QtBot, open_window: Open, timm: None) -> None:
    window = open_window(State("fine", device="cpu"))
    page = page_of(qtbot, window)
    page.line.setText("timm:smal")
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "did you mean small" in page.problem.text(), timeout=LONG_MS)
    assert page.go.isEnabled() and window.controller.state.model == "fine"
    page.line.setText("nowhere.py:Net")
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    assert page.problem.text() == "There is no file nowhere.py."


def test_a_package_that_is_missing_is_told_with_what_to_type(qtbot: QtBot, open_window: Open, no_timm: None) -> None:
    window = open_window(State("fine", device="cpu"))
    page = page_of(qtbot, window)
    qtbot.keyClicks(page.line, "timm:")
    assert 'timm is not installed: pip install "equiscope[timm]"' in page.problem.text()
    page.line.setText("timm:resnet18")
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "timm:resnet18 needs timm" in page.problem.text(), timeout=LONG_MS)


@pytest.mark.parametrize("trust", [False])
def test_a_file_that_is_named_is_shown_before_it_runs(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(NET)
    window = open_window(State("fine", device="cpu"))
    page = page_of(qtbot, window)
    page.line.setText(f"{path}:Net(3)")
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    models = window.files.models
    qtbot.waitUntil(lambda: models.page is not None, timeout=LONG_MS)
    asked = models.page
    assert asked is not None and asked.chosen == "Net(3)" and window.controller.state.model == "fine"
    qtbot.mouseClick(asked.go, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.controller.state.model == f"{path}:Net(3)", timeout=LONG_MS)


@pytest.mark.parametrize("trust", [False])
def test_what_a_name_says_and_a_file_has_not_is_told(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(NET)
    window = open_window(State("fine", device="cpu"))
    window.files.models.reopen(f"{path}:Other(3)")
    qtbot.waitUntil(lambda: window.files.models.page is not None, timeout=LONG_MS)
    asked = window.files.models.page
    assert asked is not None and "Other is not seen in its text" in asked.heading.text() and asked.chosen == "Net"


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
    assert menu.actions()[0].text() == "Net in net.py, with 3" and menu.actions()[0].isEnabled()


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


def test_a_recent_file_under_another_name_is_found(qtbot: QtBot, open_window: Open, net: Path) -> None:
    """Its entry could not be clicked, and nothing was said."""
    window = open_window(State(f"{net}:Net(3)", device="cpu"))
    window.controller.change({"model": "fine"})
    settle(qtbot, window)
    other = net.rename(net.with_name("renamed.py"))
    menu = QMenu()
    qtbot.addWidget(menu)
    window.files.models.fill_recent(menu)
    assert menu.actions()[0].text() == "Net in net.py  (gone)"
    menu.actions()[0].trigger()
    bar = window.infobar
    assert bar.text.text() == f"net.py is no longer in {net.parent}; renamed.py there has its size and date."
    qtbot.mouseClick(bar.offer_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.controller.state.model == f"{other}:Net(3)", timeout=30_000)
    assert window.files.models.recent() == [f"{other}:Net(3)"] and not bar.isVisible()


def test_a_recent_file_that_is_gone_may_be_found_by_hand(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    window = open_window(State("fine", device="cpu"))
    old, new = tmp_path / "one.csv", tmp_path / "elsewhere" / "two.csv"
    window.files.recents.keep(str(old))
    new.parent.mkdir()
    new.write_text("source,target\n0,1\n")
    asked = []
    window.files.ask_open = lambda title, filters: (asked.append(title), str(new))[1]  # type: ignore[method-assign,func-returns-value]
    window.files.recents.choose(str(old))
    assert window.infobar.text.text() == f"one.csv is no longer in {tmp_path}."
    qtbot.mouseClick(window.infobar.offer_button, Qt.MouseButton.LeftButton)
    assert asked == ["Find one.csv"] and window.files.recent() == [str(new)]


def test_a_recent_network_keeps_its_weights(qtbot: QtBot, open_window: Open, net: Path, tmp_path: Path) -> None:
    """Opened again, it had random ones."""
    window = open_window(State("fine", device="cpu"))
    weights = tmp_path / "own.safetensors"
    save_file({"conv.weight": torch.ones(2, 1, 3, 3), "conv.bias": torch.zeros(2)}, str(weights))
    name = f"{net}:Net@{weights}"
    window.files.models.reopen(name)
    qtbot.waitUntil(lambda: window.controller.state.model == name, timeout=30_000)
    assert window.files.models.recent()[0] == name


WAVE = """
from torch import nn

INPUT_KIND = "values"
INPUT_CHANNELS = 1

class Wave(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 2, 3, padding=1)

    def forward(self, x):
        return self.conv(x.transpose(1, 2)).transpose(1, 2)
"""


@pytest.mark.slow
def test_weights_are_offered_each_network_once_and_bring_data_of_its_kind(
    qtbot: QtBot, open_window: Open, tmp_path: Path
) -> None:
    """A turn of pictures stayed on a sequence, and a network with weights stood twice in every list."""
    code, weights, folder = tmp_path / "wave.py", tmp_path / "wave.safetensors", tmp_path / "bert"
    code.write_text(WAVE)
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    save_file({"conv.weight": torch.ones(2, 1, 3), "conv.bias": torch.zeros(2)}, weights)
    (folder / "model.safetensors").write_bytes(weights.read_bytes())
    window = open_window(State("fine", steps=parse_chain("rotate:90"), device="cpu"))
    models = window.files.models
    remember([(str(code), hashlib.sha256(code.read_bytes()).hexdigest())])
    models.keep(f"{code}:Wave")

    def load(path: Path) -> list[str]:
        models.open(str(path))
        qtbot.waitUntil(lambda: models.page is not None, timeout=LONG_MS)
        assert models.page is not None
        return [models.page.target.itemText(k) for k in range(models.page.target.count())]

    assert load(folder / "model.safetensors") == ["the network of the folder bert", "Fine (in use)", "Wave in wave.py"]
    models.page.reject()  # type: ignore[union-attr]
    qtbot.waitUntil(lambda: models.page is None, timeout=LONG_MS)
    assert load(weights) == ["Fine (in use)", "Wave in wave.py"]
    page = models.page
    assert page is not None
    page.target.setCurrentIndex(1)
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: models.page is None, timeout=LONG_MS)
    settle(qtbot, window)
    state, frame = window.controller.state, window.controller.frame
    assert state.model == f"{code}:Wave@{weights}" and frame is not None and frame.squares[0].domain == "sequence"
    assert [step.name for step in state.steps] == ["shift"]
    models.keep(f"{code}:Wave")
    (only,) = load(weights)
    assert only.startswith("Wave") and only.endswith("(in use)")
    models.page.reject()  # type: ignore[union-attr]
    menu = QMenu()
    models.fill_recent(menu)
    assert [a.text() for a in menu.actions()][:2] == ["Wave in wave.py", "Wave in wave.py, wave.safetensors"]


@pytest.mark.parametrize("trust", [False])
@pytest.mark.parametrize("same", [True, False])
def test_a_session_whose_file_was_moved_finds_it_and_asks(
    qtbot: QtBot, open_window: Open, net: Path, tmp_path: Path, same: bool
) -> None:
    """It said that the file could not be read as a model, and the session was lost."""
    window, there = open_window(State("fine", device="cpu")), tmp_path / "there"
    there.mkdir()
    session, digest = there / "s.json", hashlib.sha256(net.read_bytes()).hexdigest()
    save_session(session, State(f"{net}:Net(3)", layer="conv", device="cpu"), code=[(str(net), digest)])
    other = net.rename(there / ("renamed.py" if same else "net.py"))
    if not same:
        other.write_text(NET + "\n")
    window.files.open(str(session))
    bar, models = window.infobar, window.files.models
    qtbot.waitUntil(lambda: "is no longer in" in bar.text.text(), timeout=LONG_MS)
    assert ("has its content" if same else "is called so too") in bar.text.text() and models.page is None
    qtbot.mouseClick(bar.offer_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: models.page is not None, timeout=LONG_MS)
    page = models.page
    assert page is not None and page.found.path == str(other) and page.chosen == "Net(3)", "it still asks"
    assert ("is not what it was" in page.heading.text()) is not same
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.controller.state.model == f"{other}:Net(3)", timeout=LONG_MS)
    settle(qtbot, window)
    assert window.controller.state.layer == "conv" and window.files.models.recent()[0] == f"{other}:Net(3)"


@pytest.mark.parametrize("trust", [False])
def test_a_session_whose_file_is_gone_may_be_shown_it(
    qtbot: QtBot, open_window: Open, net: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window, far = open_window(State("fine", device="cpu")), tmp_path / "far" / "off.py"
    session = tmp_path / "s.json"
    save_session(session, State(f"{net}:Net", compare=f"fine,{net}:Net(4)", device="cpu"))
    far.parent.mkdir()
    net.rename(far)
    window.files.open(str(session))
    bar, models = window.infobar, window.files.models
    qtbot.waitUntil(lambda: "is no longer in" in bar.text.text(), timeout=LONG_MS)
    assert bar.offer_button.text() == "Find it…"
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(far), ""))
    qtbot.mouseClick(bar.offer_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: models.page is not None, timeout=LONG_MS)
    assert models.page is not None
    qtbot.mouseClick(models.page.go, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.controller.state.model == f"{far}:Net", timeout=LONG_MS)
    settle(qtbot, window)
    assert window.controller.state.compare == f"fine,{far}:Net(4)"
