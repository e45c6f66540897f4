"""A fifth kind of data and a view of it, dropped into a folder: the window shows both, and its gallery draws them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QAction
from pytestqt.qtbot import QtBot

import models
from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import chain_text, parse_chain
from explorer.declare.registry import scan
from explorer.state.state import State
from tests.plugins import plugged
from tests.widgets.parts.driving.mouse import Mouse
from tests.widgets.parts.driving.windows import Open, settle
from widgets.base.view import Wish
from widgets.views.stage import Stage
from widgets.window.pictures.gallery import scenes, state_of, view_pictures

ROOT = Path(__file__).resolve().parents[3]
FIRST = State(model="ring-net", orbit="turn", steps=parse_chain(""))


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[], LocalEngine]]:
    shutil.copytree(ROOT / "tests" / "plugins" / "ring", tmp_path / "plugins" / "ring")
    with plugged(tmp_path / "plugins", "ring"):
        yield lambda: LocalEngine(
            {n: c for n, c in scan(models, "CARD").items() if n in ("ring-net", "ring-numbered", "gcn")}
        )


def test_the_window_shows_it(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(FIRST)
    circle = window.panes.named("circle")
    assert circle is not None and window.panes.front() is circle, "the view that was made for it comes to the front"
    assert len(circle.numbers()["x"]) == 12
    next(a for a in window.findChildren(QAction) if a.text() == "Random element").trigger()
    qtbot.waitUntil(lambda: bool(window.controller.state.steps))
    settle(qtbot, window)
    assert window.controller.state.steps[0].name == "turn"
    moved = circle.numbers()["order"].tolist()
    assert moved != list(range(12)) and sorted(moved) == list(range(12))
    window.controller.undo()
    assert not window.controller.state.steps
    settle(qtbot, window)
    window.controller.grant(Wish(changes={"compare": "ring-numbered"}))
    settle(qtbot, window)
    assert window.controller.frame is not None and len(window.controller.frame.squares) == 2


def test_its_own_hands_and_answers_are_on_the_stage(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(FIRST)
    window.show_view("stage")
    stage = window.panes.front()
    assert isinstance(stage, Stage) and not stage.ring.isVisible(), "no ring to turn a picture by"
    mouse, size = Mouse(stage.canvas), stage.after.pixel()
    site = stage.after.mapToScene(stage.after.rect_of((0, 1, 0)).center())
    mouse.drag(site, site + QPointF(0, 3.1 * size))
    assert chain_text(window.controller.state.steps) == "turn:3"
    settle(qtbot, window)
    mouse.move(stage.before.mapToScene(stage.before.rect_of((0, 2, 0)).center()))
    assert stage.after.marks == ((0, 5, 0),), "the site under the cursor is shown where it has gone"
    mouse.click(stage.rows[0].panels["fx"].mapToScene(stage.rows[0].panels["fx"].rect_of((0, 4, 0)).center()))
    assert window.controller.state.node == 4
    settle(qtbot, window)
    output = window.panes.named("output")
    assert output is not None
    window.show_view("output")
    assert "site 4 of 12" in output.caption()


def test_the_gallery_has_a_window_for_it(start: Callable[[], LocalEngine]) -> None:
    assert state_of(next(s for s in scenes() if s.name == "ring")) == State(
        model="ring-net", steps=parse_chain("turn:2")
    )


@pytest.mark.slow
def test_pictures_are_made_of_its_views(tmp_path: Path, start: Callable[[], LocalEngine], qtbot: QtBot) -> None:
    (tmp_path / "out").mkdir()
    made = view_pictures(start, FIRST, tmp_path / "out")
    assert {"window.png", "circle.png", "errors.png", "orbit.png"} <= {path.name for path in made}
