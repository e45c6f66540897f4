"""Views show, while a network takes its time, what belongs to the chosen element, or say that it does not."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot
from torch import Tensor, nn

from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import parse_chain
from explorer.declare.telling.summaries import ModuleInfo
from explorer.square.frame import Outline
from explorer.state.state import State
from tests.explorer.parts.small_cards import card
from tests.widgets.parts.driving.mouse import Mouse
from tests.widgets.parts.driving.windows import Open, settle
from widgets.base.veil import DIMMED
from widgets.views.stage import Stage
from widgets.window.main_window import MainWindow
from widgets.window.room import staleness

LONG_MS = 30_000
GATE = threading.Event()  # closed: the network computes and computes


class Slow(nn.Module):
    """Answers when the gate is open."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv2d(1, 2, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        GATE.wait()
        return self.conv(x)  # type: ignore[no-any-return]


@pytest.fixture(autouse=True)
def gate() -> Iterator[None]:
    GATE.set()
    yield
    GATE.set()


@pytest.fixture
def start() -> Callable[[], LocalEngine]:
    return lambda: LocalEngine({"slow": card("slow", Slow, "D4")})


@pytest.fixture
def window(qtbot: QtBot, open_window: Open) -> MainWindow:
    shown = open_window(State("slow", device="cpu", steps=parse_chain("rotate:90")))
    settle(qtbot, shown, measured=True)
    return shown


def stage_of(window: MainWindow) -> Stage:
    stage = window.panes.named("stage")
    assert isinstance(stage, Stage)
    return stage


def press(qtbot: QtBot, window: MainWindow, key: Qt.Key) -> None:
    held = window.focusWidget()
    assert held is not None
    before = window.controller.state
    qtbot.keyClick(held, key)
    assert window.controller.state != before


def veils(window: MainWindow) -> dict[str, str]:
    return {s.spec.name: s.veil.text for s in window.panes.seats if s.view is not None and s.isVisible()}


def test_the_moved_picture_is_drawn_at_once_and_the_rest_is_dimmed(qtbot: QtBot, window: MainWindow) -> None:
    stage = stage_of(window)
    upright = np.array(stage.before.values)
    np.testing.assert_allclose(stage.after.values, np.rot90(upright, 1, (1, 2)), atol=1e-6)
    GATE.clear()
    press(qtbot, window, Qt.Key.Key_BracketLeft)
    assert [s.values for s in window.controller.state.steps] == [(180.0,)]
    turned = np.rot90(upright, 2, (1, 2))
    qtbot.waitUntil(lambda: bool(np.allclose(stage.after.values, turned, atol=1e-6)), timeout=LONG_MS)
    assert window.controller.frame is not None and window.controller.frame.state != window.controller.state
    counts = re.compile(r"computing, [1-9]\d* s")
    qtbot.waitUntil(lambda: bool(counts.fullmatch(window.staleness.text)), timeout=LONG_MS)
    row, said = stage.rows[0], window.staleness.text
    assert row.readout.stale == said
    opacity = {name: panel.opacity() for name, panel in row.panels.items()}
    assert opacity["f_gx"] == opacity["rho_fx"] == opacity["difference"] == DIMMED
    assert opacity["fx"] == stage.after.opacity() == stage.before.opacity() == 1.0  # these are what they say
    shown = veils(window)
    by_themselves = {"stage", "inspector", "orbit", "gallery", "log"}
    assert "errors" in shown and shown.keys() - by_themselves
    assert {name: "" if name in by_themselves else said for name in shown} == shown
    inspector = window.panes.named("inspector")
    assert inspector is not None and inspector.veil.text == said  # type: ignore[attr-defined]
    over = stage.canvas.mapFromScene(row.panels["difference"].sceneBoundingRect().center())
    qtbot.mouseMove(stage.canvas.viewport(), over)
    qtbot.mouseMove(stage.canvas.viewport(), over + QPoint(3, 3))
    assert window.status.reading.text() == "", "a figure of the element before"
    GATE.set()
    settle(qtbot, window)
    qtbot.mouseMove(stage.canvas.viewport(), over)
    qtbot.waitUntil(lambda: "difference" in window.status.reading.text(), timeout=LONG_MS)
    assert window.staleness.text == row.readout.stale == ""
    qtbot.waitUntil(lambda: not any(veils(window).values()), timeout=LONG_MS)  # each panel in its turn
    assert row.panels["f_gx"].opacity() == 1.0
    np.testing.assert_allclose(stage.after.values, turned, atol=1e-6)


