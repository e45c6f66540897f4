"""The pictures on the way: which are shown, on which scale an error is, and what is said where there are none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint
from pytestqt.qtbot import QtBot

from explorer.spaces.grid.drawing.stations import Station, StationsPart
from explorer.square.frame import Frame
from tests.widgets.parts.driving.mouse import move
from tests.widgets.parts.frames.sample_frames import make_frame
from widgets.base.look import theme
from widgets.spaces.grid.views.stations import VIEW, StationsView

RNG = np.random.default_rng(0)


def part() -> StationsPart:
    picture, small, error = (RNG.random(s).astype(np.float32) for s in ((1, 6, 6), (1, 3, 3), (1, 6, 6)))
    return StationsPart(
        (
            Station("y", picture, picture.T.copy()),
            Station("rough", small, small),
            Station("|back − x|", 0.1 * error, 0.4 * error, error=True),
        ),
        "there and back",
    )  # fmt: skip


def shown(made: StationsPart | None, moved: bool = True) -> Frame:
    frame = make_frame()
    square = replace(frame.squares[0], part=made)
    return replace(frame, squares=(square if moved else replace(square, gx=square.x),))


@pytest.fixture(params=["light", "dark"])
def dressed(request):
    theme.use(request.param)
    yield
    theme.use("light")


@pytest.fixture
def view(qtbot: QtBot) -> StationsView:
    made = StationsView()
    qtbot.addWidget(made)
    made.resize(700, 400)
    made.show()
    return made


def test_a_row_for_x_and_one_for_what_it_is_moved_to(view: StationsView, dressed) -> None:
    made = part()
    view.set_frame(shown(made))
    titles = [t.title for t in view.board.tiles]
    assert titles == ["x", "y", "rough", "|back − x|", "ρ(g) x", "", "", ""], "no title is said twice"
    first, second = view.board.tiles[3], view.board.tiles[7]
    assert first.high == second.high == pytest.approx(made.stations[2].of_gx.max()), "both errors on one scale"
    assert first.note != second.note and first.note.startswith("mean 0.0")
    assert view.board.tiles[4].box.top() > view.board.tiles[0].box.bottom()
    assert "there and back" in view.caption() and len(view.numbers()) == 6
    picture = view.grab().toImage()
    assert len({picture.pixel(x, y) for x in range(0, 700, 9) for y in range(0, 400, 9)}) > 20


def test_what_stands_still_is_drawn_once(view: StationsView) -> None:
    view.set_frame(shown(part(), moved=False))
    assert [t.title for t in view.board.tiles] == ["x", "y", "rough", "|back − x|"]
    assert "ρ(g)" not in view.words.text()


def test_the_value_under_the_mouse_is_told(view: StationsView, qtbot: QtBot) -> None:
    made, heard = part(), []
    view.hovered.connect(heard.append)
    view.set_frame(shown(made))
    for tile, place, value in (
        (1, (2, 4), made.stations[0].of_x[0, 2, 4]),
        (7, (5, 0), made.stations[2].of_gx[0, 5, 0]),
    ):
        box = view.board.tiles[tile].box
        at = QPoint(
            round(box.left() + (place[1] + 0.5) * box.width() / 6),
            round(box.top() + (place[0] + 0.5) * box.height() / 6),
        )
        move(view.board, at)
        name = made.stations[tile % 4 - 1].title + (", of ρ(g) x" if tile > 4 else "")
        wanted = f"{name}, row {place[0]}, {place[1]}: "
        qtbot.waitUntil(lambda w=wanted: bool(heard) and heard[-1].startswith(w))
        assert float(heard[-1].rpartition(" ")[2]) == pytest.approx(float(value), rel=0.02)


def test_other_networks_have_no_such_tab(view: StationsView) -> None:
    other = shown(None)
    assert not VIEW.tells(other.squares[0]) and VIEW.tells(shown(part()).squares[0])
    view.set_frame(other)
    assert view.pages.label.isVisible() and "no pictures" in view.pages.label.text()
    view.set_frame(None)
    assert "Open a network" in view.pages.label.text()
