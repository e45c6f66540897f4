"""The gradient through time: straight lines, the rate in words, and where truncation cuts it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from explorer.spaces.sequence.drawing.values import TimePart
from tests.widgets.parts.driving.plot_mouse import PlotMouse
from tests.widgets.parts.driving.view_driving import gather, odd_frames, opened
from tests.widgets.parts.frames.time_parts import shift_part, time_frame
from widgets.base.look import theme
from widgets.spaces.sequence.charts.gradient_chart import cut_at, rate_of, rate_text
from widgets.spaces.sequence.views.gradient import NO_FIELD, NO_STEP, GradientView

STEPS, STEP, EVERY = 120, 85, 20


@pytest.fixture(autouse=True)
def in_light() -> Iterator[None]:
    theme.use("light")
    yield
    theme.use("light")


@pytest.fixture
def view(qtbot: QtBot) -> GradientView:
    made = opened(qtbot, GradientView(), 1000, 300)
    assert isinstance(made, GradientView)
    return made


def falling(rate: float = 0.87) -> np.ndarray:
    t = np.arange(STEPS)
    return np.where(t <= STEP, 2.0 * rate ** np.clip(STEP - t, 0, None), 0.0).astype(np.float32)


def part(truncate: bool = False, **changes: object) -> TimePart:
    whole = falling()
    cut = np.where(np.arange(STEPS) >= STEP // EVERY * EVERY, whole, 0).astype(np.float32)
    more = {"gradient": whole} | ({"truncated": cut, "cuts": 1} if truncate else {})
    return replace(shift_part(STEPS), **(more | changes))  # type: ignore[arg-type]


def give(view: GradientView, one: TimePart, **state: object) -> None:
    frame = time_frame(one, **state)  # type: ignore[arg-type]
    view.set_state(frame.state)
    view.set_frame(frame)
    QApplication.processEvents()


@pytest.mark.slow
@pytest.mark.parametrize("name", odd_frames())
def test_frames_without_a_sequence_say_what_to_do(view: GradientView, name: str) -> None:
    view.set_frame(odd_frames()[name])
    view.grab()
    assert view.chart.message and view.numbers() == {} and view.caption() == ""


def test_without_a_step_or_a_value_at_each_step_it_says_so(view: GradientView) -> None:
    give(view, part())
    assert view.chart.message == NO_STEP
    give(view, part(gradient=None, kind="invariant", missing="It is too slow."), node=STEP)
    assert view.chart.message == NO_FIELD
    give(view, part(gradient=None), node=STEP)
    assert "being computed" in view.chart.message
    give(view, part(gradient=None, missing="It is too slow."), node=STEP)
    assert view.chart.message == "It is too slow."


def test_the_rate_of_a_vanishing_and_of_an_exploding_gradient() -> None:
    found = rate_of(falling(0.87), STEP)
    assert found is not None and found.rate == pytest.approx(0.87, abs=1e-6) and found.top == pytest.approx(2, rel=1e-5)
    assert rate_text(found.rate) == "0.87 per step back: a tenth after 17 steps"  # 0.87^17 = 0.094
    assert rate_text(1.12) == "1.12 per step back: ten times as much after 20 steps"  # 1.12^20 = 9.6
    assert rate_text(1.0) == "1 per step back: it neither vanishes nor explodes"
    assert rate_of(falling(), 1) is None, "two points make no slope"
    assert rate_of(np.zeros(9), 8) is None


def test_a_vanishing_gradient_is_a_straight_line_in_the_picture(view: GradientView) -> None:
    give(view, part(), node=STEP)
    chart, ink = view.chart, QColor(theme.current().first)
    picture, t = chart.grab().toImage(), np.array([60, 70, 80])
    x, decades = chart.lines[0].whole.getOriginalDataset()
    np.testing.assert_allclose(10 ** decades[: STEP + 1], falling()[: STEP + 1], rtol=1e-5)
    assert np.isnan(decades[STEP + 1 :]).all(), "zero has no place on a logarithmic axis"
    places = [chart.at(x[k], decades[k]) for k in t]
    assert np.diff([p.y() for p in places], 2) == pytest.approx(0, abs=1e-3) and places[0].y() > places[2].y()
    for place in places:
        found = [picture.pixelColor(round(place.x()), round(place.y()) + k) for k in (-1, 0, 1)]
        assert any(abs(c.red() - ink.red()) + abs(c.blue() - ink.blue()) < 90 for c in found)
    assert "a tenth after 17 steps" in view.caption()


def test_truncation_is_a_wish_and_a_second_line_that_ends_at_the_cut(view: GradientView) -> None:
    give(view, part(), node=STEP)
    wishes = gather(view)
    view.every.setValue(EVERY)
    assert wishes[-1].changes == {"truncate": EVERY} and wishes[-1].tag
    view.every.setValue(0)
    assert wishes[-1].changes == {"truncate": None}
    give(view, part(truncate=True), node=STEP, truncate=EVERY)
    (one,) = view.chart.found
    assert one.cut is not None and cut_at(one.whole, one.cut, STEP) == 80
    lost = 1 - sum(0.87**k for k in range(6)) / sum(0.87**k for k in range(STEP + 1))
    assert view.note() == f"cut before step 80: {100 * lost:.3g} % of the gradient is lost"
    assert view.every.value() == EVERY and set(view.numbers()) == {"gradient", "truncated"}
    at, decades = view.chart.lines[0].cut.getOriginalDataset()
    there = np.isfinite(decades)
    np.testing.assert_array_equal(at[there], np.arange(80, STEP + 1) + 0.5, err_msg="the second line ends at the cut")
    np.testing.assert_allclose(10 ** decades[there], one.cut[80 : STEP + 1], rtol=1e-5)
    x = round(view.chart.at(80.0, 0).x())
    row = [view.chart.grab().toImage().pixelColor(x + k, round(view.chart.plotted.top()) + 4) for k in (-1, 0, 1)]
    assert any(c.red() > c.blue() + 60 for c in row), "the cut is marked"


def test_where_nothing_is_cut_it_says_so(view: GradientView) -> None:
    give(view, part(truncated=falling(), cuts=1), node=STEP, truncate=100)
    assert view.note() == f"detached every 100 steps: nothing is lost at step {STEP}"
    give(view, part(truncated=falling(), cuts=0), node=STEP, truncate=100)
    assert "no recurrent state" in view.note()


def test_a_click_selects_another_step_also_at_true_times(view: GradientView) -> None:
    times = np.r_[np.arange(60.0), 200 + np.arange(60.0)].astype(np.float32)
    give(view, part(times=times), node=STEP)
    wishes = gather(view)
    x, mouse = view.chart.axis.place(np.arange(STEPS) + 0.5), PlotMouse(view.chart)
    assert x[60] - x[59] > 100 * (x[59] - x[58])
    mouse.click(mouse.middle(x[70]))
    assert wishes[-1].changes == {"node": 70, "other": None}
    assert np.array_equal(view.numbers()["time"], times)
