"""Weights of a layer: the choice, the gradient beside them, the wish for another one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from explorer.square.frame import Frame, Parameter, Weights
from tests.widgets.parts.driving.map_views import frame_of, sentence, shown
from tests.widgets.parts.driving.mouse import Mouse
from widgets.base.look import theme
from widgets.base.view import Wish
from widgets.views.weights import WeightsView

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def light() -> Iterator[None]:
    theme.use("light")
    yield
    theme.use("light")


def parameter(name: str, shape: tuple[int, ...], slope: bool = False) -> Parameter:
    values = RNG.normal(size=(shape[0] * shape[1], *shape[2:]) if len(shape) > 2 else (1, *shape)).astype(np.float32)
    row = shape[1] if len(shape) > 2 else 1
    return Parameter(name, shape, values, values * 2 if slope else None, row, 1.5, 3.0 if slope else None)


def frame(*weights: Weights, gradient: str = "") -> Frame:
    made = frame_of(*({"weights": w} for w in weights))
    return replace(made, state=replace(made.state, gradient=gradient))


def test_filters_stand_beside_their_gradient_and_are_read_out(qtbot: QtBot) -> None:
    weight = parameter("weight", (4, 3, 5, 5), True)
    view = WeightsView()
    words = shown(qtbot, view, frame(Weights((weight,), 10), gradient="norm"))
    left, right = view.grids[0]
    assert left.isVisible() and right.isVisible() and not view.rows[1].isVisible()
    mouse = Mouse(left)
    mouse.move(mouse.at(left.item, left.item.rect_of((7, 2, 3)).center()))
    assert words[-1].startswith("weight, filter 2, channel 1, row 2, column 3:")
    assert np.array_equal(view.numbers()["gradient by weight"], weight.gradient)
    assert "gradient" in view.caption()
    assert view.words.text() == "norm 1.5, gradient 3"
    assert view.target.currentData() == "norm"
    assert view.target.count() == 12  # nothing, the norm, ten entries


def test_another_target_is_a_wish_and_another_parameter_none(qtbot: QtBot) -> None:
    view = WeightsView()
    shown(qtbot, view, frame(Weights((parameter("weight", (6, 4)), parameter("bias", (1, 6))), 3)))
    wishes: list[Wish] = []
    view.wished.connect(wishes.append)
    assert not view.grids[0][1].isVisible()
    view.choice.setCurrentIndex(1)
    view.choice.activated.emit(1)
    assert not wishes and view.parts()[0][1].name == "bias"
    view.target.setCurrentIndex(3)
    view.target.activated.emit(3)
    assert [w.changes for w in wishes] == [{"gradient": "1"}]
    view.set_frame(frame(Weights((parameter("weight", (6, 4)),), 3)))
    assert view.parts()[0][1].name == "weight"
    view.set_frame(frame(Weights((parameter("weight", (6, 4)), parameter("bias", (1, 6))), 3)))
    assert view.parts()[0][1].name == "bias"  # what was chosen comes back with it


def test_two_models_share_the_scale_and_a_layer_without_parameters_says_so(qtbot: QtBot) -> None:
    view = WeightsView()
    small, large = (Weights((parameter("weight", (6, 4)),), 3) for _ in range(2))
    shown(qtbot, view, frame(small, large))
    assert view.rows[1].isVisible()
    highest = max(float(np.abs(w.parameters[0].values).max()) for w in (small, large))
    assert [pair[0].bar.high for pair in view.grids] == [pytest.approx(highest)] * 2
    view.set_frame(frame(Weights((), 3)))
    assert "has no parameters" in sentence(view)
    view.set_frame(None)
    assert "Choose a network" in sentence(view)


def test_a_gradient_that_is_not_there_is_said(qtbot: QtBot) -> None:
    view = WeightsView()
    shown(qtbot, view, frame(Weights((parameter("weight", (6, 4)),), 3), gradient="2"))
    assert view.words.text() == "the output does not depend on it"
