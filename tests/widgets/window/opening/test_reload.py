"""A network's file that is saved while the window shows it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

import main
from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import Step
from explorer.state.session import save_session
from explorer.state.state import State
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, open_window, settle
from widgets.base.text.words import figure
from widgets.views.charts.errors import ErrorsView
from widgets.views.equation import EquationView
from widgets.views.layer_tree.layer_cells import BEFORE, MEASURE
from widgets.views.layer_tree.layer_columns import ERROR
from widgets.views.layer_tree.layers import LayersView
from widgets.window.main_window import MainWindow

__all__ = ["open_window"]

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3, padding=1)
        self.conv2 = nn.Conv2d(4, 4, 3, padding=1)
        with torch.no_grad():
            self.conv1.weight[:] = 0.1

    def forward(self, x):
        return self.conv2(self.conv1(x).relu())
"""
MENDED = NET.replace("self.conv1.weight[:] = 0.1", "self.conv1.weight[:] = self.conv2.weight[:] = 0.1")


@pytest.fixture
def start() -> Callable[[], LocalEngine]:
    return lambda: LocalEngine(main.cards(), trust=True)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "net.py"
    path.write_text(NET)
    return path


def state_of(file: Path) -> State:
    return State(f"{file}:Net", sample="digit-3", steps=(Step("rotate", (90.0,)),), layer="conv2")


def renamed(path: Path, text: str) -> None:
    """Save as most editors do: another file is written, and renamed to the first."""
    other = path.with_suffix(".tmp")
    other.write_text(text)
    os.replace(other, path)


def reloaded(qtbot: QtBot, window: MainWindow, save: Callable[[], object]) -> None:
    """Save, and wait until the network was made again and measured."""
    before = window.controller.frame
    assert before is not None
    save()

    def there() -> bool:
        frame = window.controller.frame
        return frame is not None and bool(frame.reloaded) and frame.serial > before.serial

    qtbot.waitUntil(there, timeout=LONGEST_MS)
    settle(qtbot, window, measured=True)


def log_of(window: MainWindow) -> str:
    window.show_view("log")
    return window.panes.named("log").text()


@pytest.mark.parametrize("save", [Path.write_text, renamed])
def test_the_guilty_layer_turns_green_when_the_file_is_saved(
    open_window: Open, qtbot: QtBot, file: Path, save: Callable[[Path, str], object]
) -> None:
    window = open_window(state_of(file))
    settle(qtbot, window, measured=True)
    first = window.controller.frame
    assert first is not None and first.squares[0].guilty == ("conv2",)
    state = window.controller.state
    reloaded(qtbot, window, lambda: save(file, MENDED))
    frame = window.controller.frame
    assert frame is not None
    here = frame.squares[0]
    assert here.guilty == () and here.verdict == "holds" and here.layer.name == "conv2"
    assert window.controller.state == state and not window.controller.can_undo
    assert here.before["conv2"].local == first.squares[0].measures["conv2"].local
    errors = window.panes.named("errors")
    assert isinstance(errors, ErrorsView)
    chart = errors.panels[0].layers
    qtbot.waitUntil(lambda: len(chart.former["local"].marks.getData()[0]) == 2, timeout=LONGEST_MS)
    heights = dict(zip(("conv1", "conv2"), chart.former["local"].marks.getData()[1], strict=True))
    assert heights["conv2"] > chart.local.getData()[1][1] + 2  # decades
    window.show_view("layers")
    layers = window.panes.named("layers")
    assert isinstance(layers, LayersView)
    qtbot.waitUntil(lambda: (0, "conv2") in layers.model.nodes, timeout=LONGEST_MS)
    row = layers.model.index_of("conv2", column=ERROR)
    assert row.data(BEFORE).verdict == "broken" and row.data(MEASURE).verdict == "holds"
    assert "before the edit: cumulative 0." in row.data(Qt.ItemDataRole.ToolTipRole)
    assert "3 of 4 tensors are as before; other values have conv2.weight" in log_of(window)


@pytest.mark.slow
def test_a_broken_file_keeps_the_last_good_frame_until_the_next_good_save(
    open_window: Open, qtbot: QtBot, file: Path
) -> None:
    window = open_window(state_of(file))
    settle(qtbot, window, measured=True)
    good = window.controller.frame
    assert good is not None
    file.write_text(NET.replace("def forward(self, x):", "def forward(self, x:"))
    text = window.infobar.text
    told = "net.py, line 13: SyntaxError"
    qtbot.waitUntil(lambda: text.text().startswith(told) and window.infobar.isVisible(), timeout=LONGEST_MS)
    kept = window.controller.frame
    assert kept is not None and kept.squares[0].measures["conv2"].local == good.squares[0].measures["conv2"].local
    window.controller.set_steps((Step("rotate", (180.0,)),))  # the network of before can still be turned
    settle(qtbot, window, measured=True)
    assert window.infobar.isVisible() and text.text().startswith(told)
    reloaded(qtbot, window, lambda: file.write_text(MENDED))
    frame = window.controller.frame
    assert frame is not None and frame.stale is None and frame.squares[0].verdict == "holds"
    assert not text.text().startswith(told)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["own", "fault-filter"])
