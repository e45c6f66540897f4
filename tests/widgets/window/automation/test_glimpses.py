"""Large data that were read are shown in the middle of the window until the network has answered, or failed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from torch import Tensor, nn

from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import parse_chain
from explorer.state.state import State
from tests.explorer.parts.small_cards import card
from tests.widgets.parts.driving.windows import Open, settle
from widgets.window.automation.choosing import open_sample
from widgets.window.main_window import MainWindow

LONG_MS = 30_000
GATE = threading.Event()  # closed: the network computes and computes
BROKEN = threading.Event()


class Slow(nn.Module):
    """Answers when the gate is open, and fails where it is broken."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        GATE.wait()
        if BROKEN.is_set():
            raise ValueError("the network is broken")
        return self.conv(x)  # type: ignore[no-any-return]


@pytest.fixture(autouse=True)
def gate() -> Iterator[None]:
    GATE.set()
    BROKEN.clear()
    yield
    GATE.set()


@pytest.fixture
def start() -> Callable[[], LocalEngine]:
    return lambda: LocalEngine({"slow": card("slow", Slow, "D4")})


def large(folder: Path, name: str = "a large <b>image.npy") -> str:
    path = folder / name
    np.save(path, np.tile(np.linspace(0, 1, 256, dtype=np.float32), (256, 1)))
    return str(path)


def page_shown(window: MainWindow) -> bool:
    return window.stack.currentWidget() is window.loading and window.loading.isVisible()


def test_a_start_with_large_data_shows_them_until_the_first_frame(
    qtbot: QtBot, open_window: Open, tmp_path: Path
) -> None:
    GATE.clear()
    window = open_window(
        State("slow", sample=large(tmp_path), device="cpu", steps=parse_chain("rotate:90")), answered=False
    )
    qtbot.waitUntil(lambda: "image" in window.loading.title.text(), timeout=LONG_MS)
    assert page_shown(window) and window.loading.title.textFormat() == Qt.TextFormat.PlainText

    def ramp_drawn() -> bool:
        pixels = window.loading.grab().toImage()
        middle = [pixels.pixelColor(window.loading.width() // 2 + k, 200).lightness() for k in range(-100, 100)]
        return max(middle) - min(middle) > 60

    qtbot.waitUntil(ramp_drawn, timeout=LONG_MS)  # the page may be laid out for a picture a turn later
    GATE.set()
    settle(qtbot, window)
    assert window.stack.currentWidget() is window.panes and window.loading.title.text() == "Equiscope"


@pytest.mark.parametrize("broken", [False, True])
def test_large_data_that_are_opened_are_shown_while_the_network_runs(
    qtbot: QtBot, open_window: Open, tmp_path: Path, broken: bool
) -> None:
    window = open_window(State("slow", device="cpu", steps=parse_chain("rotate:90")))
    settle(qtbot, window, measured=True)
    before = window.controller.state
    GATE.clear()
    open_sample(window.controller, large(tmp_path))
    qtbot.waitUntil(lambda: page_shown(window), timeout=LONG_MS)
    assert "image" in window.loading.title.text()
    if broken:
        BROKEN.set()
    GATE.set()
    qtbot.waitUntil(lambda: not page_shown(window) and not window.controller.waiting, timeout=LONG_MS)
    assert window.panes.isVisible() and window.loading.title.text() == "Equiscope"
    assert (window.controller.state.sample == before.sample) is broken


def test_small_data_are_not_shown_before_their_frame(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    window = open_window(State("slow", device="cpu", steps=parse_chain("rotate:90")))
    settle(qtbot, window, measured=True)
    path = tmp_path / "small.npy"
    np.save(path, np.zeros((9, 9), np.float32))
    GATE.clear()
    open_sample(window.controller, str(path))
    qtbot.waitUntil(lambda: window.staleness.text.startswith("computing, 1"), timeout=LONG_MS)
    assert window.panes.isVisible() and not page_shown(window)
    GATE.set()
    settle(qtbot, window)
