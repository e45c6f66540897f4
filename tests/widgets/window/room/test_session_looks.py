"""A session keeps the view in front, what was chosen in views, and from where a person looked."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QSlider
from pytestqt.qtbot import QtBot

from explorer.declare.elements import parse_chain
from explorer.state.state import State
from tests.widgets.parts.driving.mouse import move
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, settle
from widgets.base.controls.kept import take_values, values_of
from widgets.spaces.mesh.drawing.camera import eye_of
from widgets.spaces.mesh.drawing.canvas import MeshCanvas
from widgets.window.main_window import MainWindow

LEFT = Qt.MouseButton.LeftButton
SEEN = {
    "points": State(model="egnn", steps=parse_chain("rotation:40,20,0"), device="cpu"),
    "globe": State(model="sphere-cnn", sample="globe", steps=parse_chain("turn-sphere:60,0,30"), device="cpu"),
    "isosurface": State(model="oh-vectors", sample="corner-3d", steps=parse_chain("cube:z90"), device="cpu"),
    "surface": State(model="gem-cnn", device="cpu"),
}
OTHERS = {"points": "water-3d", "globe": "spot", "isosurface": "phantom-3d", "surface": "mesh-sphere-small"}


def orbit(canvas: MeshCanvas) -> None:
    """Drag over the first panel."""
    start, end = QPoint(60, 90), QPoint(130, 150)
    QTest.mousePress(canvas, LEFT, pos=start)
    move(canvas, QPointF(95, 120), LEFT)
    move(canvas, QPointF(end), LEFT)
    QTest.mouseRelease(canvas, LEFT, pos=end)


def save(window: MainWindow, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(window.files, "ask_save", lambda *_: str(path))
    window.menus.actions["save"].trigger()
    assert path.exists()


def reopen(qtbot: QtBot, window: MainWindow, path: Path, name: str) -> Any:
    """Open a session by a drop's way, and return the view once it shows what the session says."""
    window.files.open(str(path))
    qtbot.waitUntil(lambda: window.files.session_path == str(path), timeout=LONGEST_MS)
    settle(qtbot, window)
    view = window.panes.named(name)
    assert view is not None
    view.settle()
    QApplication.processEvents()
    return view


@pytest.mark.parametrize("name", sorted(SEEN))
@pytest.mark.slow
def test_the_eye_and_the_front_view_come_back(
    qtbot: QtBot, open_window: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    window = open_window(SEEN[name])
    window.menus.actions[f"show_{name}"].trigger()
    view: Any = window.panes.named(name)
    view.settle()
    window.grab()
    before = view.canvas.eye.numbers
    orbit(view.canvas)
    eye, state = view.canvas.eye.numbers, window.controller.state
    assert not np.allclose(eye, before)
    save(window, tmp_path / "kept.json", monkeypatch)

    view.canvas.look_from()  # from elsewhere, at other data, in another view
    window.menus.actions["show_weights"].trigger()
    window.controller.open_state(replace(state, sample=OTHERS[name], steps=()))
    settle(qtbot, window)
    again = reopen(qtbot, window, tmp_path / "kept.json", name)
    assert window.controller.state == state and window.panes.front() is again
    np.testing.assert_allclose(again.canvas.eye.numbers, eye)
    window.grab()
    np.testing.assert_allclose(again.canvas.eye.numbers, eye, err_msg="painting fits it anew")


@pytest.mark.slow
def test_choices_of_a_view_come_back_and_nonsense_changes_nothing(
    qtbot: QtBot, open_window: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = open_window(SEEN["points"])
    view: Any = window.panes.named("points")
    view.settle()
    QTest.mouseClick(view.names, LEFT, pos=QPoint(8, view.names.height() // 2))
    view.sides.setFocus()
    QTest.keyClick(view.sides, Qt.Key.Key_End)
    view.sides.activated.emit(view.sides.currentIndex())
    shown = [look.title for look in view.canvas.looks]
    assert not view.choice.names and len(shown) == 4
    save(window, tmp_path / "kept.json", monkeypatch)

    again: Any = reopen(qtbot, open_window(State(device="cpu")), tmp_path / "kept.json", "points")
    assert not again.choice.names and [look.title for look in again.canvas.looks] == shown

    told = json.loads((tmp_path / "kept.json").read_text())
    told["looks"]["points"] = {"names": 3, "show": "Everything", "eye": [1, 2], "edges": "yes", "wings": True}
    told["looks"]["nothing"] = {"a": [[]]}
    (tmp_path / "odd.json").write_text(json.dumps(told))
    odd: Any = reopen(qtbot, again.window(), tmp_path / "odd.json", "points")
    assert not odd.choice.names and [look.title for look in odd.canvas.looks] == shown and not odd.choice.edges


@pytest.mark.parametrize(
    "place", [None, [], ["a"] * 14, [0] * 14, [float("nan")] * 14, [10**400] * 14, [True] * 14, {"eye": 1}]
)
def test_a_place_that_is_none_is_no_eye(place: object) -> None:
    assert eye_of(place) is None


def test_controls_take_what_they_can(qtbot: QtBot) -> None:
    box, tick, slider = QComboBox(), QCheckBox(), QSlider()
    for control in (box, tick, slider):
        qtbot.addWidget(control)
    box.addItems(["one", "two"])
    controls = {"box": box, "tick": tick, "slider": slider}
    take_values(controls, {"box": "two", "tick": True, "slider": 41})
    assert values_of(controls) == {"box": "two", "tick": True, "slider": 41}
    take_values(controls, {"box": "three", "tick": 0, "slider": 10**40})
    take_values(controls, {"box": 1, "tick": "x", "slider": True})
    assert values_of(controls) == {"box": "two", "tick": True, "slider": 41}