def test_the_verdict_leads_to_the_lines_of_the_guilty_layer(
    open_window: Open, qtbot: QtBot, file: Path, model: str
) -> None:
    steps = (Step("rotate", (90.0,)),)
    window = open_window(replace(state_of(file), layer="conv1") if model == "own" else State(model, steps=steps))
    settle(qtbot, window, measured=True)
    errors = window.panes.named("errors")
    assert isinstance(errors, ErrorsView)
    chart = errors.panels[0].layers
    qtbot.waitUntil(lambda: not chart.header.link_place().isEmpty(), timeout=LONGEST_MS)
    at = chart.mapFromScene(chart.header.mapToScene(chart.header.link_place().center()))
    qtbot.mouseClick(chart.viewport(), Qt.MouseButton.LeftButton, pos=at)
    settle(qtbot, window, measured=True)
    assert window.controller.state.layer == "conv2"
    page = window.panes.named("equation")
    assert isinstance(page, EquationView) and page.isVisible()
    frame = window.controller.frame
    assert frame is not None
    local = figure(frame.squares[0].measures["conv2"].local)
    told = f"local error {local}, broken"
    qtbot.waitUntil(lambda: told in page.page.toPlainText().replace("\xa0", " "), timeout=LONGEST_MS)
    text = page.page.toPlainText()
    assert "self.conv2 = nn.Conv2d(" in text and "What may break it:" in text and "its filters are not" in text
    assert (f"{file.name}, line 9" in text) == (model == "own")

    def at_the_top() -> bool:
        blocks = (page.page.cursorForPosition(QPoint(40, y)).block().text() for y in range(2, 40, 4))
        return any(text.startswith("conv2 Conv2d") for text in blocks)

    if model != "own":  # whose page is shorter than the view
        qtbot.waitUntil(at_the_top, timeout=LONGEST_MS)


def test_several_saves_are_answered_once(open_window: Open, qtbot: QtBot, file: Path) -> None:
    window = open_window(state_of(file))
    settle(qtbot, window, measured=True)
    asked = []
    window.controller.files.changed.connect(lambda: asked.append(file.read_text()))
    files = window.controller.files
    files.timer.stop()  # looks are taken by hand
    for k in range(5):
        file.write_text(f"{NET}# {k}\n")
        files.look()
        assert not asked
    files.look()
    files.look()
    assert len(asked) == 1


def test_a_network_that_hangs_is_ended_when_its_file_is_mended(open_window: Open, qtbot: QtBot, file: Path) -> None:
    said = "INPUT_SHAPE = (1, None, None)\n"  # so that it is run by layers that can be left, here in this process
    file.write_text(said + NET)
    window = open_window(state_of(file))
    settle(qtbot, window, measured=True)
    begun = file.with_name("begun")
    hanging = f"open({str(begun)!r}, 'w').close()\n        while True:\n            self.conv1(x)"
    file.write_text(said + NET.replace("return self", f"{hanging}\n        return self"))
    qtbot.waitUntil(begun.exists, timeout=LONGEST_MS)
    reloaded(qtbot, window, lambda: file.write_text(said + MENDED))
    frame = window.controller.frame
    assert frame is not None and frame.squares[0].verdict == "holds"


@pytest.mark.slow
def test_it_is_said_once_that_the_file_is_watched(open_window: Open, qtbot: QtBot, file: Path) -> None:
    window = open_window(state_of(file))
    settle(qtbot, window, measured=True)
    assert window.controller.files.files == (str(file), str(file.with_name("net.equiscope.json")))
    reloaded(qtbot, window, lambda: file.write_text(MENDED))
    assert log_of(window).count("net.py is watched: whenever you save it, it is run again") == 1


@pytest.mark.slow
def test_a_file_that_never_ran_is_shown_once_it_does(open_window: Open, qtbot: QtBot, file: Path) -> None:
    file.write_text(NET)
    window = open_window(state_of(file))
    other = file.with_name("other.py")
    other.write_text("def (")
    window.controller.set_model(f"{other}:Net")
    qtbot.waitUntil(lambda: "other.py" in window.infobar.text.text(), timeout=LONGEST_MS)
    other.write_text(NET)
    qtbot.waitUntil(lambda: window.controller.frame.squares[0].model == f"{other}:Net", timeout=LONGEST_MS)
    qtbot.waitUntil(lambda: not window.infobar.isVisible() or "other.py is" in window.infobar.text.text())


def test_no_file_is_watched_for_a_network_of_ours(open_window: Open) -> None:
    assert open_window(State("d4-cnn")).controller.files.files == ()


def test_a_file_that_breaks_after_its_session_was_shown_is_no_fault_of_the_session(
    open_window: Open, qtbot: QtBot, file: Path, tmp_path: Path
) -> None:
    save_session(tmp_path / "session.json", state_of(file))
    window = open_window(State("d4-cnn", sample="digit-3"))
    window.controller.open_session(str(tmp_path / "session.json"))
    qtbot.waitUntil(lambda: window.controller.state.model == f"{file}:Net", timeout=LONGEST_MS)
    settle(qtbot, window, measured=True)
    file.write_text(NET.replace("def forward(self, x):", "def forward(self, x:"))
    text = window.infobar.text
    qtbot.waitUntil(lambda: "SyntaxError" in text.text(), timeout=LONGEST_MS)
    assert "net.py" in text.text() and "session.json" not in text.text()


def test_what_is_done_for_a_network_of_ones_own_is_told_at_once_and_can_be_changed(
    open_window: Open, qtbot: QtBot, file: Path
) -> None:
    file.write_text(NET.replace("nn.Conv2d(1", "nn.Conv2d(3"))
    window = open_window(state_of(file))
    line = window.data_line
    qtbot.waitUntil(lambda: ":" in line.text.text(), timeout=LONGEST_MS)
    assert line.text.text() == "Digit 3: grey repeated in 3 channels"
    settle(qtbot, window)
    qtbot.mouseClick(line.button, Qt.MouseButton.LeftButton)
    page = window.files.imports.page
    assert page is not None
    qtbot.waitUntil(page.go.isEnabled, timeout=LONGEST_MS)
    assert "Shown in “Net in net.py”" in page.told.text() and "grey repeated in 3 channels" in page.told.text()
    page.reject()
