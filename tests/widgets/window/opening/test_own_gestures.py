"""Gestures on networks of a person's own in the whole window: heads, nodes, fields, keys that belong to other data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot

import main
from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import Step
from explorer.spaces.graph.drawing.values import GraphPart
from explorer.square.frame import Change
from explorer.state.session import load_session
from explorer.state.state import State
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, open_window, settle
from widgets.spaces.graph.views.graph import GraphView
from widgets.spaces.grid.views.attention import AttentionView
from widgets.spaces.pairs.views.pairs import PairsView
from widgets.views.layer_tree.layer_columns import FIELD
from widgets.views.layer_tree.layers import LayersView
from widgets.window.main_window import MainWindow

__all__ = ["open_window"]

PATCHES = """
import torch
from torch import nn

class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(8, 24), nn.Linear(8, 8)

    def forward(self, x):
        q, k, v = (p.unflatten(-1, (2, 4)).transpose(1, 2) for p in self.qkv(x).chunk(3, -1))
        weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)
        return self.out((weights @ v).transpose(1, 2).flatten(2))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.patch, self.attn, self.head = nn.Conv2d(1, 8, 4, stride=4), Attention(), nn.Linear(8, 3)

    def forward(self, image):
        x = self.patch(image).flatten(2).transpose(1, 2)
        return self.head((x + self.attn(x)).mean(1))
"""
GRAPH = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.last = nn.Linear(4, 5), nn.Linear(5, 2)

    def forward(self, x, edge_index):
        x = self.first(x).relu()
        return self.last(x.index_add(0, edge_index[1], x[edge_index[0]]))
"""


@pytest.fixture
def start() -> Callable[[], LocalEngine]:
    return lambda: LocalEngine(main.cards(), trust=True)


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "net.py"
    path.write_text(text)
    return f"{path}:Net"


def menu_here(qtbot: QtBot) -> QMenu:
    qtbot.waitUntil(lambda: isinstance(QApplication.activePopupWidget(), QMenu), timeout=LONGEST_MS)
    found = QApplication.activePopupWidget()
    assert isinstance(found, QMenu)
    return found


def right_click(qtbot: QtBot, widget: QWidget, at: QPoint) -> QMenu:
    """Click with the right button as a system does, which sends the wish for a menu after the press."""
    QTest.mouseClick(widget, Qt.MouseButton.RightButton, pos=at)
    if QApplication.activePopupWidget() is None:
        from PySide6.QtGui import QContextMenuEvent

        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, widget.mapToGlobal(at))
        QApplication.sendEvent(widget, event)
    return menu_here(qtbot)


def click(qtbot: QtBot, menu: QMenu, text: str) -> None:
    action = next(a for a in menu.actions() if a.text() == text)
    qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())


def interventions(window: MainWindow) -> list[str]:
    return [str(one) for one in window.controller.state.interventions]


def patches(tmp_path: Path, open_window: Open) -> MainWindow:
    state = State(
        written(tmp_path, PATCHES), sample="random:1x1x16x16", steps=(Step("rotate", (90.0,)),),
        layer="attn.attention", device="cpu",
    )  # fmt: skip
    return open_window(state)


def test_a_head_of_attention_is_zeroed_by_mouse_and_undone(qtbot: QtBot, tmp_path: Path, open_window: Open) -> None:
    window = patches(tmp_path, open_window)
    window.show_view("pairs")
    view = window.panes.named("pairs")
    assert isinstance(view, PairsView)
    qtbot.waitUntil(lambda: len(view.canvas.panels) == 2 and view.canvas.complete, timeout=LONGEST_MS)
    panel = view.canvas.panels[1]
    at = view.canvas.point_of(panel, 2, 2).toPoint()
    click(qtbot, right_click(qtbot, view.canvas.viewport(), at), "Zero head 1")
    assert interventions(window) == ["attn.attention[head 1]:zero"]
    settle(qtbot, window, measured=True)

    def changes() -> Mapping[str, Change]:
        frame = window.controller.frame
        return frame.squares[0].changes if frame is not None else {}

    window.show_view("changes")  # What follows
    qtbot.waitUntil(lambda: {"patch", "attn.out", "head"} <= set(changes()), timeout=LONGEST_MS)
    assert changes()["patch"].on_x == 0.0 and changes()["attn.out"].on_x > 0.01 and changes()["head"].on_gx > 1e-4
    window.menus.actions["undo"].trigger()
    settle(qtbot, window)
    assert interventions(window) == []


def test_a_head_over_the_image_has_the_same_menu(qtbot: QtBot, tmp_path: Path, open_window: Open) -> None:
    window = patches(tmp_path, open_window)
    window.show_view("attention")
    view = window.panes.named("attention")
    assert isinstance(view, AttentionView)
    qtbot.waitUntil(lambda: len(view.board.tiles) == 8, timeout=LONGEST_MS)
    click(qtbot, right_click(qtbot, view.board, view.board.tiles[1].box.center().toPoint()), "Zero head 1")
    assert interventions(window) == ["attn.attention[head 1]:zero"]
    settle(qtbot, window)
    menu = right_click(qtbot, view.board, view.board.tiles[2].box.center().toPoint())  # the mean of all heads is none
    texts = [a.text() for a in menu.actions()]
    assert "Zero attn.attention" in texts and not any("head" in t and t.startswith("Zero") for t in texts)
    menu.close()


