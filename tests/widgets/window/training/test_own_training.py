"""A network of the person's own is trained from the window: with its file's recipe, or with examples from a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot
from safetensors import safe_open

import main
from explorer.app.answering.engine import LocalEngine
from explorer.app.remote.engine import DividedEngine
from explorer.network.opening.files.python_text import code_files
from explorer.network.opening.files.trust import Trust
from explorer.state.state import State
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, open_window, settle
from widgets.window.main_window import MainWindow
from widgets.window.training.page import TrainPage

__all__ = ["open_window"]

NET = """
import torch
from torch import nn

with open(__file__ + ".runs", "a") as file:
    file.write("run\\n")
print("loading", end="")

INPUT_SHAPE = (1, 8, 8)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.fc = nn.Conv2d(1, 4, 3, padding=1), nn.Linear(4 * 64, 2)

    def forward(self, x):
        return self.fc(self.conv(x).relu().flatten(1))
"""
EXAMPLES = """
def EXAMPLES():
    print("reading", input() if False else "", end="")
    chance = torch.Generator().manual_seed(0)
    x = torch.randn(64, 1, 8, 8, generator=chance)
    return x, (x.mean((1, 2, 3)) > 0).long()
"""
DIES = """
def EXAMPLES():
    import ctypes
    ctypes.string_at(0)
