"""Words: networks in few of them, and yet told apart; verdicts on layers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from explorer.square.frame import Measure
from tests.widgets.parts.frames.sample_frames import make_square
from widgets.base.text.words import badge, duration, named_in_brief


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("d4-cnn", "d4-cnn"),
        ("d4-cnn@/home/me/runs/second/d4-cnn.safetensors", "d4-cnn, second/d4-cnn.safetensors"),
        ("d4-cnn@partly:mine.safetensors", "d4-cnn, mine.safetensors"),
        ("vae@/tmp/equiscope-training-x1/training.safetensors", "vae in training"),
        ("/home/me/net.py:Net", "Net in net.py"),
    ],
)
def test_a_network_with_other_weights_is_named_by_their_file_and_not_by_their_path(model: str, name: str) -> None:
    assert named_in_brief(replace(make_square(), model=model, title="Net in net.py")) == name


@pytest.mark.parametrize(
    ("milliseconds", "told"), [(8.42, "8.4 ms"), (299.6, "300 ms"), (18110, "18.1 s"), (999.4, "999 ms")]
)
def test_a_time_is_told_in_seconds_where_it_takes_seconds(milliseconds: float, told: str) -> None:
    assert duration(milliseconds) == told


def test_an_error_that_shows_is_broken_where_no_layer_can_be_asked() -> None:
    """The sentence said "broken from head on" and the badge of head "no verdict"."""
    measure = Measure(0.2, None, 1e-7, 1.0, True, "no law", tolerance=1e-6)
    assert badge(measure) == "broken up to here"
    assert badge(replace(measure, cumulative=1e-8)) == "no verdict"
    assert badge(replace(measure, exact=False)) == "no verdict"
