"""Attention between the steps of a sequence: as a matrix where there is one, as one row where there is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from explorer.spaces.sequence.drawing.values import Attended, TimePart
from explorer.square.frame import Frame, LayerInfo
from tests.widgets.parts.driving.view_driving import opened
from tests.widgets.parts.frames.time_parts import time_frame, token_part
from widgets.spaces.pairs.views.pairs import COMPARE, PairsView
from widgets.spaces.sequence.views.timeline import TimelineView

BLOCK, STEP = "stack.self_attention", 7


def attended_part() -> TimePart:
    """Return a part whose matrix was not formed: one row of it was sent, of either side."""
    whole = token_part()
    found = Attended(BLOCK, whole.values[:, STEP].T.copy(), 2 * whole.values[:, STEP].T)
    return token_part("step", attended=found)


def timeline(qtbot: QtBot, frame: Frame) -> TimelineView:
    view = TimelineView()
    opened(qtbot, view, 1000, 700)
    view.set_state(frame.state)
    view.set_frame(frame)
    view.settle()
    return view


def pairs(qtbot: QtBot, frame: Frame) -> PairsView:
    view = PairsView()
    opened(qtbot, view, 1280, 500)
    view.set_frame(frame)
    return view


# one row ----------------------------------------------------------------------------------------------------------
def test_the_row_of_the_selected_step_stands_below_the_input(qtbot: QtBot) -> None:
    part = attended_part()
    view = timeline(qtbot, time_frame(part, layer=f"{BLOCK}.context", node=STEP))
    assert part.attended is not None and part.attended.moved is not None
    rows = view.canvas.shown.rows
    # below the input, and the gradient that is to come
    assert [one.key for one in rows[:3]] == ["before/x", "gradient", "before/0/row"]
    row = rows[2]
    assert row.name == "attention given" and row.pyramid is not None
    np.testing.assert_array_equal(row.pyramid.values, part.attended.row)
    assert row.limit == pytest.approx(part.attended.moved.max())  # one scale for both sides
    assert "attention" in view.numbers()


def test_tokens_are_coloured_by_it_where_the_layer_lies_in_that_attention(qtbot: QtBot) -> None:
    part = attended_part()
    assert part.attended is not None
    view = timeline(qtbot, time_frame(part, layer=f"{BLOCK}.context", node=STEP))
    scene = view.canvas.shown
    np.testing.assert_allclose(scene.tint["before"], part.attended.row.mean(1))
    assert scene.tint_name == f"attention of step {STEP}, mean of 2 heads, stack self attention"
    view.set_state(replace(view.state, channel=1))
    np.testing.assert_allclose(view.canvas.shown.tint["before"], part.attended.row[:, 1])


def test_tokens_are_coloured_by_logits_on_both_sides_of_zero(qtbot: QtBot) -> None:
    """All of them had the colour of the end of a scale that went from 0 to a negative number."""
    part = token_part()
    part = replace(part, values=part.values - 2, moved=part.moved - 2)
    scene = timeline(qtbot, time_frame(part)).canvas.shown
    scale, limit = scene.tint_scale
    assert scale == "signed"
    assert limit == pytest.approx(max(-tint.min() for tint in scene.tint.values()))


@pytest.mark.parametrize("layer", ["stack.norm1", f"{BLOCK}2.context"])
def test_other_layers_keep_their_colours(qtbot: QtBot, layer: str) -> None:
    view = timeline(qtbot, time_frame(attended_part(), layer=layer, node=STEP))
    assert view.colour.currentData() != "attended"
    assert view.colour.findData("attended") >= 0


def test_without_a_row_none_is_offered(qtbot: QtBot) -> None:
    view = timeline(qtbot, time_frame(token_part("step"), layer=f"{BLOCK}.context", node=STEP))
    assert view.colour.findData("attended") < 0
    assert not any(row.key.endswith("/row") for row in view.canvas.shown.rows)


# the matrix -------------------------------------------------------------------------------------------------------
def test_a_layer_on_pairs_of_steps_is_a_matrix(qtbot: QtBot) -> None:
    part = token_part()
    view = pairs(qtbot, time_frame(part, layer="attn"))
    panel = view.canvas.groups[0][0]
    np.testing.assert_array_equal(panel.matrix.tile(0, (0, part.steps), (0, part.steps)), part.values[0])
    assert panel.names == part.names
    offered = {view.controls.field.itemData(i) for i in range(view.controls.field.count())}
    assert offered == {"0/attn"}  # steps are joined by no edges


def test_before_and_after_a_reversal_stand_beside_each_other(qtbot: QtBot) -> None:
    whole = token_part()
    back = np.arange(whole.steps, dtype=float)[::-1].copy()
    moved = np.ascontiguousarray(whole.values[:, ::-1, ::-1])
    part = replace(whole, order=back, moved=moved, expected=moved)
    view = pairs(qtbot, time_frame(part, layer="attn"))
    offered = {view.controls.beside.itemData(i) for i in range(view.controls.beside.count())}
    assert COMPARE in offered
    shifted = np.arange(whole.steps, dtype=float) - 3
    shifted[:3] = np.nan
    view.set_frame(time_frame(replace(part, order=shifted), layer="attn"))  # where steps are cut off no law is drawn
    offered = {view.controls.beside.itemData(i) for i in range(view.controls.beside.count())}
    assert COMPARE not in offered


def test_without_a_matrix_the_view_says_where_to_look(qtbot: QtBot) -> None:
    frame = time_frame(token_part("step"), layer="stack.norm1")
    view = pairs(qtbot, frame)

    def sentence() -> str:
        return " ".join(label.text() for label in view.findChildren(QLabel) if label.isVisible())

    assert "click a step in the timeline" in sentence().lower()
    info = LayerInfo("attn", "Softmax", (2, 9, 9), 0, "pair scalar", False)
    square = replace(frame.squares[0], layers=(*frame.squares[0].layers, info))
    view.set_frame(replace(frame, squares=(square,)))
    assert "Select a layer on pairs" in sentence()
