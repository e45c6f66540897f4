"""A fifth kind of data and a view of it, dropped into a folder: the window shows both, and its gallery draws them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtGui import QAction
from pytestqt.qtbot import QtBot

import models
from explorer.app.engine import LocalEngine
from explorer.declare.elements import parse_chain
from explorer.declare.registry import scan
from explorer.state.state import State
from tests.plugins import plugged
from widgets.base.view import Wish
from widgets.window.main_window import MainWindow
from widgets.window.pictures.gallery import view_pictures

ROOT = Path(__file__).resolve().parents[3]
FIRST = State(model="ring-net", orbit="turn", steps=parse_chain(""))


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[], LocalEngine]]:
    shutil.copytree(ROOT / "tests" / "plugins" / "ring", tmp_path / "plugins" / "ring")
    with plugged(tmp_path / "plugins", "ring"):
        yield lambda: LocalEngine(
            {n: c for n, c in scan(models, "CARD").items() if n in ("ring-net", "ring-numbered", "gcn")}
        )


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path, start: Callable[[], LocalEngine]) -> Iterator[MainWindow]:
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    made = MainWindow(start, FIRST, settings)
    with qtbot.waitExposed(made):
        made.show()
    made.controller.begin()
    yield made
    made.close()
    made.deleteLater()


def test_the_window_shows_it(qtbot: QtBot, window: MainWindow) -> None:
    def answered() -> bool:
        frame = window.controller.frame
        return frame is not None and frame.state == window.controller.state and not window.controller.waiting

    qtbot.waitUntil(answered, timeout=60_000)
    circle = window.panes.named("circle")
    assert circle is not None and window.panes.front() is circle, "the view that was made for it comes to the front"
    assert len(circle.numbers()["x"]) == 12
    next(a for a in window.findChildren(QAction) if a.text() == "Random element").trigger()
    qtbot.waitUntil(lambda: bool(window.controller.state.steps) and answered(), timeout=60_000)
    assert window.controller.state.steps[0].name == "turn"
    moved = circle.numbers()["order"].tolist()
    assert moved != list(range(12)) and sorted(moved) == list(range(12))
    window.controller.undo()
    qtbot.waitUntil(lambda: not window.controller.state.steps and answered(), timeout=60_000)
    window.controller.grant(Wish(changes={"compare": "ring-numbered"}))
    qtbot.waitUntil(lambda: answered() and len(window.controller.frame.squares) == 2, timeout=60_000)


def test_pictures_are_made_of_its_views(tmp_path: Path, start: Callable[[], LocalEngine], qtbot: QtBot) -> None:
    (tmp_path / "out").mkdir()
    made = view_pictures(start, FIRST, tmp_path / "out")
    assert {"window.png", "circle.png", "errors.png", "orbit.png"} <= {path.name for path in made}
