"""Figures for a column of a paper: as wide as was asked for, with all their words, legends and names."""

from __future__ import annotations

import html
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

import widgets
from explorer.declare.elements import parse_chain
from explorer.declare.registry import scan
from explorer.declare.telling.hints import grouped
from explorer.state.state import State
from tests.widgets.figures.filling import filled
from tests.widgets.figures.test_other_renderers import FEW, MOST, by_poppler, cells
from tests.widgets.parts.driving.view_driving import opened
from tests.widgets.parts.driving.windows import LONGEST_MS, Open, activate, settle
from widgets.base.view import View
from widgets.charts.plot import Plot
from widgets.figures.export import Drawn, drawn, export_view
from widgets.figures.style import Style
from widgets.figures.svg import shortened
from widgets.spaces.sequence.views.timeline import TimelineView
from widgets.views.charts.errors import ErrorsView
from widgets.views.charts.output import OutputView
from widgets.window.main_window import MainWindow

SPECS = scan(widgets, "VIEW", "views")
COLUMN = Style(width=85.0, whole=True)


def words_of(made: Drawn) -> str:
    """Return all that is written in an SVG but for its caption, a space between two texts."""
    drawing = made.data.decode().partition("</desc>")[2]
    return " ".join(html.unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)</text>", drawing))


def legends(view: View) -> list[str]:
    """Return what the seen charts of a view explain."""
    plots = [plot for plot in view.findChildren(Plot) if plot.isVisibleTo(view) and not plot.message]
    return [re.sub("<[^>]*>", "", label.text) for plot in plots for _, label in plot.header.legend.items]


@pytest.mark.parametrize("name", ["errors", "orbit", "values"])
def test_a_figure_of_one_column_explains_its_marks(qtbot: QtBot, name: str) -> None:
    """In a column the legend had no room, and nothing said what a diamond or a dashed line is."""
    view = filled(opened(qtbot, SPECS[name].make(), 900, 300), SPECS[name])
    keys = legends(view)
    assert keys
    for style in (COLUMN, Style(width=85.0)):
        words = words_of(drawn(view, ".svg", style=style))
        assert [key for key in keys if key not in words] == [], (style, words)


def test_matrices_keep_the_size_of_text_in_a_column(qtbot: QtBot) -> None:
    """The properties below them stood in one row, which no column has room for: all text was of 3 and 4 pt."""
    view = filled(opened(qtbot, SPECS["pairs"].make(), 900, 420), SPECS["pairs"])
    for style in (COLUMN, Style(width=85.0)):
        made = drawn(view, ".svg", style=style)
        assert made.points == pytest.approx(style.points, abs=0.1) and made.shortened == 0
        words = words_of(made).replace("\N{NO-BREAK SPACE}", " ")
        assert all(word in words for word in ("square", "34 × 34", "row sums", "member 10"))


def guilty(open_window: Open, qtbot: QtBot) -> tuple[ErrorsView, list[str], str]:
    """Open a window on a network with faults; return its errors, the names of its layers and what it says of them."""
    window = open_window(State("plain-cnn", sample="digit-5", steps=parse_chain("rotate:90"), device="cpu"))
    window.show_view("errors")
    settle(qtbot, window, measured=True)
    view = window.panes.named("errors")
    assert isinstance(view, ErrorsView) and window.controller.frame is not None
    square = window.controller.frame.squares[0]
    assert square.guilty and square.hints
    return view, [layer.name for layer in square.layers], grouped(square.hints, square.guilty)[0]


def test_nothing_shortened_keeps_the_size_of_text_where_lines_do(qtbot: QtBot, open_window: Open) -> None:
    """A sentence about the fault made the text tiny, and was cut all the same; every other layer had no name."""
    view, names, hint = guilty(open_window, qtbot)
    before = view.geometry(), view.panels[0].layers.header.size().height()
    made = drawn(view, ".svg", style=COLUMN)
    words = words_of(made)
    assert made.shortened == 0 and made.points == pytest.approx(COLUMN.points, abs=0.1)
    assert [name for name in names if name not in words] == [] and hint in words
    assert "underline" not in made.data.decode(), "nobody follows a link on paper"
    assert (view.geometry(), view.panels[0].layers.header.size().height()) == before
    assert not view.panels[0].layers.bottom.turned


def test_many_faults_leave_a_figure_its_chart(qtbot: QtBot, open_window: Open) -> None:
    """Twenty sentences of a deep network filled half of the page, and a long name that is bold was shortened."""
    window = open_window(State("resnet18", steps=parse_chain("rotate:90"), device="cpu"))
    window.show_view("errors")
    settle(qtbot, window, measured=True)
    view = window.panes.named("errors")
    assert isinstance(view, ErrorsView) and window.controller.frame is not None
    square = window.controller.frame.squares[0]
    made = drawn(view, ".svg", style=Style(width=174.0, whole=True))
    words = words_of(made)
    assert made.shortened == 0 and [layer.name for layer in square.layers if layer.name not in words] == []
    told = grouped(square.hints, square.guilty)
    assert len(square.hints) > 3 and all(hint in words for hint in told[:3])
    assert len(told) <= 3 or (f"and {len(told) - 3} more" in words and told[-1] not in words)


