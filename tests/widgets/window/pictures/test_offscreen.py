"""The window as a picture, and no picture of what fails."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication

from explorer.square.frame import OrbitCurve
from explorer.state.state import State
from tests.widgets.parts.frames.fake_engine import FakeEngine
from widgets.base.look import theme
from widgets.window.main_window import MainWindow
from widgets.window.pictures import offscreen


@pytest.fixture(autouse=True)
def collector_off() -> Iterator[None]:
    yield
    gc.disable()


@pytest.mark.parametrize("name", ["light", "dark"])
def test_a_picture_of_the_window(qapp: QApplication, tmp_path: Path, name: str) -> None:
    before = theme.current()
    path = tmp_path / "new" / "window.png"
    state = State(sample="digit-3", compare="c4-cnn")
    assert offscreen.grab_window(FakeEngine, state, (1000, 700), name, path) == path
    image = QImage(str(path))
    assert image.width() >= 1000 and image.height() >= 700
    dark = image.pixelColor(image.width() // 2, 2).lightness() < 128
    assert dark is (name == "dark")
    assert theme.current() is before
    assert [p.name for p in path.parent.iterdir()] == ["window.png"]


def test_no_picture_of_what_fails(qapp: QApplication, tmp_path: Path) -> None:
    def start() -> FakeEngine:
        raise ImportError("no torch")

    with pytest.raises(offscreen.NoPicture, match="no torch"):
        offscreen.grab_window(start, State(), path=tmp_path / "a.png")

    def start_broken() -> FakeEngine:
        engine = FakeEngine()
        engine.error = ValueError("too small")
        return engine

    with pytest.raises(offscreen.NoPicture, match="too small"):
        offscreen.grab_window(start_broken, State(), path=tmp_path / "a.png")

    def start_slow() -> FakeEngine:
        engine = FakeEngine()
        engine.gate.clear()
        return engine

    with pytest.raises(offscreen.NoPicture, match=r"nothing was drawn within 0\.05 seconds: take a"):
        offscreen.grab_window(start_slow, State(), path=tmp_path / "a.png", timeout=0.05)
    assert list(tmp_path.iterdir()) == []


def test_a_curve_that_takes_too_long_leaves_a_picture_of_the_rest(qapp: QApplication, tmp_path: Path) -> None:
    class Slow(FakeEngine):
        def orbit(self, state: State) -> Iterator[OrbitCurve]:
            yield replace(next(super().orbit(state)), done=1)

    state, path = State(sample="digit-3"), tmp_path / "a.png"
    assert offscreen.grab_window(Slow, state, path=path, timeout=5.0) == path and path.exists()


def test_views_are_at_their_finest_after_others_were_in_front(qapp: QApplication, tmp_path: Path) -> None:
    said: list[str] = []

    def visit(window: MainWindow) -> None:
        view = window.panes.front()
        assert view is not None
        said.append("visited")
        view.settle = lambda: said.append("settled")  # type: ignore[method-assign]

    state = State(sample="digit-3")
    offscreen.visit_window(FakeEngine, state, [state], visit, path=tmp_path / "window.png")
    assert said == ["visited", "settled"]
