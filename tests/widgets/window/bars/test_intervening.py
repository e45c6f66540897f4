"""Interventions by mouse: the menu of a layer and of a channel, the line that names them, undo, symmetric versions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtWidgets import QApplication, QInputDialog, QLabel, QMenu
from pytestqt.qtbot import QtBot

import main
from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import Step
from explorer.declare.states.interventions import parse_interventions
from explorer.equivariance.symmetric.setting import Setting, experiments
from explorer.state.state import State
from explorer.work.progress import step
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, open_window, settle
from widgets.views.equation import EquationView
from widgets.views.layer_tree.layers import LayersView
from widgets.views.stage import Stage
from widgets.window.layer.symmetric import SymmetricPage
from widgets.window.main_window import MainWindow

__all__ = ["open_window"]

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.conv1 = nn.Conv2d(1, 4, 3, padding=1)
        self.conv2 = nn.Conv2d(4, 3, 3, padding=1)
        with torch.no_grad():
            self.conv1.weight[:] = 0.1

    def forward(self, x):
        return self.conv2(self.conv1(x).relu())
"""


@pytest.fixture
def start() -> Callable[[], LocalEngine]:
    return lambda: LocalEngine(main.cards(), trust=True)


@pytest.fixture
def shown(tmp_path: Path, open_window: Open) -> MainWindow:
    path = tmp_path / "net.py"
    path.write_text(NET)
    return open_window(
        State(f"{path}:Net", sample="random:1x1x9x9", steps=(Step("rotate", (90.0,)),), layer="conv2", device="cpu")
    )


def menu_here(qtbot: QtBot) -> QMenu:
    def there() -> bool:
        return isinstance(QApplication.activePopupWidget(), QMenu)

    qtbot.waitUntil(there)
    found = QApplication.activePopupWidget()
    assert isinstance(found, QMenu)
    return found


def click(qtbot: QtBot, menu: QMenu, text: str) -> None:
    """Click an entry of an open menu with the mouse."""
    action = next(a for a in menu.actions() if a.text() == text)
    qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())


def right_click_channel(qtbot: QtBot, window: MainWindow, channel: int) -> QMenu:
    stage = window.panes.named("stage")
    assert isinstance(stage, Stage)
    panel = stage.rows[0].panels["fx"]
    at = stage.canvas.mapFromScene(panel.mapToScene(panel.rect_of((channel, 4, 4)).center()))
    stage.canvas.customContextMenuRequested.emit(at)
    return menu_here(qtbot)


def interventions(window: MainWindow) -> list[str]:
    return [str(one) for one in window.controller.state.interventions]


def test_a_channel_is_zeroed_by_its_menu_and_undone(qtbot: QtBot, shown: MainWindow) -> None:
    bar = shown.interventions
    assert not bar.isVisible()
    click(qtbot, right_click_channel(qtbot, shown, 2), "Zero channel 2")
    assert interventions(shown) == ["conv2[2]:zero"]
    settle(qtbot, shown, measured=True)
    frame = shown.controller.frame
    assert frame is not None
    assert not frame.squares[0].fx[2].any()
    assert frame.squares[0].fx[1].any()
    assert bar.isVisible()
    assert bar.badge.text() == "1 intervention"
    assert bar.chips[0].name.text() == "conv2, channel 2 set to zero"
    qtbot.waitUntil(lambda: bool(shown.controller.frame and shown.controller.frame.squares[0].changes))
    shown.controller.undo()
    assert interventions(shown) == []
    assert not bar.isVisible()
    settle(qtbot, shown)
    assert shown.controller.frame is not None
    assert shown.controller.frame.squares[0].fx[2].any()
    shown.controller.redo()
    assert bar.isVisible()


def marked(view: LayersView, name: str) -> bool:
    return view.model.index_of(name).data(Qt.ItemDataRole.DecorationRole) is not None


def test_the_tree_offers_the_whole_layer_and_marks_it(qtbot: QtBot, shown: MainWindow) -> None:
    shown.show_view("layers")
    view = shown.panes.named("layers")
    assert isinstance(view, LayersView)
    qtbot.waitUntil(lambda: view.model.index_of("conv1").isValid())
    view.tree.customContextMenuRequested.emit(view.tree.visualRect(view.model.index_of("conv1")).center())
    menu = menu_here(qtbot)
    assert "Zero conv1" in [a.text() for a in menu.actions()]
    click(qtbot, menu, "Freeze conv1 to the unmoved run")
    assert interventions(shown) == ["conv1:freeze"]
    settle(qtbot, shown)
    qtbot.waitUntil(lambda: marked(view, "conv1"))
    assert not marked(view, "conv2")
    shown.interventions.chips[0].remove.click()
    assert interventions(shown) == []
    settle(qtbot, shown)
    qtbot.waitUntil(lambda: not marked(view, "conv1"))


