"""The view of symmetries: it asks, shows what is found, and leads to the layer at fault."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from explorer.declare.telling.summaries import Law
from tests.widgets.parts.driving import mouse
from tests.widgets.parts.driving.view_driving import click, gather, odd_frames, opened
from tests.widgets.parts.frames.sample_frames import make_frame
from widgets.figures.export import export_view
from widgets.views.charts.laws import LawsView

LAWS = (
    Law("translation", "Whole shifts", "holds", 3e-7, "head", "", 4, "Whole shifts: holds to 3e-07."),
    Law("C4", "Quarter turns", "broken", 2e-7, "relu1", "block.conv", 3,
        "Quarter turns: holds to 2e-07 up to relu1, then block.conv breaks it by 0.2."),
    Law("SO2", "Any angle", "no law", None, "", "", 0, "Any angle: cannot be tested: no element is exact."),
)  # fmt: skip
ODD = odd_frames()


def with_laws(frame):
    return replace(frame, squares=tuple(replace(s, laws=LAWS) for s in frame.squares))


@pytest.fixture
def view(qtbot):
    return opened(qtbot, LawsView(), 900, 300)


def row(view, k):
    return [view.table.item(k, c).text() for c in range(view.table.columnCount())]


def test_the_button_asks_once_and_takes_it_back(view):
    view.set_frame(make_frame())
    wishes = gather(view)
    QTest.mouseClick(view.button, Qt.MouseButton.LeftButton)
    assert wishes[-1].changes == {"laws": True}
    view.set_state(replace(make_frame().state, laws=True))
    assert view.button.text() == "Stop" and "idle" in view.note.text()
    QTest.mouseClick(view.button, Qt.MouseButton.LeftButton)
    assert wishes[-1].changes == {"laws": False}


def test_each_group_has_a_row(view):
    assert not view.numbers(), "nothing was found yet"
    view.set_frame(with_laws(make_frame()))
    assert view.table.rowCount() == 3
    assert row(view, 1)[:4] == ["Quarter turns", "broken", "2.0e−7", "relu1"]
    assert row(view, 1)[4].startswith("Holds to 2e-07 up to relu1, then block.conv")
    assert row(view, 2)[1:3] == ["not testable", ""]
    assert view.numbers()["breaker"].tolist() == ["", "block.conv", ""]


def test_a_double_click_selects_the_layer_at_fault(view):
    view.set_frame(with_laws(make_frame()))
    wishes = gather(view)
    item = view.table.item(1, 0)
    at = view.table.visualItemRect(item).center()
    click(view.table.viewport(), at.x(), at.y())
    mouse.double_click(view.table.viewport(), at)
    assert wishes[-1].changes == {"layer": "block.conv"}


@pytest.mark.parametrize("name", ODD)
def test_odd_frames_are_shown(view, name):
    view.set_frame(with_laws(ODD[name]) if ODD[name] is not None else None)
    view.grab()
    view.numbers(), view.caption()
    view.set_frame(None)
    view.grab()


def test_a_figure_has_the_table_and_no_controls(view, tmp_path):
    view.set_frame(with_laws(make_frame()))
    export_view(view, tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "Quarter turns" in text and "Forget" not in text and "Double-click" not in text
    assert view.button.isVisible() and view.note.isVisible()