def test_names_that_are_left_out_are_counted(qtbot: QtBot, open_window: Open) -> None:
    view, names, _ = guilty(open_window, qtbot)
    made = drawn(view, ".svg", style=Style(width=85.0))
    words = words_of(made)
    missing = [name for name in names if name not in words]
    assert missing and made.shortened >= len(missing)


def test_a_view_keeps_the_width_of_a_figure_in_the_window(qtbot: QtBot, open_window: Open) -> None:
    """A chart that went at the new size brought the view back to the width of its dock, and letters of 2 pt."""
    window = open_window(State("plain-cnn", sample="digit-5", steps=parse_chain("rotate:90"), device="cpu"))
    for name in ("output", "errors", "stage", "orbit"):
        window.show_view(name)
        settle(qtbot, window, measured=True)
        view = window.panes.named(name)
        assert view is not None
        if isinstance(view, OutputView):
            qtbot.waitUntil(view.lines[0].isVisible, timeout=LONGEST_MS)  # the curves come last
        place = view.geometry()
        for style in (Style(width=85.0), Style(width=174.0)):
            assert drawn(view, ".svg", style=style).points == pytest.approx(8.0, abs=0.1), (name, style)
        assert view.geometry() == place
    window.resize(1100, 700)
    qtbot.waitUntil(lambda: window.panes.named("orbit").geometry() != place)  # its dock follows the window again


def test_lines_of_a_pdf_have_the_scale_of_its_text(qtbot: QtBot, tmp_path: Path) -> None:
    """Charts drawn large and brought to a column had lines of the large size in a PDF."""
    if shutil.which("pdftoppm") is None:
        pytest.skip("pdftoppm is not installed")
    view = filled(opened(qtbot, SPECS["errors"].make(), 640, 300), SPECS["errors"])
    for kind in ("png", "pdf"):
        export_view(view, tmp_path / f"figure.{kind}", style=Style(width=85.0, points=2.5, caption=False))
    with Image.open(tmp_path / "figure.png") as image:
        size = image.size
    made = (tmp_path / "figure.png", by_poppler(tmp_path / "figure.pdf", size[0]))
    apart = np.abs(np.subtract(*(cells(path, size) for path in made))).max(-1)
    assert (apart > MOST).mean() < FEW, f"{(apart > MOST).mean():.1%} of the cells differ, at most by {apart.max():.2f}"


def test_a_range_is_no_shortened_text() -> None:
    texts = ["0.00554\u00a0…\u00a01", "conv1: its…", "a name …", "…end", "fir…ast"]
    assert shortened("".join(f'<text x="0">{text}</text>' for text in texts)) == 4


def test_the_last_row_of_a_timeline_is_whole(qtbot: QtBot, open_window: Open) -> None:
    window = open_window(State("lstm", sample="sine", steps=parse_chain("shift:20"), node=40, device="cpu"))
    view = window.panes.named("timeline")
    assert isinstance(view, TimelineView)

    def last() -> tuple[float, float]:
        canvas = view.canvas
        return canvas.area(canvas.slots[-1]).bottom(), canvas.plotted.bottom()

    view.canvas.bar.setValue(view.canvas.bar.maximum())
    assert last()[0] <= last()[1] + 1
    ends = []

    class Noted(TimelineView):
        """Says how far its last row reaches, at each caption: all is laid out by then."""

        def caption(self) -> str:
            ends.append((self.canvas.area(self.canvas.slots[-1]).bottom(), self.canvas.plotted.bottom()))
            return super().caption()

    noted = opened(qtbot, Noted(), 760, 300)
    noted.set_frame(window.controller.frame)
    for style in (COLUMN, Style(width=85.0), Style(width=174.0), Style()):
        drawn(noted, ".svg", style=style)
        assert ends[-1][0] <= ends[-1][1] + 1, (style, ends[-1])


def test_the_page_shows_the_whole_figure_by_keys_alone(qtbot: QtBot, open_window: Open) -> None:
    view, _, _ = guilty(open_window, qtbot)
    window = view.window()
    assert isinstance(window, MainWindow)
    activate(qtbot, window)
    view.panels[0].layers.setFocus()
    qtbot.keyClick(window, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    page = window.files.figure_page
    assert page is not None
    qtbot.waitUntil(page.isVisible)
    page.width_box.setFocus()
    qtbot.keyClick(page.width_box, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: "shortened or left out" in page.told.text())
    page.whole.setFocus()
    qtbot.keyClick(page.whole, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: "shortened" not in page.told.text() and page.told.text() == "Text of 8.0 pt.")
    page.reject()
