"""Rows of an alignment are steps of the answer: they are called by what is written there, not by what is read."""

from __future__ import annotations

from functools import cache

import pytest
from pytestqt.qtbot import QtBot

import main
from explorer.app.answering.engine import LocalEngine
from explorer.declare.elements import parse_chain
from explorer.spaces.sequence.drawing.values import TimePart
from explorer.square.frame import Frame
from explorer.state.state import State
from tests.widgets.parts.driving.view_driving import opened
from widgets.maps.diagram import Label
from widgets.spaces.pairs.panel import Panel
from widgets.spaces.pairs.views.pairs import COMPARE, PairsView
from widgets.spaces.pairs.words import read_out

ENCODER, DECODER = "stacks.encoder.0.", "stacks.decoder.0."


@cache
def frame(model: str, layer: str) -> Frame:
    state = State(model, layer=layer, steps=parse_chain("reverse"), device="cpu")
    found = LocalEngine(main.cards()).answer(state, lambda: False)
    assert found.squares[0].layer.name == layer
    return found


def panels(qtbot: QtBot, shown: Frame) -> list[Panel]:
    """Return the first panel of x, and those of rho(g) x and of the difference."""
    view = opened(qtbot, PairsView(), 900, 600)
    assert isinstance(view, PairsView)
    view.set_state(shown.state)
    view.set_frame(shown)
    box = view.controls.beside
    box.setCurrentIndex(box.findData(COMPARE))
    box.activated.emit(box.currentIndex())
    return [group[0] for group in view.canvas.groups]


@pytest.mark.parametrize(
    ("model", "layer"), [("bahdanau", "alignment"), ("transformer", f"{DECODER}cross_attention.attention")]
)
def test_rows_are_called_by_what_is_written(qtbot: QtBot, model: str, layer: str) -> None:
    shown = frame(model, layer)
    part = shown.squares[0].of(TimePart)
    assert part is not None and part.written != part.names
    before, after = panels(qtbot, shown)[:2]
    n = range(part.steps)
    assert tuple(before.name(k, row=True) for k in n) == part.written
    assert tuple(before.name(k) for k in n) == part.names
    assert tuple(after.name(k, row=True) for k in n) == part.moved_written
    assert "to answer 0 “" + part.written[0] + "” from " in read_out(layer, before, 0, 1, "")


def test_steps_without_words_are_numbers(qtbot: QtBot) -> None:
    """The numbers that a pointer network has put in order had the names of those that it was given."""
    shown = frame("pointer-network", "pointers")
    part = shown.squares[0].of(TimePart)
    assert part is not None and not part.written
    (before, *_) = panels(qtbot, shown)
    assert [before.name(k, row=True) for k in range(part.steps)] == [str(k) for k in range(part.steps)]
    assert tuple(before.name(k) for k in range(part.steps)) == part.names


def test_the_answer_so_far_has_no_names_of_x_and_the_encoder_has(qtbot: QtBot) -> None:
    shown = frame("transformer", f"{DECODER}self_attention.attention")
    part = shown.squares[0].of(TimePart)
    assert part is not None
    (before, *_) = panels(qtbot, shown)
    assert before.name(0) == "0" and before.name(0, row=True) == part.written[0]
    (encoder, *_) = panels(qtbot, frame("transformer", f"{ENCODER}self_attention.attention"))
    assert encoder.rows is None and encoder.name(0, row=True) == part.names[0]


def test_the_axes_say_what_they_are(qtbot: QtBot) -> None:
    shown = frame("bahdanau", "alignment")
    view = opened(qtbot, PairsView(), 900, 600)
    assert isinstance(view, PairsView)
    view.set_state(shown.state)
    view.set_frame(shown)
    panel = view.canvas.groups[0][0]
    assert (panel.to, panel.of) == ("answer", "step")
    told = {item.text for item in view.canvas.scene().items() if isinstance(item, Label)}
    assert {"to answer ↓", "from step →"} <= told