def test_a_node_is_zeroed_by_mouse_and_arrows_shift_no_graph(qtbot: QtBot, tmp_path: Path, open_window: Open) -> None:
    window = open_window(State("plain-cnn", device="cpu"))  # an image, which arrows do shift
    assert window.menus.actions["shift_down"].isVisible()
    window.controller.change({"model": written(tmp_path, GRAPH), "sample": "karate", "layer": "first"})
    settle(qtbot, window)
    qtbot.waitUntil(lambda: not window.menus.actions["shift_down"].isVisible(), timeout=LONGEST_MS)
    window.show_view("graph")
    view = window.panes.named("graph")
    assert isinstance(view, GraphView)
    qtbot.waitUntil(lambda: view.canvas.places is not None and bool(view.canvas.panels), timeout=LONGEST_MS)
    canvas = view.canvas
    _, _, box = canvas.cells()[0]
    x, y = canvas.points(box)[33]
    at = QPointF(x, y).toPoint()
    assert canvas.under(QPointF(at)) == ("node", 33)
    canvas.setFocus()
    QTest.keyClick(canvas, Qt.Key.Key_Down)
    assert all(step.name != "translate" for step in window.controller.state.steps)
    click(qtbot, right_click(qtbot, canvas, at), "Zero node 33")
    assert interventions(window) == ["first[node 33]:zero"]
    settle(qtbot, window)
    frame = window.controller.frame
    assert frame is not None
    part = frame.squares[0].of(GraphPart)
    assert part is not None and not part.values[33].any() and part.values[0].any()


def test_two_networks_of_ones_own_stand_side_by_side_from_the_menu(
    qtbot: QtBot, tmp_path: Path, open_window: Open
) -> None:
    window = open_window(State("plain-cnn", sample="random:1x1x16x16", device="cpu"))
    other = tmp_path / "other.py"
    other.write_text(PATCHES.replace("manual_seed(0)", "manual_seed(1)"))
    window.files.models.keep(f"{other}:Net")
    name = written(tmp_path, PATCHES)
    window.files.models.reopen(name)
    qtbot.waitUntil(lambda: window.controller.state.model == name, timeout=LONGEST_MS)
    settle(qtbot, window)
    inner: object = window.menus.menus["Model"]
    for title in ("Compare with", "Your own"):
        assert isinstance(inner, QMenu)
        inner = next(a.menu() for a in inner.actions() if a.text().replace("&", "") == title)
    assert isinstance(inner, QMenu)
    assert [a.text() for a in inner.actions()] == ["Net in other.py"]
    inner.actions()[0].trigger()
    qtbot.waitUntil(lambda: window.controller.state.compare == f"{other}:Net", timeout=LONGEST_MS)
    settle(qtbot, window)
    frame = window.controller.frame
    assert frame is not None and [s.title for s in frame.squares] == ["Net (net.py)", "Net (other.py)"]
    assert not np.allclose(frame.squares[0].fx, frame.squares[1].fx)


def test_a_field_is_corrected_by_the_menu_in_a_narrow_tree_and_saved(
    qtbot: QtBot, tmp_path: Path, open_window: Open
) -> None:
    window = patches(tmp_path, open_window)
    window.show_view("layers")
    view = window.panes.named("layers")
    assert isinstance(view, LayersView)
    dock = view.parentWidget()
    while dock is not None and not dock.inherits("QDockWidget"):
        dock = dock.parentWidget()
    assert dock is not None
    window.resizeDocks([dock], [190], Qt.Orientation.Horizontal)
    qtbot.waitUntil(lambda: view.tree.isColumnHidden(FIELD), timeout=LONGEST_MS)  # there is no room for it
    index = view.model.index_of("patch", 0, 0)
    at = view.tree.visualRect(index).center()
    QTest.mouseClick(view.tree.viewport(), Qt.MouseButton.LeftButton, pos=at)
    settle(qtbot, window)
    click(qtbot, right_click(qtbot, view.tree.viewport(), at), "Correct the field type…")
    qtbot.waitUntil(lambda: view.tree.indexWidget(index) is None and editor(view) is not None, timeout=LONGEST_MS)
    box = editor(view)
    assert box is not None
    field = box.lineEdit() if hasattr(box, "lineEdit") else box
    field.selectAll()
    QTest.keyClicks(field, "grid regular(C4)")
    QTest.keyClick(field, Qt.Key.Key_Return)
    settle(qtbot, window)
    assert dict(window.controller.state.overrides) == {"patch": "grid regular(C4)"}
    qtbot.waitUntil(lambda: view.tree.isColumnHidden(FIELD), timeout=LONGEST_MS)  # as it was before
    path = tmp_path / "saved.json"
    window.files.session_path = str(path)
    window.menus.actions["save"].trigger()
    assert dict(load_session(path).state.overrides) == {"patch": "grid regular(C4)"}


def editor(view: LayersView) -> QWidget | None:
    """Return the editor of a cell while it is open."""
    from PySide6.QtWidgets import QComboBox, QLineEdit

    found = [w for w in view.tree.viewport().findChildren(QWidget) if isinstance(w, QComboBox | QLineEdit)]
    return next((w for w in found if w.isVisible() and w.parent() is view.tree.viewport()), None)