"""


@pytest.fixture
def trust() -> Trust:
    return Trust()


@pytest.fixture
def start(trust: Trust) -> Callable[[], LocalEngine]:
    return lambda: LocalEngine(main.cards(), trust=trust)


@pytest.fixture
def opened(open_window: Open, tmp_path: Path, trust: Trust, qtbot: QtBot) -> Callable[[str], TrainPage]:
    def make(text: str) -> TrainPage:
        path = tmp_path / "net.py"
        path.write_text(text)
        allow(trust, path)
        window = open_window(State(f"{path}:Net", sample="random:1x1x8x8", device="cpu", layer="conv"))
        action = window.menus.actions["train"]
        assert action.isVisible() and action.isEnabled()
        action.trigger()
        qtbot.waitUntil(lambda: window.files.trainer.page is not None, timeout=LONGEST_MS)
        page = window.files.trainer.page
        assert page is not None and page.isVisible() and page.path.text() == str(tmp_path / "net-Net.safetensors")
        page.path.setText(str(tmp_path / "out.safetensors"))
        return page

    return make


def allow(trust: Trust, path: Path) -> None:
    trust.contents.update(digest for _, digest in code_files(path))


def click(qtbot: QtBot, button: Any) -> None:
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def window_of(page: TrainPage) -> MainWindow:
    window = page.parent()
    assert isinstance(window, MainWindow)
    return window


@pytest.mark.slow
def test_it_is_steered_shown_taken_back_and_undone_as_a_built_in_one(
    qtbot: QtBot, opened: Callable[[str], TrainPage], tmp_path: Path
) -> None:
    page = opened(NET + EXAMPLES)
    window = window_of(page)
    runs = tmp_path / "net.py.runs"
    page.epochs.setValue(100_000)
    click(qtbot, page.go)
    run = page.runs[0]
    qtbot.waitUntil(lambda: run.told.step >= 8 and "fc" in run.told.errors, timeout=LONGEST_MS)
    assert run.told.steered and set(run.told.choices) >= {"cross-entropy", "margin"}
    qtbot.waitUntil(lambda: "training.safetensors" in window.controller.state.model, timeout=LONGEST_MS)
    settle(qtbot, window)
    assert window.controller.state.layer == "conv"
    before = len(runs.read_text())
    qtbot.waitUntil(lambda: len(run.told.kept) > 1, timeout=LONGEST_MS)  # a training that stands keeps nothing more
    click(qtbot, page.play)
    assert run.told.paused
    kept = run.told.kept[0]
    run.back(kept)
    qtbot.waitUntil(lambda: run.told.step == kept, timeout=LONGEST_MS)
    click(qtbot, page.one)
    qtbot.waitUntil(lambda: run.told.step == kept + 1, timeout=LONGEST_MS)
    settle(qtbot, window)
    assert len(runs.read_text()) == before  # new weights come, and the file is not run again
    with qtbot.waitSignal(page.trained, timeout=LONGEST_MS):
        click(qtbot, page.finish)
    settle(qtbot, window)
    out = tmp_path / "out.safetensors"
    assert window.controller.state.model == f"{tmp_path / 'net.py'}:Net@{out}" and "test accuracy" in run.sentence
    with safe_open(out, "pt") as written:
        assert set(written.keys()) == {"conv.weight", "conv.bias", "fc.weight", "fc.bias"}
    window.controller.undo()
    settle(qtbot, window)
    assert not window.controller.state.model.endswith("out.safetensors")
    assert window.menus.actions["train"].isVisible()
    (close,) = (button for button in page.findChildren(QPushButton) if button.text() == "Close")
    click(qtbot, close)
    assert not page.isVisible()


@pytest.mark.slow
def test_without_a_recipe_it_says_what_to_add_and_takes_a_file(
    qtbot: QtBot, opened: Callable[[str], TrainPage], tmp_path: Path
) -> None:
    page = opened(NET)
    click(qtbot, page.go)
    assert not page.runs and "Net in net.py brings no training. Choose a file of examples" in page.status.text()
    page.offer([*page.infos.values(), replace(page.info, name="other", title="Other")], "other")
    assert "brings no training" not in page.status.text()  # of another network
    page.choose(f"{tmp_path / 'net.py'}:Net")
    page.path.setText(str(tmp_path / "out.safetensors"))
    x = np.random.default_rng(0).normal(size=(20, 1, 8, 8)).astype(np.float32)
    np.savez(tmp_path / "own.npz", x=x, y=(x.mean((1, 2, 3)) > 0).astype(int))
    page.examples.setText(str(tmp_path / "own.npz"))
    page.epochs.setValue(2)
    with qtbot.waitSignal(page.trained, timeout=LONGEST_MS):
        click(qtbot, page.go)
    assert (tmp_path / "out.safetensors").is_file()


@pytest.mark.slow
def test_a_crash_is_one_sentence(qtbot: QtBot, opened: Callable[[str], TrainPage]) -> None:
    page = opened(NET + DIES)
    click(qtbot, page.go)
    run = page.runs[0]
    qtbot.waitUntil(lambda: not run.process.running, timeout=LONGEST_MS)
    assert run.sentence == "The training crashed (segmentation fault)." and run.bad


@pytest.mark.slow
def test_code_that_nobody_has_allowed_is_not_trained(
    qtbot: QtBot, opened: Callable[[str], TrainPage], tmp_path: Path, trust: Trust
) -> None:
    page = opened(NET + EXAMPLES)
    settle(qtbot, window_of(page))
    trust.contents.clear()
    before = (tmp_path / "net.py.runs").read_text()
    click(qtbot, page.go)
    run = page.runs[0]
    qtbot.waitUntil(lambda: not run.process.running, timeout=LONGEST_MS)
    assert run.sentence == (
        "Net in net.py holds other code than you have allowed: open it again, and say that it may run."
    )
    assert (tmp_path / "net.py.runs").read_text() == before
    allow(trust, tmp_path / "net.py")  # as when the person says so
    page.epochs.setValue(1)
    with qtbot.waitSignal(page.trained, timeout=LONGEST_MS):
        click(qtbot, page.go)


def test_what_a_network_brings_crosses_from_its_process(tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(NET + EXAMPLES)
    engine = DividedEngine(LocalEngine(main.cards(), trust=True), "main", spare=False)
    try:
        found = engine.info(f"{path}:Net")
        assert found.trainable and found.title == "Net (net.py)" and found.input_shape == (1, 8, 8)
        assert not engine.info("plain-cnn").name.endswith("py")
    finally:
        engine.close()
