"""One control of a parameter: it holds every value, and its slider passes through the default."""

from __future__ import annotations

import pytest

from explorer.declare.elements import transforms
from explorer.declare.params import Param
from tests.widgets.parts.frames.sample_catalogue import make_info
from widgets.base.controls.param_control import ParamControl

PARAMS = [p for t in transforms().values() for p in t.params] + list(make_info().params) + [
    Param("tiny", "Tiny", 1e-3, 1e-4, 1e-2, 1e-4),
    Param("still", "Still", 0.0, 0.0, 1.0, 0.0),
]  # fmt: skip


@pytest.mark.parametrize("param", PARAMS, ids=lambda p: p.name)
def test_a_control_holds_every_value_it_is_given(qtbot, param):
    made = ParamControl(param)
    qtbot.addWidget(made)
    said = []
    made.changed.connect(lambda *what: said.append(what))
    for value in (param.minimum, param.maximum, param.default, param.clamp((param.minimum + param.maximum) / 2)):
        made.set_value(value)
        assert made.value() == pytest.approx(value, abs=10 ** -(made.spin.decimals() if made.spin else 0))
    assert not said


@pytest.mark.parametrize("param", [p for p in PARAMS if not p.choices], ids=lambda p: p.name)
def test_the_slider_passes_through_the_default(qtbot, param):
    made = ParamControl(param)
    qtbot.addWidget(made)
    assert made.value_at(made.position_of(param.default)) == pytest.approx(param.default)
    low, high = made.limits()
    assert made.value_at(0) == pytest.approx(low) and made.value_at(made.slider.maximum()) == pytest.approx(high)


def test_a_very_wide_range_is_shown_in_part(qtbot):
    made = ParamControl(transforms()["translate"].params[0])
    qtbot.addWidget(made)
    made.set_reach(14)
    assert made.limits() == (-14, 14) and made.slider.maximum() == 28
    made.set_value(3000)
    assert made.value() == 3000 and made.slider.value() == 28


@pytest.mark.parametrize("name", ["rotation", "rotate3d"])
def test_a_slider_goes_through_two_turns_of_an_angle(qtbot, name):
    made = ParamControl(transforms()[name].params[0])
    qtbot.addWidget(made)
    made.set_reach(8)  # half a molecule says nothing of an angle
    places = []
    for angle in (-200.0, 10.0, 25.0, 40.0):
        made.set_value(angle)
        places.append(made.value_at(made.slider.value()))
    assert places == [-200, 10, 25, 40]
