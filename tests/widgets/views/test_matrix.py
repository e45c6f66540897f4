"""Matrices of a layer: the choice, ticks and zoom, odd matrices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from pytestqt.qtbot import QtBot

from tests.widgets.parts.driving.map_views import frame_of, same_items, sentence, shown
from tests.widgets.parts.driving.mouse import Mouse
from tests.widgets.parts.frames.sample_frames import make_frame, make_square
from widgets.base.look import theme
from widgets.views import matrix
from widgets.views.matrix import MatrixView, row_length

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def light() -> Iterator[None]:
    theme.use("light")
    yield
    theme.use("light")


def test_the_cell_under_the_cursor_is_read_out(qtbot: QtBot) -> None:
    view = MatrixView()
    words = shown(qtbot, view, make_frame(size=11))
    values = make_frame(size=11).squares[0].matrices["W"]
    grid = view.grids[0]
    mouse = Mouse(grid)
    for row, column in ((0, 0), (17, 100), (120, 120)):
        mouse.move(mouse.at(grid.item, grid.item.rect_of((0, row, column)).center()))
        value = f"{values[row, column]:.5g}".replace("-", "−")
        place = f"output pixel {row} ({row // 11}, {row % 11}), input pixel {column} ({column // 11}, {column % 11})"
        assert words[-1] == f"W, {place}:  {value}"
    mouse.move(QPointF(1, 1))
    assert words[-1] == ""
    assert [axis.length for axis in view.axes[0]] == [11, 11]
    assert np.array_equal(view.numbers()["W"], values)
    assert "matrix W" in view.caption()


def test_one_of_several_matrices_is_chosen_and_kept(qtbot: QtBot) -> None:
    both = {"W": np.eye(9, dtype=np.float32), "V": 5 * np.eye(16, dtype=np.float32)}
    view = MatrixView()
    shown(qtbot, view, frame_of({"matrices": {"W": both["W"]}}))
    assert not view.choice.isVisible()
    view.set_frame(frame_of({"matrices": both}))
    assert view.choice.isVisible() and view.choice.currentText() == "W"
    view.choice.setCurrentText("V")
    assert view.grids[0].bar.high == 5.0
    assert view.grids[0].item.values is not None and view.grids[0].item.values.shape == (1, 16, 16)
    view.set_frame(frame_of({"matrices": both}))
    assert view.choice.currentText() == "V"
    view.set_frame(frame_of({"matrices": {"W": both["W"]}}))
    assert view.choice.currentText() == "W"
    view.set_frame(frame_of({"matrices": both}))
    assert view.choice.currentText() == "V"


def test_what_has_no_sign_is_drawn_from_nothing_on(qtbot: QtBot) -> None:
    view = MatrixView()
    near = (np.arange(16).reshape(4, 4) % 3 == 0).astype(np.float32)
    for values, low, said in (
        (near, 0.0, "0 to 1"),
        (near - 0.5, -0.5, "±0.5"),
        (near / near.sum(1)[:, None], 0.0, "0 to 1"),
    ):
        shown(qtbot, view, frame_of({"matrices": {"near": values}}))
        assert (view.grids[0].bar.low, view.caption().rpartition("colours ")[2]) == (low, said)
    shown(qtbot, view, frame_of({"matrices": {"near": near}}, {"matrices": {"near": -near}}))
    assert [grid.bar.low for grid in view.grids] == [-1.0, -1.0]  # one scale for both networks


def test_the_titles_of_the_next_network_have_room(qtbot: QtBot) -> None:
    view = MatrixView()
    shown(qtbot, view, frame_of({"matrices": {title: np.eye(9, dtype=np.float32) for title in "WV"}}))
    title = "columns of the decoder, one after the other"
    view.set_frame(frame_of({"matrices": {t: np.eye(9, dtype=np.float32) for t in (title, "W")}}))
    qtbot.waitUntil(lambda: view.choice.width() > view.choice.fontMetrics().horizontalAdvance(title))


def test_a_matrix_zooms_and_its_ticks_follow(qtbot: QtBot) -> None:
    view = MatrixView()
    shown(qtbot, view, make_frame(size=11))
    grid = view.grids[0]
    mouse = Mouse(grid)
    point = grid.item.rect_of((0, 60, 60)).center()
    mouse.wheel(mouse.at(grid.item, point), 5)
    assert grid.camera.zoom > 2
    assert grid.item.place_at(point) == (0, 60, 60)
    mouse.click(mouse.at(grid.item, point))
    assert grid.item.channel is None  # one matrix: there is nothing to enlarge
    assert not view.grab().isNull()


@pytest.mark.slow
@pytest.mark.parametrize("choice", ["light", "dark"])
@pytest.mark.parametrize(
    "matrices",
    [
        {},
        {"W": np.zeros((0, 4), np.float32)},
        {"W": np.zeros((1, 1), np.float32)},
        {"W": np.full((6, 6), np.nan, np.float32)},
        {"W": np.full((5, 300), 3e38, np.float32)},
        {"W": RNG.standard_normal((700, 700)).astype(np.float32), "V": np.zeros((2, 3), np.float64)},
    ],
    ids=lambda m: str({t: a.shape for t, a in m.items()}),
)
def test_odd_matrices_are_drawn(qtbot: QtBot, matrices: dict[str, np.ndarray], choice: str) -> None:
    theme.use(choice)
    view = MatrixView()
    shown(qtbot, view, frame_of({"matrices": matrices}), (620, 430))
    for frame in (frame_of({"matrices": matrices}, {}), frame_of({}, {"matrices": matrices}), None):
        view.set_frame(frame)
        view.apply_theme()
        assert not view.grab().isNull()
        for grid in view.grids:
            if grid.isVisible():
                Mouse(grid).move(grid.item.mapToScene(grid.item.frame().center()))
        view.numbers(), view.caption()
    view.resize(60, 40)
    assert not view.grab().isNull()


def test_a_layer_without_matrices_says_so(qtbot: QtBot) -> None:
    view = MatrixView()
    shown(qtbot, view, frame_of({"matrices": {}}))
    assert matrix.NONE in sentence(view)
    view.set_frame(None)
    assert matrix.NOTHING in sentence(view)
    assert view.caption() == "" and view.numbers() == {}


def test_the_length_of_an_image_row_is_found() -> None:
    square = make_square(size=29)
    oblong = replace(square, x=np.zeros((1, 4, 6), np.float32))
    assert row_length(29 * 29, square) == 29
    assert row_length(24, oblong) == 6
    assert row_length(121, square) == 11
    assert row_length(7, square) == 0
    assert row_length(1, square) == 0


def test_nothing_is_made_anew_on_a_frame(qtbot: QtBot) -> None:
    view = MatrixView()
    shown(qtbot, view, make_frame())
    same_items(view)


def test_the_view_is_found_by_its_constant() -> None:
    assert (matrix.VIEW.area, matrix.VIEW.order) == ("center", 2)


def test_axes_are_named_by_what_the_title_says_that_lines_are(qtbot: QtBot) -> None:
    """Rows of "filters × unit peaks" were called output pixels."""
    view = MatrixView()
    title = "α: filters × unit peaks"
    words = shown(qtbot, view, frame_of({"matrices": {title: np.eye(4, 9, dtype=np.float32)}}))
    assert [axis.what for axis in view.axes[0]] == ["unit peaks", "filters"]
    assert [axis.length for axis in view.axes[0]] == [0, 0], "nine peaks are no image"
    grid = view.grids[0]
    mouse = Mouse(grid)
    mouse.move(mouse.at(grid.item, grid.item.rect_of((0, 2, 3)).center()))
    assert words[-1] == f"{title}, filters 2, unit peaks 3:  0"


@pytest.mark.parametrize("shape", [(4, 9), (5, 5), (3, 40)])
def test_the_number_of_a_large_cell_stands_in_the_middle_of_it(qtbot: QtBot, shape: tuple[int, int]) -> None:
    """Numbers of a 5 × 5 matrix, drawn with several pixels for each cell, stood beside its first third."""
    view = MatrixView()
    shown(qtbot, view, frame_of({"matrices": {"β: filters × peaks": np.zeros(shape, np.float32)}}))
    grid, (across, up) = view.grids[0], view.axes[0]
    for axis, count in ((across, shape[1]), (up, shape[0])):
        low, high = sorted(axis.range)
        ticks = axis.tickValues(low, high, 400.0)[0][1]
        numbers = [int(text) for text in axis.tickStrings(ticks, axis.scale, 1.0)]
        assert numbers[0] == 0 and max(numbers) > count // 2
        for number, tick in zip(numbers, ticks, strict=True):
            cell = grid.item.rect_of((0, number, 0) if axis.upright else (0, 0, number)).center()
            frame = grid.item.frame()
            place = (
                (cell.y() - frame.top()) / frame.height() if axis.upright else (cell.x() - frame.left()) / frame.width()
            )
            assert abs((tick - low) / (high - low) - place) < 0.01


def test_tiles_of_filters_are_named_and_not_counted(qtbot: QtBot) -> None:
    """Axes of filters side by side counted their pixels as outputs and inputs."""
    view = MatrixView()
    title = "conv2: orientation h down, orientation of the input across"
    words = shown(qtbot, view, frame_of({"matrices": {title: np.eye(31, dtype=np.float32)}}))
    assert [axis.what for axis in view.axes[0]] == ["orientation of the input", "orientation h"]
    assert all(axis.tickValues(0, 31, 300.0) == [] for axis in view.axes[0])
    grid = view.grids[0]
    mouse = Mouse(grid)
    mouse.move(mouse.at(grid.item, grid.item.rect_of((0, 3, 3)).center()))
    assert words[-1] == f"{title}:  1"
