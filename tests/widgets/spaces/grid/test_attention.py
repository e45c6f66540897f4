"""Attention over the image: which token's row is drawn, where it is drawn, and when the tab is there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from explorer.spaces.grid.drawing.tokens import AttentionPart, rollout
from explorer.square.frame import Frame
from tests.widgets.parts.frames.sample_frames import make_frame
from widgets.base.look import theme
from widgets.base.view import ViewSpec
from widgets.spaces.grid.views.attention import VIEW, AttentionView
from widgets.window.room.panes import Panes

SIZE = (2, 3)
COUNT = 7  # six patches and a class token


def attention(seed: int) -> np.ndarray:
    values = np.random.default_rng(seed).random((2, COUNT, COUNT)).astype(np.float32)
    return values / values.sum(-1, keepdims=True)


def frame() -> Frame:
    part = AttentionPart(
        COUNT, (), np.arange(COUNT), size=SIZE, extra=1, of_x={"first": attention(0), "second": attention(1)},
        of_gx={"first": attention(2), "second": attention(3)},
    )  # fmt: skip
    made = make_frame()
    return replace(made, squares=(replace(made.squares[0], part=part),))


def shown(qtbot: QtBot) -> AttentionView:
    view = AttentionView()
    qtbot.addWidget(view)
    view.resize(700, 360)
    view.show()
    view.set_frame(frame())
    return view


def test_tiles_are_the_row_of_the_class_token_then_of_the_clicked_patch(qtbot: QtBot) -> None:
    view = shown(qtbot)
    tiles = view.board.tiles
    assert [t.title for t in tiles[:4]] == ["x, head 0", "head 1", "mean", "roll-out"]
    np.testing.assert_array_equal(tiles[0].heat, attention(1)[0, 0, 1:].reshape(SIZE))
    np.testing.assert_array_equal(tiles[5].heat, attention(3)[1, 0, 1:].reshape(SIZE))
    box = tiles[1].box
    at = QPoint(round(box.left() + box.width() * 0.9), round(box.top() + box.height() * 0.75))  # row 1, column 2
    qtbot.mouseClick(view.board, Qt.MouseButton.LeftButton, pos=at)
    np.testing.assert_array_equal(view.board.tiles[0].heat, attention(1)[0, 1 + 5, 1:].reshape(SIZE))
    assert view.board.tiles[0].marked == (1, 2)
    view.side.setCurrentIndex(1)
    view.side.activated.emit(1)
    np.testing.assert_array_equal(view.board.tiles[0].heat, attention(1)[0, 1:, 1 + 5].reshape(SIZE))
    qtbot.mouseClick(view.board, Qt.MouseButton.LeftButton, pos=at)
    assert view.board.tiles[0].marked is None


def test_a_layer_that_is_chosen_is_wished_for_and_rolled_out_so_far(qtbot: QtBot) -> None:
    view = shown(qtbot)
    with qtbot.waitSignal(view.wished) as wish:
        view.layer.setCurrentText("first")
        view.layer.activated.emit(0)
    assert wish.args[0].changes["layer"] == "first"
    np.testing.assert_allclose(view.board.tiles[3].heat.ravel(), rollout([attention(0)])[0, 1:])
    assert set(view.numbers()) >= {"d4-cnn: first of x", "d4-cnn: roll-out of ρ(g) x"}


def test_roll_out_is_the_product_of_half_attention_and_half_residual() -> None:
    a, b = attention(0), attention(1)
    eye = np.eye(COUNT)
    wanted = (0.5 * b.mean(0) + 0.5 * eye) @ (0.5 * a.mean(0) + 0.5 * eye)
    np.testing.assert_allclose(rollout([a, b]), wanted, atol=1e-6)
    np.testing.assert_allclose(rollout([a, b]).sum(-1), 1, atol=1e-6)
    assert np.abs(rollout([a, b]) - rollout([b, a])).max() > 1e-3


@pytest.mark.parametrize("choice", ["light", "dark"])
def test_pictures_can_be_told_from_the_ground(qtbot: QtBot, choice: str) -> None:
    theme.use(choice)
    try:
        view = shown(qtbot)
        view.apply_theme()
        image = view.board.grab().toImage()
        box = view.board.tiles[0].box
        assert image.pixelColor(box.center().toPoint()) != image.pixelColor(2, 2)
    finally:
        theme.use("light")


def test_it_says_why_it_is_empty(qtbot: QtBot) -> None:
    view = AttentionView()
    qtbot.addWidget(view)
    view.show()
    view.set_frame(make_frame())
    assert "no attention" in view.pages.label.text()


def test_the_tab_is_there_only_where_there_is_attention(qtbot: QtBot) -> None:
    panes = Panes((ViewSpec("other", "Other", AttentionView, "center"), VIEW))
    qtbot.addWidget(panes)
    panes.offer("grid", frame().squares[0])
    assert panes.offered("attention")
    panes.offer("grid", None)
    assert not panes.offered("attention") and panes.offered("other")
    panes.offer("graph", frame().squares[0])
    assert not panes.offered("attention")


@pytest.mark.parametrize(("extra", "after"), [(0, 0), (1, 0), (0, 1)])
def test_a_class_token_is_spoken_of_where_there_is_one_wherever_it_stands(qtbot: QtBot, extra: int, after: int) -> None:
    view = shown(qtbot)
    count = 6 + extra + after
    values = np.random.default_rng(0).random((2, count, count)).astype(np.float32)
    part = AttentionPart(
        count, (), np.arange(count), size=SIZE, extra=extra, after=after, of_x={"a": values}, of_gx={"a": values}
    )
    made = make_frame()
    view.set_frame(replace(made, squares=(replace(made.squares[0], part=part),)))
    assert ("class token" in view.words.text()) == bool(extra + after)
    token = {(0, 0): 1 * 3 + 1, (1, 0): 0, (0, 1): 6}[extra, after]  # the patch in the middle where all have a place
    np.testing.assert_array_equal(view.board.tiles[0].heat, values[0, token, extra : extra + 6].reshape(SIZE))
