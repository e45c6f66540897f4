"""Words explained where they stand: definitions on hover, F1, and plain words in place of notation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QDialog, QTextBrowser
from pytestqt.qtbot import QtBot

from explorer.state.state import State
from tests.widgets.parts.driving.windows import Open, activate, settle
from widgets.base.controls.measure_table import ROWS
from widgets.base.text import glossary
from widgets.base.text.glossary import meaning, say, words_in
from widgets.base.text.term import TermLabel


@pytest.fixture(autouse=True)
def notation() -> Iterator[None]:
    glossary.use(False)
    yield
    glossary.use(False)


@pytest.mark.parametrize("word", ["ρ(g)", "floor", "chance", "cumulative", "local", "orbit", "D4", "S_n", "dB"])
def test_the_glossary_has_the_words_of_the_window(word: str) -> None:
    assert len(meaning(word)) > 15
    assert words_in(f"a {word} here") == [word] and words_in(f"x{word}y") == []


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("ρ(g)x", "moved input"),
        ("ρ(g) x", "moved input"),
        ("x and F(x)", "x and answer"),
        ("F(ρ(g)x)", "moved, answered"),
        ("ρ′(g)F(x) − F(ρ(g)x) of a", "answered, moved − moved, answered of a"),
        ("step 3 of ρ(g)x", "step 3 of moved input"),
        ("local 0.2 · floor 1e-7", "here alone 0.2 · rounding alone 1e-7"),
        ("locality, floors", "locality, floors"),
        ("", ""),
    ],
)
def test_plain_words_stand_in_place_of_notation(written: str, told: str) -> None:
    assert say(written) == written
    glossary.use(True)
    assert say(written) == told


def test_words_of_the_measure_are_terms(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    assert window.panes.named("inspector") is not None  # made now if it was not yet
    labels = {label.word: label for label in window.findChildren(TermLabel)}
    assert {name for _, name, _ in ROWS} <= set(labels)
    for word in ("cumulative", "local", "floor", "chance", "dB"):
        assert meaning(word) in labels[word].toolTip()


def test_the_switch_writes_plain_words_and_is_kept(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    stage = window.panes.named("stage")
    assert stage is not None and window.panes.named("inspector") is not None
    caption = stage.captions[1]  # type: ignore[attr-defined]
    before = window.grab().toImage()
    assert meaning("ρ(g)") in caption.toolTip()
    window.menus.actions["plain_words"].trigger()
    labels = {label.word: label.text() for label in window.findChildren(TermLabel)}
    assert labels["local"] == "here alone" and glossary.kept(window.settings)
    window.grab()
    assert caption.lines == ["moved input"]
    window.status.read("step 2 of ρ(g)x")
    assert window.status.reading.text().startswith("step 2 of moved input")
    window.menus.actions["plain_words"].trigger()
    settle(qtbot, window)
    assert {label.word: label.text() for label in window.findChildren(TermLabel)}["local"] == "local"
    window.grab()
    assert caption.lines == ["ρ(g)x"] and not glossary.kept(window.settings)
    assert not before.isNull()


def test_f1_is_about_the_panel_with_the_focus(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State(model="d4-cnn", sample="digit-3"))
    activate(qtbot, window)
    window.show_view("errors")
    errors = window.panes.named("errors")
    assert errors is not None
    errors.setFocus()
    qtbot.keyClick(errors, Qt.Key.Key_F1)
    dialog = next(d for d in window.findChildren(QDialog) if d.windowTitle() == "Help: Error per layer")
    page = dialog.findChild(QTextBrowser)
    assert page is not None
    text = page.toPlainText()
    assert "Where the square stops commuting" in text and meaning("local") in text
    assert "Mouse and keys" in text and "put it on the stage; Left and Right go on from there" in text
    assert page.document().resource(int(QTextDocument.ResourceType.ImageResource), "panel:now") is not None
    dialog.close()
