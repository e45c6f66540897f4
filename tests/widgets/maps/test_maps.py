"""Mosaics of maps: where tiles lie, which colour a value gets, and what the mouse finds."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from tests.widgets.parts.driving.mouse import MIDDLE, Mouse
from widgets.base.look import theme
from widgets.base.look.colours import colour_table
from widgets.maps.map_grid import MapGrid
from widgets.maps.mosaic import GAP, MISSING, STEPS, blank, compose, outline, shares, symmetric_scale, tiling

RNG = np.random.default_rng(0)


def maps(channels: int, h: int, w: int) -> np.ndarray:
    return RNG.standard_normal((channels, h, w)).astype(np.float32)


@pytest.fixture(autouse=True)
def light() -> Iterator[None]:
    theme.use("light")
    yield
    theme.use("light")


def grid_of(qtbot: QtBot, values: np.ndarray, size: tuple[int, int] = (500, 460), **kwargs: object) -> MapGrid:
    grid = MapGrid()
    qtbot.addWidget(grid)
    grid.resize(*size)
    with qtbot.waitExposed(grid):
        grid.show()
    grid.set_values(values, -3.0, 3.0, **kwargs)  # type: ignore[arg-type]
    grid.arrange()
    return grid


# numbers --------------------------------------------------------------------------------------------------
@given(st.integers(1, 40), st.integers(1, 12), st.integers(1, 12), st.sampled_from([1, 4, 8]), st.floats(0.2, 5))
def test_every_data_pixel_is_found_where_it_is_drawn(c: int, h: int, w: int, order: int, aspect: float) -> None:
    layout = tiling(c, h, w, order, round(aspect, 2))
    wide, high = layout.size
    values = np.arange(c * h * w, dtype=np.float32).reshape(c, h, w)
    cells = compose(values, layout, 0.0, float(c * h * w), blank(layout))
    for channel in range(c):
        x, y = layout.origin(channel)
        for row, column in ((0, 0), (h - 1, w - 1), (h // 2, w // 3)):
            at_x, at_y = x + (column + 0.5) * layout.cell, y + (row + 0.5) * layout.cell
            assert at_x < wide and at_y < high
            assert layout.hit(at_x, at_y) == (channel, row, column)
            level = int(values[channel, row, column] * STEPS / (c * h * w) + 0.5)
            assert abs(int(cells[int(at_y), int(at_x)]) - level) <= 1
    assert layout.hit(-1, 0) is None
    assert layout.hit(wide + layout.gap, 0) is None
    assert layout.hit(0, high + layout.gap) is None


def test_the_orientations_of_a_field_lie_in_one_row() -> None:
    for channels, order in ((64, 8), (64, 4), (512, 8)):
        layout = tiling(channels, 15, 15, order)
        for field in range(channels // order):
            places = [layout.origin(field * order + h) for h in range(order)]
            assert len({y for _, y in places}) == 1
            assert [x - places[0][0] for x, _ in places] == [h * layout.step_x for h in range(order)]
    assert tiling(64, 29, 29, 8).blocks == 1  # 8 fields of 8: a square
    wide, high = tiling(512, 56, 56, 8).size
    assert 0.7 < wide / high < 1.4
    assert tiling(7, 5, 5, 4).order == 1  # no whole number of fields


def test_zero_has_a_colour_of_its_own_and_what_is_no_number_too() -> None:
    values = np.array([[[0.0, 1e-9, -3.0, 3.0, np.nan, np.inf, -np.inf, 3e38]]], np.float32)
    layout = tiling(1, 1, 8)
    cells = compose(values, layout, -3.0, 3.0, blank(layout))
    line = cells[0, layout.cell // 2 :: layout.cell][:8].tolist()
    assert line == [126, 126, 0, STEPS, MISSING, STEPS, 0, STEPS]
    table = colour_table("signed")
    middle = QColor(table[126])
    assert min(middle.red(), middle.green(), middle.blue()) > 240  # light: the ground colour
    assert len({table[MISSING], table[GAP], table[0], table[126], table[STEPS]}) == 5


@pytest.mark.parametrize("scale", [0.0, np.nan, np.inf, 3e38, 1e-45])
def test_no_scale_is_too_odd(scale: float) -> None:
    values = np.array([[[0.0, 1.0, -2.0, np.nan]]], np.float32)
    layout = tiling(1, 1, 4)
    assert compose(values, layout, -scale, scale, blank(layout)).max() <= GAP


def test_the_common_scale_ignores_what_is_no_number() -> None:
    a, b = np.array([1.0, np.nan, -4.0]), np.array([np.inf, 2.0])
    assert symmetric_scale([a, b, None]) == 4.0
    assert symmetric_scale([np.zeros(3)]) == 1.0
    assert symmetric_scale([np.full(2, np.nan), np.zeros((0, 3))]) == 1.0


def test_the_outline_goes_round_the_set() -> None:
    mask = np.zeros((4, 5), bool)
    mask[1:3, 2:4] = True
    lines = outline(mask)
    assert len(lines) == 8
    assert lines[:, [0, 2]].min() == 2 and lines[:, [0, 2]].max() == 4
    assert lines[:, [1, 3]].min() == 1 and lines[:, [1, 3]].max() == 3
    assert len(outline(np.zeros((2, 2), bool))) == 0


def test_composing_is_fast_enough_for_a_drag(qtbot: QtBot) -> None:
    grid = grid_of(qtbot, maps(64, 29, 29), order=8)
    values = maps(64, 29, 29)

    def once() -> float:
        start = time.perf_counter()
        grid.set_values(values, -3.0, 3.0, order=8)
        return time.perf_counter() - start

    assert min(once() for _ in range(20)) < 0.004


# the widget -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("channels", "h", "w", "order"), [(64, 29, 29, 8), (12, 5, 9, 1), (1, 20, 20, 1)])
def test_the_pixel_on_the_screen_has_the_colour_of_its_value(
    qtbot: QtBot, channels: int, h: int, w: int, order: int
) -> None:
    values = maps(channels, h, w)
    grid = grid_of(qtbot, values, (1100, 1080), order=order)
    assert_colours(grid, values)


def assert_colours(grid: MapGrid, values: np.ndarray) -> None:
    """Assert that the first, the last and a middle value have their colours on the screen."""
    channels, h, w = values.shape
    picture = grid.viewport().grab().toImage()
    table = colour_table("signed")
    for place in ((0, 0, 0), (channels - 1, h - 1, w - 1), (channels // 2, h // 2, w // 3)):
        centre = grid.item.mapToScene(grid.item.rect_of(place).center())
        seen = picture.pixelColor(round(centre.x() - 0.5), round(centre.y() - 0.5))
        level = int(np.clip(values[place] * STEPS / 6 + STEPS / 2 + 0.5, 0, STEPS))
        assert seen == QColor(table[level]), place


def test_pictures_of_other_sizes_in_the_same_place_are_drawn_whole(qtbot: QtBot) -> None:
    grid = grid_of(qtbot, maps(1, 12, 12), (500, 460))
    for values in (maps(1, 12, 12), maps(1, 29, 29), maps(4, 6, 9), maps(1, 30, 40), maps(1, 12, 12)):
        grid.set_values(values, -3.0, 3.0)
        assert_colours(grid, values)


def test_hovering_tells_the_place_and_the_value_is_the_arrays(qtbot: QtBot) -> None:
    values = maps(64, 15, 15)
    grid = grid_of(qtbot, values, order=8)
    mouse, seen = Mouse(grid), []
    grid.pointed.connect(seen.append)
    for place in ((0, 0, 0), (13, 4, 7), (63, 14, 14)):
        mouse.move(mouse.at(grid.item, grid.item.rect_of(place).center()))
        assert seen[-1] == place
        assert grid.item.value_at(place) == values[place]
    assert grid.item.value_at((64, 0, 0)) is None
    assert grid.item.value_at((0, 15, 0)) is None


def test_a_click_enlarges_and_escape_goes_back(qtbot: QtBot) -> None:
    values = maps(64, 15, 15)
    grid = grid_of(qtbot, values, order=8)
    mouse, picked = Mouse(grid), []
    grid.picked.connect(lambda *place: picked.append(place))
    mouse.click(mouse.at(grid.item, grid.item.rect_of((13, 4, 7)).center()))
    assert picked == [(13, 4, 7)]
    assert grid.item.channel == 13
    # enlarged, the same channel is still called by its own number
    point = mouse.at(grid.item, grid.item.rect_of((13, 2, 3)).center())
    assert grid.item.place_at(grid.item.mapFromScene(point)) == (13, 2, 3)
    grid.camera.set(3.0, 0.5, 0.5)
    qtbot.keyClick(grid, Qt.Key.Key_Escape)
    assert (grid.camera.zoom, grid.item.channel) == (1.0, 13)
    qtbot.keyClick(grid, Qt.Key.Key_Escape)
    assert grid.item.channel is None


def test_the_wheel_zooms_about_the_cursor_and_dragging_pans(qtbot: QtBot) -> None:
    grid = grid_of(qtbot, maps(9, 15, 15))
    mouse, item = Mouse(grid), grid.item
    point = item.rect_of((4, 7, 7)).center() + QPointF(10, 6)
    before = item.place_at(point)
    mouse.wheel(mouse.at(item, point), 3)
    assert grid.camera.zoom == pytest.approx(1.2**3)
    assert item.place_at(point) == before
    rect = item.rect_of((4, 7, 7))
    for button, step in ((Qt.MouseButton.LeftButton, QPointF(-20, 10)), (MIDDLE, QPointF(20, -10))):
        mouse.drag(mouse.at(item, point), mouse.at(item, point + step), button=button)
        moved = item.rect_of((4, 7, 7)).center() - rect.center()
        assert (round(moved.x()), round(moved.y())) == (round(step.x()), round(step.y()))
        rect = item.rect_of((4, 7, 7))
    assert item.channel is None  # a drag is no click
    mouse.double_click(mouse.at(item, item.rect_of((4, 7, 7)).center()))
    assert grid.camera.zoom == 1.0


@pytest.mark.parametrize("shapes", [[(1, 18, 18), (1, 29, 58)], [(1, 6, 32), (8, 3, 3)], [(1, 9, 4), (1, 4, 9)]])
def test_a_larger_picture_after_a_smaller_one_is_drawn_whole(qtbot: QtBot, shapes: list[tuple[int, int, int]]) -> None:
    """It was cut off at the rows and columns of the first one: pyqtgraph keeps the range that an image saw first."""
    grid = grid_of(qtbot, np.full(shapes[0], 3.0))
    grid.viewport().grab()
    grid.set_values(np.full(shapes[1], 3.0), -3.0, 3.0)
    grid.arrange()
    picture, last = grid.viewport().grab().toImage(), QColor(colour_table("signed")[STEPS])
    channels, h, w = shapes[1]
    for place in ((channel, row, column) for channel in range(channels) for row, column in ((0, 0), (h - 1, w - 1))):
        centre = grid.item.mapToScene(grid.item.rect_of(place).center())
        assert picture.pixelColor(round(centre.x() - 0.5), round(centre.y() - 0.5)) == last, place


def test_zooming_out_never_leaves_the_picture(qtbot: QtBot) -> None:
    grid = grid_of(qtbot, maps(9, 15, 15))
    mouse = Mouse(grid)
    centre = mouse.at(grid.item, grid.item.frame().center())
    mouse.wheel(centre, 100)
    assert grid.camera.zoom == 64.0
    mouse.wheel(centre, -100)
    assert (grid.camera.zoom, grid.camera.x, grid.camera.y) == (1.0, 0.5, 0.5)


@pytest.mark.parametrize(
    "values",
    [
        maps(1, 1, 1),
        maps(10, 1, 1),
        maps(512, 1, 1),
        maps(512, 28, 28),
        maps(3, 1, 40),
        maps(3, 40, 1),
        np.zeros((8, 5, 5), np.float32),
        np.full((8, 5, 5), np.nan, np.float32),
        np.full((10, 1, 1), np.nan, np.float32),
        np.full((8, 5, 5), 3e38, np.float32),
        np.full((8, 1, 1), -np.inf, np.float32),
        np.zeros((0, 5, 5), np.float32),
        maps(8, 5, 5).astype(np.float64),
    ],
    ids=lambda v: f"{v.shape}-{v.flat[0] if v.size else 'empty'}",
)
@pytest.mark.parametrize("choice", ["light", "dark"])
def test_odd_values_are_drawn(qtbot: QtBot, values: np.ndarray, choice: str) -> None:
    theme.use(choice)
    grid = grid_of(qtbot, values, order=8, labels=tuple("abcdefgh"))
    for channel in (None, 0, 700):
        grid.set_channel(channel)
        grid.set_marks(((-1, 0, 0), (0, 0, 0)) if values.size else ())
        assert not grid.grab().isNull()
    grid.resize(30, 20)
    grid.apply_theme()
    assert not grid.grab().isNull()
    Mouse(grid).click(QPointF(15, 10))


def test_values_without_places_are_bars_when_there_is_room(qtbot: QtBot) -> None:
    values = np.array([0.3, -1.1, 0.6, -0.2, 1.4, -0.8, 0.1, 0.9, -0.4, 0.5])[:, None, None]
    grid = grid_of(qtbot, values, names=tuple("abcdefghij"))
    mouse, seen = Mouse(grid), []
    grid.pointed.connect(seen.append)
    for channel in (0, 4, 9):
        mouse.move(mouse.at(grid.item, grid.item.rect_of((channel, 0, 0)).center()))
        assert seen[-1] == (channel, 0, 0)
    positive, negative = int(values[:, 0, 0].argmax()), int(values[:, 0, 0].argmin())
    picture = grid.viewport().grab().toImage()

    def coloured(channel: int) -> tuple[list[int], list[int]]:
        """Return where the row of a channel is red, and where it is blue."""
        row = grid.item.mapRectToScene(grid.item.rect_of((channel, 0, 0)))
        across = range(round(row.left()), round(row.right()))
        inks = [picture.pixelColor(x, round(row.center().y())) for x in across]
        return tuple([x for x, c in zip(across, inks) if sign * (c.red() - c.blue()) > 60] for sign in (1, -1))  # type: ignore[return-value]

    (right, none), (nothing, left) = coloured(positive), coloured(negative)
    assert len(right) > 20 and len(left) > 20 and not none and not nothing
    assert max(left) < min(right) <= max(left) + 3, "both begin at the common zero"
    grid.set_marks(((positive, 0, 0),))
    picture = grid.viewport().grab().toImage()
    assert coloured(positive) == (right, none), "the ground of a marked row lies under its bar"
    many = grid_of(qtbot, maps(512, 1, 1))
    width = many.item.rect_of((300, 0, 0)).width()
    assert width < many.item.frame().width() / 8, "half a pixel each: cells instead"
    point = many.item.rect_of((300, 0, 0)).center()
    assert many.item.place_at(point) == (300, 0, 0)


def test_colours_of_a_picture_are_its_own(qtbot: QtBot) -> None:
    values = np.zeros((3, 8, 8), np.float32)
    values[0, 2, 5] = 1.0
    values[2, 2, 5] = 0.5
    grid = grid_of(qtbot, values)
    item = grid.item
    item.set_values(values, 0.0, 1.0, "rgb")
    centre = item.mapToScene(item.rect_of((0, 2, 5)).center())
    picture = grid.viewport().grab().toImage()
    assert picture.pixelColor(centre.toPoint()) == QColor(255, 0, 128)


def test_nothing_is_made_anew_on_an_update(qtbot: QtBot) -> None:
    grid = grid_of(qtbot, maps(64, 15, 15), order=8)
    items = [id(item) for item in grid.scene().items()]
    layout, cells = grid.item.tiling, grid.item.image.image
    for _ in range(50):
        grid.set_values(maps(64, 15, 15), -3.0, 3.0, order=8)
    assert [id(item) for item in grid.scene().items()] == items
    assert grid.item.tiling is layout and np.shares_memory(grid.item.image.image, cells)


def test_labels_of_orientations_appear_where_they_can_be_read(qtbot: QtBot) -> None:
    from explorer.declare.groups import group

    labels = group("D4").labels
    assert grid_of(qtbot, maps(64, 15, 15), (700, 700), order=8, labels=labels).item.strip() > 0
    assert grid_of(qtbot, maps(64, 15, 15), (200, 160), order=8, labels=labels).item.strip() == 0


def test_the_theme_changes_the_colours(qtbot: QtBot) -> None:
    grid = grid_of(qtbot, np.zeros((4, 6, 6), np.float32))
    centre = grid.item.mapToScene(grid.item.rect_of((0, 3, 3)).center()).toPoint()
    assert grid.viewport().grab().toImage().pixelColor(centre).lightness() > 200
    theme.use("dark")
    grid.apply_theme()
    assert grid.viewport().grab().toImage().pixelColor(centre).lightness() < 60


def test_attention_is_told_from_its_values() -> None:
    attention = np.exp(maps(2, 5, 5))
    attention /= attention.sum(-1, keepdims=True)
    assert shares(attention)
    attention[0, 3:] = 0.0  # rows of padding
    attention[:, :, 4] = np.nan  # a node that was left out
    attention[:, :, :4] /= np.maximum(attention[:, :, :4].sum(-1, keepdims=True), 1e-9)
    assert shares(attention)
    assert not shares(maps(2, 5, 5)) and not shares(np.abs(maps(2, 5, 5))) and not shares(np.zeros((2, 5, 5)))
    assert not shares(np.ones((3, 4, 1))) and not shares(None)
    signed = np.zeros((1, 2, 3))
    signed[:] = (2.0, -0.5, -0.5)
    assert not shares(signed)
