"""Networks are named in few words, and yet so that two of them can be told apart."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.widgets.parts.frames.sample_frames import make_square
from widgets.base.text.words import duration, named_in_brief


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
