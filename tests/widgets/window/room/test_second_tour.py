"""The whole window, by keys and files: what is said ends with what it was about, names, dates, panels, commands."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QDialog, QTextBrowser
from pytestqt.qtbot import QtBot

import main
from explorer.app.answering.engine import LocalEngine
from explorer.declare.registry import PLUGINS
from explorer.state.session import Session
from explorer.state.state import State
from tests.widgets.parts.driving.windows import Open, activate, settle
from widgets.base.text.paragraphs import paragraphs
from widgets.charts.axis.axes import NameAxis
from widgets.views.charts.errors import ErrorsView
from widgets.window.main_window import MainWindow
from widgets.window.room.finding import view_specs

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


def drop(window: MainWindow, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    none = Qt.KeyboardModifier.NoModifier
    window.dropEvent(
        QDropEvent(QPointF(500, 300), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, none)
    )  # fmt: skip


def picture(path: Path, seed: int) -> Path:
    noise = np.random.default_rng(seed).integers(0, 255, (40, 40), np.uint8)
    Image.fromarray(noise).save(path)
    return path


# what is said --------------------------------------------------------------------------------------------------
def test_a_failure_is_over_once_another_file_is_shown(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    window = open_window(State("d4-cnn", sample="digit-3"))
    torn, good = tmp_path / "torn.png", picture(tmp_path / "good.png", 0)
    torn.write_bytes(good.read_bytes()[:90])
    drop(window, torn)
    qtbot.waitUntil(lambda: "torn.png" in window.infobar.text.text() and window.infobar.isVisible(), timeout=20_000)
    before = window.controller.state
    drop(window, good)
    qtbot.waitUntil(lambda: window.controller.state != before, timeout=20_000)
    settle(qtbot, window)
    assert not (window.infobar.isVisible() and "torn.png" in window.infobar.text.text())


def test_a_failure_is_over_once_another_model_is_shown(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    window = open_window(State("d4-cnn", sample="digit-3"))
    drop(window, tmp_path / "gone.png")
    qtbot.waitUntil(lambda: window.infobar.isVisible() and "gone.png" in window.infobar.text.text())
    settle(qtbot, window)
    window.controller.apply("rotate", (90.0,))
    settle(qtbot, window)
    assert window.infobar.isVisible(), "another element is no answer to it"
    window.controller.set_model("plain-cnn")
    settle(qtbot, window)
    qtbot.waitUntil(lambda: not window.infobar.isVisible())


def test_a_session_that_cannot_be_shown_is_named(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    window = open_window(State("d4-cnn", sample="digit-3"))
    path = tmp_path / "theirs.json"
    path.write_text('{"equiscope": 1, "state": {"model": "nobody"}}')
    drop(window, path)
    qtbot.waitUntil(lambda: "nobody" in window.infobar.text.text(), timeout=20_000)
    assert "theirs.json" in window.infobar.text.text()
    settle(qtbot, window)
    assert window.controller.state.model == "d4-cnn"


def test_a_spreadsheet_is_refused_with_a_way(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    window = open_window(State("d4-cnn", sample="digit-3"))
    (tmp_path / "book.xlsx").write_bytes(b"PK\x03\x04junk")
    drop(window, tmp_path / "book.xlsx")
    qtbot.waitUntil(lambda: "save the sheet as CSV" in window.infobar.text.text(), timeout=20_000)


# keys ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("panel", ["gallery", "errors", "equation", "log"])
def test_escape_leads_back_from_any_panel(panel: str, qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State("d4-cnn", sample="digit-3", channel=1))
    settle(qtbot, window, measured=True)
    window.show_view(panel)
    qtbot.waitUntil(lambda: not window.status.doing.isVisible(), timeout=20_000)
    held = window.focusWidget()
    front = window.panes.front()
    assert held is not None and front is not None and not front.isAncestorOf(held)
    window.say("error", "something")
    qtbot.keyClick(held, Qt.Key.Key_Escape)
    assert not window.infobar.isVisible() and window.controller.state.channel == 1, "one step at a time"
    qtbot.keyClick(held, Qt.Key.Key_Escape)
    assert window.controller.state.channel is None


def test_f1_has_a_paragraph_and_a_picture(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State("d4-cnn", sample="digit-3"))
    window.show_view("errors")
    activate(qtbot, window)
    qtbot.keyClick(window.focusWidget() or window, Qt.Key.Key_F1)
    pages = window.findChildren(QDialog)
    page = next(p for p in pages if p.windowTitle() == "Help: Error per layer").findChild(QTextBrowser)
    assert page is not None
    assert "The diamond is the error that the layer makes by itself" in page.toPlainText()
    assert "panel:now" in page.toHtml()


def test_every_panel_has_a_paragraph_of_its_own() -> None:
    written = paragraphs()
    titles = {spec.title for spec in view_specs()}
    assert titles <= set(written), titles - set(written)
    assert set(written) <= titles, "there is no such panel any more"
    for title, text in written.items():
        assert text.count(". ") >= 2 and len(text) > 150, f"{title}: {text}"
    assert len(set(written.values())) == len(written)


def copied(qtbot: QtBot, window: MainWindow) -> list[str]:
    activate(qtbot, window)
    QGuiApplication.clipboard().clear()
    qtbot.keyClick(window.focusWidget() or window, Qt.Key.Key_C, CONTROL | SHIFT)
    qtbot.waitUntil(lambda: bool(QApplication.clipboard().text()))
    return shlex.split(QApplication.clipboard().text())


def test_a_copied_command_has_the_panel_in_front_and_the_folders_of_plugins(
    qtbot: QtBot, open_window: Open, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    window = open_window(State("d4-cnn", sample="digit-3"))
    assert "--view" not in copied(qtbot, window)
    window.show_view("filters")
    words = copied(qtbot, window)
    assert words[-2:] == ["--view", "filters"] and words[0] != "env"
    monkeypatch.setenv(PLUGINS, str(tmp_path))
    assert copied(qtbot, window)[:2] == ["env", f"{PLUGINS}={tmp_path}"]


# panels and tabs -----------------------------------------------------------------------------------------------
def test_the_asked_panel_is_in_front_and_its_tab_is_seen(qtbot: QtBot, start: Callable[[], LocalEngine]) -> None:
    """Asked before there is a frame: tabs that go away afterwards once left the bar scrolled beyond its end."""
    window = MainWindow(start, State("vae", sample="digit-3"))
    qtbot.addWidget(window)
    window.resize(1280, 900)
    window.files.guide.want(Session(State("vae"), view="latent"))
    with qtbot.waitExposed(window):
        window.show()
    window.controller.begin()
    settle(qtbot, window)
    front = window.panes.front()
    assert front is not None and front.objectName() == "latent"
    bar = window.panes.tabBar()
    qtbot.waitUntil(lambda: bar.rect().contains(bar.tabRect(bar.currentIndex()).center()))
    assert bar.rect().contains(bar.tabRect(0).center()), "the first tab is seen too"
    window.close()


def test_an_unknown_view_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["--view", "latnt"]) == 2
    assert "did you mean 'latent'" in capsys.readouterr().err
    assert main.main(["--vew", "latent"]) == 2
    assert "there is no option --vew; did you mean '--view'" in capsys.readouterr().err


def test_a_view_is_named_as_its_tab_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = tmp_path / "window.png"
    assert main.main(["--view", "Error along the orbit", "--screenshot", str(written)]) == 0, capsys.readouterr().err
    assert written.stat().st_size


# names and dates -----------------------------------------------------------------------------------------------
def names_below(axis: NameAxis) -> list[str]:
    specs = axis.picture or ()
    return [text for *_, text in specs[1]] if specs else []


@pytest.mark.parametrize("model", ["d4-cnn", "vae", "resnet18"])
def test_names_below_the_errors_tell_layers_apart(model: str, qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model))
    window.resize(1280, 800)
    window.controller.apply("rotate", (90.0,))
    settle(qtbot, window, measured=True)
    view = window.panes.named("errors")
    assert isinstance(view, ErrorsView)
    chart = view.panels[0].layers
    axis = chart.bottom
    assert isinstance(axis, NameAxis)
    qtbot.waitUntil(lambda: bool(names_below(axis)))
    shown, known = names_below(axis), [column.name for column in chart.columns]
    assert len(set(shown)) == len(shown) >= min(10, len(known))
    for text in shown:
        fits = [name for name in known if name == text or (text.startswith("…") and name.endswith(f".{text[1:]}"))]
        assert len(fits) <= 1, f"{text} may be any of {fits}"
    if model == "d4-cnn":
        assert shown.count("global_pool") == 1, "whole names, on two lines"


@pytest.mark.slow
def test_a_dated_series_has_dates_below_it(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    path = tmp_path / "days.csv"
    rows = "".join(f"{k + 1}/3/2024,{np.sin(k):.3f}\n" for k in range(31))
    path.write_text("day,value\n" + rows)
    window = open_window(State("lstm", sample="sine"))
    drop(window, path)
    qtbot.waitUntil(lambda: window.controller.state.sample == str(path), timeout=20_000)
    settle(qtbot, window)
    timeline = window.panes.named("timeline")
    assert timeline is not None
    foot = timeline.canvas.foot
    qtbot.waitUntil(lambda: bool(foot.picture))
    words = [text for *_, text in foot.picture[2]]
    assert foot.end == "date" and any(word.startswith("2024-03-") for word in words), words
