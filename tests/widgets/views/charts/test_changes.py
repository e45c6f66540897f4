"""The chart of what follows of an intervention."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from pytestqt.qtbot import QtBot

from explorer.declare.states.interventions import parse_interventions
from explorer.square.frame import Change, Frame
from tests.widgets.parts.frames.sample_frames import make_frame
from widgets.base.view import Wish
from widgets.views.charts.changes import NOTHING, SOON, ChangesView, percent


def intervened(frame: Frame, measured: bool = True) -> Frame:
    square = frame.squares[0]
    names = [layer.name for layer in square.layers]
    some = parse_interventions([f"{names[1]}:zero"])
    changes = {n: Change(0.0, 0.0) if k < 1 else Change(0.5**k, 2.0 * 0.5**k) for k, n in enumerate(names)}
    square = replace(square, interventions=some, changes=changes if measured else {})
    return replace(frame, squares=(square,), state=replace(frame.state, interventions=some))


@pytest.fixture
def view(qtbot: QtBot) -> ChangesView:
    made = ChangesView()
    qtbot.addWidget(made)
    made.resize(700, 220)
    with qtbot.waitExposed(made):
        made.show()
    return made


def test_without_an_intervention_it_says_how_to_make_one(view: ChangesView) -> None:
    assert view.chart.message == NOTHING
    view.set_frame(make_frame())
    assert view.chart.message == NOTHING
    assert view.numbers() == {}
    assert view.caption() == ""


def test_the_changes_are_drawn_layer_by_layer(view: ChangesView) -> None:
    frame = make_frame()
    view.set_frame(intervened(frame, measured=False))
    assert view.chart.message == SOON
    view.set_frame(intervened(frame))
    assert view.chart.message == ""
    names = [layer.name for layer in frame.squares[0].layers]
    numbers = view.numbers()
    assert list(numbers["layer"]) == names
    assert numbers["change on x"][1] == 0.5
    # nothing changes in the first layer, so that it has no mark
    assert len(view.chart.on_x.getData()[0]) == len(view.chart.on_gx.getData()[0]) == len(names) - 1
    assert view.chart.same.words() == ["unchanged"]
    assert np.allclose(view.chart.on_x.getData()[1], np.log10([0.5**k for k in range(1, len(names))]))
    assert f"{names[1]} set to zero" in view.caption()
    assert view.chart.read(QPointF(1.0, 0.0)) == f"{names[1]} changes by 50 % on x, by 100 % on ρ(g)x"


def test_a_click_selects_the_layer(view: ChangesView) -> None:
    frame = make_frame()
    view.set_frame(intervened(frame))
    wishes: list[Wish] = []
    view.wished.connect(wishes.append)
    view.chart.clicked_at(QPointF(1.2, 0.0))
    assert wishes == [Wish(changes={"layer": frame.squares[0].layers[1].name})]


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "nothing"), (0.5, "50 %"), (1.0, "100 %"), (float("inf"), "∞ times its size")]
)
def test_percents(value: float, text: str) -> None:
    assert percent(value) == text
