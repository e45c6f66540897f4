"""Filters as maps: rows of base filters, one scale, read-outs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from pytestqt.qtbot import QtBot

from tests.widgets.parts.driving.map_views import frame_of, same_items, sentence, shown
from tests.widgets.parts.driving.mouse import Mouse
from tests.widgets.parts.frames.sample_frames import make_frame, make_square
from widgets.base.look import theme
from widgets.spaces.grid.views import filters
from widgets.spaces.grid.views.filters import FiltersView

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def light() -> Iterator[None]:
    theme.use("light")
    yield
    theme.use("light")


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


def test_nothing_is_made_anew_on_a_frame(qtbot: QtBot) -> None:
    view = FiltersView()
    shown(qtbot, view, make_frame())
    same_items(view)


def test_the_view_is_found_by_its_constant() -> None:
    assert (filters.VIEW.area, filters.VIEW.order) == ("center", 1)


def test_columns_of_an_ordinary_convolution_are_inputs_and_no_copies(qtbot: QtBot) -> None:
    """64 filters of 8 inputs and 8 outputs were called 8 bases with 8 copies each."""
    view = FiltersView()
    frame = make_frame()
    labels = tuple(f"{k // 8} ← {k % 8}" for k in range(64))
    shown(qtbot, view, replace(frame, squares=(replace(frame.squares[0], filter_labels=labels),)))
    title = view.grids[0].title.text
    assert "copies" not in title and "a column for each input" in title
    assert view.grids[0].item.labels[:2] == ("0", "1")