def test_what_was_given_up_is_not_shown_as_an_answer(qtbot: QtBot, window: MainWindow) -> None:
    GATE.clear()
    press(qtbot, window, Qt.Key.Key_BracketLeft)
    qtbot.waitUntil(lambda: window.staleness.text.startswith("computing"), timeout=LONG_MS)
    window.cancel()
    GATE.set()
    qtbot.waitUntil(lambda: window.staleness.text == "not computed", timeout=LONG_MS)
    assert veils(window)["errors"] == "not computed"
    window.controller.undo()  # to the element whose frame is there
    settle(qtbot, window)
    assert window.staleness.text == ""
    qtbot.waitUntil(lambda: not any(veils(window).values()), timeout=LONG_MS)


def test_what_is_answered_in_time_is_never_dimmed(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staleness, "AFTER_S", LONG_MS / 1000)  # the machine may be slow, this test is about the order
    said: list[str] = []
    window.staleness.changed.connect(said.append)
    for _ in range(4):
        press(qtbot, window, Qt.Key.Key_BracketLeft)
        settle(qtbot, window)
    assert not any(said)


def test_a_panel_whose_turn_has_not_come_stays_dimmed(qtbot: QtBot, window: MainWindow) -> None:
    """The answer is there, but a panel that is drawn after the others still shows the figures of the one before."""
    qtbot.waitUntil(lambda: "errors" in veils(window), timeout=LONG_MS)
    GATE.clear()
    press(qtbot, window, Qt.Key.Key_BracketLeft)
    qtbot.waitUntil(lambda: bool(veils(window)["errors"]), timeout=LONG_MS)
    seen: list[str] = []
    window.controller.frame_ready.connect(lambda frame: seen.append(veils(window)["errors"]))
    GATE.set()
    settle(qtbot, window)
    assert seen[0].startswith("computing") and not window.staleness.text
    qtbot.waitUntil(lambda: not any(veils(window).values()), timeout=LONG_MS)


def test_no_place_is_chosen_in_a_picture_of_other_data(qtbot: QtBot, window: MainWindow) -> None:
    stage = stage_of(window)
    mouse, panel = Mouse(stage.canvas), stage.rows[0].panels["fx"]
    point = panel.mapToScene(panel.rect_of((1, 10, 10)).center())
    GATE.clear()
    window.controller.change({"sample": "digit-6"})
    mouse.click(point)
    assert (window.controller.state.channel, window.controller.state.pixel) == (None, None)
    GATE.set()
    settle(qtbot, window)
    mouse.click(point)
    assert (window.controller.state.channel, window.controller.state.pixel) == (1, (10, 10))


def test_the_ring_turns_while_other_data_are_awaited(qtbot: QtBot, window: MainWindow) -> None:
    GATE.clear()
    window.controller.change({"sample": "digit-6"})
    press(qtbot, window, Qt.Key.Key_BracketLeft)
    assert [s.values for s in window.controller.state.steps] == [(180.0,)]


def test_modules_of_the_awaited_network_are_not_dimmed(qtbot: QtBot, window: MainWindow) -> None:
    """They are what was asked for, and can be read while the rest is computed."""
    window.show_view("layers")
    qtbot.waitUntil(lambda: "layers" in veils(window), timeout=LONG_MS)
    GATE.clear()
    window.controller.change({"sample": "digit-6"})
    qtbot.waitUntil(lambda: bool(veils(window)["layers"]), timeout=LONG_MS)
    modules = (ModuleInfo("", "Slow", 0, 20, -1), ModuleInfo("conv", "Conv2d", 20, 20, -1))
    window.controller.delivered.emit(Outline(window.controller.state, "Slow", modules))
    qtbot.waitUntil(lambda: not veils(window)["layers"], timeout=LONG_MS)
    assert window.staleness.text and veils(window)["errors"]
    window.controller.change({"params": (("width", 3.0),), "model": "other"})  # another one is awaited now
    GATE.set()
    qtbot.waitUntil(lambda: window.controller.state.model == "other" or not window.controller.waiting, timeout=LONG_MS)
