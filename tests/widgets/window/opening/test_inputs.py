"""Saying in the window what a network of one's own takes: reasons beside it, tried at once, remembered on request."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot
from safetensors.torch import save_file

from explorer.app.answering.engine import LocalEngine
from explorer.app.answering.own_inputs import InputAsked, asked
from explorer.network.opening.files.python_text import code_files
from explorer.network.opening.files.trust import remember
from explorer.state.state import State
from explorer.work.progress import step
from tests.explorer.parts.small_cards import CARDS
from tests.widgets.parts.driving.windows import Open, settle
from widgets.window.main_window import MainWindow
from widgets.window.opening.input_page import InputPage, Listed, Ordered, Written
from widgets.window.opening.page import ModelPage

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
    assert "takes 49 numbers" in page.outcome.text() and "--input" not in page.outcome.text()
    assert page.declared().text() == "grid shape=1x7x7"
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


SEVERAL = """
from torch import nn

class Many(nn.Module):
    def __init__(self):
        super().__init__()
        self.all = nn.ModuleList(nn.Conv2d(width, 2, 3) for width in (1, 3, 1, 3, 1))

    def forward(self, photograph, silhouette, background, reference, confidence):
        given = photograph, silhouette, background, reference, confidence
        return sum(conv(image) for conv, image in zip(self.all, given))
"""


def test_several_images_stand_one_a_line(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    """In one line of 300 pixels the last of them were cut off."""
    page = InputPage(window, asked_of(tmp_path))
    qtbot.addWidget(page)
    with qtbot.waitExposed(page):
        page.show()
    field = page.editors["grid", "images"]
    assert isinstance(field, Listed) and field.toPlainText().splitlines()[1] == "silhouette:3xanyxany"
    bar = field.verticalScrollBar()
    assert bar.minimum() == bar.maximum() and field.horizontalScrollBar().maximum() == 0, "all of it is seen"
    said = page.declared()
    cursor = field.textCursor()
    cursor.movePosition(QTextCursor.MoveOperation.End)
    field.setTextCursor(cursor)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert page.declared() == said and page.isVisible(), "an empty line says nothing, and Return is a new line here"
    qtbot.keyClicks(field, "t:number")
    assert page.declared().text() == said.text() + ",t:number"


def asked_of(folder: Path) -> InputAsked:
    """Return what is asked of a network of five images."""
    path = folder / "many.py"
    path.write_text(SEVERAL)
    return asked(f"{path}:Many", True)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Hold the search for an input up at each of its steps until the gate is open."""
    opened = threading.Event()

    def held(text: str, share: float) -> None:
        step(text, share)
        opened.wait(LONG_MS / 1000)
        step(text, share)  # who has given up meanwhile is heard of

    monkeypatch.setattr("explorer.app.answering.own_inputs.step", held)
    monkeypatch.setattr("explorer.app.thread.runner.BUSY_AFTER", 0.0)
    yield opened
    opened.set()


def asking(qtbot: QtBot, window: MainWindow, net: Path) -> ModelPage:
    """Ask for a network whose input has to be looked for; return its page, which says so."""
    models = window.files.models
    models.open(str(net))
    qtbot.waitUntil(lambda: models.page is not None, timeout=LONG_MS)
    page = models.page
    assert page is not None
    rows = [k for k in range(2) if page.callables.item(k).text().startswith("Weighted")]
    page.callables.setCurrentRow(rows[0])
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: page.working.text().startswith("Looking whether it takes"), timeout=LONG_MS)
    return page


def test_what_is_looked_at_is_told_on_the_page(
    qtbot: QtBot, window: MainWindow, net: Path, gate: threading.Event
) -> None:
    page = asking(qtbot, window, net)
    assert page.working.text().endswith("%")
    window.cancel()
    gate.set()
    qtbot.waitUntil(page.go.isEnabled, timeout=LONG_MS)
    assert "cancelled" in page.problem.text() and not page.working.text()
    assert window.files.models.inputs.page is None


def test_a_page_that_is_closed_gives_up_what_it_asked_for(
    qtbot: QtBot, window: MainWindow, net: Path, gate: threading.Event
) -> None:
    """The network was opened all the same, or its input asked for, behind the back of who had pressed Cancel."""
    page, told = asking(qtbot, window, net), []
    window.controller.busy.connect(lambda busy: told.append(busy.text))
    qtbot.mouseClick(page.cancel, Qt.MouseButton.LeftButton)
    gate.set()
    qtbot.waitUntil(lambda: "" in told, timeout=LONG_MS)
    assert window.files.models.page is None and window.files.models.inputs.page is None
    assert window.controller.state.model == "fine"


@pytest.mark.slow
def test_weights_wait_until_it_is_said_what_their_network_takes(
    qtbot: QtBot, window: MainWindow, net: Path, tmp_path: Path
) -> None:
    """Whoever named both was told in a sentence that nobody knows what it takes, after having said it."""
    path, models = tmp_path / "flat.safetensors", window.files.models
    save_file({"dense.weight": torch.ones(4, 49), "dense.bias": torch.zeros(4)}, path)
    remember(code_files(net))
    models.reopen(f"{net}:Flat@{path}")
    page = shown(qtbot, window)
    assert "What Flat in net.py takes" in page.heading.text()
    click(qtbot, page, "go")
    name = f"{net}:Flat[grid shape=1x7x7]@{path}"
    qtbot.waitUntil(lambda: window.controller.state.model == name, timeout=LONG_MS)
    settle(qtbot, window)


@pytest.mark.slow
def test_weights_for_a_network_whose_input_nobody_knows_bring_up_the_page(
    qtbot: QtBot, window: MainWindow, net: Path, tmp_path: Path
) -> None:
    path, models = tmp_path / "flat.safetensors", window.files.models
    save_file({"dense.weight": torch.ones(4, 49), "dense.bias": torch.zeros(4)}, path)
    remember(code_files(net))
    models.keep(f"{net}:Flat")
    models.open(str(path))
    qtbot.waitUntil(lambda: models.page is not None, timeout=LONG_MS)
    assert models.page is not None
    models.page.target.setCurrentIndex(models.page.target.findText("Flat in net.py"))
    qtbot.mouseClick(models.page.go, Qt.MouseButton.LeftButton)
    click(qtbot, shown(qtbot, window), "go")
    name = f"{net}:Flat[grid shape=1x7x7]@{path}"
    qtbot.waitUntil(lambda: window.controller.state.model == name, timeout=LONG_MS)
    settle(qtbot, window)


def test_on_a_low_screen_the_questions_scroll(qtbot: QtBot, window: MainWindow, tmp_path: Path) -> None:
    """A choice for each argument of a forward was a few pixels high."""
    page = InputPage(window, asked_of(tmp_path))
    qtbot.addWidget(page)
    page.kind.setCurrentIndex(page.kind.findData("graph"))
    with qtbot.waitExposed(page):
        page.show()
    page.resize(page.width(), 420)
    qtbot.waitUntil(lambda: page.height() <= 420)
    chosen = page.editors["graph", "signals"]
    assert isinstance(chosen, Ordered) and len(chosen.combos) > 1
    assert all(combo.height() >= combo.minimumSizeHint().height() for combo in chosen.combos)
    assert page.go.isVisible() and page.rows.verticalScrollBar().maximum() > 0
