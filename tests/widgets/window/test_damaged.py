"""Settings and layouts that were damaged: the window opens, says so in a line, and uses the rest."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QMenu, QTabBar
from pytestqt.qtbot import QtBot

from explorer.state.session import load_session, save_session
from explorer.state.state import State
from tests.widgets.parts.frames.fake_engine import FakeEngine
from widgets.base.look import theme
from widgets.base.settings import texts, trouble
from widgets.base.view import View, ViewSpec
from widgets.figures.page import FigurePage
from widgets.views.choosing.filters import Favourites
from widgets.window.main_window import MainWindow

KEYS = (
    "theme", "geometry", "layout", "recent", "recent_models", "folder", "plain_words", "reduce_motion", "figure",
    "favourites", "lessons/01-the-commuting-square", "greeting_closed", "import_choices",
)  # fmt: skip
VALUES = (
    "", "@Invalid()", "@ByteArray(\\0\\xff\\x1)", "@Variant(\\0\\0\\0\\x2\\0\\0\\0\\x7)", "@Rect(1 2 3 4)",
    "@Variant(\\0\\0\\0\\x11\\0\\0\\0\\x3\\x61\\x62\\x63)", "5", "-1e999", "a, b, , @Invalid()",
    '{"points": "many"}', "[" * 5_000, "\\x0", "~no-such-user/net.py:Net", "%n%s{0}", "\"unclosed", "ä한\\x202e",
)  # fmt: skip


class Nothing(View):
    """A view without anything in it."""


SPECS = (
    ViewSpec("stage", "Stage", Nothing, "center", 0),
    ViewSpec("layers", "Layers", Nothing, "left", 0),
    ViewSpec("errors", "Errors", Nothing, "bottom", 0),
    ViewSpec("orbit", "Orbit", Nothing, "bottom", 1),
)


class Opened:
    """Windows on one file of settings."""

    def __init__(self, qtbot: QtBot, folder: Path) -> None:
        self.qtbot, self.path = qtbot, folder / "settings.ini"

    def again(self, content: bytes | None = None) -> str:
        """Open a window on such a file, look at what it has kept, close it; return what it says."""
        if content is not None:
            self.path.write_bytes(content)
        settings = QSettings(str(self.path), QSettings.Format.IniFormat)
        window = MainWindow(FakeEngine, State(sample="digit-3"), settings, SPECS)
        try:
            with self.qtbot.waitSignal(window.on_screen):
                window.show()
            window.files.fill_recent(QMenu(window))
            window.files.models.fill_recent(QMenu(window))
            window.files.guide.course.progress()
            Favourites(settings)
            FigurePage(window, Nothing(window), settings).close()
            return window.infobar.text.text() if window.infobar.isVisible() else ""
        finally:
            window.close()
            window.deleteLater()


@pytest.fixture
def opened(qtbot: QtBot, tmp_path: Path) -> Iterator[Opened]:
    yield Opened(qtbot, tmp_path)
    theme.use("light")


@pytest.mark.parametrize("value", VALUES, ids=[str(k) for k in range(len(VALUES))])
def test_a_value_of_another_kind_is_left_out(opened: Opened, value: str) -> None:
    opened.again("".join(["[General]\n", *(f"{key}={value}\n" for key in KEYS)]).encode())
    assert opened.again() == "", "what the window writes when it closes is whole"


@pytest.mark.slow
def test_a_file_that_was_cut_off_anywhere_is_used_as_far_as_it_goes(opened: Opened) -> None:
    opened.again()
    whole = opened.path.read_bytes()
    rng = random.Random(0)
    for _ in range(10):
        opened.again(whole[: rng.randrange(len(whole))])
        changed = bytearray(whole)
        for _ in range(20):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        opened.again(bytes(changed))


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"equiscope_trust": 1, "sha256": 5}', b'{"equiscope_trust": 1, "sha256": {"x": "net.py"}}',
     b'{"equiscope_trust": 9}', b"\xff\x00" * 99, b"[" * 100_000],
)  # fmt: skip
def test_a_damaged_list_of_trusted_files_is_told_in_a_line_also_after_the_first_frame(
    opened: Opened, content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EQUISCOPE_CONFIG", str(tmp_path / "config"))
    assert opened.again() == ""
    (tmp_path / "config").mkdir()
    file = tmp_path / "config" / "trusted.json"
    file.write_bytes(content)
    told = opened.again()
    assert told == f"The list of trusted files in {file} is damaged: you are asked again about what is lost."
    settings = QSettings(str(opened.path), QSettings.Format.IniFormat)
    window = MainWindow(FakeEngine, State(sample="digit-3"), settings, SPECS)
    opened.qtbot.addWidget(window)
    assert window.kept.look() == told
    window.close()
    file.write_text('{"equiscope_trust": 1, "sha256": {"' + "a" * 64 + '": "net.py"}}')
    assert opened.again() == ""


def test_a_file_that_is_none_of_settings_is_told_in_a_line(opened: Opened) -> None:
    told = opened.again(bytes(range(256)) * 40)
    assert str(opened.path) in told and "\n" not in told and len(told) < 300


def test_damaged_settings_are_kept_beside_those_that_are_written(opened: Opened) -> None:
    content = bytes(range(256)) * 40
    told = opened.again(content)
    copy = opened.path.with_name("settings.ini.damaged")
    assert copy.read_bytes() == content and "and settings.ini.damaged beside it holds the file as it was" in told
    assert opened.path.read_bytes() != content
    other = content + b"[[["
    assert "settings.ini.damaged2 beside it" in opened.again(other)
    assert copy.read_bytes() == content and copy.with_name("settings.ini.damaged2").read_bytes() == other


def test_a_damaged_session_is_not_saved_over(
    opened: Opened, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, other = tmp_path / "a.json", tmp_path / "b.json"
    save_session(path, State(sample="digit-3"), {"text": "Much that was written"})
    damaged = path.read_bytes().replace(b'"text": "', b'"text": 5, "old": "')
    path.write_bytes(damaged)
    settings = QSettings(str(opened.path), QSettings.Format.IniFormat)
    window = MainWindow(FakeEngine, State(sample="digit-3"), settings, SPECS)
    qtbot.addWidget(window)
    with qtbot.waitSignal(window.on_screen):
        window.show()
    with qtbot.waitSignal(window.controller.session_opened):
        window.controller.open_session(str(path))
    assert "a.json is damaged" in window.infobar.text.text()
    monkeypatch.setattr(window.files, "ask_save", lambda *_: str(other))
    window.menus.actions["save"].trigger()
    assert path.read_bytes() == damaged and load_session(other).state.sample == "digit-3"
    window.close()


def test_a_layout_leaves_no_tabs_of_the_former_one(opened: Opened, qtbot: QtBot) -> None:
    settings = QSettings(str(opened.path), QSettings.Format.IniFormat)
    window = MainWindow(FakeEngine, State(sample="digit-3"), settings, SPECS)
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    for _ in range(2):
        assert window.docks.restore(window.docks.save())
        bars = [bar for bar in window.findChildren(QTabBar) if bar.parent() is window and bar.isVisible()]
        seen = [bar.tabText(k) for bar in bars for k in range(bar.count())]
        assert seen and len(seen) == len(set(seen)), seen
    window.close()


def test_a_layout_that_was_damaged_is_no_layout(opened: Opened, qtbot: QtBot) -> None:
    settings = QSettings(str(opened.path), QSettings.Format.IniFormat)
    window = MainWindow(FakeEngine, State(sample="digit-3"), settings, SPECS)
    qtbot.addWidget(window)
    whole, rng = window.docks.save(), random.Random(1)
    assert window.docks.restore(whole)
    for number in range(200):
        changed = bytearray(whole)
        for _ in range(rng.randrange(1, 6)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        window.docks.restore(bytes(changed[: rng.randrange(len(changed))] if number % 3 == 0 else changed))
    window.docks.restore(base64.b64decode(b"AAAA"))
    assert window.docks.restore(whole)
    window.close()


def test_lists_hold_texts_alone(tmp_path: Path) -> None:
    settings = QSettings(str(tmp_path / "a.ini"), QSettings.Format.IniFormat)
    for value, found in ((7, []), (["a", None, 3, ""], ["a"]), ("b", ["b"]), ({"a": 1}, ["a"]), (None, [])):
        settings.setValue("recent", value)
        assert texts(settings, "recent") == found


def test_settings_that_cannot_be_written_are_told(tmp_path: Path) -> None:
    folder = tmp_path / "settings.ini"
    folder.mkdir()
    settings = QSettings(str(folder), QSettings.Format.IniFormat)
    settings.setValue("theme", "dark")
    settings.sync()
    assert "cannot be read or written" in trouble(settings)
    assert not trouble(QSettings(str(tmp_path / "fine.ini"), QSettings.Format.IniFormat))


def test_settings_that_cannot_be_written_any_more_are_told_in_an_open_window(
    qtbot: QtBot, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    settings = QSettings(str(place / "settings.ini"), QSettings.Format.IniFormat)
    window = MainWindow(FakeEngine, State(sample="digit-3"), settings, SPECS)
    with qtbot.waitSignal(window.on_screen):
        window.show()
    window.controller.begin()
    qtbot.waitUntil(lambda: window.controller.frame is not None, timeout=60_000)  # it takes back what is said before
    assert not window.kept.told and not window.infobar.isVisible()
    for path in place.iterdir():
        path.unlink()
    place.rmdir()
    place.write_bytes(b"")  # where the folder was, as when a disk goes
    with qtbot.waitSignal(window.kept.found, timeout=60_000):
        settings.setValue("theme", "dark")
    assert window.infobar.isVisible() and "cannot be read or written" in window.infobar.text.text()
    place.unlink()
    place.mkdir()
    with qtbot.waitSignal(window.kept.back, timeout=60_000) as seen:
        pass
    assert seen.args == [f"The settings in {settings.fileName()} are kept again."]
    assert "theme=dark" in (place / "settings.ini").read_text(), "what was chosen meanwhile is written"
    window.close()
    window.deleteLater()
    assert capsys.readouterr().err == "", "it is told once"


def test_settings_that_are_lost_at_the_end_are_told_to_the_terminal(
    qtbot: QtBot, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "settings.ini"
    settings = QSettings(str(place), QSettings.Format.IniFormat)
    window = MainWindow(FakeEngine, State(sample="digit-3"), settings, SPECS)
    with qtbot.waitSignal(window.on_screen):
        window.show()
    place.unlink(missing_ok=True)
    place.mkdir()
    window.close()
    window.deleteLater()
    err = capsys.readouterr().err
    assert err.startswith("equiscope: the settings in ") and err.count("\n") == 1


def test_a_list_without_measure_is_not_waited_for(qtbot: QtBot, tmp_path: Path) -> None:
    names = [f"/tmp/{k}.npy" for k in range(100_000)]
    names[0] = "/tmp/" + "y" * 200_000 + "\n\x1b[31m.npy"
    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    settings.setValue("recent", names)
    window = MainWindow(FakeEngine, State(sample="digit-3"), settings, SPECS)
    qtbot.addWidget(window)
    menu = QMenu(window)
    window.files.fill_recent(menu)
    shown = [action.text() for action in menu.actions() if action.text()]
    assert len(shown) < 15 and all(len(text) < 300 and text.isprintable() for text in shown)
    assert len(texts(settings, "recent")) == 1000
    window.close()
