"""Files that could be several things ask on a page; what was done to data stands above the stage and can be changed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QComboBox, QListWidget
from pytestqt.qtbot import QtBot

from explorer.data.finding import find_sample
from explorer.state.session import load_session, save_session
from explorer.state.state import State
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, settle
from tests.widgets.window.opening.test_kinds import dropped
from widgets.window.main_window import MainWindow
from widgets.window.opening.import_page import ImportPage


def weeks(folder: Path) -> Path:
    (folder / "weeks.csv").write_text("week,sales\n" + "".join(f"{k},{k * k % 7 + 90}\n" for k in range(1, 20)))
    return folder / "weeks.csv"


def weather(folder: Path) -> Path:
    lines = [f"2021-01-{d:02},{d},{50 + d},{s}" for d in range(1, 25) for s in ("Oslo", "Rome")]
    (folder / "weather.csv").write_text("\n".join(["date,temperature,humidity,station", *lines]))
    return folder / "weather.csv"


def photo(folder: Path) -> Path:
    pixels = np.random.default_rng(0).integers(0, 255, (40, 80, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(folder / "photo.png")
    return folder / "photo.png"


def the_page(qtbot: QtBot, window: MainWindow) -> ImportPage:
    """Wait until the page is there and has its answer."""
    qtbot.waitUntil(lambda: window.files.imports.page is not None, timeout=LONGEST_MS)
    page = window.files.imports.page
    assert page is not None
    answered(qtbot, page)
    return page


def answered(qtbot: QtBot, page: ImportPage) -> None:
    qtbot.waitUntil(page.go.isEnabled, timeout=LONGEST_MS)


def test_the_page_says_that_it_reads_until_there_is_something_to_show(
    qtbot: QtBot, open_window: Open, tmp_path: Path
) -> None:
    page = ImportPage(open_window(State("d4-cnn", device="cpu")), str(weeks(tmp_path)), False)
    page.open()
    assert "Reading" in page.heading.text() and "weeks.csv" in page.heading.text()
    assert page.heading.isVisible() and not page.go.isEnabled()
    assert not any(part.isVisible() for part in (page.ways_title, page.table, page.picture)), (
        "frames with nothing in them"
    )
    page.close()


@pytest.mark.slow
def test_two_files_dropped_at_once_are_opened_one_after_the_other(
    qtbot: QtBot, open_window: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = open_window(State("geodesic-cnn", device="cpu"))
    (tmp_path / "walk.csv").write_text("t,a\n" + "".join(f"{k},{k % 5}\n" for k in range(60)))
    dropped(window, photo(tmp_path), monkeypatch)
    dropped(window, tmp_path / "walk.csv", monkeypatch)
    opened(qtbot, window, str(tmp_path / "walk.csv"))
    assert window.controller.frame is not None and window.controller.frame.squares[0].domain == "sequence"
    told = window.infobar.text.text()
    assert told.startswith("walk.csv: now") and told.endswith("as the network before cannot take a sequence.")


def opened(qtbot: QtBot, window: MainWindow, text: str) -> None:
    qtbot.waitUntil(lambda: window.controller.state.sample == text, timeout=LONGEST_MS)
    settle(qtbot, window)


@pytest.mark.slow
def test_a_file_that_could_be_several_things_asks_and_is_opened_as_it_is_said(
    qtbot: QtBot, open_window: Open, tmp_path: Path
) -> None:
    window, path = open_window(State("d4-cnn", device="cpu")), weeks(tmp_path)
    before = window.controller.state
    window.files.open(str(path))
    page = the_page(qtbot, window)
    assert set(page.ways) == {"edges", "series", "text"} and page.ways["edges"].isChecked()
    assert page.table.item(0, 1).text() == "sales" and not page.picture.pixmap().isNull()
    assert window.controller.state == before, "nothing changes before the answer"
    way = page.ways["series"]
    qtbot.mouseClick(way, Qt.MouseButton.LeftButton, pos=QPoint(10, way.rect().center().y()))
    assert way.isChecked()
    answered(qtbot, page)
    columns = page.editors["columns"]
    assert isinstance(columns, QListWidget) and columns.count() == 2
    columns.item(0).setCheckState(Qt.CheckState.Unchecked)
    answered(qtbot, page)
    assert "column sales: 1 of 2" in page.told.text() and page.go.isDefault()
    qtbot.mouseClick(page.remember, Qt.MouseButton.LeftButton, pos=page.remember.rect().center() / 4)
    page.remember.setChecked(True)
    qtbot.keyClick(page, Qt.Key.Key_Return)
    text = f"{path}?as=series&columns=2"
    opened(qtbot, window, text)
    assert window.controller.domain == "sequence" and "column sales: 1 of 2" in window.data_line.text.text()
    assert find_sample(text).x.values.shape == (19, 1)
    # the state says it, so a command and a session do
    assert f"'{text}'" in window.controller.state.command()
    save_session(tmp_path / "s.json", window.controller.state, {}, ())
    assert load_session(tmp_path / "s.json").state == window.controller.state
    # and the next file of the folder is read so
    other = tmp_path / "other.csv"
    other.write_text(path.read_text())
    window.files.open(str(other))
    opened(qtbot, window, f"{other}?as=series&columns=2")
    assert window.files.imports.page is None


def test_esc_leaves_everything_as_it_was(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    window = open_window(State("d4-cnn", device="cpu"))
    before = window.controller.state
    window.files.open(str(weeks(tmp_path)))
    page = the_page(qtbot, window)
    first = page.focusWidget()
    assert first is page.ways["edges"], "the way that is chosen has the keyboard"
    qtbot.keyClick(first, Qt.Key.Key_Tab)
    assert page.focusWidget() is next(iter(page.editors.values())), "then what is chosen of it, not the buttons"
    assert page.focus_ring.around() is page.focusWidget()
    qtbot.keyClick(page, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: window.files.imports.page is None, timeout=LONGEST_MS)
    assert window.controller.state == before and not window.controller.can_undo


@pytest.mark.parametrize(("model", "asked"), [("lstm", "?as=series"), ("gcn", "")])
@pytest.mark.slow
def test_the_kind_that_is_shown_wins_without_a_question(
    qtbot: QtBot, open_window: Open, tmp_path: Path, model: str, asked: str
) -> None:
    window, path = open_window(State(model, device="cpu")), weeks(tmp_path)
    window.files.open(str(path))
    opened(qtbot, window, f"{path}{asked}")
    assert window.controller.state.model == model and window.files.imports.page is None


def test_a_table_of_dates_is_a_series_while_a_graph_is_shown(qtbot: QtBot, open_window: Open, tmp_path: Path) -> None:
    window, path = open_window(State("gcn", device="cpu")), weather(tmp_path)
    window.files.open(str(path))
    opened(qtbot, window, str(path))
    assert window.controller.domain == "sequence" and window.files.imports.page is None
    assert "one series for each station" in window.data_line.text.text()


@pytest.mark.slow
def test_another_model_of_the_kind_is_taken_where_the_shown_one_refuses(
    qtbot: QtBot, open_window: Open, tmp_path: Path
) -> None:
    window, path = open_window(State("strand-cnn", device="cpu")), weather(tmp_path)
    window.files.open(str(path))
    opened(qtbot, window, str(path))
    assert window.controller.state.model != "strand-cnn" and window.controller.domain == "sequence"
    assert "cannot take" in window.infobar.text.text()


@pytest.mark.parametrize("ending", [".npy", ".npz"])
def test_an_array_of_three_columns_is_a_series_while_a_network_on_series_is_shown(
    qtbot: QtBot, open_window: Open, tmp_path: Path, ending: str
) -> None:
    path, values = tmp_path / f"walk{ending}", np.random.default_rng(0).random((90, 3))
    np.save(path, values) if ending == ".npy" else np.savez(path, walk=values)
    window = open_window(State("lstm", device="cpu"))
    window.files.open(str(path))
    qtbot.waitUntil(lambda: window.controller.state.sample.startswith(str(path)), timeout=LONGEST_MS)
    settle(qtbot, window)
    assert window.controller.state.model == "lstm" and "column 1 of 3" in window.data_line.text.text()


def test_one_click_on_what_was_done_to_a_picture_offers_the_alternatives(
    qtbot: QtBot, open_window: Open, tmp_path: Path
) -> None:
    window, path = open_window(State("d4-cnn", device="cpu")), photo(tmp_path)
    line = window.data_line
    qtbot.waitUntil(lambda: line.text.text().endswith(": as it is"), timeout=LONGEST_MS)
    assert not line.button.isVisible(), "of a sample of the program"
    stage, corner = window.panes.front(), QPoint(0, 0)
    assert stage is not None
    before = stage.mapTo(window, corner)
    window.files.open(str(path))
    opened(qtbot, window, str(path))
    assert stage.mapTo(window, corner) == before, "no note moves what is looked at"
    assert "cropped to 40x40, resized to 29x29" in line.text.text() and "grey" in line.text.text()
    assert line.isVisible() and line.height() < 40
    qtbot.mouseClick(line.text, Qt.MouseButton.LeftButton)
    page = the_page(qtbot, window)
    fit = page.editors["fit"]
    assert isinstance(fit, QComboBox) and [fit.itemData(k) for k in range(fit.count())] == ["crop", "pad", "stretch"]
    qtbot.keyClicks(fit, "the whole")
    answered(qtbot, page)
    qtbot.mouseClick(page.go, Qt.MouseButton.LeftButton)
    opened(qtbot, window, f"{path}?as=image&fit=pad")
    assert "padded to 29x29" in line.text.text() and window.controller.state.model == "d4-cnn"
    window.controller.undo()
    opened(qtbot, window, str(path))
    assert "cropped" in line.text.text()


@pytest.mark.parametrize("name", ["loop.png", "n" * 300 + ".png", "a\0b.png", "/".join(["deep"] * 1500) + ".png"])
def test_a_path_that_leads_nowhere_is_a_sentence(qtbot: QtBot, open_window: Open, tmp_path: Path, name: str) -> None:
    (tmp_path / "loop.png").symlink_to("back.png")
    (tmp_path / "back.png").symlink_to("loop.png")
    window = open_window(State("d4-cnn", device="cpu"))
    window.files.open(str(tmp_path / name))
    qtbot.waitUntil(window.infobar.isVisible, timeout=LONGEST_MS)
    said = window.infobar.text.text().partition("  —  ")[0]  # the whole path follows
    assert said.endswith("does not exist.") and said.isprintable() and len(said) < 320
