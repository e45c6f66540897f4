"""The views of a layer's filters and of its matrices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from explorer.square.frame import Frame
from tests.widgets.parts.mouse import Mouse
from tests.widgets.parts.sample_frames import make_frame, make_square
from widgets.base import theme
from widgets.base.view import View
from widgets.grid.views import filters
from widgets.grid.views.filters import FiltersView
from widgets.views import matrix
from widgets.views.matrix import MatrixView, row_length

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def light() -> Iterator[None]:
    theme.use("light")
    yield
    theme.use("light")


def shown(qtbot: QtBot, view: View, frame: Frame | None, size: tuple[int, int] = (1200, 800)) -> list[str]:
    """Show the view with a frame and return the list that its read-outs go to."""
    qtbot.addWidget(view)
    view.resize(*size)
    with qtbot.waitExposed(view):
        view.show()
    view.set_frame(frame)
    words: list[str] = []
    view.hovered.connect(words.append)
    return words


def frame_of(*changes: dict[str, Any]) -> Frame:
    """Return a frame with one square for each dictionary of changed fields."""
    models = ("d4-cnn", "plain-cnn")
    squares = tuple(replace(make_square(m), **change) for m, change in zip(models, changes))
    return replace(make_frame(), squares=squares)


def sentence(view: View) -> str:
    texts = [label.text() for label in view.findChildren(QLabel) if label.isVisible()]
    return " ".join(texts)


# filters --------------------------------------------------------------------------------------------------
def test_rows_are_base_filters_and_columns_their_copies(qtbot: QtBot) -> None:
    view = FiltersView()
    words = shown(qtbot, view, make_frame())
    item, mouse = view.grids[0].item, Mouse(view.grids[0])
    values = make_frame().squares[0].filters
    assert values is not None
    places = [item.rect_of((k, 0, 0)).topLeft() for k in range(64)]
    for base in range(8):
        assert len({p.y() for p in places[8 * base : 8 * base + 8]}) == 1
        assert [p.x() for p in places[8 * base : 8 * base + 8]] == sorted(p.x() for p in places[:8])
    for place in ((0, 0, 0), (13, 1, 2), (63, 2, 2)):
        mouse.move(mouse.at(item, item.rect_of(place).center()))
        n, row, column = place
        value = f"{values[place]:.5g}".replace("-", "−")
        assert words[-1] == f"lift, filter {n // 8} · {n % 8}, row {row}, column {column}:  {value}"
    mouse.move(QPointF(1, 1))
    assert words[-1] == ""
    assert item.labels[0] == "r0" and item.labels[-1] == "m r270"


def test_a_click_enlarges_a_filter_until_another_layer_comes(qtbot: QtBot) -> None:
    view = FiltersView()
    shown(qtbot, view, make_frame())
    grid = view.grids[0]
    mouse = Mouse(grid)
    mouse.click(mouse.at(grid.item, grid.item.rect_of((13, 1, 1)).center()))
    assert grid.item.channel == 13
    view.set_frame(make_frame())
    assert grid.item.channel == 13
    other = replace(make_square().layer, name="other")
    view.set_frame(frame_of({"layer": other}))
    assert grid.item.channel is None


def test_two_models_share_the_scale_of_their_filters(qtbot: QtBot) -> None:
    a, b = np.full((8, 3, 3), 0.5, np.float32), np.full((8, 5, 5), -4.0, np.float32)
    view = FiltersView()
    shown(qtbot, view, frame_of({"filters": a}, {"filters": b}))
    assert [grid.bar.high for grid in view.grids] == [4.0, 4.0]
    assert all(grid.isVisible() for grid in view.grids)
    assert view.grids[0].title.dot == "first" and view.grids[1].title.dot == "second"
    assert set(view.numbers()) == {"d4-cnn/filters", "plain-cnn/filters"}
    assert "±4" in view.caption() and "plain-cnn" in view.caption()
    view.set_frame(make_frame())
    assert not view.grids[1].isVisible()
    assert set(view.numbers()) == {"filters"}


@pytest.mark.parametrize("choice", ["light", "dark"])
@pytest.mark.parametrize(
    "change",
    [
        {"filters": None},
        {"filters": np.zeros((0, 3, 3), np.float32)},
        {"filters": np.zeros((8, 1, 1), np.float32)},
        {"filters": np.full((8, 3, 3), np.nan, np.float32)},
        {"filters": np.full((7, 3, 5), 3e38, np.float32)},
        {"filters": RNG.standard_normal((512, 7, 7)).astype(np.float32), "filter_columns": 0},
        {"filters": RNG.standard_normal((512, 3, 3)).astype(np.float32), "filter_labels": ()},
        {"filters": RNG.standard_normal((1, 11, 11)).astype(np.float32), "filter_columns": 1},
    ],
    ids=lambda c: str(c["filters"].shape if c["filters"] is not None else None),
)
def test_odd_filters_are_drawn(qtbot: QtBot, change: dict[str, Any], choice: str) -> None:
    theme.use(choice)
    view = FiltersView()
    shown(qtbot, view, frame_of(change), (620, 430))
    for frame in (frame_of(change, {}), frame_of({}, change), None, frame_of(change)):
        view.set_frame(frame)
        view.apply_theme()
        assert not view.grab().isNull()
        for grid in view.grids:
            if grid.isVisible():
                mouse = Mouse(grid)
                mouse.click(grid.item.mapToScene(grid.item.frame().center()))
        view.numbers(), view.caption()
    view.resize(60, 40)
    assert not view.grab().isNull()


def test_a_layer_without_filters_says_so(qtbot: QtBot) -> None:
    view = FiltersView()
    shown(qtbot, view, frame_of({"filters": None}))
    assert "This layer has no filters" in sentence(view)
    view.set_frame(None)
    assert filters.NOTHING in sentence(view)
    assert view.caption() == "" and view.numbers() == {}
    view.set_frame(make_frame())
    assert sentence(view) == ""


# matrices -------------------------------------------------------------------------------------------------
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
    assert view.axes[0].lengths == (11, 11)
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


@pytest.mark.parametrize("make", [FiltersView, MatrixView])
def test_nothing_is_made_anew_on_a_frame(qtbot: QtBot, make: type[FiltersView] | type[MatrixView]) -> None:
    view = make()
    shown(qtbot, view, make_frame())
    frames = (make_frame(compare=True), make_frame(), None)
    view.set_frame(frames[0])

    def items() -> list[int]:
        return [id(item) for grid in view.grids for item in grid.scene().items()]

    before, children = items(), len(view.findChildren(QLabel))
    for k in range(51):
        view.set_frame(frames[k % 3])
    assert items() == before and len(view.findChildren(QLabel)) == children


def test_the_views_are_found_by_their_constants() -> None:
    for module, order in ((filters, 1), (matrix, 2)):
        assert (module.VIEW.area, module.VIEW.order) == ("center", order)