def test_a_factor_is_asked_for(qtbot: QtBot, shown: MainWindow) -> None:
    shown.layer_menu.ask_factor("conv2", "channel", (1,))
    dialog = shown.findChild(QInputDialog)
    assert dialog is not None
    dialog.setDoubleValue(-0.25)
    dialog.accept()
    assert interventions(shown) == ["conv2[1]:scale=-0.25"]
    shown.layer_menu.ask_factor("conv2", "channel", (1,))
    shown.findChildren(QInputDialog)[-1].reject()
    assert interventions(shown) == ["conv2[1]:scale=-0.25"]


def test_one_place_has_one_change_and_all_are_taken_back_at_once(qtbot: QtBot, shown: MainWindow) -> None:
    for text in ("conv2:zero", "conv2:freeze", "conv1[0]:zero"):
        shown.layer_menu.add(*parse_interventions([text]))
    assert interventions(shown) == ["conv2:freeze", "conv1[0]:zero"]
    bar = shown.interventions
    assert bar.badge.text() == "2 interventions"
    bar.clear_button.click()
    assert interventions(shown) == []


def test_another_network_is_not_intervened_in(qtbot: QtBot, shown: MainWindow) -> None:
    shown.layer_menu.add(*parse_interventions(["conv2:zero"]))
    settle(qtbot, shown)
    shown.controller.set_model("d4-cnn")
    assert interventions(shown) == []


@pytest.mark.slow
def test_the_window_menu_is_about_the_selected_layer_and_channel(qtbot: QtBot, shown: MainWindow) -> None:
    menu = shown.menus.menus["Layer"]
    menu.aboutToShow.emit()
    texts = [a.text() for a in menu.actions()]
    assert "Zero conv2" in texts
    assert not any("channel" in text for text in texts)
    shown.controller.change({"channel": 1})
    menu.aboutToShow.emit()
    action = next(a for a in menu.actions() if a.text() == "Zero channel 1")
    action.trigger()
    assert interventions(shown) == ["conv2[1]:zero"]
    shown.open_palette()
    assert any("Take back all" in a.text() for a in menu.actions())
    shown.palette_box.dismiss()


def test_a_wrong_layer_is_said_and_what_was_shown_stays(qtbot: QtBot, shown: MainWindow) -> None:
    shown.controller.change({"interventions": parse_interventions(["conv3:zero"])})
    qtbot.waitUntil(lambda: "did you mean 'conv" in shown.infobar.text.text(), timeout=LONGEST_MS)
    settle(qtbot, shown)
    assert interventions(shown) == []
    assert not shown.interventions.isVisible()


@pytest.mark.slow
def test_a_symmetric_version_is_tried_from_the_source_and_used(qtbot: QtBot, shown: MainWindow) -> None:
    settle(qtbot, shown, measured=True)
    frame = shown.controller.frame
    assert frame is not None
    assert frame.squares[0].guilty == ("conv2",)
    shown.show_source()
    page = shown.panes.named("equation")
    assert isinstance(page, EquationView)
    qtbot.waitUntil(lambda: "Try a symmetric version" in page.page.toPlainText())
    page.page.anchorClicked.emit(QUrl("equiscope:symmetric"))
    found = shown.findChild(SymmetricPage)
    assert found is not None
    qtbot.waitUntil(lambda: bool(found.outcomes), timeout=3 * LONGEST_MS)
    assert not found.complete and found.progress.isVisible()  # shown as it comes, what may search for long last
    qtbot.waitUntil(lambda: found.complete, timeout=3 * LONGEST_MS)
    assert found.outcomes[0].mended and not found.progress.isVisible()
    assert not found.outcomes[-1].mended
    QApplication.processEvents()
    cut = [one.text() for one in found.findChildren(QLabel) if one.height() < one.heightForWidth(one.width())]
    assert not cut
    text = "conv2:symmetrise=weights,C4"
    assert text in found.buttons
    qtbot.mouseClick(found.buttons[text], Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    assert interventions(shown) == [text]
    settle(qtbot, shown, measured=True)
    frame = shown.controller.frame
    assert frame is not None
    assert frame.squares[0].verdict == "holds"
    shown.controller.undo()
    settle(qtbot, shown, measured=True)
    assert shown.controller.frame is not None
    assert shown.controller.frame.squares[0].verdict == "broken"


def test_a_version_that_is_used_does_not_wait_for_those_that_are_still_being_tried(
    qtbot: QtBot, shown: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    def long(setting: Setting) -> None:
        while True:
            step("searching", 0.5)

    monkeypatch.setitem(experiments(), "weights", replace(experiments()["weights"], apply=long))
    shown.try_symmetric("conv2")
    found = shown.findChild(SymmetricPage)
    assert found is not None
    qtbot.waitUntil(lambda: bool(found.buttons), timeout=3 * LONGEST_MS)
    assert not found.complete
    used = next(iter(found.buttons))
    qtbot.mouseClick(found.buttons[used], Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    assert interventions(shown) == [used]
    settle(qtbot, shown, measured=True)
    frame = shown.controller.frame
    assert frame is not None and [str(one) for one in frame.squares[0].interventions] == [used]
    assert "cancelled" not in shown.panes.named("log").text()
